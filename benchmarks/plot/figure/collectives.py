# SPDX-License-Identifier: BSL-1.0
"""The README's picture: what the tables of benchmarks/results.md say of two ranks, on three processors."""
import re

from common import blue, green, orange, root, sky

names = ["all_reduce", "reduce", "broadcast", "all_gather", "gather", "scatter", "all_to_all", "reduce_scatter_block",
         "scan", "exclusive_scan"]
processors = ["EPYC, near", "EPYC 5th gen., near", "EPYC 5th gen., far", "Xeon 5th gen."]
# The heading of a table's section, how the table begins, and over which library
tables = [("## Against Open MPI", "| p = 2, against Open MPI", "Open MPI"),
          ("## Against MPICH", "| p = 2, against MPICH", "MPICH")]


def name_in(cell):
    return next((n for n in names if cell in (n, f"{n}, sum of doubles")), None)


def collectives(quick):
    page = (root / "benchmarks/results.md").read_text()
    rows = []
    for heading, first, mpi in tables:
        at = page.index(first, page.index(heading))
        for line in page[at:page.index("\n\n", at)].split("\n")[2:]:
            cells = [c.strip() for c in line.strip("| ").split(" |")]
            name = name_in(cells[0])
            for processor, cell in zip(processors, cells[1:]):
                if name and (found := re.fullmatch(r"([\d.]+) \(\**([\d.]+)\**\)", cell)):
                    rows.append({"collective": name, "processor": processor, "mpi": mpi, "mean": found[1],
                                 "worst": found[2]})
    return rows


def draw_collectives(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 4.4), sharey=True)
    shades = dict(zip(dict.fromkeys(r["processor"] for r in rows), (blue, green, sky, orange)))
    for axes, mpi in zip(panels, ("Open MPI", "MPICH")):
        for i, (processor, shade) in enumerate(shades.items()):
            mine = [r for r in rows if r["processor"] == processor and r["mpi"] == mpi]
            at = [names.index(r["collective"]) + 0.18 * (i - 1.5) for r in mine]
            means, worst = ([float(r[c]) for r in mine] for c in ("mean", "worst"))
            axes.hlines(at, worst, means, color=shade, linewidth=1.5)
            axes.plot(worst, at, "|", color=shade, markersize=7)
            axes.plot(means, at, "o", color=shade, markersize=4.5, label=processor)
        axes.axvline(1, color="grey", linewidth=1)
        axes.set_xscale("log")
        shown = [t for t in (0.8, 1, 1.5, 2, 3, 5, 10) if t < axes.get_xlim()[1]]
        axes.set_xticks(shown, map("{:g}".format, shown))
        axes.minorticks_off()
        axes.grid(axis="x", alpha=0.3)
        axes.set_xlabel(f"Colligo is so many times as fast as {mpi}", fontsize=9)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=4, fontsize=8, frameon=False,
                  title="near: cores share a cache", title_fontsize=8)
    figure.suptitle("Colligo's speed over that of Open MPI (left) and MPICH (right): two ranks of one host\n"
                    "dot: geometric mean of 8 B to 8 MiB, bar: worst size", fontsize=10)
    return figure
