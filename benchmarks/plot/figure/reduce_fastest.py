# SPDX-License-Identifier: BSL-1.0
"""The Cray X1 paper's figures 8 right and 10."""
from common import colour, edges, gathered, map_of_winners, powers, prices, size_text, t3e, us
from figure.fastest import many_ranks


reducers = ["binary_tree", "halving_doubling", "binary_blocks", "ring"]


def reduce_fastest(quick):
    sizes = powers(8, 4096 if quick else 8 << 20, 4 if quick else 2)
    ranks = many_ranks(quick)
    return gathered("reduce_fastest", quick, [(f"p = {p}", lambda p=p: prices(
        quick, t3e, [p], sizes, reducers + ["automatic"], collective="reduce")) for p in ranks])


def draw_reduce_fastest(plt, rows):
    from matplotlib.colors import BoundaryNorm
    from matplotlib.patches import Patch

    figure, panels = plt.subplots(2, 1, figsize=(10, 8), sharex=True)
    used = map_of_winners(panels[0], rows, reducers)
    panels[0].set_title("Fastest reduce(double, sum) to rank 0 by recorded price: the paper's four", fontsize=10)
    keys = [Patch(facecolor=colour[n], label=n) for n in reducers if n in used]
    keys.append(Patch(facecolor="white", edgecolor="black", hatch="//////", label="a tie"))
    panels[0].legend(handles=keys, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
    times = {}
    for r in rows:
        times.setdefault((int(r["ranks"]), int(r["bytes"])), {})[r["algorithm"]] = us(r)
    ranks, sizes = sorted({p for p, _ in times}), sorted({s for _, s in times})
    grid = [[times[p, s]["binary_tree"] / min(times[p, s][n] for n in reducers) for p in ranks] for s in sizes]
    bounds_of_classes = [1, 1.1, 1.5, 2, 3, 5, 7]   # the paper's
    image = panels[1].pcolormesh(edges(ranks), edges(sizes), grid, cmap="cividis",
                                 norm=BoundaryNorm(bounds_of_classes, 256), rasterized=True)
    panels[1].set_yscale("log", base=2)
    panels[1].set_yticks(sizes[1::4], [size_text(s) for s in sizes[1::4]])
    panels[1].set_ylabel("vector, bytes")
    panels[1].set_xlabel("p, ranks (a cell reaches half way to the next p); 12 us, 330 MB/s, gamma 1 ns/B")
    panels[1].set_title("Time of a binary tree over the fastest of the four", fontsize=10)
    figure.colorbar(image, cax=panels[1].inset_axes([1.02, 0, 0.02, 1]), label="times as fast")
    return figure
