# SPDX-License-Identifier: BSL-1.0
"""What ranks that are threads hand over under mutexes."""
from executions import exchange, load, need, read, store, write
from modelled import alone, model

threads = "transport/threads/thread_group.hpp"
alone += [("transport/memory/memory_steps.hpp", "void exchange(", "over_memory_.exchange", "seq_cst")]   # of messages


def lock(mutex):
    return exchange(mutex, "acquire", lambda v: 1, lambda v: v == 0)


def unlock(mutex):
    return exchange(mutex, "release", lambda v: 0)


def notify(condition):
    return exchange(condition, "relaxed", lambda v: v + 1)


def wait(mutex, condition):
    seen = yield exchange(condition, "relaxed", lambda v: None)
    yield unlock(mutex)
    yield exchange(condition, "relaxed", lambda v: None, lambda v: v != seen)
    yield lock(mutex)


def told(mutex, condition, *changes, alone=False, silent=False):
    """Changes under the mutex, and a notice; `alone`: without the mutex; `silent`: without the notice."""
    if not alone:
        yield lock(mutex)
    yield from changes
    if not silent:
        yield notify(condition)
    if not alone:
        yield unlock(mutex)


def receiver(o):
    yield lock("receiver's")
    while not (yield read("offered")):
        if o.gives_up and (yield load("gone", o.looks)):
            yield unlock("receiver's")
            return
        yield from wait("receiver's", "receiver woken")
    yield write("accepted", 1)
    yield unlock("receiver's")
    need((yield read("data")) == 1, "not the data that was offered")
    yield from told("sender's", "sender woken", write("taken", 1), alone=o.but == "takes without the mutex",
                    silent=o.but == "takes in silence")


def taken():
    yield lock("sender's")
    while not (yield read("taken")):
        yield from wait("sender's", "sender woken")
    yield unlock("sender's")


in_threads = [(threads, f"{function}(", "lock(d.mutex)", "")
              for function in ("void append", "parcel* accept", "void took", "void withdraw", "void wake_all")]


@model(sources=in_threads, mutants=["offers without the mutex", "takes without the mutex", "takes in silence"])
def parcels(o):
    """Threads: a message is offered under the receiver's mutex, and taken under the sender's."""
    def sender():
        yield write("data", 1)
        yield from told("receiver's", "receiver woken", write("offered", 1),
                        alone=o.but == "offers without the mutex")
        yield from taken()
        yield write("data", 2)
    o.gives_up = False
    return [sender, lambda: receiver(o)]


@model(gone="seq_cst", looks="seq_cst", enough={"gone": "relaxed", "looks": "relaxed"},
       mutants=["does not wait for the copy", "wakes without the mutex", "wakes nobody"],
       sources=[*in_threads, (threads, "void leave(", "at(rank).gone = true", "gone"),
                (threads, "bool await(", "at(peer).gone", "looks")])
def parcels_withdrawn(o):
    """Threads: the sender takes its message back, unless the receiver is copying it, and leaves."""
    def sender():
        yield write("data", 1)
        yield from told("receiver's", "receiver woken", write("offered", 1))
        yield lock("receiver's")
        accepted = yield read("accepted")
        if not accepted:
            yield write("offered", 0)
        yield unlock("receiver's")
        if accepted and o.but != "does not wait for the copy":
            yield from taken()
        yield write("data", 2)
        yield store("gone", o.gone, 1)
        if o.but != "wakes nobody":
            yield from told("receiver's", "receiver woken", alone=o.but == "wakes without the mutex")
    o.gives_up = True
    return [sender, lambda: receiver(o)]
