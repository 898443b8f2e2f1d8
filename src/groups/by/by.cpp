// Divisions into groups: by key, and by segment.
#include "core/float_environment.hpp"
#include "device/memory/buffer.hpp"
#include "groups/axes.hpp"
#include "groups/by/integers.hpp"
#include "groups/by/keys.hpp"
#include "groups/by/segments.hpp"
#include "groups/device/axes_device.hpp"
#include "groups/index/scatter.hpp"

#include <samesum/by.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
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

Values numbers_up_to(std::uint64_t count) {
  Values numbers(DType::uint64, {count});
  auto* const to = static_cast<std::uint64_t*>(numbers.data());
  std::iota(to, to + count, std::uint64_t{0});
  return numbers;
}

}  // namespace

By by(const Array& keys, KeyOrder order) {
  groups::require_integers(keys, "keys");
  const auto division = std::make_shared<By::Division>();
  std::optional<groups::NumberedKeys> numbered = groups::number_keys_on_device(keys, order);
  if (!numbered) numbered = groups::number_keys(keys, order);
  division->groups = numbered->keys.size();
  division->elements = keys.size();
  division->keys = std::move(numbered->keys);
  division->indices = std::move(numbered->here);
  division->given = std::move(numbered->there);
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
    static_cast<std::uint64_t*>(copy.data())[i] = bits[i];
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

}  // namespace samesum
