// Keys of groups of rows: the fields of the key columns.
#pragma once

#include "group/grouped.hpp"

#include <samesum/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
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

/// "Oslo, 2024".
std::string text_of(const Grouped::Key& key);

/// `message` with what `name` gives in place of the first "group 3" in it.
std::string with_group_named(const std::string& message, const std::function<std::string(std::uint64_t group)>& name);

/// body(), where messages name groups so.
template <class Body, class Name>
auto naming_groups(const Body& body, const Name& name) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(error.kind(), with_group_named(error.what(), name));
  }
}

}  // namespace samesum::cli
