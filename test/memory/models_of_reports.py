# SPDX-License-Identifier: BSL-1.0
"""What ranks report of their calls in shared memory (engine/identity.hpp), and what readers conclude from it."""
from executions import fence, load, need, read, store, write
from modelled import alone, model
from models_of_channels import put_line, stamp_of

identity, identity_body = "engine/identity.hpp", "engine/identity_body.hpp"
call_body, messages_body = "transport/memory/shared_call_body.hpp", "transport/memory/shared_messages_body.hpp"
steps_body = "transport/memory/shared_steps_body.hpp"


def overwrites(o, entries, changing):
    """Words that are a number's. While they change, the number is another one."""
    for n, words in entries:
        if o.but != "the number stays while words change":
            yield store("number", o.change, changing(n))
        yield fence(o.changes)
        for word, value in words.items():
            yield store(word, o.word, value)
        yield store("number", o.number, n)


def sequence_lock(o, numbers, changing, is_valid):
    def writer():
        return overwrites(o, [(n, {"a": n, "b": n}) for n in numbers], changing)

    def reader():
        n = yield load("number", o.look)
        if not is_valid(n):
            return
        words = ((yield load("a", o.look_at_word)), (yield load("b", o.look_at_word)))
        yield fence(o.looked)
        if (yield load("number", o.look_again)) == n or o.but == "looks at the number once":
            need(words == (n, n), f"words of {words[0]} and {words[1]} for {n}")
    return [writer, reader]


locked = dict(change="relaxed", changes="fence release", word="relaxed", number="release", look="acquire",
              look_at_word="relaxed", looked="fence acquire", look_again="relaxed",
              mutants=["the number stays while words change", "looks at the number once"])
fences = "atomic_thread_fence"
enter, add = (identity, "void enter("), (identity_body, "void abandoned_calls::add(")
read_record = (identity_body, "bool rank_record::read(call_identity& identity,")
place_of = (identity_body, "std::uint32_t rank_record::place_of(")
read_type = (identity_body, "bool rank_record::read(report& into)")
find, reason = (identity_body, "abandoned_calls::find("), (identity_body, "std::string abandoned_calls::reason(")
put_notice, get_notice = (identity_body, "void rank_notice::put("), (identity_body, "noted_call rank_notice::get(")
letters = [(identity_body, "void write_letters(", "to[i].store", "word"),
           (identity_body, "std::string read_letters(", "part.load", "look_at_word")]
words = ["type", "what", "n", "element_size", "algorithm[i]", "before"]


@model(**locked, sources=[
    (*enter, "e.number.store", "change number"), (*enter, fences, "changes"),
    *[(*enter, f"e.{word}.store", "word") for word in words],
    (*read_record, "e.number.load", "look look_again"), (*read_record, fences, "looked"),
    *[(*read_record, f"e.{word}.load", "look_at_word") for word in words]])
def records(o):
    """The reports of calls 1 and 9, which have the same place."""
    return sequence_lock(o, (1, 9), lambda n: n - 1, lambda n: n in (1, 9))


@model(**locked, sources=[
    *letters, (*place_of, "type.number.store", "change number"), (*place_of, fences, "changes"),
    (*read_type, "type.number.load", "look look_again"), (*read_type, fences, "looked")])
def types(o):
    """The names of element types 8 and 16, which have the same place."""
    return sequence_lock(o, (8, 16), lambda n: n - 1, lambda n: n in (8, 16))


@model(**locked | {"mutants": [*locked["mutants"], "replaces the reason of a call"]}, sources=[
    *letters, (*add, "if (last(e) == number) return;", ""),
    (*add, "oldest->number.store", "change number"), (*add, fences, "changes"),
    (*add, "oldest->first.store", "word"), (*find, "e.number.load", "look look_again"), (*find, fences, "looked"),
    (*find, "e.first.load", "look_at_word"), (*reason, fences, "looked"),
    (*reason, "number.load", "look_again")])
def abandoned(o):
    """Entries 10 and 20, which have the same place: which call is the first one, and then the reason."""
    entries = [(20 if o.but == "replaces the reason of a call" else 10, "x"), (20, "y")]

    def writer():
        return overwrites(o, [(n, {"first": n, "why": why, "more": why}) for n, why in entries], lambda n: 0)

    def reader():
        last = yield load("number", o.look)
        first = yield load("first", o.look_at_word)
        yield fence(o.looked)
        if last == 0 or ((yield load("number", o.look_again)) != last and o.but != "looks at the number once"):
            return
        need(first == last, f"the first call of {first} for {last}")
        why, more = (yield load("why", o.look_at_word)), (yield load("more", o.look_at_word))
        yield fence(o.looked)
        if (yield load("number", o.look_again)) == last or o.but == "looks at the number once":
            need(why == more and (last, why) in entries, f"the reason {why}{more} for {last}")
    return [writer, reader]


@model(**locked, sources=[
    (*put_notice, "version_.store", "change number"), (*put_notice, fences, "changes"),
    (*put_notice, "words_[i].store", "word"), (*get_notice, "version_.load", "look look_again"),
    (*get_notice, fences, "looked"), (*get_notice, "words_[i].load", "look_at_word")])
def notices(o):
    """The notices 2 and 4; odd ones are being written."""
    return sequence_lock(o, (2, 4), lambda n: n - 1, lambda n: n % 2 == 0)


@model(listed="release", is_listed="acquire", mutants=["lists the call first", "looks for the reason first"], sources=[
    (*add, "numbers_.size()].store", "listed"),
    (identity_body, "bool abandoned_calls::is_listed(", "one.load", "is_listed"),
    (*reason, "bool const listed = is_listed(number);", "")])
def listed(o):
    """A rank gives its reason before it lists the call."""
    def writer():
        if o.but == "lists the call first":
            yield store("list", o.listed, 1)
        yield store("reason", "relaxed", 1)
        if o.but != "lists the call first":
            yield store("list", o.listed, 1)

    def reader():
        early = o.but == "looks for the reason first"
        if early:
            reason_there = yield load("reason", "relaxed")
        is_there = yield load("list", o.is_listed)
        if not early:
            reason_there = yield load("reason", "relaxed")
        need(not is_there or reason_there, "a call is listed, and no reason is there")
    return [writer, reader]


is_hopeless = (messages_body, "bool shared_messages::is_hopeless(")


@model(number="release", latest="acquire", mutants=["looks for the message first"],
       sources=[(*enter, "e.number.store", "- number"),
                (identity_body, "std::uint32_t rank_record::latest(", "number.load", "latest latest"),
                (*is_hopeless, "bool const left = has_left(alone->message.from, alone->message.tag)", ""),
                (*is_hopeless, "has_left(o.peer) && !has_passed(o)", ""),
                (*is_hopeless, "(has_left(i.what.peer, message(i).tag) || i.from->has_news(tag_)) && !has_come(i)",
                 "")])
def gone_on(o):
    """A rank has sent a message of call 1 before it reports call 2."""
    def peer():
        yield store("stamp", "relaxed", 1)
        yield store("latest", o.number, 2)

    def waiter():
        if o.but:
            stamp = yield load("stamp", "relaxed")
        latest = yield load("latest", o.latest)
        if not o.but:
            stamp = yield load("stamp", "relaxed")
        need(latest != 2 or stamp == 1, "it has gone on, and no message is there")
    return [peer, waiter]


@model(stamp="release", heard="acquire", number="release", latest="acquire", mutants=["does not wait for the report"],
       sources=[(*put_line, "stamp"), (*stamp_of, "heard"), (*enter, "e.number.store", "- number"),
                (identity_body, "std::uint32_t rank_record::latest(", "number.load", "latest latest"),
                (call_body, "bool shared_call::follows(", "while (!is_known && !has_reported)", ""),
                (steps_body, "void shared_steps::begin_playing(", "play_put(*next", ""),
                (steps_body, "void shared_steps::begin_playing(", "report(number, *now.of)", "")],
       enough={"number": "relaxed", "latest": "relaxed"})
def played(o):
    """A rank plays a call: its first message is there before its report. Another rank makes a different call."""
    def peer():
        yield write("payload", 1)
        yield store("stamp", o.stamp, "of another call")
        yield store("number", o.number, 1)

    def hears():
        yield load("stamp", o.heard, bool)
        yield read("payload")
        reported = lambda v: v == 1 or o.but is not None
        need((yield load("number", o.latest, reported)) == 1, "it takes the message, and no report is there")
    return [peer, hears]


alone += [   # of its own
    (*enter, "latest_type_.load", "relaxed"), (*enter, ".name.load", "relaxed"),
    (*place_of, ".name.load", "relaxed"), (*place_of, "types_[which].number.load", "relaxed"),
    (*place_of, "newest_type_.load", "relaxed"), (*place_of, "newest_type_.store", "relaxed"),
    (*place_of, "type.name.store", "relaxed"), (*place_of, "latest_type_.store", "relaxed"),
    (*add, "count_.load", "relaxed"), (*add, "count_.store", "relaxed"),
    (identity_body, "bool abandoned_calls::may_have_forgotten(", "count_.load", "relaxed"),
    (identity_body, "bool abandoned_calls::may_have_forgotten(", "one.load", "relaxed"),
    (identity_body, "void abandoned_calls::forget_before(", "one.load", "relaxed"),
    (identity_body, "void abandoned_calls::forget_before(", "one.store", "relaxed"),
    (*add, "e.number.load", "relaxed"), (*add, "e.first.load", "relaxed"), (*put_notice, "version_.load", "relaxed"),
    # A hint of another rank: who sees it late frees a communicator that it might have kept.
    (identity, "bool are_any(", "count_.load", "relaxed"),
]
