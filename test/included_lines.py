#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The lines of this library that a unit reads whose one call is a pinned all_reduce, folder by folder.

  test/included_lines.py MOST COMPILER [FLAG...]   fails above MOST lines, or if the rules, the other algorithms, the
                                                   MPI library's collectives or ranks that are threads are among them
"""
import collections
import pathlib
import subprocess
import sys
import tempfile

include = pathlib.Path(__file__).resolve().parent.parent / "include"
headers = include / "colligo"
unit = """#define COLLIGO_PINNED
#include <colligo/algorithm/recursive_doubling.hpp>
#include <colligo/all_reduce.hpp>
"""
unwanted = ["algorithm/catalogue.hpp", "rules/choose.hpp", "rules/policies.hpp", "topology/hierarchy.hpp",
            "shape/ranked_tree.hpp", "transport/messages/mpi_vendor_body.hpp", "transport/threads/threads.hpp"]


def main():
    most, command = int(sys.argv[1]), sys.argv[2:]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(unit)
        source.flush()
        rule = subprocess.run([*command, "-std=c++20", f"-I{include}", "-M", source.name], check=True, text=True,
                              capture_output=True).stdout
    read = {path for word in rule.replace("\\\n", " ").split()
            if (path := pathlib.Path(word).resolve()).is_relative_to(headers)}
    lines = collections.Counter()
    for path in read:
        folder = path.relative_to(headers).parent
        lines["public headers" if folder == pathlib.Path() else str(folder)] += path.read_text().count("\n")
    for folder, count in lines.most_common():
        print(f"{count:6} {folder}")
    total = sum(lines.values())
    print(f"{total:6} lines of {len(read)} headers; at most {most}")
    wrong = [f"{name} is among them" for name in unwanted if headers / name in read]
    if total > most:
        wrong.append(f"{total} lines are more than {most}")
    if len(read) < 50:
        wrong.append("the compiler did not say what it reads")
    sys.exit("\n".join(wrong) or 0)


main()
