#include "groups/by/keys.hpp"

#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "device/memory/buffer.hpp"
#include "groups/by/integers.hpp"

#include <samesum/buffer.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

// Of keys.
struct KeyRange {
  std::uint64_t least = ~std::uint64_t{0}, greatest = 0;
  std::uint64_t span() const noexcept { return least > greatest ? 0 : greatest - least; }
  /// Whether a table of all keys from the least to the greatest is worthwhile for so many elements.
  bool is_narrow(std::uint64_t elements) const noexcept {
    constexpr std::uint64_t kFew = std::uint64_t{1} << 16;
    return span() < std::max(kFew, 2 * elements);
  }
};

// Calls body(first, block) for blocks of keys, by all threads.
template <class Body>
void for_key_blocks(const Integers& keys, const Body& body) {
  const std::uint64_t size = keys.size(), parts = core::thread_count(size * 8, 0);
  core::for_chunks(parts, static_cast<std::uint32_t>(parts), 1, [&](std::uint32_t, std::uint64_t part, std::uint64_t) {
    keys.for_blocks(size * part / parts, size * (part + 1) / parts,
                    [&](std::uint64_t first, std::span<const std::uint64_t> block) { body(first, block); });
  });
}

KeyRange key_range(const Integers& keys, std::uint64_t sign) {
  KeyRange all;
  std::mutex mutex;
  for_key_blocks(keys, [&](std::uint64_t, std::span<const std::uint64_t> block) {
    KeyRange range;
    for (const std::uint64_t key : block) {
      range.least = std::min(range.least, key ^ sign);
      range.greatest = std::max(range.greatest, key ^ sign);
    }
    const std::lock_guard lock(mutex);
    all.least = std::min(all.least, range.least);
    all.greatest = std::max(all.greatest, range.greatest);
  });
  return all;
}

// Numbers keys in the order in which they first occur.
class Numbering {
 public:
  Numbering(const KeyRange& range, std::uint64_t elements) : direct_(range.is_narrow(elements)), least_(range.least) {
    if (direct_) numbers_.assign(range.span() + 1, kNone);
  }

  std::uint64_t of(std::uint64_t key) {
    if (direct_) {
      std::uint64_t& number = numbers_[key - least_];
      if (number == kNone) number = add(key);
      return number;
    }
    if (slots_.size() < 2 * (keys_.size() + 1)) enlarge();
    for (std::size_t i = place(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] == kNone) slots_[i] = add(key);
      if (keys_[slots_[i]] == key) return slots_[i];
    }
  }
  const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::uint64_t add(std::uint64_t key) {
    keys_.push_back(key);
    return keys_.size() - 1;
  }
  // The upper bits of a product with an odd number close to 2^64 over the golden ratio (D. Knuth, The Art of Computer Programming 3, 6.4).
  std::size_t place(std::uint64_t key) const noexcept { return (key ^ key >> 32) * 0x9e3779b97f4a7c15 >> shift_; }
  void enlarge() {
    slots_.assign(slots_.empty() ? 1024 : 2 * slots_.size(), kNone);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (std::uint64_t number = 0; number < keys_.size(); ++number) {
      std::size_t i = place(keys_[number]);
      while (slots_[i] != kNone) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = number;
    }
  }

  bool direct_;
  std::uint64_t least_;
  std::vector<std::uint64_t> numbers_;  // of all keys from the least on
  std::vector<std::uint64_t> slots_;    // else a hash table with open addressing
  int shift_ = 64;
  std::vector<std::uint64_t> keys_;
};

// The keys in the order in which they first occur; `index` gets the number of each element's key. Each thread numbers the keys of its part,
// whose numbers then become those of all parts, one part after the other.
std::vector<std::uint64_t> number_far_keys(const Integers& keys, std::uint64_t sign, const KeyRange& range,
                                           std::span<std::uint64_t> index) {
  const std::uint64_t size = keys.size(), parts = range.is_narrow(size) ? 1 : core::thread_count(size * 8, 0);
  std::vector<std::unique_ptr<Numbering>> of_parts(parts);
  const auto for_parts = [&](const auto& body) {
    core::for_chunks(parts, static_cast<std::uint32_t>(parts), 1,
                     [&](std::uint32_t, std::uint64_t part, std::uint64_t) { body(part, size * part / parts, size * (part + 1) / parts); });
  };
  for_parts([&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
    of_parts[part] = std::make_unique<Numbering>(range, size);
    keys.for_blocks(begin, end, [&](std::uint64_t first, std::span<const std::uint64_t> block) {
      for (std::size_t i = 0; i < block.size(); ++i) index[first + i] = of_parts[part]->of(block[i] ^ sign);
    });
  });
  std::vector<std::vector<std::uint64_t>> number_in_all(parts);  // of each part's keys; the first part's stay as they are
  for (std::uint64_t part = 1; part < parts; ++part) {
    for (const std::uint64_t key : of_parts[part]->keys()) number_in_all[part].push_back(of_parts[0]->of(key));
  }
  for_parts([&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; part != 0 && i < end; ++i) index[i] = number_in_all[part][index[i]];
  });
  return of_parts[0]->keys();
}

// Groups in ascending order of their keys.
void sort_groups(std::vector<std::uint64_t>& keys, std::span<std::uint64_t> index) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted(keys.size());  // with the numbers so far
  for (std::uint64_t group = 0; group < keys.size(); ++group) sorted[group] = {keys[group], group};
  std::ranges::sort(sorted);
  std::vector<std::uint64_t> rank(keys.size());
  for (std::uint64_t i = 0; i < sorted.size(); ++i) {
    keys[i] = sorted[i].first;
    rank[sorted[i].second] = i;
  }
  constexpr std::uint64_t kChunk = 1 << 14;
  core::for_chunks(index.size(), core::thread_count(index.size() * 8, 0), kChunk,
                   [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
                     for (std::uint64_t& group : index.subspan(first, count)) group = rank[group];
                   });
}

// Both at once, where keys lie near each other: those that occur are marked in a table of all, which then has their ranks.
std::vector<std::uint64_t> number_near_keys(const Integers& keys, std::uint64_t sign, const KeyRange& range,
                                            std::span<std::uint64_t> index) {
  std::vector<std::uint64_t> found;
  if (keys.size() == 0) return found;
  std::vector<std::uint8_t> occurs(range.span() + 1);
  for_key_blocks(keys, [&](std::uint64_t, std::span<const std::uint64_t> block) {
    for (const std::uint64_t key : block) {
      const std::atomic_ref mark(occurs[(key ^ sign) - range.least]);
      if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
  });
  std::vector<std::uint64_t> rank(occurs.size());
  for (std::uint64_t key = 0; key < occurs.size(); ++key) {
    rank[key] = found.size();
    if (occurs[key] != 0) found.push_back(range.least + key);
  }
  for_key_blocks(keys, [&](std::uint64_t first, std::span<const std::uint64_t> block) {
    for (std::size_t i = 0; i < block.size(); ++i) index[first + i] = rank[(block[i] ^ sign) - range.least];
  });
  return found;
}

}  // namespace

void store_integers(std::span<const std::uint64_t> bits, Values& to) {
  core::visit(to.type(), [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      auto* const integers = static_cast<decltype(element)*>(to.data());
      for (std::size_t i = 0; i < bits.size(); ++i) integers[i] = static_cast<decltype(element)>(bits[i]);
    }
  });
}

NumberedKeys number_keys(const Array& keys, KeyOrder order) {
  const Integers given(keys);
  // Signed numbers are in order with their sign bit inverted.
  const std::uint64_t sign = is_signed(keys.type()) ? std::uint64_t{1} << 63 : 0;
  Values indices(DType::uint64, {given.size()});
  const std::span<std::uint64_t> index(static_cast<std::uint64_t*>(indices.data()), given.size());
  const KeyRange range = key_range(given, sign);
  std::vector<std::uint64_t> found;  // the keys, in the order of the groups
  if (order == KeyOrder::sorted && range.is_narrow(given.size())) {
    found = number_near_keys(given, sign, range, index);
  } else {
    found = number_far_keys(given, sign, range, index);
    if (order == KeyOrder::sorted) sort_groups(found, index);
  }
  NumberedKeys numbered{Values(keys.type(), {found.size()}), std::nullopt, std::nullopt};
  for (std::uint64_t& key : found) key ^= sign;
  store_integers(found, numbered.keys);
  if (keys.on_device() && found.size() < UINT32_MAX) {
    const std::vector<std::uint32_t> narrow(index.begin(), index.end());
    const Buffer there(keys.buffer().device(), std::max<std::uint64_t>(4 * narrow.size(), 4));
    if (!narrow.empty()) there.write(narrow.data(), 4 * narrow.size());
    numbered.there.emplace(there, narrow.size(), DType::uint32);
  } else {
    numbered.here = std::move(indices);
  }
  return numbered;
}

}  // namespace samesum::groups
