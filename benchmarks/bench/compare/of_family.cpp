// SPDX-License-Identifier: BSL-1.0
#include "family.hpp"

namespace bench {

std::unique_ptr<contest> family_of_double(request const& r) {
  using enum colligo::collective;
  switch (r.what) {
    case broadcast: return std::make_unique<contest_of<broadcast_of<double>>>(r);
    case all_gather: return std::make_unique<contest_of<all_gather_of<double>>>(r);
    case all_gatherv: return std::make_unique<contest_of<all_gatherv_of<double>>>(r);
    case gather: return std::make_unique<contest_of<gather_of<double>>>(r);
    case gatherv: return std::make_unique<contest_of<gatherv_of<double>>>(r);
    case scatter: return std::make_unique<contest_of<scatter_of<double>>>(r);
    case scatterv: return std::make_unique<contest_of<scatterv_of<double>>>(r);
    case reduce_scatter: return std::make_unique<contest_of<reduce_scatter_of<double>>>(r);
    case reduce_scatter_block: return std::make_unique<contest_of<reduce_scatter_block_of<double>>>(r);
    case scan: return std::make_unique<contest_of<scan_of<double>>>(r);
    case exclusive_scan: return std::make_unique<contest_of<exclusive_scan_of<double>>>(r);
    case all_to_all: return std::make_unique<contest_of<all_to_all_of<double>>>(r);
    case all_to_all_v: return std::make_unique<contest_of<all_to_all_v_of<double>>>(r);
    case barrier: return std::make_unique<contest_of<barrier_of<double>>>(r);
    default: throw agreed_error(fmt::format("{} is not measured here", name_of(r.what)));
  }
}

}  // namespace bench
