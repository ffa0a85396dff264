#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""abi_names.py NM LIBRARY: the library for the binary interface of MPI 5 has both names of all forms that the standard
has of the collectives, imports functions of the standard by their other names, and nothing of an MPI library's own."""
import pathlib
import re
import subprocess
import sys

nm, library = sys.argv[1:]
text = (pathlib.Path(__file__).parent.parent / "platforms/mpi_abi/standard.txt").read_text(encoding="utf-8")
standard = {name for line in text.splitlines() if not line.startswith("#") for name in line.split()}
collective = re.compile("I?(barrier|bcast|(all)?gatherv?|scatterv?|alltoallv?|(all)?reduce|(ex)?scan|"
                        "reduce_scatter(_block)?)(_init)?(_c)?", re.IGNORECASE)
served = {name for name in standard if collective.fullmatch(name)}
served |= {"Init", "Init_thread", "Finalize", "Comm_free", "Comm_disconnect"}


def names(which):
    """Of MPI and of MPI libraries."""
    lines = subprocess.run([nm, "-D", which, library], capture_output=True, text=True, check=True).stdout.split("\n")
    return {line.split()[-1] for line in lines if re.search(r" (P?MPI|[a-z]*mpi[a-z]*)_\w+$", line, re.IGNORECASE)}


own, imported = names("--defined-only"), names("--undefined-only")
differ = own ^ {prefix + name for name in served for prefix in ("MPI_", "PMPI_")}
foreign = imported - {"PMPI_" + name for name in standard}
if differ or foreign or not imported:
    sys.exit(f"in one of the library and the standard alone: {sorted(differ)}; imported: {sorted(foreign)}")
print(f"{len(served)} functions by both names, {len(imported)} of the standard's imported")
