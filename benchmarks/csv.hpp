// SPDX-License-Identifier: BSL-1.0
/// @file
/// What compare writes and other programs read.
#pragma once

#include <string_view>

namespace bench {

/// The columns, in order. Programs rely on them: new ones come at the end.
inline constexpr std::string_view csv_header =
    "collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi,mode,inputs";

/// Of files from before there were inputs: all are fresh. Then from before there were modes: all is blocking.
inline constexpr std::string_view csv_header_without_inputs = csv_header.substr(0, csv_header.rfind(','));
inline constexpr std::string_view csv_header_without_mode =
    csv_header_without_inputs.substr(0, csv_header_without_inputs.rfind(','));

}  // namespace bench
