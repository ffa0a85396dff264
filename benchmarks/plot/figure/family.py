# SPDX-License-Identifier: BSL-1.0
"""automatic against SimGrid's own algorithms: the other collectives."""
from common import byte_axis, gathered, powers, shades, simulated
from figure.simulated import ahead_of_others, right_on


# On many ranks, where a simulation takes long; elsewhere all that give right results.
few_peers = {
    "all_reduce": ["rdb", "rab_rdb", "rab2", "lr"],
    "reduce": ["binomial", "mpich", "mvapich2", "ompi_binomial", "ompi_binary"],
    "broadcast": ["binomial_tree", "flattree", "scatter_LR_allgather", "scatter_rdb_allgather", "mpich", "mvapich2"],
    "all_gatherv": ["GB", "ring", "ompi_neighborexchange", "ompi_bruck", "mpich", "mvapich2"],
    "reduce_scatter": ["ompi_basic_recursivehalving", "ompi_ring", "ompi_butterfly", "mpich", "mvapich2"],
    "all_gather": ["bruck", "ring", "GB", "spreading_simple", "ompi_neighborexchange", "mpich", "mvapich2"],
    "all_to_all": ["bruck", "ring", "basic_linear", "mpich", "mvapich2"],
    "gather": ["ompi_basic_linear", "ompi_binomial", "ompi_linear_sync", "mpich", "mvapich2"],
    "scatter": ["ompi_basic_linear", "ompi_binomial", "ompi_linear_nb", "mpich", "mvapich2"],
}
# Sizes are of a block; ranks hold p.
in_blocks = ("all_gatherv", "reduce_scatter", "all_gather", "all_to_all", "gather", "scatter")
with_root = ("reduce", "broadcast", "gather", "scatter")


def family(quick):
    jobs = []
    for p in [3] if quick else [33, 100, 540]:
        for what, few in few_peers.items():
            if p == 540 and what in in_blocks[2:]:
                continue   # p^2 messages of SimGrid's own
            names = [f"simgrid:{name}" for name in few] if p != 33 else right_on(p, what)
            longest_block = 1 << (14 if p == 540 or (p == 100 and what == "all_to_all") else 16)
            all_sizes = powers(64, longest_block, 4) if what in in_blocks else powers(1024, 1 << 22, 4)
            sizes = [1024, 4096] if quick else all_sizes
            from_root = ["--root", "0"] if what in with_root else []   # else a call for each, in turn
            jobs.append((f"{what}, p = {p}", lambda what=what, p=p, sizes=sizes, more=from_root, names=names: simulated(
                "flat_100g", p, sizes, ["automatic", "mpi"] + names, "--collective", what, *more,
                "--gamma", "0.1", "--timeout", "3600")))
    return gathered("family", quick, jobs)


def draw_family(plt, rows):
    """But for gather and scatter, whose lines would be flat: all algorithms take the same time there."""
    figure, panels = plt.subplots(2, 4, figsize=(12, 8.4), sharey=True)
    panels[-1, -1].axis("off")
    for axes, what in zip(panels.flat, (name for name in few_peers if name not in ("gather", "scatter"))):
        its = [r for r in rows if r["collective"] == what]
        for p, shade in zip(sorted({int(r["ranks"]) for r in its}), shades):
            ahead_of_others(axes, [r for r in its if int(r["ranks"]) == p], shade)
        byte_axis(axes, {int(r["bytes"]) for r in its}, 3)
        axes.axhline(1, color="grey", linewidth=1)
        axes.grid(alpha=0.3)
        axes.set_xlabel("a block, bytes" if what in in_blocks else "vector, bytes")
        axes.set_title(what, fontsize=10)
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.17), frameon=False)
        axes.set_yscale("log", base=2)
        axes.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    for axes in panels[:, 0]:
        axes.set_ylabel("best of SimGrid's own / automatic\n(above 1: automatic is faster)")
    figure.suptitle("automatic beside SimGrid's own algorithms: SMPI, 1.5 us, 12.5 GB/s, gamma 0.1 ns/B", fontsize=11)
    return figure
