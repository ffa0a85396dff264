#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Programs that hang, with the library before MPI: what it says, and how soon.

    hung.py MPIRUN FOLDER CASE...

MPIRUN starts the ranks; FOLDER has the programs hung_c and hung_fortran. A CASE is program:ranks:variable:mistake,
such as c:4:PATIENCE:receive; all: the twenty of both programs, on 4 and on 7 ranks. From the line `now`, which rank 0
writes before the mistake, a job has three seconds to name the rank, the collective and its number.
"""
import os
import re
import shlex
import subprocess
import sys
import threading
import time

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/drop_in/run")
SECONDS = 3
PATIENCE = "2s"
MISTAKES = {"PATIENCE": ("left_out", "receive", "root"), "CHECK": ("left_out", "root")}


def wanted(variable, mistake, p):
    """What has to be written, as regular expressions."""
    if mistake == "receive":
        return [r"after 2 s in all_reduce #6 of 1 double", rf"rank {p - 1}: has not called since #5; .* is alive"]
    if variable == "PATIENCE":
        called = {"left_out": "all_reduce", "root": "broadcast .* with root 2"}[mistake]
        return [rf"rank {1 if mistake == 'left_out' else 2} (made )?call number 6, {called}"]
    return {"left_out": [r"rank 1 calls all_reduce of 1 double .*; ranks 0, .* call reduce .* with root 1"],
            "root": [r"rank 2 calls broadcast .* with root 2.*; ranks 0, .* call broadcast .* with root 0"]}[mistake]


def run(mpirun, folder, program, p, variable, mistake):
    """Seconds until all was said. None: it was not said in time, or the job ended without it."""
    environment = dict(os.environ)
    environment["COLLIGO_" + variable] = PATIENCE if variable == "PATIENCE" else "1"
    job = subprocess.Popen([*shlex.split(mpirun), "-n", str(p), RUN, os.path.join(folder, "hung_" + program), mistake],
                           env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = threading.Timer(30, job.terminate)
    end.start()
    missing = wanted(variable, mistake, p)
    began, text = None, ""
    for line in job.stdout:
        text += line
        if line.strip() == "now":
            began = time.monotonic()
            end.cancel()
            end = threading.Timer(SECONDS + 1, job.terminate)
            end.start()
        missing = [words for words in missing if not re.search(words, line)]
        if not missing and began is not None:   # lines of several ranks come in any order
            break
    took = time.monotonic() - (began or 0)
    end.cancel()
    job.terminate()
    job.communicate()
    if missing or began is None or took > SECONDS:
        print(text + f"not said in {SECONDS} seconds ({took:.2f} s): {missing}")
        return None
    return took


def main():
    mpirun, folder, *cases = sys.argv[1:]
    if cases == ["all"]:
        cases = [f"{program}:{p}:{variable}:{mistake}" for program in ("c", "fortran") for p in (4, 7)
                 for variable in MISTAKES for mistake in MISTAKES[variable]]
    said = 0
    for case in cases:
        program, p, variable, mistake = case.split(":")
        took = run(mpirun, folder, program, int(p), variable, mistake)
        said += took is not None
        print(f"{case}: " + ("missing" if took is None else f"{took:.2f} s"), flush=True)
    print(f"{said} of {len(cases)} named")
    return said != len(cases)


if __name__ == "__main__":
    sys.exit(main())
