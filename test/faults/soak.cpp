// SPDX-License-Identifier: BSL-1.0
// Random calls one after the other: collectives, algorithms, lengths, functors that throw, ranks that come late, and
// one that is killed. Most of them come again soon, as calls do that the library prepares. Beside them requests are in
// progress, persistent ones are started again, ranks use functors of different types for the same call, and each traces
// its calls for a while when it likes. Communicators end and others begin. The seed is printed; COLLIGO_TEST_SOAK_SEED
// takes another run's, COLLIGO_TEST_SOAK_CALLS makes as many calls instead of 2500.
#define BOOST_TEST_NO_MAIN
#include <signal.h>
#include <unistd.h>

#include <boost/mpi/communicator.hpp>
#include <boost/test/unit_test.hpp>
#include <colligo/colligo.hpp>
#include <colligo/trace.hpp>
#include <colligo/transport/threads/thread_state.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../thorough.hpp"

namespace {

using namespace colligo;
using namespace std::chrono_literals;

struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct angry {
  int* calls_left;   // 0: never throws

  long operator()(long a, long b) const {
    if (*calls_left != 0 && --*calls_left == 0) throw refusal("no");
    return a + b;
  }
};

// The same functor to the ranks, another one to the compiler.
struct angry_too : angry {
  using angry::operator();
};

unsigned setting(char const* variable, unsigned otherwise) {
  char const* const value = std::getenv(variable);
  return value ? static_cast<unsigned>(std::strtoul(value, nullptr, 10)) : otherwise;
}

std::vector<std::string> algorithms(collective c) {
  using enum collective;
  switch (c) {
    case all_reduce:
      return {"direct", "binary_tree", "recursive_doubling", "halving_doubling", "binary_blocks", "ring",
              "rotating_ring", "halving_tree", "circulant", "hierarchical", "multi_leader", "configured"};
    case reduce: return {"direct", "binary_tree", "halving_doubling", "pipelined_chain", "ring", "halving_tree"};
    case broadcast: return {"direct", "binary_tree", "scatter_all_gather", "pipelined_chain", "pipelined_tree"};
    case all_gather:
      return {"direct", "linear_ring", "pipelined_ring", "circulant", "pipelined_circulant:block=256",
              "recursive_doubling", "ring"};
    case reduce_scatter_block: return {"direct", "halving_doubling", "recursive_halving", "ring", "circulant"};
    case scan: return {"recursive_doubling", "pipelined_chain"};
    case gather: case scatter: return {"binary_tree", "linear"};
    case all_to_all: return {"direct", "pairwise"};
    case barrier: return {"direct", "dissemination"};
    default: throw std::logic_error(std::string(name_of(c)) + ": this soak has no call of it");
  }
}

/// The same on all ranks but for what happens to them.
template <class Comm>
class soak {
 public:
  /// `in_memory`: nothing is asked to go over messages.
  soak(Comm const& comm, unsigned seed, bool in_memory = false)
      : comm_(comm), random_(seed), own_(seed + 7 * static_cast<unsigned>(comm.rank())), in_memory_(in_memory),
        p_(comm.size()), me_(comm.rank()) {}

  /// Empty, or what was wrong.
  std::string call() {
    if (!open_ && own_() % 16 == 0) {
      if (!traced_) traced_.emplace(comm_, log_);
      else traced_.reset();
    }
    std::string const beside = call_beside();
    return beside.empty() ? one_call() : beside;
  }
  /// No request is in progress, on any rank.
  bool is_idle() const { return !open_; }

 private:
  // A request that stays in progress during other calls, or a persistent call.
  std::string call_beside() {
    unsigned const what = static_cast<unsigned>(random_() % 32);
    if (what < 2 && !open_) {
      beside_.assign(1 + random_() % 30, me_ + 1);
      sums_.assign(beside_.size(), -1);
      open_.emplace(iall_reduce(comm_, beside_, sums_, std::plus<>{}));
    } else if (what < 8 && open_) {
      open_->wait();
      open_.reset();
      if (sums_ != std::vector<long>(sums_.size(), static_cast<long>(p_) * (p_ + 1) / 2))
        return "request: wrong values";
    } else if (what < 10) {
      if (!again_) again_.emplace(all_reduce_init(comm_, in_place(again_values_), std::plus<>{}));
      again_values_.assign(again_values_.size(), me_ + 1);
      again_->start();
      again_->wait();
      if (again_values_ != std::vector<long>(again_values_.size(), static_cast<long>(p_) * (p_ + 1) / 2))
        return "persistent: wrong values";
    }
    return {};
  }
  std::string one_call() {
    using enum collective;
    constexpr collective all[] = {all_reduce, all_reduce, reduce, broadcast, all_gather, reduce_scatter_block,
                                  scan, gather, scatter, all_to_all, barrier};
    collective const c = all[random_() % std::size(all)];
    auto const names = algorithms(c);
    std::string name = "automatic";
    if (random_() % 4 != 0) {
      name = names[random_() % names.size()];
      constexpr char const* over[] = {"", "@shared_memory", "@messages"};
      name += over[random_() % (in_memory_ ? 2 : 3)];
    }
    n_ = random_() % (1u << random_() % 16);
    root_ = static_cast<int>(random_() % static_cast<unsigned>(p_));
    drawn& drawn_now = latest_[random_() % latest_.size()];
    if (random_() % 4 == 0 || drawn_now.name.empty()) drawn_now = {c, name, n_, root_, random_() % 4 == 0};
    return one_call(drawn_now);
  }
  struct drawn {
    collective what{};
    std::string name{};
    std::size_t n = 0;
    int root = 0;
    bool starts = false;
  };
  std::string one_call(drawn const& one) {
    auto const& [c, name, n, root, starts] = one;
    n_ = n, root_ = root;
    bool const throws = random_() % 8 == 0;
    auto const late = static_cast<int>(random_() % 64u), angry_rank = static_cast<int>(random_() % 6u);
    int const k = static_cast<int>(random_() % (n_ + 2)) + 1;
    bool const mine = throws && (angry_rank == me_ || angry_rank >= 4);   // some, or all
    left_ = mine ? k : 0;
    if (late == me_) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 2000));
    else random_();
    std::string outcome = "right";
    try {
      bool const other = own_() % 3 == 0;
      bool const right = other ? make<angry_too>(c, named(name), starts) : make<angry>(c, named(name), starts);
      if (!right) outcome = "wrong values";
    } catch (refusal const&) {
      outcome = "refused";
    } catch (failed_elsewhere const&) {
      outcome = "failed elsewhere";
    } catch (rank_lost const&) {
      throw;
    } catch (std::exception const& e) {
      outcome = e.what();
    }
    bool const reached = mine && left_ == 0, may_fail = throws && outcome == "failed elsewhere";
    left_ = 0;
    if (outcome == (reached ? "refused" : "right") || may_fail) return {};
    return std::string(starts ? "i" : "") + std::string(name_of(c)) + " of " + std::to_string(n_) + " by " + name +
           " with root " + std::to_string(root_) + " on rank " + std::to_string(me_) + " of " + std::to_string(p_) +
           (throws ? ", a functor throws" : "") + ": " + outcome;
  }

  // Ranks contribute rank + 1; `gets` elements come, `times` that or other ranks' values.
  template <class Angry>
  bool make(collective c, named const& by, bool starts) {
    using enum collective;
    auto const p = static_cast<std::size_t>(p_);
    long const mine = me_ + 1, sum = static_cast<long>(p_) * (p_ + 1) / 2;
    std::size_t const all = n_ * p;
    bool const at_root = me_ == root_;
    auto const op = as_commutative(Angry{&left_});
    std::vector<long>& in_ = inputs_[own_() % 2];   // elsewhere in memory
    in_.assign(c == reduce_scatter_block || c == scatter || c == all_to_all ? all : n_, mine);
    out_.assign(c == all_gather || c == gather || c == all_to_all ? all : n_, -1);
    auto const gathered = [&] {
      for (std::size_t i = 0; i < all; ++i)
        if (out_[i] != static_cast<long>(i / n_) + 1) return false;
      return true;
    };
    auto const are = [&](long value) { return out_ == std::vector<long>(n_, value); };
    switch (c) {
      case all_reduce:
        if (starts) iall_reduce(comm_, in_, out_, op, by).wait();
        else colligo::all_reduce(comm_, in_, out_, op, by);
        return are(sum);
      case reduce:
        if (starts) ireduce(comm_, in_, out_, op, root_, by).wait();
        else colligo::reduce(comm_, in_, out_, op, root_, by);
        return !at_root || are(sum);
      case broadcast:
        if (at_root) out_.assign(n_, 77);
        if (starts) ibroadcast(comm_, out_, root_, by).wait();
        else colligo::broadcast(comm_, out_, root_, by);
        return are(77);
      case all_gather: colligo::all_gather(comm_, in_, out_, by); return gathered();
      case reduce_scatter_block:
        if (starts) ireduce_scatter_block(comm_, in_, out_, op, by).wait();
        else colligo::reduce_scatter_block(comm_, in_, out_, op, by);
        return are(sum);
      case scan: colligo::scan(comm_, in_, out_, op, by); return are(mine * (mine + 1) / 2);
      case gather: colligo::gather(comm_, in_, out_, root_, by); return !at_root || gathered();
      case scatter: colligo::scatter(comm_, in_, out_, root_, by); return are(root_ + 1);
      case all_to_all:
        if (starts) iall_to_all(comm_, in_, out_, by).wait();
        else colligo::all_to_all(comm_, in_, out_, by);
        return gathered();
      case barrier: colligo::barrier(comm_, by); return true;
      default: throw std::logic_error(std::string(name_of(c)) + ": this soak has no call of it");
    }
  }

  Comm const& comm_;
  std::mt19937 random_, own_;   // as of all ranks; of this one
  std::array<drawn, 6> latest_;
  std::vector<long> beside_, sums_, again_values_ = std::vector<long>(3);
  std::optional<request> open_;
  std::optional<persistent> again_;
  trace_log log_{0, 64};
  std::optional<tracing<Comm>> traced_;
  bool in_memory_;
  int p_, me_, root_ = 0, left_ = 0;
  std::size_t n_ = 0;
  std::array<std::vector<long>, 2> inputs_;
  std::vector<long> out_;
};

unsigned seed_of_this_run() {
  static unsigned const seed = setting("COLLIGO_TEST_SOAK_SEED", std::random_device{}());
  return seed;
}

}  // namespace

BOOST_AUTO_TEST_CASE(soak_over_mpi) {
  boost::mpi::communicator const world;
  unsigned seed = seed_of_this_run();
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, world);
  if (world.rank() == 0) BOOST_TEST_MESSAGE("COLLIGO_TEST_SOAK_SEED=" << seed);
  unsigned const calls = setting("COLLIGO_TEST_SOAK_CALLS", 2500);
  boost::mpi::communicator comm = world;
  std::optional<soak<boost::mpi::communicator>> run(std::in_place, comm, seed);
  for (unsigned i = 0, lasts = 500; i < calls; ++i) {
    if (i >= lasts && run->is_idle()) {
      run.reset();
      comm = boost::mpi::communicator(world, boost::mpi::comm_duplicate);
      run.emplace(comm, seed + i);
      lasts = i + 500;
    }
    if (i == calls / 2 && world.size() == 3) {   // in messages, or in both; memory is in test/mpi/shared_memory.cpp
      if (world.rank() == 1) std::this_thread::sleep_for(2s);
      named const ring(std::getenv("COLLIGO_TEST_RANKS_PER_HOST") ? "ring" : "ring@messages");
      std::vector<long> const in(20000, 1);
      std::vector<long> out(in.size());
      colligo::all_reduce(comm, in, out, std::plus<>{}, ring);
      BOOST_CHECK(out == std::vector<long>(in.size(), 3));
    }
    std::string const wrong = run->call();
    BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ", call " << i << ": " << wrong);
  }
}

// A rank is killed at a random time, and the launcher lets the others go on. Not part of a run of all tests: the ranks
// that are left end the program, for MPI_Finalize would wait.
BOOST_AUTO_TEST_CASE(soak_with_a_kill, *boost::unit_test::disabled()) {
  boost::mpi::communicator const world;
  unsigned seed = seed_of_this_run();
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, world);
  std::mt19937 random(seed);
  int const victim = static_cast<int>(random() % static_cast<unsigned>(world.size()));
  auto const after = std::chrono::microseconds(random() % 1000000);
  if (world.rank() == 0) std::printf("COLLIGO_TEST_SOAK_SEED=%u\n", seed), std::fflush(stdout);
  soak run(world, seed, true);   // those who wait for messages of the rank that is gone get no error
  BOOST_REQUIRE(run.call().empty());   // before its end there is no memory to see it in
  MPI_Barrier(world);
  if (world.rank() == victim) std::thread([after] { std::this_thread::sleep_for(after), ::raise(SIGKILL); }).detach();
  using clock = std::chrono::steady_clock;
  std::string end;
  auto latest = clock::now();
  try {
    for (unsigned call = 1; end.empty(); ++call, latest = clock::now())
      if (std::string const wrong = run.call(); !wrong.empty()) end = "call " + std::to_string(call) + ": " + wrong;
  } catch (rank_lost const& e) {
    double const seconds = std::chrono::duration<double>(clock::now() - latest).count();
    if (e.rank() != victim) end = "the wrong rank: ";
    else if (seconds > 5) end = "late, after " + std::to_string(seconds) + " s: ";
    end = (end.empty() ? "told: " : end) + e.what();
  }
  for (auto const& file : std::filesystem::directory_iterator("/dev/shm"))
    if (file.path().string().find("colligo") != std::string::npos) end = "left behind: " + file.path().string();
  std::printf("rank %d of %d: %s\n", world.rank(), world.size(), end.c_str());
  std::fflush(stdout);
  sleep(2);   // or others would find this one gone as well
  _exit(end.starts_with("told") ? 0 : 1);
}

BOOST_AUTO_TEST_CASE(soak_over_threads) {
  if (boost::mpi::communicator().size() != 1) return;
  unsigned const seed = seed_of_this_run(), calls = setting("COLLIGO_TEST_SOAK_CALLS", 2500);
  for (int const p : tested::is_thorough() ? std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9} : std::vector{2, 3, 4})
    run_threads(p, [=](thread_communicator& comm) {
      soak run(comm, seed);
      for (unsigned i = 0; i < calls / 3 || !run.is_idle(); ++i) {
        if (i == calls / 6 && p == 3 && comm.rank() == 1) std::this_thread::sleep_for(2s);
        if (std::string const wrong = run.call(); !wrong.empty())
          throw std::runtime_error("seed " + std::to_string(seed) + ", call " + std::to_string(i) + ": " + wrong);
      }
    });
}
