// Scans on the host, by operation: contiguous elements, aligned, in host memory; results in C order.
#pragma once

#include "scan/lines.hpp"

#include <samesum/options.hpp>
#include <samesum/scan.hpp>

#include <cstdint>

namespace samesum::prefix {

/// The type of the results.
DType result_type(const Scan& what, DType type);

void scan_sums(const Layout& layout, DType type, bool float32, NanPolicy nan, std::uint32_t threads, const void* x, void* to);
void scan_extremes(const Layout& layout, DType type, bool greatest, NanPolicy nan, std::uint32_t threads, const void* x, void* to);
void scan_counts(const Layout& layout, DType type, NanPolicy nan, std::uint32_t threads, const void* x, void* to);
void scan_products(const Layout& layout, DType type, NanPolicy nan, std::uint32_t threads, const void* x, void* to);

/// Calls body(first, count, apart) for each line: its first element, and how far the next ones lie apart.
template <class Body>
void for_lines(const Layout& layout, const Body& body) {
  if (!layout.offsets.empty()) {
    for (std::size_t k = 0; k < layout.offsets.size(); ++k) {
      const std::uint64_t end = k + 1 < layout.offsets.size() ? layout.offsets[k + 1] : layout.extent;
      body(layout.offsets[k], end - layout.offsets[k], std::uint64_t{1});
    }
    return;
  }
  for (std::uint64_t outer = 0; outer < layout.outer; ++outer) {
    for (std::uint64_t inner = 0; inner < layout.inner; ++inner) {
      body(outer * layout.extent * layout.inner + inner, layout.extent, layout.inner);
    }
  }
}

}  // namespace samesum::prefix
