// SPDX-License-Identifier: BSL-1.0
// Requests of all collectives, sizes, types and algorithms, up to 16 in progress at once, with blocking calls between,
// completed in an order that differs from rank to rank. What is started, and in which order, all ranks draw alike; what
// is tested and waited for each draws for itself.
#pragma once

#include <colligo/colligo.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace request_soak {

using namespace colligo;

/// What an element of rank r, place i, in the call of this salt is.
template <class T>
T value(int rank, std::size_t i, int salt) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::string(1, static_cast<char>('a' + rank)) + std::to_string((i + static_cast<std::size_t>(salt)) % 10);
  else return static_cast<T>(rank * 7 + static_cast<int>(i % 11) + salt % 13);
}
template <class T>
std::vector<T> vector_of(int rank, std::size_t n, int salt) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = value<T>(rank, i, salt);
  return all;
}

/// Sums, or concatenates: only those that keep order get it right. Has a state, which must live as long as the request.
struct plus {
  std::shared_ptr<int> state = std::make_shared<int>(1);
  template <class T>
  T operator()(T const& a, T const& b) const {
    if (*state != 1) throw std::runtime_error("a functor is used after its end");
    return a + b;
  }
};

/// A collective in progress, and what has to come out.
class pending {
 public:
  virtual ~pending() = default;
  virtual bool test() = 0;
  virtual void wait() = 0;
};

template <class T>
struct vectors {
  std::vector<T> in, out, expected;
  bool relevant = true;
};

template <class T, class Handle>
class pending_of final : public pending {
 public:
  pending_of(std::string what, std::unique_ptr<vectors<T>> data, Handle handle)
      : what_(std::move(what)), data_(std::move(data)), handle_(std::move(handle)) {}

  bool test() override {
    bool const complete = handle_.test();
    if (complete) check();
    return complete;
  }
  void wait() override {
    handle_.wait();
    check();
  }

 private:
  void check() const {
    if (data_->relevant && data_->out != data_->expected) throw std::runtime_error(what_ + ": wrong result");
  }
  std::string what_;
  std::unique_ptr<vectors<T>> data_;
  Handle handle_;
};

template <class T>
std::vector<T> combined(int from, int to, std::size_t n, int salt) {
  auto all = vector_of<T>(from, n, salt);
  for (int r = from + 1; r < to; ++r)
    for (std::size_t i = 0; i < n; ++i) all[i] = all[i] + value<T>(r, i, salt);
  return all;
}

/// Starts one, drawn from `random`, which is the same on all ranks.
template <class T, class Comm>
std::unique_ptr<pending> start(Comm const& comm, std::mt19937& random, int salt, std::vector<std::string> const& ways) {
  int const p = comm.size(), me = comm.rank(), root = static_cast<int>(random() % static_cast<unsigned>(p));
  std::size_t const ranks = static_cast<std::size_t>(p), here = static_cast<std::size_t>(me);
  std::size_t const n = random() % 8 == 0 ? random() % 3000 : random() % 40;
  unsigned const kind = static_cast<unsigned>(random() % 15);
  bool const persists = random() % 3 == 0;
  std::string way = ways[random() % ways.size()];
  if (!travels_as_bytes<T>) way.clear();   // no memory for these
  auto data = std::make_unique<vectors<T>>();
  auto &in = data->in, &out = data->out, &expected = data->expected;   // no bindings: clang 14 captures none
  bool& relevant = data->relevant;
  in = vector_of<T>(me, n, salt);
  std::string what;
  auto const by = [&](std::initializer_list<char const*> names) {
    std::string name = *(names.begin() + static_cast<std::ptrdiff_t>(random() % names.size()));
    if (way == automatic::name) name = way;
    what += " by " + name + way;
    return named(name == automatic::name ? name : name + way);
  };
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < ranks; ++r) counts.push_back((r * 5 + static_cast<std::size_t>(salt)) % 4 * n / 2);
  auto const gathered = [&] {
    for (int r = 0; r < p; ++r)
      for (T const& x : vector_of<T>(r, kind == 5 || kind == 7 ? counts[static_cast<std::size_t>(r)] : n, salt))
        expected.push_back(x);
  };
  auto const make = [&](auto&& started, auto&& ready) -> std::unique_ptr<pending> {
    if (persists) {
      persistent handle = ready();
      handle.start();
      return std::make_unique<pending_of<T, persistent>>(what + " (persistent)", std::move(data), std::move(handle));
    }
    return std::make_unique<pending_of<T, request>>(what, std::move(data), started());
  };
  plus const op;
  switch (kind) {
    case 0: {
      what = "all_reduce";
      out.resize(n);
      expected = combined<T>(0, p, n, salt);
      named const a =
          by({"recursive_doubling", "halving_doubling", "chained_halving", "direct", "binary_tree", "automatic"});
      return make([&] { return iall_reduce(comm, in, out, op, a); },
                  [&] { return all_reduce_init(comm, in, out, op, a); });
    }
    case 1: {
      what = "all_reduce in place";
      out = in;
      expected = combined<T>(0, p, n, salt);
      named const a = by({"binary_blocks", "recursive_doubling", "direct:slices=64", "automatic"});
      return make([&] { return iall_reduce(comm, in_place(out), op, a); },
                  [&] { return all_reduce_init(comm, in_place(out), op, a); });
    }
    case 2: {
      what = "reduce";
      out.resize(me == root ? n : 0);
      if (me == root) expected = combined<T>(0, p, n, salt);
      named const a =
          by({"binary_tree", "halving_doubling", "chained_halving", "direct", "pipelined_chain:block=64", "automatic"});
      return make([&] { return ireduce(comm, in, out, op, root, a); },
                  [&] { return reduce_init(comm, in, out, op, root, a); });
    }
    case 3: {
      what = "broadcast";
      out = me == root ? in : std::vector<T>(n);
      expected = vector_of<T>(root, n, salt);
      named const a =
          by({"binary_tree", "scatter_all_gather", "pipelined_circulant:block=64", "pipelined_chain:block=64",
              "pipelined_tree:block=64", "automatic"});
      return make([&] { return ibroadcast(comm, out, root, a); }, [&] { return broadcast_init(comm, out, root, a); });
    }
    case 4: {
      what = "all_gather";
      out.resize(n * ranks);
      gathered();
      named const a = by({"ring", "circulant", "pipelined_circulant:block=64", "direct", "recursive_doubling",
                            "automatic"});
      return make([&] { return iall_gather(comm, in, out, a); }, [&] { return all_gather_init(comm, in, out, a); });
    }
    case 5: {
      what = "all_gatherv";
      in = vector_of<T>(me, counts[here], salt);
      gathered();
      out.resize(expected.size());
      named const a = by({"ring", "circulant", "direct", "pipelined_ring:block=64", "pipelined_circulant:block=64",
                            "automatic"});
      return make([&] { return iall_gatherv(comm, in, out, counts, a); },
                  [&] { return all_gatherv_init(comm, in, out, counts, a); });
    }
    case 6: {
      what = "gather";
      relevant = me == root;
      out.resize(me == root ? n * ranks : 0);
      gathered();
      named const a = by({"binary_tree", "linear", "automatic"});
      return make([&] { return igather(comm, in, out, root, a); }, [&] { return gather_init(comm, in, out, root, a); });
    }
    case 7: {
      what = "gatherv";
      in = vector_of<T>(me, counts[here], salt);
      relevant = me == root;
      gathered();
      out.resize(me == root ? expected.size() : 0);
      named const a = by({"binary_tree", "linear", "automatic"});
      return make([&] { return igatherv(comm, in, out, counts, root, a); },
                  [&] { return gatherv_init(comm, in, out, counts, root, a); });
    }
    case 8: {
      what = "scatter";
      in = me == root ? vector_of<T>(root, n * ranks, salt) : std::vector<T>{};
      out.resize(n);
      for (std::size_t i = 0; i < n; ++i) expected.push_back(value<T>(root, here * n + i, salt));
      named const a = by({"binary_tree", "linear", "automatic"});
      return make([&] { return iscatter(comm, in, out, root, a); },
                  [&] { return scatter_init(comm, in, out, root, a); });
    }
    case 9: {
      what = "reduce_scatter_block";
      in = vector_of<T>(me, n * ranks, salt);
      out.resize(n);
      auto const all = combined<T>(0, p, n * ranks, salt);
      expected.assign(all.begin() + static_cast<std::ptrdiff_t>(here * n),
                      all.begin() + static_cast<std::ptrdiff_t>((here + 1) * n));
      named const a = by({"halving_doubling", "chained_halving", "direct", "automatic"});
      return make([&] { return ireduce_scatter_block(comm, in, out, op, a); },
                  [&] { return reduce_scatter_block_init(comm, in, out, op, a); });
    }
    case 10: {
      what = "scan";
      out.resize(n);
      expected = combined<T>(0, me + 1, n, salt);
      named const a = by({"recursive_doubling", "pipelined_chain:block=64", "automatic"});
      return make([&] { return iscan(comm, in, out, op, a); }, [&] { return scan_init(comm, in, out, op, a); });
    }
    case 11: {
      what = "exclusive_scan";
      out.resize(n);
      T const init = value<T>(3, 4, salt);
      expected.assign(n, init);
      for (int r = 0; r < me; ++r)
        for (std::size_t i = 0; i < n; ++i) expected[i] = expected[i] + value<T>(r, i, salt);
      named const a = by({"recursive_doubling", "doubling_123", "pipelined_chain:block=64", "automatic"});
      return make([&] { return iexclusive_scan(comm, in, out, init, op, a); },
                  [&] { return exclusive_scan_init(comm, in, out, init, op, a); });
    }
    case 12: {
      what = "all_to_all";
      in = vector_of<T>(me, n * ranks, salt);
      out.resize(in.size());
      for (int r = 0; r < p; ++r)
        for (std::size_t i = 0; i < n; ++i) expected.push_back(value<T>(r, here * n + i, salt));
      named const a = by({"pairwise", "pairwise:window=1", "direct", "automatic"});
      return make([&] { return iall_to_all(comm, in, out, a); }, [&] { return all_to_all_init(comm, in, out, a); });
    }
    case 13: {
      what = "all_to_all_v";
      auto const count = [&](std::size_t s, std::size_t d) { return counts[(s + 2 * d) % ranks]; };
      std::vector<std::size_t> mine, theirs;
      in.clear();
      for (std::size_t r = 0; r < ranks; ++r) {
        mine.push_back(count(here, r)), theirs.push_back(count(r, here));
        for (std::size_t i = 0; i < mine[r]; ++i) in.push_back(value<T>(me, r + i, salt));
        for (std::size_t i = 0; i < theirs[r]; ++i) expected.push_back(value<T>(static_cast<int>(r), here + i, salt));
      }
      out.resize(expected.size());
      named const a = by({"pairwise", "pairwise:window=1", "direct", "automatic"});
      return make([&] { return iall_to_all_v(comm, in, mine, out, theirs, a); },
                  [&] { return all_to_all_v_init(comm, in, mine, out, theirs, a); });
    }
    default: {
      what = "barrier";
      named const a = by({"dissemination", "direct", "automatic"});
      return make([&] { return ibarrier(comm, a); }, [&] { return barrier_init(comm, a); });
    }
  }
}

/// A blocking call. True if it gives what it has to.
template <class Comm>
bool call_right(Comm const& comm, std::mt19937& random, int salt, named const& by) {
  int const p = comm.size(), root = salt % p;
  std::size_t const n = random() % 4 == 0 ? 3000 : 3;
  std::vector<std::int64_t> const in(n, comm.rank() + salt);
  std::vector<std::int64_t> out(n, comm.rank() == root ? salt : -1);
  switch (random() % 4) {
    case 0: colligo::broadcast(comm, out, root); return out == std::vector<std::int64_t>(n, salt);
    case 1: colligo::barrier(comm); return true;
    case 2:
      out.resize(n * static_cast<std::size_t>(p));
      colligo::all_gather(comm, in, out);
      return out.front() == salt && out.back() == p - 1 + salt;
    default:
      colligo::all_reduce(comm, in, out, std::plus<>{}, by);
      return out == std::vector<std::int64_t>(n, std::int64_t{p} * (p - 1) / 2 + std::int64_t{p} * salt);
  }
}

/// Throws where something is wrong. `ways`: "", "@messages" or "@shared_memory" behind the algorithms' names; or
/// "automatic", all is left to the library.
template <class Comm>
void soak(Comm const& comm, unsigned seed, int rounds, std::vector<std::string> const& ways) {
  std::mt19937 alike(seed), own(seed + 1 + static_cast<unsigned>(comm.rank()));
  int salt = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<pending>> in_progress;
    auto const drop = [&](std::size_t k) {
      std::swap(in_progress[k], in_progress.back());
      in_progress.pop_back();
    };
    std::size_t const together = 1 + alike() % 16;
    for (std::size_t k = 0; k < together; ++k) {
      ++salt;
      switch (alike() % 4) {
        case 0: in_progress.push_back(start<std::string>(comm, alike, salt, ways)); break;
        case 1: in_progress.push_back(start<std::int64_t>(comm, alike, salt, ways)); break;
        default: in_progress.push_back(start<double>(comm, alike, salt, ways));
      }
      if (alike() % 5 == 0) {   // a blocking call between
        bool const chooses = ways[0] == automatic::name || alike() % 2 == 0;
        if (!call_right(comm, alike, salt, named(chooses ? "automatic" : "recursive_doubling" + ways[0])))
          throw std::runtime_error("a blocking call among requests: wrong result");
      }
      if (!in_progress.empty() && own() % 2) {
        std::size_t const which = own() % in_progress.size();
        if (in_progress[which]->test()) drop(which);
      }
      if (!in_progress.empty() && own() % 8 == 0) {
        std::size_t const which = own() % in_progress.size();
        in_progress[which]->wait();
        drop(which);
      }
    }
    while (!in_progress.empty()) {
      std::size_t const which = own() % in_progress.size();
      if (own() % 2) in_progress[which]->wait();
      else if (!in_progress[which]->test()) continue;
      drop(which);
    }
  }
}

/// A root hundreds of starts ahead of its readers: more messages than a channel has lines, so it finds no room. Returns
/// how many values are wrong on this rank.
template <class Comm>
int wrong_far_ahead(Comm const& comm) {
  std::vector<long> value(1);
  auto again = broadcast_init(comm, value, 0);
  int wrong = 0;
  for (long i = 0; i < 700; ++i) {
    if (comm.rank() == 0) value[0] = i;
    else if (i % 300 == 10) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    again.start();
    if (i % 3 != 1 || !again.test()) again.wait();
    wrong += value[0] != i;
  }
  return wrong;
}

}  // namespace request_soak
