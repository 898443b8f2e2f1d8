// The sums of groups of rows, as --by collects them: a result that merges, so that parts of a list of files can be computed by themselves.
#pragma once

#include <samesum/group_sums.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

struct Grouped {
  using Key = std::vector<std::string>;

  std::vector<Key> keys;  ///< of each group, in the order in which they were first seen
  std::vector<std::string> key_names, names;
  std::vector<GroupSums> sums;  ///< of each column; with room for more groups than there are keys
  std::uint64_t missing = 0, elements = 0;

  /// Adds the groups of rows that follow. @throws Error (usage) where the columns are others.
  void merge(const Grouped& later);
  /// A magic, all members, XXH3-64 of all before.
  std::vector<std::byte> serialize() const;
  /// @throws Error (usage) for other bytes.
  static Grouped deserialize(std::span<const std::byte> bytes);

  static constexpr std::string_view kMagic = "\x89SSBY\r\n\x1a";
};

}  // namespace samesum::cli
