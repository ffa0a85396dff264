// SPDX-License-Identifier: BSL-1.0
/// @file
/// A graph of in and out edges on one rank, and the blocks of calls over it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../algorithm/along_edges.hpp"
#include "../arguments/forms.hpp"
#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/communicator_state.hpp"
#include "../shape/edge_order.hpp"
#if COLLIGO_HAS_BODIES
#include "../arguments/counts_body.hpp"
#endif

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The state of a communicator that may be freed while this refers to it.
class state_if_alive {
 public:
  explicit state_if_alive(endpoint& state) : state_(&state), life_(state_at(state).life) {}
  /// Throws error if the communicator has been freed; `what`: "these neighbours are of".
  endpoint& get(char const* what) const {
    auto const alive = life_.lock();   // requests may keep the state of one that has been freed
    if (!alive || !alive->life) throw error(concat({"colligo: ", what, " a communicator that has been freed"}));
    return *state_;
  }

 private:
  endpoint* state_;
  std::weak_ptr<communicator_state> life_;
};

/// A vector whose blocks are these edges'.
inline blocks blocks_along(edge_list const& edges) {
  return {.whole = {}, .parts = static_cast<int>(edges.count), .edges = &edges};
}

/// The edges of a rank, and the blocks of its latest call. 16 bytes an edge.
class graph {
 public:
  /// `order`: the places of the sources in the order in which they match among edges from one rank; empty: as listed.
  graph(endpoint& state, std::span<int const> sources, std::span<int const> targets, std::span<int const> order = {})
      : state_(state), out_(targets.size()), in_(sources.size()),
        offsets_(out_ + in_ + 1) {
    ends_.reserve(out_ + in_);
    for (std::size_t i = 0; i < out_; ++i) ends_.push_back({targets[i], static_cast<int>(i)});
    for (std::size_t i = 0; i < in_; ++i) {
      int const place = order.empty() ? static_cast<int>(i) : order[i];
      ends_.push_back({sources[static_cast<std::size_t>(place)], ~place});
    }
    order_edges(state.rank(), state.size(), ends_);
  }

  /// Throws error if the communicator has been freed.
  endpoint& state() const { return state_.get("these neighbours are of"); }
  std::size_t in_degree() const { return in_; }
  std::size_t out_degree() const { return out_; }
  std::vector<int> peers(bool out) const {
    std::vector<int> all(out ? out_ : in_);
    for (edge_end const& e : ends_)
      if (e.sends() == out) all[e.index()] = e.peer;
    return all;
  }
  view<edge_end const> ends() const { return ends_; }

  /// Sets the blocks of the next call: add() for each edge out, then for each edge in. Those of a call in which all
  /// edges out share one block differ from others.
  void begin(bool is_shared) {
    at_ = 0;
    differ_ |= std::exchange(is_shared_, is_shared) != is_shared;
  }
  /// False if the sum is larger than any vector.
  bool add(std::size_t n) {
    std::size_t const end = offsets_[at_] + n;
    bool const fits = end >= n;
    differ_ |= std::exchange(offsets_[++at_], end) != end;
    return fits;
  }
  void end() {
    if (std::exchange(differ_, false) || number_ == 0) number_ = ++state().newest_distribution;
  }
  std::size_t elements_out() const { return is_shared_ ? offsets_[out_ == 0 ? 0 : 1] : offsets_[out_]; }
  std::size_t elements_in() const { return offsets_[out_ + in_] - offsets_[out_]; }
  /// The block of an edge; blocks in lie behind all blocks out.
  range block(edge_end const& e) const {
    if (e.sends()) return is_shared_ ? range{0, offsets_[1]} : range{offsets_[e.index()], offsets_[e.index() + 1]};
    std::size_t const skipped = offsets_[out_] - elements_out(), at = out_ + e.index();
    return {offsets_[at] - skipped, offsets_[at + 1] - skipped};
  }
  std::uint64_t number() const { return number_; }

 private:
  state_if_alive state_;
  std::size_t out_, in_;
  small_vector<edge_end> ends_;          // as the algorithm performs them
  small_vector<std::size_t> offsets_;    // of the blocks of the latest call, by places
  std::size_t at_ = 0;
  bool is_shared_ = false, differ_ = false;
  std::uint64_t number_ = 0;             // of these blocks among all distributions of the state
};

/// While it exists, the state's latest distribution is that of a graph's blocks.
class with_distribution {
 public:
  with_distribution(endpoint& state, std::uint64_t number)
      : state_(state), before_(std::exchange(state.distribution, number)) {}
  ~with_distribution() { state_.distribution = before_; }
  with_distribution(with_distribution const&) = delete;
  with_distribution& operator=(with_distribution const&) = delete;

 private:
  endpoint& state_;
  std::uint64_t before_;
};

/// The arguments of a call over a graph: checks them, and makes the call.
template <class Comm>
class graph_arguments : public call_arguments<collective::exchange, Comm> {
 public:
  /// `call`: its name in errors.
  graph_arguments(graph& edges, char const* call) : graph_arguments(edges, edges.state(), call) {}

  graph& edges() const { return edges_; }
  /// Sets the blocks: the lengths of all blocks out, and of all blocks in. `shared`: the edges out have one block.
  template <class Out, class In>
  void set_blocks(Out const& out, In const& in, bool shared = false) const {
    this->require_size(std::ranges::size(out), edges_.out_degree(), "the list of counts", call_);
    this->require_size(std::ranges::size(in), edges_.in_degree(), "the list of counts of what comes", call_);
    bool fits = true;
    this->make_calls(1, [&] {   // counts may throw
      for (auto const n : out) this->require_count(n, call_);
      for (auto const n : in) this->require_count(n, call_);
      edges_.begin(shared);
      for (auto const n : out) fits &= edges_.add(static_cast<std::size_t>(n));
      for (auto const n : in) fits &= edges_.add(static_cast<std::size_t>(n));
      edges_.end();
    });
    if (!fits) refuse_because(this->as_refused(call_), "the sum of the counts is larger than any vector");
    require_own_blocks();
  }
  template <made How, class T, class Algorithm>
  made_t<How> make(std::span<T const> in, std::span<T> out, Algorithm const& algorithm) const {
    auto accepted = accept_blocks(in, out);
    with_distribution const now(state_, edges_.number());
    return accepted.template make<How>(no_functor{}, algorithm);
  }
  /// The same for a request that owns something.
  template <made How, class T, class Owned, class Algorithm>
  made_t<How> make_owning(std::span<T const> in, std::span<T> out, owner<Owned> owned,
                          Algorithm const& algorithm) const {
    auto accepted = accept_blocks(in, out);
    with_distribution const now(state_, edges_.number());
    return accepted.template make_owning<How, no_functor>(std::move(owned), algorithm);
  }

 private:
  graph_arguments(graph& edges, endpoint& state, char const* call)
      : call_arguments<collective::exchange, Comm>(state), edges_(edges), state_(state), call_(call) {}

  template <class T>
  auto accept_blocks(std::span<T const> in, std::span<T> out) const {
    set_hooks_of_counts<void>();
    this->require_size(in.size(), edges_.elements_out(), "the input", call_);
    this->require_size(out.size(), edges_.elements_in(), "the output", call_);
    this->require_disjoint(in, out, call_);
    std::size_t const between = in.size();
    return this->accept(blocks_along(listed()), in, {0, between}, out, {between, between + out.size()});
  }
  // The k-th edge out to itself is the k-th in.
  void require_own_blocks() const {
    auto const ends = edges_.ends();
    std::size_t own = 0;
    while (own < ends.size() && ends[own].peer == this->rank()) ++own;
    for (std::size_t i = 0; i < own / 2; ++i)
      this->require_size(edges_.block(ends[own / 2 + i]).size(), edges_.block(ends[i]).size(),
                         "the block of this rank from itself", call_);
  }
  edge_list const& listed() const {
    auto const ends = edges_.ends();
    this->attempt([&] { state_.edges.resize(ends.size()); });
    for (std::size_t i = 0; i < ends.size(); ++i)
      state_.edges[i] = {ends[i].peer, ends[i].sends(), edges_.block(ends[i])};
    return state_.listed = {state_.edges.data(), ends.size()};
  }

  graph& edges_;
  endpoint& state_;
  char const* call_;
};

/// n, count times.
struct equal_counts {
  std::size_t count, n;

  struct iterator {
    using value_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    std::size_t at, n;
    std::size_t operator*() const { return n; }
    iterator& operator++() { return ++at, *this; }
    iterator operator++(int) { return {at++, n}; }
    friend bool operator==(iterator const&, iterator const&) = default;
  };
  iterator begin() const { return {0, n}; }
  iterator end() const { return {count, n}; }
  std::size_t size() const { return count; }
};

}  // namespace detail
}  // namespace colligo
