// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_port.hpp for the first use of a communicator: the ranks' exchange, and how they wait for late
/// ranks.
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
#include <span>
#include <string>
#include <utility>

#include "../core/clock.hpp"
#include "../core/error.hpp"
#include "../core/strings.hpp"
#include "../engine/requests.hpp"
#include "../shape/nest.hpp"
#include "mpi_port.hpp"
#include "mpi_roster_body.hpp"
#include "mpi_shared.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi {

[[gnu::cold]] COLLIGO_BODY std::string name_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  check_mpi(MPI_Comm_get_name(comm, name.data(), &length), "MPI_Comm_get_name");
  return std::string(name.data(), static_cast<std::size_t>(length));
}

// A rank's patience with ranks that do not come to a communicator's first use. Their settings are not known yet, so
// this rank's own environment holds. It only warns, because it can not leave a collective of MPI's.
class first_meeting {
 public:
  [[gnu::cold]] explicit first_meeting(MPI_Comm comm) : comm_(comm) {}
  [[gnu::cold]] COLLIGO_BODY void waits() {
    if (++looks_ < before_asking) return;
    std::int64_t const now = now_in_ns();
    if (looks_ == before_asking) {
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
                         name.empty() ? "a communicator without a name" : "communicator ", name, ", for some of its ",
                         size, " ranks have made no call on it\n"}).c_str(), stderr);
    setting_ = {};
  }

 private:
  static constexpr unsigned before_asking = 1024;
  MPI_Comm comm_;
  unsigned looks_ = 0;
  patience_setting setting_;
  std::int64_t began_ = 0;
};

[[noreturn, gnu::cold]] inline void throw_no_memory() {
  throw failed_elsewhere("colligo: a rank has no memory for what is kept with a communicator");
}

// Not by a blocking call of MPI's: a late rank may be waiting for a request that needs this rank.
[[gnu::cold]] COLLIGO_BODY void complete(MPI_Comm comm, MPI_Request request, char const* by) {
  requests_of_rank& all = mpi_port::all_requests();
  first_meeting meeting(comm);
  for (int done = 0;; sched_yield()) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), by);
    if (done) return;
    if (all.busy()) all.progress();
    meeting.waits();
  }
}

// Every rank's value on every rank, in two messages a rank: MPI_Iallgather may send one from each rank to each.
template <class Value>
void exchange_values(MPI_Comm comm, Value const& mine, std::span<Value> all) {
  auto const bytes = static_cast<int>(sizeof mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Igather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, comm, &request), "MPI_Igather");
  complete(comm, request, "MPI_Igather");
  check_mpi(MPI_Ibcast(all.data(), static_cast<int>(all.size_bytes()), MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  complete(comm, request, "MPI_Ibcast");
}

// The least value of all ranks, by way of this one.
[[gnu::cold]] COLLIGO_BODY int least_of(MPI_Comm comm, int mine, int root) {
  int all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ireduce(&mine, &all, 1, MPI_INT, MPI_MIN, root, comm, &request), "MPI_Ireduce");
  complete(comm, request, "MPI_Ireduce");
  check_mpi(MPI_Ibcast(&all, 1, MPI_INT, root, comm, &request), "MPI_Ibcast");
  complete(comm, request, "MPI_Ibcast");
  return all;
}

// Throws on all ranks if one of them is in trouble.
[[gnu::cold]] COLLIGO_BODY void agree(MPI_Comm comm, std::exception_ptr const& trouble, int root = 0) {
  int const all = least_of(comm, trouble ? 0 : 1, root);
  if (trouble) std::rethrow_exception(trouble);
  if (!all) throw_no_memory();
}

}  // namespace mpi

/// The exchange between ranks in the first use of a communicator, kept until it is complete.
class mpi_meeting {
 public:
  /// Collective.
  static std::shared_ptr<port_base> make_port(MPI_Comm user);

 private:
  /// A rank's own part, with all of its allocations. The rest is collective.
  explicit mpi_meeting(MPI_Comm user);
  MPI_Comm comm() const { return port_->wire_.comm(); }
  void learn();
  void learn_what_is_asked(std::size_t settings, bool trace);
  void take_settings(std::size_t bytes);
  void meet_many();
  void tell_neighbours();
  void open_memory();

  mpi_port* port_;
  std::shared_ptr<port_base> life_;         // of the port
  std::shared_ptr<settings> environment_;   // this rank's
  std::vector<int> hosts_;
  std::array<std::vector<int>, domain_levels> domains_;
  row<mpi_rank_info> ranks_;
  row<mpi_segment> segments_;
  // Of the ranks of this host, where those of others are not asked: which they are, and what they have said, from this
  // rank's on.
  struct told {
    arena_address memory{};
    mpi_segment segment{};
  };
  row<int> neighbours_;
  row<told> told_;
};

[[gnu::cold]] COLLIGO_BODY mpi_meeting::mpi_meeting(MPI_Comm user) : port_(new mpi_port(user)), life_(port_) {
  if (int of_all = 0; MPI_Comm_rank(MPI_COMM_WORLD, &of_all) == MPI_SUCCESS && of_all == 0) warn_of_unknown_variables();
  if (port_->rank_ == 0) environment_ = settings_of_environment();
  if (port_->size_ == 1) return;
  ranks_.resize(static_cast<std::size_t>(port_->size_));
  ranks_[static_cast<std::size_t>(port_->rank_)] = mpi_rank_info_of_this_process(environment_.get());
  segments_.resize(ranks_.size());
  hosts_.reserve(ranks_.size());
  for (std::vector<int>& level : domains_) level.reserve(ranks_.size());
}

// Exchanges rank info, and whether each rank has a port: a rank without memory for one takes part all the same, because
// the others wait for it.
[[gnu::cold]] COLLIGO_BODY std::shared_ptr<port_base> mpi_meeting::make_port(MPI_Comm user) {
  owner<mpi_meeting> its;
  std::exception_ptr trouble;
  try {
    its = owner<mpi_meeting>(new mpi_meeting(user));
  } catch (std::bad_alloc const&) {
    trouble = std::current_exception();
  }
  std::array<mpi_rank_info, 128> few;
  int size = 0, rank = 0;
  check_mpi(MPI_Comm_size(user, &size), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(user, &rank), "MPI_Comm_rank");
  auto const ranks = static_cast<std::size_t>(size);
  if (size == 1 && trouble) std::rethrow_exception(trouble);
  if (size > 1) {
    bool const is_few = ranks <= std::min(few.size(), mpi_roster::most_told_singly);
    if (is_few) {
      mpi_rank_info mine{};
      if (its) mine = its->ranks_[static_cast<std::size_t>(rank)];
      mine.has_no_port = !its;
      std::span<mpi_rank_info> const all = std::span(few).first(ranks);
      mpi::exchange_values(user, mine, all);
      if (trouble) std::rethrow_exception(trouble);
      if (is_any(all, [](mpi_rank_info const& r) { return r.has_no_port != 0; })) mpi::throw_no_memory();
      std::memcpy(its->ranks_.data(), all.data(), all.size_bytes());
    } else {
      mpi::agree(user, trouble, size - 1);
    }
    its->port_->wire_.own(make_communicator_like(user));
    if (!is_few) its->meet_many();
  }
  its->learn();
  if (!its->ranks_.empty()) its->open_memory();
  mpi_port& port = *its->port_;
  if (size > 1 && port.watches_waits()) port.lose_patience(port.host_, mpi::name_of(user));
  return its->life_;
}

// The ranks of a host tell each other what no other host needs to know. Agreements have roots that are leaves of each
// other's trees, and of the one that starts at rank 0.
[[gnu::cold]] COLLIGO_BODY void mpi_meeting::meet_many() {
  auto const me = static_cast<std::size_t>(port_->rank_);
  mpi_rank_info const mine = ranks_[me];
  std::exception_ptr trouble = mpi_roster::exchange(comm(), port_->rank_, ranks_);
  try {
    for (std::size_t i = 0; i < ranks_.size(); ++i)   // from this one on, and round
      if (std::size_t const r = (me + i) % ranks_.size(); ranks_[r].host == mine.host)
        neighbours_.push_back(static_cast<int>(r));
    told_.resize(neighbours_.size());
  } catch (std::bad_alloc const&) {
    trouble = std::current_exception();
  }
  mpi::agree(comm(), trouble, std::max(port_->size_ - 3, 0));
  told_[0].memory = mine.memory;
  tell_neighbours();
  for (std::size_t i = 0; i < told_.size(); ++i)
    ranks_[static_cast<std::size_t>(neighbours_[i])].memory = told_[i].memory;
}

// Bruck's all_gather. In: told_[0].
[[gnu::cold]] COLLIGO_BODY void mpi_meeting::tell_neighbours() {
  std::size_t const n = told_.size();
  for (std::size_t have = 1; have < n; have *= 2) {
    auto const bytes = static_cast<int>(std::min(have, n - have) * sizeof(told));
    check_mpi(MPI_Sendrecv(told_.data(), bytes, MPI_BYTE, neighbours_[n - have], 0, told_.data() + have, bytes,
                           MPI_BYTE, neighbours_[have], 0, comm(), MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
  }
}

[[gnu::cold]] inline void find_known_hosts(std::span<mpi_rank_info const> ranks, std::vector<int>& hosts) {
  if (is_any(ranks, [](mpi_rank_info const& r) { return r.lowest != 0; }))
    for (mpi_rank_info const& r : ranks) hosts.push_back(r.lowest);
}

// Groups by their lowest ranks follow a rule if ranks do. Without memory they stay, the same groups.
[[gnu::cold]] inline void in_few_runs(std::vector<int>& groups) {
  try {
    groups = by_lowest(groups);
  } catch (std::bad_alloc const&) {
  }
}

// Allocates only for settings, and for runs of many ranks; usually there are none.
[[gnu::cold]] COLLIGO_BODY void mpi_meeting::learn() {
  if (port_->size_ == 1) return learn_what_is_asked(0, environment_value("COLLIGO_TRACE") != nullptr);
  std::size_t const settings = ranks_[0].settings;
  std::uint32_t const asks = ranks_[0].asks;
  if (told_.empty()) find_hosts(ranks_, hosts_);
  else find_known_hosts(ranks_, hosts_);
  port_->missing_->hear_of(comm(), ranks_, hosts_);
  for (std::size_t level = 0; level < domain_levels; ++level) {
    std::vector<int>& groups = domains_[level];
    fill_groups(groups, level, ranks_.size(), hosts_, [this](std::size_t r) -> auto& { return ranks_[r].domains; });
    if (groups.size() > run_list::few) in_few_runs(groups);
    port_->domains[level] = run_list(std::move(groups));
  }
  port_->hosts = run_list(std::move(hosts_));
  if (!mpi_shared::possible(ranks_)) ranks_.clear();
  if (settings == 0 && asks == 0) return;
  std::exception_ptr trouble;
  try {
    learn_what_is_asked(settings, (asks & mpi_rank_info::trace) != 0);
  } catch (std::bad_alloc const&) {   // everything else is the same on all ranks
    trouble = std::current_exception();
  }
  mpi::agree(comm(), trouble);
}

[[gnu::cold]] COLLIGO_BODY void mpi_meeting::learn_what_is_asked(std::size_t settings, bool trace_too) {
  if (settings != 0) take_settings(settings);
  port_->take(std::exchange(environment_, nullptr));
  if (!trace_too) return;
  if (follow_mpi) port_->trace = follow_mpi(comm(), port_->hosts);
  else if (port_->rank_ == 0) warn_that_nothing_is_traced();
}

// An error goes to the error handler of the user's communicator, which may end the program.
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

// Launchers do not always pass the environment on, so ranks could disagree: rank 0's holds. Each string follows its
// length.
[[gnu::cold]] COLLIGO_BODY void mpi_meeting::take_settings(std::size_t bytes) {
  std::string texts;
  texts.reserve(bytes);
  if (!environment_) environment_.reset(new settings);
  if (port_->rank_ == 0)
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

// Before any call needs it: a rank that refuses its call would not come.
[[gnu::cold]] COLLIGO_BODY void mpi_meeting::open_memory() {
  mpi_segment mine{};
  auto& memory = port_->shared_;
  try {
    memory = make_owner<mpi_shared>(comm(), port_->rank_, ranks_);
    mine = memory->segment();
  } catch (std::bad_alloc const&) {   // the others are told
  }
  if (told_.empty()) {
    mpi::exchange_values(comm(), mine, std::span(segments_));
  } else {
    for (mpi_segment& each : segments_) each = {1, 1};   // other hosts' are not asked
    told_[0].segment = mine;
    tell_neighbours();
    for (std::size_t i = 0; i < told_.size(); ++i)
      segments_[static_cast<std::size_t>(neighbours_[i])] = told_[i].segment;
    int const without = mpi::least_of(comm(), mine.at == 0 ? port_->rank_ : port_->size_,
                                      std::max(port_->size_ - 5, 0));
    if (without < port_->size_) segments_[static_cast<std::size_t>(without)].at = 0;
  }
  if (is_any(segments_, [](mpi_segment const& s) { return s.at == 0; })) {
    memory.reset();
    port_->missing_->hear_of(segments_);
  } else {
    memory->open(segments_, port_->limits());
    port_->host_ = memory->host();
  }
}

}  // namespace colligo
