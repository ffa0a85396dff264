// SPDX-License-Identifier: BSL-1.0
// What goes wrong among ranks that are threads, over their messages and over the memory that they share.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <colligo/colligo.hpp>
#include <colligo/transport/memory/shared_host.hpp>
#include <colligo/transport/threads/thread_state.hpp>

#include "on_stderr.hpp"

// The system's own, which starts no thread more when none are left.
static std::atomic<int> threads_left = -1;
extern "C" int pthread_create(pthread_t* made, pthread_attr_t const* attributes, void* (*run)(void*), void* with) {
  static auto const create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left == 0) return EAGAIN;
  if (threads_left > 0) --threads_left;
  return create(made, attributes, run, with);
}

namespace {

using namespace colligo;
using namespace std::chrono_literals;

/// Which ranks have been combined, in what order.
struct word {
  std::uint8_t length = 0;
  std::array<char, 7> letters{};
  std::string text() const { return {letters.begin(), letters.begin() + length}; }
};
word letter(int rank) { return {1, {static_cast<char>('a' + rank)}}; }
struct joining {
  word operator()(word const& a, word const& b) const {
    word both = a;
    for (std::uint8_t i = 0; i < b.length && both.length < both.letters.size(); ++i)
      both.letters[both.length++] = b.letters[i];
    return both;
  }
};

/// Rank 0 combines in one step what the others send for ranges that overlap.
struct overlapping {
  static constexpr std::string_view name = "overlapping";

  template <class T, class Op>
  struct reduce {
    static constexpr bool ordered = true;

    template <steps Step>
    constexpr void operator()(Step& step, range all, int) const {
      range const third[] = {{0, all.last / 3}, {all.last / 3, all.last / 3 * 2}, {all.last / 3 * 2, all.last}};
      range const low{0, third[1].last}, high{third[1].first, all.last};
      switch (step.rank()) {
        case 0: return step(fold{3, low}, fold{1, high}, fold{2, all}, fold{4, all}, fold{5, {third[2], third[0]}});
        case 1: return step(send{0, high});
        case 3: return step(send{0, low});
        case 5: return step(send{0, {third[2], third[0]}});
        default: return step(send{0, all});
      }
    }
  };
};

detail::shared_host& memory_of(thread_communicator& comm) {
  return *static_cast<detail::thread_state&>(state_of<thread_communicator>::open(comm)).shared();
}

template <class Tag>
void combine_overlapping(thread_communicator& comm, std::size_t n, int late, Tag tag, bool as_request) {
  std::vector<word> const in(n, letter(comm.rank()));
  std::vector<word> out(comm.rank() == 0 ? n : 0);
  if (comm.rank() == late) std::this_thread::sleep_for(3ms);
  if (as_request) ireduce(comm, in, out, joining{}, 0, tag).wait();
  else reduce(comm, in, out, joining{}, 0, tag);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::string const expected = i < n / 3 ? "adcef" : i < n / 3 * 2 ? "adbce" : "abcef";
    if (out[i].text() != expected)
      throw std::runtime_error("element " + std::to_string(i) + " of " + std::to_string(n) + ": " + out[i].text() +
                               ", expected " + expected);
  }
}

}  // namespace

TEST_CASE("folds of one step into ranges that overlap are combined in the order listed") {
  for (bool const announced : {false, true})
    for (int const late : {0, 1, 3, 5})
      REQUIRE_NOTHROW(run_threads(6, [=](thread_communicator& comm) {
        if (announced) memory_of(comm).announce_from(4096);
        for (std::size_t const n : {3u, 30u, 300u, 9000u, 100000u})
          for (bool const as_request : {false, true}) {
            combine_overlapping(comm, n, late, overlapping{}, as_request);
            combine_overlapping(comm, n, late, over_shared_memory{overlapping{}}, as_request);
          }
      }));
}

TEST_CASE("what a rank offers in its memory is not read there after it has left") {
  std::atomic<bool> has_left = false;
  std::atomic<int> wrong = 0;
  REQUIRE_THROWS_WITH(run_threads(3,
                                  [&](thread_communicator& comm) {
                                    over_shared_memory<binary_tree> const in_memory;
                                    std::vector<int> values(1 << 20, comm.rank());
                                    broadcast(comm, values, 0, in_memory);
                                    if (comm.rank() == 1) throw std::runtime_error("rank 1's own");
                                    while (comm.rank() == 2 && !has_left) std::this_thread::yield();
                                    try {
                                      broadcast(comm, values, 0, in_memory);
                                    } catch (...) {
                                      std::fill(values.begin(), values.end(), -1);
                                      has_left = true;
                                      throw;
                                    }
                                    wrong += values.back() != 0;
                                  }),
                      "rank 1's own");
  CHECK(wrong == 0);
}

TEST_CASE("the system starts fewer threads than there are ranks") {
  for (int const started : {0, 2}) {
    threads_left = started;
    CHECK_THROWS_WITH(run_threads(5, [](thread_communicator& comm) { barrier(comm); }),
                      "colligo: the system starts no further thread");
    threads_left = -1;
  }
}

TEST_CASE("requests complete though a call after them is refused before they begin") {
  std::atomic<bool> refused = false;
  CHECK_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    over_shared_memory<direct> const in_memory;
    std::vector<int> const in(1, comm.rank() + 1);
    std::vector<int> reduced(1), sum(1);
    barrier(comm, in_memory);
    while (comm.rank() == 0 && !refused) std::this_thread::yield();
    request first = ireduce(comm, in, reduced, std::plus<>{}, 1, in_memory);   // rank 1 waits for rank 0
    request second = iall_reduce(comm, in, sum, std::plus<>{}, in_memory);
    try {
      barrier(comm, named("ring"));
    } catch (algorithm_error const&) {
      refused = true;
    }
    if (!refused) throw std::runtime_error("a barrier by ring");
    first.wait(), second.wait();
    if (sum[0] != 3 || reduced[0] != (comm.rank() == 1 ? 3 : 0)) throw std::runtime_error("a wrong sum");
    if (all_reduce(comm, 1, std::plus<>{}, in_memory) != 2) throw std::runtime_error("a wrong sum afterwards");
  }));
}

TEST_CASE("a rank that is late by more refused calls than are remembered is told of each") {
  constexpr int blocks = 100;   // of two calls that are refused, and one that is not, so that no two blocks are alike
  std::atomic<int> told = 0;
  std::atomic<bool> ahead = false;
  CHECK_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    std::vector<int> const in(1, 1);
    std::vector<int> out(1), two(2);
    barrier(comm);
    while (comm.rank() == 1 && !ahead) std::this_thread::yield();
    for (int call = 0; call < 3 * blocks; ++call) {
      if (call % 3 == 2) {
        out[0] = comm.rank() == 0 ? call : -1;
        broadcast(comm, out, 0);   // rank 0 only sends
        if (out[0] != call) throw std::runtime_error("a wrong value");
        continue;
      }
      try {
        all_reduce(comm, in, comm.rank() == 0 ? two : out, std::plus<>{});
      } catch (failed_elsewhere const&) {
        ++told;
      } catch (argument_error const&) {
      }
    }
    ahead = true;
  }));
  CHECK(told == 2 * blocks);
}

TEST_CASE("a request goes on though its peer has refused more calls meanwhile than are remembered") {
  std::atomic<bool> has_refused = false, has_looked = false;
  int const refused = 200;
  CHECK_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    over_messages<recursive_doubling> const by_messages;
    std::vector<int> const in(1, comm.rank() + 1);
    std::vector<int> sum(1);
    while (comm.rank() == 0 && !has_refused) std::this_thread::yield();
    request first = iall_reduce(comm, in, sum, std::plus<>{}, by_messages);
    int errors = 0;
    for (int i = 0; i < refused; ++i) try {
        barrier(comm, named("ring"));
      } catch (algorithm_error const&) {
        ++errors;
      }
    if (errors != refused) throw std::runtime_error("a barrier by ring");
    if (comm.rank() == 1) has_refused = true;   // and it has not taken rank 0's message yet
    while (comm.rank() == 1 && !has_looked) std::this_thread::yield();
    if (comm.rank() == 0) try {
        first.test();
        has_looked = true;
      } catch (...) {
        has_looked = true;
        throw;
      }
    first.wait();
    if (sum[0] != 3) throw std::runtime_error("a wrong sum");
  }));
}

TEST_CASE("calls are right after a request was abandoned later than a call behind it") {
  CHECK_NOTHROW(run_threads(3, [&](thread_communicator& comm) {
    over_shared_memory<direct> const in_memory;
    int const me = comm.rank();
    std::vector<int> const in(1, 1);
    std::vector<int> out(1), two(2);
    auto const fails = [](auto const& call) {
      try {
        call();
      } catch (argument_error const&) {
      } catch (failed_elsewhere const&) {
      }
    };
    barrier(comm, in_memory);
    std::vector<request> first;   // that rank 0 refuses; rank 1 has refused the second call when it hears of that
    fails([&] { first.push_back(iall_reduce(comm, in, me == 0 ? two : out, std::plus<>{}, in_memory)); });
    fails([&] { all_reduce(comm, in, me == 1 ? two : out, std::plus<>{}, in_memory); });
    fails([&] { wait_all(first); });
    if (me == 2) std::this_thread::sleep_for(30ms);   // rank 1 meets what it has sent in the second call
    if (all_reduce(comm, 1, std::plus<>{}, in_memory) != 3) throw std::runtime_error("a wrong sum");
  }));
}

TEST_CASE("a request behind one that has waited too long completes, and calls after them are right") {
  std::atomic<bool> has_stalled = false;
  setenv("COLLIGO_PATIENCE", "50ms,throw", 1);
  captured_stderr const captured;
  CHECK_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    over_shared_memory<direct> const in_memory;
    std::vector<int> const in(1, 1), none;
    std::vector<int> out(1), nothing;
    barrier(comm, in_memory);
    while (comm.rank() == 1 && !has_stalled) std::this_thread::yield();
    request first = iall_reduce(comm, in, out, std::plus<>{}, in_memory);
    request second = iall_reduce(comm, none, nothing, std::plus<>{}, in_memory);
    second.wait();   // on rank 0 when the first one has waited too long
    try {
      first.wait();
    } catch (stalled const&) {
      has_stalled = comm.rank() == 0;
    } catch (failed_elsewhere const&) {
      if (comm.rank() == 0) throw;
    }
    if (all_reduce(comm, 1, std::plus<>{}, in_memory) != 2) throw std::runtime_error("a wrong sum");
  }));
  unsetenv("COLLIGO_PATIENCE");
  CHECK(has_stalled);
}

TEST_CASE("numbers of abandoned calls are known in whatever order they come") {
  detail::group_of_threads<void>::numbers_of_calls all;
  std::vector<bool> added(300);
  for (std::uint32_t k = 0; k < 200; ++k) {
    std::uint32_t const number = 1 + k * 37 % 200 + (k % 3 == 0 ? 90 : 0);   // some of them twice
    all.add(number);
    added[number] = true;
    for (std::uint32_t n = 0; n < added.size(); ++n) REQUIRE(all.has(n) == added[n]);
  }
}

TEST_CASE("a rank that is four calls behind is told that a call was refused") {
  std::atomic<int> told = 0;
  std::atomic<bool> ahead = false;
  CHECK_NOTHROW(run_threads(2, [&](thread_communicator& comm) {
    over_shared_memory<binary_tree> const in_memory;
    std::vector<int> const in(1, 1);
    std::vector<int> out(1), two(2);
    barrier(comm, over_shared_memory<direct>{});
    while (comm.rank() == 1 && !ahead) std::this_thread::yield();
    for (int call = 0; call < 9; ++call)
      if (call % 4 == 0) {
        try {
          all_reduce(comm, in, comm.rank() == 0 ? two : out, std::plus<>{}, in_memory);
        } catch (failed_elsewhere const&) {
          ++told;
        } catch (argument_error const&) {
        }
      } else {
        broadcast(comm, out, 0, in_memory);   // rank 0 only sends
      }
    ahead = true;
  }));
  CHECK(told == 3);
}

namespace {

thread_local bool is_memory_short = false;

template <class T>
struct short_memory : std::allocator<T> {
  template <class U>
  struct rebind { using other = short_memory<U>; };
  T* allocate(std::size_t n) {
    if (is_memory_short) throw std::bad_alloc();
    return std::allocator<T>::allocate(n);
  }
};
using container = std::vector<int, short_memory<int>>;

/// One rank of 4 fails in the call and nowhere else; calls after it are right on all ranks.
template <class Error, class Call>
void expect_right_calls_after(Call call, int guilty_rank = 2) {
  CHECK_NOTHROW(run_threads(4, [&](thread_communicator& comm) {
    bool const guilty = comm.rank() == guilty_rank;
    std::string said;
    try {
      call(comm, guilty);
    } catch (Error const&) {
      said = guilty ? "" : "another rank's error";
    } catch (failed_elsewhere const& e) {
      said = guilty ? e.what() : "";
    }
    is_memory_short = false;
    if (!said.empty()) throw std::runtime_error(said);
    for (int k = 0; k < 3; ++k)
      if (all_reduce(comm, comm.rank() + k, std::plus<>{}) != 6 + 4 * k) throw std::runtime_error("a wrong sum");
  }));
}

}  // namespace

TEST_CASE("calls are right after one in which a container could not be resized") {
  std::vector<int> const in(8, 1), counts(4, 2);
  auto const expect = [&](auto call) {
    expect_right_calls_after<std::bad_alloc>([&](thread_communicator& comm, bool guilty) {
      container out;
      if (comm.rank() == 0) out.reserve(100);
      is_memory_short = guilty;
      call(comm, out);
    });
  };
  expect([&](auto& comm, container& out) { all_gather(comm, in, out); });
  expect([&](auto& comm, container& out) { all_gatherv(comm, std::span(in).first(2), out, counts); });
  expect([&](auto& comm, container& out) { all_gatherv(comm, std::span(in).first(2), out, counts, counts); });
  expect([&](auto& comm, container& out) { gather(comm, in, out, 2); });
  expect([&](auto& comm, container& out) { gather(comm, in.data(), 8, out, 2); });
  expect([&](auto& comm, container& out) { gatherv(comm, std::span(in).first(2), out, counts, 2); });
  expect([&](auto& comm, container& out) { all_to_all(comm, in, out); });
  expect([&](auto& comm, container& out) { all_to_all(comm, in, 2, out); });
  expect([&](auto& comm, container& out) { all_to_all_v(comm, in, counts, out, counts); });
  expect([&](auto& comm, container& out) { reduce(comm, in, out, std::plus<>{}, 2); });
  expect([&](auto& comm, container& out) {
    if (comm.rank() == 0) out.resize(8);
    broadcast(comm, resized(out), 0);
  });
}

TEST_CASE("calls are right after a broadcast in two calls of which a rank refused the first") {
  auto const expect = [&](auto call) {
    for (int const rank : {1, 2, 3}) expect_right_calls_after<argument_error>(call, rank);
  };
  for (bool const is_empty : {false, true}) {
    std::string const word = is_empty ? "" : "word";
    expect([&](auto& comm, bool guilty) {
      std::string text = comm.rank() == 0 ? word : "";
      broadcast(comm, text, guilty ? 7 : 0);
    });
    expect([&](auto& comm, bool guilty) {
      std::vector<std::string> words(is_empty ? 0 : 3, comm.rank() == 0 ? word : "");
      broadcast(comm, words, guilty ? 7 : 0);
    });
    expect([&](auto& comm, bool guilty) {
      std::vector<std::string> words(is_empty ? 0 : 3, comm.rank() == 0 ? word : "");
      broadcast(comm, words.data(), guilty ? -1 : static_cast<int>(words.size()), 0);
    });
  }
}

TEST_CASE("ranks that wait too long for one that is late say so, or throw") {
  auto const late_rank_of = [](bool throws, auto... tag) {
    setenv("COLLIGO_PATIENCE", throws ? "200ms,throw" : "200ms", 1);
    captured_stderr const captured;
    bool stalls = false;
    try {
      run_threads(3, [&](thread_communicator& comm) {
        std::vector<double> const in(2, 1.0);
        std::vector<double> out(2);
        if (comm.rank() == 2) captured.await("  rank 2: has made no call\n");
        if (comm.rank() == 0) all_reduce(comm, in, out, std::plus<>{}, tag...);
        else iall_reduce(comm, in, out, std::plus<>{}, tag...).wait();
        if (out[1] != 3) throw std::runtime_error("a wrong sum");
      });
    } catch (stalled const&) {
      stalls = true;
    }
    unsetenv("COLLIGO_PATIENCE");
    CHECK(stalls == throws);
    CHECK(captured.count("colligo: after 200 ms in all_reduce #1 of 2 double over 3 ranks of communicator ") == 1);
    CHECK(captured.count("waiting for rank 2\n") >= 1);
  };
  for (bool const throws : {false, true}) {
    late_rank_of(throws);
    late_rank_of(throws, over_shared_memory{direct{}});
  }
}
