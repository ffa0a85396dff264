#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Programs whose sums depend on the order of ranks, with the library before MPI.

    exact.py [--quick] RANKS,... LINES MPIRUN:PROGRAM...

Each PROGRAM, with its arguments, is run by MPIRUN on RANKS ranks, with each of twelve algorithms and on each of three
placements. Its result is what it prints that matches LINES. All of these have one result with COLLIGO_SUM=exact.
Without it the first program has several by three algorithms; else this shows nothing. `--quick`: three algorithms, or
one if there are several RANKS, and one placement.

A placement gives each rank a host's name, which takes a name space of its own: root alone may make that.
"""
import itertools
import os
import re
import shlex
import subprocess
import sys

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/drop_in/run")
ALGORITHMS = ("ring recursive_doubling direct binary_tree grouped_doubling halving_doubling binary_blocks "
              "chained_halving slices_by_level halving_tree circulant multi_leader").split()
PLACEMENTS = {"one host": None, "two hosts of neighbours": "rank / ((p + 1) / 2)", "two hosts in turn": "rank % 2"}


def result(p, lines, program, placement, algorithm, exact):
    """What rank 0 prints, and how many calls were served."""
    mpirun, command = program.split(":", 1)
    host = PLACEMENTS[placement]
    apart = [] if host is None else [
        "unshare", "--uts", "sh", "-c",
        f'p={p} rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; hostname host$(({host})); exec "$@"', "sh"]
    done = subprocess.run([*shlex.split(mpirun), "-n", str(p), *apart, RUN, "--report", *shlex.split(command)],
                          env=dict(os.environ, COLLIGO_ALL_REDUCE=algorithm, COLLIGO_SUM="exact" if exact else ""),
                          capture_output=True, text=True, timeout=300)
    found = "\n".join(line for line in done.stdout.splitlines() if re.search(lines, line))
    served = re.search(r"\d+ of \d+ calls served", done.stderr)
    if done.returncode != 0 or not found or not served or served[0].startswith("0 "):
        sys.exit(f"{program}, {placement}, {algorithm}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return found, served[0]


def main():
    arguments = sys.argv[1:]
    quick = arguments[0] == "--quick"
    ranks, lines, *programs = arguments[quick:]
    ranks = [int(p) for p in ranks.split(",")]
    few = ALGORITHMS[:1 if quick and len(ranks) > 1 else 3]
    algorithms, placements = (few, ["one host"]) if quick else (ALGORITHMS, list(PLACEMENTS))
    exact = [result(p, lines, *run, True) for p, *run in itertools.product(ranks, programs, placements, algorithms)]
    others = [result(p, lines, programs[0], "one host", algorithm, False) for p in ranks for algorithm in few]
    one, several = len({found for found, _ in exact}), len({found for found, _ in others})
    print(f"exact: {len(exact)} runs, {one} results; else: {len(others)} runs, {several} results;",
          ", ".join(sorted({served for _, served in exact + others})))
    sys.exit(one != 1 or several < 2)


main()
