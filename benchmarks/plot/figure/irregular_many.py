# SPDX-License-Identifier: BSL-1.0
"""Traff et al., figures 9 and 10 on their numbers of ranks."""
import math

from common import byte_axis, gathered, infiniband, legend_below, powers, rank_axis
from figure.irregular import draw_gatherv


def geometric_counts(p, c):
    """As test/distributions.hpp has it."""
    return [int(c * p / (2 ** math.floor(math.log2(i + 1)) * max(1.0, math.log2(p)))) for i in range(p)]


def ring_formulas(p, c, block):
    """us: the longest contribution goes p - 1 times; in blocks of B, sum b_i - min b_i rounds (equation 1)."""
    alpha, beta, _ = infiniband
    counts = geometric_counts(p, c)
    cut = [max(1, -(-m // block)) for m in counts]
    return {"linear_ring": (p - 1) * (alpha + beta * max(counts) / 1e3),
            f"pipelined_ring:{block}": (sum(cut) - min(cut)) * (alpha + beta * min(block, max(counts)) / 1e3)}


def irregular_many(quick):
    def job(p, sizes):
        return [{"collective": "all_gatherv", "algorithm": name, "ranks": p, "bytes": c, "median_us": f"{its:.3f}",
                 "mpi": "by formula"} for c in sizes for name, its in ring_formulas(p, c, 32768).items()]
    most = [16, 32] if quick else [5772, 65536]
    jobs = [(p, powers(64, 65536, 4)) for p in most]
    jobs += [(p, powers(64, 32768, 8)) for p in powers(4, most[-1] // 2, 2)]
    return gathered("irregular_many", quick, [(f"p = {p}", lambda p=p, sizes=sizes: job(p, sizes))
                                              for p, sizes in jobs])


def draw_irregular_many(plt, rows):
    figure, panels = plt.subplots(1, 3, figsize=(11, 4))
    of_size = [r for r in rows if int(r["bytes"]) == 64]
    odd = [p for p in sorted({int(r["ranks"]) for r in rows}) if p & (p - 1)]
    most = max(int(r["ranks"]) for r in rows)
    for axes, p in zip(panels, odd[:1] + [most] if odd else [most, most]):
        here = [r for r in rows if int(r["ranks"]) == p]
        draw_gatherv(axes, here, "bytes")
        byte_axis(axes, [r["bytes"] for r in here])
        axes.set_xlabel("base count c, bytes")
        axes.set_title(f"p = {p}", fontsize=10)
    of_size = [r for r in of_size if int(r["ranks"]) not in odd]
    draw_gatherv(panels[2], of_size, "ranks")
    ranks = sorted({int(r["ranks"]) for r in of_size})
    rank_axis(panels[2], ranks, ranks[::2])
    panels[2].tick_params(axis="x", labelsize=7)
    panels[2].set_xlabel("p, ranks")
    panels[2].set_title("c = 64 B", fontsize=10)
    panels[0].set_ylabel("time")
    legend_below(figure, panels[0])
    figure.suptitle("all_gatherv, geometric curve: by the formulas of both rings, 5 us, 1 GB/s", fontsize=11)
    return figure
