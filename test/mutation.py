# SPDX-License-Identifier: BSL-1.0
"""Faults in a copy of the sources, one at a time, and who notices them: for mutants.py in exchange/ and drop_in/."""
import os
import shutil
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def replace_once(path, old, new):
    with open(path, "r+", encoding="utf-8") as source:
        text = source.read()
        assert text.count(old) == 1, f"{path} has {text.count(old)} times: {old}"
        source.seek(0)
        source.truncate()
        source.write(text.replace(old, new))


def all_noticed(names, trees, put, why_of):
    """Calls put(name, folder), which puts a fault into the folder's copy of the trees, then why_of(name, folder): what
    notices it, or nothing. Prints both."""
    missed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            for tree in trees:
                shutil.copytree(os.path.join(ROOT, tree), os.path.join(folder, tree))
            put(name, folder)
            why = why_of(name, folder)
        missed += not why
        print(f"{name}: {why or 'NOT NOTICED'}", flush=True)
    print(f"{len(names) - missed} of {len(names)} noticed")
    return missed == 0
