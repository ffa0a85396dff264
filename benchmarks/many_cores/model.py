# SPDX-License-Identifier: BSL-1.0
"""What an all_reduce over the memory of one host with many cores costs, by a model: see README.md.

Times in ns, rates in bytes per ns (GB/s). Levels: ranks that share a cache, a socket, the host. A message is k lines.
"""
import functools
import heapq
import math
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


def slices(machine, p, n, factors, cut=None):
    """slices_by_level; with factors of 2, halving_doubling. `cut`: into so many slices, where groups differ."""
    distance, t, piece, back = 1, 0., n, []
    for parts, into in zip(factors, cut or factors):
        peers = peers_at(machine, distance, parts)
        t += piece / machine.copy + phase(machine, p, peers, piece / into, True, 1)
        piece /= into
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
    """The best composition within the machine's levels: rounds of any number of groups, whole vectors or slices."""
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
