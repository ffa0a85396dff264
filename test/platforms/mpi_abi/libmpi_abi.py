#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""libmpi_abi.py FOLDER: writes what libmpi_abi.c includes. abi.h: mpi.h by names that begin with ABI_, which handles
and numbers are converted. forward.h: the functions, with a conversion of each argument."""
import contextlib
import pathlib
import re
import sys

here = pathlib.Path(__file__).parent
header = (here / "mpi.h").read_text(encoding="utf-8")
# What a number is, by the argument's name; and the values that differ between MPI libraries.
numbers = {
    "rank": ("root to from leader other_leader", "ANY_SOURCE PROC_NULL ROOT UNDEFINED"),
    "tag": ("tag other_tag", "ANY_TAG"),
    "number": ("color index", "UNDEFINED"),
    "level": ("required provided", r"THREAD_\w+"),
    "combiner": ("combiner", r"COMBINER_\w+"),
    "topology": ("topology", "CART GRAPH DIST_GRAPH UNDEFINED"),
    "key": ("key", "KEYVAL_INVALID TAG_UB"),
    "code": ("code error_class", r"ERR_(?!LASTCODE)\w+"),
}
number_of = {name: number for number, (names, _) in numbers.items() for name in names.split()}
by_hand = ("Abi_get_version Comm_create_errhandler Comm_create_keyval Get_count Group_translate_ranks Op_create "
           "Type_create_keyval Type_get_contents Type_size_c").split()


def functions():
    """(result, name, arguments) of each."""
    lists = [("functions.h", "", "int", "int"), ("collectives.h", "", "int", "int"),
             ("collectives.h", "_c", "MPI_Count", "MPI_Aint")]
    for file, suffix, count, place in lists:
        text = re.sub(r"\bCOUNT\b", count, re.sub(r"\bPLACE\b", place, (here / file).read_text(encoding="utf-8")))
        for result, name, arguments in re.findall(r"(\w+) NAME\((\w+)\)\(([^;]*)\);", text):
            arguments = " ".join(arguments.split()).split(", ")
            yield result, name + suffix, [] if arguments == ["void"] else arguments


def convert(argument, a, handles):
    """The declaration of the argument `a`; what stands before the call, in it, and behind it."""
    constant, of, stars, name, array = re.fullmatch(r"(const )?(\w+) ?(\**)(\w*)(\[\])?", argument).groups(default="")
    kind, number = of.removeprefix("MPI_"), number_of.get(name)
    is_abi = kind in handles or kind == "Status" or kind.endswith("_function")
    declared = f"{constant}{'ABI_' + kind if is_abi else of} {stars}{a}{array}"
    v = "v" + a
    if kind in handles and array:
        behind = "" if constant else f"for (int i = 0; i < a0; ++i) {a}[i] = abi_{kind}({v}[i]);"
        return declared, f"{of} {v}[a0 + 1]; for (int i = 0; i < a0; ++i) {v}[i] = vendor_{kind}({a}[i]);", v, behind
    if kind in handles and stars:
        return declared, f"{of} {v} = vendor_{kind}(*{a});", f"&{v}", f"*{a} = abi_{kind}({v});"
    if kind in handles:
        return declared, "", f"vendor_{kind}({a})", ""
    if kind == "Status" and array:
        return (declared, f"{of} {v}[a0 + 1]; memset({v}, 0, sizeof {v});", f"{a} ? {v} : MPI_STATUSES_IGNORE",
                f"for (int i = 0; {a} && i < a0; ++i) write_status({a} + i, {v} + i, 1);")
    if kind == "Status":
        return (declared, f"{of} {v}; memset(&{v}, 0, sizeof {v});", f"{a} ? &{v} : MPI_STATUS_IGNORE",
                f"if ({a}) write_status({a}, &{v}, 0);")
    if of == "void" and stars == "*" and name != "value":
        return declared, "", f"vendor_buffer({a})", ""
    if number and stars:
        return declared, "", a, f"*{a} = abi_{number}(*{a});"
    return declared, "", f"vendor_{number}({a})" if number else a, ""


def interface(handles, constants):
    types = header[header.index("typedef intptr_t"):header.index("#define COUNT")]
    print(re.sub(r"\bMPI_(?!ABI_)", "ABI_", types))
    for kind, values in handles.items():
        print(f"HANDLES({kind}, {min(values)}, {max(values)})")
    print("static void find_handles(void) {")
    print("".join(f"  vendor_of[{value}] = (intptr_t)MPI_{name};\n" for name, _, value in constants) + "}")
    for number, (_, values) in numbers.items():
        names = sorted(set(re.findall(rf"\bMPI_({'|'.join(values.split())}) = ", header)))
        pairs = ", ".join(f"{{ABI_{name}, MPI_{name}}}" for name in names)
        print(f"static struct pair const {number}_pairs[] = {{{pairs}}};\nNUMBERS({number})")
    # Another declaration than that of the library's own header is an error.
    for result, name, arguments in functions():
        print(f"{result} MPI_{name}({', '.join(arguments) or 'void'});")
    names = [name for _, name, _ in functions()]
    print("static struct {\n" + "".join(f"  __typeof__(MPI_{name}) *{name};\n" for name in names) + "} vendor;")
    print("static char const *const names[] = {" + ", ".join(f'"{name}"' for name in names) + "};")


def forward(handles):
    for result, name, arguments in functions():
        if name in by_hand:
            continue
        parts = [convert(argument, f"a{i}", handles) for i, argument in enumerate(arguments)]
        declared, before, call, behind = zip(*parts) if parts else [()] * 4
        print(f"FUNCTION({result}, {name}, ({', '.join(declared) or 'void'})) {{")
        print(f"  if (!vendor.{name}) return missing(\"{name}\");")
        print("".join(f"  {line}\n" for line in before if line), end="")
        print(f"  {result} const code = vendor.{name}({', '.join(call)});")
        print("".join(f"  {line}\n" for line in behind if line), end="")
        print(f"  return {'abi_code(code)' if result == 'int' else 'code'};\n}}")


def main(folder):
    constants = re.findall(r"#define MPI_(\w+) \(\(MPI_(\w+)\)(0x\w+)\)", header)
    handles = {}
    for _, kind, value in constants:
        handles.setdefault(kind, []).append(value)
    with open(folder / "abi.h", "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        interface(handles, constants)
    with open(folder / "forward.h", "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        forward(handles)


main(pathlib.Path(sys.argv[1]))
