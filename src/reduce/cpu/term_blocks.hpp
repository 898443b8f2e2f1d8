// Terms on the CPU, block by block.
#pragma once

#include "core/threads/chunks.hpp"
#include "reduce/term.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace samesum::statistics {

/// Calls body(task, block, first, count) with all values, a block in the first-level cache at a time. @throws Error as HostTerms::check().
inline void for_term_blocks(HostTerms& terms, std::uint32_t threads,
                            core::FunctionRef<void(std::uint32_t, const std::byte*, std::uint64_t, std::uint64_t)> body) {
  const std::uint64_t size = terms.size();
  const std::uint64_t each = std::max<std::uint64_t>(terms.bytes() / size, 1);
  const std::uint64_t chunk = std::max<std::uint64_t>(core::chunk_size(terms.bytes(), each, threads) / kTermBlock, 1) * kTermBlock;
  const auto for_part = [&](std::uint64_t begin, std::uint64_t part) {
    core::for_chunks(part, threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      alignas(64) std::array<std::byte, kTermBlock * 8> block;
      first += begin;
      for (const std::uint64_t end = first + count; first < end; first += kTermBlock) {
        const std::uint64_t taken = std::min(kTermBlock, end - first);
        if (!terms.evaluate(task, first, taken, block.data())) return;
        body(task, block.data(), first, taken);
      }
    });
    terms.check();
  };
  terms.progress == nullptr ? for_part(0, size) : terms.progress->for_parts(size, size_of(terms.type()), for_part);
}

}  // namespace samesum::statistics
