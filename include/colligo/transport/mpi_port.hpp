// SPDX-License-Identifier: BSL-1.0
/// @file
/// What the library keeps with an MPI communicator: a duplicate of its own, so that a user's wild-card receives never meet its
/// messages, scratch, and the settings, which rank 0 decides for all. Cached as an attribute, freed with the communicator.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/step.hpp"
#include "../core/transport.hpp"
#include "mpi_error.hpp"
#include "mpi_shared.hpp"
#include "../trace/mpi_trace.hpp"
#include "port.hpp"
#include "shared_memory.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

template <class T, class Op>
class working_vector;
template <class T, class Op>
class mpi_steps;

/// MPI allocates what it combines without asking for more alignment than this.
template <class T>
concept vendor_takes = travels_as_bytes<T> && alignof(T) <= alignof(std::max_align_t);

/// MPI counts are int: longer messages go in pieces of this many bytes, which both ends know from the range.
inline constexpr std::size_t longest_piece = std::size_t{1} << 30;

class mpi_port : public port_base {
 public:
  /// Made on first use, which is collective.
  static mpi_port& of(MPI_Comm user) {
    static thread_local struct { MPI_Comm comm; mpi_port* port; unsigned freed; } latest{};   // zeros: no guard to pass
    unsigned const freed = freed_.load(std::memory_order_acquire);
    if (latest.port == nullptr || latest.comm != user || latest.freed != freed) latest = {user, &look_up(user), freed};
    return *latest.port;
  }

  mpi_port(mpi_port const&) = delete;
  mpi_port& operator=(mpi_port const&) = delete;

  MPI_Comm comm() const { return comm_; }

  template <class T, class Op>
  auto steps(working_vector<T, Op>& data, transport over) { return mpi_steps<T, Op>(*this, data, over == transport::shared_memory ? shared_for<T>() : nullptr); }

  /// The memory that the ranks of this host share, null where that can not be had: the same on all ranks. Made on first use, which is collective.
  shared_host* shared() {
    if (!shared_) shared_ = std::make_unique<mpi_shared>(comm_);
    return shared_->host();
  }
  /// The same, null for elements that do not go through it.
  template <class T>
  shared_host* shared_for() {
    if constexpr (!travels_as_bytes<T>) return nullptr;
    shared_host* const host = shared();
    return host && host->fits(sizeof(T)) ? host : nullptr;
  }
  /// Where `automatic` may go.
  template <class T>
  shared_host* automatic_memory() { return size_ > 1 ? shared_for<T>() : nullptr; }
  shared_traffic traffic;   ///< what is under way there

  template <class T>
  static constexpr bool has_vendor = vendor_takes<T>;
  /// MPI has a datatype and an operation of its own for them: only then is its reduction likely to be a fast one.
  template <class T, class Op>
  static bool has_builtin();

  /// One message out and one in, at once; either may be absent (nobody). Bytes.
  void exchange(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes, int from) {
    bool const one_piece = out_bytes - 1 < longest_piece && in_bytes - 1 < longest_piece;   // 0 - 1 is huge: empty is not one piece
    if (!one_piece) return exchange_pieces(out, out_bytes, to, in, in_bytes, from);
    check_mpi(MPI_Sendrecv(out, static_cast<int>(out_bytes), MPI_BYTE, to, tag, in, static_cast<int>(in_bytes), MPI_BYTE, from, tag, comm_,
                           MPI_STATUS_IGNORE), "MPI_Sendrecv");
  }

  /// The same if one of them is absent, or longer than MPI counts.
  [[gnu::noinline]]
  void exchange_pieces(std::byte const* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes, int from) {
    do {
      std::size_t const sent = std::min(out_bytes, longest_piece), got = std::min(in_bytes, longest_piece);
      if (got == 0)
        check_mpi(MPI_Send(out, static_cast<int>(sent), MPI_BYTE, to, tag, comm_), "MPI_Send");
      else if (sent == 0)
        check_mpi(MPI_Recv(in, static_cast<int>(got), MPI_BYTE, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
      else
        check_mpi(MPI_Sendrecv(out, static_cast<int>(sent), MPI_BYTE, to, tag, in, static_cast<int>(got), MPI_BYTE, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Sendrecv");
      out += sent, out_bytes -= sent, in += got, in_bytes -= got;
    } while (out_bytes != 0 || in_bytes != 0);
  }

  std::vector<void const*> sources;   ///< where the messages of a step begin
  std::vector<std::pair<piece, void*>> arriving;   ///< what is folded in order of arrival, and where it is received

  /// Several messages at once: post them, then finish().
  void post_send(std::byte const* out, std::size_t bytes, int to) {
    for (std::size_t at = 0; at < bytes; at += longest_piece)
      check_mpi(MPI_Isend(out + at, static_cast<int>(std::min(bytes - at, longest_piece)), MPI_BYTE, to, tag, comm_, &requests_.emplace_back()), "MPI_Isend");
  }
  void post_recv(std::byte* in, std::size_t bytes, int from) {
    for (std::size_t at = 0; at < bytes; at += longest_piece)
      check_mpi(MPI_Irecv(in + at, static_cast<int>(std::min(bytes - at, longest_piece)), MPI_BYTE, from, tag, comm_, &requests_.emplace_back()), "MPI_Irecv");
  }
  void finish() {
    int const code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    check_mpi(code, "MPI_Waitall");
  }

  /// Waits for any message that is under way: its number in the order of posting, nobody if there is none.
  int finish_any() {
    int which = MPI_UNDEFINED;
    check_mpi(MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &which, MPI_STATUS_IGNORE), "MPI_Waitany");
    if (which != MPI_UNDEFINED) return which;
    requests_.clear();
    return nobody;
  }

  /// A message whose length only the sender knows (serialised elements): its first 8 bytes say how long it is in all.
  void take_any(std::vector<char>& in, int from) {
    MPI_Message message;
    MPI_Status status;
    int first = 0;
    check_mpi(MPI_Mprobe(from, tag, comm_, &message, &status), "MPI_Mprobe");
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &first), "MPI_Get_count");
    in.resize(static_cast<std::size_t>(first));
    check_mpi(MPI_Mrecv(in.data(), first, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    std::uint64_t bytes = 0;
    std::copy_n(in.data(), sizeof bytes, reinterpret_cast<char*>(&bytes));
    in.resize(bytes);
    auto const rest = static_cast<std::size_t>(first);
    if (bytes > rest) exchange(nullptr, 0, nobody, reinterpret_cast<std::byte*>(in.data() + rest), bytes - rest, from);
  }

 private:
  static constexpr int tag = 0;   // messages between two ranks match in order; nobody else talks here

  explicit mpi_port(MPI_Comm user) {
    int inter = 0;
    check_mpi(MPI_Comm_test_inter(user, &inter), "MPI_Comm_test_inter");
    if (inter) throw argument_error("colligo: an intercommunicator was given; the collectives of this library run within one group");
    check_mpi(MPI_Comm_dup(user, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    if (rank_ == 0) settings_ = settings_of_environment();
    settings_.for_each_text([this](std::string& text) {   // launchers do not always pass the environment on, so that ranks could disagree
      auto length = static_cast<int>(text.size());
      check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, comm_), "MPI_Bcast");
      if (length == 0) return text.clear();
      text.resize(static_cast<std::size_t>(length));
      check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm_), "MPI_Bcast");
    });
    find_hosts();
    trace = mpi_trace::follow(comm_, hosts);
    requests_.reserve(64);
    sources.reserve(64);
    arriving.reserve(64);
  }

  void find_hosts() {
    MPI_Comm host = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
    int lowest = rank_;
    check_mpi(MPI_Bcast(&lowest, 1, MPI_INT, 0, host), "MPI_Bcast");
    check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
    hosts.resize(static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, comm_), "MPI_Allgather");
    if (std::all_of(hosts.begin(), hosts.end(), [](int h) { return h == 0; })) hosts.clear();
  }

  ~mpi_port() {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (!finalised) MPI_Comm_free(&comm_);
  }

  static mpi_port& look_up(MPI_Comm user) {
    static int const key = make_key();
    void* value = nullptr;
    int found = 0;
    check_mpi(MPI_Comm_get_attr(user, key, &value, &found), "MPI_Comm_get_attr");
    if (found) return *static_cast<mpi_port*>(value);
    auto* const port = new mpi_port(user);
    check_mpi(MPI_Comm_set_attr(user, key, port), "MPI_Comm_set_attr");
    return *port;
  }

  static int make_key() {
    int initialised = 0, key = MPI_KEYVAL_INVALID;
    MPI_Initialized(&initialised);
    if (!initialised) throw error("colligo: MPI is not initialised (make a boost::mpi::environment or call MPI_Init first)");
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, [](MPI_Comm, int, void* port, void*) -> int {
                delete static_cast<mpi_port*>(port);
                freed_.fetch_add(1, std::memory_order_release);
                return MPI_SUCCESS;
              }, &key, nullptr), "MPI_Comm_create_keyval");
    return key;
  }

  static inline std::atomic<unsigned> freed_ = 0;   // a handle may be used again by MPI once its communicator is gone

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
  std::unique_ptr<mpi_shared> shared_;
};

}  // namespace detail
}  // namespace colligo
