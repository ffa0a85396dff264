#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Faults in views and exchanges, one at a time, each of which a test of this folder has to notice.

    mutants.py BUILD [NAME...]     after `ninja -C BUILD test_exchange test_sparse_all_to_all`

A copy of the headers gets one fault at a time. One source of the tests is compiled with it, header-only and without
precompiled headers, by the build's own commands, and run: a test that fails, crashes or hangs has noticed.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mutation import ROOT, all_noticed, replace_once

VIEW, PACKED = "exchange/strided_view.hpp", "arguments/packed.hpp"
MUTANTS = {   # name: the test's source, the header, what stands there, what stands there instead
    "strides swapped": ("views", VIEW,
        "view.strides[d] = static_cast<std::ptrdiff_t>(stride(d));",
        "view.strides[d] = static_cast<std::ptrdiff_t>(stride(D - 1 - d));"),
    "count of the wrong axis": ("views", VIEW,
        "d == 0 ? view.rows() : view.cols()", "d == 0 ? view.cols() : view.rows()"),
    "count of the wrong axis in a halo": ("halos", "exchange/halo_parts.hpp",
        "std::size_t const n = field_.extents[d];", "std::size_t const n = field_.extents[D - 1 - d];"),
    "tail of a run left out": ("halos", VIEW,
        "std::copy_n(first, n, next);", "std::copy_n(first, n - n / 4, next);"),
    "tail of a block left out": ("views", "arguments/displacements.hpp",
        "std::copy_n(first + at, n, to);", "std::copy_n(first + at, n - 1, to);"),
    "a block's first row in a view packed from its beginning": ("views", VIEW, "rows(1), at % row,", "rows(1), 0,"),
    "columns over a tile's border": ("halos", VIEW,
        "std::min(tile, columns - column),",
        "std::min(tile, columns - column) - (columns > tile && columns - column < tile),"),
    "rows at a tile's border": ("halos", VIEW,
        "r < std::min(n, row + tile); ++r)", "r < std::min(n - (n > tile), row + tile); ++r)"),
    "unpacked before completion": ("views", PACKED,
        "    if (within) within->begin();\n  }\n  void finish() override {\n    if (within) within->finish();\n"
        "    arguments.after();\n",
        "    if (within) within->begin();\n    arguments.after();\n  }\n  void finish() override {\n"
        "    if (within) within->finish();\n"),
    "a halo unpacked before completion": ("halos", "exchange/halo_parts.hpp",
        "void begin() override { parts->pack(); }\n  void finish() override { parts->unpack(); }",
        "void begin() override { parts->pack(), parts->unpack(); }"),
    "packed when it is made": ("views", PACKED,
        "  void begin() override {\n    arguments.before();\n",
        "  bool is_packed = false;\n  void begin() override {\n    if (!is_packed) arguments.before();\n"
        "    is_packed = true;\n"),
    "an output that is not this rank's": ("views", "views.hpp", "? !gathers || at_root :", "? true :"),
    "an overlap not seen": ("views", "exchange/layouts.hpp",
        "return distance == 0;", "return distance == 0 && D == 1;"),
    "an overlap of axes that interleave not seen": ("views", "exchange/layouts.hpp",
        "passed)) return true;", "passed)) return true;\n    else break;"),
    "a view between blocks overwritten": ("views", "views.hpp",
        "return AtDisplacements && (", "return AtDisplacements && C != collective::gatherv && ("),
    "a batch's view unpacked from another's place": ("views", "sums/batching.hpp",
        "part.unpack(*part.kept, bytes_ + part.begin);", "part.unpack(*part.kept, bytes_);"),
    "a sequence of several views packed but for one": ("views", "rules/run_body.hpp",
        "state.around = std::move(around->next);", "state.around = nullptr;"),
    "one factor of a product taken twice": ("views", "exchange/layouts.hpp", "const now{a, b};", "const now{a, a};"),
    "a call that returns what it gets before its view is packed": ("views", PACKED,
        "      arguments.before();   // copies may allocate\n",
        "      if constexpr (std::is_void_v<decltype(make(arguments))>) arguments.before();\n"),
    "last neighbour forgotten": ("graphs", "algorithm/along_edges.hpp",
        "step(listed{static_cast<int>(next - first),",
        "step(listed{static_cast<int>(next - first) - (next == edges.count && next - first > 2),"),
    "edges' order reversed": ("graphs", "exchange/graph.hpp",
        "int const place = order.empty() ? static_cast<int>(i) : order[i];",
        "int const place = order.empty() ? static_cast<int>(in_ - 1 - i) : order[i];"),
    "an empty message dropped": ("sparse_all_to_all", "exchange/received.hpp",
        "    in = std::move(sorted);",
        "    for (std::size_t i = sorted.counts.size(); i-- > 0;)\n"
        "      if (sorted.counts[i] == 0)\n"
        "        sorted.counts.erase(sorted.counts.begin() + static_cast<std::ptrdiff_t>(i)),\n"
        "            sorted.sources.erase(sorted.sources.begin() + static_cast<std::ptrdiff_t>(i));\n"
        "    in = std::move(sorted);"),
    "an empty message not counted": ("sparse_all_to_all", "exchange/sparse_all_to_all.hpp",
        "to[2 * r] = one.elements + 1;", "to[2 * r] = one.elements + (one.elements != 0);"),
    "duplicates overwritten": ("sparse_all_to_all", "exchange/received.hpp",
        "one.elements += out_[k].elements;", "one.elements = out_[k].elements;"),
    "an empty message of another host lost": ("sparse_all_to_all", "exchange/exchange_by_host.hpp",
        "if (leads == me) out_[1].at(leader(there, here_)).add(of, data);",
        "if (leads == me && of.bytes == 0) return;\n"
        "    if (leads == me) out_[1].at(leader(there, here_)).add(of, data);"),
    "a letter taken before its last part": ("sparse_all_to_all", "exchange/exchange_by_host.hpp",
        "if (found->second.size() != head.bytes) return;", "if (found->second.size() + 1000 < head.bytes) return;"),
    "a refusal not passed on": ("sparse_all_to_all", "exchange/exchange_by_host.hpp",
        "if (in_.refuses() >= 0) letter", "if (in_.refuses() == state_.rank()) letter"),
    "letters in order of arrival": ("sparse_all_to_all", "exchange/received.hpp",
        "if (std::is_sorted(sources.begin(), sources.end(), std::less_equal<>{})) return;   // each once too",
        "if (sources.size() % 2 == 0) return;"),
}


def commands(build, source):
    """The build's own commands that compile that source and link its program."""
    target = "test_sparse_all_to_all" if source == "sparse_all_to_all" else "test_exchange"
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    compiling = [line for line in lines if f"/exchange/{source}.cpp" in line and " -c " in line]
    assert len(compiling) == 1, "no command that compiles " + source
    return compiling[0], next(line for line in lines if line.endswith("&& :") and f"-o test/{target} " in line)


def make(build, source, headers, folder):
    """The program of one source with these headers."""
    compiling, linking = commands(build, source)
    made = re.search(r" -o (\S+\.o)", compiling).group(1)
    new, program = os.path.join(folder, "test.o"), os.path.join(folder, "test")
    line = re.sub(r" -(?:include|MF|MT) \S+| -MD| -Winvalid-pch| -DCOLLIGO_COMPILED| -O\d", "", compiling)
    line = line.replace(made, new).replace(os.path.join(ROOT, "include"), headers)
    assert headers in line, "the headers are not where they were expected"
    subprocess.run(line + " -w -O0 -include boost/mpi.hpp -include colligo/colligo.hpp", shell=True, check=True,
                   cwd=build)
    objects = re.findall(r"test/CMakeFiles/\S+/exchange/\S+\.o", linking)
    for one in objects:
        linking = linking.replace(one, new if one == objects[0] else "")
    linking = re.sub(r"-o test/\w+", "-o " + program, linking)
    subprocess.run(linking, shell=True, check=True, cwd=build)
    return program


def noticed(program):
    """What the test says; empty if it passes."""
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode == 0:
        return ""
    failed = re.search(r"-{70,}\n([^\n]+)\n", done.stdout)
    how = f"signal {-done.returncode}" if done.returncode < 0 else "fails"
    return f"{how}: {failed.group(1)}" if failed else how


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(MUTANTS)

    def put(name, folder):
        _, file, old, new = MUTANTS[name]
        replace_once(os.path.join(folder, "include/colligo", file), old, new)

    def why_of(name, folder):
        return noticed(make(build, MUTANTS[name][0], os.path.join(folder, "include"), folder))
    return not all_noticed(names, ["include"], put, why_of)


if __name__ == "__main__":
    sys.exit(main())
