# SPDX-License-Identifier: BSL-1.0
"""What ranks hand over through channels in shared memory: lines, chunks, messages in place, and where they are."""
from executions import choose, exchange, load, need, read, store, write
from modelled import alone, model

channel, host, host_body = (f"transport/memory/shared_{name}.hpp" for name in ("channel", "host", "host_body"))
put_lines = (channel, "void put_lines(", "line.stamp.store")
put_line = (channel, "void put_line(", "line.stamp.store")
stamp_of, poll = (channel, "std::uint64_t stamp_of(", "stamp.load"), (channel, "bool poll(", "stamp.load")


@model(stamp="release", polled="acquire", heard="acquire", report="release", room="acquire",
       enough={"polled": "relaxed"},
       sources=[(*put_lines, "stamp stamp"), (*put_line, "stamp"), (*stamp_of, "heard"), (*poll, "polled"),
                (channel, "void took(std::uint32_t lines)", "back_->lines.store", "report"),
                (channel, "bool has_room_for(", "back.lines.load", "room")])
def lines(o):
    """A channel of two lines, of which the reader reports each."""
    def writer():
        for n in range(4):
            if n >= 2:
                yield load("lines", o.room, lambda v: v >= n - 1)
            yield write(f"payload {n % 2}", n)
            yield store(f"stamp {n % 2}", o.stamp, n + 1)

    def reader():
        for n in range(4):
            for order in (o.polled, o.heard):
                yield load(f"stamp {n % 2}", order, lambda v: v == n + 1)
            need((yield read(f"payload {n % 2}")) == n, f"line {n} holds another one's data")
            yield store("lines", o.report, n + 1)
    return [writer, reader]


@model(stamp="release", heard="acquire", again="relaxed", mutants=["acknowledges before it has read"],
       sources=[(*put_lines, "stamp stamp"), (*put_line, "stamp"), (*stamp_of, "heard"),
                (channel, "void took(std::uint32_t lines)", "stamp.load", "again")])
def acknowledgements(o):
    """Two channels of one line between two ranks: each stamp says how many lines its writer has taken."""
    def rank(mine, other, first):
        def run():
            taken = told = heard = 0
            for n in range(3):
                early = o.but == "acknowledges before it has read"
                for sends in (first, not first):
                    if sends:
                        need(n - heard < 1, "the line is not free")
                        yield write(f"payload of {mine}", n)
                        yield store(f"stamp of {mine}", o.stamp, (n + 1, taken - told))
                        told = taken
                    else:
                        stamp = yield load(f"stamp of {other}", o.heard, lambda v: v and v[0] == n + 1)
                        if early and not first:
                            yield write(f"payload of {mine}", n)
                            yield store(f"stamp of {mine}", o.stamp, (n + 1, 1))
                        need((yield read(f"payload of {other}")) == n, "the line holds another one's data")
                        need((yield load(f"stamp of {other}", o.again)) == stamp, "the stamp has changed")
                        taken, heard = taken + 1, heard + stamp[1]
                        if early and not first:
                            told = taken
                            break
        return run
    return [rank("a", "b", True), rank("b", "a", False)]


@model(clear="relaxed", ready="release", is_ready="acquire", taken="release", room="acquire",
       mutants=["clears the next header after the announcement", "does not clear"],
       sources=[(channel, "void begin(chunk_label", "ready.store", "clear"),
                (channel, "void announce(", "chunk.ready.store", "ready"),
                (channel, "bool is_ready(", "ready.load", "is_ready"),
                (channel, "void release(", "back_->taken.store", "taken"),
                (channel, "std::uint64_t least(", ".load", "room room")])
def chunks(o):
    """A ring that holds three chunks of two parts, and two readers. The header of a chunk is its flag."""
    def writer():
        for k in range(4):
            for r in range(2):
                if k >= 2:
                    yield load(f"taken by {r}", o.room, lambda v: v >= k - 1)
            clears = store(f"ready {(k + 1) % 3}", o.clear, 0)
            if not o.but:
                yield clears
            yield write(f"label {k % 3}", k)
            for part in (1, 2):
                yield write(f"part {part} of {k % 3}", k)
                yield store(f"ready {k % 3}", o.ready, part)
            if o.but == "clears the next header after the announcement":
                yield clears

    def reader(r):
        def run():
            for k in range(4):
                for part in (1, 2):
                    yield load(f"ready {k % 3}", o.is_ready, lambda v: v >= part)
                    need((yield read(f"label {k % 3}")) == k, f"the header of chunk {k} is another one's")
                    need((yield read(f"part {part} of {k % 3}")) == k, f"chunk {k} holds another one's data")
                yield store(f"taken by {r}", o.taken, k + 1)
        return run
    return [writer, reader(0), reader(1)]


@model(published="release", seen="acquire",
       sources=[(host_body, "std::byte* shared_host::ring_of(sender", "->ring.store", "published"),
                (host_body, "std::byte const* shared_host::ring_of(receiver", "->ring.load", "seen")])
def rings(o):
    """The writer makes a ring, whose first header says that nothing is there."""
    def writer():
        yield write("header", 1)
        yield store("ring", o.published, 1)

    def reader():
        if (yield load("ring", o.seen)):
            need((yield read("header")) == 1, "the ring has no header")
    return [writer, reader]


def first_come(o):
    """Two ranks need the same thing, and the first one makes it."""
    def rank(i):
        def run():
            known = yield load("address", o.seen)
            if known == 0:
                yield write(f"made by {i}", 1)
                known = (yield exchange("address", o.published, lambda v: None if v else i)) or i
            need((yield read(f"made by {known}")) == 1, "it has not been made")
        return run
    return [rank(1), rank(2)]


@model(seen="acquire", published="acq_rel",
       sources=[(host_body, "channel_front& shared_host::front(", "addresses.front.load", "seen"),
                (host_body, "channel_front& shared_host::front(", "addresses.front.compare_exchange_strong",
                 "published")])
def fronts(o):
    return first_come(o)


@model(seen="acquire", published="acq_rel",
       sources=[(host_body, "shared_host::record_of(", "entry.load", "seen"),
                (host_body, "shared_host::record_of(", "entry.compare_exchange_strong", "published")])
def reader_groups(o):
    return first_come(o)


@model(stamp="release", heard="acquire", refused="relaxed", read="release", all_read="acquire", is_refused="relaxed",
       mutants=["refuses after it has counted"],
       sources=[(*put_line, "stamp"), (*stamp_of, "heard"), (channel, "void has_read(", "back_->read.store", "read"),
                (channel, "void refuse(", "back_->refused.store", "refused"),
                (channel, "std::uint64_t least(", ".load", "all_read all_read"),
                (channel, "bool is_refused_by(", "refused.load", "is_refused")])
def in_place(o):
    """A message is offered where it is; its reader reads it there, or refuses."""
    def writer():
        yield write("data", 1)
        yield store("stamp", o.stamp, 1)
        yield load("read", o.all_read, lambda v: v == 1)
        refused = yield load("refused", o.is_refused)
        need(refused == (yield read("what the reader did")), "the writer does not know that it was refused")
        yield write("data", 2)

    def reader():
        yield load("stamp", o.heard, lambda v: v == 1)
        refuses = yield choose(2)
        if not refuses:
            need((yield read("data")) == 1, "not the data that was offered")
        yield write("what the reader did", refuses)
        late = o.but == "refuses after it has counted"
        if refuses and not late:
            yield store("refused", o.refused, 1)
        yield store("read", o.read, 1)
        if refuses and late:
            yield store("refused", o.refused, 1)
    return [writer, reader]


@model(withdrawn="seq_cst", sees_reading="seq_cst", reading="seq_cst", sees_withdrawn="seq_cst", done="seq_cst",
       enough={"done": "release"}, mutants=["looks before it says that it reads"],
       sources=[(channel, "void withdraw(", "front_->withdrawn.store", "withdrawn"),
                (channel, "void withdraw(", "backs_[k].reading", "sees_reading"),
                (host, "bool receiver::read(", "back_->reading = true", "reading"),
                (host, "bool receiver::read(", "front_->withdrawn <= read_", "sees_withdrawn"),
                (host, "bool receiver::read(", "back_->reading = false", "done")])
def withdrawn(o):
    """A sender gives up a message while its reader may be reading it in place."""
    def writer():
        yield store("withdrawn", o.withdrawn, 1)
        yield load("reading", o.sees_reading, lambda v: v == 0)
        yield write("data", 2)

    def reader():
        early = o.but == "looks before it says that it reads"
        gone = early and (yield load("withdrawn", o.sees_withdrawn))
        yield store("reading", o.reading, 1)
        if not early:
            gone = yield load("withdrawn", o.sees_withdrawn)
        if not gone:
            yield read("data")
        yield store("reading", o.done, 0)
    return [writer, reader]


@model(left="acq_rel", all_left="acquire", enough={"left": "release"},
       sources=[("bootstrap/mpi_shared_body.hpp", "mpi_shared::~mpi_shared()", "left.fetch_add", "left"),
                ("transport/memory/arena_body.hpp", "void arena::collect()", "left->load", "all_left")])
def segments(o):
    """The owner of a part uses it again when two ranks have left it."""
    def rank():
        yield read("part")
        yield exchange("left", o.left, lambda v: v + 1)

    def owner():
        yield load("left", o.all_left, lambda v: v == 2)
        yield write("part", 1)
    return [rank, rank, owner]


alone += [
    # Hints: how long chunks have taken.
    (channel, "void took(std::size_t bytes, std::uint64_t cycles) {\n    bool", "cost[streams].store", "relaxed"),
    (host, "way_to_take sender::next_store(", "cost[streams].load", "relaxed"),
    # Only for the clock: short chunks may still be in the store buffer.
    ("transport/memory/shared_messages_body.hpp", "bool shared_messages::put_chunk(", "atomic_thread_fence", "seq_cst"),
]
