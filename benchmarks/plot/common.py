# SPDX-License-Identifier: BSL-1.0
"""What the figures share: programs that are asked, rows that are kept, colours, axes."""
import csv
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(root / "benchmarks/bench"))
import measured  # noqa: E402
build = pathlib.Path(os.environ.get("COLLIGO_BUILD", root / "build/gcc"))
# us, ns/B, ns/B. The papers print no alpha, beta or gamma (gallery/assumed.csv). 330 MB/s and 12 us are those
# of a T3E's MPI, rounded; that it combines 1 GB/s is assumed.
t3e = (12, 1e3 / 330, 1)
cluster_100g = (1.5, 0.08, 0.1)     # assumed: a network of 100 Gb/s of today
infiniband = (5, 1, 0)              # assumed: some 1 GB/s, as the first InfiniBand clusters had
papers = ["binary_tree", "recursive_doubling", "halving_doubling", "binary_blocks", "ring"]
ours = ["chained_halving", "circulant"]
# Okabe and Ito's, which colour-blind people can tell.
black, orange, sky, green, yellow, blue, red, pink = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2",
                                                      "#D55E00", "#CC79A7")
colour = {"binary_tree": pink, "recursive_doubling": sky, "halving_doubling": orange, "binary_blocks": green,
          "ring": red, "chained_halving": yellow, "circulant": blue, "automatic": black, "linear_ring": red,
          "rotating_ring": red, "halving_tree": pink, "mpi": "#777777", "hierarchical": orange,
          "LAM's trees": red, "linear scheme": yellow, "configured": green}
shades = [sky, blue, green, orange, red, pink, black]
dashes = ["-", "--", "-.", ":"]


built = set()


def compiled(target, quick):
    """The program, built; None where --quick would have to build what takes minutes."""
    elsewhere = {"compare_smpi": "smpi/compare", "compare_mpich": "mpich/compare"}
    program = build / "benchmarks" / elsewhere.get(target, target)
    if quick and (program.exists() or target not in ("prices", "bounds")):
        return program if program.exists() else None
    if program not in built:
        built.add(program)
        subprocess.run(["cmake", "--build", str(build), "--target", target], check=True, stdout=subprocess.DEVNULL)
    return program


class Progress:
    def __init__(self, name):
        self.name, self.began = name, time.time()

    def show(self, done, of, what):
        end = "\r" if sys.stderr.isatty() and done < of else "\n"
        print(f"\033[K{self.name}: [{done}/{of}] {what}, {time.time() - self.began:.0f} s", end=end, file=sys.stderr,
              flush=True) if sys.stderr.isatty() or done == of else None


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_whole(path, text):
    """Whole or not there."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.rename(path)


def kept(name, quick):
    """Where rows wait until all of a figure are there."""
    return root / "build/figures" / (f"{name}-quick" if quick else name)


def gathered(name, quick, jobs):
    """Runs jobs, each a caption and a function that gives rows of compare's columns; not those whose rows are kept."""
    progress, rows, parts = Progress(name), [], kept(name, quick)
    parts.mkdir(parents=True, exist_ok=True)
    for done, (what, job) in enumerate(jobs):
        progress.show(done, len(jobs), what)
        part = parts / f"{done} {what}.json"
        if not part.exists():
            write_whole(part, json.dumps(job()))
        rows += json.loads(part.read_text())
    progress.show(len(jobs), len(jobs), "done")
    return rows


def prices(quick, machine, ranks, sizes, algorithms, **more):
    words = [str(compiled("prices", quick)), "--ranks", ",".join(map(str, ranks)), "--bytes",
             ",".join(map(str, sizes)), "--machine", ",".join(map(str, machine)), "--algorithms", ",".join(algorithms)]
    for option, value in more.items():
        words += [f"--{option}", value]
    return rows_of(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


# The program that compares, its launcher, and on how many ranks: those of MPICH spin, so they are no more than cores.
libraries = [("compare", "mpirun.openmpi", [2, 4, 8]), ("compare_mpich", "mpirun.mpich", [2])]


def compared(launcher, ranks, program, *words):
    """The rows of a real run of compare."""
    path = root / f"build/figures-{os.getpid()}.csv"
    env = {**os.environ, **measured.AS_ROOT}
    env.pop("COLLIGO_BUILD", None)   # the library would say that it does not know the variable
    subprocess.run(["timeout", "600", *measured.mpirun_for(ranks, launcher).split(), str(ranks), str(program), *words,
                    "--csv", str(path)], env=env, check=True, stdout=subprocess.DEVNULL)
    rows = rows_of(path.read_text())
    path.unlink()
    return rows


kept_rows = []   # with figures --ours: the table as it is, from which rows of SimGrid's own algorithms are taken


def is_foreign(algorithm):
    """SimGrid's own: its times do not change with this library."""
    return algorithm == "mpi" or algorithm.startswith("simgrid:")


def simulated(platform, ranks, sizes, algorithms, *more, env=None):
    """Rows of all that end at all sizes. One of SimGrid's that ends the whole run (smpirun says 0 of a deadlock) is
    found by running each by itself, and said."""
    if kept_rows and any(map(is_foreign, algorithms)):
        mine = simulated(platform, ranks, sizes, [name for name in algorithms if not is_foreign(name)], *more, env=env)
        same = {"collective": mine[0]["collective"], "ranks": str(ranks), "mpi": f"simulated, {platform}"}
        return mine + [{**mine[0], **row, "min_us": row["median_us"], "max_us": row["median_us"]} for row in kept_rows
                       if row["algorithm"] in algorithms and is_foreign(row["algorithm"]) and
                       int(row["bytes"]) in sizes and same.items() <= row.items()]
    rows = one_simulation(platform, ranks, sizes, algorithms, more, env)
    if len(rows) < len(sizes) * len(algorithms):
        rows = []
        for name in algorithms:
            its = one_simulation(platform, ranks, sizes, [name], more, env)
            if len(its) < len(sizes):
                if not name.startswith("simgrid:"):
                    sys.exit(f"figures: {name} did not end on {ranks} ranks of {platform}")
                print(f"figures: {name} ends at {len(its)} of {len(sizes)} sizes on {ranks} ranks", file=sys.stderr)
            rows += its
    for row in rows:
        row["mpi"] = f"simulated, {platform}"
    return rows


def one_simulation(platform, ranks, sizes, algorithms, more, env):
    path = root / f"build/figures-{os.getpid()}.csv"
    path.unlink(missing_ok=True)
    run = subprocess.run([str(root / "benchmarks/model/simulate"), "--platform", platform, "--ranks", str(ranks),
                          "--csv", str(path), "--bytes", ",".join(map(str, sizes)),
                          "--algorithms", ",".join(algorithms), *more],
                         capture_output=True, text=True, env=dict(os.environ, **(env or {})))
    if run.returncode != 0 and not any(name.startswith("simgrid:") for name in algorithms):
        sys.exit(f"{run.stdout[-2000:]}{run.stderr[-2000:]}")
    rows = rows_of(path.read_text()) if path.exists() else []
    path.unlink(missing_ok=True)
    return rows


def write(table, rows):
    """Without columns that are the same in all rows, or say again what another says."""
    always = ["collective", "algorithm", "ranks", "bytes", "median_us", "mpi"]
    if "run" in rows[0]:   # of several real runs
        always += ["state", "run"]
    columns = [c for c in rows[0] if c in always or len({r[c] for r in rows}) > 1]
    for c in ("min_us", "max_us"):
        if c in columns and all(r[c] == r["median_us"] for r in rows):
            columns.remove(c)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(table, text.getvalue())


def us(row):
    return float(row["median_us"])


def size_text(n):
    n = int(n)
    for unit, at in (("MiB", 2**20), ("KiB", 2**10)):
        if n >= at:
            return f"{n / at:g} {unit}"
    return f"{n} B"


def powers(first, last, factor):
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= factor
    return sizes


def delta(p):
    """delta_expo,max of the Cray X1 paper: 100 = 2^6 + 2^5 + 2^2 has 3; 0 for powers of two."""
    bits = [i for i in range(p.bit_length()) if p >> i & 1]
    return max((b - a for a, b in zip(bits, bits[1:])), default=0)


def line(axes, rows, x, label, **style):
    rows = sorted(rows, key=lambda r: int(r[x]))
    axes.plot([int(r[x]) for r in rows], [us(r) for r in rows], label=label, marker="o", markersize=3, **style)


def byte_axis(axes, sizes, most=5):
    """1 KiB, 4 KiB, ...: whole powers of four, as many as there is room for."""
    first, last = (round(math.log2(f(map(int, sizes)))) for f in (min, max))
    every = 2 * max(1, math.ceil((last - first) / (2 * most)))
    shown = [1 << e for e in range(first + (first - 10) % 2, last + 1, every)]
    axes.set_xscale("log", base=2)
    axes.set_xticks(shown, [size_text(s) for s in shown])
    axes.minorticks_off()


def time_text(t):
    """Of microseconds, in the unit that fits: 471 ms, 2.8 h."""
    for unit, at in (("h", 3.6e9), ("s", 1e6), ("ms", 1e3), ("us", 1)):
        if t >= at:
            return f"{t / at:.2g} {unit}" if t / at < 100 else f"{t / at:.0f} {unit}"
    return f"{t * 1e3:.2g} ns"


def time_axis(axes, unit=1):
    """Upwards, by powers of ten; the values are in `unit` microseconds."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda t, _: time_text(t * unit)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def rank_axis(axes, ranks, shown=None):
    axes.set_xscale("log", base=2)
    shown = shown or [p for p in sorted(set(map(int, ranks))) if p & (p - 1) == 0]
    axes.set_xticks(shown, map(str, shown))
    axes.minorticks_off()


def legend_below(figure, axes, columns=5):
    """Off the curves."""
    keys, labels = axes.get_legend_handles_labels()
    figure.legend(keys, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=columns, fontsize=8, frameon=False)


def edges(values):
    """Of cells around these, in the middle by logarithms."""
    logs = [math.log2(v) for v in values]
    inner = [(a + b) / 2 for a, b in zip(logs, logs[1:])]
    return [2 ** e for e in [2 * logs[0] - inner[0], *inner, 2 * logs[-1] - inner[-1]]]


def map_of_winners(axes, rows, names):
    """By p across and the vector's bytes up: who is fastest; hatched where another one takes the same time."""
    from matplotlib.colors import ListedColormap

    times = {}
    for r in rows:
        if r["algorithm"] in names:
            times.setdefault((int(r["ranks"]), int(r["bytes"])), {})[r["algorithm"]] = us(r)
    ranks, sizes = sorted({p for p, _ in times}), sorted({s for _, s in times})
    first, ties = [], []
    for s in sizes:
        first.append([]), ties.append([])
        for p in ranks:
            best = min(times[p, s].values())
            equal = [n for n in names if n in times[p, s] and times[p, s][n] <= best * (1 + 1e-9)]
            first[-1].append(names.index(equal[0]))
            ties[-1].append(1.0 if len(equal) > 1 else math.nan)
    across, up = edges(ranks), edges(sizes)
    axes.pcolormesh(across, up, first, cmap=ListedColormap([colour[n] for n in names]), vmin=-0.5,
                    vmax=len(names) - 0.5, rasterized=True)
    import numpy
    axes.pcolor(across, up, numpy.ma.masked_invalid(ties), hatch="//////", alpha=0, linewidth=0)
    axes.set_yscale("log", base=2)
    axes.set_yticks(sizes[1::4], [size_text(s) for s in sizes[1::4]])
    rank_axis(axes, ranks, [p for p in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512) if
                            ranks[0] <= p <= ranks[-1]])
    axes.set_ylabel("vector, bytes")
    return {names[i] for line_of in first for i in line_of}
