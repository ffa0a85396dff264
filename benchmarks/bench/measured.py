# SPDX-License-Identifier: BSL-1.0
"""What compare measures, for programs that ask it several times: tune, guidelines and machines/derive.

A launch is one run of compare under mpirun: contenders side by side in it, medians over its repetitions. What counts
is the median over launches, for ranks, pages and caches lie differently in each. States of the machine (how far two
ranks are from each other) are kept apart. A first look, a short launch of all
contenders, finds those that the others are for.
"""
import collections
import csv
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LATER_COLUMNS = {"mode": "blocking", "inputs": "fresh", "state": "unknown"}   # and what files without them mean
COLUMNS = ("collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi").split(",")
COLUMNS += LATER_COLUMNS

FIRST_LOOK = 0   # the launch that looks at all contenders, shortly
NEAR = 1.5       # of the best there, to be looked at again
OTHERS = ["mpi", "boost_mpi", "automatic"]   # no algorithms of their own
# As examples/run has it: the mpirun that the library is built for, which root may use.
MPIRUN = "mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun_for(ranks, mpirun=MPIRUN):
    """Ranks of Open MPI yield only where they share cores: else that slows its calls down. MPICH has no such option."""
    yields = mpirun != "mpirun.mpich" and ranks > len(os.sched_getaffinity(0))
    return f"{mpirun} --oversubscribe --mca mpi_yield_when_idle 1 -n" if yields else f"{mpirun} -n"


# What is asked in one launch.
Question = collections.namedtuple("Question", "collective type op ranks inputs")


class Refused(Exception):
    """Ends the program with a sentence."""


def rows_of(path, more=()):
    """The rows of a file of compare --csv, as dictionaries; `more`: further columns at the end."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        names = reader.fieldnames or []
        plain = [n for n in names if n not in more]
        oldest = len(COLUMNS) - len(LATER_COLUMNS)
        if len(plain) < oldest or plain != COLUMNS[:len(plain)] or names[len(plain):] != list(more):
            raise Refused(f"{path} is no file of compare --csv: its first line is not\n  "
                          f"{','.join(COLUMNS + list(more))}")
        for row in reader:
            if None in row or None in row.values():
                raise Refused(f"{path}:{reader.line_num}: {len(names)} columns are expected")
            try:
                for name in ("ranks", "bytes"):
                    row[name] = int(row[name])
                for name in ("min_us", "median_us", "max_us"):
                    row[name] = float(row[name])
            except ValueError as e:
                raise Refused(f"{path}:{reader.line_num}: {e}") from None
            if not 0 < row["min_us"] <= row["median_us"]:
                raise Refused(f"{path}:{reader.line_num}: a median of {row['median_us']} us")
            yield {**LATER_COLUMNS, **row}


class Launches:
    """Asks compare, keeps what it said in a file, and does not ask again what that file has."""

    def __init__(self, options):
        self.options = options
        self.rows = []
        self.began = time.monotonic()
        self.longest = 1.0   # seconds of a launch
        if os.path.exists(options.csv):
            self.rows = list(rows_of(options.csv, ["launch"]))
            with open(options.csv, encoding="utf-8") as file:
                if file.readline().rstrip() != ",".join(COLUMNS + ["launch"]):
                    raise Refused(f"{options.csv} is of an earlier version: --csv with another name begins a new one")
        self.resumed = len({(self.question(r), r["launch"]) for r in self.rows})

    @staticmethod
    def question(row):
        return Question(row["collective"], row["type"], row["op"], row["ranks"], row["inputs"])

    def done(self, question):
        """The launches of it."""
        return {int(r["launch"]) for r in self.rows if self.question(r) == question}

    def all_measured(self, questions):
        return all(self.done(q) - {FIRST_LOOK} for q in questions)

    def time_left(self):
        return time.monotonic() - self.began + self.longest < self.options.seconds

    def progress(self, text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        elif self.options.progress:
            print(text, file=sys.stderr, flush=True)

    def ask(self, question, launch, sizes, algorithms):
        o = self.options
        if not os.access(o.compare, os.X_OK):
            raise Refused(f"{o.compare} is not there: it is built by\n  cmake --preset gcc && "
                          "cmake --build build/gcc --target compare\nor --compare names another one")
        first = launch == FIRST_LOOK
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "one.csv")
            mpirun = shlex.split(o.mpirun or mpirun_for(question.ranks))
            command = [*mpirun, str(question.ranks), o.compare, "--collective", question.collective,
                       "--inputs", question.inputs, "--algorithms", ",".join(algorithms) if algorithms else "all",
                       "--bytes", ",".join(map(str, sizes)),
                       "--repeats", str(min(3, o.repeats) if first else o.repeats), "--csv", path]
            if first or o.sample_us is not None:
                command += ["--sample-us", str(300 if o.sample_us is None else o.sample_us)]
            if question.type:
                command += ["--type", question.type, "--op", question.op]
            start = time.monotonic()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  stdin=subprocess.DEVNULL, env={**os.environ, **AS_ROOT}) as ran:
                try:
                    _, error = ran.communicate(timeout=max(1, o.seconds - self.elapsed()))
                except subprocess.TimeoutExpired:   # the sizes that are done count
                    ran.terminate()
                    _, error = ran.communicate()
                    ran.returncode = 0 if os.path.exists(path) else ran.returncode
            self.longest = max(0.9 * self.longest, time.monotonic() - start)
            if ran.returncode != 0:
                raise Refused(f"{shlex.join(command)}\nends with {ran.returncode}:\n{error.strip()}")
            new = list(rows_of(path))
        is_new = not os.path.exists(o.csv)
        with open(o.csv, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS + ["launch"], extrasaction="ignore", lineterminator="\n")
            if is_new:
                writer.writeheader()
            for row in new:
                row["launch"] = str(launch)
                writer.writerow(row)
        self.rows += new

    def run(self, questions, sizes_of, always, wanted=None):
        """All questions in turn, as many launches of each as are wanted and there is time for. True: all of them.

        Contenders are those that are wanted, or those always and the ones that a first look, a short launch of all
        contenders on the first kind of inputs, has found near the best.
        """
        o = self.options
        asked = [(launch, q) for launch in range(1, o.launches + 1) for q in questions]
        if not wanted:
            asked = [(FIRST_LOOK, q) for q in questions if q.inputs == questions[0].inputs] + asked
        for at, (launch, question) in enumerate(asked):
            if launch in self.done(question):
                continue
            if not self.time_left():
                self.progress("")
                print(f"time is up after {at} of {len(asked)} launches", file=sys.stderr)
                return False
            self.progress(f"[{at + 1}/{len(asked)}] {question.collective} {question.type} p={question.ranks} "
                          f"{question.inputs}, {self.elapsed():.0f} s")
            self.ask(question, launch, sizes_of(question),
                     wanted or (None if launch == FIRST_LOOK else self.near(question, always(question))))
        self.progress("")
        return True

    def near(self, question, always):
        """Contenders of the further launches: those always, and what has come near the best at some size."""
        looks = [r for r in self.rows if int(r["launch"]) == FIRST_LOOK and r["algorithm"] not in OTHERS and
                 self.question(r)._replace(inputs="") == question._replace(inputs="")]
        best = {}
        for r in looks:
            best[r["bytes"]] = min(r["min_us"], best.get(r["bytes"], r["min_us"]))
        return always + sorted({r["algorithm"] for r in looks if r["min_us"] <= NEAR * best[r["bytes"]]} - set(always))

    def elapsed(self):
        return time.monotonic() - self.began

    def times(self):
        """{question: {bytes: {state: {algorithm: [median of each launch]}}}}; first looks count where there is nothing
        else. What was measured while the state of the machine changed does not count."""
        rows = [r for r in self.rows if r["state"] != "changed"]
        measured = {self.question(r) for r in rows if int(r["launch"]) != FIRST_LOOK}
        found = {}
        for r in rows:
            if int(r["launch"]) != FIRST_LOOK or self.question(r) not in measured:
                of_size = found.setdefault(self.question(r), {}).setdefault(r["bytes"], {})
                of_size.setdefault(r["state"], {}).setdefault(r["algorithm"], []).append(r["median_us"])
        return found

    def states(self):
        """{state: rows measured in it}, the most frequent first."""
        return dict(collections.Counter(r["state"] for r in self.rows).most_common())

    def describe_states(self):
        counts = self.states()
        left_out = counts.pop("changed", 0)
        return "states: " + ", ".join(f"{state} {n} rows" for state, n in counts.items()) + \
            (f"; {left_out} rows left out, the state changed meanwhile" if left_out else "")


def medians(of_algorithms):
    return {name: statistics.median(times) for name, times in of_algorithms.items()}


def spread(times):
    """Of launches, relative to their median."""
    return (max(times) - min(times)) / statistics.median(times)


def sizes_in(text):
    """A:B is A, 4 A, 16 A ... up to B; otherwise a list."""
    try:
        if ":" in text:
            first, last = map(int, text.split(":"))
            sizes = []
            while 0 < first <= last:
                sizes.append(first)
                first *= 4
        else:
            sizes = [int(word) for word in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1:
        raise Refused(f"--bytes: \"{text}\" is neither A:B nor A,B,C")
    return sizes


def add_options(parser, csv_file):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--compare", default=os.path.join(root, "build/gcc/benchmarks/compare"), metavar="PROGRAM")
    parser.add_argument("--mpirun", metavar="COMMAND",
                        help="the number of ranks is put behind it (default: %s, where ranks share cores %s)" %
                             (mpirun_for(1), mpirun_for(sys.maxsize)))
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--bytes", default="8:8388608",
                        help="A:B for A, 4 A ... up to B, or A,B,C (default: %(default)s)")
    parser.add_argument("--launches", type=int, default=3,
                        help="of each question, after a first look at all contenders (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=7, help="samples in a launch (default: %(default)s)")
    parser.add_argument("--sample-us", type=float, help="as compare takes it")
    parser.add_argument("--seconds", type=float, default=300, help="that may be spent (default: %(default)s)")
    parser.add_argument("--csv", default=csv_file, metavar="FILE",
                        help="what was measured; what it has is not measured again (default: %(default)s)")
    parser.add_argument("--progress", action="store_true", help="tell on stderr, even if that is no terminal")


def ranks_in(text):
    try:
        ranks = [int(word) for word in text.split(",")]
    except ValueError:
        ranks = [0]
    if min(ranks) < 1:
        raise Refused(f"--ranks: \"{text}\" is no list of numbers")
    return ranks


def run(main):
    """Exit code of a program."""
    try:
        return main()
    except (Refused, OSError) as e:
        print(e, file=sys.stderr)
        return 2
