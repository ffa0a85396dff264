// SPDX-License-Identifier: BSL-1.0
/// @file
/// The types and functors that all_reduce and reduce are compared with.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "../elements.hpp"
#include "question.hpp"

namespace bench {

/// A type and a functor that fit together.
struct offer {
  std::string_view type, op;
  std::unique_ptr<contest> (*make)(request const&);
};

inline constexpr std::array offers{
    offer{"double", "sum", &reduction_of<double, sum>},
    offer{"double", "max", &reduction_of<double, colligo::maximum>},
#if !defined(BENCH_FEW_TYPES)
    offer{"float", "sum", &reduction_of<float, sum>},
    offer{"float", "max", &reduction_of<float, colligo::maximum>},
    offer{"int", "sum", &reduction_of<int, sum>},
    offer{"int", "max", &reduction_of<int, colligo::maximum>},
    offer{"located", "maxloc", &reduction_of<place, colligo::maxloc>},
    offer{"matrix", "product", &reduction_of<matrix, product>},
#endif
    offer{"struct", "merge", &reduction_of<summary, merge>},
};

}  // namespace bench
