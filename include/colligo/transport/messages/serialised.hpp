// SPDX-License-Identifier: BSL-1.0
/// @file
/// Boost.Serialization writes elements that are not bytes (std::string, std::vector<double>, std::map ...) into
/// messages of the same algorithms. Only the sender knows the length of a message, so the receiver asks MPI first.
#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/string.hpp>

#include <cstdint>
#include <cstring>
#include <streambuf>
#include <vector>

#include "mpi_vendor.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

namespace probe {

// Overload resolution finds this one ambiguous with Boost's catch-all, and worse than a serialize for the type: a call
// compiles only if there is one for the type.
template <class Archive, class T>
void serialize(Archive&, T&, unsigned int const);

template <class T>
concept free_serialize = requires(boost::archive::binary_oarchive& archive, T& value,
                                  boost::serialization::version_type v) {
  serialize(archive, value, v);
};

}  // namespace probe

/// Boost.Serialization can write the type: it is one of its primitives, or a class with a serialize.
template <class T>
concept serialisable = boost::serialization::implementation_level<T>::value == boost::serialization::primitive_type ||
                       probe::free_serialize<T> || has_serialize<T>();

// A message is its whole length (8 bytes), the number of its elements (8 bytes), and an archive.
class archive_out : public std::streambuf {
 public:
  explicit archive_out(std::vector<char>& bytes) : bytes_(bytes) { bytes_.assign(2 * sizeof(std::uint64_t), '\0'); }
  void finish(std::size_t elements) {
    std::uint64_t const words[] = {bytes_.size(), elements};
    std::memcpy(bytes_.data(), words, sizeof words);
  }

 protected:
  int_type overflow(int_type c) override { return bytes_.push_back(traits_type::to_char_type(c)), c; }
  std::streamsize xsputn(char const* from, std::streamsize n) override {
    return bytes_.insert(bytes_.end(), from, from + n), n;
  }

 private:
  std::vector<char>& bytes_;
};

class archive_in : public std::streambuf {
 public:
  explicit archive_in(std::vector<char>& bytes) {
    setg(bytes.data(), bytes.data() + 2 * sizeof(std::uint64_t), bytes.data() + bytes.size());
  }
};

template <serialisable T>
struct serialised<T> {
  static constexpr unsigned flags = boost::archive::no_header | boost::archive::no_codecvt;

  static void encode(std::byte const* first, std::size_t n, std::vector<char>& into) {
    auto const* const from = reinterpret_cast<T const*>(first);
    archive_out stream(into);
    {
      boost::archive::binary_oarchive archive(stream, flags);
      for (std::size_t i = 0; i < n; ++i) archive << from[i];
    }
    stream.finish(n);
  }

  static std::size_t decode(std::vector<char>& bytes, std::byte* first, std::size_t n) {
    std::uint64_t words[2]{};
    std::memcpy(words, bytes.data(), std::min(bytes.size(), sizeof words));   // another call's may be shorter
    if (words[1] != n) return words[1];
    auto* const into = reinterpret_cast<T*>(first);
    archive_in stream(bytes);
    boost::archive::binary_iarchive archive(stream, flags);
    for (std::size_t i = 0; i < n; ++i) archive >> into[i];
    return n;
  }
};

}  // namespace colligo
