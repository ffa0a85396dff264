// SPDX-License-Identifier: BSL-1.0
// Ranks that make different calls in checked mode: what is thrown, where, and that nothing else happens. For tests over
// MPI and over threads.
#pragma once

#include <colligo/colligo.hpp>
#include <colligo/neighbours.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace checked_calls {

using colligo::collective;

/// What may differ between two calls of a collective.
struct how {
  std::size_t n = 3;        ///< elements of each rank
  std::size_t more = 0;     ///< elements that rank 0 has beyond, where ranks may have different counts
  int root = 0;
  std::string algorithm = "automatic";
};

constexpr std::size_t room = 202;   ///< elements: 5 of each of 40 ranks, and 2 more
template <class T>
struct vectors {
  std::vector<T> in = std::vector<T>(room, 1), out = std::vector<T>(room, 77);
  bool untouched() const { return out == std::vector<T>(room, 77); }
};

/// Any collective, blocking, by this algorithm.
template <class T, class Op, class Comm, class Algorithm>
void make_by(Algorithm const& by, Comm const& comm, collective c, how const& h, vectors<T>& v, Op op) {
  using enum collective;
  auto const me = static_cast<std::size_t>(comm.rank()), p = static_cast<std::size_t>(comm.size());
  std::vector<std::size_t> counts(p, h.n);
  counts[0] += h.more;
  std::size_t const mine = counts[me], all = p * h.n + h.more;
  auto const in = [&v](std::size_t n) { return std::span<T const>(v.in).first(n); };
  auto const out = [&v](std::size_t n) { return std::span<T>(v.out).first(n); };
  switch (c) {
    case all_reduce: return colligo::all_reduce(comm, in(h.n), out(h.n), op, by);
    case reduce: return colligo::reduce(comm, in(h.n), out(h.n), op, h.root, by);
    case broadcast: return colligo::broadcast(comm, out(h.n), h.root, by);
    case all_gather: return colligo::all_gather(comm, in(h.n), out(p * h.n), by);
    case all_gatherv: return colligo::all_gatherv(comm, in(mine), out(all), counts, by);
    case gather: return colligo::gather(comm, in(h.n), out(p * h.n), h.root, by);
    case gatherv: return colligo::gatherv(comm, in(mine), out(all), counts, h.root, by);
    case scatter: return colligo::scatter(comm, in(p * h.n), out(h.n), h.root, by);
    case scatterv: return colligo::scatterv(comm, in(all), counts, out(mine), h.root, by);
    case reduce_scatter: return colligo::reduce_scatter(comm, in(all), out(mine), counts, op, by);
    case reduce_scatter_block: return colligo::reduce_scatter_block(comm, in(p * h.n), out(h.n), op, by);
    case scan: return colligo::scan(comm, in(h.n), out(h.n), op, by);
    case exclusive_scan: return colligo::exclusive_scan(comm, in(h.n), out(h.n), T(0), op, by);
    case all_to_all: return colligo::all_to_all(comm, in(p * h.n), out(p * h.n), by);
    case all_to_all_v: {
      std::vector<std::size_t> const each(p, h.n);
      return colligo::all_to_all_v(comm, in(p * h.n), each, out(p * h.n), each, by);
    }
    case barrier: return colligo::barrier(comm, by);
    case exchange: return;   // is over a graph
  }
}
/// The same, by the algorithm that is named.
template <class T, class Op, class Comm>
void make(Comm const& comm, collective c, how const& h, vectors<T>& v, Op op) {
  make_by(colligo::named(h.algorithm), comm, c, h, v, op);
}

constexpr bool has_counts(collective c) {
  using enum collective;
  return c == all_gatherv || c == gatherv || c == scatterv || c == reduce_scatter;
}

/// A string that travels.
struct sheet { std::array<char, 4000> text{}; };
inline sheet on_a_sheet(std::string const& text) {
  sheet made;
  text.copy(made.text.data(), made.text.size() - 1);
  return made;
}
template <class Comm>
std::vector<std::string> policies_of_all(Comm const& comm, std::string const& mine) {
  sheet const here = on_a_sheet(mine);
  std::vector<sheet> all(static_cast<std::size_t>(comm.size()));
  colligo::all_gather(comm, std::span(&here, 1), all);
  std::vector<std::string> texts;
  for (sheet const& s : all) texts.emplace_back(s.text.data());
  return texts;
}

/// All tests over one communicator, whose calls are checked. `report(right, what)` is called for everything.
template <class Comm, class Report>
class trials {
 public:
  trials(Comm const& comm, Report report) : comm_(comm), report_(report), me_(comm.rank()), p_(comm.size()) {}

  void all() {
    for (int const odd : {0, p_ - 1}) {
      odd_ = odd;
      if (p_ > 1) every_mismatch();
      every_refusal();
      if (p_ == 1) break;
    }
    agreement();
  }

  // What agrees is done as ever.
  void agreement() {
    for (collective const c : colligo::collectives) {
      using enum collective;
      for (how const& h : {how{}, how{.n = 0}, how{.root = p_ - 1}, how{.n = 5, .more = has_counts(c) ? 2u : 0u}}) {
        vectors<double> v;
        if (c == broadcast && me_ == h.root) std::fill_n(v.out.begin(), h.n, 1);
        make_by(colligo::automatic{}, comm_, c, h, v, std::plus<>{});
        auto const p = static_cast<std::size_t>(p_);
        bool const gets = !(c == reduce || c == gather || c == gatherv) || me_ == h.root;
        bool const gathers = c == all_gather || c == all_gatherv || c == gather || c == gatherv || has_two_vectors(c);
        std::size_t const n = c == barrier || !gets ? 0 : gathers ? p * h.n + h.more : h.n + (me_ == 0 ? h.more : 0);
        double const value = c == scan ? me_ + 1 : c == exclusive_scan ? me_ : combines(c) ? p_ : 1;
        std::vector<double> expected(room, 77);
        std::fill_n(expected.begin(), n, value);
        report_(v.out == expected, std::string(name_of(c)) + " of " + std::to_string(h.n) + ": wrong values");
      }
    }
    vectors<double> v;
    auto sum = colligo::all_reduce_init(comm_, v.in, v.out, std::plus<>{});
    for (int round = 0; round < 3; ++round) sum.start(), sum.wait();
    report_(v.out == std::vector<double>(room, p_), "a persistent sum is wrong");
    auto const all = colligo::all_gatherv(comm_, std::vector<int>(static_cast<std::size_t>(me_), me_));
    report_(all.data.size() == static_cast<std::size_t>(p_ * (p_ - 1) / 2), "all_gatherv of unknown counts");
  }

 private:
  enum class kind { nothing, mismatch, own };
  struct outcome {
    kind what = kind::nothing;
    std::string text = "nothing was thrown";
  };
  template <class F>
  static outcome outcome_of(F call) {
    try {
      call();
    } catch (colligo::mismatch_error const& e) {
      return {kind::mismatch, e.what()};
    } catch (colligo::error const& e) {
      return {kind::own, e.what()};
    }
    return {};
  }

  bool odd() const { return me_ == odd_; }
  std::string at_odd() const { return "rank " + std::to_string(odd_); }
  // All but the odd one, which is the first or the last.
  std::string others() const {
    int const first = odd_ == 0 ? 1 : 0, last = odd_ == 0 ? p_ - 1 : p_ - 2;
    if (first == last) return "rank " + std::to_string(first) + " calls ";
    return "ranks " + std::to_string(first) + (last == first + 1 ? ", " : "-") + std::to_string(last) + " call ";
  }
  static bool has(std::string const& text, std::string const& words) { return text.find(words) != text.npos; }
  void see(bool right, std::string const& name, std::string const& what) {
    report_(right, name + ", " + at_odd() + " of " + std::to_string(p_) + " differs: " + what);
  }
  void next_call_is_right(std::string const& name) {
    int sum = 0;
    auto const o = outcome_of([&] { sum = colligo::all_reduce(comm_, me_ + 1, std::plus<>{}); });
    see(o.what == kind::nothing && sum == p_ * (p_ + 1) / 2, name, "the next call: " + o.text);
  }

  // call(odd, vectors) is the call of the odd rank, or of the others.
  template <class F>
  void differ(std::string const& name, F call, std::string const& said_of_odd, std::string const& said_of_others,
              std::vector<std::string> words = {}) {
    vectors<double> v;
    outcome const mine = outcome_of([&] { call(odd(), v); });
    auto const texts = policies_of_all(comm_, mine.text);
    words.push_back(at_odd() + " calls " + said_of_odd);
    words.push_back(others() + said_of_others);
    see(mine.what == kind::mismatch, name, mine.text);
    see(std::ranges::count(texts, mine.text) == p_, name, "not all have the same text");
    for (auto const& word : words) see(has(mine.text, word), name, mine.text + "\n lacks " + word);
    see(v.untouched(), name, "the output was written");
    next_call_is_right(name);
  }
  // Only the odd rank is refused, or all are.
  template <class F>
  void refuse(std::string const& name, F call, std::string const& reason) {
    vectors<double> v;
    outcome const mine = outcome_of([&] { call(odd(), v); });
    auto const texts = policies_of_all(comm_, mine.text);
    std::string const& text = texts[static_cast<std::size_t>(odd_)];
    see(mine.what == (odd() ? kind::own : kind::mismatch), name, mine.text);
    see(has(text, at_odd() + " of") && has(text, reason), name, text + "\n lacks " + reason);
    see(odd() || has(mine.text, at_odd() + " refuses: " + text), name, mine.text + "\n lacks " + text);
    see(odd() || has(mine.text, others()), name, mine.text + "\n lacks " + others());
    see(std::ranges::count(texts, texts[static_cast<std::size_t>(odd_ == 0 ? p_ - 1 : 0)]) >= p_ - 1, name,
        "not all others have the same text");
    see(v.untouched(), name, "the output was written");
    next_call_is_right(name);
  }

  void every_mismatch() {
    for (std::size_t i = 0; i < colligo::collectives.size(); ++i)
      mismatches_of(colligo::collectives[i], colligo::collectives[(i + 1) % colligo::collectives.size()]);
    for (auto const& [c, algorithm] : {std::pair(collective::reduce, "pipelined_chain:block="),
                                       std::pair(collective::all_gatherv, "pipelined_ring:block="),
                                       std::pair(collective::all_reduce, "direct:slices=")}) {
      how const odd_one{.algorithm = algorithm + std::string("64")}, rest{.algorithm = algorithm + std::string("128")};
      differ(std::string(name_of(c)) + ", knob",
             [&, chosen = c](bool other, auto& v) { make(comm_, chosen, other ? odd_one : rest, v, std::plus<>{}); },
             std::string(name_of(c)), std::string(name_of(c)), {"=64", "=128"});
    }
    calls_in_full();
    own_counts();
    trees();
    requests();
  }

  // What is said of such a call.
  static std::string begins(collective c) {
    return c == collective::barrier ? ", " : c == collective::all_to_all_v ? " of double (8 bytes each), " : " of 3";
  }

  void mismatches_of(collective c, collective next) {
    std::plus<> const sum;
    std::string const name(name_of(c)), other_name(name_of(next));
    differ(name + " and another collective", [&](bool other, auto& v) { make(comm_, other ? next : c, {}, v, sum); },
           other_name + begins(next), name + begins(c));
    auto const with = [&](std::string const& what, how const& odd_one, how const& rest, std::string const& words_of_odd,
                          std::string const& words_of_rest, std::vector<std::string> words = {}) {
      differ(name + ", " + what, [&](bool other, auto& v) { make(comm_, c, other ? odd_one : rest, v, sum); },
             name + words_of_odd, name + words_of_rest, words);
    };
    auto const [one, another] = two_algorithms(c);
    with("algorithm", {.algorithm = one}, {.algorithm = another}, "", "", {", " + one, ", " + another});
    std::string const over_memory = one + "@shared_memory";
    with("transport", {.algorithm = over_memory}, {.algorithm = one}, "", "", {", " + over_memory});
    if (has_root(c)) with("root", {.root = 1}, {}, " of 3", " of 3", {" with root 1, ", " with root 0, "});
    if (c == collective::barrier) return;
    if (c == collective::all_to_all_v) {   // whose counts are no ranks' in common
    } else if (has_counts(c)) {
      with("counts", {.n = 5}, {}, " of 5, 5", " of 3, 3");
      with("one count", {.more = 1}, {}, " of 4, 3", " of 3, 3");
    } else {
      with("n", {.n = 5}, {}, " of 5 double (40 bytes)", " of 3 double (24 bytes)");
    }
    vectors<float> single;
    differ(name + ", element type",
           [&](bool other, auto& v) { other ? make(comm_, c, {}, single, sum) : make(comm_, c, {}, v, sum); },
           name + " of ", name + " of ", {" float (", " double ("});
    see(single.untouched(), name + ", element type", "the output was written");
    if (combines(c))
      differ(name + ", functor",
             [&](bool other, auto& v) {
               other ? make(comm_, c, {}, v, colligo::maximum{}) : make(comm_, c, {}, v, sum);
             },
             name, name, {"maximum", "plus"});
  }

  static std::pair<std::string, std::string> two_algorithms(collective c) {
    using enum collective;
    switch (c) {
      case broadcast: return {"binary_tree", "pipelined_tree"};
      case all_gather: case all_gatherv: return {"ring", "circulant"};
      case gather: case gatherv: case scatter: case scatterv: return {"linear", "binary_tree"};
      case reduce_scatter: case reduce_scatter_block: return {"ring", "circulant"};
      case scan: case exclusive_scan: return {"recursive_doubling", "pipelined_chain"};
      case all_to_all: case all_to_all_v: return {"pairwise:window=4", "direct"};
      case barrier: return {"dissemination", "direct"};
      default: return {"ring", "binary_tree"};
    }
  }

  // That a difference is found is not enough: it has to be seen.
  void calls_in_full() {
    std::vector<float> single(3, 1), single_out(3);
    differ("types",
           [&](bool other, auto& v) {
             auto const in = std::span(v.in).first(3), out = std::span(v.out).first(3);
             if (other) colligo::all_reduce(comm_, single, single_out, std::plus<float>{}, colligo::ring{});
             else
               colligo::all_reduce(comm_, in, out, std::plus<double>{}, colligo::over_shared_memory{colligo::ring{}});
           },
           "all_reduce of 3 float (12 bytes), ring, std::plus<float>",
           "all_reduce of 3 double (24 bytes), ring@shared_memory, std::plus<double>");
    differ("knobs and functors",
           [&](bool other, auto& v) {
             auto const in = std::span(v.in).first(3), out = std::span(v.out).first(3);
             colligo::pipelined_chain const by{.block = other ? 64u : 128u};
             if (other) colligo::reduce(comm_, in, out, std::multiplies<double>{}, 0, by);
             else colligo::reduce(comm_, in, out, std::plus<double>{}, 0, by);
           },
           "reduce of 3 double (24 bytes) with root 0, pipelined_chain:block=64, std::multiplies<double>",
           "reduce of 3 double (24 bytes) with root 0, pipelined_chain:block=128, std::plus<double>");
    differ("strings",
           [&](bool other, auto&) {
             std::vector<std::string> const words{"a", "b"};
             std::vector<std::string> all(2);
             colligo::all_reduce(comm_, std::span(words).first(other ? 1 : 2), std::span(all).first(other ? 1 : 2),
                                 std::plus<>{}, colligo::binary_tree{});
             throw std::logic_error("not refused");
           },
           "all_reduce of 1 std::", "all_reduce of 2 std::");
    // Whose first call with shared memory this may be on some ranks alone.
    differ("a type that never goes through shared memory",
           [&](bool other, auto& v) {
             std::vector<std::string> words(2);
             if (other) colligo::broadcast(comm_, words, 0);
             else colligo::broadcast(comm_, std::span(v.out).first(2), 0);
           },
           "broadcast of 1 number of std::", "broadcast of 2 double (16 bytes) with root 0, ");
  }

  // What two ranks alone know: one sends another 3 elements, which expects 2.
  void own_counts() {
    int const next = (odd_ + 1) % p_;
    auto const p = static_cast<std::size_t>(p_);
    std::vector<std::size_t> sent(p, 2), expected(p, 2);
    if (odd()) sent[static_cast<std::size_t>(next)] = 3;
    auto const unbalanced = [&](std::string const& name, auto call, std::string const& words = "") {
      vectors<double> v;
      std::size_t const n = 2 * p + odd();
      outcome const mine = outcome_of([&] { call(std::span(v.in).first(n), std::span(v.out).first(2 * p)); });
      see(mine.what == kind::mismatch, name, mine.text);
      see(std::ranges::count(policies_of_all(comm_, mine.text), mine.text) == p_, name, "not all have the same text");
      std::string const said = ", but " + at_odd() + " sends 3 elements to rank " + std::to_string(next) +
                               ", which expects 2" + words;
      see(has(mine.text, "different calls: all call " + name), name, mine.text);
      see(mine.text.ends_with(said), name, mine.text + "\n lacks " + said);
      see(v.untouched(), name, "the output was written");
      next_call_is_right(name);
    };
    unbalanced("all_to_all_v of double (8 bytes each), direct", [&](auto in, auto out) {
      colligo::all_to_all_v(comm_, in, sent, out, expected, colligo::direct{});
    });
    unbalanced("all_to_all_v of double", [&](auto in, auto out) {
      colligo::all_to_all_v(comm_, in, sent, out, expected);
    });
    unbalanced("iall_to_all_v of double", [&](auto in, auto out) {
      colligo::iall_to_all_v(comm_, in, sent, out, expected).wait();
    });
    unbalanced("all_to_all_v_init of double", [&](auto in, auto out) {
      auto again = colligo::all_to_all_v_init(comm_, in, sent, out, expected);
    });
    // Over a graph: each rank sends three blocks to the next one.
    std::vector<int> const from(3, (me_ + p_ - 1) % p_), to(3, (me_ + 1) % p_);
    colligo::neighbours const graph(comm_, from, to);
    for (int const which : {0, 2}) {
      std::vector<int> out_counts(3, 2), in_counts(3, 2);
      if (odd()) out_counts[static_cast<std::size_t>(which)] = 3;
      std::string const words = " (block " + std::to_string(which + 1) + " of 3 between them)";
      std::vector<double> const all(7, 1);
      std::span<double const> const in = std::span(all).first(odd() ? 7 : 6);
      std::vector<double> out(6, 77);
      unbalanced("exchange of double", [&](auto, auto) {
        colligo::all_to_all_v(graph, in, out_counts, out, in_counts);
      }, words);
      unbalanced("iexchange of double", [&](auto, auto) {
        colligo::iall_to_all_v(graph, in, out_counts, out, in_counts).wait();
      }, words);
      unbalanced("exchange of double", [&](auto, auto) {
        colligo::reduce_v(graph, in, out_counts, std::span(out).first(2), std::plus<>{});
      }, words);
      see(out == std::vector<double>(6, 77), "over a graph", "the output was written");
    }
  }

  void trees() {
    colligo::tree const flat = colligo::trees::flat(p_), chain = colligo::trees::chain(p_);
    if (p_ > 2)
      differ("trees",
             [&](bool other, auto& v) {
               colligo::broadcast(comm_, std::span(v.out).first(3), 0, colligo::configured{other ? flat : chain});
             },
             "broadcast of 3", "broadcast of 3", {", configured:", "trees="});
  }

  void requests() {
    auto const parts = [](auto& v, std::size_t n) {
      return std::pair(std::span(v.in).first(n), std::span(v.out).first(n));
    };
    differ("requests, n",
           [&](bool other, auto& v) {
             auto const [in, out] = parts(v, other ? 4 : 3);
             auto r = colligo::iall_reduce(comm_, in, out, std::plus<>{});
           },
           "iall_reduce of 4 ", "iall_reduce of 3 ");
    differ("persistent ones, n",
           [&](bool other, auto& v) {
             auto const [in, out] = parts(v, other ? 4 : 3);
             auto r = colligo::all_reduce_init(comm_, in, out, std::plus<>{});
           },
           "all_reduce_init of 4 ", "all_reduce_init of 3 ");
    differ("a request and a blocking call",
           [&](bool other, auto& v) {
             auto const [in, out] = parts(v, 3);
             if (other) colligo::iall_reduce(comm_, in, out, std::plus<>{}).wait();
             else colligo::all_reduce(comm_, in, out, std::plus<>{});
           },
           "iall_reduce of 3 ", "all_reduce of 3 ");
    // Those that are in progress go on, and come to the right end.
    vectors<double> v;
    auto const [in, out] = parts(v, 50);
    auto in_progress = colligo::iall_reduce(comm_, in, out, std::plus<>{}, colligo::ring{});
    differ("beside a request",
           [&](bool other, auto& w) {
             make(comm_, collective::scan, {.n = other ? 2u : 3u}, w, std::plus<>{});
           },
           "scan of 2", "scan of 3");
    in_progress.wait();
    see(std::ranges::count(v.out, p_) == 50, "beside a request", "its result is wrong");
  }

  void every_refusal() {
    auto const in = [](auto& v, std::size_t n) { return std::span(v.in).first(n); };
    auto const out = [](auto& v, std::size_t n) { return std::span(v.out).first(n); };
    std::plus<> const sum;
    refuse("size", [&](bool wrong, auto& v) { colligo::all_reduce(comm_, in(v, 3), out(v, wrong ? 4 : 3), sum); },
           "the output has 4 elements, expected 3");
    if (p_ > 1) {
      std::size_t const all = 2 * static_cast<std::size_t>(p_);
      std::string const words = "the output has 0 elements, expected 2";
      refuse("empty output", [&](bool wrong, auto& v) {
        colligo::reduce_scatter_block(comm_, in(v, all), out(v, wrong ? 0 : 2), sum);
      }, words);
      refuse("empty output of a scatter", [&](bool wrong, auto& v) {
        colligo::scatter(comm_, in(v, all), out(v, wrong ? 0 : 2), odd_);
      }, words);
    }
    refuse("root", [&](bool wrong, auto& v) { colligo::broadcast(comm_, out(v, 3), wrong ? p_ : 0); },
           "root " + std::to_string(p_) + " is not a rank");
    refuse("overlap",
           [&](bool wrong, auto& v) { colligo::scan(comm_, wrong ? out(v, 3) : in(v, 3), out(v, 3), sum); }, "overlap");
    refuse("list of counts",
           [&](bool wrong, auto& v) {
             std::vector<int> counts(static_cast<std::size_t>(p_), 2);
             if (wrong) counts.push_back(2);
             colligo::all_gatherv(comm_, in(v, 2), out(v, 2 * static_cast<std::size_t>(p_)), counts);
           },
           "the list of counts has " + std::to_string(p_ + 1));
    refuse("negative count",
           [&](bool wrong, auto& v) {
             std::vector<int> counts(static_cast<std::size_t>(p_), 2);
             if (wrong) counts.back() = -1;
             colligo::gatherv(comm_, in(v, 2), out(v, 2 * static_cast<std::size_t>(p_)), counts, 0);
           },
           "a count is negative: -1");
    for (char const* name : {"no_such_algorithm", "ring:no_such_knob=1", "ring@nowhere"})
      refuse(name, [&](bool wrong, auto& v) {
        colligo::all_reduce(comm_, in(v, 3), out(v, 3), sum, colligo::named(wrong ? name : "ring"));
      }, "all_reduce on rank");
    auto const first = [](double a, double) { return a; };
    refuse("order",
           [&](bool wrong, auto& v) {
             colligo::all_reduce(comm_, in(v, 3), out(v, 3), first, colligo::named(wrong ? "ring" : "binary_tree"));
           },
           "not known to commute");
    refuse("no such form",
           [&](bool wrong, auto& v) {
             colligo::chosen_algorithm by = colligo::binary_tree{};
             if (wrong) by = colligo::linear{};
             colligo::reduce(comm_, in(v, 3), out(v, 3), sum, 0, by);
           },
           "linear has no form");
    colligo::tree const other_size = colligo::trees::flat(p_ + 1);
    refuse("tree of another size",
           [&](bool wrong, auto& v) {
             colligo::broadcast(comm_, out(v, 3), 0, wrong ? colligo::configured{other_size} : colligo::configured{});
           },
           "is made for " + std::to_string(p_ + 1));
    refuse("request",
           [&](bool wrong, auto& v) {
             auto r = colligo::ireduce(comm_, in(v, 3), out(v, 3), sum, wrong ? -1 : 0);
           },
           "root -1 is not a rank");
    // Where all are refused each throws what it would throw without the mode.
    vectors<double> v;
    outcome const mine = outcome_of([&] { colligo::reduce(comm_, in(v, 3), out(v, 3), sum, p_); });
    see(mine.what == kind::own && has(mine.text, "on rank " + std::to_string(me_)), "all are refused", mine.text);
    next_call_is_right("all are refused");
  }

  Comm const& comm_;
  Report report_;
  int me_, p_, odd_ = 0;
};

/// Everything, over a communicator whose calls are checked.
template <class Comm, class Report>
void try_all(Comm const& comm, Report report) { trials<Comm, Report>(comm, report).all(); }

/// Calls of every collective that all ranks make alike, checked or not: the values are right.
template <class Comm, class Report>
void agree(Comm const& comm, Report report) { trials<Comm, Report>(comm, report).agreement(); }

}  // namespace checked_calls
