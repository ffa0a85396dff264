#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Verifies on this machine what users may take for granted of collectives (Traff, Gropp, Thakur: Self-consistent MPI
performance guidelines): that no call is slower than what other calls or algorithms do the same with.

    benchmarks/bench/guidelines.py --ranks 2,4 --svg map.svg

    automatic(n)  <= every algorithm(n), and <= the MPI library's own(n)
    all_reduce(n) <= reduce(n) + broadcast(n),  <= reduce_scatter(n) + all_gather(n)
    all_gather(n) <= all_gatherv(n)             reduce(n) <= all_reduce(n)
    every collective(n) <= itself(4 n)

Prints each violation beyond the tolerance that every launch shows, with its medians, and ends with 1 if there is one,
with 3 if time was up before everything was asked once. --svg draws which algorithm is fastest by ranks and size.
COLLIGO_TABLE and other variables hold for what is measured.
"""
import argparse
import os
import statistics
import sys
from xml.sax.saxutils import escape

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measured  # noqa: E402
from measured import Question  # noqa: E402

ON_BLOCKS = {"all_gather", "all_gatherv", "reduce_scatter_block"}   # sizes are those of one rank's block
COLLECTIVES = ["all_reduce", "reduce", "broadcast", "reduce_scatter_block", "all_gather", "all_gatherv", "scan"]
COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000", "#e69f00", "#009e73",
           "#882255", "#44aa99"]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measured.add_options(parser, "guidelines.csv")
    parser.add_argument("--tolerance", type=float, default=0.1, help="relative (default: %(default)s)")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES), help="(default: %(default)s)")
    parser.add_argument("--inputs", default="fresh", choices=["fresh", "rotating"])
    parser.add_argument("--algorithms", help="to be held against automatic, as compare takes them (default: all)")
    parser.add_argument("--svg", metavar="FILE", help="the map of the fastest algorithms")
    return parser.parse_args()


class Check:
    """Of one state of the machine. times[collective, ranks, bytes of the whole vector][algorithm]: the median of each
    launch, in their order."""

    def __init__(self, o, launches, state):
        self.tolerance = o.tolerance
        self.state = state
        self.times = {}
        self.violations = []
        self.checks = 0
        for q, of_size in launches.times().items():
            if q.inputs != o.inputs:
                continue
            for size, of_state in of_size.items():
                whole = size * q.ranks if q.collective in ON_BLOCKS else size
                if state in of_state:
                    self.times[q.collective, q.ranks, whole] = of_state[state]

    def automatic(self, *key):
        return self.times.get(key, {}).get("automatic")

    def hold(self, what, ranks, size, mine, others, name):
        """Of each the times of the launches: every one has to show that mine is slower than the others' sum."""
        if mine is None or None in others:
            return
        self.checks += 1
        limits = [sum(of_launch) for of_launch in zip(*others)]
        if min(us / limit for us, limit in zip(mine, limits)) > 1 + self.tolerance:
            us, limit = statistics.median(mine), statistics.median(limits)
            self.violations.append((us / limit,
                                    f"{what}, p = {ranks}, {size} bytes, {self.state}: {us:.2f} us > {name} "
                                    f"{limit:.2f} us, by {100 * (us / limit - 1):.0f} %"))

    def run(self):
        for (c, p, n), of_algorithm in sorted(self.times.items()):
            mine = self.automatic(c, p, n)
            for name, times in of_algorithm.items():
                if name not in ("automatic", "boost_mpi"):
                    self.hold(f"{c}: automatic", p, n, mine, [times], name)
            larger = min((m for d, q, m in self.times if (d, q) == (c, p) and m > n), default=None)
            if larger:
                self.hold(f"{c}: monotone", p, n, mine, [self.automatic(c, p, larger)], f"{larger} bytes")
            if c == "all_reduce":
                for a, b in (("reduce", "broadcast"), ("reduce_scatter_block", "all_gather")):
                    self.hold(c, p, n, mine, [self.automatic(a, p, n), self.automatic(b, p, n)], f"{a} + {b}")
                self.hold("reduce", p, n, self.automatic("reduce", p, n), [mine], c)
            if c == "all_gather":
                self.hold(c, p, n, mine, [self.automatic("all_gatherv", p, n)], "all_gatherv")


def draw(path, times):
    """For each collective a map: ranks up, sizes to the right, the colour says which algorithm is fastest."""
    best = {}
    for key, of_algorithm in times.items():
        its = {n: statistics.median(t) for n, t in of_algorithm.items() if n not in ("automatic", "boost_mpi", "mpi")}
        if its:
            name = min(its, key=its.get)
            mine = of_algorithm.get("automatic")
            best[key] = (name.partition("@")[0], name, its[name], mine and statistics.median(mine))
    names = sorted({b[0] for b in best.values()})
    colour = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(names)}
    cell, left, line = 44, 170, 24
    sizes = sorted({n for _, _, n in best})
    out, y = [], 40
    for c in sorted({c for c, _, _ in best}):
        out.append(f"<text x='10' y='{y - 8}' font-weight='bold'>{c}</text>")
        for p in sorted({q for d, q, _ in best if d == c}, reverse=True):
            out.append(f"<text x='{left - 10}' y='{y + 16}' text-anchor='end'>p = {p}</text>")
            for d, q, n in best:
                if (d, q) != (c, p):
                    continue
                short, name, us, mine = best[d, q, n]
                tip = f"{c}, p = {p}, {n} bytes: {name} {us:.2f} us" + (f", automatic {mine:.2f}" if mine else "")
                out.append(f"<rect x='{left + cell * sizes.index(n)}' y='{y}' width='{cell - 2}' height='{line - 2}' "
                           f"fill='{colour[short]}'><title>{escape(tip)}</title></rect>")
            y += line
        y += 30
    for i, n in enumerate(sizes):
        said = next(f"{n / 2**b:g}{u}" for b, u in ((20, "M"), (10, "k"), (0, "")) if n >= 2**b)
        out.append(f"<text x='{left + cell * i}' y='{y - 10}' font-size='10'>{said}</text>")
    for i, n in enumerate(names):
        x, at = 10 + 230 * (i % 3), y + 20 * (i // 3)
        out.append(f"<rect x='{x}' y='{at}' width='14' height='14' fill='{colour[n]}'/>"
                   f"<text x='{x + 20}' y='{at + 12}'>{escape(n)}</text>")
    width, height = max(720, left + cell * len(sizes) + 10), y + 20 * (len(names) // 3 + 1) + 10
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
                   f"font-family='sans-serif' font-size='12'>\n"
                   "<rect width='100%' height='100%' fill='#fff'/>\n<text x='10' y='16'>the fastest "
                   "algorithm by ranks and bytes of the whole vector</text>\n" + "\n".join(out) + "\n</svg>\n")


def main():
    o = options()
    launches = measured.Launches(o)
    sizes = measured.sizes_in(o.bytes)
    questions = [Question(c, "double", "sum", p, o.inputs) for p in measured.ranks_in(o.ranks)
                 for c in o.collectives.split(",")]

    # The same whole vectors everywhere: p blocks of the sizes.
    def sizes_of(q):
        return sizes if q.collective in ON_BLOCKS else [q.ranks * n for n in sizes]

    complete = launches.run(questions, sizes_of, lambda q: ["mpi", "automatic"],
                            o.algorithms and o.algorithms.split(","))
    checks = [Check(o, launches, state) for state in launches.states() if state != "changed"]
    for check in checks:
        check.run()
    violations = sorted((v for check in checks for v in check.violations), reverse=True)
    for _, text in violations:
        print(text)
    print(f"{len(violations)} of {sum(check.checks for check in checks)} comparisons are violated beyond "
          f"{100 * o.tolerance:.0f} %; {launches.describe_states()}")
    if o.svg:   # of each box the state that was most frequent
        draw(o.svg, {key: of_algorithm for check in reversed(checks) for key, of_algorithm in check.times.items()})
    if violations:
        return 1
    return 0 if complete or launches.all_measured(questions) else 3


if __name__ == "__main__":
    sys.exit(measured.run(main))
