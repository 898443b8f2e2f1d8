// Divisions into groups: by key, and by segment.
#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "device/memory/buffer.hpp"
#include "groups/axes.hpp"
#include "groups/device/axes_device.hpp"
#include "groups/index/scatter.hpp"
#include "groups/by/integers.hpp"
#include "groups/by/segments.hpp"

#include <samesum/by.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace samesum {

struct By::Division {
  std::uint64_t groups = 0, elements = 0;
  std::uint64_t longest = 0;           // of segments
  mutable std::optional<Values> keys;  // of groups; where they are the groups' numbers, made when they are asked for
  mutable std::once_flag asked;
  std::optional<Values> indices;  // the group of each element
  std::optional<Values> offsets;  // of segments
  std::optional<Array> given;     // the indices, of the caller's or on a device; or the offsets on a device
};

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
void for_key_blocks(const groups::Integers& keys, const Body& body) {
  const std::uint64_t size = keys.size(), parts = core::thread_count(size * 8, 0);
  core::for_chunks(parts, static_cast<std::uint32_t>(parts), 1, [&](std::uint32_t, std::uint64_t part, std::uint64_t) {
    keys.for_blocks(size * part / parts, size * (part + 1) / parts,
                    [&](std::uint64_t first, std::span<const std::uint64_t> block) { body(first, block); });
  });
}

KeyRange key_range(const groups::Integers& keys, std::uint64_t sign) {
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

// The keys in the order in which they first occur; `index` gets the number of each element's key.
std::vector<std::uint64_t> number_keys(const groups::Integers& keys, std::uint64_t sign, const KeyRange& range,
                                       std::span<std::uint64_t> index) {
  Numbering numbering(range, keys.size());
  keys.for_blocks(0, keys.size(), [&](std::uint64_t first, std::span<const std::uint64_t> block) {
    for (std::size_t i = 0; i < block.size(); ++i) index[first + i] = numbering.of(block[i] ^ sign);
  });
  return numbering.keys();
}

// Groups in ascending order of their keys.
void sort_groups(std::vector<std::uint64_t>& keys, std::span<std::uint64_t> index) {
  std::vector<std::uint64_t> sequence(keys.size()), rank(keys.size());
  std::iota(sequence.begin(), sequence.end(), std::uint64_t{0});
  std::ranges::sort(sequence, {}, [&](std::uint64_t group) { return keys[group]; });
  for (std::uint64_t i = 0; i < sequence.size(); ++i) rank[sequence[i]] = i;
  for (std::uint64_t& group : index) group = rank[group];
  std::ranges::sort(keys);
}

// Both at once, where keys lie near each other: those that occur are marked in a table of all, which then has their ranks.
std::vector<std::uint64_t> number_near_keys(const groups::Integers& keys, std::uint64_t sign, const KeyRange& range,
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

void store(std::uint64_t bits, DType type, std::uint64_t i, Values& to) {
  core::visit(type, [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      element = static_cast<decltype(element)>(bits);
      std::memcpy(static_cast<std::byte*>(to.data()) + i * sizeof element, &element, sizeof element);
    }
  });
}

Values numbers_up_to(std::uint64_t count) {
  Values numbers(DType::uint64, {count});
  auto* const to = static_cast<std::uint64_t*>(numbers.data());
  std::iota(to, to + count, std::uint64_t{0});
  return numbers;
}

}  // namespace

By by(const Array& keys, KeyOrder order) {
  groups::require_integers(keys, "keys");
  const groups::Integers given(keys);
  // Signed numbers are in order with their sign bit inverted.
  const std::uint64_t sign = is_signed(keys.type()) ? std::uint64_t{1} << 63 : 0;
  Values indices(DType::uint64, {given.size()});
  const std::span<std::uint64_t> index(static_cast<std::uint64_t*>(indices.data()), given.size());
  const KeyRange range = key_range(given, sign);
  std::vector<std::uint64_t> found;  // the keys, in the order of the groups
  if (order == KeyOrder::sorted && range.is_narrow(given.size())) {
    found = number_near_keys(given, sign, range, index);
  } else {
    found = number_keys(given, sign, range, index);
    if (order == KeyOrder::sorted) sort_groups(found, index);
  }
  const auto division = std::make_shared<By::Division>();
  division->groups = found.size();
  division->elements = index.size();
  division->keys.emplace(keys.type(), std::vector<std::uint64_t>{found.size()});
  for (std::uint64_t i = 0; i < found.size(); ++i) store(found[i] ^ sign, keys.type(), i, *division->keys);
  if (keys.on_device() && found.size() < UINT32_MAX) {
    const std::vector<std::uint32_t> narrow(index.begin(), index.end());
    const Buffer there(keys.buffer().device(), std::max<std::uint64_t>(4 * narrow.size(), 4));
    if (!narrow.empty()) there.write(narrow.data(), 4 * narrow.size());
    division->given.emplace(there, narrow.size(), DType::uint32);
  } else {
    division->indices = std::move(indices);
  }
  return By(division);
}

By by(const Array& keys, std::uint64_t groups) {
  groups::require_integers(keys, "keys");
  const auto division = std::make_shared<By::Division>();
  division->groups = groups::require_few(groups);
  division->elements = keys.size();
  division->given = keys;
  return By(division);
}

std::span<const std::uint64_t> By::offsets() const noexcept {
  return division_->offsets ? division_->offsets->as<std::uint64_t>() : std::span<const std::uint64_t>{};
}

Array By::indices() const {
  if (division_->offsets) return {static_cast<const void*>(nullptr), 0, DType::uint64};
  return division_->given ? *division_->given : division_->indices->array();
}

By by_offsets(const Array& offsets) {
  groups::require_integers(offsets, "offsets");
  if (offsets.size() == 0) throw Error(ErrorKind::usage, "segments need one offset more than there are segments: of none there is one, 0");
  const std::vector<std::uint64_t> bits = groups::Integers(offsets).all();
  Values copy(DType::uint64, {bits.size()});
  for (std::uint64_t i = 0; i < bits.size(); ++i) {
    if (is_signed(offsets.type()) && bits[i] >> 63 != 0) {
      throw Error(ErrorKind::usage, fmt::format("offset {} is negative: {}", i, static_cast<std::int64_t>(bits[i])));
    }
    if (i > 0 && bits[i] < bits[i - 1]) {
      throw Error(ErrorKind::usage, fmt::format("offset {} is {}, less than the one before it, {}: they ascend", i, bits[i], bits[i - 1]));
    }
    store(bits[i], DType::uint64, i, copy);
  }
  const auto division = std::make_shared<By::Division>();
  for (std::uint64_t i = 1; i < bits.size(); ++i) division->longest = std::max(division->longest, bits[i] - bits[i - 1]);
  division->groups = bits.size() - 1;
  division->elements = bits.back();
  if (offsets.on_device()) {
    const Buffer there(offsets.buffer().device(), copy.array().bytes());
    there.write(copy.data(), copy.array().bytes());
    division->given = Array(there, copy.size(), DType::uint64);
  }
  division->offsets = std::move(copy);
  return By(division);
}

By by_lengths(const Array& lengths) {
  groups::require_integers(lengths, "lengths");
  const std::vector<std::uint64_t> bits = groups::Integers(lengths).all();
  std::vector<std::uint64_t> offsets = {0};
  for (std::uint64_t i = 0; i < bits.size(); ++i) {
    if (is_signed(lengths.type()) && bits[i] >> 63 != 0) {
      throw Error(ErrorKind::usage, fmt::format("length {} is negative: {}", i, static_cast<std::int64_t>(bits[i])));
    }
    std::uint64_t end = 0;
    if (__builtin_add_overflow(offsets.back(), bits[i], &end)) throw Error(ErrorKind::usage, "the lengths add up to 2^64 or more");
    offsets.push_back(end);
  }
  if (!lengths.on_device()) return by_offsets(offsets);
  const Buffer there(lengths.buffer().device(), 8 * offsets.size());
  there.write(offsets.data(), 8 * offsets.size());
  return by_offsets(Array(there, offsets.size(), DType::uint64));
}

std::uint64_t By::groups() const noexcept { return division_->groups; }
std::uint64_t By::elements() const noexcept { return division_->elements; }
const Values& By::keys() const {
  const Division& division = *division_;
  std::call_once(division.asked, [&] {
    if (!division.keys) division.keys = numbers_up_to(division.groups);
  });
  return *division.keys;
}

GroupSums By::sums(const Array& data, const GroupOptions& options) const {
  GroupSums sums(groups(), options);
  if (division_->offsets) {
    const bool there = division_->given && groups::on_one_device(data, *division_->given);
    const Array offsets = there ? *division_->given : division_->offsets->array();
    if (data.rank() == 1) {
      sums.add_segments(data, offsets);
    } else if (data.contiguous()) {
      sums.add_segments(data.reshaped({data.size()}), offsets);
    } else {
      const Values copy = groups::copied_to_host(data);
      sums.add_segments(copy.array().reshaped({data.size()}), division_->offsets->array());
    }
    return sums;
  }
  groups::require_keys(data, *this);
  const Array indices = this->indices();
  if (std::ranges::equal(data.shape(), indices.shape())) {
    sums.add(data, indices);
  } else {
    const std::vector<std::uint64_t> shape(data.shape().begin(), data.shape().end());
    sums.add(data, indices.reshaped(Shape(shape)));
  }
  return sums;
}

namespace {
DType type_of_sums(const Array& data) {
  return !is_integer(data.type()) ? DType::float64 : is_signed(data.type()) ? DType::int64 : DType::uint64;
}
}  // namespace

// Sums of segments on a device without a table of sums. A long segment is shared by many work-items only with one.
bool By::sum_there(const Array& data, NanPolicy nan, const Array& to) const {
  constexpr std::uint64_t kLongest = 1 << 16, kFewest = 1024;  // elements of a segment, segments
  const Division& division = *division_;
  if (!division.offsets || !division.given || division.longest > kLongest || division.groups < kFewest) return false;
  const auto offsets = division.offsets->as<std::uint64_t>();
  if (data.rank() != 1 || offsets.back() > data.size() || !groups::on_one_device(data, *division.given)) return false;
  const DeviceInfo& info = data.buffer().device().info();
  if (!info.has(Capability::kernels) || !info.has(Capability::fp64)) return false;
  const device::Place place{to.buffer().state().memory, to.offset()};
  return groups::segments_on_device(data, *division.given, offsets.back() - offsets.front(), nan, place);
}

void sum(const Array& data, const By& by, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const DType type = type_of_sums(data);
  const std::uint64_t shape[] = {by.groups()};
  const bool fits = to.type() == type && std::ranges::equal(to.shape(), shape) && to.contiguous();
  if (fits && to.on_device() && data.on_device() && groups::on_one_device(data, to) && by.sum_there(data, options.nan, to)) return;
  const GroupSums sums = by.sums(data, {.counts = false, .threads = options.tuning.threads});
  if (sums.type() == type) return sums.sums(to, options.nan);
  groups::require_like(to, {by.groups()}, type);
  groups::copy_to(to, static_cast<const std::byte*>(Values(type, {by.groups()}).data()));  // of no elements
}

namespace {

// Sums of groups without any element have no type of their own: these are zeros.
Values of_type(Values results, DType type) { return results.type() == type ? std::move(results) : Values(type, results.shape()); }

Values extremes(const Array& data, const By& by, const Options& options, Values (GroupSums::*of)(NanPolicy) const) {
  const GroupSums sums = by.sums(data, {.extrema = true, .threads = options.tuning.threads});
  if (by.groups() != 0 && is_integer(data.type()) && !is_integer(sums.type())) {
    throw Error(ErrorKind::no_answer, "group 0: a group without elements has no extrema");
  }
  return of_type((sums.*of)(options.nan), type_of_sums(data));
}

}  // namespace

Values sum(const Array& data, const By& by, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  if (data.on_device() && by.division_->longest != 0 && by.division_->given) {
    const Buffer there(data.buffer().device(), 8 * by.groups());
    const DType type = type_of_sums(data);
    if (by.sum_there(data, options.nan, Array(there, by.groups(), type))) {
      Values values(type, {by.groups()});
      there.read(values.data(), 8 * by.groups());
      return values;
    }
  }
  return of_type(by.sums(data, {.counts = false, .threads = options.tuning.threads}).sums(options.nan), type_of_sums(data));
}

Values min(const Array& data, const By& by, const Options& options) { return extremes(data, by, options, &GroupSums::minima); }
Values max(const Array& data, const By& by, const Options& options) { return extremes(data, by, options, &GroupSums::maxima); }

}  // namespace samesum
