// SPDX-License-Identifier: BSL-1.0
// Traces of ranks that are threads, read back as a viewer would read them.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <colligo/colligo.hpp>
#include <colligo/tools/draw.hpp>
#include <colligo/trace.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "../locales.hpp"
#include "../trace_check.hpp"
#include "../well_formed.hpp"

using namespace colligo;

namespace {

// One all_reduce of n ints on p ranks, traced by hand.
template <class Algorithm>
std::vector<trace_log> traced_all_reduce(int p, std::size_t n, Algorithm const& algorithm, std::size_t most = 10000) {
  std::vector<trace_log> logs;
  logs.reserve(static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r) logs.emplace_back(r, most);
  run_threads(p, [&](thread_communicator& comm) {
    std::vector<int> const in(n, comm.rank());
    std::vector<int> out(n);
    {
      tracing const here(comm, logs[static_cast<std::size_t>(comm.rank())]);
      colligo::all_reduce(comm, in, out, std::plus<>{}, algorithm);
    }
    colligo::barrier(comm);   // not in the trace
    if (out != std::vector(n, p * (p - 1) / 2)) throw std::runtime_error("a traced sum is wrong");
  });
  return logs;
}

checked_trace read_back(std::vector<trace_log> const& logs) {
  std::stringstream file;
  write_chrome_trace(file, logs);
  return checked_trace(file);
}

std::size_t sent_bytes(checked_trace const& t) {
  std::size_t sum = 0;
  for (auto const& step : t.steps)
    for (auto const& o : step.at("args").at("operands"))
      if (o.at("kind") == "send") sum += o.at("bytes").get<std::size_t>();
  return sum;
}

}  // namespace

TEST_CASE("a trace is the schedule with times") {
  for (int const p : {1, 2, 5, 8})
    for (char const* const name : {"ring", "halving_doubling", "binary_blocks", "circulant", "census"}) {
      INFO(name << ", p = " << p);
      auto const trace = read_back(traced_all_reduce(p, 40, named(name)));
      auto const schedule = record<int>(named(name), collective::all_reduce, p, 40);
      std::size_t steps = 0, elements = 0;
      for (int r = 0; r < p; ++r) steps += schedule.steps_of(r).size();
      for (message const& m : schedule.messages_in_order()) elements += m.sent.elements.size();
      CHECK(trace.rows.size() == static_cast<std::size_t>(p));
      CHECK(trace.rows.at(p - 1) == "rank " + std::to_string(p - 1));
      CHECK(trace.calls.size() == static_cast<std::size_t>(p));
      CHECK(trace.calls[0].at("name") == "all_reduce " + std::string(name));
      CHECK(trace.calls[0].at("args").at("elements") == 40);
      CHECK(trace.calls[0].at("args").at("bytes") == 160);
      CHECK(trace.steps.size() == steps);
      CHECK(trace.sends == schedule.total_messages());
      CHECK(trace.receives == schedule.total_messages());
      CHECK(trace.arrows == schedule.total_messages());
      CHECK(sent_bytes(trace) == elements * sizeof(int));
      CHECK(trace.dropped == 0);
    }
}

TEST_CASE("a log that is full drops what comes later, and says how much") {
  auto const whole = traced_all_reduce(4, 40, ring{}), cut = traced_all_reduce(4, 40, ring{}, 11);
  std::size_t missing = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    // The call, and three steps of one send and one receive: a fourth would make 13.
    CHECK(cut[r].events().size() == 10);
    CHECK(cut[r].dropped() == whole[r].events().size() - 10);
    missing += cut[r].dropped();
  }
  auto const trace = read_back(cut);
  CHECK(trace.dropped == missing);
  CHECK(trace.sends == 12);
  CHECK(trace.arrows == 12);
  trace_log log(0, 4);
  for (std::size_t const events : {2u, 3u, 2u}) log.add_step(std::vector<trace_event>(events));
  CHECK(log.events().size() == 2);   // the third step would fit, but its messages would be taken for the second's
  CHECK(log.dropped() == 5);
}

TEST_CASE("messages match within their communicator, in order, and only if both ends are there") {
  auto const step = [](trace_event::kind kind, int peer, std::uint64_t communicator, std::uint64_t bytes) {
    trace_event e{.what = trace_event::kind::step, .communicator = communicator};
    std::vector<trace_event> both(2, e);
    both[1].what = kind, both[1].peer = peer, both[1].bytes = bytes;
    return both;
  };
  using kind = trace_event::kind;
  std::vector<trace_log> logs;
  logs.reserve(2);
  logs.emplace_back(0, 100), logs.emplace_back(1, 100);
  for (auto const& [communicator, bytes] : {std::pair(1u, 10u), {2u, 20u}, {1u, 30u}, {1u, 40u}})
    logs[0].add_step(step(kind::send, 1, communicator, bytes));
  for (auto const& [communicator, bytes] : {std::pair(2u, 20u), {1u, 10u}, {1u, 30u}})
    logs[1].add_step(step(kind::fold, 0, communicator, bytes));
  auto const all = messages_of(logs);
  REQUIRE(all.size() == 3);
  for (traced_message const& m : all) CHECK((m.from == 0 && m.to == 1 && m.sent.bytes == m.received.bytes));
}

TEST_CASE("what goes through shared memory is marked") {
  for (bool const memory : {false, true}) {
    auto const logs = traced_all_reduce(3, 30, named(memory ? "ring@shared_memory" : "ring@messages"));
    std::size_t const messages = record(ring{}, collective::all_reduce, 3, 30).total_messages();
    std::ostringstream picture, events;
    write_timeline(picture, logs);
    write_chrome_trace(events, logs);
    CHECK(fault_in_xml(picture.str()) == "");
    CHECK(occurrences(picture.str(), ", through shared memory<") == (memory ? messages : 0));
    char const* const way = memory ? "\"through\":\"shared memory\"" : "\"through\":\"messages\"";
    CHECK(occurrences(events.str(), way) == 2 * messages);
  }
}

TEST_CASE("a timeline folds long stretches without a call, and its words do not overlap") {
  std::vector<trace_event> events;
  for (std::int64_t const begin : {0, 300, 50'000'000, 50'000'200}) {   // the latter two are requests that overlap
    trace_event e{.what = trace_event::kind::call, .call_of = collective::barrier,
                  .call = static_cast<std::uint32_t>(begin), .begin = begin, .end = begin + 250};
    e.algorithm[0] = 'd';
    events.push_back(e);
  }
  std::vector<trace_log> logs;
  logs.emplace_back(0, events, 0);
  std::ostringstream file;
  write_timeline(file, logs);
  std::string const picture = file.str();
  CHECK(fault_in_xml(picture) == "");
  CHECK(occurrences(picture, ">idle 50 ms<") == 1);   // not the 50 ns between the first two
  CHECK(occurrences(picture, "<title>barrier d") == 4);
  CHECK(occurrences(picture, ">barrier d<") == 4);
  events[2].algorithm = {'d', 'i', 's', 's', 'e', 'm', 'i', 'n', 'a', 't', 'i', 'o', 'n'};
  for (std::size_t i = 2; i < 4; ++i) events[i].end = events[i].begin + 1000;
  events[3].begin = events[2].begin + 40;
  logs.clear(), logs.emplace_back(0, events, 0);
  std::ostringstream again;
  write_timeline(again, logs);
  CHECK(occurrences(again.str(), ">barrier dissemination<") == 1);
  CHECK(occurrences(again.str(), ">barrier d<") == 3);   // the fourth has a lane of its own
}

TEST_CASE("requests have their steps and arrows, each in a lane of its own while they overlap") {
  constexpr int p = 4;
  std::vector<trace_log> logs;
  logs.reserve(p);
  for (int r = 0; r < p; ++r) logs.emplace_back(r, 1000);
  std::atomic<int> started = 0;
  run_threads(p, [&](thread_communicator& comm) {
    tracing const here(comm, logs[static_cast<std::size_t>(comm.rank())]);
    std::vector<int> const in(40, comm.rank());
    std::vector<int> one(40), other(40);
    auto first = iall_reduce(comm, in, one, std::plus<>{}, over_messages{ring{}});
    auto second = iall_reduce(comm, in, other, std::plus<>{}, halving_doubling{});
    for (++started; started < p;) std::this_thread::yield();   // both of everybody
    second.wait(), first.wait();
    if (one != other || one != std::vector(40, 6)) throw std::runtime_error("the sum of a traced request is wrong");
  });
  auto const count = [](auto const& tag) { return record(tag, collective::all_reduce, p, 40).total_messages(); };
  std::size_t const messages = count(ring{}) + count(halving_doubling{});
  auto const trace = read_back(logs);
  CHECK(trace.calls.size() == 2 * p);
  CHECK(trace.sends == messages);
  CHECK(trace.arrows == messages);
  CHECK(trace.rows.size() > p);
  CHECK(trace.rows.at(1'000'000) == "rank 0, at the same time");
  std::ostringstream picture;
  write_timeline(picture, logs);
  CHECK(fault_in_xml(picture.str()) == "");
  CHECK(occurrences(picture.str(), "<title>rank ") == messages);
  CHECK(occurrences(picture.str(), ", through shared memory<") == count(halving_doubling{}));
}

TEST_CASE("a trace tells how much of a step is combining") {
  static constexpr std::int64_t slow = 200'000;   // nanoseconds at least
  auto const sum = as_commutative([](int a, int b) {
    auto const until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(slow);
    while (std::chrono::steady_clock::now() < until) {}
    return a + b;
  });
  std::vector<trace_log> logs;
  logs.reserve(2);
  logs.emplace_back(0, 100), logs.emplace_back(1, 100);
  run_threads(2, [&](thread_communicator& comm) {
    tracing const here(comm, logs[static_cast<std::size_t>(comm.rank())]);
    std::vector<int> const in(4, 1);
    std::vector<int> out(4);
    colligo::all_reduce(comm, in, out, sum, ring{});
    colligo::iall_reduce(comm, in, out, sum, ring{}).wait();
    if (out != std::vector(4, 2)) throw std::runtime_error("a traced sum is wrong");
  });
  for (trace_log const& log : logs) {
    REQUIRE(log.events().size() == 2 * 7);   // the call, a step that folds, one that receives, two operands each
    for (std::size_t i = 0; i < log.events().size(); i += 7) {
      auto const& [call, folds, receives] = std::tie(log.events()[i], log.events()[i + 1], log.events()[i + 4]);
      CHECK(folds.combining >= 2 * slow);
      CHECK(folds.combining <= folds.end - folds.begin);
      CHECK(receives.combining == 0);
      CHECK(call.combining == folds.combining);
    }
  }
  std::ostringstream picture;
  write_timeline(picture, logs);
  CHECK(occurrences(picture.str(), ", else waiting and moving") == 3 * 2 * 2);   // call, step, its share
}

TEST_CASE("a timeline has times in units that fit, and of a long program the calls alone") {
  auto const whole = traced_all_reduce(3, 40, ring{});
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (trace_log const& log : whole)
    for (trace_event const& e : log.events()) first = std::min(first, e.begin), last = std::max(last, e.end);
  auto const pictured = [&](double ns, std::size_t times) {   // the whole program takes ns, however fast the machine is
    double const stretched = ns / static_cast<double>(std::max<std::int64_t>(last - first, 1));
    auto const moved = [&](std::int64_t time) {
      return static_cast<std::int64_t>(static_cast<double>(time - first) * stretched);
    };
    std::vector<trace_log> logs;
    for (trace_log const& log : whole) {
      std::vector<trace_event> events;
      for (std::size_t k = 0; k < times; ++k)
        for (trace_event e : log.events()) {
          e.begin = moved(e.begin), e.end = moved(e.end), e.call += static_cast<std::uint32_t>(k);
          events.push_back(e);
        }
      logs.emplace_back(log.row(), events, 0);
    }
    std::ostringstream picture;
    write_timeline(picture, logs);
    CHECK(fault_in_xml(picture.str()) == "");
    return picture.str();
  };
  std::string const one = pictured(2e4, 1), slow = pictured(2e10, 1), many = pictured(2e4, 100);
  std::regex const title(">3 ranks, [0-9.]+ us<"), in_seconds(">3 ranks, [0-9.]+ s<");
  CHECK(std::regex_search(one, title));
  CHECK(std::regex_search(slow, in_seconds));
  std::size_t const messages = record(ring{}, collective::all_reduce, 3, 40).total_messages();
  CHECK(occurrences(one, "<title>rank ") == messages);
  CHECK(occurrences(one, "ui.perfetto.dev") == 0);
  CHECK(occurrences(many, "<title>rank ") == 0);
  CHECK(occurrences(many, "<title>all_reduce ring") == 3 * 100);
  CHECK(occurrences(many, "ui.perfetto.dev") == 1);
  // No arrow goes through a label: labels are drawn after all arrows, each on a box of its own.
  auto const last_arrow = one.rfind("<title>rank ");
  std::string const behind = one.substr(last_arrow), label = "class='small'>all_reduce";
  CHECK(occurrences(behind, label) == occurrences(one, label));
}

TEST_CASE("a timeline says what is not in it") {
  auto const whole = traced_all_reduce(4, 40, ring{});
  std::vector<trace_log> logs;
  for (trace_log const& log : whole) {
    auto const first = log.events().begin();   // of rank 0 the call and a step
    logs.emplace_back(log.row(), std::vector(first, log.row() == 0 ? first + 4 : log.events().end()),
                      log.row() == 0 ? 12 : 0);
  }
  std::ostringstream picture;
  write_timeline(picture, logs);
  CHECK(occurrences(picture.str(), ", 12 later events dropped, 10 messages of which one end is missing<") == 1);
  CHECK(occurrences(picture.str(), ">12 dropped<") == 1);
  CHECK(occurrences(picture.str(), "<title>from here on this rank's events were dropped<") == 1);
}

TEST_CASE("a call that throws is in the trace, with the step in which it threw") {
  std::vector<trace_log> logs;
  logs.reserve(2);
  logs.emplace_back(0, 100), logs.emplace_back(1, 100);
  CHECK_THROWS_AS(run_threads(2, [&](thread_communicator& comm) {
    tracing const here(comm, logs[static_cast<std::size_t>(comm.rank())]);
    colligo::all_reduce(comm, 1, [](int, int) -> int { throw std::domain_error("no sum"); }, recursive_doubling{});
  }), std::domain_error);
  CHECK(logs[0].events().size() == 4);
  CHECK(read_back(logs).arrows == 2);
}

TEST_CASE("COLLIGO_TRACE: a file for every group of threads, as the name says, and a reason where there is none") {
  auto const run = [] {
    run_threads(3, [](thread_communicator& comm) {
      std::vector<double> v(30, comm.rank());
      colligo::all_reduce(comm, in_place(v), std::plus<>{}, ring{});
      colligo::broadcast(comm, v, 1, binary_tree{});
      if (v != std::vector<double>(30, 3)) throw std::runtime_error("a traced sum is wrong");
    });
  };
  ::setenv("COLLIGO_TRACE", "threads_trace.json", 1);
  run(), run();
  for (char const* const name : {"threads_trace.json", "threads_trace.2.json"}) {
    std::ifstream file(name);
    checked_trace const trace(file);
    CHECK(trace.rows.size() == 3);
    CHECK(trace.calls.size() == 6);
    CHECK(trace.arrows == record(ring{}, collective::all_reduce, 3, 30).total_messages() + 2);
    file.close();
    std::remove(name);
  }
  ::setenv("COLLIGO_TRACE", "threads_trace.svg", 1);
  run();
  std::ifstream file("threads_trace.3.svg");
  std::string const picture(std::istreambuf_iterator<char>(file), {});
  CHECK(fault_in_xml(picture) == "");
  CHECK(occurrences(picture, "text-anchor='end'>rank ") == 3);
  CHECK(occurrences(picture, "<title>all_reduce ring") == 3);
  CHECK(occurrences(picture, "<title>rank ") == record(ring{}, collective::all_reduce, 3, 30).total_messages() + 2);
  std::remove("threads_trace.3.svg");
  ::setenv("COLLIGO_TRACE", "no_such_folder/trace.json", 1);
  CHECK_NOTHROW(run());
  // Without a reader, opening a FIFO would wait: this test reads, and gets nothing.
  char const* const fifo = "threads_trace.5.json";
  REQUIRE(::mkfifo(fifo, 0600) == 0);
  int const reader = ::open(fifo, O_RDONLY | O_NONBLOCK);
  ::setenv("COLLIGO_TRACE", "threads_trace.json", 1);
  CHECK_NOTHROW(run());
  char any = 0;
  CHECK(::read(reader, &any, 1) == 0);
  ::close(reader), std::remove(fifo);
  ::unsetenv("COLLIGO_TRACE");
  CHECK_NOTHROW(run());
  CHECK_FALSE(std::ifstream("threads_trace.6.json"));
}

TEST_CASE("what is written for others to read is the same in every locale") {
  auto logs = traced_all_reduce(12, 4000, ring{});
  logs[0].shift(-1'000'000'000);   // a fold, whose length is a decimal
  auto const all = [&] {
    std::ostringstream texts;   // of the global locale
    write_chrome_trace(texts, logs);
    write_timeline(texts, logs);
    auto const schedule = record(ring{}, collective::all_reduce, 12, 4000);
    auto const chain = trees::chain(12);
    texts << schedule << draw(schedule) << chain << draw(chain);
    run_threads(12, [&](thread_communicator& comm) {
      auto const mine = explain<double>(comm, collective::all_reduce, 4000, std::plus<>{});
      if (comm.rank() == 0) texts << mine;
    });
    return std::move(texts).str();
  };
  std::string const before = all();
  CHECK(occurrences(before, ">idle ") == 1);
  other_locales const here;
  CHECK(all() == before);
}
