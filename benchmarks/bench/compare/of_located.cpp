// SPDX-License-Identifier: BSL-1.0
#include "reductions.hpp"

template std::unique_ptr<bench::contest> bench::reduction_of<bench::place, colligo::maxloc>(request const&);
