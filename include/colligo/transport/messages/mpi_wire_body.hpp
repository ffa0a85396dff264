// SPDX-License-Identifier: BSL-1.0
/// @file
/// The bodies of mpi_wire.hpp.
#pragma once

#include <array>
#include <bit>
#include <exception>
#include <new>

#include "../../core/small_vector.hpp"
#include "mpi_wire.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

[[gnu::cold]] COLLIGO_BODY mpi_wire::mpi_wire(MPI_Comm user) : comm_(user) {
  check_mpi(MPI_Comm_rank(user, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(user, &size_), "MPI_Comm_size");
  int *most_tags = nullptr, found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tags, &found), "MPI_Comm_get_attr");
  if (found) tags_ = std::bit_floor(static_cast<std::uint32_t>(*most_tags) + 1) / 2 - 1;   // half are for remarks
}

[[gnu::cold]] COLLIGO_BODY mpi_wire::~mpi_wire() {
  int finalised = 0, unheard = 0;
  MPI_Finalized(&finalised);
  if (!owns_comm_ || keeps_comm_ || finalised) return;
  // Perhaps there is an abort message of a call in which this rank waited for nobody.
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &unheard, MPI_STATUS_IGNORE);
  if (!unheard) MPI_Comm_free(&comm_);
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
[[gnu::cold]] COLLIGO_BODY void mpi_wire::send_empty(int to, std::uint32_t number, remark why) const {
  static constexpr std::array remarks{remark::goes_on, remark::abort_message};   // stay until MPI has sent them
  remark const* const says = why == remark::goes_on ? &remarks[0] : &remarks[1];
  auto const send = [&](void const* from, int bytes, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(from, bytes, MPI_BYTE, to, tag, comm_, &request), "MPI_Isend");
    check_mpi(MPI_Request_free(&request), "MPI_Request_free");
  };
  send(nullptr, 0, tag_of(number));
  send(says, 1, tag_of_remark(number));
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
    if (entry& left = all()[i]; left.comm == comm && number - left.number >= left.tags / 2)
      all().erase(&left), --count_;
}

[[gnu::cold]] COLLIGO_BODY void left_calls::drop_of_next() noexcept {
  auto const turn = locked::if_free(mutex_);
  if (!turn.is_held() || all().empty()) return;   // another thread is dropping messages, or has dropped the last ones
  entry& left = all()[turn_++ % all().size()];
  left.drop_messages();
  if (left.others == 0) all().erase(&left), --count_;
}

[[gnu::cold]] COLLIGO_BODY void left_calls::entry::drop_messages() noexcept try {
  while (others > 0) {
    int there = 0, bytes = 0;
    MPI_Status status;
    for (int const expected : {tag, tag_of_remark})
      if (!there) check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, expected, comm, &there, &status), "MPI_Iprobe");
    if (!there) return;
    if (status.MPI_TAG == tag_of_remark) {
      others -= mpi_wire::receive_remark(comm, status.MPI_SOURCE, tag_of_remark) == mpi_wire::remark::abort_message;
      continue;
    }
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    small_vector<std::byte> nowhere(static_cast<std::size_t>(bytes));
    check_mpi(MPI_Recv(nowhere.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  }
} catch (std::exception const&) {   // later
}

}  // namespace colligo
