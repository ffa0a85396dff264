#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What the library costs whoever compiles it: user seconds, peak memory and code of small units, beside boost/mpi.hpp
alone."""

import argparse
import csv
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


# What is compiled -----------------------------------------------------------------------------------------------------


class Element(NamedTuple):
    """An element type and its functor. Colligo's own pair, where it has one, stands in for what users write."""
    type: str
    members: list[str]
    op: str
    own: tuple[str, str] | None = None


def lambda_on(type, body):
    return f"[]({type} const& a, {type} const& b) {{ return {body}; }}"


ELEMENTS = [
    Element("bounds", ["double low", "double high"],
            lambda_on("bounds", "bounds{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}")),
    Element("double", [], "std::plus<double>{}"),
    Element("found", ["double value", "long index"], lambda_on("found", "b.value > a.value ? b : a"),
            own=("colligo::located<double>", "colligo::maxloc{}")),
    Element("place", ["float x", "float y", "float z"], lambda_on("place", "place{a.x + b.x, a.y + b.y, a.z + b.z}")),
    Element("matrix", ["double a", "double b", "double c", "double d"],
            lambda_on("matrix", "matrix{a.a * b.a + a.b * b.c, a.a * b.b + a.b * b.d, "
                                "a.c * b.a + a.d * b.c, a.c * b.b + a.d * b.d}")),
    Element("int", [], "std::bit_or<int>{}"),
    Element("moments", ["long count", "double sum", "double squares"],
            lambda_on("moments", "moments{a.count + b.count, a.sum + b.sum, a.squares + b.squares}")),
    Element("float", [], "boost::mpi::maximum<float>{}"),
    Element("affine", ["float scale", "float shift"],
            lambda_on("affine", "affine{a.scale * b.scale, a.shift * b.scale + b.shift}")),
    Element("long", [], lambda_on("long", "a > b ? a : b")),
]

# Nothing of the standard library beside it, so that what is over it is the library's: it brings <functional> and
# <vector>.
BOOST = "#include <boost/mpi.hpp>\n"


def struct_of(element, body=""):
    if not element.members:
        return ""
    return f"struct {element.type} {{ {' '.join(member + ';' for member in element.members)}{body} }};\n"


def boost_calls(count):
    text = BOOST
    for at, element in enumerate(ELEMENTS[:count]):
        if element.members:
            archived = " & ".join(member.split()[-1] for member in element.members)
            text += struct_of(element, " template <class Archive> void serialize(Archive& archive, unsigned) "
                                       f"{{ archive & {archived}; }}")
            text += f"BOOST_IS_MPI_DATATYPE({element.type})\n"
        text += (f"{element.type} call_{at}(boost::mpi::communicator const& world, {element.type} const& mine) {{\n"
                 f"  return boost::mpi::all_reduce(world, mine, {element.op});\n}}\n")
    return text


def all_reduce_calls(count, algorithm=""):
    text = BOOST + "#include <colligo/all_reduce.hpp>\n"
    for at, element in enumerate(ELEMENTS[:count]):
        type, op = element.own or (element.type, element.op)
        text += "" if element.own else struct_of(element)
        text += (f"{type} call_{at}(boost::mpi::communicator const& world, {type} const& mine) {{\n"
                 f"  return colligo::all_reduce(world, mine, {op}{algorithm});\n}}\n")
    return text


def vector_calls(*calls):
    text = BOOST + "#include <colligo/colligo.hpp>\n" + struct_of(ELEMENTS[0])
    text += f"inline constexpr auto op = {ELEMENTS[0].op};\n"
    for at, call in enumerate(calls):
        text += (f"void call_{at}(boost::mpi::communicator const& world, std::vector<bounds> const& in,\n"
                 "            std::vector<bounds>& out, std::vector<int> const& counts) {\n"
                 f"  (void)world, (void)in, (void)out, (void)counts;\n  {call}\n}}\n")
    return text


FAMILY = ["all_reduce(world, in, out, op)", "reduce(world, in, out, op, 0)", "broadcast(world, out, 0)",
          "all_gather(world, in, out)",
          "all_gatherv(world, in, out, counts)", "gather(world, in, out, 0)", "scatter(world, in, out, 0)",
          "reduce_scatter_block(world, in, out, op)", "scan(world, in, out, op)",
          "exclusive_scan(world, in, out, bounds{}, op)",
          "barrier(world)"]


def first_program(page):
    """The first block of C++ on a page that is a whole program, without what only the environment turns on."""
    blocks = re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    program = next(block for block in blocks if "int main(" in block)
    return re.sub(r"^#include <colligo/(explain|patience).hpp>.*\n", "", program, flags=re.MULTILINE)


class Unit(NamedTuple):
    what: str
    text: str


REFERENCE = {
    "boost": Unit("boost/mpi.hpp alone", BOOST),
    "boost_1": Unit("one boost::mpi::all_reduce of a struct", boost_calls(1)),
    "boost_10": Unit("ten of different (T, Op)", boost_calls(10)),
}
MEASURED = {
    "include": Unit("colligo/all_reduce.hpp, no call", BOOST + "#include <colligo/all_reduce.hpp>\n"),
    "include_all": Unit("colligo/colligo.hpp, no call", BOOST + "#include <colligo/colligo.hpp>\n"),
    "pinned": Unit("one all_reduce of a struct, recursive_doubling{}",
                   all_reduce_calls(1, ", colligo::recursive_doubling{}")),
    "automatic": Unit("one all_reduce of a struct, by default", all_reduce_calls(1)),
    "automatic_5": Unit("five of different (T, Op)", all_reduce_calls(5)),
    "automatic_10": Unit("ten of different (T, Op)", all_reduce_calls(10)),
    "family": Unit("colligo/colligo.hpp, one call each of eleven collectives",
                   vector_calls(*(f"colligo::{call};" for call in FAMILY))),
    "nonblocking": Unit("colligo/colligo.hpp, one iall_reduce and wait",
                        vector_calls("colligo::request r = colligo::iall_reduce(world, in, out, op);\n  r.wait();")),
    "example": Unit("the program of the README, without explain.hpp and patience.hpp",
                    first_program(HERE.parents[1] / "README.md")),
    "file_1": Unit("a program of four files: all_reduce", vector_calls(f"colligo::{FAMILY[0]};")),
    "file_2": Unit("broadcast and barrier", vector_calls(f"colligo::{FAMILY[2]};", f"colligo::{FAMILY[10]};")),
    "file_3": Unit("all_gatherv", vector_calls(f"colligo::{FAMILY[4]};")),
    "file_4": Unit("scan", vector_calls(f"colligo::{FAMILY[8]};")),
    "bodies": Unit("the one unit that has the bodies, in compiled mode", "#define COLLIGO_BODIES\n"
                   "#include <colligo/compiled.hpp>\n"),
    "bodies_apart": Unit("the first of two such units", "#define COLLIGO_BODIES\n#define COLLIGO_REST_APART\n"
                         "#include <colligo/compiled.hpp>\n"),
    "bodies_rest": Unit("the second", "#include <colligo/compiled_rest.hpp>\n"),
}
UNITS = REFERENCE | MEASURED
BODIES = ["bodies", "bodies_apart", "bodies_rest"]
# Names of the slopes, and the units they are drawn through.
FURTHER = {"boost_further": {1: "boost_1", 10: "boost_10"},
           "automatic_further": {1: "automatic", 5: "automatic_5", 10: "automatic_10"}}

# A program of four files, and in compiled mode of the bodies: all of it, and one file touched. Sums.
PROGRAM = ["file_1", "file_2", "file_3", "file_4"]
PROGRAMS = {"program": lambda mode: PROGRAM + ["bodies"] * (mode == "compiled"),
            "program_touched": lambda mode: PROGRAM[:1]}

# In user seconds over boost/mpi.hpp alone, g++ -O2.
AIMS = [("compiled", "include", 0.3), ("compiled", "include_all", 1.5), ("compiled", "automatic", 0.4),
        ("compiled", "automatic_further", 0.1), ("compiled", "bodies_apart", 20.0), ("compiled", "bodies_rest", 20.0),
        ("header-only", "include_all", 1.5), ("header-only", "pinned", 4.5), ("header-only", "automatic", 5.5),
        ("header-only", "automatic_further", 0.15)]
BESIDE = "boost"  # the mode of units that no mode of the library changes


# Compiling it ---------------------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    user: float   # seconds
    peak: float   # MB
    code: float   # KB


class Setting(NamedTuple):
    compiler: str
    level: str


class Refused(Exception):
    pass


def compile_once(wrapper, setting, flags, source):
    object = source.with_suffix(".o")
    # Boost's and the library's flags come from the wrapper; a compiler cache would be measured in the compiler's place.
    environment = os.environ | {"OMPI_CXX": setting.compiler, "MPICH_CXX": setting.compiler, "CCACHE_DISABLE": "1",
                                "LC_ALL": "C",
                                "TMPDIR": str(source.parent)}
    command = [wrapper, "-std=c++20", f"-{setting.level}", *flags, "-c", source.name, "-o", object.name]
    with tempfile.TemporaryFile(dir=source.parent) as said:
        child = subprocess.Popen(command, cwd=source.parent, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                                 stderr=said,
                                 start_new_session=True)
        try:
            # Of the driver and all that it waited for: cc1plus, the assembler.
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            os.killpg(child.pid, signal.SIGTERM)   # the driver alone would leave cc1plus behind
            child.wait()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").splitlines()
            lines = lines or [f"{wrapper} says nothing and returns {child.returncode}"]
            if len(lines) > 20:
                lines[20:] = [f"... and {len(lines) - 20} lines more"]
            raise Refused("\n".join(lines))
    sections = subprocess.run(["size", object.name], cwd=source.parent, env=environment, check=True,
                              capture_output=True, text=True).stdout
    object.unlink()
    return Sample(usage.ru_utime, usage.ru_maxrss / 1024, int(sections.splitlines()[1].split()[0]) / 1024)


def measure(options, folder):
    """{(setting, mode, unit): samples, or None where it does not compile}; rounds interleaved, so that a slow minute
    falls on all alike."""
    flags = {mode: [f"-I{options.include}"] for mode in [BESIDE, *options.modes]}
    if "compiled" in flags:
        flags["compiled"].append("-DCOLLIGO_COMPILED")
    if options.old:
        flags["old"] = [f"-I{options.old}"]
    cases = [(Setting(compiler, level), mode, unit) for compiler in options.compilers for level in options.levels
             for unit in options.units
             for mode in ([BESIDE] if unit in REFERENCE else [mode for mode in flags if mode != BESIDE])
             if unit not in BODIES or mode == "compiled"]
    for unit in options.units:
        (folder / f"{unit}.cpp").write_text(UNITS[unit].text)
    samples = {case: [] for case in cases}
    for number in range(options.repeats * len(cases)):
        case = setting, mode, unit = cases[number % len(cases)]
        if samples[case] is None:
            continue
        said = f"[{number + 1}/{options.repeats * len(cases)}] {setting.compiler} -{setting.level} {mode} {unit}:"
        try:
            samples[case].append(compile_once(options.wrapper, setting, flags[mode], folder / f"{unit}.cpp"))
            print(said, f"{samples[case][-1].user:.2f} s", file=sys.stderr, flush=True)
        except Refused as refused:
            print(said, "failed", file=sys.stderr)
            what = f"unit {unit} does not compile with {setting.compiler} -{setting.level}, mode {mode}"
            print(f"compile: {what}:\n{refused}", file=sys.stderr, flush=True)
            if not options.keep_going:
                sys.exit(1)
            samples[case] = None
    return samples


# What came of it ------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """Medians; over is beside boost/mpi.hpp alone. Of a slope: per further call, and over is the slope itself."""
    samples: list[Sample] | None
    user: float | None = None
    over: float | None = None
    peak: float | None = None
    code: float | None = None


def slope(points):
    x_mean, y_mean = (statistics.fmean(values) for values in zip(*points))
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)


def rows_of(samples):
    rows = {}
    medians = {case: Sample(*(statistics.median(values) for values in zip(*taken))) for case, taken in samples.items()
               if taken}
    for case, taken in samples.items():
        alone, median = medians.get((case[0], BESIDE, "boost")), medians.get(case)
        over = median.user - alone.user if median and alone else None
        rows[case] = Row(taken, median.user, over, median.peak, median.code) if median else Row(None)
    for setting, mode in dict.fromkeys((setting, mode) for setting, mode, _ in samples):
        for name, units in FURTHER.items():
            known = {calls: medians[setting, mode, unit] for calls, unit in units.items()
                     if (setting, mode, unit) in medians}
            if len(known) > 1:
                further = slope([(calls, median.user) for calls, median in known.items()])
                rows[setting, mode, name] = Row([], further, further, None,
                                                slope([(calls, median.code) for calls, median in known.items()]))
        for name, units_in in PROGRAMS.items():
            parts = [medians.get((setting, mode, unit)) for unit in units_in(mode)]
            alone = medians.get((setting, BESIDE, "boost"))
            if alone and all(parts):
                user = sum(part.user for part in parts)
                rows[setting, mode, name] = Row([], user, user - len(parts) * alone.user,
                                                max(part.peak for part in parts), sum(part.code for part in parts))
    return rows


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def print_tables(rows, versions, repeats):
    for setting in dict.fromkeys(setting for setting, _, _ in rows):
        runs = "one run" if repeats == 1 else f"medians of {repeats}"
        print(f"{versions[setting.compiler]}, -{setting.level}, {runs}")
        print(f"  {'unit':<20}{'user s':>9}{'over boost':>12}{'MB':>8}{'code KB':>10}")
        of_setting = {(mode, unit): row for (of, mode, unit), row in rows.items() if of == setting}
        for mode in dict.fromkeys(mode for mode, _ in of_setting):
            print(f"  {mode}")
            for (of, unit), row in of_setting.items():
                if of == mode and row.samples is None:
                    print(f"    {unit:<18}{'failed':>9}")
                elif of == mode:
                    print(f"    {unit:<18}{number(row.user, 2):>9}{number(row.over, 2):>12}{number(row.peak, 0):>8}"
                          f"{number(row.code, 1):>10}")
        print()


def print_aims(rows):
    of_aims = {(mode, unit): row for (setting, mode, unit), row in rows.items()
               if re.fullmatch(r"g\+\+(-\d+)?", Path(setting.compiler).name) and setting.level == "O2"}
    alone = of_aims.get((BESIDE, "boost"))
    here = f" (alone here: {alone.user:.2f})" if alone and alone.user else ""
    print(f"aims: user s over boost/mpi.hpp alone, g++ -O2{here}")
    for mode, unit, aim in AIMS:
        row = of_aims.get((mode, unit))
        if row is None or (row.over is None and row.samples is not None):
            verdict = "not measured"
        elif row.over is None:
            verdict = "does not compile"
        else:
            verdict = f"{row.over:.2f}  {'met' if round(row.over, 2) <= aim else 'missed'}"
        print(f"  {mode:<13}{unit:<19}{aim:.2f}   {verdict}")


def write_csv(file, rows):
    with open(file, "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["compiler", "level", "mode", "unit", "repeats", "user_s", "min_user_s", "max_user_s",
                        "over_boost_s", "peak_mb", "code_kb"])
        for (setting, mode, unit), row in rows.items():
            users = [sample.user for sample in row.samples or []]
            figures = [(row.user, 3), (min(users, default=None), 3), (max(users, default=None), 3), (row.over, 3),
                       (row.peak, 1), (row.code, 2)]
            runs = "failed" if row.samples is None else len(users) or ""
            table.writerow([setting.compiler, setting.level, mode, unit, runs,
                            *("" if value is None else number(value, digits) for value, digits in figures)])


# What is asked for ----------------------------------------------------------------------------------------------------


def words_among(known):
    def words(text):
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"\"{word}\" is not known; known are: {', '.join(known)}")
        return list(dict.fromkeys(text.split(",")))
    return words


def compilers(text):
    for word in text.split(","):
        if not shutil.which(word):
            raise argparse.ArgumentTypeError(f"there is no compiler \"{word}\" here")
    return list(dict.fromkeys(text.split(",")))


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"\"{text}\" is not a number above 0")
    return int(text)


def include_folder(text):
    if not Path(text, "colligo", "all_reduce.hpp").is_file():
        raise argparse.ArgumentTypeError(f"{text} holds no colligo/all_reduce.hpp")
    return Path(text).resolve()


def writable(text):
    try:
        open(text, "a").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot write {text}: {error.strerror}")
    return Path(text)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="compile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="units:\n" + "".join(f"  {name:<14}{unit.what}\n" for name, unit in UNITS.items()) +
               "\nboost is always measured. Those of boost are no mode's; the others are measured in each mode.\n"
               "automatic_further and boost_further are the slope, by least squares, of what each further call costs.\n"
               "program is file_1 to file_4 together, in compiled mode with bodies; program_touched is file_1 again.\n"
               "user s counts the compiler and the assembler, MB is their peak,\n"
               "code KB the text column of size(1); K and M are powers of 1024.")
    parser.add_argument("--csv", metavar="FILE", type=writable, help="write the tables there as well")
    parser.add_argument("--repeats", metavar="N", type=count, help="compile each unit N times and take the median (3)")
    parser.add_argument("--compilers", metavar="A,B", type=compilers,
                        help="compilers (g++,clang++, as far as they are installed)")
    parser.add_argument("--levels", metavar="A,B", type=words_among(["O0", "O1", "O2", "O3", "Os"]),
                        help="levels of optimisation (O2,O0)")
    parser.add_argument("--modes", metavar="A,B", type=words_among(["header-only", "compiled"]),
                        help="modes of the library (header-only,compiled)")
    parser.add_argument("--units", metavar="A,B", type=words_among(UNITS), help="units (all; see below)")
    parser.add_argument("--include", metavar="DIR", type=include_folder,
                        help="the library's headers (the repository's)")
    parser.add_argument("--old", metavar="DIR", type=include_folder,
                        help="measure another state of the library's headers, as mode \"old\"")
    parser.add_argument("--quick", action="store_true",
                        help="--repeats 1 --compilers g++ --levels O0 --units include,automatic, where not given")
    parser.add_argument("--keep-going", action="store_true",
                        help="record a unit that does not compile as failed, instead of ending")
    options = parser.parse_args(arguments)

    options.wrapper = shutil.which("mpicxx.openmpi") or shutil.which("mpicxx")
    if not options.wrapper:
        parser.error("there is neither mpicxx.openmpi nor mpicxx here")
    if not shutil.which("size"):
        parser.error("there is no size(1) here, which comes with the binutils")
    options.repeats = options.repeats or (1 if options.quick else 3)
    usual = ["g++"] if options.quick else ["g++", "clang++"]
    options.compilers = options.compilers or [word for word in usual if shutil.which(word)]
    if not options.compilers:
        parser.error("none of the usual compilers is installed: name one by --compilers")
    options.levels = options.levels or (["O0"] if options.quick else ["O2", "O0"])
    options.modes = options.modes or ["header-only", "compiled"]
    options.units = options.units or (["include", "automatic"] if options.quick else list(UNITS))
    options.units = [unit for unit in UNITS if unit == "boost" or unit in options.units]
    options.include = options.include or include_folder(HERE.parents[1] / "include")
    return options


def main():
    options = parse(sys.argv[1:])
    versions = {compiler: subprocess.run([compiler, "--version"], check=True, capture_output=True,
                                         text=True).stdout.splitlines()[0]
                for compiler in options.compilers}
    with tempfile.TemporaryDirectory(prefix="colligo-compile-") as folder:
        rows = rows_of(measure(options, Path(folder)))
    print_tables(rows, versions, options.repeats)
    print_aims(rows)
    if options.csv:
        write_csv(options.csv, rows)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
