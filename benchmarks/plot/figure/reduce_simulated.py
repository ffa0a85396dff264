# SPDX-License-Identifier: BSL-1.0
"""The Cray X1 paper's figure 8 right, against two libraries that SimGrid imitates."""
from common import byte_axis, dashes, gathered, legend_below, powers, shades, simulated, us
from figure.reduce_fastest import reducers


def reduce_simulated(quick):
    sizes = [1024, 4096] if quick else powers(1024, 4 << 20, 4)
    return gathered("reduce_simulated", quick, [(f"p = {p}", lambda p=p: simulated(
        "flat_t3e", p, sizes, ["mpi", "simgrid:mpich", "automatic"] + reducers, "--collective", "reduce", "--root", "0",
        "--gamma", "1")) for p in ([3] if quick else [8, 32, 33, 64, 100])])


def draw_reduce_simulated(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for axes, vendor, title in ((panels[0], "simgrid:mpich", "MPICH"), (panels[1], "mpi", "Open MPI")):
        for p, shade, style in zip(sorted({int(r["ranks"]) for r in rows}), shades, dashes + dashes):
            times = {}
            for r in rows:
                if int(r["ranks"]) == p:
                    times.setdefault(int(r["bytes"]), {})[r["algorithm"]] = us(r)
            axes.plot(sorted(times), [times[s][vendor] / min(times[s][n] for n in reducers) for s in sorted(times)],
                      marker="o", markersize=3, color=shade, linestyle=style, label=f"p = {p}")
        byte_axis(axes, {int(r["bytes"]) for r in rows})
        axes.axhline(1, color="grey", linewidth=1)
        axes.set_yscale("log", base=2)
        axes.set_yticks([0.5, 1, 2, 4, 8, 16], ["0.5", "1", "2", "4", "8", "16"])
        axes.grid(alpha=0.3)
        axes.set_title(f"SimGrid's imitation of {title}", fontsize=10)
        axes.set_xlabel("vector, bytes")
    panels[0].set_ylabel("library / best of the paper's four")
    legend_below(figure, panels[0])
    figure.suptitle("reduce(double, sum) to rank 0, simulated: 12 us, 330 MB/s, gamma 1 ns/B (flat_t3e)", fontsize=11)
    return figure
