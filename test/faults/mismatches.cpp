// SPDX-License-Identifier: BSL-1.0
// Ranks that make different calls, and calls that one rank alone refuses: all ranks get an error, and what follows is
// right.
#define BOOST_TEST_NO_MAIN
#include <boost/mpi/communicator.hpp>
#include <boost/serialization/string.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>
#include <colligo/neighbours.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../thorough.hpp"
#include "on_stderr.hpp"

namespace {

using namespace colligo;

std::vector<long> numbers(std::size_t n, int rank) {
  std::vector<long> some(n);
  std::iota(some.begin(), some.end(), 100 * rank);
  return some;
}

/// Short and long all_reduces and a reduce to every root: all right?
template <class Tag>
void follows(boost::mpi::communicator const& world, Tag tag, std::string const& after) {
  for (std::size_t const n : {1u, 5u, 2000u, 60000u}) {
    auto const in = numbers(n, world.rank());
    std::vector<long> out(n), expected(n);
    for (int r = 0; r < world.size(); ++r)
      std::transform(expected.begin(), expected.end(), numbers(n, r).begin(), expected.begin(), std::plus<>{});
    colligo::all_reduce(world, in, out, std::plus<>{}, tag);
    BOOST_CHECK_MESSAGE(out == expected, "all_reduce of " << n << " after " << after);
  }
  for (int root = 0; root < world.size(); ++root) {
    long sum = -1, value = world.rank() + 1;
    colligo::reduce(world, std::span(&value, 1), std::span(&sum, 1), std::plus<>{}, root);
    BOOST_CHECK_MESSAGE(world.rank() != root || sum == world.size() * (world.size() + 1) / 2, "reduce after " << after);
  }
}

struct outcome {
  bool mismatch = false, elsewhere = false, argument = false;
  std::string text;
};

template <class F>
outcome run(F f) {
  outcome what;
  try {
    f();
  } catch (mismatch_error const& e) {
    what = {true, false, false, e.what()};
  } catch (failed_elsewhere const& e) {
    what = {false, true, false, e.what()};
  } catch (argument_error const& e) {
    what = {false, false, true, e.what()};
  }
  return what;
}

/// Rank 0 makes one call, the others another. Somebody sees the mismatch, in the next call at the latest, those who
/// wait get an error, later calls are right.
template <class One, class Other>
void differ(std::string const& what, One one, Other other) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  follows(world, automatic{}, "nothing");
  outcome const said = run([&] { world.rank() == 0 ? one(world) : other(world); });
  // The next calls over the communicator see what a rank has left that got through.
  outcome later;
  for (int i = 0; i < 4; ++i)
    if (outcome const now = run([&] { colligo::all_reduce(world, 1L, std::plus<>{}); }); now.mismatch) later = now;
  int any = said.mismatch || later.mismatch, seen = 0;
  MPI_Allreduce(&any, &seen, 1, MPI_INT, MPI_MAX, world);
  BOOST_CHECK_MESSAGE(seen, what << ": nobody has seen it");
  if (said.mismatch) BOOST_TEST_MESSAGE(what << ": " << said.text);
  for (outcome const& t : {said, later}) BOOST_CHECK_MESSAGE(t.text.find("elements of") == t.text.npos, t.text);
  MPI_Barrier(world);
  follows(world, automatic{}, what);
}

template <class T = long>
auto sum_of(std::size_t n) {
  return [n](boost::mpi::communicator const& world) {
    std::vector<T> const in(n, T(1));
    std::vector<T> out(n);
    colligo::all_reduce(world, in, out, std::plus<>{});
  };
}
auto reduce_to(int root, std::size_t n) {
  return [=](boost::mpi::communicator const& world) {
    std::vector<long> const in(n, 1);
    std::vector<long> out(n);
    colligo::reduce(world, in, out, std::plus<>{}, root);
  };
}
auto broadcast_from(int root, std::size_t n) {
  return [=](boost::mpi::communicator const& world) {
    std::vector<long> values(n, world.rank());
    colligo::broadcast(world, values, root);
  };
}

/// The root sends every rank two messages in one step.
struct in_halves {
  static constexpr std::string_view name = "in_halves";

  template <class T>
  struct broadcast {
    template <steps Step>
    constexpr void operator()(Step& step, range all, int root) const {
      range const low{all.first, all.first + all.size() / 2}, high{low.last, all.last};
      if (step.rank() != root) return step(recv{root, low}, recv{root, high});
      for (int r = 0; r < step.size(); ++r)
        if (r != root) step(send{r, low}, send{r, high});
    }
  };
};

}  // namespace

BOOST_AUTO_TEST_CASE(lengths_differ) {
  for (auto const& [a, b] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 2}, {8, 4}, {4, 8}, {1, 300}, {300, 1}, {200, 400}, {400, 2000}, {2000, 400}, {60000, 1}, {1, 60000},
           {60000, 30000}, {200000, 100}, {100, 200000}})
    differ(std::to_string(a) + " against " + std::to_string(b) + " elements", sum_of(a), sum_of(b));
}

BOOST_AUTO_TEST_CASE(element_types_differ) {
  differ("double against float", sum_of<double>(10), sum_of<float>(10));
  differ("char against long", sum_of<char>(800), sum_of<long>(100));
}

BOOST_AUTO_TEST_CASE(collectives_and_roots_differ) {
  differ("all_reduce against reduce", sum_of(10), reduce_to(0, 10));
  differ("reduce against all_reduce", reduce_to(0, 10), sum_of(10));
  differ("reduce to 0 against reduce to 1", reduce_to(0, 10), reduce_to(1, 10));
  // Two roots that send and do not wait.
  for (std::size_t const n : {1u, 10u, 1000u, 100000u}) {
    differ("broadcast from 0 against broadcast from 1", broadcast_from(0, n), broadcast_from(1, n));
    auto const scatter_from = [n](int root) {
      return [=](boost::mpi::communicator const& world) {
        std::vector<long> const in(n * static_cast<std::size_t>(world.size()), world.rank());
        std::vector<long> out(n);
        colligo::scatter(world, in, out, root);
      };
    };
    differ("scatter from 0 against scatter from 1", scatter_from(0), scatter_from(1));
  }
  differ("all_reduce against broadcast", sum_of(3000), broadcast_from(0, 3000));
  differ("ring against recursive doubling",
         [](auto const& w) { colligo::all_reduce(w, 1L, std::plus<>{}, over_shared_memory{ring{}}); },
         [](auto const& w) { colligo::all_reduce(w, 1L, std::plus<>{}, over_shared_memory{recursive_doubling{}}); });
}

BOOST_AUTO_TEST_CASE(a_call_more_on_one_rank) {
  differ("two calls against one",
         [](auto const& world) {
           colligo::all_reduce(world, 1L, std::plus<>{});
           sum_of(5000)(world);
         },
         sum_of(5000));
}

BOOST_AUTO_TEST_CASE(block_sizes_differ) {
  boost::mpi::communicator const world;
  auto const gathered = [](std::size_t n) {
    return [n](boost::mpi::communicator const& w) {
      std::vector<long> const in(n, 1);
      std::vector<long> out(n * static_cast<std::size_t>(w.size()));
      colligo::gather(w, in, out, 0);
    };
  };
  auto const scattered = [](std::size_t n) {
    return [n](boost::mpi::communicator const& w) {
      std::vector<long> const in(n * static_cast<std::size_t>(w.size()), 1);
      std::vector<long> out(n);
      colligo::scatter(w, in, out, 0);
    };
  };
  differ("gather of blocks of 20 against 40", gathered(20), gathered(40));
  differ("scatter of blocks of 20 against 40", scattered(20), scattered(40));
}

// All calls look alike but for the counts: the text has what is expected and what is sent.
BOOST_AUTO_TEST_CASE(counts_differ) {
  boost::mpi::communicator const world;
  auto const p = static_cast<std::size_t>(world.size());
  int const me = world.rank(), next = (me + 1) % world.size();
  if (p == 1) return;
  // Rank 1 has other counts, of the same sum.
  auto const try_all = [&](bool in_memory, std::size_t n) {
    std::vector<std::size_t> counts(p, n), to_next = counts, same = counts;
    if (me == 1) --counts[0], ++counts[1], ++to_next[static_cast<std::size_t>(next)];
    std::size_t const mine = counts[static_cast<std::size_t>(me)], odd = me == 1;
    std::vector<long> const values(n * p + 1, 1);
    std::vector<long> room(n * p);
    auto const in = [&](std::size_t k) { return std::span(values).first(k); };
    auto const out = [&](std::size_t k) { return std::span(room).first(k); };
    auto const by = [&](std::string const& name) { return named(name + (in_memory ? "@shared_memory" : "@messages")); };
    auto const look = [&](std::string const& name, auto call) {
      boost::mpi::communicator const comm(world, boost::mpi::comm_duplicate);
      outcome const said = run([&] { call(comm); });
      auto const has = [&](char const* words) { return said.text.find(words) != said.text.npos; };
      int any = said.mismatch && said.text.starts_with("colligo: " + name) && has(" bytes) are expected of rank ") &&
                has(", it sends ") && (!in_memory || said.text.ends_with(" bytes)"));
      int seen = 0;
      MPI_Allreduce(&any, &seen, 1, MPI_INT, MPI_MAX, world);
      BOOST_CHECK_MESSAGE(seen, name << " of " << n << (in_memory ? " in memory: " : " by messages: ") << said.text);
    };
    look("all_gatherv", [&](auto const& w) { colligo::all_gatherv(w, in(mine), out(n * p), counts, by("direct")); });
    look("gatherv", [&](auto const& w) { colligo::gatherv(w, in(mine), out(n * p), counts, 0, by("linear")); });
    look("scatterv", [&](auto const& w) { colligo::scatterv(w, in(n * p), counts, out(mine), 0, by("linear")); });
    look("reduce_scatter", [&](auto const& w) {
      colligo::reduce_scatter(w, in(n * p), out(mine), counts, std::plus<>{}, by("direct"));
    });
    look("all_to_all_v", [&](auto const& w) {
      colligo::all_to_all_v(w, in(n * p + odd), to_next, out(n * p), same, by("pairwise"));
    });
    look("exchange", [&](auto const& w) {
      std::vector<int> const from{(me + world.size() - 1) % world.size()}, to{next};
      neighbours const graph(w, from, to);
      colligo::all_to_all_v(graph, in(n + odd), std::vector{n + odd}, out(n), std::vector{n}, by("along_edges"));
    });
  };
  for (std::size_t const n : {3u, 2000u}) try_all(true, n);
  try_all(false, 3);
}

// A rank that expects nothing does not wait: over memory the next call on that edge tells, over messages the
// communicator's end.
BOOST_AUTO_TEST_CASE(elements_that_nobody_expects) {
  boost::mpi::communicator const world;
  int const me = world.rank();
  if (world.size() == 1) return;
  for (bool const in_memory : {true, false})
    for (bool const later : {false, true}) {
      outcome said;
      captured_stderr const captured;
      {
        boost::mpi::communicator const comm(world, boost::mpi::comm_duplicate);
        std::vector<int> const from(me == 1, 0), to(me == 0, 1);   // an edge from rank 0 to rank 1
        neighbours const graph(comm, from, to);
        auto const exchanges = [&](std::size_t sent, std::size_t wanted) {
          std::vector<double> const in(me == 0 ? sent : 0);
          std::vector<double> out(me == 1 ? wanted : 0);
          std::vector const counts(to.size(), sent), out_counts(from.size(), wanted);
          named const by(in_memory ? "along_edges@shared_memory" : "along_edges@messages");
          if (later) iall_to_all_v(graph, in, counts, out, out_counts, by).wait();
          else all_to_all_v(graph, in, counts, out, out_counts, by);
        };
        exchanges(3, 0);
        said = run([&] { exchanges(2, 2); });
        MPI_Barrier(world);   // who waits for nobody would free the communicator before it hears of the abandoned call
      }
      BOOST_TEST(said.mismatch == (in_memory && me == 1));
      BOOST_TEST(captured.count("colligo: rank 1 has never taken a message of 24 bytes that rank 0 has sent it in call "
                                "number ") == (!in_memory && me == 1));
    }
}

// Messages of two calls do not match, so nobody takes another call's values. Who polls, as requests do, sees them.
BOOST_AUTO_TEST_CASE(collectives_and_roots_differ_over_messages) {
  boost::mpi::communicator const world;
  int const p = world.size(), me = world.rank();
  if (p == 1) return;
  std::vector<long> const in(static_cast<std::size_t>(p), 1);
  std::vector<long> out(1);
  auto const told = [&](bool is_told, auto begin) {
    boost::mpi::communicator const comm(world, boost::mpi::comm_duplicate);
    outcome const said = run([&] { begin(comm).wait(); });
    BOOST_CHECK_MESSAGE(!is_told || said.mismatch || said.elsewhere, "rank " << me << " is not told: " << said.text);
    int const any = said.mismatch && said.text.find("messages of this call are expected of ") != said.text.npos;
    int seen = 0;
    MPI_Allreduce(&any, &seen, 1, MPI_INT, MPI_MAX, world);
    BOOST_TEST(seen);
  };
  told(me != 0, [&](auto const& w) {   // all others get a block of rank 0 and would take it for the whole
    return me == 0 ? iscatter(w, in, out, 0, over_messages{linear{}})
                   : ibroadcast(w, out, 0, over_messages{binary_tree{}});
  });
  if (p == 2) return;   // nobody sends
  told(me == 0, [&](auto const& w) {   // rank p - 1 sends rank 0 what it has got from the others' root
    return ibroadcast(w, out, me == 0 ? p - 1 : p - 2, over_messages{pipelined_chain{}});
  });
}

BOOST_AUTO_TEST_CASE(numbers_of_words_differ) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  for (std::size_t const at_0 : {2u, 4u}) {   // 3 elsewhere
    boost::mpi::communicator const comm(world, boost::mpi::comm_duplicate);
    std::vector<std::string> words(world.rank() == 0 ? at_0 : 3, "word");
    outcome const said =
        run([&] { colligo::all_reduce(comm, in_place(words), std::plus<>{}, over_messages{binary_tree{}}); });
    std::size_t const sent = world.rank() == 0 ? 3 : at_0;
    bool const told = said.mismatch && said.text.ends_with("it sends " + std::to_string(sent) + " elements");
    BOOST_CHECK_MESSAGE(told || said.elsewhere, said.text);
    if (world.rank() == 0) BOOST_CHECK_MESSAGE(told, said.text);
  }
}

// By one algorithm all messages are sent and received, so every rank comes to the end. Short ones: Open MPI 4.1
// writes long ones past the end of a buffer that is too small for them, whoever calls it.
BOOST_AUTO_TEST_CASE(lengths_differ_over_messages) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  auto const by = [&](auto tag, std::size_t first, std::size_t others) {
    std::size_t const n = world.rank() == 0 ? first : others;
    std::vector<long> const in(n, 1);
    std::vector<long> out(n);
    outcome const said = run([&] { colligo::all_reduce(world, in, out, std::plus<>{}, tag); });
    int any = said.mismatch, seen = 0;
    MPI_Allreduce(&any, &seen, 1, MPI_INT, MPI_MAX, world);
    BOOST_CHECK_MESSAGE(seen, decltype(tag)::name << ": nobody has seen it");
    follows(world, tag, std::string(decltype(tag)::name));
  };
  for (auto const& [a, b] : {std::pair{8u, 4u}, {4u, 8u}}) {
    by(over_messages{recursive_doubling{}}, a, b);
    by(over_messages{binary_tree{}}, a, b);
  }
}

BOOST_AUTO_TEST_CASE(arguments_refused_on_one_rank) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  // Between hosts there are messages alone, which give no reason.
  bool const is_mixed = std::getenv("COLLIGO_TEST_RANKS_PER_HOST") != nullptr;
  for (int which = 0; which < world.size(); ++which)
    for (std::size_t const n : {1u, 3000u, 100000u}) {
      colligo::all_reduce(world, 1L, std::plus<>{});
      std::vector<long> const in(n, 1);
      std::vector<long> out(world.rank() == which ? n + 1 : n, -1);
      auto const began = std::chrono::steady_clock::now();
      outcome const said = run([&] { colligo::all_reduce(world, in, out, std::plus<>{}); });
      BOOST_CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
      BOOST_CHECK_MESSAGE(world.rank() == which ? said.argument : said.elsewhere, said.text);
      if (world.rank() == which) BOOST_CHECK(out == std::vector<long>(n + 1, -1));
      auto const says = [&](char const* words) { return said.text.find(words) != said.text.npos; };
      // Between hosts the reason is not handed on, but that there is one, and whose.
      bool const of_elsewhere = is_mixed && (says("abandoned the call") || says("has failed in this call"));
      if (world.rank() != which) BOOST_CHECK_MESSAGE(says("the output has") || of_elsewhere, said.text);
      follows(world, automatic{}, "a refusal");
    }
}

// A rank that comes late hears of it however many calls another one has abandoned meanwhile.
BOOST_AUTO_TEST_CASE(arguments_refused_in_many_calls) {
  boost::mpi::communicator const world;
  for (int which = 0; which < world.size() && world.size() > 1; ++which)
    for (bool const over_memory : {true, false}) {
      world.barrier();
      if (world.rank() != which) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      std::vector<long> const in(3, 1);
      std::vector<long> out(world.rank() == which ? 4 : 3);
      for (int i = 0; i < 20; ++i) {
        outcome const said = run([&] {
          if (over_memory) colligo::all_reduce(world, in, out, std::plus<>{});
          else colligo::all_reduce(world, in, out, std::plus<>{}, over_messages{recursive_doubling{}});
        });
        BOOST_CHECK_MESSAGE(world.rank() == which ? said.argument : said.elsewhere, i << ": " << said.text);
      }
      follows(world, automatic{}, "refusals in many calls");
    }
}
// Nor does one wait for ever that sends it a long message in each of them.
BOOST_AUTO_TEST_CASE(long_messages_of_many_refused_calls) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  world.barrier();
  if (world.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::vector<long> const in(50000, 1);
  std::vector<long> out(world.rank() == 0 ? 1 : in.size());
  for (int i = 0; i < tested::at_most(12, 100); ++i) {
    outcome const said = run(
        [&] { colligo::all_reduce(world, in, out, std::plus<>{}, over_messages{recursive_doubling{}}); });
    BOOST_CHECK_MESSAGE(world.rank() == 0 ? said.argument : said.elsewhere, i << ": " << said.text);
  }
  follows(world, automatic{}, "long messages of refused calls");
}

// What is collective about a communicator's first use is over before a call can be refused.
BOOST_AUTO_TEST_CASE(arguments_refused_on_one_rank_in_a_first_call) {
  boost::mpi::communicator const world;
  auto const by = [&](auto tag, bool as_request) {
    for (int which = 0; which < world.size() && world.size() > 1; ++which) {
      boost::mpi::communicator const fresh(world, boost::mpi::comm_duplicate);
      std::vector<long> const in(3, 1);
      std::vector<long> out(world.rank() == which ? 4 : 3);
      outcome const said = run([&] {
        if (as_request) colligo::iall_reduce(fresh, in, out, std::plus<>{}, tag).wait();
        else colligo::all_reduce(fresh, in, out, std::plus<>{}, tag);
      });
      BOOST_CHECK_MESSAGE(world.rank() == which ? said.argument : said.elsewhere, said.text);
      follows(fresh, automatic{}, "a refusal in the first call");
    }
  };
  for (bool const as_request : {false, true}) {
    by(automatic{}, as_request);
    by(recursive_doubling{}, as_request);
    by(over_messages{recursive_doubling{}}, as_request);
  }
}

// Those who wait for messages get an error as well. Short ones: a rank that sends long ones to the one that has refused
// gets it when that makes its next call.
BOOST_AUTO_TEST_CASE(arguments_refused_on_one_rank_over_messages) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  auto const by = [&](auto tag) {
    for (int which = 0; which < world.size(); ++which)
      for (std::size_t const n : {1u, 300u}) {
        std::vector<std::string> const in(n, "word");
        std::vector<std::string> out(world.rank() == which ? n + 1 : n);
        outcome const said = run([&] { colligo::all_reduce(world, in, out, as_commutative(std::plus<>{}), tag); });
        std::vector<char> const letters(n, 1);
        std::vector<char> sums(world.rank() == which ? n + 1 : n);
        outcome const again = run([&] { colligo::all_reduce(world, letters, sums, std::plus<>{}, tag); });
        outcome const third = run([&] { colligo::iall_reduce(world, letters, sums, std::plus<>{}, tag).wait(); });
        for (outcome const& t : {said, again, third})
          BOOST_CHECK_MESSAGE(world.rank() == which ? t.argument : t.elsewhere, decltype(tag)::name << ": " << t.text);
        follows(world, tag, "a refusal over messages");
      }
  };
  by(over_messages{recursive_doubling{}});
  by(over_messages{binary_tree{}});
  by(over_messages{ring{}});
}

// A rank that waits on another communicator still receives long messages of the call that it has refused.
BOOST_AUTO_TEST_CASE(refused_and_then_elsewhere) {
  boost::mpi::communicator const world;
  if (world.size() == 1) return;
  over_messages<recursive_doubling> const by;
  auto const refused_then = [&](char const* what, bool frees, auto elsewhere) {
    for (int const which : {0, 1}) {
      colligo::all_reduce(world, 1L, std::plus<>{});
      std::optional<boost::mpi::communicator> pair = world.split(world.rank() < 2 ? 0 : 1);
      colligo::barrier(*pair);
      if (world.rank() < 2) {
        std::vector<long> const in(300000, 1);
        std::vector<long> out(world.rank() == which ? 1 : in.size());
        outcome const said = run([&] { colligo::all_reduce(*pair, in, out, std::plus<>{}, by); });
        BOOST_CHECK_MESSAGE(world.rank() == which ? said.argument : said.elsewhere, what << ": " << said.text);
      }
      if (frees) pair.reset();
      BOOST_TEST(elsewhere() == world.size(), what);
      if (pair) follows(*pair, by, what);
    }
  };
  for (bool const frees : {false, true}) {
    refused_then("messages", frees, [&] { return colligo::all_reduce(world, 1, std::plus<>{}, by); });
    refused_then("memory", frees, [&] { return colligo::all_reduce(world, 1, std::plus<>{}); });
    refused_then("words", frees, [&] {
      return static_cast<int>(colligo::all_reduce(world, std::string("1"), std::plus<>{}).size());
    });
    refused_then("a request", frees, [&] {
      int const one = 1;
      int sum = 0;
      colligo::iall_reduce(world, std::span(&one, 1), std::span(&sum, 1), std::plus<>{}).wait();
      return sum;
    });
  }
  std::vector<boost::mpi::communicator> fresh(2);   // made here, because a rank does not wait for this in the library
  for (boost::mpi::communicator& comm : fresh) comm = {world, boost::mpi::comm_duplicate};
  refused_then("a first use", false, [&] {
    int const sum = colligo::all_reduce(fresh.back(), 1, std::plus<>{}, by);
    fresh.pop_back();
    return sum;
  });
}

// On hosts of two ranks. Rank 0, which has left another call, waits for a short message of its host that never comes.
// In the next call it waits for both other ranks in one step.
BOOST_AUTO_TEST_CASE(refused_before_a_short_message_of_a_host) {
  boost::mpi::communicator const world;
  if (world.size() != 3) return;
  for (int round = 0; round < 3; ++round) {
    boost::mpi::communicator const other(world, boost::mpi::comm_duplicate);
    for (auto const& comm : {world, other}) colligo::barrier(comm);
    std::vector<int> values(5, world.rank());
    auto const refused_by = [&](int rank, boost::mpi::communicator const& comm) {
      return run([&] { colligo::broadcast(comm, values, world.rank() == rank ? -1 : 1, binary_tree{}); });
    };
    if (world.rank() == 0) BOOST_CHECK(refused_by(0, other).argument);
    outcome const said = refused_by(1, world);
    BOOST_CHECK_MESSAGE(world.rank() == 1 ? said.argument : said.elsewhere, said.text);
    BOOST_TEST(colligo::all_reduce(world, world.rank(), std::plus<>{}, direct{}) == 3);
    if (world.rank() != 0) refused_by(0, other);
    world.barrier();
  }
}

// The root waits for nobody and does not hear of it; later it uses a communicator that may have the same number in MPI
// (with MPICH it has), where another process is of the rank that has refused.
BOOST_AUTO_TEST_CASE(refused_on_a_communicator_that_is_freed) {
  boost::mpi::communicator const world;
  if (world.size() < 4) return;
  over_messages<binary_tree> const by;
  for (int round = 0; round < 3; ++round) {
    auto const without = [&](int rank) { return world.split(world.rank() == rank ? 1 : 0); };
    {
      boost::mpi::communicator const first = without(3);
      colligo::barrier(first);
      std::vector<int> values(5, world.rank());
      outcome const said = run([&] { colligo::broadcast(first, values, world.rank() == 2 ? -1 : 0, by); });
      if (world.rank() < 3) BOOST_CHECK(said.argument == (world.rank() == 2));
      world.barrier();
    }
    boost::mpi::communicator const second = without(2);
    for (int i = 0; i < 4; ++i) BOOST_TEST(colligo::all_reduce(second, 1, std::plus<>{}, by) == second.size());
    world.barrier();
  }
}

// What a message holds says nothing of its sender.
BOOST_AUTO_TEST_CASE(any_bytes_are_a_message) {
  boost::mpi::communicator const world;
  for (std::vector<int> const& bytes : {std::vector{0xc0, 0x11, 0x90}, {0xc0, 0x11}, {0xc0}, {0}, {0, 0, 0}, {1}}) {
    std::vector<unsigned char> const sent(bytes.begin(), bytes.end());
    for (bool const as_request : {false, true}) {
      std::vector<unsigned char> got(world.rank() == 0 ? sent : std::vector<unsigned char>(sent.size(), 77));
      if (as_request) colligo::ibroadcast(world, got, 0, over_messages{binary_tree{}}).wait();
      else colligo::broadcast(world, got, 0, over_messages{binary_tree{}});
      BOOST_TEST(got == sent);
      std::vector<unsigned char> all(sent.size() * static_cast<std::size_t>(world.size()));
      colligo::all_gather(world, sent, all, over_messages{ring{}});
      BOOST_TEST(std::equal(sent.begin(), sent.end(), all.end() - static_cast<std::ptrdiff_t>(sent.size())));
    }
  }
}

// Two messages of one rank in one step: neither comes where it refuses the call.
BOOST_AUTO_TEST_CASE(refused_by_a_rank_that_sends_twice_in_a_step) {
  boost::mpi::communicator const world;
  for (int which = 0; which < world.size() && world.size() > 1; ++which)
    for (bool const as_request : {false, true}) {
      std::vector<long> values(world.rank() == which ? 0u : 10u, world.rank());
      outcome const said = run([&] {
        if (world.rank() == which) colligo::broadcast(world, values, -1);
        else if (as_request) colligo::ibroadcast(world, values, which, over_messages{in_halves{}}).wait();
        else colligo::broadcast(world, values, which, over_messages{in_halves{}});
      });
      BOOST_CHECK_MESSAGE(world.rank() == which ? said.argument : said.elsewhere, said.text);
      follows(world, over_messages{recursive_doubling{}}, "a refusal of two messages");
    }
}

// A collective of MPI's own can not be left: who waits there does so until the rank that has refused makes its next
// one, which MPI takes for the one that is waited for. The ranks have made different calls then, and hear of it in the
// next one that is the library's. In checked mode they hear at once.
BOOST_AUTO_TEST_CASE(refused_on_one_rank_of_the_vendors) {
  boost::mpi::communicator const world;
  for (int which = 0; which < world.size() && world.size() > 1; ++which)
    for (bool const as_request : {false, true}) {
      boost::mpi::communicator const comm(world, boost::mpi::comm_duplicate);
      bool const refuses = comm.rank() == which;
      std::vector<long> const in(3, 1), expected(3, comm.size());
      std::vector<long> out(refuses ? 4 : 3, -1);
      auto const call = [&](auto const& over) {
        return run([&] {
          if (as_request) colligo::iall_reduce(over, in, out, std::plus<>{}, vendor{}).wait();
          else colligo::all_reduce(over, in, out, std::plus<>{}, vendor{});
        });
      };
      outcome const at_once = call(colligo::checked(comm));
      BOOST_CHECK_MESSAGE(refuses ? at_once.argument : at_once.mismatch, at_once.text);
      follows(comm, vendor{}, "a refusal in checked mode");
      outcome const said = call(comm);
      BOOST_CHECK_MESSAGE(said.argument == refuses && !said.elsewhere && !said.mismatch, said.text);
      if (refuses) out.resize(3), call(comm);
      BOOST_CHECK(out == expected);
      int const mine = run([&] { colligo::all_reduce(comm, 1L, std::plus<>{}); }).mismatch;
      int any = 0;
      MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world);
      BOOST_CHECK_MESSAGE(any, "nobody hears that a call has been refused");
    }
}

BOOST_AUTO_TEST_CASE(refused_by_all_alike) {
  boost::mpi::communicator const world;
  std::vector<long> const in(3, 1);
  std::vector<long> out(4);
  for (int i = 0; i < 20; ++i) {
    BOOST_CHECK_THROW(colligo::all_reduce(world, in, out, std::plus<>{}), argument_error);
    BOOST_CHECK_THROW(colligo::all_reduce(world, 1L, std::plus<>{}, named("no_such")), algorithm_error);
    follows(world, automatic{}, "a refusal by all");
    follows(world, recursive_doubling{}, "a refusal by all");
  }
}

BOOST_AUTO_TEST_CASE(a_functor_that_throws_is_heard_of) {
  boost::mpi::communicator const world;
  auto const by = [&](auto tag, std::size_t n) {
    for (int which = 0; which < world.size(); ++which) {
      std::vector<long> const in(n, 1);
      std::vector<long> out(n);
      bool own = false, elsewhere = false;
      try {
        auto const sum = [&](long a, long b) {
          if (world.rank() == which) throw std::runtime_error("no");
          return a + b;
        };
        colligo::all_reduce(world, in, out, as_commutative(sum), tag);
      } catch (failed_elsewhere const&) {
        elsewhere = true;
      } catch (std::runtime_error const&) {
        own = true;
      }
      BOOST_CHECK_MESSAGE(!own || world.rank() == which, decltype(tag)::name);
      BOOST_CHECK_MESSAGE(!elsewhere || world.rank() != which || world.size() > 1, decltype(tag)::name);
      bool const right = std::all_of(out.begin(), out.end(), [&](long v) { return v == world.size(); });
      BOOST_CHECK_MESSAGE(own || elsewhere || right, decltype(tag)::name << ": a wrong result without an exception");
      follows(world, tag, "a functor that throws");
    }
  };
  for (std::size_t const n : {1u, 40u, 3000u, 100000u}) {
    by(automatic{}, n);
    by(over_messages{recursive_doubling{}}, n);
    by(over_messages{ring{}}, n);
    by(over_messages{binary_tree{}}, n);
    by(over_shared_memory{ring{}}, n);
    by(over_shared_memory{recursive_doubling{}}, n);
    by(over_shared_memory{direct{}}, n);
  }
}
