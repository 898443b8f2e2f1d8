// Terms on the CPU, block by block.
#pragma once

#include "core/chunks.hpp"
#include "reduce/term.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace samesum::statistics {

/// Calls body(task, block, first, count) with all values, a block in the first-level cache at a time. @throws Error as HostTerms::check().
template <class Body>
void for_term_blocks(HostTerms& terms, std::uint32_t threads, const Body& body) {
  const std::uint64_t size = terms.size();
  const std::uint64_t each = std::max<std::uint64_t>(terms.bytes() / size, 1);
  const std::uint64_t chunk = std::max<std::uint64_t>(core::chunk_size(terms.bytes(), each, threads) / kTermBlock, 1) * kTermBlock;
  core::for_chunks(size, threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
    alignas(64) std::array<std::byte, kTermBlock * 8> block;
    for (const std::uint64_t end = first + count; first < end; first += kTermBlock) {
      const std::uint64_t taken = std::min(kTermBlock, end - first);
      if (!terms.evaluate(task, first, taken, block.data())) return;
      body(task, block.data(), first, taken);
    }
  });
  terms.check();
}

}  // namespace samesum::statistics
