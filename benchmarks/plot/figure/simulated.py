# SPDX-License-Identifier: BSL-1.0
"""automatic against SimGrid's own algorithms: all_reduce."""
from common import byte_axis, dashes, gathered, powers, root, rows_of, shades, simulated, us


def right_on(ranks, collective):
    """SimGrid's own algorithms that give right results on so many ranks, or powers of two as they are: simgrid.csv."""
    column = "p_32" if ranks & (ranks - 1) == 0 else "p_33"
    return ["simgrid:" + r["algorithm"] for r in rows_of((root / "benchmarks/gallery/simgrid.csv").read_text())
            if r["collective"] == collective and r[column] == "right" and r["algorithm"] != "ompi"]   # that is "mpi"


def simulated_peers(quick):
    jobs = []
    for platform in ("flat_t3e", "flat_100g"):
        for p in [3, 5] if quick else [32, 33, 64, 100, 128, 512]:
            # Long ones on few ranks: p vectors in memory.
            sizes = powers(1024, 4096 if quick else 1 << 18, 16 if p == 512 else 4)
            sizes += [1 << 20, 8 << 20] if not quick and p <= 64 else []
            # On many ranks those that are the best somewhere on few.
            few = [f"simgrid:{n}" for n in ("rdb", "rab_rdb", "rab2")][:3 if p < 512 else 2]   # rab2: p^2 messages
            names = ["mpi"] + (right_on(p, "all_reduce") if p in (32, 33) else few)
            jobs.append((f"{platform}, p = {p}", lambda platform=platform, p=p, sizes=sizes, names=names: simulated(
                platform, p, sizes, names + ["automatic"], "--gamma", "1", "--timeout", "3600")))
    return gathered("simulated", quick, jobs)


def ahead_of_others(axes, rows, shade):
    """The best of the others over automatic, by sizes."""
    def best(size, mine):
        return min(us(r) for r in rows if int(r["bytes"]) == size and (r["algorithm"] == "automatic") == mine)
    sizes = sorted({int(r["bytes"]) for r in rows})
    ratios = [best(s, False) / best(s, True) for s in sizes]
    axes.plot(sizes, ratios, marker="o", markersize=3, color=shade, linestyle=dashes[shades.index(shade) % 4],
              label=f"p = {rows[0]['ranks']}")


def draw_simulated(plt, rows):
    platforms = list(dict.fromkeys(r["mpi"] for r in rows))
    figure, panels = plt.subplots(1, len(platforms), figsize=(11, 4.4), sharey=True, squeeze=False)
    for axes, platform in zip(panels[0], platforms):
        of_platform = [r for r in rows if r["mpi"] == platform]
        for p, shade in zip(sorted({int(r["ranks"]) for r in of_platform}), shades):
            ahead_of_others(axes, [r for r in of_platform if int(r["ranks"]) == p], shade)
        byte_axis(axes, [r["bytes"] for r in of_platform])
        axes.axhline(1, color="grey", linewidth=1)
        axes.grid(alpha=0.3)
        axes.set_xlabel("vector, bytes")
        axes.set_title({"simulated, flat_t3e": "12 us, 330 MB/s (flat_t3e)",
                        "simulated, flat_100g": "1.5 us, 12.5 GB/s (flat_100g)"}.get(platform, platform), fontsize=10)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=2, frameon=False)
    panels[0][0].set_ylabel("best of SimGrid's own / automatic\n(above 1: automatic is faster)")
    figure.suptitle("all_reduce(double, sum) in SimGrid's SMPI, gamma 1 ns/B", fontsize=11)
    return figure
