# SPDX-License-Identifier: BSL-1.0
"""Traff et al., figure 4's last two: 8 ranks a node, communicators permuted."""
from common import black, byte_axis, gathered, legend_below, powers, red, simulated, sky, time_axis, us


def irregular_nodes(quick):
    p, sizes = (16, [1024]) if quick else (240, powers(16384, 1 << 20, 4))
    jobs = []
    for d in ("broadcast", "spike"):
        for placement in ("block", "shuffled"):
            def job(d=d, placement=placement):
                rows = simulated("two_level", p, sizes, ["linear_ring", "pipelined_ring:block=32768", "automatic"],
                                 "--collective", "all_gatherv", "--distribution", d, "--placement", placement,
                                 "--timeout", "3600")
                return [dict(r, placement=placement) for r in rows]
            jobs.append((f"{d}, {placement}", job))
    return gathered("irregular_nodes", quick, jobs)


def draw_irregular_nodes(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    paint = {"linear_ring": red, "pipelined_ring:block=32768": sky, "automatic": black}
    for axes, d in zip(panels, ("broadcast", "spike")):
        for name, shade in paint.items():
            for placement, said in (("block", "in order"), ("shuffled", "permuted")):
                mine = sorted((int(r["bytes"]), us(r)) for r in rows if
                              (r["distribution"], r["algorithm"], r["placement"]) == (d, name, placement))
                label = name.replace("_", " ").replace(":block=32768", ", B = 32 KiB")
                # Circles around what they may lie on.
                style = dict(marker="o", markersize=3) if placement == "block" else dict(
                    marker="o", markersize=9, fillstyle="none", linestyle="")
                axes.plot(*zip(*mine), label=f"{label}, {said}", color=shade, **style)
        byte_axis(axes, [r["bytes"] for r in rows])
        time_axis(axes)
        axes.grid(alpha=0.3)
        axes.set_title(d, fontsize=10)
        axes.set_xlabel("base count c, bytes")
    panels[0].set_ylabel("time, simulated")
    legend_below(figure, panels[0], 3)
    figure.suptitle(f"all_gatherv on {rows[0]['ranks']} ranks, 8 a node, in SimGrid's two_level (3 us, 1.25 GB/s "
                    "between nodes)", fontsize=11)
    return figure
