#include "group/grouped.hpp"

#include "part/partial.hpp"
#include "usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace samesum::cli {
namespace {

constexpr std::size_t kGroupedChecksum = 8;  // bytes of the checksum

class GroupedWriter {
 public:
  void put(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
  }
  void put(std::span<const std::byte> more) {
    put(more.size());
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  void put(const std::vector<std::string>& words) {
    put(words.size());
    for (const std::string& word : words) put(std::as_bytes(std::span(word)));
  }

  std::vector<std::byte> bytes;
};

class GroupedReader {
 public:
  explicit GroupedReader(std::span<const std::byte> bytes) : left_(bytes) {}
  std::uint64_t take() {
    std::uint64_t number = 0;
    const auto taken = take(8);
    for (std::size_t i = 8; i-- > 0;) number = number << 8 | std::to_integer<std::uint64_t>(taken[i]);
    return number;
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > left_.size()) refuse("damaged sums of groups: they contradict themselves");
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  /// A count of things of which each has a byte at least.
  std::uint64_t take_count() {
    const std::uint64_t count = take();
    if (count > left_.size()) refuse("damaged sums of groups: they contradict themselves");
    return count;
  }
  std::vector<std::string> take_words() {
    std::vector<std::string> words;
    for (std::uint64_t left = take_count(); left > 0; --left) {
      const auto word = take(take());
      words.emplace_back(reinterpret_cast<const char*>(word.data()), word.size());
    }
    return words;
  }
  bool empty() const noexcept { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace

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
  GroupedWriter writer;
  const auto magic = std::as_bytes(std::span(kMagic));
  writer.bytes.assign(magic.begin(), magic.end());
  writer.put(key_names);
  writer.put(names);
  writer.put(missing);
  writer.put(elements);
  writer.put(keys.size());
  for (const Key& key : keys) writer.put(key);
  for (const GroupSums& one : sums) writer.put(one.serialize());
  writer.put(hash_of(writer.bytes));
  return std::move(writer.bytes);
}

Grouped Grouped::deserialize(std::span<const std::byte> bytes) {
  if (bytes.size() < kMagic.size() + kGroupedChecksum || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    refuse("no sums of groups");
  const auto body = bytes.first(bytes.size() - kGroupedChecksum);
  if (GroupedReader(bytes.last(kGroupedChecksum)).take() != hash_of(body))
    refuse("truncated or damaged sums of groups: the checksum does not match");
  GroupedReader reader(body.subspan(kMagic.size()));
  Grouped all;
  all.key_names = reader.take_words();
  all.names = reader.take_words();
  all.missing = reader.take();
  all.elements = reader.take();
  for (std::uint64_t left = reader.take_count(); left > 0; --left) all.keys.push_back(reader.take_words());
  for (std::size_t i = 0; i < all.names.size(); ++i) {
    all.sums.push_back(GroupSums::deserialize(reader.take(reader.take())));
    if (all.sums.back().groups() < all.keys.size()) refuse("damaged sums of groups: they contradict themselves");
  }
  if (!reader.empty()) refuse("damaged sums of groups: they contradict themselves");
  return all;
}

}  // namespace samesum::cli
