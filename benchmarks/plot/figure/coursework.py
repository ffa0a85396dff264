# SPDX-License-Identifier: BSL-1.0
"""The coursework's tables 1 and 2, figures 3 and 4."""
import csv

from common import (
    byte_axis, cluster_100g, colour, gathered, legend_below, line, powers, prices, rank_axis, root, size_text,
    time_axis)


def coursework(quick):
    ranks = [2, 4, 8] if quick else powers(2, 128, 2)
    elements = powers(2, 512 if quick else 1 << 23, 4)
    elements += [] if quick else [4096]
    names = ["rotating_ring", "halving_tree", "recursive_doubling", "automatic"]
    return gathered("coursework", quick, [(f"p = {p}", lambda p=p: prices(quick, cluster_100g, [p],
                                                                          [8 * n for n in sorted(elements)], names))
                                          for p in ranks])


def draw_coursework(plt, rows):
    ranks, sizes = sorted({int(r["ranks"]) for r in rows}), sorted({int(r["bytes"]) for r in rows})
    label = {"rotating_ring": "ring (rotating_ring)", "halving_tree": "tree (halving_tree)",
             "recursive_doubling": "butterfly, their model of MPI's", "automatic": "automatic"}
    measured = list(csv.DictReader((root / "benchmarks/gallery/coursework_measured.csv").open()))
    marks = {"rotating_ring": "ring", "halving_tree": "tree", "recursive_doubling": "mpi"}

    def theirs(axes, x, **fixed):
        for name, who in marks.items():
            its = sorted((int(r[x]) * (8 if x == "elements" else 1), 1e6 * float(r["seconds"])) for r in measured
                         if r["algorithm"] == who and all(int(r[c]) == v for c, v in fixed.items()))
            axes.plot([a for a, _ in its], [b for _, b in its], linestyle="", marker="s", markersize=4,
                      markerfacecolor="none", color=colour[name],
                      label={"ring": "measured: ring", "tree": "measured: tree", "mpi": "measured: MPI's"}[who])
    few_ranks = [ranks[0], ranks[len(ranks) // 2], ranks[-1]]
    middle = 4096 * 8 if 4096 * 8 in sizes else sizes[len(sizes) // 2]
    figure, panels = plt.subplots(2, 3, figsize=(11, 6.6), sharey=True)
    for axes, p in zip(panels[0], few_ranks):
        for name in label:
            line(axes, [r for r in rows if r["algorithm"] == name and int(r["ranks"]) == p], "bytes", label[name],
                 color=colour[name])
        theirs(axes, "elements", ranks=p)
        byte_axis(axes, sizes)
        axes.set_title(f"{p} ranks", fontsize=10)
        axes.set_xlabel("vector, bytes")
    for axes, s in zip(panels[1], (sizes[0], middle, sizes[-1])):
        for name in label:
            line(axes, [r for r in rows if r["algorithm"] == name and int(r["bytes"]) == s], "ranks", label[name],
                 color=colour[name])
        theirs(axes, "ranks", elements=s // 8)
        rank_axis(axes, ranks)
        axes.set_title(f"{s // 8} doubles, {size_text(s)}", fontsize=10)
        axes.set_xlabel("p, ranks")
    for axes in panels.flat:
        time_axis(axes)
        axes.grid(alpha=0.3)
        axes.tick_params(labelsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("time")
    legend_below(figure, panels[0, 0], 4)
    figure.suptitle("all_reduce: lines by recorded price, 1.5 us, 12.5 GB/s, gamma 0.1 ns/B; squares measured by the "
                    "coursework", fontsize=11)
    return figure
