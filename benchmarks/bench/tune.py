#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures which algorithm is fastest on this machine and writes that as a table for COLLIGO_TABLE:

    benchmarks/bench/tune.py --ranks 2,4 --seconds 300 --out colligo.table
    COLLIGO_TABLE=colligo.table mpirun -n 4 program

The standard set is sums of double, where the collective combines, which stand for all types; or one collective, with
--type and --op, whose rows then are for that type. A first look, short, holds all contenders against each other,
further launches those that were within a half of the best at some size; the median of these counts, of fresh and
rotating inputs and of the states of the machine (siblings, near, far) the worst one, and beside a size the ones next to
it, half as much each, for single times are noisy.
With --levels it measures how long cache lines take between the cores of this host instead, in a minute and without
MPI, and writes that as a row for the rules, which otherwise take a model's numbers. Hosts of fewer than 16 cores have
nothing to tell.

Ends with 3 if time was up before each question was asked once so, and with 2 if nothing was measured.
"""
import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measured  # noqa: E402
from measured import OTHERS, Question, Refused  # noqa: E402

STANDARD = ["all_reduce", "reduce", "broadcast", "all_gather", "all_gatherv", "reduce_scatter_block", "gather",
            "scatter", "scan", "exclusive_scan", "all_to_all", "barrier"]
COMBINES = {"all_reduce", "reduce", "reduce_scatter_block", "reduce_scatter", "scan", "exclusive_scan"}
WINDOWS = ["direct:window=16384@shared_memory", "direct:window=262144@shared_memory"]
NUMBERS = {"double", "float", "int"}
FIRM = 1.03     # so much slower is no reason to leave the algorithm of the size before


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measured.add_options(parser, "tune.csv")
    parser.add_argument("--collective", help="this one instead of the standard set")
    parser.add_argument("--type", default="", help="of all_reduce and reduce, as compare takes it")
    parser.add_argument("--op", default="", help="with --type")
    parser.add_argument("--as", dest="written_as", help="type in the table (default: a number's own, otherwise any)")
    parser.add_argument("--inputs", default="fresh,rotating", help="(default: %(default)s)")
    parser.add_argument("--algorithms", help="these alone, as compare takes them")
    parser.add_argument("--levels", action="store_true", help="cache lines between cores")
    parser.add_argument("--force", action="store_true", help="with --levels: on few cores too")
    parser.add_argument("--out", default="colligo.table", metavar="FILE", help="the table (default: %(default)s)")
    return parser.parse_args()


def name_in_table(algorithm):
    return algorithm[: -len("@shared_memory")] if algorithm.endswith("@shared_memory") else algorithm


def always(question):
    return ["mpi", "automatic"] + (WINDOWS if question.collective in ("all_reduce", "reduce") else [])


class Size:
    """What was measured at one size, with each kind of inputs in each state of the machine."""

    def __init__(self, cells):
        self.cells = cells
        self.times = [{n: t for n, t in measured.medians(m).items() if n not in OTHERS} for m in cells]
        known = [n for n in self.times[0] if all(n in m for m in self.times)]
        best = [min((m[n] for n in known), default=None) for m in self.times]
        self.regret = {n: max(m[n] / b for m, b in zip(self.times, best)) for n in known}

    def spread(self, name):
        return max(measured.spread(m[name]) for m in self.cells)


def in_order(sizes, i, before):
    """The algorithms known at one of the sizes, the one to take first; `before` was taken at the size before."""
    def regret(name):
        beside = [sizes[k].regret.get(name, measured.NEAR) for k in (i - 1, i + 1) if 0 <= k < len(sizes)]
        return statistics.geometric_mean([sizes[i].regret[name]] * 2 + beside) * (1 if name == before else FIRM)
    return sorted(sizes[i].regret, key=regret)


def first_line(command):
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
        return next((line for line in lines if line.strip()), "unknown")
    except OSError:
        return "unknown"


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"


def head_of_table(*what):
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    return [f"# written by benchmarks/bench/tune.py, {now}",
            f"# host {platform.node()}, {processor()}, {os.cpu_count()} cores, {platform.system()} "
            f"{platform.release()}", *what]


def measure_levels(o):
    program = os.path.join(os.path.dirname(o.compare), "lines")
    try:
        run = subprocess.run([program, "--csv", o.csv] + ["--force"] * o.force, capture_output=True, text=True,
                             check=False)
    except OSError as e:
        raise Refused(f"{program}: {e.strerror}") from e
    if run.returncode != 0:
        raise Refused(run.stderr.strip())
    with open(o.out, "w", encoding="utf-8") as file:
        file.write("\n".join(head_of_table()) + "\n" + run.stdout)
    print(run.stdout + f"{o.out}: written")
    return 0


def write_table(path, o, launches):
    kinds = o.inputs.split(",")
    times = launches.times()
    rows = []
    for ranks in measured.ranks_in(o.ranks):
        for collective, type_, op in questions_of(o):
            asked = [q for q in times if (q.collective, q.ranks) == (collective, ranks) and q.inputs in kinds and
                     (not type_ or (q.type, q.op) == (type_, op))]
            numbers = sorted(set.intersection(*(set(times[q]) for q in asked))) if asked else []
            sizes = [Size([cell for q in asked for cell in times[q][n].values()]) for n in numbers]
            best = None
            for i, (number, size) in enumerate(zip(numbers, sizes)):
                order = in_order(sizes, i, best)
                if not order:
                    continue
                best, of_first = order[0], size.times[0]
                other = next((n for n in order if name_in_table(n) != name_in_table(best)), None)
                written = o.written_as or (type_ if type_ in NUMBERS else "any")
                functor = "commutes" if collective in COMBINES else "any"
                rows.append(f"{collective:<20} {written:<8} {functor:<8} {ranks:>4} {number:>9}  "
                            f"{name_in_table(best):<28} # {of_first[best]:.2f} us; "
                            f"{f'{name_in_table(other)} {of_first[other]:.2f}; ' if other else ''}"
                            f"spread {100 * size.spread(best):.0f} %")
    if not rows:
        raise Refused(f"nothing was measured: {path} is not written")
    mpi = next((r["mpi"] for r in launches.rows), "unknown")
    head = ["# COLLIGO_TABLE: what was fastest here. Columns: collective type functor ranks bytes algorithm"]
    head += head_of_table(
            f"# {mpi}; {first_line(['c++', '--version'])}",
            f"# up to {o.launches} launches of {o.repeats} repetitions, inputs {o.inputs}; times are of {kinds[0]} "
            "ones", f"# {launches.describe_states()}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(head + rows) + "\n")
    return len(rows)


def questions_of(o):
    if not o.collective:
        return [(c, "", "") for c in STANDARD]
    return [(o.collective, o.type, o.op)]


def main():
    o = options()
    if o.levels:
        return measure_levels(o)
    if bool(o.type) != bool(o.op):
        raise Refused("--type and --op go together, as --type float --op max")
    launches = measured.Launches(o)
    sizes = measured.sizes_in(o.bytes)
    questions = [Question(c, t or "double", op or "sum", p, i) for i in o.inputs.split(",")
                 for p in measured.ranks_in(o.ranks) for c, t, op in questions_of(o)]
    complete = launches.run(questions, lambda q: [8] if q.collective == "barrier" else sizes, always,
                            o.algorithms and o.algorithms.split(","))
    rows = write_table(o.out, o, launches)
    print(f"{o.out}: {rows} rows, {launches.elapsed():.0f} s" +
          (f", {launches.resumed} launches were in {o.csv}" if launches.resumed else ""))
    return 0 if complete or launches.all_measured(questions) else 3


if __name__ == "__main__":
    sys.exit(measured.run(main))
