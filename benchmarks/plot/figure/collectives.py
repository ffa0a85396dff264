# SPDX-License-Identifier: BSL-1.0
"""The README's picture: ten collectives on two ranks beside both MPI libraries; real runs."""
import collections
import math

from common import blue, compared, compiled, gathered, libraries, orange

of_doubles = ["all_reduce", "reduce", "broadcast", "all_gather", "gather", "scatter", "all_to_all",
              "reduce_scatter_block", "scan", "exclusive_scan"]
drawn = [*of_doubles, "all_reduce, MAXLOC", "all_reduce, 40-byte struct"]
names = [*drawn, "all_reduce, non-blocking", "all_reduce, persistent", "all_gatherv, all from one rank",
         "all_gatherv, a spike"]
# What is asked of compare, and what is added to the name of its collective
questions = [("--collective " + ",".join(of_doubles), ""), ("--type located --op maxloc", ", MAXLOC"),
             ("--type struct --op merge", ", 40-byte struct"), ("--mode nonblocking", ", non-blocking"),
             ("--mode persistent", ", persistent"),
             ("--collective all_gatherv --distribution broadcast", ", all from one rank"),
             ("--collective all_gatherv --distribution spike", ", a spike")]
runs = 10
columns = ["algorithm", "ranks", "bytes", "min_us", "median_us", "mpi", "state"]


def collectives(quick):
    def one_run(run, number, program):
        asks = ["--algorithms", "mpi,automatic", "--bytes", "8:4096" if quick else "8:8388608"]
        return [{"collective": row["collective"] + what, **{c: row[c] for c in columns}, "run": str(number)}
                for asked, what in questions for row in compared(run, 2, program, *asked.split(), *asks)]

    programs = [(run, compiled(target, quick)) for target, run, _ in libraries]
    return gathered("collectives", quick, [
        (f"{run}, run {number}", lambda run=run, number=number, program=program: one_run(run, number, program))
        for number in range(1, 2 if quick else runs + 1) for run, program in programs if program])


def geometric(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def ratios(rows):
    """{(MPI library, state): {collective: {bytes: MPI's time over that of automatic, the mean of the runs}}}"""
    times, found = {}, collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for r in rows:
        if r["state"] != "changed":
            where = r["mpi"], r["state"], r["collective"], int(r["bytes"])
            times.setdefault((*where, r["run"]), {})[r["algorithm"]] = float(r["median_us"])
    for (mpi, state, collective, size, _), t in times.items():
        found[mpi, state][collective][size].append(t["mpi"] / t["automatic"])
    as_drawn = sorted(found, key=lambda key: (key[0].startswith("MPICH"), key[1] == "far"))
    return {key: {c: {s: geometric(of_runs) for s, of_runs in sorted(by_size.items())}
                  for c, by_size in found[key].items()} for key in as_drawn}


def draw_collectives(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(8.6, 4.6), sharey=True)
    for (mpi, state), of_name in ratios(rows).items():
        axes, is_far = panels[int(mpi.startswith("MPICH"))], state == "far"
        shade = orange if is_far else blue
        there = [name for name in drawn if name in of_name]
        at = [drawn.index(name) + (0.12 if is_far else -0.12) for name in there]
        means, worst = ([f(of_name[name].values()) for name in there] for f in (geometric, min))
        axes.hlines(at, worst, means, color=shade, linewidth=1.5)
        axes.plot(worst, at, "|", color=shade, markersize=7)
        label = "far cores" if is_far else "near cores (a line there and back: below 170 ns)"
        axes.plot(means, at, "o", color=shade, markersize=4.5, label=label)
        axes.set_xlabel(f"Colligo is so many times as fast as {mpi}", fontsize=9)
    for axes in panels:
        axes.axvline(1, color="grey", linewidth=1)
        axes.set_xscale("log")
        shown = [t for t in (0.7, 1, 1.5, 2, 3, 5, 10, 20) if axes.get_xlim()[0] < t < axes.get_xlim()[1]]
        axes.set_xticks(shown, map("{:g}".format, shown))
        axes.minorticks_off()
        axes.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(drawn)), drawn)
    panels[0].invert_yaxis()
    labelled = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(labelled.values(), labelled.keys(), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=2,
                  fontsize=8, frameon=False)
    figure.suptitle("Two ranks of one host, 8 B to 8 MiB: dot: geometric mean of all sizes, bar: worst size",
                    fontsize=10)
    return figure
