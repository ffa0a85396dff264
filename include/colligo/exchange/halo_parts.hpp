// SPDX-License-Identifier: BSL-1.0
/// @file
/// The parts of a halo: the edges between neighbours on a grid of ranks, and the regions of the array that are packed.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "grids.hpp"
#include "strided_view.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Whether a halo has corners (and edges of three-dimensional arrays), which are elements of diagonal neighbours.
enum class corners : bool { without, with };

namespace detail {

/// Why an array has no halo of this width; empty: it has.
template <class T, std::size_t D>
std::string why_no_halo(strided_view<T, D> const& field, std::ptrdiff_t width) {
  if (width < 1) return concat({"its width is ", std::to_string(width)});
  if (!field.data) return "the array is a null pointer";
  std::ptrdiff_t bytes = sizeof(T);   // of all from the first element to the last
  for (std::size_t d = 0; d < D; ++d) {
    auto const n = static_cast<std::ptrdiff_t>(field.extents[d]);
    std::string const axis = concat({"axis ", d});
    if (field.strides[d] < 0) return concat({"the stride of ", axis, " is negative"});
    if (n < 0) return concat({"the extent of ", axis, " is ", std::to_string(n)});
    if (n / 3 < width)
      return concat({axis, " has ", std::to_string(n), " elements, too few for ", std::to_string(width),
                     " layers of its own and as many ghosts on both sides"});
    std::ptrdiff_t length = 0;
    if (__builtin_mul_overflow(field.strides[d], n, &length) ||
        __builtin_mul_overflow(length, static_cast<std::ptrdiff_t>(sizeof(T)), &length) ||
        __builtin_add_overflow(bytes, length, &bytes))
      return concat({"with ", std::to_string(n), " elements along ", axis, " it is larger than any memory"});
  }
  return why_not_written(field);
}

/// The edges of a halo, its regions that are packed, and memory for these.
template <class T, std::size_t D>
class halo_parts {
 public:
  template <class Comm>
  halo_parts(grid<Comm, D> const& on, strided_view<T, D> const& field, std::size_t width, corners which)
      : state_(on.state()), field_(field), covers_{0, memory_of(field)} {
    std::vector<edge_end> ends;
    std::vector<range> out, in;
    auto const add = [&](std::array<int, D> const& way, bool sends) {
      int const peer = on.neighbour(way);
      if (peer == nobody) return;
      auto& blocks = sends ? out : in;
      int const place = static_cast<int>(blocks.size());
      ends.push_back({peer, sends ? place : ~place});
      blocks.push_back(block(region(way, width, sends), sends));
    };
    // What a rank sends in one way comes from the other way: so edges between two ranks match.
    auto const ways = ways_of(which);
    for (auto way = ways.begin(); way != ways.end(); ++way) add(*way, true);
    for (auto way = ways.rbegin(); way != ways.rend(); ++way) add(*way, false);
    order_edges(on.state().rank(), on.state().size(), ends);
    for (edge_end const& e : ends) edges_.push_back({e.peer, e.sends(), (e.sends() ? out : in)[e.index()]});
    list_ = {edges_.data(), edges_.size(), width};
    packed_.resize(packed_elements_);
    number_ = ++on.state().newest_distribution;
  }
  halo_parts(halo_parts const&) = delete;
  halo_parts& operator=(halo_parts const&) = delete;

  /// Throws error if the communicator has been freed.
  endpoint& state() const { return state_.get("exchange: this halo is on"); }
  edge_list const& edges() const { return list_; }
  /// Those out, as this rank sends on them.
  std::vector<graph_edge> edges_out() const {
    std::vector<graph_edge> all;
    for (edge const& e : edges_)
      if (e.sends) all.push_back({state().rank(), e.peer, e.elements.size()});
    return all;
  }
  std::uint64_t number() const { return number_; }
  values<std::byte> field() const { return values_of(std::span<T>(field_.data, covers_.size()), covers_); }
  values<std::byte> packed() {
    if (packed_.empty()) return {nullptr, behind_all};
    return values_of(std::span<T>(packed_), {covers_.last, covers_.last + packed_.size()});
  }
  /// Throws argument_error while a request fills the same ghosts; `by`: from now on this one does.
  void pack(owned_by_request const* by = nullptr) {
    if (filled_by_ && filled_by_->is_active && *filled_by_->is_active) [[unlikely]]
      throw argument_error(concat({"colligo: exchange on rank ", state().rank(), " of ", state().size(),
                                   ": an earlier exchange of this halo fills the same ghosts: wait for it first"}));
    filled_by_ = by;
    for (auto const& [what, at] : sent_) detail::pack(what, packed_.data() + at);
  }
  void unpack() {
    for (auto const& [what, at] : received_) detail::unpack(packed_.data() + at, what);
  }
  void forget(owned_by_request const* by) {
    if (filled_by_ == by) filled_by_ = nullptr;
  }

 private:
  struct packed_region {
    strided_view<T, D> what;
    std::size_t at;   // in packed_
  };

  static std::size_t memory_of(strided_view<T, D> const& field) {
    if (field.size() == 0) return 0;
    std::size_t last = 0;
    for (std::size_t d = 0; d < D; ++d) last += (field.extents[d] - 1) * static_cast<std::size_t>(field.strides[d]);
    return last + 1;
  }
  static std::vector<std::array<int, D>> ways_of(corners which) {
    std::vector<std::array<int, D>> ways;
    std::array<int, D> way;
    for (way.fill(-1);;) {
      std::size_t moves = 0;
      for (int const step : way) moves += step != 0;
      if (moves == 1 || (moves > 1 && which == corners::with)) ways.push_back(way);
      std::size_t d = D;
      while (d > 0 && way[d - 1] == 1) way[--d] = -1;
      if (d == 0) return ways;
      ++way[d - 1];
    }
  }
  // The elements that go this way, or the ghosts that come from there.
  strided_view<T, D> region(std::array<int, D> const& way, std::size_t width, bool sends) const {
    std::array<std::size_t, D> first{}, of{};
    for (std::size_t d = 0; d < D; ++d) {
      std::size_t const n = field_.extents[d];
      of[d] = way[d] == 0 ? n - 2 * width : width;
      first[d] = way[d] == 0 ? width : way[d] < 0 ? (sends ? width : 0) : n - (sends ? 2 * width : width);
    }
    return field_.part(first, of);
  }
  // Its place in the vector: the array, and behind it the packed regions.
  range block(strided_view<T, D> const& what, bool sends) {
    std::size_t const n = what.size();
    if (what.is_contiguous()) {
      auto const first = n == 0 ? 0 : static_cast<std::size_t>(what.data - field_.data);
      return {first, first + n};
    }
    (sends ? sent_ : received_).push_back({what, packed_elements_});
    std::size_t const first = covers_.last + packed_elements_;
    packed_elements_ += n;
    return {first, first + n};
  }

  state_if_alive state_;
  strided_view<T, D> field_;
  range covers_;
  std::vector<packed_region> sent_, received_;
  std::size_t packed_elements_ = 0;
  std::vector<edge> edges_;
  edge_list list_{};
  std::vector<T> packed_;
  owned_by_request const* filled_by_ = nullptr;   // the latest request; null: it is gone
  std::uint64_t number_ = 0;
};

/// Of a request: packs when it starts, and unpacks when it is complete.
template <class T, std::size_t D>
struct packing_halo final : owned_functor<no_functor> {
  explicit packing_halo(std::shared_ptr<halo_parts<T, D>> made)
      : owned_functor<no_functor>(no_functor{}), parts(std::move(made)) {}
  ~packing_halo() override { parts->forget(this); }
  void begin() override { parts->pack(this); }
  void finish() override { parts->unpack(); }
  std::shared_ptr<halo_parts<T, D>> parts;
};

}  // namespace detail
}  // namespace colligo
