#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""all_reduce on hosts of many cores: published medians of other libraries, and what a model predicts of this one.
Nothing of it was measured with this library.

    benchmarks/model/many_cores/many_cores.py --csv many_cores.csv --svg many_cores.svg

Prints the published medians over what `automatic` takes by the model, how well the model fits MPICH's medians, and the
ratio of what `automatic` takes to the best composition: of the groups that there are, and of even ones, which only some
numbers of ranks have.
What it takes is what build/gcc/benchmarks/prices says, or the program of --prices. --every: any number of ranks from 9
on, instead of some (minutes).
--check ends with 1 where that ratio, or the fit, is worse than README.md says, or its tables or many_cores.csv are old.
"""
import argparse
import csv
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import model  # noqa: E402

# What the system says of the machines, and ranks.
MACHINES = [(model.epyc, "4:cache,64:socket,128:host"), (model.grace, "72:cache,288:host")]
LISTED = {("epyc", 16), ("epyc", 32), ("epyc", 64), ("epyc", 128), ("grace", 16), ("grace", 32), ("grace", 64),
          ("grace", 72), ("grace", 288)}   # in the CSV
DRAWN = [("epyc", 128, "2 x EPYC 7742, 128 ranks"), ("grace", 72, "Grace, 72 ranks"),
         ("grace", 288, "4 x Grace, 288 ranks")]
EVEN = " if all groups were even"
# Even groups of other sizes can not be had by every number of ranks (27), none where groups differ.
LIMITS = [(True, "", 1.15), (True, EVEN, 1.151), (False, "", 1.15), (False, EVEN, 2.5)]
OVER = ("", EVEN)
SIZES = [8 << i for i in range(24)]
RANGES = [(8, 512), (1 << 10, 1 << 15), (1 << 16, 1 << 20), (1 << 21, 1 << 26)]   # of sizes that are told together
FITTED = [8, 64, 512, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14]   # sizes of the table of MPICH's times
SAME = ("c", "o", "m", "m_now", "m_stream", "copy", "link", "core_most", "gamma", "w")   # a number of each machine
PUBLISHED = {"mpich": "MPICH, blocking", "openmpi": "Open MPI, blocking", "ext_mpi": "ext_mpi, persistent"}


def published():
    with open(os.path.join(HERE, "published.csv")) as file:
        for row in csv.DictReader(file):
            blocking = row["form"] == "blocking"
            if row["collective"] == "all_reduce" and blocking == (row["library"] != "ext_mpi"):
                yield row["machine"], int(row["ranks"]), int(row["bytes"]), PUBLISHED[row["library"]], \
                    float(row["median_us"])


def groups_of(text):
    """Where "4*16+5" groups of so many ranks begin, and the end."""
    groups = [0]
    for run in text.split("+"):
        size, times = map(int, (run + "*1").split("*")[:2])
        for _ in range(times):
            groups.append(groups[-1] + size)
    return groups


def choices(program, levels, ranks):
    """What automatic takes for each of SIZES: its name, and the groups of its rounds."""
    said = subprocess.run([program, "--of", "choices", "--levels", levels, "--ranks", ",".join(map(str, ranks)),
                           "--bytes", ",".join(map(str, SIZES))], check=True, capture_output=True, text=True).stdout
    taken = {}
    for row in csv.DictReader(said.splitlines()):
        taken.setdefault(int(row["ranks"]), []).append((row["algorithm"], row["groups"]))
    return taken


WHOLE = {"direct_by_level": True, "slices_by_level": False}


def taken_times(machine, p, taken):
    """ns of what automatic takes for each of SIZES, and of the best of all that it takes for any of them."""
    times = {each: model.times_of(machine, p, SIZES, WHOLE[each[0]], map(groups_of, each[1].split()))
             for each in set(taken)}
    return [times[each][i] for i, each in enumerate(taken)], list(map(min, zip(*times.values())))


def predicted(machine, p, n, automatic):
    """us of each form, and of what automatic takes, which is known in ns."""
    forms = {"recursive doubling": model.whole(machine, p, n, model.primes(p)),
             "halving and doubling": model.slices(machine, p, n, model.primes(p)),
             "automatic": automatic, "bound": model.bound(machine, p, n)}
    if n <= 448:
        forms["direct"] = model.direct(machine, p, n)
    return {name: t / 1e3 for name, t in forms.items()}


def ahead(rows):
    """Lines: the published medians over what `automatic` takes, the least in each range of sizes."""
    times = {row[:4]: row[5] for row in rows}
    for machine, p, _ in DRAWN:
        for name in PUBLISHED.values():
            ratios = [(n, times[machine, p, n, name] / times[machine, p, n, "automatic"]) for n in SIZES]
            yield "%s, p = %d, %s over automatic: %s" % (machine, p, name, ", ".join(
                "%.2g" % min(ratio for n, ratio in ratios if least <= n <= most) for least, most in RANGES))


def curve(points, x, y, style):
    path = " ".join("%.1f,%.1f" % (x(n), y(t)) for n, t in sorted(points))
    return '<polyline fill="none" %s points="%s"/>' % (style, path)


def draw(rows, fit, out):
    """Three panels: published medians over what `automatic` takes by the model, over bytes, both logarithmic; grey is
    what the model is off by for MPICH, beyond those sizes as much as at the last one."""
    width, height, left, top = 330, 260, 50, 40
    styles = dict(zip(PUBLISHED.values(), ("#4477aa", "#228833", "#ee6677")))
    said = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">'
            % (3 * (width + left) + 20, height + top + 70), '<rect width="100%" height="100%" fill="white"/>']
    said.append('<text transform="translate(14 %d) rotate(-90)" text-anchor="middle">time over that of automatic</text>'
                % (top + height / 2))
    low, high = math.log10(0.1), math.log10(50)
    said.append('<defs><clipPath id="panels"><rect x="0" y="%d" width="100%%" height="%d"/></clipPath></defs>'
                % (top, height))
    times = {row[:4]: row[5] for row in rows}
    for panel, (machine, p, title) in enumerate(DRAWN):
        x0, y0 = left + panel * (width + left), top

        def x(n, x0=x0):
            return x0 + width * math.log2(n / SIZES[0]) / (len(SIZES) - 1)

        def y(ratio, y0=y0):
            return y0 + height * (high - math.log10(ratio)) / (high - low)
        said.append('<text x="%d" y="%d" font-size="13">%s</text>' % (x0, y0 - 12, title))
        off = [(n, max(fit[machine, p, n], 1 / fit[machine, p, n])) for n in SIZES if (machine, p, n) in fit]
        off.append((SIZES[-1], off[-1][1]))
        band = [(n, f) for n, f in off] + [(n, 1 / f) for n, f in reversed(off)]
        said.append('<polygon fill="#e4e4e4" points="%s"/>' % " ".join("%.1f,%.1f" % (x(n), y(f)) for n, f in band))
        for ratio in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50):
            said.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/><text x="%d" y="%.1f" '
                        'text-anchor="end">%g</text>' % (x0, x0 + width, y(ratio), y(ratio),
                                                         "black" if ratio == 1 else "#dddddd", x0 - 4, y(ratio) + 4,
                                                         ratio))
        for n, name in ((8, "8 B"), (1 << 10, "1 KiB"), (1 << 15, "32 KiB"), (1 << 20, "1 MiB"), (1 << 26, "64 MiB")):
            said.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x(n), y0 + height + 15, name))
        for name, colour in styles.items():
            said.append(curve([(n, times[machine, p, n, name] / times[machine, p, n, "automatic"]) for n in SIZES],
                              x, y, 'clip-path="url(#panels)" stroke="%s" stroke-width="2"' % colour))
    for i, (name, colour) in enumerate(styles.items()):
        at = left + 20 + i * 200, top + height + 40
        said.append('<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>'
                    % (at[0], at[0] + 30, at[1], at[1], colour, at[0] + 36, at[1] + 4, name))
    said.append('<text x="%d" y="%d">all_reduce, sum of floats: published median over the time of automatic by the '
                'model, over bytes. Above the grey band automatic would be faster; it was not measured.</text></svg>'
                % (left + 20, top + height + 60))
    with open(out, "w") as file:
        file.write("\n".join(said) + "\n")


def wrong_on_page(rows, fit):
    """Rows of README.md's tables of ratios that are not what is worked out here, and of its file."""
    with open(os.path.join(HERE, "README.md")) as file:
        page = " ".join(file.read().replace("*", "").split())
    machines = [make() for make, _ in MACHINES]
    for pair in [[m.L[0] for m in machines], [m.L[-1] for m in machines],
                 *([getattr(m, name) for m in machines] for name in SAME)]:
        if "| %g | %g |" % tuple(pair) not in page:
            yield "README.md has no row %g, %g of what model.py assumes" % tuple(pair)
    us = {series: t for m, p, n, series, _, t in rows if (m, p, n) == ("epyc", 128, 8)}
    said = "takes %.1f us by the model, recursive doubling %.1f and one `direct` of all %.1f" % tuple(
        us[series] for series in ("automatic", "recursive doubling", "direct"))
    if said not in page:
        yield "README.md does not say: %s" % said
    for line in ahead(rows):
        numbers = " | ".join(line.split(": ")[1].split(", "))
        if "| %s |" % numbers not in page:
            yield "README.md has no row %s, of %s" % (numbers, line)
    for machine, p in dict.fromkeys(key[:2] for key in fit):
        numbers = " | ".join("%.2f" % fit[machine, p, n] for n in FITTED)
        if "| %s |" % numbers not in page:
            yield "README.md has no row %s, of MPICH on %s" % (numbers, machine)
    with open(os.path.join(HERE, "many_cores.csv")) as file:
        kept = {(r["machine"], int(r["ranks"]), int(r["bytes"]), r["series"]): float(r["us"])
                for r in csv.DictReader(file)}
    for row in rows:
        if row[:2] in LISTED and not math.isclose(kept.get(row[:4], 0), row[5], rel_tol=1e-3):
            yield "many_cores.csv has %s for %s: %.4g" % (kept.get(row[:4]), row[:4], row[5])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--prices", metavar="PROGRAM",
                        default=os.path.join(HERE, "../../../build/gcc/benchmarks/prices"))
    options = parser.parse_args()
    known = {(m, p, n, series): t for m, p, n, series, t in published()}
    rows = [(m, p, n, series, "published", t) for (m, p, n, series), t in known.items()]
    # Whether all groups of a level have as many ranks; over the best on these groups, and on even ones.
    worst, behind, fit = {(even, best): (0.,) for even in (True, False) for best in OVER}, [], {}
    ratios = []
    for make, levels in MACHINES:
        machine = make()
        name, most = machine.name, machine.sizes[-1]
        ranks = [p for p in range(9, most + 1) if options.every or p < 14 or p % 23 == 0 or (name, p) in LISTED]
        for p, taken in choices(options.prices, levels, ranks).items():
            times, possible = taken_times(machine, p, taken)
            even = all(p <= size or p % size == 0 for size in machine.sizes) and "+" not in "".join(
                groups for _, groups in taken)
            bests = model.best_on_groups(machine, p, SIZES, possible)
            for n, t, best, its in zip(SIZES, times, bests, taken):
                forms = predicted(machine, p, n, t) if (name, p) in LISTED else {}
                rows += [(name, p, n, series, "model", us) for series, us in forms.items()]
                ratios.append(t / best)
                for over, of in zip(OVER, (best, model.best(machine, p, n))):
                    worst[even, over] = max(worst[even, over], (t / of, name, p, n, *its))
                behind += ["%s at p = %d, %d bytes: %.1f against %.1f us of %s"
                           % (name, p, n, t / 1e3, known[key], key[3])
                           for key in known if key[:3] == (name, p, n) and t / 1e3 > known[key]]
    makers = {make().name: make for make, _ in MACHINES}
    for (name, p, n, series), us in known.items():   # what is not drawn only as far as the table goes
        if series == PUBLISHED["mpich"] and (n in FITTED or n <= FITTED[-1] and (name, p) in LISTED):
            fit[name, p, n] = model.mpich(makers[name](), p, n) / 1e3 / us
    print("The least published median over the model's automatic, in %s bytes:"
          % ", ".join("%d .. %d" % sizes for sizes in RANGES))
    print("\n".join(ahead(rows)))
    print("MPICH, model over published:")
    for (name, p, n), ratio in fit.items():
        print("%s, p = %d, %d bytes: %.2f" % (name, p, n, ratio))
    short = [ratio for (_, _, n), ratio in fit.items() if n <= 512]
    print("up to 512 bytes: %.2f .. %.2f" % (min(short), max(short)))
    for (even, over), its in worst.items():
        print("automatic over the best composition%s%s: at worst %.3f (%s, p = %d, %d bytes, %s %s)"
              % (over, "" if even else ", where groups differ", *its))
    print("over the best composition%s, in the mean of all: %.3f; above 1.15: %d of %d"
          % (OVER[0], sum(ratios) / len(ratios), sum(ratio > 1.15 for ratio in ratios), len(ratios)))
    print("\n".join(["predicted behind a published median:"] + (behind or ["nowhere"])))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["machine", "ranks", "bytes", "series", "kind", "us"])
            out.writerows((m, p, n, series, kind, "%.4g" % t) for m, p, n, series, kind, t in sorted(rows))
    if options.svg:
        draw(rows, fit, options.svg)
    wrong = list(wrong_on_page(rows, fit))
    print("\n".join(wrong))
    good = not wrong and 0.8 < min(short) and max(short) < 1.8
    good = good and all(worst[even, over][0] <= most for even, over, most in LIMITS)
    return int(options.check and not good)


if __name__ == "__main__":
    sys.exit(main())
