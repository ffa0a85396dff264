// SPDX-License-Identifier: BSL-1.0
// A host of ranks whose channels count what they ask for: what calls take, without anybody moving anything.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <colligo/transport/memory/shared_steps.hpp>
#include <colligo/plan/walk.hpp>
#include <colligo/record.hpp>
#include <colligo/rules/choose.hpp>

namespace counted {

using namespace colligo;

/// What the channels of a rank ask for.
class memory final : public detail::host_memory {
 public:
  std::uint64_t allocate(std::size_t n) override {
    parts_.emplace_back().of_size(n);
    bytes += sizes_.emplace_back(n);
    return reinterpret_cast<std::uintptr_t>(parts_.back().of_size(n));
  }
  void take_back() override {
    bytes -= sizes_.back();
    parts_.pop_back(), sizes_.pop_back();
  }
  std::byte* at(std::uint64_t address) const override {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  }
  std::size_t bytes = 0;

 private:
  std::vector<detail::buffer> parts_;
  std::vector<std::size_t> sizes_;
};

class host {
 public:
  explicit host(std::size_t p) : segments_(p), memory_(p), ranks_(p) {
    std::size_t const segment = detail::segment_layout(static_cast<int>(p)).bytes();
    std::vector<std::byte*> begins;
    for (auto& s : segments_) begins.push_back(static_cast<std::byte*>(std::memset(s.of_size(segment), 0, segment)));
    for (std::size_t r = 0; r < p; ++r) {
      ranks_[r] = std::make_unique<rank>(static_cast<int>(r), p, memory_[r]);
      ranks_[r]->ends.open([&](std::size_t at) { return begins[at]; }, {});
    }
  }
  detail::shared_host& operator[](std::size_t r) { return ranks_[r]->ends; }

  /// Of all ranks.
  std::size_t shared_bytes() const {
    std::size_t all = segments_.size() * detail::segment_layout(static_cast<int>(segments_.size())).bytes();
    for (memory const& one : memory_) all += one.bytes;
    return all;
  }

  /// All that a call takes of a rank before its first message, of doubles.
  void prepare(collective what, chosen_algorithm const& by, topology const& known, std::size_t n) {
    int const p = static_cast<int>(ranks_.size());
    detail::small_vector<operand> list;
    detail::rank_plan plan;
    detail::call const one{.what = what, .of = &detail::element_of<double, std::plus<>>, .wire = nullptr, .op = nullptr,
                           .vector = blocks{{0, n}, p}, .in = {}, .out = {}};
    detail::erased_policy const& policy = *detail::policies_of<>(what)()[by.index()];
    for (int r = 0; r < p; ++r) {
      rank& me = *ranks_[static_cast<std::size_t>(r)];
      plan.clear();
      detail::planner plans(r, p, sizeof(double), plan, list);
      policy.run(by.tag(), known, plans, one.vector, 0);
      detail::working_vector data(one, me.scratch);
      detail::shared_steps steps(me.ends, me.traffic, r);
      steps.work_on(data);
      for (auto const& s : plan.steps)
        if (s.kind != list_kind::moves) steps.make_room(plan.operands_of(s), s.kind);
    }
  }

 private:
  struct rank {
    rank(int r, std::size_t p, detail::host_memory& memory) : ends(r, p, memory, {}) {}
    detail::shared_host ends;
    detail::scratch scratch;
    detail::shared_traffic traffic;
  };
  std::vector<detail::buffer> segments_;
  std::vector<memory> memory_;
  std::vector<std::unique_ptr<rank>> ranks_;
};

/// Calls of all collectives but all_to_all, 8 B to 1 MiB, by what `automatic` takes where each rank has a core.
inline void prepare_all(host& on, int p, hierarchy const& levels) {
  using enum collective;
  for (collective const what : {all_reduce, reduce, broadcast, all_gather, gather, scatter, reduce_scatter_block, scan,
                                exclusive_scan, barrier})
    for (std::size_t const bytes : {8u, 1u << 10, 1u << 16, 1u << 20}) {
      auto const least = static_cast<std::size_t>(has_blocks(what) ? p : 1);
      std::size_t const n = what == barrier ? 2 : std::max<std::size_t>(bytes / 8, least);
      situation const s{.vector = blocks{{0, n}, p}, .element_size = 8, .shared = true, .cores = true,
                        .levels = &levels};
      on.prepare(what, choose(what, s), {.levels = &levels}, n);
    }
}

}  // namespace counted
