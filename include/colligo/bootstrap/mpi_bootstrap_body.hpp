// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_state.hpp for the first use of a communicator: what ranks exchange, how they wait for late ones.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/requests.hpp"
#include "../topology/group_numbers.hpp"
#include "../transport/messages/mpi_state.hpp"
#include "mpi_rank_table_body.hpp"
#include "mpi_shared.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi {

[[gnu::cold]] COLLIGO_BODY std::string name_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  check_mpi(MPI_Comm_get_name(comm, name.data(), &length), "MPI_Comm_get_name");
  return std::string(name.data(), static_cast<std::size_t>(length));
}

// What a rank that waits in a first use knows of the others. Rank 0 sees the rank info arrive in its memory. MPI
// promises nothing about that before the operation is complete, but for a report it is good enough.
struct first_use_arrivals {
  view<mpi_rank_info const> ranks{};   // empty: nothing is known
  bool at_root = false;

  [[gnu::cold]] COLLIGO_BODY std::string awaited(int size) const {
    std::vector<int> missing;
    for (std::size_t r = 1; at_root && r < ranks.size(); ++r)
      if (ranks[r].state == mpi_rank_info::not_come) missing.push_back(static_cast<int>(r));
    if (!missing.empty()) return ranks_text(missing) + ", from which nothing has come";
    if (!ranks.empty() && !at_root) return "rank 0, or ranks that rank 0 names";
    return concat({"some of its ", size, " ranks"});
  }
};

// COLLIGO_PATIENCE for ranks that do not come to a communicator's first use. Settings have not been exchanged yet, so
// the rank's own environment holds. The rank only warns, because it can not leave a collective of MPI's.
class first_use_patience {
 public:
  [[gnu::cold]] first_use_patience(MPI_Comm comm, first_use_arrivals const& arrivals)
      : comm_(comm), arrivals_(arrivals) {}
  [[gnu::cold]] COLLIGO_BODY void waits() {
    std::int64_t const now = now_in_ns();   // each look may take a time slice of a core that others use
    if (began_ == 0) {
      char const* const asked = environment_value("COLLIGO_PATIENCE");
      setting_ = patience_in(asked ? asked : "").value_or(patience_setting{});
      began_ = now;
    }
    if (setting_.after == 0 || now - began_ < setting_.after * ns_per_ms) return;
    int rank = 0, size = 0;
    check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
    std::string const name = name_of(comm_);
    std::fputs(concat({"colligo: rank ", rank, " has waited ", patience_text(setting_), " in the first use of ",
                       name.empty() ? "a communicator without a name" : "communicator ", name, ", for ",
                       arrivals_.awaited(size), "; a rank that has ended or waits elsewhere does not come; if ranks "
                       "begin with several communicators in different orders, call colligo::prepare(comm) on each "
                       "before\n"}).c_str(), stderr);
    setting_ = {};
  }

 private:
  MPI_Comm comm_;
  first_use_arrivals const& arrivals_;
  patience_setting setting_;
  std::int64_t began_ = 0;
};

[[noreturn, gnu::cold]] inline void throw_no_memory() {
  throw failed_elsewhere("colligo: a rank has no memory for what is kept with a communicator");
}

// Not a blocking call of MPI's: a late rank may be waiting for a request of this library that needs this rank.
[[gnu::cold]] COLLIGO_BODY void complete(MPI_Comm comm, MPI_Request request, char const* by,
                                         first_use_arrivals const& arrivals = {}) {
  requests_of_rank& all = mpi_state::all_requests();
  first_use_patience meeting(comm, arrivals);
  for (int done = 0;; sched_yield()) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), by);
    if (done) return;
    all.progress_if_free();
    left_calls::drop_messages();
    meeting.waits();
  }
}

// An all_gather by way of `root`, in two messages per rank: MPI_Iallgather may send one from each rank to each. With
// `arrivals` by MPI_Igatherv, because messages of MPI_Igather may go by way of other ranks, which may not have come.
template <class Value>
void exchange_values(MPI_Comm comm, Value const& mine, view<Value> all, int root,
                     first_use_arrivals const& arrivals = {}) {
  auto const bytes = static_cast<int>(sizeof mine);
  std::array<int, mpi_rank_table::most_named> lengths, places;
  MPI_Request request = MPI_REQUEST_NULL;
  if (!arrivals.ranks.empty()) {
    for (std::size_t r = 0; r < all.size(); ++r) lengths[r] = bytes, places[r] = static_cast<int>(r) * bytes;
    check_mpi(MPI_Igatherv(&mine, bytes, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, root, comm,
                           &request), "MPI_Igatherv");
  } else {
    check_mpi(MPI_Igather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, root, comm, &request), "MPI_Igather");
  }
  complete(comm, request, "MPI_Igather", arrivals);
  check_mpi(MPI_Ibcast(all.data(), static_cast<int>(all.size_bytes()), MPI_BYTE, root, comm, &request), "MPI_Ibcast");
  complete(comm, request, "MPI_Ibcast", arrivals);
}

// The minimum over all ranks, by way of `root`.
[[gnu::cold]] COLLIGO_BODY int least_of(MPI_Comm comm, int mine, int root) {
  int all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ireduce(&mine, &all, 1, MPI_INT, MPI_MIN, root, comm, &request), "MPI_Ireduce");
  complete(comm, request, "MPI_Ireduce");
  check_mpi(MPI_Ibcast(&all, 1, MPI_INT, root, comm, &request), "MPI_Ibcast");
  complete(comm, request, "MPI_Ibcast");
  return all;
}

// Throws on all ranks if one of them has an exception.
[[gnu::cold]] COLLIGO_BODY void agree(MPI_Comm comm, std::exception_ptr const& trouble, int root = 0) {
  int const all = least_of(comm, trouble ? 0 : 1, root);
  if (trouble) std::rethrow_exception(trouble);
  if (!all) throw_no_memory();
}

}  // namespace mpi

/// The first use of a communicator: makes the state, and exchanges what ranks have to know of each other.
class mpi_bootstrap {
 public:
  /// Collective.
  static std::shared_ptr<communicator_state> make_state(MPI_Comm user);

 private:
  /// What a rank does alone: most of the allocations. The rest is collective.
  explicit mpi_bootstrap(MPI_Comm user);
  MPI_Comm comm() const { return state_->wire_.comm(); }
  void take_rank_info();
  void take_settings_and_trace(std::size_t settings, bool trace);
  void take_settings(std::size_t bytes);
  void exchange_in_tree();
  void exchange_reports(std::uint64_t segment);
  void open_memory();

  mpi_state* state_;
  std::shared_ptr<communicator_state> life_;         // owns the state
  std::shared_ptr<settings> environment_;   // this rank's
  std::vector<int> hosts_;
  std::array<std::vector<int>, domain_levels> domains_;
  small_vector<mpi_rank_info> ranks_;
  // Of many ranks only those of one host exchange where their memory is.
  struct neighbour_report {
    arena_address memory{};
    std::uint64_t segment = 0;
  };
  small_vector<int> neighbours_;             // ranks of this host: the last one, then the others, ascending
  small_vector<neighbour_report> reports_;   // of neighbours_; both are empty for few ranks
};

// A child of fork() does not destroy the state: the messages that it would receive, and the shared memory that it would
// free, are its parent's.
inline void destroy_state(mpi_state* state) {
  if (!mpi_state::all_requests().are_of_parent()) delete state;
}

[[gnu::cold]] COLLIGO_BODY mpi_bootstrap::mpi_bootstrap(MPI_Comm user)
    : state_(new mpi_state(user)), life_(state_, destroy_state) {
  if (state_->rank_ == 0) environment_ = settings_of_environment();
  if (state_->size_ == 1) return;
  ranks_.resize(static_cast<std::size_t>(state_->size_));
  ranks_[static_cast<std::size_t>(state_->rank_)] = mpi_rank_info_of_this_process(environment_.get());
  hosts_.reserve(ranks_.size());
  for (std::vector<int>& level : domains_) level.reserve(ranks_.size());
}

// Exchanges rank info, and whether each rank has a state. A rank without memory for a state takes part too, because the
// others wait for it.
[[gnu::cold]] COLLIGO_BODY std::shared_ptr<communicator_state> mpi_bootstrap::make_state(MPI_Comm user) {
  owner<mpi_bootstrap> meeting;
  std::exception_ptr trouble;
  try {
    meeting = owner<mpi_bootstrap>(new mpi_bootstrap(user));
  } catch (std::bad_alloc const&) {
    trouble = std::current_exception();
  }
  int size = 0, rank = 0;
  check_mpi(MPI_Comm_size(user, &size), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(user, &rank), "MPI_Comm_rank");
  auto const ranks = static_cast<std::size_t>(size);
  if (size == 1 && trouble) std::rethrow_exception(trouble);
  if (size > 1) {
    bool const is_few = ranks <= mpi_rank_table::most_gathered;
    if (is_few) {
      mpi_rank_info mine{};
      if (meeting) mine = meeting->ranks_[static_cast<std::size_t>(rank)];
      mine.state = meeting ? mpi_rank_info::has_state : mpi_rank_info::no_state;
      std::array<mpi_rank_info, mpi_rank_table::few> few{};   // nobody has come
      view<mpi_rank_info> const all(few.data(), ranks);
      mpi::first_use_arrivals arrivals{{}, rank == 0};
      if (ranks <= mpi_rank_table::most_named) arrivals.ranks = all;
      mpi::exchange_values(user, mine, all, 0, arrivals);
      if (trouble) std::rethrow_exception(trouble);
      if (is_any(all, [](mpi_rank_info const& r) { return r.state == mpi_rank_info::no_state; }))
        mpi::throw_no_memory();
      std::memcpy(meeting->ranks_.data(), all.data(), all.size_bytes());
    } else {
      mpi::agree(user, trouble, root(mpi_rank_table::tree_of::states, size));
    }
    meeting->state_->wire_.own(make_communicator_like(user));
    if (!is_few) meeting->exchange_in_tree();
  }
  meeting->take_rank_info();
  if (!meeting->ranks_.empty()) meeting->open_memory();
  mpi_state& state = *meeting->state_;
  if (size > 1 && state.watches_waits()) state.lose_patience(state.host_, mpi::name_of(user));
  return meeting->life_;
}

[[gnu::cold]] COLLIGO_BODY void mpi_bootstrap::exchange_in_tree() {
  auto const me = static_cast<std::size_t>(state_->rank_);
  std::exception_ptr trouble = mpi_rank_table::exchange(comm(), state_->rank_, ranks_);
  try {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].host == ranks_[me].host) neighbours_.push_back(static_cast<int>(r));
    std::rotate(neighbours_.begin(), neighbours_.end() - 1, neighbours_.end());
    reports_.resize(neighbours_.size());
  } catch (std::bad_alloc const&) {
    trouble = std::current_exception();
  }
  mpi::agree(comm(), trouble, root(mpi_rank_table::tree_of::neighbours, state_->size_));
}

// Exchanges where the ranks of this host have their memory, in a tree of these ranks.
[[gnu::cold]] COLLIGO_BODY void mpi_bootstrap::exchange_reports(std::uint64_t segment) {
  constexpr auto bytes = static_cast<int>(sizeof(neighbour_report));
  auto const n = static_cast<int>(reports_.size());
  auto const me = static_cast<int>(place_of(neighbours_, [this](int r) { return r == state_->rank_; }));
  auto const rank = [this](int place) { return neighbours_[static_cast<std::size_t>(place)]; };
  auto const send = [&](int to, int first, int count) {
    if (to != nobody)
      check_mpi(MPI_Send(reports_.data() + first, count * bytes, MPI_BYTE, rank(to), 0, comm()), "MPI_Send");
  };
  auto const receive = [&](int from, int first, int count) {
    check_mpi(MPI_Recv(reports_.data() + first, count * bytes, MPI_BYTE, rank(from), 0, comm(), MPI_STATUS_IGNORE),
              "MPI_Recv");
  };
  reports_.data()[me] = {ranks_[static_cast<std::size_t>(state_->rank_)].memory, segment};
  mpi_rank_table::up_and_down(
      me, n, [&](int from, int count) { receive(from, from, count); },
      [&](int to, int count) { send(to, me, count); }, [&](int from) { receive(from, 0, n); },
      [&](int to) { send(to, 0, n); });
  for (std::size_t i = 0; i < reports_.size(); ++i) {
    mpi_rank_info& info = ranks_[static_cast<std::size_t>(neighbours_[i])];
    info.memory = reports_[i].memory, info.segment = reports_[i].segment;
  }
}

// Numbered by their lowest ranks, groups of regularly placed ranks are few runs. Without memory the numbers stay.
[[gnu::cold]] inline void in_few_runs(std::vector<int>& groups) {
  try {
    groups = by_lowest(groups);
  } catch (std::bad_alloc const&) {
  }
}

// From the rank info. Allocates only for settings, of which usually there are none, and for runs of many ranks.
[[gnu::cold]] COLLIGO_BODY void mpi_bootstrap::take_rank_info() {
  if (state_->size_ == 1) return take_settings_and_trace(0, environment_value("COLLIGO_TRACE") != nullptr);
  std::uint32_t line = 0;
  for (mpi_rank_info const& r : ranks_) line = std::max<std::uint32_t>(line, r.line);
  state_->set_line(line);
  std::size_t const settings = ranks_[0].settings;
  std::uint32_t const asks = ranks_[0].asks;
  if (reports_.empty())
    for (mpi_rank_info& info : ranks_)
      info.lowest = static_cast<int>(place_of(ranks_, [&](mpi_rank_info const& r) { return r.host == info.host; }));
  if (is_any(ranks_, [](mpi_rank_info const& r) { return r.lowest != 0; }))
    for (mpi_rank_info const& r : ranks_) hosts_.push_back(r.lowest);
  state_->missing_->find_reason(comm(), ranks_, hosts_);
  for (std::size_t level = 0; level < domain_levels; ++level) {
    std::vector<int>& groups = domains_[level];
    number_groups(groups, ranks_.size(), hosts_, core_set::most,
                  [&](std::size_t r) { return ranks_[r].domains.group[level]; });
    if (groups.size() > run_list::few) in_few_runs(groups);
    state_->domains[level] = run_list(std::move(groups));
  }
  state_->hosts = run_list(std::move(hosts_));
  if (!mpi_shared::possible(ranks_)) ranks_.clear();
  if (settings == 0 && asks == 0) return;
  std::exception_ptr trouble;
  try {
    take_settings_and_trace(settings, (asks & mpi_rank_info::trace) != 0);
  } catch (std::bad_alloc const&) {   // other exceptions are thrown on all ranks
    trouble = std::current_exception();
  }
  mpi::agree(comm(), trouble);
}

[[gnu::cold]] COLLIGO_BODY void mpi_bootstrap::take_settings_and_trace(std::size_t settings, bool trace_too) {
  if (settings != 0) take_settings(settings);
  state_->take(std::exchange(environment_, nullptr));
  if (!trace_too) return;
  if (follow_mpi) state_->trace = follow_mpi(comm(), state_->hosts);
  else if (state_->rank_ == 0) warn_that_nothing_is_traced();
}

// An error in making it goes to the error handler of the user's communicator, which may end the program.
[[gnu::cold]] COLLIGO_BODY MPI_Comm make_communicator_like(MPI_Comm user) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group ranks = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(user, &ranks), "MPI_Comm_group");
  int const code = MPI_Comm_create(user, ranks, &made);
  MPI_Group_free(&ranks);
  check_mpi(code, "MPI_Comm_create");
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

// Broadcasts rank 0's settings, because launchers do not always pass the environment on to all ranks. In the message
// each string follows its length.
[[gnu::cold]] COLLIGO_BODY void mpi_bootstrap::take_settings(std::size_t bytes) {
  std::string texts;
  texts.reserve(bytes);
  if (!environment_) environment_.reset(new settings);
  if (state_->rank_ == 0)
    for (std::string const* const text : environment_->texts()) {
      auto const length = static_cast<std::uint32_t>(text->size());
      texts.append(reinterpret_cast<char const*>(&length), sizeof length).append(*text);
    }
  texts.resize(bytes);
  check_mpi(MPI_Bcast(texts.data(), static_cast<int>(bytes), MPI_CHAR, 0, comm()), "MPI_Bcast");
  std::size_t at = 0;
  for (std::string* const text : environment_->texts()) {
    std::uint32_t length = 0;
    std::memcpy(&length, texts.data() + at, sizeof length);
    text->assign(texts, at + sizeof length, length);
    at += sizeof length + length;
  }
}

// In the first use, not in the first call that needs memory: a rank that refuses the call would not take part.
[[gnu::cold]] COLLIGO_BODY void mpi_bootstrap::open_memory() {
  auto& memory = state_->shared_;
  bool has_all = false;
  auto const try_to = [](auto const& f) {
    try {
      f();
    } catch (std::bad_alloc const&) {   // segment or has_all reports it
    }
  };
  try_to([&] { memory = make_owner<mpi_shared>(comm(), state_->rank_, ranks_, state_->latencies().line); });
  std::uint64_t const segment = memory ? memory->segment() : 0;
  if (!reports_.empty()) exchange_reports(segment);
  try_to([&] { has_all = memory && memory->map(ranks_); });
  int without = state_->size_;   // the lowest rank without all memory
  if (reports_.empty()) {
    std::array<std::uint64_t, mpi_rank_table::few> few;
    mpi::exchange_values(comm(), has_all ? segment : 0, view(few.data(), ranks_.size()), 1);
    for (std::size_t r = ranks_.size(); r-- > 0;) {
      ranks_[r].segment = few[r];
      if (few[r] == 0) without = static_cast<int>(r);
    }
  } else {
    without = mpi::least_of(comm(), has_all ? without : state_->rank_,
                            root(mpi_rank_table::tree_of::segments, state_->size_));
  }
  if (without < state_->size_) {
    memory.reset();
    state_->missing_->set_rank_without(without);
  } else {
    memory->open(ranks_, state_->limits());
    state_->host_ = memory->host();
    if (state_->host_ && state_->host_->whole()) state_->prepare_calls();
  }
}

}  // namespace colligo
