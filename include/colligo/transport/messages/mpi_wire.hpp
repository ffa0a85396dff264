// SPDX-License-Identifier: BSL-1.0
/// @file
/// Messages of bytes between the ranks of a communicator, over the library's own; and the messages of abandoned calls.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>

#include "../../core/mutex.hpp"
#include "../../core/small_vector.hpp"
#include "../../engine/call.hpp"
#include "mpi_error.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

/// Bytes: longer messages are sent in segments, because MPI counts are int. Both ends know them from the range.
inline constexpr std::size_t longest_segment = std::size_t{1} << 30;
/// Bytes: up to this length an exchange posts its send before its receive. That is the fastest order for messages that
/// leave at once (MPI_Sendrecv takes a third longer for 8 bytes); a longer message should find the receive posted.
inline constexpr std::size_t longest_short = std::size_t{1} << 16;

/// The tags of the messages of a call: its number, in the lower bits, and what stands there. Calls use the numbers in
/// turn. The kind of a call, in the tags of its data, is the same on all ranks of a right one: messages of ranks that
/// make different calls mostly do not match.
class mpi_tags {
 public:
  mpi_tags() = default;
  /// `most`: the largest tag, at least 32767.
  explicit mpi_tags(int most) {
    auto const all = std::bit_floor(static_cast<std::uint32_t>(most) + 1);
    kinds_ = all >= 1U << 24 ? 8 : 4;
    numbers_ = all / (2 * kinds_);   // remarks and letters need three more
  }

  std::uint32_t numbers() const { return numbers_; }
  int kinds() const { return static_cast<int>(kinds_); }
  int all_kinds() const { return kinds() + kinds_of_letters; }   // with remarks and letters
  /// Collectives of one root, and roots of one collective, differ in it, but for those that are 8 apart (or 4).
  int kind_of(collective what, int root) const {
    return static_cast<int>((static_cast<std::uint32_t>(what) + static_cast<std::uint32_t>(root)) & (kinds_ - 1));
  }
  int of(std::uint32_t number, int kind = 0) const {
    return static_cast<int>((number & (numbers_ - 1)) | static_cast<std::uint32_t>(kind) * numbers_);
  }
  int of_remark(std::uint32_t number) const { return of(number, kinds()); }
  /// Of letters (exchange/), of three kinds that are told apart; the first one is that of calls of kind 0.
  static constexpr int kinds_of_letters = 3;
  int of_letters(std::uint32_t number, int kind) const { return of(number, kind == 0 ? 0 : kinds() + kind); }

  bool is_of_remark(int tag) const { return static_cast<std::uint32_t>(tag) / numbers_ == kinds_; }
  std::uint32_t number_of(int tag) const { return static_cast<std::uint32_t>(tag) & (numbers_ - 1); }

 private:
  std::uint32_t kinds_ = 4, numbers_ = 4096;
};

/// The calls that this process has abandoned, on all communicators, also on freed ones. Other ranks may still send
/// messages of these calls, however late, and wait until this process receives them; it does so whenever it waits.
class left_calls {
 public:
  struct entry {
    std::uint32_t number;      ///< of the call
    int others;                ///< ranks that have not abandoned the call yet; without any no message comes
    mpi_tags tags;
    MPI_Comm comm;             ///< never freed

    void drop_messages() noexcept;
    void drop_from(int source) const;
  };

  static bool any() { return count_.load(std::memory_order_relaxed) != 0; }
  static void add(entry const& call) noexcept;
  /// Forgets calls on this communicator whose tags the latest one, `number`, or the next ones will use.
  static void forget_old(MPI_Comm comm, std::uint32_t number) noexcept;
  /// Receives and drops messages of one call, the next in turn, so that the time does not depend on how many there are.
  static void drop_messages() noexcept {
    if (any()) [[unlikely]] drop_of_next();
  }

 private:
  static void drop_of_next() noexcept;
  static small_vector<entry>& all() noexcept;
  static inline std::size_t turn_ = 0;
  static inline mutex mutex_;   // threads may wait on different communicators
  static inline std::atomic<int> count_ = 0;
};

class mpi_wire {
 public:
  /// At first over the user's communicator.
  explicit mpi_wire(MPI_Comm user);
  ~mpi_wire();
  mpi_wire(mpi_wire const&) = delete;
  mpi_wire& operator=(mpi_wire const&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The library's own communicator; for a single rank, which sends nothing, the user's.
  MPI_Comm comm() const { return comm_; }
  bool owns_comm() const { return owns_comm_; }
  void own(MPI_Comm made) { comm_ = made, owns_comm_ = true; }
  /// Called when the user's communicator is freed, which a single rank then no longer has.
  void outlive_user() {
    if (!owns_comm_) comm_ = MPI_COMM_SELF;
  }

  /// One message out and one in, at once; either may be absent (nobody). Bytes, at most longest_segment. Waits.
  /// Returns the bytes that have come; more than `in_bytes` if the message was longer.
  std::size_t exchange(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes,
                       int from, int tag) {
    // An empty message is not short: 0 - 1 is the largest std::size_t.
    if (out_bytes - 1 >= longest_short || in_bytes - 1 >= longest_short)
      return exchange_long(out, out_bytes, to, in, in_bytes, from, tag);
    MPI_Request leaving = MPI_REQUEST_NULL;
    MPI_Status status;
    check_mpi(MPI_Isend(out, static_cast<int>(out_bytes), MPI_BYTE, to, tag, comm_, &leaving), "MPI_Isend");
    int const code = MPI_Recv(in, static_cast<int>(in_bytes), MPI_BYTE, from, tag, comm_, &status);
    check_mpi(MPI_Wait(&leaving, MPI_STATUS_IGNORE), "MPI_Wait");
    return received(code, "MPI_Recv", status, in_bytes);
  }
  /// The bytes that a receive has got; `wanted` + 1 if the message was cut off. Throws for any other failure.
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

  mpi_tags const& tags() const { return tags_; }

  /// Why a rank has sent an empty message: it has failed, but goes on to the end of the algorithm, or it has abandoned
  /// the call. Messages of data are never empty. The remark follows the empty message with a tag of its own, so that a
  /// receive waits for one tag only. Of letters (exchange/): the letter has no elements; the sender's arguments are
  /// refused, and its reason follows.
  enum class remark : unsigned char { goes_on, abort_message, no_elements, refusal };
  /// An empty message with the tag of the call's kind: the rank goes on.
  void send_empty(int to, std::uint32_t number, int tag) const;
  /// One of each kind, because a rank that refuses its call does not know which one the others make.
  void send_abort(int to, std::uint32_t number) const;
  /// Receives the remark that follows an empty message.
  remark receive_remark(int from, std::uint32_t number) const {
    return receive_remark(comm_, from, tags_.of_remark(number));
  }
  static remark receive_remark(MPI_Comm comm, int from, int tag);
  /// Abort messages may be in progress. The communicator is then not freed: if the MPI library reused its number, a
  /// later communicator would receive them.
  void hears_aborts() { keeps_comm_ = true; }
  /// This rank abandons a call, and from now on drops its messages. The caller sends the abort messages.
  void leave_call(std::uint32_t number) noexcept {
    hears_aborts();
    left_calls::add({number, size_ - 1, tags_, comm_});
  }

 private:
  void send_and_forget(void const* from, int bytes, int to, int tag) const;
  /// The same if a message is absent, or not short.
  std::size_t exchange_long(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes,
                            int from, int tag);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  bool owns_comm_ = false, keeps_comm_ = false;
  mpi_tags tags_;
};

/// For a rank that waits without MPI: a peer may be in a send to it that needs MPI's progress. Probes for messages of
/// this rank to itself, which do not exist: MPI makes no progress if it finds a message.
inline void let_mpi_progress(MPI_Comm comm, int this_rank) {
  int flag = 0;
  check_mpi(MPI_Iprobe(this_rank, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
  left_calls::drop_messages();
}

#if COLLIGO_HAS_BODIES
[[gnu::cold]] COLLIGO_BODY mpi_wire::mpi_wire(MPI_Comm user) : comm_(user) {
  check_mpi(MPI_Comm_rank(user, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(user, &size_), "MPI_Comm_size");
  int *most_tags = nullptr, found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tags, &found), "MPI_Comm_get_attr");
  if (found) tags_ = mpi_tags(*most_tags);
}

[[gnu::cold]] COLLIGO_BODY mpi_wire::~mpi_wire() {
  int finalised = 0, unheard = 0, bytes = 0;
  MPI_Status status;
  MPI_Finalized(&finalised);
  if (!owns_comm_ || keeps_comm_ || finalised) return;
  // Perhaps there is an abort message of a call in which this rank waited for nobody.
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &unheard, &status);
  if (!unheard) {
    MPI_Comm_free(&comm_);
    return;
  }
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == 0 || tags_.is_of_remark(status.MPI_TAG)) return;
  // A destructor can not throw. Who has sent it may have returned, or waits still.
  std::fprintf(stderr, "colligo: rank %d has never taken a message of %d bytes that rank %d has sent it in call number "
               "%u of a communicator that ends now: did counts differ? COLLIGO_CHECK=1 compares them\n", rank_, bytes,
               status.MPI_SOURCE, tags_.number_of(status.MPI_TAG));
}

COLLIGO_BODY std::size_t mpi_wire::exchange_long(std::byte const* out, std::size_t out_bytes, int to, std::byte* in,
                                                 std::size_t in_bytes, int from, int tag) {
  int const out_count = static_cast<int>(out_bytes), in_count = static_cast<int>(in_bytes);
  MPI_Status status;
  if (in_bytes == 0) {
    check_mpi(MPI_Send(out, out_count, MPI_BYTE, to, tag, comm_), "MPI_Send");
    return 0;
  }
  if (out_bytes == 0) {
    int const code = MPI_Recv(in, in_count, MPI_BYTE, from, tag, comm_, &status);
    return received(code, "MPI_Recv", status, in_bytes);
  }
  int const code = MPI_Sendrecv(out, out_count, MPI_BYTE, to, tag, in, in_count, MPI_BYTE, from, tag, comm_, &status);
  return received(code, "MPI_Sendrecv", status, in_bytes);
}

[[gnu::cold]] COLLIGO_BODY void mpi_wire::check_unless_cut_off(int code, char const* by) {
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  if (kind != MPI_ERR_TRUNCATE) check_mpi(code, by);
}

// Does not wait: a rank that is gone takes nothing more.
[[gnu::cold]] COLLIGO_BODY void mpi_wire::send_and_forget(void const* from, int bytes, int to, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(from, bytes, MPI_BYTE, to, tag, comm_, &request), "MPI_Isend");
  check_mpi(MPI_Request_free(&request), "MPI_Request_free");
}
[[gnu::cold]] COLLIGO_BODY void mpi_wire::send_empty(int to, std::uint32_t number, int tag) const {
  static constexpr remark says = remark::goes_on;   // stays until MPI has sent it
  send_and_forget(nullptr, 0, to, tag);
  send_and_forget(&says, 1, to, tags_.of_remark(number));
}
[[gnu::cold]] COLLIGO_BODY void mpi_wire::send_abort(int to, std::uint32_t number) const {
  static constexpr remark says = remark::abort_message;
  for (int kind = 0; kind < tags_.kinds(); ++kind) send_and_forget(nullptr, 0, to, tags_.of(number, kind));
  send_and_forget(&says, 1, to, tags_.of_remark(number));
}
[[gnu::cold]] COLLIGO_BODY mpi_wire::remark mpi_wire::receive_remark(MPI_Comm comm, int from, int tag) {
  remark why{};
  check_mpi(MPI_Recv(&why, 1, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  return why;
}

// Never destroyed: it outlives communicators that are static.
[[gnu::cold]] COLLIGO_BODY small_vector<left_calls::entry>& left_calls::all() noexcept {
  alignas(small_vector<entry>) static std::byte memory[sizeof(small_vector<entry>)];
  static small_vector<entry>& entries = *::new (memory) small_vector<entry>;
  return entries;
}

[[gnu::cold]] COLLIGO_BODY void left_calls::add(entry const& call) noexcept {
  drop_messages();
  locked const turn(mutex_);
  try {
    if (all().empty()) all().reserve(64);
    all().push_back(call);
    ++count_;
  } catch (std::bad_alloc const&) {   // an older one is forgotten
    if (!all().empty()) all()[turn_++ % all().size()] = call;
  }
}

[[gnu::cold]] COLLIGO_BODY void left_calls::forget_old(MPI_Comm comm, std::uint32_t number) noexcept {
  locked const turn(mutex_);
  for (std::size_t i = all().size(); i-- > 0;)
    if (entry& left = all()[i]; left.comm == comm && number - left.number >= left.tags.numbers() / 2)
      all().erase(&left), --count_;
}

[[gnu::cold]] COLLIGO_BODY void left_calls::drop_of_next() noexcept {
  auto const turn = locked::if_free(mutex_);
  if (!turn.is_held() || all().empty()) return;   // another thread is dropping messages, or has dropped the last ones
  entry& left = all()[turn_++ % all().size()];
  left.drop_messages();
  if (left.others == 0) all().erase(&left), --count_;
}

[[gnu::cold]] COLLIGO_BODY void left_calls::entry::drop_from(int source) const {
  for (int kind = 0; kind < tags.all_kinds();) {
    int const tag = tags.of(number, kind);
    int there = 0, bytes = 0;
    MPI_Status status;
    if (kind != tags.kinds()) check_mpi(MPI_Iprobe(source, tag, comm, &there, &status), "MPI_Iprobe");   // no remark
    if (!there && ++kind) continue;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    small_vector<std::byte> nowhere(static_cast<std::size_t>(bytes));
    check_mpi(MPI_Recv(nowhere.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  }
}

// Remarks come last: what a rank has sent before it abandons the call is there by then.
[[gnu::cold]] COLLIGO_BODY void left_calls::entry::drop_messages() noexcept try {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status), "MPI_Iprobe");
  if (!there) return;
  drop_from(MPI_ANY_SOURCE);
  while (others > 0) {
    int const tag = tags.of_remark(number);
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, &status), "MPI_Iprobe");
    if (!there) return;
    drop_from(status.MPI_SOURCE);
    others -= mpi_wire::receive_remark(comm, status.MPI_SOURCE, tag) == mpi_wire::remark::abort_message;
  }
} catch (std::exception const&) {   // later
}
#endif

}  // namespace colligo
