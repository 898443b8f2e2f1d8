// What a table on a device gives back: what launches noted, rounded sums, and all of it added to a table in host memory.
#include "core/threads/chunks.hpp"
#include "device/memory/buffer.hpp"
#include "groups/index/device/group_device.hpp"
#include "groups/index/device/group_digits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace samesum::groups {

// What launches noted since this was asked for.
DeviceTable::Outside DeviceTable::collect() {
  if (!std::exchange(launched_, false)) return {};
  std::array<std::uint32_t, kGreatest> words{};
  device_.read(words_, 0, words.data(), sizeof words);
  if (words == std::array<std::uint32_t, kGreatest>{}) return {};
  const auto note = [](Digits& digits, std::uint32_t top, std::uint32_t bottom) {
    if (top == 0) return;
    digits.highest = std::max(digits.highest, top - 1);
    digits.lowest = std::min(digits.lowest, digits.rows - bottom);
  };
  note(sums_, words[kTop], words[kBottom]);
  note(products_, words[kSquareTop], words[kSquareBottom]);
  specials_ |= words[kSpecial] != 0;
  const std::array<std::uint32_t, kGreatest> zeros{};
  device_.write(words_, 0, zeros.data(), sizeof zeros);
  return {words[kOutside], words[kFirstOutside], 0};
}

void DeviceTable::propagate() {
  collect();
  if (pending_ == 0) return;
  const device::Kernel kernel = device::build(device_, digits_source_, "carry_digits");
  const auto carry = [&](const Digits& of, std::uint64_t row) {
    const device::Argument arguments[] = {planes_, row * groups_, groups_, of.lowest, of.last()};
    walk(kernel, groups_, arguments);
  };
  carry(sums_, 0);
  if (squares_) carry(products_, sums_.rows + kSpecials + (counts_ ? 1 : 0));
  pending_ = 0;
}

bool DeviceTable::round(NanPolicy nan, bool is_signed, void* to, const Array* there) {
  if (fresh_ || (there != nullptr && &there->buffer().device().implementation() != &device_)) return false;
  const device::Lock lock(device_.mutex());
  collect();
  const device::Memory results = there != nullptr ? there->buffer().state().memory : device_.allocate(8 * groups_);
  const int unit = unit_of(kind_) + 1074 - static_cast<int>(sums_.phase);
  const device::Argument arguments[] = {planes_,
                                        groups_,
                                        others_,
                                        words_,
                                        sums_.rows,
                                        sums_.lowest,
                                        sums_.last(),
                                        std::int32_t{unit},
                                        std::int32_t{specials_},
                                        std::int32_t{nan == NanPolicy::skip},
                                        std::int32_t{is_signed},
                                        results,
                                        there != nullptr ? there->offset() / 8 : 0};
  walk(device::build(device_, digits_source_, "round_sums"), groups_, arguments);
  std::uint32_t unfit = 0;  // rounded floats always fit
  if (is_integer(kind_)) device_.read(words_, 4 * kUnfit, &unfit, sizeof unfit);
  const std::uint32_t none = 0;
  if (unfit != 0) device_.write(words_, 4 * kUnfit, &none, sizeof none);
  if (unfit == 0 && there == nullptr) device_.read(results, 0, to, 8 * groups_);
  return unfit == 0;
}

// Of keys, as by_index.cl makes them.
void DeviceTable::merge_extremes(Table& to, std::uint64_t group, std::uint64_t least, std::uint64_t greatest) const {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if (kind_ == DType::float32) {
    const auto number = [](std::uint64_t key) {
      const auto bits = static_cast<std::uint32_t>(key);
      return static_cast<double>(std::bit_cast<float>(bits >> 31 != 0 ? bits ^ 0x80000000u : ~bits));
    };
    to.merge_extrema(group, number(least), number(greatest));
  } else if (kind_ == DType::float64) {
    const auto number = [](std::uint64_t key) { return std::bit_cast<double>((key & kSign) != 0 ? key ^ kSign : ~key); };
    to.merge_extrema(group, number(least), number(greatest));
  } else if (signed_) {
    to.merge_extrema(group, static_cast<std::int64_t>(least ^ kSign), static_cast<std::int64_t>(greatest ^ kSign));
  } else {
    to.merge_extrema(group, least, greatest);
  }
}

void DeviceTable::merge_into(Table& to, std::uint32_t threads) {
  if (fresh_) return;
  const device::Lock lock(device_.mutex());
  propagate();
  const std::uint32_t specials = sums_.rows, squares = specials + kSpecials + (counts_ ? 1 : 0);
  // Rows of planes that matter, of some groups at a time.
  std::vector<std::uint32_t> rows;
  for (std::uint32_t d = sums_.lowest; d <= sums_.last(); ++d) rows.push_back(d);
  const std::size_t kinds = rows.size();
  for (std::uint32_t i = 0; i < kSpecials + (counts_ ? 1 : 0); ++i) rows.push_back(specials + i);
  const std::size_t products = rows.size();
  if (squares_) {
    for (std::uint32_t d = products_.lowest; d <= products_.last(); ++d) rows.push_back(squares + d);
  }
  const std::size_t extremes = rows.size();
  if (extrema_) rows.insert(rows.end(), {extrema_row(), extrema_row() + 1});
  const std::uint64_t range = std::uint64_t{1} << to.range_bits();
  const std::uint64_t block = std::max(range, (std::uint64_t{1} << 16) / range * range);
  std::vector<std::uint64_t> words(rows.size() * std::min(block, groups_)), others;
  for (std::uint64_t first = 0; first < groups_; first += block) {
    const std::uint64_t count = std::min(block, groups_ - first);
    for (std::size_t i = 0; i < rows.size(); ++i) device_.read(planes_, 8 * (rows[i] * groups_ + first), &words[i * count], 8 * count);
    const std::uint64_t first_bits = first / 64;
    if (!counts_) {
      others.resize((first + count + 63) / 64 - first_bits);
      device_.read(others_, 8 * first_bits, others.data(), 8 * others.size());
    }
    const auto merge = [&](std::uint64_t i) {
      const std::uint64_t group = first + i;
      const auto word = [&](std::size_t row) { return words[row * count + i]; };
      const std::uint64_t nans = word(kinds), positive = word(kinds + 1), negative = word(kinds + 2), zeros = word(kinds + 3);
      const std::uint64_t special = nans + positive + negative + zeros;
      const std::uint64_t finite = counts_ ? word(kinds + kSpecials) - special : others[group / 64 - first_bits] >> group % 64 & 1;
      if (special + finite == 0) return;
      to.merge_counts(group, special + finite, nans, positive, negative, finite != 0);
      const int unit = unit_of(kind_) - static_cast<int>(sums_.phase);
      for (std::size_t row = 0; row < kinds; ++row) {
        to.merge_sum(group, static_cast<std::int64_t>(word(row)), unit + static_cast<int>(kDigitBits * rows[row]));
      }
      const int square_unit = 2 * unit_of(kind_) - static_cast<int>(products_.phase);
      for (std::size_t row = products; row < extremes; ++row) {
        to.merge_squares(group, static_cast<std::int64_t>(word(row)), square_unit + static_cast<int>(kDigitBits * (rows[row] - squares)));
      }
      if (extrema_ && finite + special != nans) merge_extremes(to, group, ~word(extremes), word(extremes + 1));
    };
    core::for_chunks(count, count * rows.size() > (1u << 16) ? threads : 1, range,
                     [&](std::uint32_t, std::uint64_t begin, std::uint64_t size) {
                       for (std::uint64_t i = begin; i < begin + size; ++i) merge(i);
                     });
  }
}

}  // namespace samesum::groups
