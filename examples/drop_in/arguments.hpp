// SPDX-License-Identifier: BSL-1.0
// Datatypes and operations of MPI as elements of this library; vectors that are no plain bytes are packed and unpacked.
#pragma once

#include "drop_in.hpp"
#include "settings.hpp"

#include <colligo/bytes.hpp>
#include <colligo/core/known_elements.hpp>
#include <colligo/transport/messages/mpi_state.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace drop_in {

inline void check(int code, char const* call) { colligo::detail::check_mpi(code, call); }

/// Thrown before the library's call: this rank passes its call on.
struct refused : std::exception {
  explicit refused(reason reason = reason::arguments) : why(reason) {}
  char const* what() const noexcept override { return "arguments that MPI forbids"; }
  reason why;
};

/// This rank alone. Its errors are returned; those of MPI_COMM_SELF, and of functions without a communicator, go to a
/// handler of the program's that has nothing to do with the call.
inline MPI_Comm self() {
  static MPI_Comm const made = colligo::detail::make_communicator_like(MPI_COMM_SELF);
  return made;
}

/// A datatype. `is_plain`: a vector of them is their bytes one after the other, without gaps.
struct layout {
  std::ptrdiff_t size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  bool is_named = false, is_plain = false;

  static layout of(MPI_Datatype type) {
    struct kept { MPI_Datatype type; layout known; bool is_set; };
    static thread_local std::array<kept, 4> latest{};   // of predefined types, whose handles are never reused
    static thread_local unsigned next = 0;
    for (auto const& k : latest)
      if (k.is_set && k.type == type) return k.known;
    layout layout = asked(type);
    if (layout.is_named) latest[next++ % latest.size()] = {type, layout, true};
    return layout;
  }

 private:
  static layout asked(MPI_Datatype type) {
    // Whether MPI takes the type is seen where it packs no elements.
    std::byte none{};
    int position = 0;
    if (type == MPI_DATATYPE_NULL || PMPI_Pack(&none, 0, type, &none, 0, &position, self()) != MPI_SUCCESS)
      throw refused{};
    layout layout;
    int integers, addresses, types, combiner;
    MPI_Count size;
    MPI_Aint lower, extent, true_lower, true_extent;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#if MPI_VERSION < 5
    PMPI_Type_size_x(type, &size);
#else
    PMPI_Type_size_c(type, &size);
#endif
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    layout.size = size, layout.lower = lower, layout.extent = extent;
    layout.true_lower = true_lower, layout.true_extent = true_extent;
    layout.is_named = combiner == MPI_COMBINER_NAMED;
    layout.is_plain = layout.has_no_gaps() && layout.is_named;
    return layout;
  }

 public:
  /// The bytes of a derived type may still be in another order than its signature.
  bool has_no_gaps() const { return size == extent && size == true_extent && true_lower == 0 && lower == 0; }
};

/// MPI counts elements and bytes with int.
template <class F>
void in_stretches(std::ptrdiff_t n, layout const& layout, F f) {
  std::ptrdiff_t const most = std::clamp(INT_MAX / std::max<std::ptrdiff_t>(1, layout.size), std::ptrdiff_t{1},
                                         std::ptrdiff_t{1} << 20);
  for (std::ptrdiff_t at = 0; at < n; at += most) f(at, static_cast<int>(std::min(most, n - at)));
}

/// f(where, count, type) for n elements. MPICH 4.0 packs nothing at MPI_BOTTOM: such elements are seen from elsewhere.
template <class F>
void not_at_bottom(void* at, int n, MPI_Datatype type, F f) {
  if (at != MPI_BOTTOM) return f(at, n, type);
  static char elsewhere;
  MPI_Aint distance;
  MPI_Datatype moved;
  check(PMPI_Get_address(&elsewhere, &distance), "MPI_Get_address");
  distance = -distance;
  check(PMPI_Type_create_hindexed(1, &n, &distance, type, &moved), "MPI_Type_create_hindexed");
  check(PMPI_Type_commit(&moved), "MPI_Type_commit");
  f(&elsewhere, 1, moved);
  PMPI_Type_free(&moved);
}

/// n elements to or from the bytes of their signature, of which there are more than MPI_Pack counts.
inline void copy_long(void const* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type) {
  check(PMPI_Sendrecv(from, n, type, 0, 0, to, m, to_type, 0, 0, self(), MPI_STATUS_IGNORE), "MPI_Sendrecv");
}
class long_bytes {
 public:
  explicit long_bytes(std::ptrdiff_t n) {
    constexpr int part = 1 << 30;
    MPI_Datatype parts;
    check(PMPI_Type_contiguous(part, MPI_BYTE, &parts), "MPI_Type_contiguous");
    int const counts[]{static_cast<int>(n / part), static_cast<int>(n % part)};
    MPI_Aint const places[]{0, n / part * part};
    MPI_Datatype const types[]{parts, MPI_BYTE};
    check(PMPI_Type_create_struct(2, counts, places, types, &type_), "MPI_Type_create_struct");
    PMPI_Type_free(&parts);
    check(PMPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~long_bytes() { PMPI_Type_free(&type_); }
  long_bytes(long_bytes const&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// Elements as the bytes of their signature.
inline void pack(void const* from, std::ptrdiff_t n, MPI_Datatype type, layout const& layout, std::byte* into) {
  in_stretches(n, layout, [&](std::ptrdiff_t at, int count) {
    auto* const place = const_cast<std::byte*>(static_cast<std::byte const*>(from)) + at * layout.extent;
    not_at_bottom(place, count, type, [&](void const* here, int n_here, MPI_Datatype as) {
      int position = 0;
      if (layout.size > INT_MAX)
        return copy_long(here, n_here, as, into + at * layout.size, 1, long_bytes(layout.size));
      check(PMPI_Pack(here, n_here, as, into + at * layout.size, static_cast<int>(count * layout.size), &position,
                      self()),
            "MPI_Pack");
    });
  });
}
inline void unpack(std::byte const* from, std::ptrdiff_t n, MPI_Datatype type, layout const& layout, void* into) {
  in_stretches(n, layout, [&](std::ptrdiff_t at, int count) {
    not_at_bottom(static_cast<std::byte*>(into) + at * layout.extent, count, type,
                  [&](void* here, int n_here, MPI_Datatype as) {
      int position = 0;
      if (layout.size > INT_MAX)
        return copy_long(from + at * layout.size, 1, long_bytes(layout.size), here, n_here, as);
      check(PMPI_Unpack(from + at * layout.size, static_cast<int>(count * layout.size), &position, here, n_here, as,
                        self()),
            "MPI_Unpack");
    });
  });
}

using memory = std::unique_ptr<std::byte[]>;
inline memory bytes(std::ptrdiff_t n) { return memory(new std::byte[static_cast<std::size_t>(n)]); }

/// Memory of the program's that a call reads or writes as it lies; empty where the data are packed.
struct region {
  std::byte *begin = nullptr, *end = nullptr;
  bool overlaps(region const& other) const { return begin < other.end && other.begin < end; }
};
/// Refuses what MPI refuses: MPI_IN_PLACE where it has no meaning, and null, which is MPI_BOTTOM for types that have
/// addresses.
inline void require_buffer(void const* at, bool is_named) {
  if (at == MPI_IN_PLACE || (at == nullptr && is_named)) throw refused{};
}

/// A type that lives as long as this, without the program's attributes.
class owned_type {
 public:
  owned_type() = default;
  owned_type(owned_type const&) = delete;
  owned_type& operator=(owned_type const&) = delete;
  ~owned_type() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }
  /// The same type as a handle that the program can not free.
  MPI_Datatype as(MPI_Datatype type) {
    check(PMPI_Type_contiguous(1, type, &type_), "MPI_Type_contiguous");
    check(PMPI_Type_commit(&type_), "MPI_Type_commit");
    return type_;
  }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// A vector as bytes, each element's `spacing` bytes behind those of the one before; 0: one after the other. An input
/// is copied if it overlaps what the call writes: MPI forbids that, but other ranks can not know of it, so the call can
/// not be passed on.
class moved_vector {
 public:
  moved_vector(void const* at, std::ptrdiff_t n, MPI_Datatype type, bool is_read, region const& written = {},
               std::ptrdiff_t spacing = 0)
      : at_(const_cast<void*>(at)), n_(n), type_(type), layout_(layout::of(type)),
        spacing_(spacing == 0 ? layout_.size : spacing) {
    if (n < 0) throw refused{};
    if (n == 0) return;
    require_buffer(at, layout_.is_named);
    if (layout_.is_plain && !as_it_lies().overlaps(written)) return;
    packed_ = drop_in::bytes(n_ * spacing_);
    if (!is_read) return;
    in_parts([&](std::byte* lies, std::ptrdiff_t of, std::byte* packed) { pack(lies, of, type_, layout_, packed); });
  }
  std::ptrdiff_t size() const { return n_ * layout_.size; }
  void* bytes() const { return packed_ ? packed_.get() : at_; }
  region as_it_lies() const {
    auto* const first = static_cast<std::byte*>(at_);
    return packed_ ? region{} : region{first, first + size()};
  }
  void write() {
    if (!packed_) return;
    in_parts([&](std::byte* lies, std::ptrdiff_t of, std::byte* packed) { unpack(packed, of, type_, layout_, lies); });
  }
  /// From now on the program may free the type.
  void own_type() {
    if (packed_ && !layout_.is_named) type_ = owned_.as(type_);
  }

 private:
  /// f(where they lie, how many, where they are packed) for all elements, or for one at a time.
  template <class F>
  void in_parts(F f) const {
    std::ptrdiff_t const part = spacing_ == layout_.size ? n_ : 1;
    for (std::ptrdiff_t i = 0; i < n_; i += part)
      f(static_cast<std::byte*>(at_) + i * layout_.extent, part, packed_.get() + i * spacing_);
  }

  void* at_;
  std::ptrdiff_t n_;
  MPI_Datatype type_;
  layout layout_;
  std::ptrdiff_t spacing_;
  memory packed_;
  owned_type owned_;
};

/// A vector of blocks as bytes.
class moved_blocks {
 public:
  moved_blocks(vector_of_blocks const& vector_of_blocks, int p, bool is_read, region const& written = {})
      : at_(const_cast<void*>(vector_of_blocks.at)),
        type_(vector_of_blocks.type),
        layout_(layout::of(vector_of_blocks.type)) {
    if (!vector_of_blocks.counts || !vector_of_blocks.displacements) throw refused{};
    auto const n = static_cast<std::size_t>(p);
    elements_.resize(n), first_.resize(n), sizes_.resize(n), places_.resize(n);
    std::ptrdiff_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      elements_[i] = vector_of_blocks.counts[static_cast<int>(i)];
      if (elements_[i] < 0) throw refused{};
      first_[i] = vector_of_blocks.displacements[static_cast<int>(i)] * layout_.extent;
      sizes_[i] = elements_[i] * layout_.size;
      places_[i] = sum;
      sum += sizes_[i];
    }
    if (sum != 0) require_buffer(at_, layout_.is_named);
    if (layout_.is_plain && !as_it_lies().overlaps(written)) {
      places_ = first_;
      return;
    }
    packed_ = drop_in::bytes(sum);
    if (!is_read) return;
    for (std::size_t i = 0; i < n; ++i) pack(place(i), elements_[i], type_, layout_, packed_.get() + places_[i]);
  }
  void* bytes() const { return packed_ ? packed_.get() : at_; }
  colligo::block_places places() const { return {sizes_, places_}; }
  std::ptrdiff_t size_of(int rank) const { return sizes_[static_cast<std::size_t>(rank)]; }
  region as_it_lies() const {
    region all;
    for (std::size_t i = 0; i < sizes_.size() && !packed_; ++i)
      if (std::byte *const begin = place(i), *const end = begin + sizes_[i]; begin != end)
        all = all.begin ? region{std::min(all.begin, begin), std::max(all.end, end)} : region{begin, end};
    return all;
  }
  void write() {
    if (packed_)
      for (std::size_t i = 0; i < elements_.size(); ++i)
        unpack(packed_.get() + places_[i], elements_[i], type_, layout_, place(i));
  }
  void own_type() {
    if (packed_ && !layout_.is_named) type_ = owned_.as(type_);
  }

 private:
  std::byte* place(std::size_t i) const { return static_cast<std::byte*>(at_) + first_[i]; }

  void* at_;
  MPI_Datatype type_;
  layout layout_;
  std::vector<std::ptrdiff_t> elements_, first_, sizes_, places_;
  memory packed_;
  owned_type owned_;
};

/// The element of an operation that the library has on the type.
std::optional<colligo::registered_element> built_in(MPI_Datatype type, MPI_Op op);

/// Another operation, by MPI. Where an element's memory is what MPI packs it as, vectors lie as the program has them.
/// Otherwise they are packed: what travels depends on the signature alone, not on where a rank's type has its data. So
/// they are where the library's element, which is never freed, is longer, so that not each size makes another one.
class reduction {
 public:
  /// Empty if MPI has no such operation on the type.
  static std::optional<reduction> of(MPI_Datatype type, MPI_Op op);

  colligo::registered_element element() const { return element_->with_context(const_cast<reduction*>(this)); }
  bool is_plain() const { return is_plain_ && spacing_ == layout_.size; }
  std::ptrdiff_t spacing() const { return spacing_; }

 private:
  static void combine(void* parts, std::byte const* left, std::byte const* right, std::byte* into, std::size_t n);
  void combine_plain(std::byte const* left, std::byte const* right, std::byte* into, std::ptrdiff_t n) const;
  void combine_packed(std::byte const* left, std::byte const* right, std::byte* into, std::ptrdiff_t n) const;
  void reduce(std::byte const* in, std::byte* in_out, std::ptrdiff_t n) const;

  std::optional<colligo::registered_element> element_;
  MPI_Datatype type_;
  MPI_Op op_;
  layout layout_;
  std::ptrdiff_t spacing_ = 0;   ///< bytes of the library's element
  bool is_plain_ = true, commutes_ = true;
};

}  // namespace drop_in
