// Keys of groups of rows: the fields of the key columns.
#pragma once

#include "group/grouped.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace samesum::cli {

/// The numbers of keys, over several inputs; of a single one they are those of the source.
class KeyNumbers {
 public:
  std::uint64_t of(const Grouped::Key& key, std::vector<Grouped::Key>& keys);

 private:
  std::map<Grouped::Key, std::uint64_t> numbers_;
};

/// Groups in the order of their keys: column by column, by value where all keys of a column are numbers, else by their bytes.
std::vector<std::size_t> order_of(const std::vector<Grouped::Key>& keys);

}  // namespace samesum::cli
