#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Eight faults in the library before MPI, each of which beside_mpi or the list of imported names has to notice.

    mutants.py BUILD [NAME...]     after `ninja -C BUILD test_drop_in_openmpi`

A copy of the sources gets one fault at a time; what depends on the file is compiled again, by the build's own commands.
"""
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mutation import ROOT, all_noticed, replace_once

DROP_IN, HEADERS = "examples/drop_in/", "include/colligo/"
MUTANTS = {   # name: file, what stands there, what stands there instead, variables
    "operands swapped": (
        DROP_IN + "reduction.cpp", "if (into != right) std::memcpy(into, right, all);\n  reduce(left, into, n);",
        "if (into == right) { memory const kept = bytes(n * layout_.size); std::memcpy(kept.get(), right, all);"
        " std::memcpy(into, left, all); reduce(kept.get(), into, n); }\n"
        "  else { std::memcpy(into, left, all); reduce(right, into, n); }"),
    "in place ignored": (
        DROP_IN + "served.cpp", "auto& got = call.made().out.emplace(out.at, out.count * p, out.type, is_in_place);",
        "auto& got = call.made().out.emplace(out.at, out.count * p, out.type, false);"),
    "spare ranks forgotten": (
        HEADERS + "shape/spare_ranks.hpp", "step(send{peer, theirs}, fold{peer, mine});",
        "step(send{peer, theirs}, recv{peer, mine});", {"COLLIGO_ALL_REDUCE": "halving_doubling"}),
    "wrong lower bound": (
        DROP_IN + "arguments.hpp", "layout.true_lower = true_lower,", "layout.true_lower = lower,"),
    "intercommunicator served": (
        DROP_IN + "served.cpp", "if (is_inter) return", "if (is_inter > 1) return"),
    "last send of a wrong buffer": (
        DROP_IN + "arguments.hpp", "pack(place(i), elements_[i]", "pack(place(i + 1 < n ? i : 0), elements_[i]"),
    "a handler not called": (
        DROP_IN + "requests.hpp", "PMPI_Comm_call_errhandler(comm, error_class);", "static_cast<void>(comm);"),
    "MPI_ instead of PMPI_": (
        DROP_IN + "reduction.cpp", "check(PMPI_Reduce_local(in + at", "check(MPI_Reduce_local(in + at"),
}


def commands(build):
    """The build's own commands that compile and link the library."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", "colligo_mpi_openmpi"], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    compiling = [line for line in lines if " -c " in line]
    linking = [line for line in lines if " -shared " in line]
    assert compiling and len(linking) == 1, "no commands of colligo_mpi_openmpi"
    return compiling, linking[0]


def make(build, file, folder):
    """The library, of the sources in `folder`, of which `file` is another one."""
    compiling, linking = commands(build)
    moved = {ROOT + "/examples/drop_in": folder + "/examples/drop_in", ROOT + "/include": folder + "/include"}
    for line in compiling:
        made = re.search(r" -o (\S+\.o)", line).group(1)
        with open(made + ".d", encoding="utf-8") as depends:
            if "/".join(file.split("/")[-2:]) not in depends.read():   # which has ../ in it
                continue
        new = os.path.join(folder, os.path.basename(made))
        for old, now in (*moved.items(), (made, new)):
            line = line.replace(old, now)
        subprocess.run(line, shell=True, check=True, cwd=build)
        linking = linking.replace(made, new)
    library = os.path.join(folder, "libcolligo_mpi_openmpi.so")
    linking = re.sub(r"-o \S+\.so", "-o " + library, linking)
    assert folder in linking.replace(library, ""), file + ": nothing depends on it"
    subprocess.run(linking, shell=True, check=True, cwd=build)
    return library


def noticed(build, library, variables):
    """Why the tests fail; empty if they pass."""
    names = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    other = re.findall(r" (MPI_[A-Z][a-z]\w*)", names)
    if other:
        return "it calls " + other[0]
    environment = dict(os.environ, COLLIGO_DROP_IN_LIBRARIES=os.path.dirname(library), **variables)
    command = ["timeout", "120", *shlex.split("mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 --mca"),
               "mpi_yield_when_idle", "1", os.path.join(ROOT, "examples/drop_in/run"), "--report",
               os.path.join(build, "test/drop_in/beside_mpi_openmpi")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    text = done.stdout + done.stderr
    if "passed on 3: an intercommunicator" not in text and " 0 differ" in text:
        return "not passed on because it is an intercommunicator"
    if done.returncode == 0 and re.search(r" 0 differ", text) and re.search(r"[1-9]\d+ of \d+ calls served", text):
        return ""
    said = re.search(r"rank \d of \d: .*differs|.* of its own group|an error without .*|.*signal \d+.*", text)
    return said.group(0) if said else f"exit code {done.returncode}"


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(MUTANTS)
    original = os.path.join(build, "examples/drop_in/libcolligo_mpi_openmpi.so")
    for variables in ({}, {"COLLIGO_ALL_REDUCE": "halving_doubling"}):
        why = noticed(build, original, variables)
        if why:
            sys.exit("without a fault: " + why)

    def put(name, folder):
        file, old, new = MUTANTS[name][:3]
        replace_once(os.path.join(folder, file), old, new)

    def why_of(name, folder):
        file, _, _, *variables = MUTANTS[name]
        return noticed(build, make(build, file, folder), variables[0] if variables else {})
    return not all_noticed(names, ["examples/drop_in", "include"], put, why_of)


if __name__ == "__main__":
    sys.exit(main())
