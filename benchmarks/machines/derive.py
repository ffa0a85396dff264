#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Derives the table of rules/shared_memory_table.hpp from the measurements of all machines beside it, by least regret,
and prints it; with --check HEADER tells whether that is what the header holds.

Files are compare's, named MACHINE RANKS _ WHAT .csv; ..._reading.csv were measured with COLLIGO_READ_MEMORY and count
for that alone. A cell is one machine in one state, type, kind of inputs and size; the regret of an algorithm is its
time over the best one's there, and what counts of a size is the worst regret over its cells. From size to size the
algorithm changes where that saves more than MARGIN over all sizes together. Times are the least of each file's
samples: some machines were busy.
"""
import argparse
import glob
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bench"))
import measured  # noqa: E402
from measured import Refused  # noqa: E402

BEGIN, END = "    // derived: begin", "    // derived: end"
DEFAULT = "direct"   # where the table has no line
REORDER = {"ring", "rotating_ring", "circulant", "pipelined_circulant"}   # may not stand where operands are combined
COMBINES = {"all_reduce", "reduce", "reduce_scatter_block", "scan", "exclusive_scan"}
MARGIN = 1.3
CLASSES = 4          # a size class is a power of four times 8 bytes


def name_of(row):
    """Of the algorithm over shared memory; none: over messages, or not one of the library's."""
    name = row["algorithm"]
    if name.startswith("shared_memory"):
        return "direct" + name[len("shared_memory"):]
    name, _, way = name.partition("@")
    return name if way == "shared_memory" else None


def class_of(size):
    return max(0, int(math.floor(math.log(size / 8, CLASSES) + 1e-9)))


def cells_of(files):
    """{(collective, ranks): {class: {cell: {algorithm: us}}}}; states of a machine count as machines."""
    found = {}
    for path in files:
        its = re.fullmatch(r"([a-z]+)(\d+)_\w+", os.path.splitext(os.path.basename(path))[0])
        if not its:
            raise Refused(f"{path}: a name like a2_sum.csv is expected")
        for row in measured.rows_of(path):
            name = name_of(row)
            if row["ranks"] != int(its[2]):
                raise Refused(f"{path}: {row['ranks']} ranks")
            if name is None or row["mode"] != "blocking" or row["distribution"] != "regular" or \
                    row["state"] == "changed":
                continue
            of_class = found.setdefault((row["collective"], row["ranks"]), {}).setdefault(class_of(row["bytes"]), {})
            cell = of_class.setdefault((its[1], row["state"], row["type"], row["op"], row["inputs"], row["bytes"]), {})
            cell[name] = min(cell.get(name, math.inf), row["min_us"])
    return found


def regrets(collective, cells):
    """{algorithm: worst ratio to the best} of those that every cell has and that keep the order of operands."""
    known = set.intersection(*(set(c) for c in cells.values()))
    if collective in COMBINES:
        known = {n for n in known if n.partition(":")[0] not in REORDER}
    return {n: max(c[n] / min(c.values()) for c in cells.values()) for n in sorted(known)}


def steps_of(collective, of_class):
    """[(last class, algorithm)], least in the sum of the logarithms, a step costing MARGIN."""
    classes = sorted(of_class)
    worst = {k: regrets(collective, of_class[k]) for k in classes}
    best = {None: (0.0, [])}   # by the algorithm that was last
    for k in classes:
        now = {}
        for name, ratio in worst[k].items():
            stay = [(cost + (0 if before in (None, name) else math.log(MARGIN)), before, path)
                    for before, (cost, path) in best.items()]
            cost, before, path = min(stay, key=lambda s: (s[0], s[1] != name, str(s[1])))
            now[name] = (cost + math.log(ratio), path + [(k, name, ratio)])
        best = now
    _, path = min(best.values(), key=lambda s: s[0])
    steps = []
    for k, name, ratio in path:
        if steps and steps[-1][1] == name:
            steps[-1] = (k, name, steps[-1][2] + [ratio])
        else:
            steps.append((k, name, [ratio]))
    return steps


def tag_of(name):
    """direct:window=262144 -> direct{.window = 262144}"""
    tag, _, knobs = name.partition(":")
    settings = ", ".join(f".{k} = {v}" for k, v in (s.split("=") for s in knobs.split(",") if s))
    return f"{tag}{{{settings}}}"


def table_of(found):
    lines = [BEGIN]
    collectives = sorted({c for c, _ in found})
    for collective in collectives:
        measured_ranks = sorted(p for c, p in found if c == collective)
        blocks = {"all_gather", "reduce_scatter_block", "gather", "scatter", "all_gatherv"}
        per_p = [(p, steps_of(collective, found[collective, p])) for p in measured_ranks]
        for at, (p, steps) in enumerate(per_p):
            if all(name == DEFAULT for _, name, _ in steps):
                continue   # what holds without a line
            # What was measured holds for the ranks that are nearer to it, by logarithms, than to the next.
            most = math.isqrt(p * per_p[at + 1][0]) if at + 1 < len(per_p) else p
            for i, (last, name, ratios) in enumerate(steps):
                scale = p if collective in blocks else 1   # the table counts the whole vector
                up_to = 16 * CLASSES**last * scale if i + 1 < len(steps) else "any_bytes"
                lines.append(f"    // at worst {max(ratios):.2f} times the best of any machine")
                lines.append(f"    table_line{{collective::{collective}, {p}, {most}, {up_to}, {tag_of(name)}}},")
    return "\n".join(lines + [END]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", metavar="HEADER")
    parser.add_argument("--regrets", action="store_true", help="print all regrets instead")
    parser.add_argument("files", nargs="*", help="(default: those beside this program)")
    o = parser.parse_args()
    files = o.files or sorted(glob.glob(os.path.join(HERE, "*.csv")))
    found = cells_of([f for f in files if not f.endswith("_reading.csv")])
    if o.regrets:
        for (collective, p), of_class in sorted(found.items()):
            for k in sorted(of_class):
                its = sorted(regrets(collective, of_class[k]).items(), key=lambda r: r[1])
                print(f"{collective} p={p} {8 * CLASSES**k} B: " + ", ".join(f"{n} {r:.2f}" for n, r in its))
        return 0
    table = table_of(found)
    if not o.check:
        print(table, end="")
        return 0
    with open(o.check, encoding="utf-8") as file:
        held = file.read()
    if table in held:
        print("the header holds what the measurements come to")
        return 0
    print(f"{o.check} does not hold what the measurements come to, which is\n{table}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(measured.run(main))
