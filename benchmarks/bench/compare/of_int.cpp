// SPDX-License-Identifier: BSL-1.0
#include "reductions.hpp"

template std::unique_ptr<bench::contest> bench::reduction_of<int, bench::sum>(request const&);
template std::unique_ptr<bench::contest> bench::reduction_of<int, colligo::maximum>(request const&);
