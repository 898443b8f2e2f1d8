// Keys of rows, numbered in the order in which they are first seen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {

/// Strings of bytes and their numbers: a hash table with open addressing over one block of all bytes.
class KeyTable {
 public:
  /// The number of `key`, which is added where it is new.
  std::uint64_t number_of(std::string_view key) {
    if (slots_.size() < 2 * (ends_.size() + 1)) enlarge();
    const std::uint64_t hash = std::hash<std::string_view>()(key) | 1;  // 0: an empty slot
    for (std::size_t i = hash >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.hash == 0) {
        slot = {hash, ends_.size()};
        bytes_.append(key);
        ends_.push_back(bytes_.size());
        return slot.number;
      }
      if (slot.hash == hash && at(slot.number) == key) return slot.number;
    }
  }
  std::uint64_t size() const noexcept { return ends_.size(); }
  std::string_view at(std::uint64_t number) const noexcept {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
  }
  void clear() noexcept {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    ends_.clear();
    bytes_.clear();
  }

 private:
  struct Slot {
    std::uint64_t hash = 0, number = 0;
  };

  void enlarge() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& slot : old) {
      if (slot.hash == 0) continue;
      std::size_t i = slot.hash >> shift_;
      while (slots_[i].hash != 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  int shift_ = 64;
  std::vector<std::size_t> ends_;  // in bytes_
  std::string bytes_;
};

/// A key of several fields as one: each after its length.
inline void append_field(std::string& key, std::string_view field, bool quoted) {
  const std::size_t begin = key.size();
  key.append(sizeof(std::uint32_t), '\0');
  if (quoted && field.find('"') != std::string_view::npos) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      key += field[i];
      i += field[i] == '"';  // a doubled quote is one
    }
  } else {
    key.append(field);
  }
  const auto size = static_cast<std::uint32_t>(key.size() - begin - sizeof(std::uint32_t));
  std::memcpy(key.data() + begin, &size, sizeof size);
}

inline std::vector<std::string> fields_of(std::string_view key) {
  std::vector<std::string> fields;
  while (!key.empty()) {
    std::uint32_t size = 0;
    std::memcpy(&size, key.data(), sizeof size);
    fields.emplace_back(key.substr(sizeof size, size));
    key.remove_prefix(sizeof size + size);
  }
  return fields;
}

}  // namespace samesum::io
