#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs an example and compares what it prints with what one process computes here, by other means: lists in place of
ranks, math.fsum in place of exact sums, sorted() in place of sample_sort.

    examples.py kmeans 3 20000 -- mpirun -n 3 kmeans 20000

That is: the example, the number of ranks, its arguments, and the command. Numbers with a point may differ in the tenth
significant digit, all else not at all; lines that begin with # tell of the ranks and are not compared.
"""

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path


def uniform(i):
    """The same as examples/uniform.hpp."""
    word = (1 << 64) - 1
    z = (i + 1) * 0x9E3779B97F4A7C15 & word
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & word
    z = (z ^ z >> 27) * 0x94D049BB133111EB & word
    return ((z ^ z >> 31) >> 11) * 2.0**-53


def kmeans(_, n):
    n, k = int(n), 5

    def random_point(i):
        angle, radius, turn = 2 * math.pi * (i % k) / k, 2 * math.sqrt(uniform(2 * i)), 2 * math.pi * uniform(2 * i + 1)
        return 2 * math.cos(angle) + radius * math.cos(turn), 2 * math.sin(angle) + radius * math.sin(turn)

    def square(a, b):
        return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])

    points = [random_point(i) for i in range(n)]
    centres, rounds = points[:k], 0
    while True:
        rounds += 1
        clusters = [[] for _ in range(k)]
        for p in points:
            clusters[min(range(k), key=lambda c: square(p, centres[c]))].append(p)
        means = [tuple(math.fsum(p[axis] for p in points) / len(points) for axis in (0, 1)) for points in clusters]
        spread = [math.fsum(square(p, at) for p in points) / len(points) for points, at in zip(clusters, centres)]
        if means == centres:
            break
        centres = means
    yield f"{n} points, {k} clusters after {rounds} rounds"
    for (x, y), points, mean in zip(centres, clusters, spread):
        yield f"centre {x:.14f} {y:.14f} of {len(points)} points, {mean:.14g} from it in the mean of squares"


def particles(ranks, n, steps):
    n = int(n)
    x = [uniform(4 * i) for i in range(n)]
    y = [uniform(4 * i + 1) for i in range(n)]
    vx = [uniform(4 * i + 2) - 0.5 for i in range(n)]
    vy = [uniform(4 * i + 3) - 0.5 for i in range(n)]
    dt, migrations = 0.05, 0

    def owner(i):
        return min(max(math.floor(x[i] * ranks), 0), ranks - 1)

    owners = [owner(i) for i in range(n)]
    for step in range(int(steps) + 1):
        if step % 20 == 0:
            squares = [vx[i] * vx[i] + vy[i] * vy[i] for i in range(n)]
            energy = math.fsum(0.5 * (squares[i] + (x[i] - 0.5) ** 2 + (y[i] - 0.5) ** 2) for i in range(n))
            fastest = squares.index(max(squares))
            index = sum(owners[i] == owners[fastest] for i in range(fastest))
            yield (f"step {step}: energy {energy:.10f}, {migrations} migrations, "
                   f"fastest with {math.sqrt(squares[fastest]):.10f} is particle {fastest}, "
                   f"rank {owners[fastest]}'s [{index}]")
        for i in range(n):
            vx[i], vy[i] = vx[i] - 0.5 * dt * (x[i] - 0.5), vy[i] - 0.5 * dt * (y[i] - 0.5)
            x[i], y[i] = x[i] + dt * vx[i], y[i] + dt * vy[i]
            vx[i], vy[i] = vx[i] - 0.5 * dt * (x[i] - 0.5), vy[i] - 0.5 * dt * (y[i] - 0.5)
        now = [owner(i) for i in range(n)]
        migrations += sum(a != b for a, b in zip(owners, now))
        owners = now


def histogram(_, n, path):
    n, bins = int(n), 16
    values = []
    for i in range(n):
        total = -6.0
        for j in range(12):
            total += uniform(12 * i + j)
        values.append(total)
    least, most, mean = min(values), max(values), math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / n)
    width = max(most - least, 1e-300) / bins
    counts = Counter(min(int((value - least) / width), bins - 1) for value in values)
    yield f"{n} numbers from {least:.6f} to {most:.6f}, mean {mean:.10f}, deviation {deviation:.10f}"
    for i in range(bins):
        yield f"{least + width * i:.4f} {counts[i]} " + "*" * (60 * counts[i] // max(counts.values()))
    outliers = "".join(f"{i} {value:.6f}\n" for i, value in enumerate(values) if abs(value - mean) > 3 * deviation)
    yield f"{len(outliers)} bytes of outliers in {path}"
    written = Path(path).read_text(encoding="ascii")
    if written != outliers:
        sys.exit(f"{path} has other lines than those of the outliers")


def sample_sort(_, n):
    values = sorted(uniform(i) * uniform(i) for i in range(int(n)))
    yield f"{n} numbers, sorted"
    for i in range(5):
        yield f"{values[i * (len(values) - 1) // 4]:.15f}"


def word_count(_, path):
    text = Path(path).read_text(encoding="ascii").lower()
    counts = Counter("".join(letter if letter.isalpha() else " " for letter in text).split())
    yield f"{sum(counts.values())} words, {len(counts)} different ones"
    for word, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:10]:
        yield f"{count} {word}"


def monte_carlo(_, wanted):
    batch, dimensions, count, inside = 20000, 6, 0, 0
    error = math.inf
    while error > float(wanted):
        for i in range(count, count + batch):
            square = 0.0
            for d in range(dimensions):
                x = 2 * uniform(dimensions * i + d) - 1
                square += x * x
            inside += square < 1
        count += batch
        share = inside / count
        error = 2**dimensions * math.sqrt(share * (1 - share) / (count - 1))
    yield (f"{count} samples: volume {2**dimensions * share:.10f}, standard error {error:.10f}; "
           f"pi^3 / 6 is {math.pi**3 / 6:.10f}")


def assemble(_, path):
    lines = [line.split() for line in Path(path).read_text(encoding="ascii").splitlines() if not line.startswith("%")]
    lower = {(int(i), int(j)): float(value) for i, j, value in lines[1:]}
    both = lower | {(j, i): value for (i, j), value in lower.items()}
    yield f"{lines[0][0]} rows, {len(both)} entries from {len(lower)} parts, 0 of them wrong"
    yield f"norm {math.sqrt(math.fsum(value * value for value in both.values())):.10f}"


def same(a, b):
    """Whether two words are, numbers with a point up to rounding."""
    if a == b:
        return True
    try:
        x, y = float(a.rstrip(",;:")), float(b.rstrip(",;:"))
    except ValueError:
        return False
    return "." in a and "." in b and math.isclose(x, y, rel_tol=1e-9, abs_tol=2e-10)


def main():
    here = sys.argv.index("--")
    name, ranks, *arguments = sys.argv[1:here]
    run = subprocess.run(sys.argv[here + 1:], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{name} returned {run.returncode}")
    printed = [line for line in run.stdout.splitlines() if not line.startswith("#")]
    serial = {f.__name__: f for f in (kmeans, particles, histogram, sample_sort, word_count, monte_carlo,
                                        assemble)}[name]
    expected = list(serial(int(ranks), *arguments))
    for got, want in zip(printed, expected):
        got_words, want_words = got.split(), want.split()
        if len(got_words) != len(want_words) or not all(map(same, got_words, want_words)):
            sys.exit(f"{name} on {ranks} ranks prints\n  {got}\none process computes\n  {want}")
    if len(printed) != len(expected):
        sys.exit(f"{name} on {ranks} ranks prints {len(printed)} lines, {len(expected)} were expected")
    print("\n".join(printed))


main()
