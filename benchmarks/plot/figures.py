#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The papers' figures and tables: for each a file of comma-separated values and a picture.

    benchmarks/plot/figures.py all   # those that are there already are drawn anew, not measured anew;
                                     # one that was interrupted goes on with what it lacks
    benchmarks/plot/figures.py fastest irregular --again
    benchmarks/plot/figures.py family --again --ours   # simulated anew, but for SimGrid's own algorithms
    benchmarks/plot/figures.py all --quick --out /tmp/gallery   # small p and sizes; nothing that has not been built
    benchmarks/plot/figures.py --list

Needs Debian's python3-matplotlib, hence its python; figures that say so need libsimgrid-dev or MPI as well.
"""
import argparse
import pathlib
import shutil
import sys

from common import compiled, kept, kept_rows, root, rows_of, write
from figure.bandwidth import bandwidth, draw_bandwidth
from figure.bounds import bounds, draw_bounds
from figure.collectives import collectives, draw_collectives
from figure.coursework import coursework, draw_coursework
from figure.family import draw_family, family
from figure.fastest import draw_fastest, fastest
from figure.irregular import (
    draw_irregular, draw_irregular_blocks, draw_irregular_ranks, irregular, irregular_blocks, irregular_ranks)
from figure.irregular_idle import draw_irregular_idle, irregular_idle
from figure.irregular_many import draw_irregular_many, irregular_many
from figure.irregular_nodes import draw_irregular_nodes, irregular_nodes
from figure.maxloc import draw_maxloc, maxloc
from figure.reduce_fastest import draw_reduce_fastest, reduce_fastest
from figure.reduce_simulated import draw_reduce_simulated, reduce_simulated
from figure.round_trips import draw_round_trips, round_trips
from figure.simulated import draw_simulated, simulated_peers
from figure.sparse import draw_sparse, sparse
from figure.trace import draw_trace, trace
from figure.trees import draw_trees, trees

# name: what it is, what it needs, how it is gathered, how it is drawn
figures = {
    "fastest": ("Cray X1 paper fig. 4, ICCS fig. 3: fastest protocol by p and size", None, fastest, draw_fastest),
    "reduce_fastest": ("Cray X1 paper figs. 8 right, 10: reduce", None, reduce_fastest, draw_reduce_fastest),
    "reduce_simulated": ("Cray X1 paper fig. 8 right: reduce against a vendor's", "smpi", reduce_simulated,
                         draw_reduce_simulated),
    "bandwidth": ("Cray X1 paper fig. 5: bandwidth at 32 KiB over p", None, bandwidth, draw_bandwidth),
    "irregular": ("Traff et al. figs. 4, 6: six distributions", None, irregular, draw_irregular),
    "irregular_blocks": ("Traff et al. fig. 5: block sizes", None, irregular_blocks, draw_irregular_blocks),
    "irregular_ranks": ("Traff et al. figs. 7, 9, 10: over p", None, irregular_ranks, draw_irregular_ranks),
    "irregular_idle": ("Traff et al. figs. 7 right, 8: who communicates when", None, irregular_idle,
                       draw_irregular_idle),
    "irregular_many": ("Traff et al. figs. 9, 10, by formula", None, irregular_many, draw_irregular_many),
    "irregular_nodes": ("Traff et al. fig. 4 with 8 ranks a node, communicators permuted", "smpi", irregular_nodes,
                        draw_irregular_nodes),
    "coursework": ("coursework tables 1, 2, figs. 3, 4", None, coursework, draw_coursework),
    "simulated": ("automatic against SimGrid's own algorithms", "smpi", simulated_peers, draw_simulated),
    "trees": ("PATHS figs. 5 to 9 in kind: hosts of several cores, and a WAN", "smpi", trees, draw_trees),
    "trace": ("a real trace with a late rank, after the wrappers of PATHS", "mpi", trace, draw_trace),
    "round_trips": ("PATHS figs. 10, 11: round trips beside others', of cluster/run", None, round_trips,
                    draw_round_trips),
    "bounds": ("best of the catalogue over the bound, without and with our additions", None, bounds, draw_bounds),
    "family": ("automatic against SimGrid's own, the rest of the family", "smpi", family, draw_family),
    "sparse": ("sparse_all_to_all by each way, NBX by hand, all_to_all_v", "smpi", sparse, draw_sparse),
    "maxloc": ("Cray X1 paper figs. 6 to 10 in kind: sum and MAXLOC against MPI", "mpi", maxloc, draw_maxloc),
    "collectives": ("the README's picture: ten collectives on two ranks against MPI", "mpi", collectives,
                    draw_collectives),
}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="figures, or all")
    options.add_argument("--quick", action="store_true", help="small p and sizes")
    options.add_argument("--again", action="store_true", help="measure what has been measured too")
    options.add_argument("--ours", action="store_true", help="simulated: not SimGrid's own algorithms")
    options.add_argument("--out", type=pathlib.Path, default=root / "benchmarks/gallery")
    options.add_argument("--list", action="store_true")
    asked = options.parse_args()
    if asked.list or not asked.names:
        print("\n".join(f"{name:18}{what[0]}" for name, what in figures.items()))
        return
    names = list(figures) if asked.names == ["all"] else asked.names
    for name in names:
        if name not in figures:
            sys.exit(f"figures: there is no {name}; known are: all, {', '.join(figures)}")
    if asked.quick and asked.out == root / "benchmarks/gallery":
        sys.exit("figures: --quick would overwrite the gallery: say where else with --out")
    asked.out.mkdir(parents=True, exist_ok=True)
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    for name in names:
        _, needs, gather, draw = figures[name]
        table = asked.out / f"{name}.csv"
        parts = kept(name, asked.quick)
        if asked.again or asked.quick:
            shutil.rmtree(parts, ignore_errors=True)
        if asked.again or parts.exists() or not table.exists():
            if asked.quick and needs == "smpi" and compiled("compare_smpi", True) is None:
                print(f"{name}: skipped, compare_smpi has not been built")
                continue
            kept_rows[:] = rows_of(table.read_text()) if asked.ours else []
            rows = gather(asked.quick)
            if not rows:
                print(f"{name}: skipped, there is no program of its own to run yet")
                continue
            write(table, rows)
            shutil.rmtree(parts, ignore_errors=True)
        figure = draw(plt, rows_of(table.read_text()))
        figure.tight_layout()
        figure.savefig(asked.out / f"{name}.png", dpi=100, bbox_inches="tight")
        plt.close(figure)
        print(f"{name}: {table.name}, {name}.png")


main()
