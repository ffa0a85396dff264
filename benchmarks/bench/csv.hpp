// SPDX-License-Identifier: BSL-1.0
/// @file
/// What compare writes and other programs read.
#pragma once

#include <string_view>

namespace bench {

/// The columns, in order. Programs rely on them: new ones come at the end.
inline constexpr std::string_view csv_header =
    "collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi,mode,inputs,state";

/// The columns that every file has. Files of earlier versions end before one of the others.
inline constexpr std::string_view oldest_csv_header = csv_header.substr(0, csv_header.find(",mode"));

inline bool is_csv_header(std::string_view line) {
  return line.size() >= oldest_csv_header.size() && csv_header.starts_with(line) &&
         (line.size() == csv_header.size() || csv_header[line.size()] == ',');
}

}  // namespace bench
