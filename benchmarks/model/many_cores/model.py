# SPDX-License-Identifier: BSL-1.0
"""What an all_reduce over the memory of one host with many cores costs, by a model: see README.md.

Times in ns, rates in bytes per ns (GB/s). Levels: ranks that share a cache, a socket, the host. A message is k lines.
"""
import bisect
import copy
import functools
import heapq
import math
import operator
from collections import Counter
from math import ceil

LINE, PAYLOAD = 64, 56


class Machine:
    """sizes: ranks that share level 0, 1, ...; L: one-way latency of a line per level."""

    def __init__(self, name, sizes, L, c, o, link, dram, llc, copy, port=None, sockets=1, w=1.0, m=10, m_now=3):
        self.name, self.sizes, self.L, self.c, self.o = name, sizes, L, c, o
        self.link, self.dram, self.llc, self.copy, self.port, self.sockets = link, dram, llc, copy, port, sockets
        self.w = w            # a store is seen w L later if others still have the line
        self.m = m            # lines that a core has under way
        self.m_now = m_now    # peers under way without looking ahead
        self.m_stream = 20    # lines under way with the prefetchers' help
        self.gamma, self.core_most = 0.05, 25.0
        self.slowness = [1 / self.stream(level) for level in range(len(sizes))]

    def level(self, a, b):
        for level, size in enumerate(self.sizes):
            if a // size == b // size:
                return level
        return len(self.sizes) - 1

    def latency(self, a, b):
        return self.L[self.level(a, b)]

    def stream(self, level):
        return min(self.core_most, self.m_stream * LINE / self.L[level])


def epyc():
    return Machine("epyc", [4, 64, 128], [25., 110., 220.], 6., 8., 100., 330., 512e6, 12., port=23.5, sockets=2)


def grace():
    return Machine("grace", [72, 288], [55., 300.], 5., 6., 100., 450., 186e6, 40., m_now=1.5)


# ---- short vectors: each line is played, an event per message that a rank reads

class Line:
    def __init__(self, owner):
        self.seen, self.free, self.waiting, self.owner = None, 0., [], owner


class Play:
    """Each rank is a generator of ("w", key, level of the farthest reader) and ("r", [(key, lines)], peers under way,
    transactions for each message); `combine`: ns for each message."""

    def __init__(self, machine, program, p, combine):
        self.machine, self.lines, self.events, self.count, self.combine = machine, {}, [], 0, combine
        self.end, self.state = [0.] * p, [None] * p
        self.ranks = [program(r) for r in range(p)]
        for r in range(p):
            self.push(0., r)
        while self.events:
            t, _, r = heapq.heappop(self.events)
            self.go(r, t)

    def push(self, t, r):
        self.count += 1
        heapq.heappush(self.events, (t, self.count, r))

    def line(self, key):
        return self.lines.setdefault(key, Line(key[0]))

    def go(self, r, t):
        m = self.machine
        while True:
            if self.state[r] is None:
                op = next(self.ranks[r], None)
                if op is None:
                    self.end[r] = t
                    return
                if op[0] == "w":
                    t += m.o
                    line = self.line(op[1])
                    line.seen = line.free = t + m.w * m.L[op[2]]
                    for reader, since in line.waiting:
                        self.push(max(since, line.seen), reader)
                    line.waiting = []
                    continue
                self.state[r] = [op[1], 0, op[2], op[3], t]   # messages, next, window, transactions, latest completion
            state = self.state[r]
            if state[1] == len(state[0]):
                t, self.state[r] = max(t, state[4]), None
                continue
            key, k = state[0][state[1]]
            line = self.line(key)
            if line.seen is None:
                line.waiting.append((r, t))
                return
            if max(line.seen, line.free) > t:
                self.push(max(line.seen, line.free), r)
                return
            latency = m.latency(r, line.owner)
            line.free = t + m.c + (k - 1) * m.c / 2   # further lines of a message have other homes
            rest = (k - 1) * latency / m.m
            state[4] = max(state[4], t + state[3] * latency + rest)
            t += state[3] * latency / state[2] + rest + m.o + self.combine
            state[1] += 1
            self.push(t, r)
            return

    def time(self):
        return max(self.end)


def lines(n):
    return max(1, ceil(n / PAYLOAD))


def direct_program(machine, p, k):
    def program(r):
        yield "w", (r, 0), machine.level(0, p - 1)
        yield "r", [((q, 0), k) for q in range(p) if q != r], machine.m_now, 1
    return program


def release_gather(machine, p, k, up=4, down=64):
    """MPICH: trees over rank numbers, flags apart from data; on the way down all read the root's buffer."""
    far = machine.level(0, p - 1)

    def program(r):
        children = [(q, "u") for q in range(up * r + 1, min(p, up * r + up + 1))]
        if children:
            yield "r", [(key, k) for key in children], 2, 2
        if r:
            yield "w", (r, "u"), machine.level(r, (r - 1) // up)
            yield "r", [(((r - 1) // down, "f"), 1)], 2, 1
            if down * r + 1 < p:
                yield "w", (r, "f"), far
            yield "r", [((0, "b"), k)], 2, 1
        else:
            yield "w", (0, "b"), far
            yield "w", (0, "f"), far
    return program


def mpich(machine, p, n):
    return Play(machine, release_gather(machine, p, lines(n)), p, 2 + n * machine.gamma).time()


def direct(machine, p, n):
    """Short vectors alone: everybody reads everybody."""
    return Play(machine, direct_program(machine, p, lines(n)), p, 2 + n * machine.gamma).time()


# ---- closed formulas, phase by phase

def peers_at(machine, distance, parts):
    """How many of the parts - 1 peers at multiples of a distance lie on which level, as rank 0 sees it."""
    count = [0] * len(machine.sizes)
    for j in range(1, parts):
        count[machine.level(0, j * distance)] += 1
    return count


def entering(machine, p, bytes_read):
    """Bytes that each rank reads per level, through the ports of caches and the links of sockets."""
    t = machine.sizes[0] * sum(bytes_read[1:]) / machine.port if machine.port else 0.
    per_socket = machine.sizes[-2]
    if p > per_socket:
        t = max(t, per_socket * bytes_read[-1] / (machine.link * (ceil(p / per_socket) - 1)))
    return t


def phase(machine, p, peers, piece, combines, readers):
    """A rank reads `piece` bytes of each of so many peers per level."""
    if sum(peers) == 0 or piece == 0:
        return 0.
    far = max(level for level, count in enumerate(peers) if count)
    core = combines * sum(peers) * piece * machine.gamma
    for level, count in enumerate(peers):
        rest = (ceil(piece / LINE) - 1) * LINE / machine.stream(level)
        core += count * max(machine.o + machine.L[level] / machine.m + rest, machine.c)
    hop = (machine.w + 1) * machine.L[far] + (readers - 1) * machine.c
    return hop + max(core, entering(machine, p, [count * piece for count in peers]))


def memory(machine, p, n):
    """Read and written once the vectors leave the caches."""
    sockets = max(1, ceil(p / machine.sizes[-2]))
    rate, cache = machine.dram * sockets / machine.sockets, machine.llc * sockets / machine.sockets
    return 2.5 * p * n / rate if 2 * p * n > cache else 0.


def whole(machine, p, n, factors):
    """direct_by_level; with factors of 2, recursive_doubling."""
    distance, t = 1, 0.
    for parts in factors:
        peers = peers_at(machine, distance, parts)
        t += n / machine.copy + phase(machine, p, peers, n, True, sum(peers))
        distance *= parts
    return max(t, memory(machine, p, n))


def slices(machine, p, n, factors):
    """slices_by_level; with factors of 2, halving_doubling."""
    distance, t, piece, back = 1, 0., n, []
    for parts in factors:
        peers = peers_at(machine, distance, parts)
        t += piece / machine.copy + phase(machine, p, peers, piece / parts, True, 1)
        piece /= parts
        back.append((peers, piece))
        distance *= parts
    for peers, piece in reversed(back):
        t += piece / machine.copy + phase(machine, p, peers, piece, False, sum(peers))
    return max(t, memory(machine, p, n))


def bound(machine, p, n):
    """One way to the farthest rank; each core reads the vector twice, all of them from memory where it lies there."""
    far = machine.level(0, p - 1)
    rounds = (p - 1).bit_length()
    sockets = max(1, ceil(p / machine.sizes[-2]))
    t = (machine.w + 1) * machine.L[far] + machine.o * rounds
    from_memory = 2 * p * n / (machine.dram * sockets / machine.sockets) if memory(machine, p, n) else 0.
    return max(t, 2 * n / machine.core_most, from_memory)


def primes(p):
    factors, f = [], 2
    while p > 1:
        while p % f == 0:
            factors.append(f)
            p //= f
        f += 1
    return factors


def best(machine, p, n):
    """The best composition within the machine's levels: rounds of any number of groups, whole vectors or slices. All
    ranks are taken to have as many peers as rank 0, as near."""
    @functools.lru_cache(None)
    def rest(distance, pieces):   # pieces: 0 for whole vectors
        if distance >= p:
            return 0.
        end = min([size for size in machine.sizes if size > distance] + [p])
        least = math.inf
        all_parts = ceil(end / distance)
        for parts in [*range(2, min(all_parts, 33)), all_parts] if all_parts > 1 else []:
            peers, piece = peers_at(machine, distance, parts), n / max(pieces, 1)
            if pieces == 0:
                t = n / machine.copy + phase(machine, p, peers, n, True, sum(peers))
            else:
                t = (piece + piece / parts) / machine.copy + phase(machine, p, peers, piece / parts, True, 1) + \
                    phase(machine, p, peers, piece / parts, False, sum(peers))
            least = min(least, t + rest(min(distance * parts, end), pieces * parts))
        return least
    return max(min(rest(1, 0), rest(1, 1)), memory(machine, p, n))


# ---- the groups that there are: each rank with its own peers. A list of places says where groups begin, and the end

class Reads:
    """What the ranks of a round read in one direction: kinds of ranks, (peers per level, readers of what they read),
    and how many messages enter the busiest cache and the busiest socket."""

    def __init__(self, machine):
        self.machine, self.kinds, self.caches, self.sockets = machine, set(), Counter(), Counter()

    def add(self, place, peers, readers):
        self.kinds.add((peers, readers))
        if any(peers[1:]):
            self.caches[place // self.machine.sizes[0]] += sum(peers[1:])
            self.sockets[place // self.machine.sizes[-2]] += peers[-1]

    def done(self):
        """Keeps those that no other kind of rank has more to do than."""
        self.kinds = [(peers, readers) for peers, readers in self.kinds
                      if not any(other != (peers, readers) and other[1] >= readers and
                                 all(a >= b for a, b in zip(other[0], peers)) for other in self.kinds)]
        self.into_cache, self.into_socket = max(self.caches.values(), default=0), max(self.sockets.values(), default=0)
        return self

    def time(self, p, piece, combines):
        machine, sockets = self.machine, ceil(p / self.machine.sizes[-2])
        enters = self.into_cache * piece / machine.port if machine.port else 0.
        if sockets > 1:
            enters = max(enters, self.into_socket * piece / (machine.link * (sockets - 1)))
        rest = (ceil(piece / LINE) - 1) * LINE
        message = [max(machine.o + L / machine.m + rest * slowness, machine.c)
                   for L, slowness in zip(machine.L, machine.slowness)]
        longest = 0.
        for peers, readers in self.kinds if piece else []:
            far = max((level for level, count in enumerate(peers) if count), default=-1)
            if far >= 0:
                core = sum(map(operator.mul, peers, message)) + combines * sum(peers) * piece * machine.gamma
                longest = max(longest, (machine.w + 1) * machine.L[far] + (readers - 1) * machine.c + max(core, enters))
        return longest


def peers_among(machine, places, all_places):
    """Of one of all places: how many of these it reads on each level, itself left out if it is one of them."""
    if all_places[0] // machine.sizes[0] == all_places[-1] // machine.sizes[0]:
        farther = (0,) * (len(machine.sizes) - 1)
        return lambda place, is_one: (len(places) - is_one, *farther)
    near = [(size, Counter(place // size for place in places)) for size in machine.sizes]

    def of(place, is_one):
        counts = [its[place // size] for size, its in near]
        return (counts[0] - is_one, *map(operator.sub, counts[1:], counts))
    return of


class Rounds:
    """A sequence of rounds for vectors of SIZES bytes, whole or cut into slices, as far as it has been gone."""

    def __init__(self, machine, p, sizes, whole):
        self.machine, self.p, self.sizes, self.whole = machine, p, sizes, whole
        self.groups = list(range(p + 1))
        self.leads = [[place] for place in range(p)]   # of each group's slices
        self.slices, self.times = 1, [0.] * len(sizes)

    def at_least(self, n):
        """What is left to do for vectors of n bytes: a way to the farthest rank, and all bytes of what is left."""
        m, left = self.machine, n / self.slices
        if self.whole:
            return (m.w + 1) * m.L[m.level(0, self.p - 1)] + left * (1 / m.copy + 1 / m.core_most + m.gamma)
        others = 1 - self.slices / self.p
        return 2 * (m.w + 1) * m.L[m.level(0, self.p - 1)] + left / m.copy + \
            others * left * (2 / m.core_most + m.gamma)

    def parts(self, groups):
        """Of each group: numbers of the first one of the groups so far in it, and of the one behind."""
        at = [bisect.bisect_left(self.groups, place) for place in groups]
        return list(zip(at, at[1:]))

    def then(self, groups):
        """direct_by_level's round, or slices_by_level's two, that joins into these groups."""
        its = copy.copy(self)
        its.groups, parts, m = groups, self.parts(groups), self.machine
        out, back = Reads(m), Reads(m)
        if self.whole:
            for first, last in parts:
                begins = self.groups[first:last + 1]
                sizes = [b - a for a, b in zip(begins, begins[1:])]
                readers = sum(ceil(size / min(sizes)) for size in sizes) - 1   # of one in the smallest part
                for i in range(max(sizes)):
                    places = [begin + i % size for begin, size in zip(begins, sizes)]
                    of = peers_among(m, places, places)
                    for place, size in zip(places, sizes):
                        if i < size:
                            out.add(place, of(place, True), readers)
            out.done()
            its.times = [t + n / m.copy + out.time(self.p, n, True) for t, n in zip(self.times, self.sizes)]
            return its
        cut = min(last - first for first, last in parts)
        its.slices, its.leads = self.slices * cut, []
        for first, last in parts:
            leads = its.leads.append([]) or its.leads[-1]
            for places in zip(*self.leads[first:last]):   # of the same slice in all parts
                of_all, of_leaders = (peers_among(m, some, places) for some in (places, places[:cut]))
                for k, place in enumerate(places):
                    if k < cut:
                        out.add(place, of_all(place, True), 1)
                    back.add(place, of_leaders(place, k < cut), last - first - 1)
                leads += places[:cut]
        out.done(), back.done()
        its.times = []
        for t, n in zip(self.times, self.sizes):
            piece = n / its.slices
            its.times.append(t + (n / self.slices + piece) / m.copy + out.time(self.p, piece, True) +
                             back.time(self.p, piece, False))
        return its


def times_of(machine, p, sizes, whole, all_groups):
    """Of these rounds."""
    rounds = Rounds(machine, p, sizes, whole)
    for groups in all_groups:
        rounds = rounds.then(groups)
    return [max(t, memory(machine, p, n)) for t, n in zip(rounds.times, sizes)]


def joined(below, within, each, more):
    """`each` of the groups of `below` at a time, or a few more, in groups of `within`; the first ones have as many."""
    groups, at = [], 0
    for end in within[1:]:
        parts = bisect.bisect_left(below, end) - at
        made = max(1, (parts + (0 if more else each - 1)) // each)
        least, larger = divmod(parts, made)
        for i in range(made):
            groups.append(below[at])
            at += least + (i < larger if least < each else i >= made - larger)
    return groups + [below[-1]]


def best_on_groups(machine, p, sizes, least):
    """The best composition of the groups that there are: two rounds that join 2 to 12 groups within a level, then whole
    levels. `least`: what is known to be possible."""
    least = list(least)
    wanted = [i for i, n in enumerate(sizes) if least[i] > memory(machine, p, n)]   # which none is quicker than
    known = sorted({tuple([*range(0, p, size), p]) for size in machine.sizes} | {(0, p)}, key=len, reverse=True)

    def go_on(rounds, done):
        if all(t + rounds.at_least(n) >= least[i] for i, t, n in zip(which, rounds.times, rounds.sizes)):
            return
        if len(rounds.groups) <= 21:
            for i, t in zip(which, rounds.then([0, p]).times):
                least[i] = min(least[i], max(t, memory(machine, p, sizes[i])))
        seen = {tuple(rounds.groups), (0, p)}
        for within in known:
            if len(within) >= len(rounds.groups) or not set(within) <= set(rounds.groups):
                continue
            most = max(last - first for first, last in rounds.parts(within))
            some = [] if done == 2 else [joined(rounds.groups, within, each, more)
                                         for each in range(2, min(most, 12) + 1) for more in (False, True)]
            for groups in some + ([list(within)] if most <= 20 and done < 3 else []):
                if tuple(groups) not in seen:
                    seen.add(tuple(groups))
                    go_on(rounds.then(groups), done + 1)

    for whole in (True, False):
        which = [i for i in wanted if (sizes[i] <= 4096 if whole else sizes[i] >= 128)]
        go_on(Rounds(machine, p, [sizes[i] for i in which], whole), 0)
    return least
