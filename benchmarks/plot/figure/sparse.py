# SPDX-License-Identifier: BSL-1.0
"""sparse_all_to_all by each way beside what one writes with MPI, for ranks that do not know who sends."""
import os
import subprocess
import sys

from common import black, blue, gathered, green, legend_below, orange, pink, red, root, rows_of, sky, us

drawn = {"nbx": (red, "X"), "all_to_all_v": (pink, "v"), "counters": (blue, "s"), "consensus": (sky, "^"),
         "dense": (orange, "D"), "by_host": (green, "P"), "automatic": (black, "o")}
placed = {"flat": ("flat_100g", "block"), "in order": ("two_level", "block"), "shuffled": ("two_level", "shuffled")}


def sparse(quick):
    jobs, cases = [], [(4, 0, 1024), (6, 0, 1024), (16, 0, 64), (16, 0, 1024), (4, 4, 1024)]
    for k, receivers, size in [(2, 0, 64), (1, 1, 64)] if quick else cases:
        for p in [8] if quick else [64]:
            for where, (platform, placement) in placed.items():
                def job(where=where, platform=platform, placement=placement, p=p, k=k, receivers=receivers, size=size):
                    table = root / f"build/figures-{os.getpid()}.csv"
                    run = subprocess.run(
                        [str(root / "benchmarks/model/simulate"), "--program", "sparse", "--platform", platform,
                         "--placement", placement, "--ranks", str(p), "--messages", str(k), "--receivers",
                         str(receivers), "--bytes", str(size), "--timeout", "3600", "--csv", str(table)],
                        capture_output=True, text=True, check=False)
                    if run.returncode != 0:
                        sys.exit(f"{run.stdout[-2000:]}{run.stderr[-2000:]}")
                    rows = [dict(r, collective="sparse_all_to_all", mpi=f"simulated, {platform}", placement=where)
                            for r in rows_of(table.read_text())]
                    table.unlink()
                    return rows
                jobs.append((f"{where}, p = {p}, {k} of {size} B to {receivers or 'any'}", job))
    return gathered("sparse", quick, jobs)


def draw_sparse(plt, rows):
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.4), sharey=True)
    for axes, (where, title) in zip(panels, (("flat", "1.5 us, 12.5 GB/s (flat_100g)"),
                                             ("in order", "hosts of 8 (two_level), in order"),
                                             ("shuffled", "hosts of 8 (two_level), shuffled"))):
        cases = {}
        for r in rows:
            if r["placement"] == where:
                cases.setdefault((int(r["ranks"]), int(r["receivers"]), int(r["bytes"]), int(r["messages"])), {})[
                    r["algorithm"]] = us(r)
        axes.axhline(1, color="grey", label="ranks that know, behind a barrier")
        for i, (way, (paint, marker)) in enumerate(drawn.items()):   # side by side, so that none hides another
            axes.plot([at + 0.08 * (i - 3) for at in range(len(cases))],
                      [cases[c]["messages"] / cases[c][way] for c in sorted(cases)], color=paint, marker=marker,
                      markersize=5, linestyle="" if way != "automatic" else ":",
                      label={"nbx": "NBX by hand", "all_to_all_v": "MPI_Alltoall, MPI_Alltoallv"}.get(way, way))
        several = len({p for p, *_ in cases}) > 1
        axes.set_xticks(range(len(cases)),
                        [(f"{p} ranks: " if several else "") + f"{k} of {size} B" +
                         (f"{' ' if several else chr(10)}to the last {few}" if few else "")
                         for p, few, size, k in sorted(cases)], fontsize=7.5, rotation=90 if several else 0)
        axes.set_yscale("log", base=2)
        axes.set_yticks([1 / 16, 1 / 8, 0.25, 0.5, 1, 2], ["0.06", "0.13", "0.25", "0.5", "1", "2"])
        axes.grid(alpha=0.3)
        axes.set_title(title, fontsize=10)
    panels[0].set_ylabel("speed, simulated, over that of messages\nbetween ranks that know, behind a barrier")
    legend_below(figure, panels[0], 4)
    ranks = ", ".join(sorted({r["ranks"] for r in rows}, key=int))
    figure.suptitle(f"{ranks} ranks that do not know who sends to them: messages by chance, in SimGrid's SMPI",
                    fontsize=11)
    return figure
