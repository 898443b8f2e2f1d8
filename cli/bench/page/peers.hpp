// Sums of other programs beside samesum's, as `samesum_peers --json FILE` (bench/peers) has measured them.
#pragma once

#include "bench/page/page.hpp"

#include <string>
#include <vector>

namespace samesum::cli::report {

/// A sum of `elements` elements of `type`, `bytes` in all.
struct Peer {
  std::string sum, where, type, data;
  double elements = 0, bytes = 0, seconds = 0, low = 0, high = 0;
  double times_samesum = 0;  ///< its time over samesum's in the same place; 0: samesum was not measured there
  double error_ulps = -1;    ///< of its value; negative: no finite number
  bool repeats = false, order_free = false;
};

/// @throws Error (usage) where `path` cannot be read or does not hold such figures.
std::vector<Peer> read_peers(const std::string& path);

/// Plots of the rates over the size, one for each type and kind of data, and a table of all figures.
std::string html_of(const std::vector<Peer>& peers);

}  // namespace samesum::cli::report
