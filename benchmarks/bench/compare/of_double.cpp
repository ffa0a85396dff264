// SPDX-License-Identifier: BSL-1.0
#include "reductions.hpp"

template std::unique_ptr<bench::contest> bench::reduction_of<double, bench::sum>(request const&);
template std::unique_ptr<bench::contest> bench::reduction_of<double, colligo::maximum>(request const&);
