// SPDX-License-Identifier: BSL-1.0
// No heap allocation per call once a communicator is warm, and none by a persistent collective from its making on.
// MPI's own malloc does not count, nor does what vendor makes MPI do.
#define BOOST_TEST_NO_MAIN
#include <malloc.h>

#include <boost/test/unit_test.hpp>

#include <colligo/colligo.hpp>
#include <colligo/neighbours.hpp>
#include <colligo/views.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <numeric>
#include <thread>

#include "../thorough.hpp"
#include "over_mpi.hpp"

namespace {

thread_local bool counting = false;
thread_local int counted = 0;
thread_local std::int64_t kept = 0;   // bytes

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  kept += static_cast<std::int64_t>(malloc_usable_size(memory));
  if (counting) ++counted;
  return memory;
}
void freed(void* memory) {
  kept -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

template <class Call>
int allocations_of(Call call) {
  counted = 0;
  counting = true;
  call();
  counting = false;
  return counted;
}

}  // namespace

// The array and nothrow forms call these. Not inline: g++ would take free() for a mismatch of the new that it sees.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return taken(std::malloc(bytes ? bytes : 1)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t boundary) {
  auto const to = static_cast<std::size_t>(boundary);
  return taken(std::aligned_alloc(to, (bytes + to - 1) / to * to + (bytes ? 0 : to)));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { freed(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { freed(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { freed(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { freed(memory); }

namespace {

using colligo::collective;

/// The first call may allocate, later ones must not.
template <class Call>
void warm(std::string const& what, Call call) {
  call();
  int const later = allocations_of(call) + allocations_of(call);
  BOOST_CHECK_MESSAGE(later == 0, what << " allocates " << later << " times in two calls");
}

template <class Comm, class Algorithm>
void warm_all_reduce(Comm const& comm, std::size_t n, Algorithm const& algorithm, std::string_view name) {
  std::vector<double> const in(n, comm.rank() + 1.0);
  std::vector<double> out(n), both(n);
  auto const what = over_mpi::text("all_reduce by ", name, ", n = ", n);
  warm(what, [&] { colligo::all_reduce(comm, in, out, std::plus<>{}, algorithm); });
  warm(what + " in place", [&] { colligo::all_reduce(comm, colligo::in_place(both), std::plus<>{}, algorithm); });
  warm(what + " of one value", [&] { out[0] = colligo::all_reduce(comm, in[0], std::plus<>{}, algorithm); });
}

template <class Comm, class Algorithm>
void warm_reduce(Comm const& comm, std::size_t n, Algorithm const& algorithm, std::string_view name) {
  std::vector<double> const in(n, comm.rank() + 1.0);
  std::vector<double> out(n);
  for (int root = 0; root < comm.size(); ++root) {
    auto const what = over_mpi::text("reduce by ", name, " to root ", root, ", n = ", n);
    warm(what, [&] { colligo::reduce(comm, in, out, std::plus<>{}, root, algorithm); });
    warm(what + " of one value", [&] { out[0] = colligo::reduce(comm, in[0], std::plus<>{}, root, algorithm); });
  }
}

template <class Comm>
void warm_calls(Comm const& comm) {
  for (std::size_t const n : {1u, 1000u}) {
    warm_all_reduce(comm, n, colligo::automatic{}, "automatic");
    warm_reduce(comm, n, colligo::automatic{}, "automatic");
    over_mpi::for_each_that_takes<collective::all_reduce, double, std::plus<>>([&]<class Tag>(Tag tag) {
      if constexpr (std::is_same_v<Tag, colligo::vendor>) return;
      warm_all_reduce(comm, n, tag, Tag::name);
      warm_all_reduce(comm, n, colligo::named(Tag::name), "the name of " + std::string(Tag::name));
    });
    over_mpi::for_each_that_takes<collective::reduce, double, std::plus<>>([&]<class Tag>(Tag tag) {
      if constexpr (std::is_same_v<Tag, colligo::vendor>) return;
      warm_reduce(comm, n, tag, Tag::name);
      warm_reduce(comm, n, colligo::named(Tag::name), "the name of " + std::string(Tag::name));
    });
  }
}

/// Once it is made it allocates nothing, not even when it is started for the first time.
void persists(std::string const& what, colligo::persistent made) {
  int const first = allocations_of([&] {
    made.start();
    made.wait();
  });
  int const later = allocations_of([&] {
    made.start();
    made.wait();
    made.start();
    while (!made.test()) std::this_thread::yield();
  });
  BOOST_CHECK_MESSAGE(first == 0 && later == 0, what << ", persistent, allocates " << first
                                                     << " times in the first start, " << later << " in two more");
}

/// f(algorithm, name) for automatic, and for all of the catalogue by name, over messages and over shared memory.
template <collective C, class F>
void for_each_name(F f) {
  f(colligo::automatic{}, "automatic");
  colligo::for_each_algorithm([&]<class Tag>(Tag) {
    if constexpr (colligo::offers<Tag, C, double, std::plus<>> && !std::is_same_v<Tag, colligo::vendor>)
      for (std::string const way : {"", "@shared_memory"})
        f(colligo::named(std::string(Tag::name) + way), std::string(Tag::name) + way);
  });
}

template <class Comm>
void persistent_collectives(Comm const& comm, std::size_t n) {
  auto const p = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
  int const root = comm.size() / 2;
  std::plus<> const op;
  std::vector<double> const in(n, comm.rank() + 1.0);
  std::vector<double> out(n), all(n * p), block((n + p - 1) / p);
  std::vector<double> const blocks(block.size() * p, 1.0);
  std::vector<std::size_t> counts(p);   // n in all, so that some ranks have none
  for (std::size_t r = 0; r < p; ++r) counts[r] = r + 1 < p ? n / (r + 2) / 2 : 0;
  counts[0] += n - std::reduce(counts.begin(), counts.end());
  std::vector<double> const mine(counts[me], 1.0);
  auto const what = [&](char const* call, std::string const& name) {
    return over_mpi::text(call, " by ", name, ", n = ", n);
  };
  for_each_name<collective::all_reduce>([&](auto const& by, std::string const& name) {
    persists(what("all_reduce", name), colligo::all_reduce_init(comm, in, out, op, by));
    persists(what("all_reduce in place", name), colligo::all_reduce_init(comm, colligo::in_place(out), op, by));
  });
  for_each_name<collective::reduce>([&](auto const& by, std::string const& name) {
    persists(what("reduce", name), colligo::reduce_init(comm, in, out, op, root, by));
  });
  for_each_name<collective::broadcast>([&](auto const& by, std::string const& name) {
    persists(what("broadcast", name), colligo::broadcast_init(comm, out, root, by));
  });
  for_each_name<collective::all_gather>([&](auto const& by, std::string const& name) {
    persists(what("all_gather", name), colligo::all_gather_init(comm, in, all, by));
  });
  for_each_name<collective::all_gatherv>([&](auto const& by, std::string const& name) {
    persists(what("all_gatherv", name), colligo::all_gatherv_init(comm, mine, out, counts, by));
  });
  for_each_name<collective::reduce_scatter_block>([&](auto const& by, std::string const& name) {
    persists(what("reduce_scatter_block", name), colligo::reduce_scatter_block_init(comm, blocks, block, op, by));
  });
  for_each_name<collective::scan>([&](auto const& by, std::string const& name) {
    persists(what("scan", name), colligo::scan_init(comm, in, out, op, by));
  });
  for_each_name<collective::exclusive_scan>([&](auto const& by, std::string const& name) {
    persists(what("exclusive_scan", name), colligo::exclusive_scan_init(comm, in, out, 0.0, op, by));
  });
  for_each_name<collective::all_to_all>([&](auto const& by, std::string const& name) {
    std::vector<double> received(blocks.size());
    persists(what("all_to_all", name), colligo::all_to_all_init(comm, blocks, received, by));
    persists(what("all_to_all in place", name), colligo::all_to_all_init(comm, colligo::in_place(received), by));
  });
  for_each_name<collective::barrier>([&](auto const& by, std::string const& name) {
    persists(what("barrier", name), colligo::barrier_init(comm, by));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(allocation)

BOOST_AUTO_TEST_CASE(this_program_sees_allocations) {
  BOOST_CHECK_EQUAL(allocations_of([] { ::operator delete(::operator new(1)); }), 1);
  BOOST_CHECK_EQUAL(
      allocations_of([] { ::operator delete(::operator new(64, std::align_val_t(64)), std::align_val_t(64)); }), 1);
  static std::vector<double> seen;   // not local, or compilers leave the allocation out
  auto const before = kept;
  BOOST_CHECK_EQUAL(allocations_of([&] { seen.resize(1000); }), 1);
  BOOST_CHECK(kept - before >= 8000 && kept - before < 9000);
}

BOOST_AUTO_TEST_CASE(calls_on_a_warm_communicator_allocate_nothing) {
  boost::mpi::communicator const world, fresh(world, boost::mpi::comm_duplicate);
  warm_calls(fresh);
  warm_calls(colligo::mpi_communicator(fresh));
}

// Two distributions in turn: what is worked out from counts is kept for both, by requests too.
BOOST_AUTO_TEST_CASE(nor_do_calls_that_alternate_between_types_and_functors) {
  boost::mpi::communicator const world;
  std::vector<double> x(3000, 1), y(3000);
  std::vector<float> u(3000, 1), v(3000);
  warm("all_reduce of double and float, a sum and a maximum", [&] {
    colligo::all_reduce(world, x, y, std::plus<>{});
    colligo::all_reduce(world, u, v, std::plus<>{});
    colligo::all_reduce(world, x, y, colligo::maximum{});
  });
}

BOOST_AUTO_TEST_CASE(nor_do_irregular_calls) {
  boost::mpi::communicator const world, fresh(world, boost::mpi::comm_duplicate);
  auto const p = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  for (std::size_t const n : {10u, 300000u}) {
    std::vector<std::size_t> spike(p, 3), from_one(p, 0);
    spike[0] = n, from_one[p / 2] = n;
    std::vector<double> const in(n + 3 * p, 1.0);
    std::vector<double> out(n + 3 * p);
    auto const in_turn = [&](std::string const& what, auto call) {
      warm(over_mpi::text(what, ", n = ", n), [&] {
        for (auto const& counts : {std::cref(spike), std::cref(from_one)}) {
          std::size_t const all = std::reduce(counts.get().begin(), counts.get().end());
          call(counts.get(), std::span(in).first(counts.get()[me]), std::span(out).first(all));
        }
      });
    };
    auto const both = [&](auto const& by, std::string const& name) {
      in_turn("all_gatherv by " + name, [&](auto const& counts, auto mine, auto all) {
        colligo::all_gatherv(fresh, mine, all, counts, by);
      });
      in_turn("iall_gatherv by " + name, [&](auto const& counts, auto mine, auto all) {
        colligo::iall_gatherv(fresh, mine, all, counts, by).wait();
      });
      in_turn("reduce_scatter by " + name, [&](auto const& counts, auto mine, auto all) {
        colligo::reduce_scatter(fresh, std::span(in).first(all.size()), std::span(out).first(mine.size()), counts,
                                std::plus<>{}, by);
      });
    };
    both(colligo::automatic{}, "automatic");
    for (char const* const name : {"circulant", "pipelined_circulant", "pipelined_circulant@messages",
                                   "pipelined_circulant@shared_memory"})
      both(colligo::named(name), name);
    in_turn("gatherv", [&](auto const& counts, auto mine, auto all) {
      colligo::gatherv(fresh, mine, all, counts, 0);
    });
    in_turn("scatterv", [&](auto const& counts, auto mine, auto all) {
      colligo::scatterv(fresh, std::span(in).first(all.size()), counts, std::span(out).first(mine.size()), 0);
    });
  }
}

BOOST_AUTO_TEST_CASE(nor_do_calls_whose_elements_lie_apart) {
  boost::mpi::communicator const world, fresh(world, boost::mpi::comm_duplicate);
  auto const p = static_cast<std::size_t>(world.size());
  for (std::size_t const n : {3u, 40000u}) {
    std::vector<double> from(2 * n * p, 1.0), to(3 * n * p);
    auto const in = colligo::strided(from.data(), n, 2), out = colligo::strided(to.data(), n, 3);
    auto const blocks = colligo::strided(from.data(), n * p, 2), all = colligo::strided(to.data(), n * p, 3);
    auto const what = [n](char const* call) { return over_mpi::text(call, " of views, n = ", n); };
    warm(what("all_reduce"), [&] { colligo::all_reduce(fresh, in, out, std::plus<>{}); });
    warm(what("in place"), [&] { colligo::all_reduce(fresh, colligo::in_place(in), colligo::maximum{}); });
    warm(what("iall_reduce"), [&] { colligo::iall_reduce(fresh, in, out, std::plus<>{}).wait(); });
    warm(what("all_to_all"), [&] { colligo::all_to_all(fresh, blocks, all); });
    warm(what("two requests"), [&] {
      auto one = colligo::iall_gather(fresh, in, all), other = colligo::ibroadcast(fresh, blocks, 0);
      one.wait(), other.wait();
    });
    auto kept = colligo::all_reduce_init(fresh, in, out, std::plus<>{});
    warm(what("persistent all_reduce"), [&] { kept.start(), kept.wait(); });

    colligo::batch calls(fresh);
    calls.all_reduce(in, out, std::plus<>{});
    calls.all_reduce(colligo::in_place(in), colligo::maximum{});
    auto batch = calls.run_init();
    warm(what("a batch"), [&] { batch.start(), batch.wait(); });

    int const size = world.size();
    std::vector<int> const next{(world.rank() + 1) % size}, before{(world.rank() + size - 1) % size};
    colligo::neighbours const ring(fresh, before, next);
    warm(what("all_gather over neighbours"), [&] { colligo::all_gather(ring, in, out); });
    warm(what("iall_gather over neighbours"), [&] { colligo::iall_gather(ring, in, out).wait(); });
    warm(what("sum"), [&] { colligo::sum(fresh, in); });
    warm(what("dot"), [&] { colligo::dot(fresh, in, out); });

    std::vector<std::size_t> const counts(p, n);
    std::vector<std::size_t> displs(p);
    for (std::size_t r = 0; r < p; ++r) displs[r] = (p - 1 - r) * (n + 1);
    std::span const mine(from.data(), n), others(to.data() + 2 * n * p, n);
    auto const apart = [n](char const* call) { return over_mpi::text(call, " with displacements, n = ", n); };
    warm(apart("all_gatherv"), [&] { colligo::all_gatherv(fresh, mine, to.data(), counts, displs); });
    warm(apart("iall_gatherv"), [&] { colligo::iall_gatherv(fresh, mine, to.data(), counts, displs).wait(); });
    std::vector<double> wide(2 * (n + 1) * p, 3.0);
    auto const spread = colligo::strided(wide.data(), (n + 1) * p, 2);
    auto const got = colligo::strided(to.data(), (n + 1) * p, 2);
    warm(apart("all_gatherv of views"), [&] { colligo::all_gatherv(fresh, in, spread, counts, displs); });
    warm(apart("iall_gatherv of views"), [&] { colligo::iall_gatherv(fresh, in, spread, counts, displs).wait(); });
    warm(apart("scatterv of views"), [&] { colligo::scatterv(fresh, spread, counts, displs, out, 0); });
    std::ranges::fill(to, 2.0);
    auto persistent = colligo::all_to_all_v_init(fresh, spread, counts, displs, got, counts, displs);
    warm(apart("persistent all_to_all_v of views"), [&] { persistent.start(), persistent.wait(); });
    for (auto const& x : {std::cref(wide), std::cref(to)})   // each rank sent ones
      BOOST_CHECK_EQUAL(std::ranges::count(x.get(), 1.0), static_cast<std::ptrdiff_t>(n * p));
    warm(apart("gatherv"), [&] { colligo::gatherv(fresh, mine, to.data(), counts, displs, 0); });
    warm(apart("scatterv"), [&] { colligo::scatterv(fresh, from.data(), counts, displs, others.data(), n, 0); });
    warm(apart("iscatterv"), [&] { colligo::iscatterv(fresh, from, counts, displs, others, 0).wait(); });
    warm(apart("all_to_all_v"), [&] {
      colligo::all_to_all_v(fresh, from.data(), counts, displs, to.data(), counts, displs);
    });
  }
}

// Of the counts that calls had, of their plans, and of requests: a call more of the same size takes no more memory.
BOOST_AUTO_TEST_CASE(what_is_kept_for_calls_that_come_again_is_bounded) {
  boost::mpi::communicator const world, fresh(world, boost::mpi::comm_duplicate);
  if (world.size() == 1 || world.size() > tested::at_most(2, 4)) return;
  auto const p = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  std::vector<double> const in(500000, 1.0);
  std::vector<double> out(500000);
  auto const irregular = [&](std::size_t n) {
    std::vector<std::size_t> counts(p, 0);
    counts[0] = 100000 - n, counts[1] = n;
    auto const by = colligo::named("pipelined_circulant:block=1k@messages");
    colligo::all_gatherv(fresh, std::span(in).first(counts[me]), std::span(out).first(100000), counts, by);
  };
  irregular(0);
  auto const before_plans = kept;
  for (std::size_t n = 1; n < 20; ++n) irregular(n), irregular(n);
  auto const on_any = [&](std::int64_t bytes) {
    return boost::mpi::all_reduce(world, bytes, boost::mpi::maximum<std::int64_t>());
  };
  auto const plans = on_any(kept - before_plans);
  BOOST_CHECK_MESSAGE(plans > 1 << 18 && plans < 17 << 16, "plans keep " << plans << " bytes");
  auto const before_requests = kept;
  for (std::size_t i = 0; i < 6; ++i)
    colligo::iall_reduce(fresh, std::span(in).first(400000 + i), std::span(out).first(400000 + i), std::plus<>{},
                         colligo::named("recursive_doubling@messages")).wait();
  auto const requests = on_any(kept - before_requests);
  BOOST_CHECK_MESSAGE(requests > 3 << 20 && requests < 9 << 19, "requests keep " << requests << " bytes");
}

BOOST_AUTO_TEST_CASE(nor_do_calls_along_trees_and_over_hosts) {
  boost::mpi::communicator const world;
  std::vector<int> hosts;
  for (int r = 0; r < world.size(); ++r) hosts.push_back(r / 2);
  auto const tree = colligo::trees::by_host(hosts);
  for (std::size_t const n : {1u, 1000u}) {
    warm_all_reduce(world, n, colligo::configured{tree}, "a tree");
    warm_all_reduce(world, n, colligo::configured{tree, tree, true}, "a tree in order of arrival");
    warm_all_reduce(world, n, colligo::hierarchical<>{.hosts = hosts}, "hierarchical");
    warm_all_reduce(world, n, colligo::multi_leader<>{.hosts = hosts}, "multi_leader");
    warm_reduce(world, n, colligo::configured{tree}, "a tree");
    warm_reduce(world, n, colligo::hierarchical<>{.hosts = hosts}, "hierarchical");
  }
  std::string const path = "tree_of_the_allocation_test";
  if (world.rank() == 0) std::ofstream(path) << colligo::trees::flat(world.size());
  if (world.rank() == 0) setenv("COLLIGO_TREE", path.c_str(), 1);
  boost::mpi::communicator const remapped(world, boost::mpi::comm_duplicate);
  warm_all_reduce(remapped, 1, colligo::automatic{}, "a tree that the environment names");
  if (world.rank() == 0) std::remove(path.c_str()), unsetenv("COLLIGO_TREE");
}

BOOST_AUTO_TEST_CASE(nor_do_calls_whose_bits_are_asked_for_or_that_have_been_measured) {
  boost::mpi::communicator const world;
  for (std::size_t const n : {1u, 1000u}) {
    warm_all_reduce(world, n, colligo::require{colligo::same_bits}, "what has the same bits");
    warm_all_reduce(world, n, colligo::require{colligo::as_sequential}, "what combines in turn");
    warm_all_reduce(world, n, colligo::require{colligo::like(colligo::ring{})}, "what has the ring's bits");
    warm_reduce(world, n, colligo::require{colligo::like(colligo::binary_tree{})}, "what has the tree's bits");
    std::vector<double> const in(n, 1.0);
    std::vector<double> out(n);
    auto const is_decided = [&] {
      return colligo::explain<double>(world, collective::all_reduce, n, std::plus<>{}, colligo::adaptive{})
                 .find("chosen by measurement") != std::string::npos;
    };
    for (int calls = 1; calls < 3000 && (calls % 100 != 0 || !is_decided()); ++calls)   // all ranks see it at once
      colligo::all_reduce(world, in, out, std::plus<>{}, colligo::adaptive{});
    BOOST_CHECK(is_decided());
    auto const taken = colligo::explain<double>(world, collective::all_reduce, n, std::plus<>{}, colligo::adaptive{});
    std::vector<std::string> all;
    boost::mpi::all_gather(world, taken, all);
    for (auto const& theirs : all) BOOST_CHECK_EQUAL(theirs, taken);
    if (taken.find("vendor by the MPI library") == taken.npos)
      warm_all_reduce(world, n, colligo::adaptive{}, "what was measured to be best");
  }
}

BOOST_AUTO_TEST_CASE(persistent_collectives_allocate_nothing_once_they_are_made) {
  boost::mpi::communicator const world;
  for (std::size_t const n : {1u, 1000u, 100000u})
    persistent_collectives(boost::mpi::communicator(world, boost::mpi::comm_duplicate), n);
}

// Each has a functor of its own, if that has state. From the second one on that is all.
BOOST_AUTO_TEST_CASE(requests_made_again_and_again_allocate_their_functor_alone) {
  boost::mpi::communicator const world(boost::mpi::communicator(), boost::mpi::comm_duplicate);
  for (std::size_t const n : {1u, 1000u})
    for (colligo::chosen_algorithm const& algorithm :
         {colligo::chosen_algorithm(colligo::direct{}),
          colligo::chosen_algorithm(colligo::recursive_doubling{}, colligo::transport::messages)}) {
      std::vector<double> const in(n, 1);
      std::vector<double> out(n);
      auto const again_and_again = [&](auto const& op, int allocations) {
        auto const once = [&] {
          return allocations_of([&] { colligo::iall_reduce(world, in, out, op, algorithm).wait(); });
        };
        for (int warm = 0; warm < 3; ++warm) once();
        int const then = once();
        BOOST_CHECK_MESSAGE(then == allocations, name_of(algorithm) << ", " << n << " elements: " << then
                                                                    << " allocations instead of " << allocations);
        BOOST_CHECK(out == std::vector<double>(n, world.size()));
      };
      again_and_again(std::plus<>{}, 0);
      again_and_again([zero = 0.0](double a, double b) { return a + b + zero; }, 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
