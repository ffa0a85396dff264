#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the pages of the gallery from text.md and *_text.md: {{expression:format}} there is worked out from the files
beside them.

    benchmarks/plot/write.py            # all pages anew
    benchmarks/plot/write.py --check    # nothing is written; fails if a page is not what would be

A number in a text that stands in no {{ }} is refused, but in code, links, names and references to figures, tables and
sections. What the papers say is in published.csv, what platforms and figures assume in assumed.csv. Nothing is written
where README.md, benchmarks/README.md or benchmarks/results.md has other ratios of two ranks than collectives.csv.
"""
import collections
import csv
import difflib
import functools
import math
import pathlib
import re
import sys
import textwrap

from figure import collectives as ten
from figure.collectives import geometric

here = pathlib.Path(__file__).resolve().parent.parent / "gallery"
pages = {"README.md": "text.md", "papers.md": "papers_text.md", "hosts.md": "hosts_text.md",
         "coursework.md": "coursework_text.md"}
cluster_trees = "../bench/cluster/cluster_trees"
papers = ["binary_tree", "recursive_doubling", "halving_doubling", "binary_blocks", "ring"]
ours = ["chained_halving", "circulant"]
KiB, MiB = 1 << 10, 1 << 20

reference = r"(?i:figures?|tables?|sections?|equation) \d+(?: right| left)?(?:(?:, | and | to )\d+(?: right| left)?)*"
name_with_digits = r"`[^`]*`|T3E|Cray X1|ICCS 2004|SX-8|2\^k|[Rr]ank 0\b|\[\d+\]"
not_numbers = re.compile(rf"`[^`]*`|\]\([^)]*\)|{reference}|{name_with_digits}")


@functools.cache
def rows(name):
    with (here / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def of(name, **where):
    """The rows of a file where columns have these values."""
    found = [r for r in rows(name) if all(r[c] == str(v) for c, v in where.items())]
    if not found:
        raise LookupError(f"{name}.csv has no row of {where}")
    return found


def us(name, algorithm, column="median_us", **where):
    """The one time of an algorithm."""
    found = of(name, algorithm=algorithm, **where)
    if len(found) != 1:
        raise LookupError(f"{name}.csv has {len(found)} rows of {algorithm}, {where}")
    return float(found[0][column])


def over(name, slow, fast, **where):
    """How many times as long `slow` takes as `fast`."""
    return us(name, slow, **where) / us(name, fast, **where)


def ms(algorithm, placement, name=cluster_trees):
    return us(name, algorithm, placement=placement) / 1e3


def said(what, file="published"):
    """A number that is in none of our measurements: what a paper says, or what is assumed."""
    return of(file, what=what)[0]["number"]


def assumed(what):
    return said(what, "assumed")


def size_text(n):
    return next((f"{n / unit:g} {name}" for name, unit in (("MiB", MiB), ("KiB", KiB)) if n >= unit), f"{n} B")


def ranks_in(name, ranks):
    """A number of ranks, of which the file has rows; likewise for sizes and blocks."""
    return of(name, ranks=ranks)[0]["ranks"]


def size_in(name, size):
    return size_text(int(of(name, bytes=size)[0]["bytes"]))


def block_in(name, block):
    return of(name, algorithm=f"pipelined_ring:{block}") and size_text(block)


def table_of(name, **where):
    """{(ranks, bytes): {algorithm: us}}"""
    times = {}
    for r in of(name, **where):
        times.setdefault((int(r["ranks"]), int(r["bytes"])), {})[r["algorithm"]] = float(r["median_us"])
    return times


def best(times, among):
    return min(times[a] for a in among if a in times)


def winners(times, among):
    least = best(times, among)
    return [a for a in among if a in times and times[a] <= least * (1 + 1e-9)]


def ahead(name, ranks, mine="automatic", **where):
    """The best of the others over mine, for each length."""
    return [best(t, [a for a in t if a != mine]) / t[mine] for (p, _), t in table_of(name, **where).items()
            if p == ranks]


def mean_and_least(name, ranks, **where):
    ratios = ahead(name, ranks, **where)
    return f"{geometric(ratios):.2f} ({min(ratios):.2f})"


def power_of_two(p):
    return p & (p - 1) == 0


def delta(p):
    bits = [i for i in range(p.bit_length()) if p >> i & 1]
    return max((b - a for a, b in zip(bits, bits[1:])), default=0)


def span(values, form=".1f"):
    least, *_, most = [f"{value:{form}}" for value in sorted(values)] * 2
    return least if least == most else f"{least} to {most}"


def listed(values):
    return ", ".join(map(str, values))


def worked_out(text):
    def value_of(match):
        if re.fullmatch(r"[\d\s.,:+*/'\"-]*", match[1]):
            raise ValueError(f"a number that no file gives: {match[0]}")
        has_form = re.search(r":[.,]?\d*[dfgs%]$", match[1])
        expression, _, form = match[1].rpartition(":") if has_form else (match[1], "", "")
        value = eval(expression, names)
        return f"{value:{form}}" if form else str(value)

    names = dict(globals(), collections=collections, math=math)   # what the scripts of the text use
    for script in re.findall(r"<!--=(.*?)-->\n?", text, re.S):
        exec(script, names)
    text = re.sub(r"<!--=.*?-->\n?", "", text, flags=re.S)
    stray = [f"{line.strip()}" for line in not_numbers.sub("", re.sub(r"\{\{.*?\}\}", "", text, flags=re.S)).split("\n")
             if re.search(r"\d", line)]
    if stray:
        raise ValueError("a number that no file gives: " + "; ".join(stray))
    return re.sub(r"\{\{(.*?)\}\}", value_of, text, flags=re.S)


def wrapped(text):
    """With lines of prose and of lists as long as they may be: numbers have other lengths than what works them out."""
    def wrap(prose):
        indent = "  " if prose[0].startswith("- ") else ""
        return textwrap.fill(" ".join(prose[0].split()), 120, subsequent_indent=indent, break_long_words=False,
                             break_on_hyphens=False) + "\n"

    return re.sub(r"(?m)^- [^\n]+\n(?:  \S[^\n]*\n)*|(?:^(?![ |#<!-])[^\n]+\n)+", wrap, text)


@functools.cache
def two_ranks():
    return ten.ratios(rows("collectives"))


def is_slow(ratio):
    return ratio < 0.995


def of_two_ranks():
    """The table of collectives.csv, as benchmarks/results.md has it."""
    yield "| p = 2 | " + " | ".join(f"{mpi}, {state}" for mpi, state in two_ranks()) + " |"
    for name in ten.names:
        cells = (f"{geometric(c[name].values()):.2f} ({min(c[name].values()):.2f})" for c in two_ranks().values())
        yield f"| {name} | " + " | ".join(cells) + " |"


def times_of_two_ranks():
    """Of all_reduces, MPI's and Colligo's: geometric means of the runs' medians, as benchmarks/results.md has them."""
    for mpi, state in two_ranks():
        def mean_us(algorithm, size, mpi=mpi, state=state):
            us = geometric(float(r["median_us"]) for r in of("collectives", collective="all_reduce", mpi=mpi,
                                                             state=state, algorithm=algorithm, bytes=size))
            return f"{us:.0f}" if us >= 100 else f"{us:.2f}"
        cells = (f"{mean_us('mpi', size)} / {mean_us('automatic', size)}" for size in (8, 8 * KiB, 8 * MiB))
        yield f"| {mpi}, {state} | " + " | ".join(cells) + " |"


def slow_on_two_ranks():
    """Rows of benchmarks/README.md: where collectives.csv has ratios below 1."""
    for (mpi, state), of_name in two_ranks().items():
        for name, of_size in of_name.items():
            slow = [size for size, ratio in of_size.items() if is_slow(ratio)]
            if slow:
                yield (f"| 2 | EPYC 4th gen., {state} | {mpi.rpartition(' ')[0]} | {name} | "
                       f"{', '.join(map(size_text, slow))} | {min(of_size.values()):.2f} |")


def means_of_two_ranks(mpi, among=ten.names, form=".1f"):
    """"1.3 to 3.2", over the states of the machine."""
    return span((geometric(c[name].values()) for (whose, _), c in two_ranks().items()
                 if whose.startswith(mpi) for name in among), form)


def said_on_pages():
    base = here.parent
    points = [ratio for (mpi, _), of_name in two_ranks().items() if mpi.startswith("Open MPI")
              for name in ten.of_doubles for ratio in of_name[name].values()]
    slow = sum(map(is_slow, points))
    yield base / "results.md", of_two_ranks()
    yield base / "results.md", times_of_two_ranks()
    yield base / "README.md", slow_on_two_ranks()
    yield base / "README.md", (means_of_two_ranks(mpi, ten.of_doubles) for mpi in ("Open MPI", "MPICH"))
    yield base.parent / "README.md", [f"all_reduce is {means_of_two_ranks('Open MPI', ['all_reduce'])} times as fast",
                                      f"ten collectives {means_of_two_ranks('Open MPI', ten.of_doubles)} times",
                                      f"at {slow} of these {len(points)} points"]


def main():
    for stray in ("On a T3E, figure 4, `flat_100g`: 7 times.", "{{7}} times."):
        try:
            worked_out(stray)
        except ValueError:
            continue
        sys.exit(f"write: a number that no file gives is not refused: {stray}")
    for page, sentences in said_on_pages():
        text = " ".join(page.read_text().replace("*", "").split())
        if missing := [sentence for sentence in sentences if sentence not in text]:
            sys.exit(f"write: {page} does not have\n" + "\n".join(missing))
    wrong = ""
    for name, source in pages.items():
        text = f"<!-- Written by plot/write.py from {source}. -->\n" + wrapped(worked_out((here / source).read_text()))
        page = here / name
        if "--check" not in sys.argv:
            page.write_text(text)
        elif text != page.read_text():
            wrong += "".join(difflib.unified_diff(page.read_text().splitlines(True), text.splitlines(True), name,
                                                  "what the files give"))
    if wrong:
        sys.exit(wrong)


main()
