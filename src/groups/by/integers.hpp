// Integers of any type, read as 64 bits: keys, indices, offsets.
#pragma once

#include <samesum/array.hpp>
#include <samesum/axes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::groups {

/// @throws Error (usage) unless these are integers; `what` they are.
void require_integers(const Array& keys, std::string_view what);

/// An array of integers in C order; a copy in host memory, where it is not contiguous there.
class Integers {
 public:
  static constexpr std::size_t kBlock = 2048;  ///< elements that are read at once

  explicit Integers(const Array& array);

  DType type() const noexcept { return array_.type(); }
  std::uint64_t size() const noexcept { return array_.size(); }
  /// Elements from number `first` on.
  void read(std::uint64_t first, std::size_t count, std::uint64_t* to) const;
  std::vector<std::uint64_t> all() const;

  /// Calls body(first, elements) for blocks of the elements from `begin` to `end`, in their order.
  template <class Body>
  void for_blocks(std::uint64_t begin, std::uint64_t end, const Body& body) const {
    std::uint64_t block[kBlock];
    for (std::uint64_t first = begin; first < end; first += kBlock) {
      const std::size_t count = end - first < kBlock ? end - first : kBlock;
      read(first, count, block);
      body(first, std::span<const std::uint64_t>(block, count));
    }
  }

 private:
  Array array_;
  std::optional<Values> copy_;
};

}  // namespace samesum::groups
