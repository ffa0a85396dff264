# SPDX-License-Identifier: BSL-1.0
"""PATHS, figures 5 to 9."""
import os
import pathlib

from common import byte_axis, colour, gathered, legend_below, line, root, simulated, time_axis, us


def lam_trees(p):
    """LAM-MPI 6.5's, as rules/named_trees.hpp has them: reduce, broadcast."""
    up, down = [[] for _ in range(p)], [[] for _ in range(p)]
    for r in range(1, p):
        up[0 if p <= 4 else r & (r - 1)].append(r)
        down[0 if p <= 4 else r - (1 << r.bit_length() - 1)].insert(0, r)
    return up, down


def tree_of_groups(groups, within, between):
    """Leaders of groups, the first of each, below the first one; within groups as well. Shapes: flat, binomial."""
    children = [[] for _ in range(sum(map(len, groups)))]

    def join(ranks, shape):
        for i in range(1, len(ranks)):
            children[ranks[0 if shape == "flat" else i & (i - 1)]].append(ranks[i])
    join([g[0] for g in groups], between)
    leaders = [c[:] for c in children]
    for g in groups:
        children[g[0]] = []
        join(g, within)
    for inner, outer in zip(children, leaders):
        inner += outer
    return children


def configured_trees(platform, p):
    """Trees over ranks dealt out over the hosts of 8 cores, or over two clusters: {name: (reduce, broadcast)}"""
    flat = [list(range(1, p))] + [[] for _ in range(p - 1)]
    if platform == "wan":
        half = 64 if p > 64 else p // 2
        known = tree_of_groups([list(range(half)), list(range(half, p))], "binomial", "flat")
    else:
        hosts = (p + 7) // 8
        known = tree_of_groups([list(range(h, p, hosts)) for h in range(hosts)], "flat", "flat")
    return {"LAM's trees": lam_trees(p), "linear scheme": (flat, flat), "configured": (known, known)}


def trees(quick):
    jobs = []
    sizes = [8, 1024] if quick else [8, 512, 4096, 32768, 262144]

    def along(platform, p, name):
        files = {}
        for way, children in zip(("REDUCE", "BROADCAST"), configured_trees(platform, p)[name]):
            path = root / f"build/figures-{os.getpid()}-{way}.tree"
            path.write_text("".join(f"{r}: {' '.join(map(str, c))}\n" for r, c in enumerate(children) if c))
            files[f"COLLIGO_{way}_TREE"] = str(path)
        rows = simulated(platform, p, sizes, ["configured"], "--placement", "cyclic", "--timeout", "3600", env=files)
        for path in files.values():
            pathlib.Path(path).unlink()
        return [dict(r, algorithm=name) for r in rows]
    for platform, ranks in (("two_level", [8] if quick else [16, 32, 61]), ("wan", [4] if quick else [128])):
        for p in ranks:
            jobs.append((f"{platform}, p = {p}", lambda platform=platform, p=p: simulated(
                platform, p, sizes, ["mpi", "binary_tree", "recursive_doubling", "automatic"]
                + (["hierarchical"] if platform == "two_level" else []), "--placement", "cyclic", "--timeout", "3600")))
            for name in configured_trees(platform, p):
                jobs.append((f"{platform}, p = {p}, {name}", lambda platform=platform, p=p, name=name: along(
                    platform, p, name)))
    return gathered("trees", quick, jobs)


def draw_trees(plt, rows):
    scenes = list(dict.fromkeys((r["mpi"], r["ranks"]) for r in rows))
    figure, panels = plt.subplots(1, len(scenes), figsize=(max(6, 3 * len(scenes)), 4), squeeze=False, sharex=True)
    for axes in panels[0][1:]:   # of one platform
        if axes is not panels[0][-1] or len(scenes) < 3:
            axes.sharey(panels[0][0])
    for axes, (platform, p) in zip(panels[0], scenes):
        here = [r for r in rows if (r["mpi"], r["ranks"]) == (platform, p)]
        for i, name in enumerate(dict.fromkeys(r["algorithm"] for r in here)):
            label = "SimGrid's ompi" if name == "mpi" else name
            line(axes, [r for r in here if r["algorithm"] == name], "bytes", label,
                 color=colour.get(name, "#ee8833"), linestyle="--" if name == "automatic" else "-")
        mine = sorted((int(r["bytes"]), us(r)) for r in here if r["algorithm"] == "automatic")
        axes.plot(*zip(*mine), color=colour["automatic"], marker="o", markersize=8, fillstyle="none", linestyle="")
        time_axis(axes)
        byte_axis(axes, {int(r["bytes"]) for r in here}, 4)
        axes.set_title({"simulated, two_level": f"hosts of 8 cores, p = {p}",
                        "simulated, wan": f"two clusters, 30 ms, p = {p}"}[platform], fontsize=10)
        axes.set_xlabel("vector, bytes")
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("time, simulated")
    legend_below(figure, panels[0][0])
    figure.suptitle("all_reduce(double, sum), ranks dealt out cyclically, on SimGrid's two_level (3 us, 1.25 GB/s "
                    "between hosts)\nand wan (50 us within, 30 ms between the clusters, 12.5 MB/s)", fontsize=10)
    return figure
