#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The rooms of include/colligo: who includes whom.

  test/rooms.py --check    fails where a header includes a room below its own, two headers share a name, the text of an
                           error does not begin with "colligo: ", a variable is called `its`, a comment names a header
                           that does not exist, a namespace closes with another comment than "namespace colligo", or
                           the drawing on the house page is not of today's headers
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
# These include some of those alone.
alone = {"topology": {"core"}, "environment": {"core"}, "faults": {"core"}, "shape": {"core", "topology"},
         "plan": {"core"}, "algorithm": {"core", "topology", "shape"}}
# What moves bytes does not know algorithms.
alone |= {room: level.keys() - {"algorithm"}
          for room in level if room in ("engine", "bootstrap", "communicators") or room.startswith("transport/")}


def room_of(header):
    parts = header.relative_to(headers).parts
    return "public headers" if len(parts) == 1 else "/".join(parts[:-1])


def called_its(text):
    """Numbers of lines with a variable `its` or `its_...`, which says nothing."""

    def blank(found):
        return re.sub(r"\S", " ", found[0])

    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", blank, text, flags=re.S)
    return [code.count("\n", 0, found.start()) + 1 for found in re.finditer(r"\bits(?:_\w*)?\b", code)]


def missing(header, text, names):
    """Headers that comments name and that do not exist: by name, or with folders from here or a root on."""
    roots = header.parent, headers, headers.parent
    for number, line in enumerate(text.splitlines(), 1):
        for path in re.findall(r"[\w./]+\.hpp\b", line.partition("//")[2]):
            exists = path in names if "/" not in path else any((root / path).exists() for root in roots)
            if not exists and not path.startswith("boost/"):
                yield f"{header.relative_to(headers)}:{number}: a comment names {path}, which does not exist"


def read():
    """Pairs of rooms of which the first includes the second, and what is wrong."""
    includes, wrong = set(), []
    by_name, texts = collections.defaultdict(list), {}
    for header in sorted(headers.rglob("*.hpp")):
        text, room = header.read_text(), room_of(header)
        name = header.relative_to(headers)
        by_name[header.name].append(str(name))
        texts[header] = text
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
            includes.add((room, target))
            if level[target] >= level[room] or target not in alone.get(room, level):
                wrong.append(f"{name} includes {include}: {room} may not include {target}")
    for header, text in texts.items():
        wrong += missing(header, text, by_name)
        wrong += [f'{header.relative_to(headers)}: "{line}" closes a namespace otherwise than other headers do'
                  for line in re.findall(r"^\}.*// *namespace.*", text, re.M)
                  if not line.startswith("}  // namespace ") or "colligo::" in line]
    wrong += [f"{' and '.join(same)} share a name" for same in by_name.values() if len(same) > 1]
    return includes, wrong


def drawn(includes):
    """A matrix. It says nothing that changes with each commit, so --check compares all of it."""
    rooms, cell = [room for row in rows for room in row], 30
    left, parts = 10, []
    for y, user in enumerate(rooms):
        for x, used in enumerate(rooms[:y]):
            may = level[used] < level[user] and used in alone.get(user, level)
            parts.append(f'<rect x="{left + x * cell}" y="{10 + y * cell}" width="{cell}" height="{cell}" '
                         f'fill="{"#fff" if may else "#ccc"}" stroke="#ccc"/>')
            if (user, used) in includes:
                parts.append(f'<circle cx="{left + (x + .5) * cell}" cy="{10 + (y + .5) * cell}" r="8" fill="#0072b2">'
                             f"<title>{user} includes {used}</title></circle>")
        parts.append(f'<rect x="{left + y * cell}" y="{10 + y * cell}" width="{cell}" height="{cell}" fill="#222"/>'
                     f'<text x="{left + (y + 1) * cell + 8}" y="{10 + y * cell + 20}">{user}</text>')
    side = len(rooms) * cell
    width, height = side + 170, side + 20
    # The legend, where the matrix has no cells.
    legend = [("#fff", True, "the folder of the row includes"), ("", False, "that of the column"),
              ("#fff", False, "it does not, but may"), ("#ccc", False, "it must not")]
    for line, (fill, dot, text) in enumerate(legend):
        x, y = side - 130, 20 + line * cell
        if fill:
            parts.append(f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" fill="{fill}" stroke="#ccc"/>')
        if dot:
            parts.append(f'<circle cx="{x + cell / 2}" cy="{y + cell / 2}" r="8" fill="#0072b2"/>')
        parts.append(f'<text x="{x + cell + 8}" y="{y + 20}">{text}</text>')
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}" font-family="DejaVu Sans, sans-serif" font-size="15">',
                      '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""])


def main():
    includes, wrong = read()
    if sys.argv[1:] == ["--draw"]:
        drawing.write_text(drawn(includes))
    elif sys.argv[1:] == ["--check"]:
        if not drawing.exists() or drawing.read_text() != drawn(includes):
            wrong.append(f"{drawing.name} is of other headers: run test/rooms.py --draw")
        sys.exit("\n".join(wrong) or 0)
    else:
        sys.exit(__doc__)


main()
