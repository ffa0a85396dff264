# SPDX-License-Identifier: BSL-1.0
"""How far the best algorithm is from the textbook's lower bound."""
import math
import subprocess

from common import compiled, gathered, rows_of, size_text


frontier = ["chained_halving", "sorted_halving", "grouped_doubling", "pipelined_circulant", "halving_scan",
            "knomial_tree"]
bounded = [("all_reduce", "1"), ("all_reduce", "0"), ("reduce", "1"), ("broadcast", "1"), ("reduce_scatter", "0"),
           ("all_gatherv from one rank", "1"), ("scan", "1")]
drawn = [("all_reduce", "0"), ("broadcast", "1"), ("all_gatherv from one rank", "1"), ("scan", "1")]


few_ranks = 128   # of all collectives; those that are drawn go further


def asked(program, *words):
    run = subprocess.run([str(program), "--csv", *map(str, words)], check=True, stdout=subprocess.PIPE, text=True)
    return [r for r in rows_of(run.stdout) if float(r["bound"]) > 0]


def is_bounded(row):
    return row["machine"] == "typical" and (row["collective"], row["commutes"]) in bounded


def bounds(quick):
    names, most = list(dict.fromkeys(c for c, _ in bounded)), 8 if quick else 512
    jobs = {"with": lambda: asked(compiled("bounds", quick), "--ranks", min(few_ranks, most)),
            "with, more ranks": lambda: [r for r in asked(compiled("bounds", quick), "--ranks", most, *names)
                                         if int(r["p"]) > few_ranks and is_bounded(r)],
            "without": lambda: [r for r in asked(compiled("bounds", quick), "--ranks", most, "--without",
                                                 ",".join(frontier), *names) if is_bounded(r)]}

    def rows_with(label, job):
        return [{"collective": r["collective"], "commutes": r["commutes"], "machine": r["machine"], "ranks": r["p"],
                 "bytes": r["bytes"], "frontier": label.split(",")[0],
                 "over_bound": f"{float(r['seconds_of_best']) / float(r['bound']):.4f}"} for r in job()]
    return gathered("bounds", quick, [(label, lambda label=label, job=job: rows_with(label, job))
                                      for label, job in jobs.items()])


def draw_bounds(plt, rows):
    from matplotlib.colors import LogNorm

    rows = [r for r in rows if r["machine"] == "typical" and (r["collective"], r["commutes"]) in drawn]
    most = max(float(r["over_bound"]) for r in rows)
    figure, panels = plt.subplots(2, len(drawn) + 1, figsize=(2.4 * len(drawn) + 1, 6),
                                  gridspec_kw={"width_ratios": [9] * len(drawn) + [1]})
    for column, key in enumerate(drawn):
        for axes, label in zip(panels[:, column], ("without", "with")):
            here = [r for r in rows if (r["collective"], r["commutes"]) == key and r["frontier"] == label]
            ranks = sorted({int(r["ranks"]) for r in here})
            exponents = sorted({round(math.log2(int(r["bytes"]))) for r in here})
            grid = [[math.nan] * len(exponents) for _ in ranks]
            for r in here:
                grid[ranks.index(int(r["ranks"]))][exponents.index(round(math.log2(int(r["bytes"]))))] = \
                    float(r["over_bound"])
            for row in grid:   # between two lengths that are priced: the one before; blocks are not empty
                for i in range(1, len(row)):
                    row[i] = row[i - 1] if math.isnan(row[i]) else row[i]
            image = axes.imshow(grid, origin="lower", aspect="auto", cmap="viridis_r", norm=LogNorm(1, most))
            if any(math.isnan(v) for row in grid for v in row):
                axes.text(0.03, 0.97, "fewer\nelements\nthan p", transform=axes.transAxes, fontsize=8, va="top")
            mean = math.exp(sum(math.log(float(r["over_bound"])) for r in here) / len(here))
            name = key[0] + ("" if key[1] == "1" else ", order kept")
            axes.set_title(f"{name}\n{label}: mean {mean:.2f}", fontsize=9)
            axes.set_yticks(range(0, len(ranks), 4), ranks[::4], fontsize=9)
            shown = range(0, len(exponents), max(6, len(exponents) // 3))
            axes.set_xticks(shown, [size_text(1 << exponents[i]) for i in shown], fontsize=8)
    for row in panels:
        row[0].set_ylabel("p, not to scale")
        bar = figure.colorbar(image, cax=row[-1], label="best / lower bound")
        at = [v for v in (1, 1.5, 2, 3, 4, 6, 8, 12, 16) if v < most * 0.95] + [most]
        bar.set_ticks(at, labels=[f"{v:.3g}" for v in at])
        bar.minorticks_off()
    for axes in panels[1][:-1]:
        axes.set_xlabel("bytes", fontsize=9)
    figure.suptitle("By recorded price, own work counted: 1 us, 10 GB/s, 10 GB/s of combining; without and with\n"
                    + ", ".join(frontier), fontsize=9)
    return figure
