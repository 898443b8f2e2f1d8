#include "group/grouped.hpp"

#include "part/form.hpp"
#include "usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace samesum::cli {
void Grouped::merge(const Grouped& later) {
  if (later.keys.empty() || keys.empty()) {  // one of no rows may not have the columns' names
    const std::uint64_t all_missing = missing + later.missing, all_elements = elements + later.elements;
    if (keys.empty()) *this = later;
    missing = all_missing;
    elements = all_elements;
    return;
  }
  if (later.names != names || later.key_names != key_names) {
    refuse(fmt::format("the parts have different columns: {} by {}, and {} by {}", fmt::join(names, ", "), fmt::join(key_names, ", "),
                       fmt::join(later.names, ", "), fmt::join(later.key_names, ", ")));
  }
  std::map<Key, std::uint64_t> numbers;
  for (const Key& key : keys) numbers.emplace(key, numbers.size());
  std::vector<std::uint64_t> to;
  for (const Key& key : later.keys) {
    const auto [at, added] = numbers.try_emplace(key, keys.size());
    if (added) keys.push_back(key);
    to.push_back(at->second);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].grow(std::max<std::uint64_t>(sums[i].groups(), keys.size()));
    to.resize(later.sums[i].groups());  // those without a key are empty
    sums[i].merge(later.sums[i], to);
  }
  missing += later.missing;
  elements += later.elements;
}

std::vector<std::byte> Grouped::serialize() const {
  FormWriter writer(kMagic);
  writer.put(key_names);
  writer.put(names);
  writer.put(missing);
  writer.put(elements);
  writer.put(keys.size());
  for (const Key& key : keys) writer.put(key);
  for (const GroupSums& one : sums) writer.put(one.serialize());
  return std::move(writer).finished();
}

Grouped Grouped::deserialize(std::span<const std::byte> bytes) {
  FormReader reader(bytes, kMagic, "sums of groups");
  Grouped all;
  all.key_names = reader.take_words();
  all.names = reader.take_words();
  all.missing = reader.take();
  all.elements = reader.take();
  for (std::uint64_t left = reader.take_count(); left > 0; --left) all.keys.push_back(reader.take_words());
  for (std::size_t i = 0; i < all.names.size(); ++i) {
    all.sums.push_back(GroupSums::deserialize(reader.take_bytes()));
    if (all.sums.back().groups() < all.keys.size()) reader.refuse_contradiction();
  }
  if (reader.left() != 0) reader.refuse_contradiction();
  return all;
}

}  // namespace samesum::cli
