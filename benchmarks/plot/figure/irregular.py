# SPDX-License-Identifier: BSL-1.0
"""Traff et al., figures 4, 6; 5; 7, 9, 10."""
from common import (
    blue, byte_axis, colour, dashes, gathered, green, infiniband, legend_below, line, orange, pink, powers, prices,
    rank_axis, size_text, sky, time_axis)


six = ["regular", "broadcast", "spike", "half_full", "linearly_decreasing", "geometric_curve"]


def gather_rows(quick, ranks, sizes, algorithms, distribution):
    return prices(quick, infiniband, ranks, sizes, algorithms, collective="all_gatherv", distribution=distribution)


def irregular(quick):
    p, sizes = (6, powers(4096, 65536, 4)) if quick else (30, powers(4096, 4 << 20, 4))
    names = ["linear_ring", "pipelined_ring:32768", "pipelined_ring:1048576", "automatic"]
    return gathered("irregular", quick, [(d, lambda d=d: gather_rows(quick, [p], sizes, names, d)) for d in six])


def draw_gatherv(axes, rows, x):
    names = list(dict.fromkeys(r["algorithm"] for r in rows))
    for i, name in enumerate(names):
        label = name.replace("pipelined_ring:", "pipelined ring, B = ")
        head, _, block = label.partition("B = ")
        label = f"{head}B = {size_text(block)}" if block else label.replace("_", " ")
        style = {"linear_ring": dict(color=colour["linear_ring"], linewidth=2),
                 "automatic": dict(color="black", linestyle="--")}
        line(axes, [r for r in rows if r["algorithm"] == name], x, label,
             **style.get(name, dict(color=[pink, sky, blue, green, orange][i % 5], linestyle=dashes[i % 4])))
    time_axis(axes)
    axes.grid(alpha=0.3)


def draw_irregular(plt, rows):
    figure, panels = plt.subplots(2, 3, figsize=(11, 6.4), sharey=True)
    for axes, d in zip(panels.flat, six):
        mine = [r for r in rows if r["distribution"] == d]
        draw_gatherv(axes, mine, "bytes")
        byte_axis(axes, [r["bytes"] for r in mine])
        axes.set_title(d.replace("_", " "), fontsize=10)
        axes.tick_params(labelsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("time")
    for axes in panels[1]:
        axes.set_xlabel("base count c, bytes")
    legend_below(figure, panels[0, 0])
    figure.suptitle(f"all_gatherv on {rows[0]['ranks']} ranks by recorded price: 5 us, 1 GB/s", fontsize=11)
    return figure


def irregular_blocks(quick):
    p, sizes = (4, powers(4096, 65536, 4)) if quick else (32, powers(4096, 4 << 20, 4))
    names = ["linear_ring"] + [f"pipelined_ring:{b << 10}" for b in (32, 64, 128, 512, 1024)]
    return gathered("irregular_blocks", quick, [(d, lambda d=d: gather_rows(quick, [p], sizes, names, d))
                                                for d in ("spike", "linearly_decreasing")])


def draw_irregular_blocks(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4))
    for axes, d in zip(panels, ("spike", "linearly_decreasing")):
        mine = [r for r in rows if r["distribution"] == d]
        draw_gatherv(axes, mine, "bytes")
        byte_axis(axes, [r["bytes"] for r in mine])
        axes.set_title(f"{d.replace('_', ' ')}, {rows[0]['ranks']} ranks", fontsize=10)
        axes.set_xlabel("base count c, bytes")
        axes.set_ylabel("time")
    legend_below(figure, panels[0], 6)
    figure.suptitle("all_gatherv, the block size B: by recorded price, 5 us, 1 GB/s", fontsize=11)
    return figure


def irregular_ranks(quick):
    """Over ranks at 32 KiB (figure 7) and at 64 B (figure 10, right), over sizes on fixed ranks (9, and 10, left)."""
    ranks = [2, 4, 8] if quick else powers(4, 512, 2)
    most, sizes = (8, powers(64, 4096, 4)) if quick else (128, powers(64, 1 << 20, 4))
    names = ["linear_ring", "pipelined_ring:32768", "automatic"]
    jobs = [(p, c) for c in (32768, 64) for p in ranks] + [(most, c) for c in sizes]
    return gathered("irregular_ranks", quick, [(f"p = {p}, c = {c}", lambda p=p, c=c: gather_rows(
        quick, [p], [c], names, "geometric_curve")) for p, c in dict.fromkeys(jobs)])


def draw_irregular_ranks(plt, rows):
    figure, panels = plt.subplots(1, 3, figsize=(11, 4))
    of_size = {c: [r for r in rows if int(r["bytes"]) == c] for c in (32768, 64)}
    for axes, c in zip(panels, of_size):
        if not of_size[c]:
            continue
        draw_gatherv(axes, of_size[c], "ranks")
        rank_axis(axes, [r["ranks"] for r in of_size[c]])
        axes.set_xlabel("p, ranks")
        axes.set_title(f"c = {size_text(c)}", fontsize=10)
    sizes_at = {}
    for r in rows:
        sizes_at.setdefault(int(r["ranks"]), set()).add(int(r["bytes"]))
    most = max(sizes_at, key=lambda p: len(sizes_at[p]))
    here = [r for r in rows if int(r["ranks"]) == most]
    draw_gatherv(panels[2], here, "bytes")
    byte_axis(panels[2], [r["bytes"] for r in here])
    panels[2].set_xlabel("base count c, bytes")
    panels[2].set_title(f"p = {most}", fontsize=10)
    panels[0].set_ylabel("time")
    legend_below(figure, panels[2])
    figure.suptitle("all_gatherv, geometric curve: by recorded price, 5 us, 1 GB/s", fontsize=11)
    return figure
