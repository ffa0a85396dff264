# SPDX-License-Identifier: BSL-1.0
"""A trace of a call with a late rank, as the wrappers of PATHS show it."""
import json
import os
import subprocess

from common import blue, compiled, green, orange, root, sky


def trace(quick):
    """The shortest call of each kind, which other work on the machine disturbed least: children in order, and as they
    arrive. The vector is so long that combining takes a millisecond or two, or the order would not matter."""
    program = compiled("cluster_trees", quick)
    if program is None:
        return []
    path = root / f"build/figures-{os.getpid()}.json"
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", COLLIGO_TRACE=str(path))
    run = ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "4" if quick else "6",
           str(program), "--pretend", "100", "--placement", "in-order", "--late", "20000", "--calls", "1", "--rounds",
           "1" if quick else "15", "--elements", "1000" if quick else "1000000", "--only", "flat", "flat, arrival"]
    subprocess.run(["timeout", "100", *run], env=env, check=True, stdout=subprocess.DEVNULL)
    events = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
    path.unlink()
    calls, steps, now = {}, [], {}
    for e in events:   # a rank's steps stand behind their call
        if e["cat"] == "call":
            now[e["tid"]] = e["args"]["number"]
            calls.setdefault(e["args"]["number"], []).append(e)
        else:
            steps.append((now[e["tid"]], e))
    ranks, kinds = len(next(iter(calls.values()))), {}

    def of_rank_0(number):
        return next(e for e in calls[number] if e["tid"] == 0)

    for number in calls:
        of_root = [e["name"] for n, e in steps if n == number and e["tid"] == 0]
        if of_root[0].count("fold") == ranks - 1:
            kind = "as they arrive"
        elif sum(name.startswith("fold") for name in of_root) == ranks - 1:
            kind = "in order"
        else:
            continue
        if kind not in kinds or of_rank_0(number)["dur"] < of_rank_0(kinds[kind])["dur"]:
            kinds[kind] = number
    rows = []
    for kind, number in kinds.items():
        first = of_rank_0(number)["ts"]
        rows += [{"call": kind, "rank": e["tid"], "step": e["name"], "begin_us": f"{e['ts'] - first:.1f}",
                  "end_us": f"{e['ts'] - first + e['dur']:.1f}", "mpi": "Open MPI"}
                 for n, e in steps if n == number]
    return rows


def draw_trace(plt, rows):
    paint_until = 1.25 * max(float(r["end_us"]) for r in rows if r["step"].startswith("fold")) / 1e3
    kinds = sorted({r["call"] for r in rows}, reverse=True)
    figure, panels = plt.subplots(len(kinds), 1, figsize=(10, 5.2), sharex=True)
    paint = {"fold": orange, "send": sky, "recv": green}
    for axes, kind in zip(panels, kinds):
        here = [r for r in rows if r["call"] == kind]
        for r in here:
            begin, end, rank = float(r["begin_us"]) / 1e3, float(r["end_us"]) / 1e3, int(r["rank"])
            axes.barh(rank, max(end - begin, 0.02), left=begin, height=0.7, color=paint[r["step"][:4]],
                      edgecolor="black", linewidth=0.4)
            if r["step"].startswith("send"):   # too short to be seen
                axes.plot([begin], [rank], marker="v", color=blue, markersize=5)
            if rank == 0 and r["step"].startswith("fold"):
                combined = end
                words = r["step"].replace("fold ", "") if kind == "in order" else "all, as they arrive"
                axes.text((begin + end) / 2, rank, words, ha="center", va="center", fontsize=7)
        axes.axvline(combined, color="black", linewidth=1, linestyle="--")
        axes.text(combined, -0.62, f" combined after {combined:.1f} ms", fontsize=8, va="bottom")
        axes.set_title(f"children {kind}", fontsize=10, loc="left")
        axes.set_ylabel("rank")
        axes.set_yticks(sorted({int(r["rank"]) for r in here}))
        axes.invert_yaxis()
    panels[-1].set_xlabel("ms")
    panels[-1].set_xlim(-1, paint_until)   # rank 0 comes at 0; how the result goes out is the same in both
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    figure.legend(handles=[Patch(facecolor=paint[k], edgecolor="black", label=label) for k, label in (
        ("fold", "a step that receives to combine"), ("send", "a step that sends"), ("recv", "a step that receives"))]
        + [Line2D([], [], marker="v", color=blue, linestyle="", label="where it begins to send")],
        loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=4, fontsize=8, frameon=False)
    figure.suptitle("A real trace, two cores of an AMD EPYC, Open MPI: all_reduce of 4 MB along a flat tree, "
                    "rank 1 20 ms late", fontsize=10)
    return figure
