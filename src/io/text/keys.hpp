// Keys of rows, numbered in the order in which they are first seen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {

inline std::uint64_t load(const char* from, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

/// Whether `size` bytes are the same; of short keys without a call.
inline bool same_bytes(const char* a, const char* b, std::size_t size) noexcept {
  if (size > 32 || size < 4) return std::memcmp(a, b, size) == 0;
  if (size < 8) return load(a, 4) == load(b, 4) && load(a + size - 4, 4) == load(b + size - 4, 4);
  for (std::size_t i = 0; i + 8 < size; i += 8) {
    if (load(a + i, 8) != load(b + i, 8)) return false;
  }
  return load(a + size - 8, 8) == load(b + size - 8, 8);
}

/// Of the bytes of a key: few instructions where these are few.
inline std::uint64_t hash_of(std::string_view key) noexcept {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15, kOther = 0xd6e8feb86659fd93;
  const auto mixed = [](std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t hash = key.size() * kOdd;
  const char* at = key.data();
  std::size_t rest = key.size();
  for (; rest > 16; at += 16, rest -= 16) hash = mixed(load(at, 8) ^ hash ^ kOdd, load(at + 8, 8) ^ kOther);
  if (rest >= 8) return mixed(load(at, 8) ^ hash ^ kOdd, load(at + rest - 8, 8) ^ kOther);  // the two may overlap
  if (rest >= 4) return mixed(load(at, 4) ^ hash ^ kOdd, load(at + rest - 4, 4) ^ kOther);
  return mixed(load(at, rest) ^ hash ^ kOdd, kOther);
}

/// Strings of bytes and their numbers: a hash table with open addressing, and one block with the number and the bytes of each. No key may
/// be the beginning of another one.
class KeyTable {
 public:
  /// The number of `key`, which is added where it is new.
  std::uint64_t number_of(std::string_view key) { return number_of(key, hash_of(key)); }

  /// The numbers of all keys of another table, in their order there. Of a large table they are fetched while others are looked up.
  void numbers_of(const KeyTable& others, std::vector<std::uint64_t>& numbers) {
    constexpr std::uint64_t kAhead = 12;
    const std::uint64_t count = others.size();
    make_room(count);
    numbers.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i + 2 * kAhead < count) __builtin_prefetch(&slots_[others.hashes_[i + 2 * kAhead] >> shift_]);
      if (i + kAhead < count) {
        const Slot& slot = slots_[others.hashes_[i + kAhead] >> shift_];
        if (slot.begin != Slot::kEmpty) __builtin_prefetch(bytes_.data() + slot.begin);
      }
      numbers[i] = number_of(others.at(i), others.hashes_[i]);
    }
  }

  std::uint64_t size() const noexcept { return begins_.size(); }
  std::string_view at(std::uint64_t number) const noexcept {
    const std::size_t begin = begins_[number] + sizeof(number), end = number + 1 == size() ? bytes_.size() : begins_[number + 1];
    return std::string_view(bytes_).substr(begin, end - begin);
  }
  void clear() noexcept {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    begins_.clear();
    hashes_.clear();
    bytes_.clear();
  }

 private:
  struct Slot {
    std::uint64_t hash = 0, begin = kEmpty;  // in bytes_
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  };

  std::uint64_t number_of(std::string_view key, std::uint64_t hash) {
    make_room(1);
    for (std::size_t i = hash >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.begin == Slot::kEmpty) {
        const std::uint64_t number = size();
        slot = {hash, bytes_.size()};
        begins_.push_back(bytes_.size());
        hashes_.push_back(hash);
        bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
        bytes_.append(key);
        return number;
      }
      if (slot.hash != hash || bytes_.size() - slot.begin < sizeof(std::uint64_t) + key.size()) continue;
      const char* const entry = bytes_.data() + slot.begin;
      if (!same_bytes(entry + sizeof(std::uint64_t), key.data(), key.size())) continue;
      std::uint64_t number = 0;
      std::memcpy(&number, entry, sizeof number);
      return number;
    }
  }

  // For more keys: at most half of the slots are taken.
  void make_room(std::uint64_t more) {
    const std::uint64_t needed = 2 * (size() + more);
    if (slots_.size() >= needed) return;
    slots_.assign(std::bit_ceil(std::max<std::uint64_t>(needed, 64)), Slot{});
    shift_ = 64 - std::countr_zero(slots_.size());
    for (std::uint64_t number = 0; number < size(); ++number) {
      std::size_t i = hashes_[number] >> shift_;
      while (slots_[i].begin != Slot::kEmpty) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {hashes_[number], begins_[number]};
    }
  }

  std::vector<Slot> slots_;
  int shift_ = 64;
  std::vector<std::size_t> begins_;  // in bytes_
  std::vector<std::uint64_t> hashes_;
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
