# SPDX-License-Identifier: BSL-1.0
"""All executions of a few small threads on C++'s atomics.

A thread is a generator that yields actions (load, store, exchange, read, write, fence, choose) and gets the value of
each. Memory keeps every value that a place had, with what its writer knew then: which values of other places are too
old for it. A load takes any value that is not too old for its thread; one that acquires learns what the writer knew.
So stores of other threads are seen late and out of order wherever the orders allow it. Not here: loads that take what
is stored later (load buffering), and seq_cst beyond "a load sees the latest seq_cst store to the same place".
"""
import collections

Action = collections.namedtuple("Action", "kind place order value")   # value: to store, a change, or a condition
most_places = 48


class Wrong(Exception):
    """What must not happen has happened."""


def need(condition, otherwise):
    if not condition:
        raise Wrong(otherwise)


def load(place, order, until=lambda value: True):
    """Polls until the value is such."""
    return Action("load", place, order, until)


def store(place, order, value):
    """Each place has one thread that stores to it; others use exchange."""
    return Action("store", place, order, value)


def exchange(place, order, change, until=lambda value: True):
    """Waits for a value, replaces it by change(value), and gives it; None: it stays, as in a compare-exchange."""
    return Action("exchange", place, order, (change, until))


def read(place):
    """Of a plain variable."""
    return Action("read", place, None, None)


def write(place, value):
    return Action("write", place, None, value)


def fence(order):
    """release, acquire, or None: it is left out."""
    return Action("fence", None, order, None)


def choose(n):
    """Any of 0 to n - 1."""
    return Action("choose", None, None, n)


def acquires(order):
    return order in ("acquire", "acq_rel", "seq_cst")


def releases(order):
    return order in ("release", "acq_rel", "seq_cst")


class Point:
    """Where a thread is: what it has got so far, and its next action; None: it has ended."""

    def __init__(self, thread, got=()):
        self.thread, self.got, self.later = thread, got, {}
        generator = thread()
        try:
            self.action = next(generator)
            for value in got:
                self.action = generator.send(value)
        except StopIteration:
            self.action = None

    def after(self, value):
        if value not in self.later:
            self.later[value] = Point(self.thread, self.got + (value,))
        return self.later[value]


def both(a, b):
    return a if a is b else tuple(map(max, a, b))


nothing = (0,) * most_places


class State:
    """Views say, for each place, the index of the oldest value that may still be seen."""

    def __init__(self, points):
        self.points, n = points, len(points)
        self.views, self.released, self.heard = [nothing] * n, [nothing] * n, [nothing] * n
        self.ordered = nothing   # by seq_cst
        self.values = {}         # of each place: pairs of a value and what its writer knew
        self.reads = {}          # of plain variables, by thread
        self.trace = None

    def copy(self):
        s = State.__new__(State)
        s.points, s.views, s.released, s.heard = self.points[:], self.views[:], self.released[:], self.heard[:]
        s.ordered, s.values, s.reads, s.trace = self.ordered, dict(self.values), dict(self.reads), self.trace
        return s

    def key(self):
        knows = tuple(tuple(known) for known in (self.views, self.released, self.heard))
        return hash((tuple(map(id, self.points)), knows, self.ordered, frozenset(self.values.items())))


class Exploration:
    def __init__(self, threads):
        self.threads, self.begins, self.numbers, self.writers = threads, [], {}, {}
        self.states = 0   # that were seen
        self.trace = None

    def number(self, place):
        at = self.numbers.setdefault(place, len(self.numbers))
        assert at < most_places
        return at

    def history(self, s, place):
        return s.values.get(place) or ((0, nothing),)

    def wrong(self):
        """How it goes wrong, as lines; None: it is right in every execution."""
        todo, seen = [], set()
        try:
            self.begins = [Point(t) for t in self.threads]   # they stay, so that all points have different ids
            todo.append(State(self.begins))
            while todo:
                s = todo.pop()
                alone = next((i for i, p in enumerate(s.points) if p.action and self.concerns_one(p.action)), None)
                if alone is not None:
                    todo.append(self.done(s, alone, len(self.history(s, s.points[alone].action.place)) - 1))
                    continue
                key = s.key()
                if key in seen:
                    continue
                seen.add(key)
                ways = [(i, m) for i, p in enumerate(s.points) if p.action for m in self.possible(s, i, p.action)]
                if not ways and any(p.action for p in s.points):
                    self.trace = s.trace
                    raise Wrong("threads wait for ever")
                todo.extend(self.done(s, i, m) for i, m in ways)
        except Wrong as what:
            lines, step = [str(what)], self.trace
            while step:
                step, line = step
                lines.insert(1, line)
            return lines
        finally:
            self.states = len(seen)
        return None

    # Whatever other threads do before or after it, is the same: a load may still take an older value than a store's.
    # So no other order has to be explored.
    @staticmethod
    def concerns_one(a):
        return a.kind in ("read", "write", "fence") or (a.kind == "store" and a.order != "seq_cst")

    def possible(self, s, i, a):
        """Which value it takes, by index."""
        if a.kind == "choose":
            return range(a.value)
        if a.kind == "store":
            return [0]
        values = self.history(s, a.place)
        if a.kind == "exchange":
            return [len(values) - 1] if a.value[1](values[-1][0]) else []
        at = self.number(a.place)
        oldest = max(s.views[i][at], s.ordered[at]) if a.order == "seq_cst" else s.views[i][at]
        return [m for m in range(oldest, len(values)) if a.value(values[m][0])]

    def done(self, s, i, m):
        self.trace = s.trace
        s = s.copy()
        a = s.points[i].action
        got = m if a.kind == "choose" else getattr(self, a.kind)(s, i, a, m)
        self.trace = s.trace = (s.trace, f"    thread {i}: {a.kind} {a.place or ''} {a.order or ''}: {got}")
        s.points[i] = s.points[i].after(got)
        return s

    def only(self, place, index):
        at = self.number(place)
        return nothing[:at] + (index,) + nothing[at + 1:]

    def add(self, s, i, a, value, known=nothing):
        """`known`: what an exchange passes on."""
        values = self.history(s, a.place)
        new = self.only(a.place, len(values))
        s.views[i] = both(s.views[i], new)
        knows = s.views[i] if releases(a.order) else both(s.released[i], new)
        s.values[a.place] = values + ((value, both(knows, known)),)

    def load(self, s, i, a, m):
        value, known = self.history(s, a.place)[m]
        s.views[i] = both(s.views[i], self.only(a.place, m))
        s.heard[i] = both(s.heard[i], known)
        if acquires(a.order):
            s.views[i] = both(s.views[i], known)
        return value

    def store(self, s, i, a, _):
        assert self.writers.setdefault(a.place, i) == i, f"two threads store to {a.place}"
        self.add(s, i, a, a.value)
        if a.order == "seq_cst":
            s.ordered = both(s.ordered, self.only(a.place, len(s.values[a.place]) - 1))

    def exchange(self, s, i, a, m):
        value, known = self.history(s, a.place)[m]
        new = a.value[0](value)
        self.load(s, i, a, m)
        if new is not None:
            self.add(s, i, a, new, known)
        return value

    def fence(self, s, i, a, _):
        if releases(a.order):
            s.released[i] = s.views[i]
        if acquires(a.order):
            s.views[i] = both(s.views[i], s.heard[i])

    def read(self, s, i, a, m):
        need(s.views[i][self.number(a.place)] == m, f"thread {i} reads {a.place} while another one writes it")
        mine = f"{a.place} read by {i}"
        s.reads[mine] = s.reads.get(mine, 0) + 1
        s.views[i] = both(s.views[i], self.only(mine, s.reads[mine]))
        return self.history(s, a.place)[m][0]

    def write(self, s, i, a, m):
        need(s.views[i][self.number(a.place)] == m, f"thread {i} writes {a.place} while another one writes it")
        for j in range(len(s.points)):
            mine = f"{a.place} read by {j}"
            need(j == i or s.views[i][self.number(mine)] >= s.reads.get(mine, 0),
                 f"thread {i} writes {a.place} while thread {j} may read it")
        self.add(s, i, a, a.value)


def outcomes(*threads):
    """What the loads of threads may get together, in the order of the threads, which are lists of actions."""
    seen = set()

    def run(i, actions):
        def thread():
            got = []
            for action in actions:
                value = yield action
                got += [value] * (action.kind in ("load", "exchange"))
            yield exchange("ended", "relaxed", lambda ended: (ended or ()) + ((i, *got),))
        return thread

    def end():
        ended = yield exchange("ended", "relaxed", lambda v: None, lambda v: v and len(v) == len(threads))
        seen.add(tuple(value for _, *got in sorted(ended) for value in got))
    wrong = Exploration([*(run(i, actions) for i, actions in enumerate(threads)), end]).wrong()
    return wrong[0] if wrong else seen


def known_programs():
    """Where the standard is known to allow or forbid an outcome: what is said otherwise here."""
    def passed(to, at, fences=(None, None)):
        return outcomes([store("x", "relaxed", 1), fence(fences[0]), store("y", to, 1)],
                        [load("y", at), fence(fences[1]), load("x", "relaxed")])

    def crossed(to, at):
        return outcomes([store("x", to, 1), load("y", at)], [store("y", to, 1), load("x", at)])

    def counted(order):
        return outcomes([store("x", "relaxed", 1), exchange("y", order, lambda v: v + 1)],
                        [load("y", "relaxed", lambda v: v == 1), exchange("y", "relaxed", lambda v: v + 1)],
                        [load("y", "acquire", lambda v: v == 2), load("x", "relaxed")])
    in_order = {(0, 0), (0, 1), (1, 1)}
    two_readers = outcomes([store("x", "release", 1)], [store("y", "release", 1)],
                           [load("x", "acquire"), load("y", "acquire")], [load("y", "acquire"), load("x", "acquire")])
    third_party = outcomes([store("x", "relaxed", 1)], [load("x", "relaxed", bool), store("y", "release", 1)],
                           [load("y", "acquire", bool), load("x", "relaxed")])
    cases = {
        "a relaxed flag": passed("relaxed", "acquire") == in_order | {(1, 0)} == passed("release", "relaxed"),
        "a released flag": passed("release", "acquire") == in_order,
        "fences": passed("relaxed", "relaxed", ("release", "acquire")) == in_order,
        "one fence": passed("relaxed", "relaxed", ("release", None)) == in_order | {(1, 0)},
        "store buffers": crossed("release", "acquire") == {(0, 0), (0, 1), (1, 0), (1, 1)},
        "seq_cst": crossed("seq_cst", "seq_cst") == {(0, 1), (1, 0), (1, 1)},
        "coherence": outcomes([store("x", "relaxed", 1), store("x", "relaxed", 2)],
                              [load("x", "relaxed"), load("x", "relaxed")])
        == {(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)},
        "two readers see two stores in different orders": (1, 0, 1, 0) in two_readers,
        "what a thread has seen, it passes on": third_party == {(1, 1, 1)},
        "a release sequence": counted("release") == {(0, 1, 1, 2, 1)},
        "no release sequence": (0, 1, 1, 2, 0) in counted("relaxed"),
        "a race": isinstance(outcomes([write("x", 1)], [read("x")]), str),
        "threads that wait for each other": isinstance(outcomes([load("x", "relaxed", bool)]), str),
    }
    return [f"executions.py is wrong about {name}" for name, right in cases.items() if not right]
