// SPDX-License-Identifier: BSL-1.0
// MPI's operations: built-in ones as functors of this library, others and the program's own by PMPI_Reduce_local.
#include "arguments.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace drop_in {
namespace {

using colligo::known_functor;
using colligo::known_type;

template <class T>
consteval known_type integer() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? known_type::int8 : known_type::uint8;
    case 2: return is_signed ? known_type::int16 : known_type::uint16;
    case 4: return is_signed ? known_type::int32 : known_type::uint32;
    default: return is_signed ? known_type::int64 : known_type::uint64;
  }
}
// Fortran's types by their size, as the MPI library was told by its compiler.
std::optional<known_type> fortran_type(MPI_Datatype type, layout const& layout) {
  for (MPI_Datatype const t : {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8})
    if (type == t)
      return layout.size == 1   ? known_type::int8
             : layout.size == 2 ? known_type::int16
             : layout.size == 4 ? known_type::int32
                                : known_type::int64;
  for (MPI_Datatype const t : {MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_DOUBLE_PRECISION})
    if (type == t) {
      if (layout.size == sizeof(float)) return known_type::single_precision;
      if (layout.size == sizeof(double)) return known_type::double_precision;
    }
  for (MPI_Datatype const t : {MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_DOUBLE_COMPLEX})
    if (type == t) {
      if (layout.size == 2 * sizeof(float)) return known_type::complex_single;
      if (layout.size == 2 * sizeof(double)) return known_type::complex_double;
    }
  return std::nullopt;
}

std::optional<known_type> type_of(MPI_Datatype type, layout const& layout) {
  using enum known_type;
  std::pair<MPI_Datatype, known_type> const all[] = {
      {MPI_INT, integer<int>()}, {MPI_DOUBLE, double_precision}, {MPI_FLOAT, single_precision},
      {MPI_LONG, integer<long>()}, {MPI_UNSIGNED, integer<unsigned>()}, {MPI_UNSIGNED_LONG, integer<unsigned long>()},
      {MPI_LONG_LONG, integer<long long>()}, {MPI_UNSIGNED_LONG_LONG, integer<unsigned long long>()},
      {MPI_SHORT, integer<short>()}, {MPI_UNSIGNED_SHORT, integer<unsigned short>()},
      {MPI_SIGNED_CHAR, int8}, {MPI_UNSIGNED_CHAR, uint8}, {MPI_LONG_DOUBLE, long_double},
      {MPI_INT8_T, int8}, {MPI_INT16_T, int16}, {MPI_INT32_T, int32}, {MPI_INT64_T, int64},
      {MPI_UINT8_T, uint8}, {MPI_UINT16_T, uint16}, {MPI_UINT32_T, uint32}, {MPI_UINT64_T, uint64},
      {MPI_C_BOOL, boolean}, {MPI_AINT, integer<MPI_Aint>()}, {MPI_OFFSET, integer<MPI_Offset>()},
      {MPI_COUNT, integer<MPI_Count>()}, {MPI_C_FLOAT_COMPLEX, complex_single},
      {MPI_C_DOUBLE_COMPLEX, complex_double}, {MPI_C_LONG_DOUBLE_COMPLEX, complex_long_double},
      {MPI_FLOAT_INT, float_int}, {MPI_DOUBLE_INT, double_int}, {MPI_LONG_INT, long_int}, {MPI_SHORT_INT, short_int},
      {MPI_2INT, int_int}, {MPI_LONG_DOUBLE_INT, long_double_int}};
  for (auto const& [handle, known] : all)
    if (handle == type) return known;
  return fortran_type(type, layout);
}

std::optional<known_functor> functor_of(MPI_Op op) {
  using enum known_functor;
  std::pair<MPI_Op, known_functor> const all[] = {
      {MPI_SUM, sum}, {MPI_PROD, product}, {MPI_MAX, maximum}, {MPI_MIN, minimum}, {MPI_LAND, logical_and},
      {MPI_LOR, logical_or}, {MPI_LXOR, logical_xor}, {MPI_BAND, bit_and}, {MPI_BOR, bit_or}, {MPI_BXOR, bit_xor},
      {MPI_MAXLOC, maxloc}, {MPI_MINLOC, minloc}};
  for (auto const& [handle, known] : all)
    if (handle == op) return known;
  return std::nullopt;
}

[[gnu::noinline]] std::optional<colligo::registered_element> found(MPI_Datatype type, MPI_Op op) {
  auto const functor = functor_of(op);
  layout const layout = layout::of(type);
  auto const known = functor && layout.is_named ? type_of(type, layout) : std::nullopt;
  return known ? colligo::known_element(*known, *functor) : std::nullopt;
}

/// Whether an element's memory is what MPI packs it as: without gaps, in the order of its signature.
bool lies_as_packed(MPI_Datatype type, layout const& layout) {
  if (layout.is_named || !layout.has_no_gaps()) return layout.is_plain;
  if (layout.size > INT_MAX) return false;   // not worth as much memory again
  int integers, addresses, types, combiner;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (types == 1 && integers <= 1 && addresses == 0) {   // a duplicate, or elements side by side, which may be many
    int n = 1;
    MPI_Aint nowhere = 0;
    MPI_Datatype of;
    check(PMPI_Type_get_contents(type, integers, addresses, types, &n, &nowhere, &of), "MPI_Type_get_contents");
    check(PMPI_Type_commit(&of), "MPI_Type_commit");
    auto const known = layout::of(of);
    bool const does = lies_as_packed(of, known);
    if (!known.is_named) PMPI_Type_free(&of);
    return does;
  }
  auto const size = static_cast<std::size_t>(layout.size);
  memory const lies = bytes(layout.size), packed = bytes(layout.size);
  for (std::size_t shift = 0; shift == 0 || (size - 1) >> shift != 0; shift += 8) {   // numbers of the bytes
    for (std::size_t i = 0; i < size; ++i) lies[i] = static_cast<std::byte>(i >> shift);
    pack(lies.get(), 1, type, layout, packed.get());
    if (std::memcmp(lies.get(), packed.get(), size) != 0) return false;
  }
  return true;
}

/// n elements of the program's, in zeros, at an address that is one of theirs modulo 16, as malloc aligns.
class elements {
 public:
  elements(std::ptrdiff_t n, layout const& layout) {
    constexpr std::ptrdiff_t line = 16;
    std::ptrdiff_t const last = (n - 1) * layout.extent, lowest = layout.true_lower + std::min<std::ptrdiff_t>(0, last),
                         begin = lowest - ((lowest % line) + line) % line;
    memory_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(
        layout.true_lower + std::max<std::ptrdiff_t>(0, last) + layout.true_extent - begin));
    first_ = memory_.get() - begin;
  }
  std::byte* first() const { return first_; }

 private:
  memory memory_;
  std::byte* first_;
};

}  // namespace

std::optional<colligo::registered_element> built_in(MPI_Datatype type, MPI_Op op) {
  struct kept { MPI_Datatype type; MPI_Op op; std::optional<colligo::registered_element> element; };
  static thread_local std::array<kept, 8> latest{};   // handles of MPI's own are never reused
  static thread_local unsigned next = 0;
  for (auto const& k : latest)
    if (k.type == type && k.op == op && k.element) return k.element;
  auto const element = found(type, op);
  if (element) latest[next++ % latest.size()] = {type, op, element};
  return element;
}

std::optional<reduction> reduction::of(MPI_Datatype type, MPI_Op op) {
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP) return std::nullopt;
  reduction reduction;
  reduction.type_ = type, reduction.op_ = op, reduction.layout_ = layout::of(type);
  layout const& l = reduction.layout_;
  if (l.size <= 0) return std::nullopt;
  std::byte none{};
  if (MPI_Allreduce(MPI_IN_PLACE, &none, 0, type, op, self()) != MPI_SUCCESS) return std::nullopt;   // MPI knows
  int commutes = 0;
  check(PMPI_Op_commutative(op, &commutes), "MPI_Op_commutative");
  reduction.commutes_ = commutes != 0;
  reduction.is_plain_ = lies_as_packed(type, l);
  std::size_t const size = colligo::detail::rounded_size(static_cast<std::size_t>(l.size));
  reduction.spacing_ = static_cast<std::ptrdiff_t>(size);
  reduction.element_ = colligo::registered_element(colligo::byte_element{
            .size = size, .alignment = std::min<std::size_t>(16, std::size_t{1} << std::countr_zero(size)),
            .combine = &combine, .commutative = reduction.commutes_, .name = "MPI_Datatype", .functor = "MPI_Op"});
  return reduction;
}

void reduction::reduce(std::byte const* in, std::byte* in_out, std::ptrdiff_t n) const {
  in_stretches(n, layout_, [&](std::ptrdiff_t at, int count) {
    check(PMPI_Reduce_local(in + at * layout_.size, in_out + at * layout_.size, count, type_, op_), "MPI_Reduce_local");
  });
}

// MPI's functions have the right operand as result.
void reduction::combine(void* context, std::byte const* left, std::byte const* right, std::byte* into,
                        std::size_t count) {
  auto const& me = *static_cast<reduction const*>(context);
  auto const n = static_cast<std::ptrdiff_t>(count);
  if (!me.is_plain_) return me.combine_packed(left, right, into, n);
  if (me.is_plain()) return me.combine_plain(left, right, into, n);
  for (std::ptrdiff_t at = 0; at < n * me.spacing_; at += me.spacing_)
    me.combine_plain(left + at, right + at, into + at, 1);
}
void reduction::combine_plain(std::byte const* left, std::byte const* right, std::byte* into, std::ptrdiff_t n) const {
  auto const all = static_cast<std::size_t>(n * layout_.size);
  if (into == left && commutes_) return reduce(right, into, n);
  if (into == left) {
    memory const kept = bytes(n * layout_.size);
    std::memcpy(kept.get(), right, all);
    reduce(left, kept.get(), n);
    std::memcpy(into, kept.get(), all);
    return;
  }
  if (into != right) std::memcpy(into, right, all);
  reduce(left, into, n);
}
void reduction::combine_packed(std::byte const* left, std::byte const* right, std::byte* into, std::ptrdiff_t n) const {
  constexpr std::ptrdiff_t enough = 1 << 14;   // bytes that stay in a cache
  bool const side_by_side = std::abs(layout_.extent) >= layout_.true_extent && spacing_ == layout_.size;
  std::ptrdiff_t const fitting = side_by_side ? std::min(n, enough / std::abs(layout_.extent)) : 1,
                       most = std::max<std::ptrdiff_t>(1, fitting);
  elements const a(most, layout_), b(most, layout_);
  for (std::ptrdiff_t at = 0; at < n; at += most) {
    std::ptrdiff_t const here = std::min(most, n - at);
    unpack(left + at * spacing_, here, type_, layout_, a.first());
    unpack(right + at * spacing_, here, type_, layout_, b.first());
    check(PMPI_Reduce_local(a.first(), b.first(), static_cast<int>(here), type_, op_), "MPI_Reduce_local");
    pack(b.first(), here, type_, layout_, into + at * spacing_);
  }
}

}  // namespace drop_in
