// SPDX-License-Identifier: BSL-1.0
/// @file
/// broadcast of Boost.MPI's skeletons, contents and packed archives, for programs that include
/// boost/mpi/skeleton_and_content.hpp. Their bytes go through the library's algorithms.
#pragma once

#include <mpi.h>

#include <optional>
#include <type_traits>
#include <vector>

#include "broadcast.hpp"

namespace colligo::inline COLLIGO_MODE {

namespace detail {

/// The packed bytes: those of a skeleton, or the archive itself.
template <class Archive>
auto& bytes_in(Archive& archive) {
  if constexpr (requires { archive.get_skeleton(); }) return archive.get_skeleton();
  else return archive;
}

template <class T>
  requires(is_part<T> || written_archive<T> || read_archive<T>)
inline constexpr bool has_forms_elsewhere<T> = true;

// Names of classes that need not be complete until T is known.
template <class T>
struct skeletons_of {
  using written = boost::mpi::packed_skeleton_oarchive;
  using read = boost::mpi::packed_skeleton_iarchive;
};

}  // namespace detail

namespace by_name {

/// The root sends what it has written; the other ranks' archives take its length. At the root either kind of archive
/// works.
template <communicator Comm, class Archive, algorithm Algorithm = automatic>
  requires(detail::written_archive<Archive> || detail::read_archive<Archive>)
void broadcast(Comm const& comm, Archive& archive, int root, Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::broadcast, Comm> const arguments(comm);
  auto& bytes = detail::bytes_in(archive);
  auto const length = [&] { return static_cast<std::size_t>(bytes.size()); };
  std::size_t n = arguments.at(root) ? length() : 0;
  arguments.make_calls(2, [&] {
    colligo::broadcast(comm, n, root);
    if constexpr (detail::read_archive<Archive>) {
      if (!arguments.at(root)) arguments.attempt([&] { bytes.resize(n); });
    }
    arguments.require_size(length(), n, "what this rank, which is not the root, has written");
    // Nothing is written to the root's.
    auto* const first = static_cast<char*>(const_cast<void*>(static_cast<void const*>(bytes.address())));
    std::span const all(first, n);
    detail::broadcast_elements(comm, all, root, algorithm);
  });
}

/// The other ranks' objects take the shape of the root's.
template <communicator Comm, class T, algorithm Algorithm = automatic>
void broadcast(Comm const& comm, boost::mpi::skeleton_proxy<T> const& shape, int root,
               Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::broadcast, Comm> const arguments(comm);
  if (arguments.at(root)) {
    std::optional<typename detail::skeletons_of<T>::written> archive;
    arguments.make_calls(2, [&] {
      arguments.attempt([&] { archive.emplace(MPI_COMM_SELF) << shape.object; });
      colligo::broadcast(comm, *archive, root, algorithm);
    });
  } else {
    std::optional<typename detail::skeletons_of<T>::read> archive;
    arguments.make_calls(2, [&] {
      arguments.attempt([&] { archive.emplace(MPI_COMM_SELF); });
      colligo::broadcast(comm, *archive, root, algorithm);
    });
    *archive >> shape.object;
  }
}

/// Copies the root's values into objects of the same shape.
template <communicator Comm, class Content, algorithm Algorithm = automatic>
  requires std::is_same_v<Content, boost::mpi::content>
void broadcast(Comm const& comm, Content const& values, int root, Algorithm const& algorithm = {}) {
  detail::call_arguments<collective::broadcast, Comm> const arguments(comm);
  MPI_Datatype const type = values.get_mpi_datatype();
  int n = 0, at = 0;
  detail::check_mpi(MPI_Pack_size(1, type, MPI_COMM_SELF, &n), "MPI_Pack_size");
  arguments.require_count(n);   // MPI's are int
  std::vector<char> packed;
  arguments.attempt([&] {
    packed.resize(static_cast<std::size_t>(n));
    if (arguments.at(root))
      detail::check_mpi(MPI_Pack(MPI_BOTTOM, 1, type, packed.data(), n, &at, MPI_COMM_SELF), "MPI_Pack");
  });
  colligo::broadcast(comm, packed, root, algorithm);
  if (!arguments.at(root))
    detail::check_mpi(MPI_Unpack(packed.data(), n, &at, MPI_BOTTOM, 1, type, MPI_COMM_SELF), "MPI_Unpack");
}

}  // namespace by_name

}  // namespace colligo
