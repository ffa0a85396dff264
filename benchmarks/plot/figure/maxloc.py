# SPDX-License-Identifier: BSL-1.0
"""The Cray X1 paper's figures 6 to 10 in kind; real runs."""
from common import blue, byte_axis, compared, compiled, gathered, green, legend_below, libraries, orange, papers, sky


def maxloc(quick):
    jobs = []
    for target, run, ranks in libraries:
        program = compiled(target, quick)
        if program is None:
            continue
        for p in [2] if quick else ranks:
            for kind in (["located", "maxloc"], ["double", "sum"]):
                jobs.append((f"{run}, p = {p}, {kind[1]}", lambda run=run, p=p, kind=kind, program=program: compared(
                    run, p, program, "--type", kind[0], "--op", kind[1], "--repeats", "2" if quick else "7", "--bytes",
                    "16:4096" if quick else "16:4194304", "--algorithms",
                    "mpi,automatic,recursive_doubling,binary_tree,ring,halving_doubling,binary_blocks")))
    return gathered("maxloc", quick, jobs)


def shade_of(mpi, ranks):
    """The same in both pictures."""
    return {2: blue, 4: sky, 8: green}[ranks] if mpi.startswith("Open MPI") else orange


def draw_maxloc(plt, rows):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), sharey=True)
    for axes, op in zip(panels, ("sum", "maxloc")):
        here = [r for r in rows if r["op"] == op]
        for mpi, p in dict.fromkeys((r["mpi"], int(r["ranks"])) for r in here):
            shade = shade_of(mpi, p)
            mine = [r for r in here if r["mpi"] == mpi and int(r["ranks"]) == p]
            sizes = sorted({int(r["bytes"]) for r in mine})
            def best(size, which, column="min_us"):
                return min(float(r[column]) for r in mine if int(r["bytes"]) == size and which(r["algorithm"]))
            is_mpi, is_paper = (lambda n: n == "mpi"), (lambda n: n in papers)
            ratios = [best(s, is_mpi) / best(s, is_paper) for s in sizes]
            axes.plot(sizes, ratios, marker="o", markersize=3, color=shade, label=f"{mpi}, p = {p}")
            spread = [[best(s, is_mpi) / best(s, is_paper, "median_us") for s in sizes],
                      [best(s, is_mpi, "median_us") / best(s, is_paper) for s in sizes]]
            axes.fill_between(sizes, *spread, color=shade, alpha=0.2, linewidth=0)
        byte_axis(axes, [r["bytes"] for r in here])
        axes.axhline(1, color="grey", linewidth=1)
        axes.set_yscale("log")
        axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        axes.minorticks_off()
        axes.grid(alpha=0.3, which="both")
        axes.set_title(f"all_reduce, {op}", fontsize=10)
        axes.set_xlabel("vector, bytes")
    panels[0].set_ylabel("MPI's own / best of the papers' five")
    legend_below(figure, panels[0])
    figure.suptitle("Real runs on two cores of an AMD EPYC: fastest of 7 samples, shaded to medians "
                    "(above 1: faster than MPI)", fontsize=11)
    return figure
