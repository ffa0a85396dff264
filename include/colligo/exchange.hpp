// SPDX-License-Identifier: BSL-1.0
/// @file
/// Exchanges between ranks that know few others: sparse_all_to_all.
#pragma once

#include "exchange/sparse_all_to_all.hpp"
