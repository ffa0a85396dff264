#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every block of C++ on the pages that includes a public header includes all that it calls: each colligo::name in it is
declared by what those headers include, and so are communicators, if it uses one. Nothing is compiled: mpi.pages does
that, with all headers at once.

  test/blocks.py        the pages of this tree
"""
import functools
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
include = root / "include"
pages = [root / "README.md", *sorted((root / "examples/guide").glob("*.md"))]
block = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
declared = [
    re.compile(r"^(?:template <.*> )?(?:struct|class|enum class|enum|concept) (?:\[\[.*?\]\] )?(\w+)", re.M),
    re.compile(r"^(?:using|namespace|concept) (\w+)", re.M),
    re.compile(r"^inline constexpr [\w:<>, ]*?(\w+)(?: =|\{|;)", re.M),
    re.compile(r"^(?!  |//|#|return|}).*?[ &*](\w+)\(", re.M),
    re.compile(r"^COLLIGO_WITH_\w+\((\w+)\)", re.M),
]
requests = re.compile(r"^COLLIGO_(?:REQUESTS|QUESTION|CALLS_OVER_GRAPH)\((\w+)", re.M)


@functools.cache
def read_by(header):
    """All headers below a header, itself among them."""
    found, left = set(), [header]
    while left:
        one = left.pop()
        if one in found or not one.is_file():
            continue
        found.add(one)
        for kind, name in re.findall(r'^#include ([<"])([\w./]+)[>"]', one.read_text(), re.M):
            left.append((include / name if kind == "<" else one.parent / name).resolve())
    return frozenset(found)


@functools.cache
def names_in(header):
    text = header.read_text()
    names = {name for form in declared for name in form.findall(text)}
    for name in requests.findall(text):
        names |= {"i" + name, name + "_init"}
    return names


def main():
    wrong, count = [], 0
    for page in pages:
        text = page.read_text()
        for found in block.finditer(text):
            code = found[1]
            headers = [include / name for name in re.findall(r"^#include <(colligo/[\w./]+)>", code, re.M)]
            if not headers:
                continue
            count += 1
            where = f"{page.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}"
            for header in headers:
                if not header.is_file():
                    wrong.append(f"{where}: there is no {header.relative_to(include)}")
            read = set().union(*map(read_by, headers))
            names = set().union(*map(names_in, read))
            for name in sorted(set(re.findall(r"colligo::(\w+)", re.sub(r"//.*", "", code))) - names):
                wrong.append(f"{where}: nothing that it includes declares colligo::{name}")
            if re.search(r"\bworld\b", code) and include / "colligo/communicators/communicators.hpp" not in read:
                wrong.append(f"{where}: nothing that it includes knows communicators")
    if count < 40:
        wrong.append(f"only {count} blocks were found")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{count} blocks include what they call")


main()
