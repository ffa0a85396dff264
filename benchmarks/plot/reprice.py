#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prices a part of the gallery's files anew, and fails where a file has other numbers than the programs give.

    benchmarks/plot/reprice.py build/gcc/benchmarks

Of bounds.csv the rows up to 33 ranks, of irregular_ranks.csv those of up to 512 KiB, of other files what one job of
the figure gives, on few ranks.
"""
import importlib
import math
import pathlib
import random
import re
import sys

import common

gallery = common.root / "benchmarks/gallery"
figures = {"bounds": "bounds", "fastest": "fastest", "reduce_fastest": "reduce_fastest", "bandwidth": "bandwidth",
           "irregular": "irregular", "irregular_blocks": "irregular", "irregular_ranks": "irregular",
           "irregular_idle": "irregular_idle", "irregular_many": "irregular_many", "coursework": "coursework"}
values = ("median_us", "over_bound", "begin_us", "end_us")


def of_some_jobs(name, _, jobs):
    if name == "bounds":
        return dict(jobs)["with"]()
    if name == "irregular_ranks":
        few = [job for what, job in jobs if math.prod(map(int, re.findall(r"\d+", what))) <= 1 << 19]
    else:
        few = [job for what, job in jobs if not (p := re.match(r"p = (\d+)", what)) or int(p[1]) <= 33]
        few = [random.choice(few)]
    return [row for job in few for row in job()]


def by_key(rows, columns):
    """What says which number it is: the numbers, in the order of the rows."""
    found = {}
    for row in rows:
        key = tuple(str(row[c]) for c in columns if c not in values)
        found.setdefault(key, []).extend(float(row[c]) for c in columns if c in values)
    return found


def main():
    common.compiled = lambda target, _: pathlib.Path(sys.argv[1]) / target
    random.seed(1)
    wrong, count = [], 0
    for name, module in figures.items():
        figure = importlib.import_module(f"figure.{module}")
        figure.gathered, figure.compiled, figure.few_ranks = of_some_jobs, common.compiled, 33
        kept = common.rows_of((gallery / f"{name}.csv").read_text())
        in_file, now = by_key(kept, kept[0]), by_key(getattr(figure, name)(False), kept[0])
        count += len(now)
        wrong += [f"{name}.csv, {', '.join(key)}: {in_file.get(key)}, now {numbers}" for key, numbers in now.items()
                  if len(in_file.get(key, ())) != len(numbers)
                  or not all(map(lambda a, b: math.isclose(a, b, rel_tol=2e-4), in_file[key], numbers))]
    print(f"{count} points priced anew, {len(wrong)} differ")
    sys.exit("\n".join(wrong[:20]) + "\nwhat the files have is old: figures.py NAME --again" if wrong else 0)


main()
