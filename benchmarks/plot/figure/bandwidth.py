# SPDX-License-Identifier: BSL-1.0
"""The Cray X1 paper's figure 5: bandwidth at 32 KiB."""
from common import colour, gathered, legend_below, ours, papers, prices, rank_axis, t3e, us
from figure.fastest import many_ranks


def bandwidth(quick):
    return gathered("bandwidth", quick, [(f"p = {p}", lambda p=p: prices(quick, t3e, [p], [32768], papers + ours))
                                         for p in many_ranks(quick)])


def draw_bandwidth(plt, rows):
    figure, axes = plt.subplots(figsize=(10, 4.8))
    for name in papers + ["circulant"]:
        mine = sorted((r for r in rows if r["algorithm"] == name), key=lambda r: int(r["ranks"]))
        axes.plot([int(r["ranks"]) for r in mine], [32768 / us(r) for r in mine], label=name, color=colour[name],
                  marker="o", markersize=2.5, linewidth=1)
    rank_axis(axes, [r["ranks"] for r in rows])
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.set_xlabel("p, ranks")
    axes.set_ylabel("MB/s: 32 KiB over the time")
    axes.set_title("all_reduce(double, sum) of 32 KiB by recorded price: alpha 12 us, 330 MB/s, gamma 1 ns/B",
                   fontsize=10)
    legend_below(figure, axes, 6)
    return figure
