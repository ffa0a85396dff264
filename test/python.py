#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""All Python of the project compiles, passes pyflakes, and has a name that ends in .py.

    python.py pyflakes3
"""

import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def sources():
    """Files of the project, not what programs have made beside them."""
    for top in (".packaging", "benchmarks", "examples", "include", "test"):
        for folder, folders, files in os.walk(root / top):
            folders[:] = [name for name in folders if name not in ("__pycache__", "html")]
            yield from (pathlib.Path(folder, name) for name in files)


def main():
    wrong, checked, linted = [], 0, []
    for path in sources():
        name = path.relative_to(root)
        if path.suffix == ".py":
            checked += 1
            try:
                compile(path.read_text(encoding="utf-8"), str(name), "exec")
            except SyntaxError as error:
                wrong.append(f"{name}:{error.lineno}: {error.msg}")
            if "spack" not in name.parts:   # its recipes import everything, as Spack wants it
                linted.append(str(name))
        elif path.open("rb").readline().startswith(b"#!") and b"python" in path.open("rb").readline():
            wrong.append(f"{name} is a program in Python: its name has to end in .py")
    wrong += subprocess.run([sys.argv[1], *linted], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False).stdout.splitlines()
    if checked < 20:
        wrong.append(f"only {checked} files were found")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{checked} files")


main()
