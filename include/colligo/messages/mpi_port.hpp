// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the library keeps with an MPI communicator: one of its own with the same ranks, so that a user's wild-card
/// receives never meet its messages, scratch, and the settings, which rank 0 decides for all. Cached as an attribute,
/// freed with the communicator.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "../core/row.hpp"
#include "../engine/port.hpp"
#include "../engine/requests.hpp"
#include "mpi_endpoint.hpp"
#include "mpi_error.hpp"
#include "mpi_vendor.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace mpi {

inline mpi_element const& element_of(call const& its) { return *static_cast<mpi_element const*>(its.wire); }

}  // namespace mpi

class mpi_shared;
struct mpi_rank_info;
struct mpi_segment;
class missing_memory;

/// MPI counts are int: longer messages go in segments of this many bytes, which both ends know from the range.
inline constexpr std::size_t longest_segment = std::size_t{1} << 30;
/// Bytes up to which a receive follows its send. That is the quickest for what leaves at once (MPI_Sendrecv takes a
/// third longer for 8 bytes); a longer message had better find the receive posted.
inline constexpr std::size_t longest_short = std::size_t{1} << 16;

class mpi_port final : public port_base {
 public:
  /// Made on first use, which is collective.
  static mpi_port& of(MPI_Comm user) { return static_cast<mpi_port&>(mpi_endpoint(user)); }
  static mpi_port& look_up(MPI_Comm user);
  COLLIGO_BODY ~mpi_port() override;

  /// The library's own; for one rank alone, who sends nothing, the user's.
  MPI_Comm comm() const { return comm_; }

  /// The memory that the ranks of this host share, null where that can not be had, and for one rank alone: the same on
  /// all ranks.
  shared_host* shared() const { return host_ ? host_ : no_memory(); }
  /// The same, null for elements that do not go through it.
  shared_host* shared_for(element const& of) const;

  shared_host* automatic_memory(element const& of) override { return size_ > 1 ? shared_for(of) : nullptr; }
  COLLIGO_BODY std::string why_no_memory(element const& of) override;
  COLLIGO_BODY bool has_vendor(call const& its) const override;
  COLLIGO_BODY void const* wire_of_bytes() const override;
  COLLIGO_BODY std::unique_ptr<moving_step> steps_for_request(working_vector& data, call const& its,
                                                              transport over) override;
  COLLIGO_BODY std::unique_ptr<moving_step> vendor_request(call const& its, bool persistent) override;
  COLLIGO_BODY void yield_core(unsigned& polls) const override;
  COLLIGO_BODY bool uses_memory(call const& its, transport over) override;

  /// One message out and one in, at once; either may be absent (nobody). Bytes, at most longest_segment. Waits.
  /// Returns the bytes that have come; more than `in_bytes` if the message was longer.
  std::size_t exchange(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes,
                       int from, int tag) {
    // 0 - 1 is huge: empty is not short.
    if (out_bytes - 1 >= longest_short || in_bytes - 1 >= longest_short)
      return exchange_long(out, out_bytes, to, in, in_bytes, from, tag);
    MPI_Request leaving = MPI_REQUEST_NULL;
    MPI_Status status;
    check_mpi(MPI_Isend(out, static_cast<int>(out_bytes), MPI_BYTE, to, tag, comm_, &leaving), "MPI_Isend");
    int const code = MPI_Recv(in, static_cast<int>(in_bytes), MPI_BYTE, from, tag, comm_, &status);
    check_mpi(MPI_Wait(&leaving, MPI_STATUS_IGNORE), "MPI_Wait");
    return received(code, "MPI_Recv", status, in_bytes);
  }
  /// Bytes that have come, one more than `wanted` if they were cut off. Throws for any other failure.
  static std::size_t received(int code, char const* by, MPI_Status const& status, std::size_t wanted) {
    if (code != MPI_SUCCESS) [[unlikely]] {
      check_unless_cut_off(code, by);
      return wanted + 1;
    }
    int bytes = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    return static_cast<std::size_t>(bytes);
  }
  static void check_unless_cut_off(int code, char const* by);

  /// The tag of the messages of a call: all that the MPI library has take their turns.
  int tag_of(std::uint32_t number) const { return static_cast<int>(number & tags_); }

  COLLIGO_BODY void abandon_call(std::uint32_t number, std::string_view why, bool begun) noexcept override;
  /// Why a message is empty; no other is, for what has no elements is not sent. The remark follows it with a tag of its
  /// own, so that a receive which waits for the message need not look out for anything else.
  enum class remark : unsigned char { goes_on, abort_message };
  void send_empty(int to, std::uint32_t number, remark why) const;
  /// After an empty message of that rank.
  remark receive_remark(int from, std::uint32_t number) const;
  /// This rank has left calls of late: what others still send it of these is to be received, and dropped, for they may
  /// wait for that.
  bool has_left_calls() const { return has_left_calls_; }
  /// Abort messages may be in progress. A communicator that is made later must not take them for its own, as it might
  /// if the MPI library gave it the number of this one: this one is not freed.
  void hears_aborts() { keeps_comm_ = true; }
  /// A blocking call looks for its messages itself, since it has something else to do or to say meanwhile.
  bool looks_itself() const { return has_left_calls_ || watches_waits(); }
  /// Between two looks. Throws stalled.
  void linger() {
    sched_yield();
    if (has_left_calls_) drop_what_is_left();
    if (on_wait) on_wait->waits();
  }
  void drop_what_is_left() noexcept;

  /// Requests of this process, whatever communicators they use.
  static requests_of_rank& all_requests();

 private:
  /// What a rank does alone, with all the memory that it takes. The rest is collective.
  explicit mpi_port(MPI_Comm user);
  /// `port`: null on ranks that have no memory for it, which says `trouble`.
  static void meet(MPI_Comm user, mpi_port* port, std::exception_ptr const& trouble);
  COLLIGO_BODY void perform(working_vector& data, call const& its, policy_run const& run, transport over) override;
  COLLIGO_BODY void run_vendor(call const& its, bool blocking) override;
  COLLIGO_BODY bool goes_on_without_memory(call const& its, transport over) override;
  /// The same if one of them is absent, or not short.
  std::size_t exchange_long(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes,
                            int from, int tag);
  template <class Value>
  static void exchange_values(MPI_Comm comm, Value const& mine, std::span<Value> all);
  static void complete(MPI_Comm comm, MPI_Request request, char const* by);
  static void agree(MPI_Comm comm, std::exception_ptr const& trouble);
  void learn();
  void learn_what_is_asked(std::size_t settings, bool trace);
  void take_settings(std::size_t bytes);
  shared_host* no_memory() const;
  void open_memory();
  void free_own();
  static int make_key();
  int tag_of_remark(std::uint32_t number) const { return tag_of(number) | static_cast<int>(tags_ + 1); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool owns_comm_ = false, keeps_comm_ = false, has_left_calls_ = false;
  std::uint32_t tags_ = 0x3fff;
  struct left_call {
    std::uint32_t number = 0;   // 0: none
    int others = 0;             // that have left it too: if all have, nothing else comes
  };
  std::array<left_call, 16> left_{};   // the latest
  std::shared_ptr<settings> environment_;   // this rank's, until all ranks have met
  row<mpi_rank_info> ranks_;              // the same
  row<mpi_segment> segments_;               // the same
  std::unique_ptr<mpi_shared> shared_;
  shared_host* host_ = nullptr;          // of shared_
  std::unique_ptr<missing_memory> missing_;
  struct steps_memory;
  std::unique_ptr<steps_memory> steps_memory_;   // of blocking calls
};

/// A communicator of the same ranks with nothing of the user's: duplicating would run the callbacks of attributes.
/// Collective.
MPI_Comm make_communicator_like(MPI_Comm user);

/// Traces a communicator if that is asked for (extra/trace/mpi_trace.hpp): set by those who include it.
inline std::unique_ptr<observer> (*follow_mpi)(MPI_Comm comm, std::vector<int> const& hosts) = nullptr;

}  // namespace colligo
