// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of shared_host.hpp: channels and reader groups that are used for the first time.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "../../core/owner.hpp"
#include "shared_host.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY shared_host::shared_host(int me, std::size_t ranks, host_memory& memory,
                                                    std::vector<int> places, std::size_t line)
    : me_(static_cast<std::size_t>(me)), memory_(memory), places_(std::move(places)),
      lines_(lines_of_host(ranks, line)), records_(ranks), closed_{{*this, lines_, 0}, {*this, lines_, 0}},
      pairs_(ranks) {
  for (channel_pair*& pair : pairs_) pair = &closed_;
  largest_chunk_ = std::min<std::size_t>(32 * 1024, layout().capacity(0) / 4);
}

[[gnu::cold]] COLLIGO_BODY shared_host::~shared_host() {
  for (channel_pair* const pair : pairs_)
    if (pair != &closed_) delete pair;
  for (reader_group* const a : reader_groups_) {
    for (receiver* const in : a->in_)
      if (in != &closed_.in) delete in;
    delete a;
  }
}

[[gnu::cold]] COLLIGO_BODY channel_pair& shared_host::pair_with(std::size_t peer) {
  channel_pair*& pair = pairs_[peer];
  if (pair == &closed_) {
    std::size_t const capacity = layout().capacity(0);
    pair = new channel_pair{{*this, lines_, capacity}, {*this, lines_, capacity}};
    pair->out.reverse_taken_ = &pair->in.taken_, pair->out.addresses_ = &channel(me_, peer);
    pair->in.reverse_ = &pair->out, pair->in.addresses_ = &channel(peer, me_);
  }
  return *pair;
}

[[gnu::cold]] COLLIGO_BODY sender& shared_host::open_to(std::size_t peer) { return open(pair_with(peer).out, 1); }
[[gnu::cold]] COLLIGO_BODY receiver& shared_host::open_from(std::size_t peer) {
  return open(pair_with(peer).in, 1, 0);
}
[[gnu::cold]] COLLIGO_BODY receiver& shared_host::open_from(reader_group& all, std::size_t member) {
  owner<receiver> made(new receiver(*this, lines_, all.out_.capacity_));
  made->addresses_ = &channel(all, member);
  open(*made, all.readers(), reader_group::reader_of(member, all.me_));
  return *(all.in_[member] = made.release());
}

[[gnu::cold]] COLLIGO_BODY sender& shared_host::open(sender& end, std::size_t readers) {
  channel_front& shared = front(*end.addresses_, readers);
  end.backs_ = {shared.backs(lines_), readers};
  end.front_ = &shared;
  return end;
}
[[gnu::cold]] COLLIGO_BODY receiver& shared_host::open(receiver& end, std::size_t readers, std::size_t me) {
  channel_front& shared = front(*end.addresses_, readers);
  end.back_ = shared.backs(lines_) + me;
  end.front_ = &shared;
  return end;
}

// The rank that needs a front first allocates it, so that none waits; if several do at a time, all but one free theirs.
[[gnu::cold]] COLLIGO_BODY channel_front& shared_host::front(channel_addresses& addresses, std::size_t readers) {
  std::uint64_t known = addresses.front.load(std::memory_order_acquire);
  if (known == 0) {
    std::size_t const bytes = channel_front::bytes(lines_, readers);
    std::uint64_t const fresh = memory_.allocate(bytes);
    std::memset(at(fresh), 0, bytes);
    if (addresses.front.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) known = fresh;
    else memory_.take_back();
  }
  return *reinterpret_cast<channel_front*>(at(known));
}
[[gnu::cold]] COLLIGO_BODY std::byte* shared_host::ring_of(sender const& end) {
  // A load waits for an earlier store to the same offset of another page. Long vectors begin near the begin of a page,
  // so a long ring begins in the middle of one: otherwise 1 MiB on two ranks took 1.3 times as long.
  constexpr std::size_t page = 4096;
  bool const is_long = end.capacity_ >= 16 * page;
  std::uint64_t fresh = memory_.allocate(end.capacity_ + (is_long ? page : 0));
  if (is_long) fresh += (page + page / 2 - fresh % page) % page;
  new (at(fresh)) chunk_header{};
  end.addresses_->ring.store(fresh, std::memory_order_release);
  return at(fresh);
}
COLLIGO_BODY std::byte const* shared_host::ring_of(receiver const& end) const {
  std::uint64_t const known = end.addresses_->ring.load(std::memory_order_acquire);
  return known == 0 ? nullptr : at(known);
}

[[gnu::cold]] COLLIGO_BODY void sender::touch(std::size_t bytes) {
  constexpr std::size_t at_once = 64 * 1024;   // as much as a reader's first look at one of its pages then maps
  std::size_t const now = std::min(capacity_, (bytes + at_once - 1) / at_once * at_once);
#if defined(MADV_POPULATE_WRITE)   // headers of Linux 5.14 and later; if the system can not, pages come one by one
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const first = reinterpret_cast<std::uintptr_t>(ring() + touched_), last = first + now - touched_;
  madvise(reinterpret_cast<void*>(first & ~(page - 1)), last - (first & ~(page - 1)), MADV_POPULATE_WRITE);
#endif
  touched_ = now;
}

// Whether exactly the members of a reader group are the receivers of a list. As a rule a list names them in order.
COLLIGO_BODY bool shared_host::is_of(reader_group const& group, std::span<operand const> list) const {
  std::size_t k = 0;
  for (operand const& o : list) {
    if (!o.sends()) continue;
    int const peer = static_cast<int>(place(o.peer));
    if (k == group.readers() || (group.reader(k++) != peer && group.member(peer) == group.places_.size())) return false;
  }
  return k == group.readers();
}

[[gnu::cold]] COLLIGO_BODY reader_group* shared_host::form(std::span<operand const> list) {
  small_vector<int> places;
  places.push_back(static_cast<int>(me_));
  for (operand const& o : list) {
    if (!has(o.peer)) return nullptr;
    if (o.sends()) places.push_back(static_cast<int>(place(o.peer)));
  }
  sort_numbers(places.data(), places.size(), nullptr, [](void const*, int a, int b) { return a < b; });
  if (places.size() == records_.size()) return all_ ? all_ : all();
  reader_group_record* const record = record_of(places);
  reader_group* const made = add(std::move(places), record, layout().capacity_among());
  made->is_usable_ = record != nullptr;
  return record ? made : nullptr;
}

[[gnu::cold]] COLLIGO_BODY reader_group* shared_host::all() {
  small_vector<int> places(records_.size());
  for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<int>(r);
  all_ = add(std::move(places), nullptr, layout().capacity(records_.size()));
  return all_;
}

[[gnu::cold]] COLLIGO_BODY reader_group* shared_host::add(small_vector<int>&& places, reader_group_record* record,
                                                    std::size_t capacity) {
  reader_groups_.reserve(reader_groups_.size() + 1);
  sender const out(*this, lines_, capacity);
  auto* const made = new reader_group(out, std::move(places), static_cast<int>(me_), closed_.in);
  made->record_ = record;
  made->out_.addresses_ = &channel(*made, made->me_);
  return reader_groups_.push_back(made);
}

// The record of a reader group, or null if the segment is full. Entries stay: all members find the same one, or none.
[[gnu::cold]] COLLIGO_BODY reader_group_record* shared_host::record_of(small_vector<int> const& places) {
  std::uint64_t fresh = 0;
  auto const record = [this](std::uint64_t place) { return reinterpret_cast<reader_group_record*>(at(place)); };
  reader_group_record* found = nullptr;
  for (std::size_t k = 0; k < segment_layout::reader_groups && !found; ++k) {
    auto const lowest = static_cast<std::size_t>(places[0]);
    auto& entry = in_segment<std::atomic<std::uint64_t>>(lowest, segment_layout::reader_group(k));
    std::uint64_t known = entry.load(std::memory_order_acquire);
    if (known == 0) {
      if (fresh == 0) {
        std::size_t const bytes = reader_group_record::bytes(places.size());
        fresh = memory_.allocate(bytes);
        std::memset(at(fresh), 0, bytes);
        record(fresh)->members = places.size();
        std::memcpy(record(fresh)->places(), places.data(), places.size() * sizeof places[0]);
      }
      if (entry.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return record(fresh);
    }
    bool const same = record(known)->members == places.size() &&
                      std::equal(places.begin(), places.end(), record(known)->places());
    if (same) found = record(known);
  }
  if (fresh != 0) memory_.take_back();
  return found;
}

}  // namespace colligo
