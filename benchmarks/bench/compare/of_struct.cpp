// SPDX-License-Identifier: BSL-1.0
#include "reductions.hpp"

template std::unique_ptr<bench::contest> bench::reduction_of<bench::summary, bench::merge>(request const&);
template std::unique_ptr<bench::contest> bench::reduction_of<bench::matrix, bench::product>(request const&);
