# SPDX-License-Identifier: BSL-1.0
"""The Cray X1 paper's figure 4, ICCS figure 3."""
import math

from common import colour, delta, edges, gathered, map_of_winners, ours, papers, powers, prices, t3e


def many_ranks(quick):
    if quick:
        return [2, 3, 6, 8, 13, 16]
    return [*range(2, 65), 65, 66, 72, 80, 96, 97, 100, 112, 127, 128, 129, 131, 144, 160, 192, 200, 224, 250, 255, 256,
            257, 300, 320, 384, 400, 448, 500, 511, 512, 513, 540]


def fastest(quick):
    """f = 1, as much for one direction as for both, and 0.5: the ends of the range that the paper gives."""
    sizes = powers(8, 4096 if quick else 8 << 20, 2)

    def job(p, f):
        rows = prices(quick, t3e + ((1, f, f) if f != 1 else ()), [p], sizes, papers + (ours if f == 1 else []))
        return [dict(r, mpi=f"priced, f = {f}") for r in rows]
    return gathered("fastest", quick, [(f"p = {p}, f = {f}", lambda p=p, f=f: job(p, f))
                                       for p in many_ranks(quick) for f in (1, 0.5)])


def is_ruled(p, size):
    """The Cray X1 paper's rule for binary blocks."""
    return p > 32 and size >= 16384 and 0 < delta(p) < math.log2(size) / 2 - 2.5


def draw_fastest(plt, rows):
    from matplotlib.patches import Patch
    from matplotlib.lines import Line2D

    ranks = sorted({int(r["ranks"]) for r in rows})
    sizes = sorted({int(r["bytes"]) for r in rows})
    figure, panels = plt.subplots(3, 1, figsize=(10, 12), sharex=True)
    used = set()
    for axes, names, f, title in ((panels[0], papers, "1", "the papers' five, f = 1"),
                                  (panels[1], papers, "0.5", "the papers' five, f = 0.5"),
                                  (panels[2], papers + ours, "1", "with circulant and chained_halving, f = 1")):
        used |= map_of_winners(axes, [r for r in rows if r["mpi"] == f"priced, f = {f}"], names)
        if axes is panels[0]:   # small, so that they do not hide what they mark
            ruled = [(p, s) for p in ranks for s in sizes if is_ruled(p, s)]
            axes.scatter([p for p, _ in ruled], [s for _, s in ruled], s=5, c="white", linewidths=0)
        axes.plot([max(2, (s / 256) ** (9 / 16)) for s in sizes if s >= 1024], [s for s in sizes if s >= 1024],
                  color="white", linewidth=3)
        axes.plot([max(2, (s / 256) ** (9 / 16)) for s in sizes if s >= 1024], [s for s in sizes if s >= 1024],
                  color="black", linewidth=1.2)
        axes.set_xlim(2 ** 0.7, ranks[-1] * 1.02)
        axes.set_ylim(edges(sizes)[0], edges(sizes)[-1])
        axes.set_title(f"Fastest all_reduce(double, sum) by recorded price: {title}", fontsize=10)
    keys = [Patch(facecolor=colour[n], label=n) for n in papers + ours if n in used]
    keys += [Patch(facecolor="white", edgecolor="black", hatch="//////", label="a tie"),
             Line2D([], [], color="black", label="p = (bytes / 256)^(9/16)"),
             Line2D([], [], marker="o", color="grey", markerfacecolor="white", linestyle="", markersize=3,
                    label="rule for binary blocks (above)")]
    figure.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=5, fontsize=8, frameon=False)
    panels[2].set_xlabel("p, ranks (every p to 64, then some; a cell reaches half way to the next); "
                         "12 us, 330 MB/s, gamma 1 ns/B")
    return figure
