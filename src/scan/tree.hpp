// Scans by the balanced binary tree over the index, of operations that are not associative to the last bit: each result is the root of the
// tree over its prefix.
//
// For each bit k that is set in i, the tree over the prefix up to element i combines the root of the 2^k elements before with what is right
// of them: the network of J. Sklansky, Conditional-sum addition logic (1960). Blocks go through the lower levels one by one; then the roots
// of the subtrees before a block are combined with each of its elements.
#pragma once

#include "core/threads/chunks.hpp"
#include "scan/lines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace samesum::prefix {

/// Most values that are combined at once.
inline constexpr std::size_t kCombined = 512;

/// Replaces `size` leaves by the results of their prefixes. `combiners`, one a thread, combine a[i] and b[i] by
/// combine(a, b, to, count, index, elements): count is at most kCombined, `to` may be b, and the leaves are among those `elements` from
/// `index` on, for errors.
template <class Value, class Combiner>
void scan_tree(Value* x, std::uint64_t size, std::uint64_t index, std::vector<Combiner>& combiners) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 12;
  const std::uint64_t blocks = (size + kBlock - 1) / kBlock;
  const auto length = [&](std::uint64_t block) { return std::min(kBlock, size - block * kBlock); };
  const auto threads = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, combiners.size()));
  FirstError error;
  core::for_chunks(blocks, threads, 1, [&](std::uint32_t task, std::uint64_t block, std::uint64_t) {
    error.guard(block, [&] {
      Value* const part = x + block * kBlock;
      const std::uint64_t count = length(block);
      std::array<Value, kCombined> a, b;
      std::array<std::uint32_t, kCombined> at;
      for (std::uint64_t half = 1; half < count; half *= 2) {
        std::size_t full = 0;
        const auto flush = [&] {
          combiners[task].combine(a.data(), b.data(), b.data(), full, index + block * kBlock, count);
          for (std::size_t i = 0; i < full; ++i) part[at[i]] = b[i];
          full = 0;
        };
        for (std::uint64_t left = half - 1; left + 1 < count; left += 2 * half) {
          const Value root = part[left];
          for (std::uint64_t i = left + 1; i < std::min(left + 1 + half, count); ++i) {
            a[full] = root;
            b[full] = part[i];
            at[full] = static_cast<std::uint32_t>(i);
            if (++full == kCombined) flush();
          }
        }
        if (full != 0) flush();
      }
    });
  });
  error.rethrow();
  if (blocks <= 1) return;
  // Of each block the roots of the subtrees before it, from left to right: one for each bit that is set in its number.
  std::vector<std::vector<Value>> before(blocks);
  for (std::uint64_t block = 0; block + 1 < blocks; ++block) {
    std::vector<Value> roots = before[block];
    Value root = x[block * kBlock + kBlock - 1];
    for (std::uint64_t bits = block; bits % 2 != 0; bits /= 2) {
      combiners[0].combine(&roots.back(), &root, &root, 1, index, size);
      roots.pop_back();
    }
    roots.push_back(root);
    before[block + 1] = std::move(roots);
  }
  core::for_chunks(blocks - 1, threads, 1, [&](std::uint32_t task, std::uint64_t chunk, std::uint64_t) {
    const std::uint64_t block = chunk + 1;
    error.guard(block, [&] {
      std::array<Value, kCombined> a;
      for (auto root = before[block].rbegin(); root != before[block].rend(); ++root) {
        a.fill(*root);
        for (std::uint64_t i = 0; i < length(block); i += kCombined) {
          Value* const part = x + block * kBlock + i;
          combiners[task].combine(a.data(), part, part, std::min<std::uint64_t>(kCombined, length(block) - i), index, size);
        }
      }
    });
  });
  error.rethrow();
}

}  // namespace samesum::prefix
