# SPDX-License-Identifier: BSL-1.0
"""A trace of a call with a late rank, as the wrappers of PATHS show it."""
import json
import os
import subprocess

from common import blue, compiled, green, orange, root, sky


def trace(quick):
    """The last call of each kind: children in order, and as they arrive."""
    program = compiled("cluster_trees", quick)
    if program is None:
        return []
    path = root / f"build/figures-{os.getpid()}.json"
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", COLLIGO_TRACE=str(path))
    run = ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "4" if quick else "8",
           str(program), "--pretend", "100", "--placement", "in-order", "--late", "20000", "--calls", "1", "--rounds",
           "1", "--only", "flat", "flat, arrival"]
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
    for number in calls:
        of_root = [e["name"] for n, e in steps if n == number and e["tid"] == 0]
        if of_root[0].count("fold") == ranks - 1:
            kinds["as they arrive"] = number
        elif sum(name.startswith("fold") for name in of_root) == ranks - 1:
            kinds["in order"] = number
    rows = []
    for kind, number in kinds.items():
        first = min(e["ts"] for e in calls[number])
        rows += [{"call": kind, "rank": e["tid"], "step": e["name"], "begin_us": f"{e['ts'] - first:.1f}",
                  "end_us": f"{e['ts'] - first + e['dur']:.1f}", "mpi": "Open MPI"}
                 for n, e in steps if n == number]
    return rows


def draw_trace(plt, rows):
    kinds = sorted({r["call"] for r in rows}, reverse=True)
    figure, panels = plt.subplots(1, len(kinds), figsize=(11, 3.6), sharey=True)
    paint = {"fold": orange, "send": sky, "recv": green}
    for axes, kind in zip(panels, kinds):
        here = [r for r in rows if r["call"] == kind]
        for r in here:
            begin, end, rank = float(r["begin_us"]) / 1e3, float(r["end_us"]) / 1e3, int(r["rank"])
            axes.barh(rank, max(end - begin, 0.02), left=begin, height=0.7, color=paint[r["step"][:4]],
                      edgecolor="black", linewidth=0.4)
            if r["step"].startswith("send"):   # too short to be seen
                axes.plot([begin], [rank], marker="v", color=blue, markersize=5)
            if rank == 0 and end - begin > 2:
                axes.text((begin + end) / 2, rank, r["step"], ha="center", va="center", fontsize=6)
        axes.set_xlim(left=-1)
        axes.set_title(f"children {kind}", fontsize=10)
        axes.set_xlabel("ms")
        axes.set_yticks(sorted({int(r["rank"]) for r in here}))
    panels[0].invert_yaxis()
    panels[0].set_ylabel("rank")
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    figure.legend(handles=[Patch(facecolor=paint[k], edgecolor="black", label=label) for k, label in (
        ("fold", "a step that receives to combine"), ("recv", "one that receives"))]
        + [Line2D([], [], marker="v", color=blue, linestyle="", label="one that sends")],
        loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=3, fontsize=8, frameon=False)
    figure.suptitle("A real trace, two cores of an AMD EPYC, Open MPI: all_reduce of one int along a flat tree, rank 1 "
                    "20 ms late", fontsize=10)
    return figure
