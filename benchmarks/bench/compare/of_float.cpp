// SPDX-License-Identifier: BSL-1.0
#include "reductions.hpp"

template std::unique_ptr<bench::contest> bench::reduction_of<float, bench::sum>(request const&);
template std::unique_ptr<bench::contest> bench::reduction_of<float, colligo::maximum>(request const&);
