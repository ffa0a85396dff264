#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The rooms of include/colligo: who includes whom, and how large they are.

  test/rooms.py --check    fails where a header includes a room below its own, two headers share a name, the text of an
                           error does not begin with "colligo: ", a variable is called `its`, or the drawing on the
                           house page is not of today's headers
  test/rooms.py --draw     writes the drawing, include/colligo/rooms.svg
"""
import collections
import pathlib
import re
import sys

headers = pathlib.Path(__file__).resolve().parent.parent / "include" / "colligo"
drawing = headers / "rooms.svg"
# From top to bottom; a room includes those above it. The public headers are the last one.
rows = [["core"], ["topology", "environment"], ["shape", "plan"], ["algorithm"], ["engine", "faults"],
        ["transport/memory"], ["transport/messages", "transport/threads"], ["bootstrap"], ["communicators"], ["rules"],
        ["arguments"], ["exchange"], ["sums"], ["tools"], ["public headers"]]
level = {room: at for at, row in enumerate(rows) for room in row}
# These include nothing else.
alone = {"topology": {"core"}, "environment": {"core"}, "faults": {"core"}, "shape": {"core", "topology"},
         "plan": {"core"}, "algorithm": {"core", "topology", "shape"}}


def room_of(header):
    parts = header.relative_to(headers).parts
    return "public headers" if len(parts) == 1 else "/".join(parts[:-1])


def called_its(text):
    """Numbers of lines with a variable `its` or `its_...`, which says nothing."""

    def blank(found):
        return re.sub(r"\S", " ", found[0])

    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", blank, text, flags=re.S)
    return [code.count("\n", 0, found.start()) + 1 for found in re.finditer(r"\bits(?:_\w*)?\b", code)]


def read():
    """Lines by room, includes by pair of rooms, and what is wrong."""
    lines, includes, wrong = collections.Counter(), collections.Counter(), []
    by_name = collections.defaultdict(list)
    for header in sorted(headers.rglob("*.hpp")):
        text, room = header.read_text(), room_of(header)
        name = header.relative_to(headers)
        lines[room] += text.count("\n")
        by_name[header.name].append(str(name))
        # What begins with where() or with a text made before has it from there.
        for said in re.findall(r'throw \w*(?:error|lost|stalled|elsewhere)\(\s*(?:concat\(\{\s*)?"(.*?)"', text):
            if not said.startswith("colligo: "):
                wrong.append(f'{name}: an error begins with "{said}", not with "colligo: "')
        wrong += [f"{name}:{line}: a variable is called `its`, or begins so: call it what it is"
                  for line in called_its(text)]
        for include in re.findall(r'^#include "(.+)"', text, re.M):
            target = room_of((header.parent / include).resolve())
            if target == room or include.endswith("version.hpp"):
                continue
            includes[room, target] += 1
            if level[target] >= level[room] or target not in alone.get(room, level):
                wrong.append(f"{name} includes {include}: {room} may not include {target}")
    wrong += [f"{' and '.join(same)} share a name" for same in by_name.values() if len(same) > 1]
    return lines, includes, wrong


def drawn(lines, includes):
    """Boxes as high as they have lines would hide the small ones: the numbers are written, the arrows counted.
    What a folder includes by others too is faint."""
    width, height, gap = 760, 44, 26
    at, parts = {}, []
    for y, row in enumerate(rows):
        for x, room in enumerate(row):
            at[room] = (width * (x + 1) // (len(row) + 1), 10 + y * (height + gap))
    below = {room: set() for room in at}   # what a folder includes, itself or by others
    for user in sorted(at, key=lambda room: level[room]):
        for one, used in includes:
            if one == user:
                below[user] |= {used} | below[used]
    for (user, used), count in sorted(includes.items()):
        by_others = any(one == user and used in below[other] for one, other in includes)
        (x1, y1), (x2, y2) = at[user], at[used]
        side = 105 + 14 * (level[user] - level[used]) if x1 == x2 and level[user] - level[used] > 1 else 0
        middle = (y1 + y2 + height) / 2
        parts.append(f'<path d="M{x1} {y1}Q{(x1 + x2) / 2 + 2 * side} {middle} {x2} {y2 + height}" fill="none" '
                     f'stroke="#0072b2" stroke-opacity="{".1" if by_others else ".8"}" '
                     f'stroke-width="{min(6, 1 + count / 8):.1f}">'
                     f"<title>{user} includes {used} {count} times</title></path>")
    for room, (x, y) in at.items():
        parts.append(f'<rect x="{x - 95}" y="{y}" width="190" height="{height}" rx="6" fill="#fff" stroke="#222"/>'
                     f'<text x="{x}" y="{y + 19}" text-anchor="middle" font-weight="bold">{room}</text>'
                     f'<text x="{x}" y="{y + 35}" text-anchor="middle" font-size="11">{lines[room]} lines</text>')
    bottom = 10 + len(rows) * (height + gap)
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" width="{width}" '
                      f'height="{bottom}" font-family="DejaVu Sans, sans-serif" font-size="14">',
                      '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""])


def main():
    lines, includes, wrong = read()
    if sys.argv[1:] == ["--draw"]:
        drawing.write_text(drawn(lines, includes))
    elif sys.argv[1:] == ["--check"]:
        # Lines change with every commit, who includes whom seldom does: the drawing has to have the same arrows.
        arrows = re.compile(r"<title>(.+) includes (.+) \d+ times")
        shown = set(arrows.findall(drawing.read_text())) if drawing.exists() else set()
        if shown != set(includes):
            wrong.append(f"{drawing.name} is of other headers: run test/rooms.py --draw")
        sys.exit("\n".join(wrong) or 0)
    else:
        sys.exit(__doc__)


main()
