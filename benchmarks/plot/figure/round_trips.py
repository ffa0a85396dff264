# SPDX-License-Identifier: BSL-1.0
"""PATHS, figures 10 and 11: round trips, measured by bench/cluster/run."""
from common import blue, byte_axis, dashes, green, legend_below, red, root, rows_of, sky, time_axis, us


def round_trips(quick):
    rows = []
    for name, network in (("round_trips", "LAN"), ("round_trips_wan", "WAN")):
        its = rows_of((root / f"benchmarks/bench/cluster/{name}.csv").read_text())
        rows += [dict(r, mpi="Open MPI", network=network) for r in its]
    return rows


def draw_round_trips(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(10, 4))
    for axes, network, title in ((panels[0], "LAN", "one cluster: 1 Mbit/s, 10 ms"),
                                 (panels[1], "WAN", "two clusters: 100 Mbit/s, 15 ms")):
        here = [r for r in rows if r["network"] == network]
        for pairs, shade, style in zip(sorted({int(r["pairs"]) for r in here}), (sky, blue, green, red), dashes):
            mine = [r for r in here if int(r["pairs"]) == pairs]
            axes.plot([int(r["bytes"]) for r in mine], [us(r) for r in mine], marker="o", markersize=3,
                      color=shade, linestyle=style, label="alone" if pairs == 1 else f"beside {pairs - 1}")
        byte_axis(axes, [r["bytes"] for r in here])
        time_axis(axes)
        axes.grid(alpha=0.3)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("message, bytes")
    panels[0].set_ylabel("time there and back")
    legend_below(figure, panels[0], 4)
    figure.suptitle("Round trips between two emulated hosts beside those of other pairs", fontsize=11)
    return figure
