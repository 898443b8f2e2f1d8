// The exact sum as an integer, and in decimal where it is too large for one.
#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>

#include "device/dialect/host.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace samesum::dialect {
#include "exact/exact.h"
}

namespace samesum {
namespace {

using Digits = std::array<std::int64_t, Accumulator::kDigits>;

// A whole number: sign and 32-bit words, lowest first.
struct Whole {
  bool negative;
  std::vector<std::uint32_t> words;

  bool fits_in_64_bits() const { return words.size() <= 2; }
  std::uint64_t magnitude() const { return (words.size() > 1 ? std::uint64_t{words[1]} << 32 : 0) | (words.empty() ? 0 : words[0]); }
  std::string decimal() const;
};

std::string Whole::decimal() const {
  constexpr std::uint64_t kBillion = 1'000'000'000;
  std::vector<std::uint32_t> left = words;
  std::string text;
  while (!left.empty()) {
    std::uint64_t remainder = 0;
    for (std::size_t i = left.size(); i-- > 0;) {
      remainder = remainder << 32 | left[i];
      left[i] = static_cast<std::uint32_t>(remainder / kBillion);
      remainder %= kBillion;
    }
    while (!left.empty() && left.back() == 0) left.pop_back();
    text = (left.empty() ? fmt::format("{}", remainder) : fmt::format("{:09}", remainder)) + text;
  }
  return (negative ? "-" : "") + (text.empty() ? "0" : text);
}

// Nothing where there is a fraction. `digits` are normalized; 2^0 is bit 18 of digit 33.
std::optional<Whole> whole_of(Digits digits) {
  constexpr int kUnitDigit = 1074 / 32, kUnitBit = 1074 % 32;
  Whole whole{dialect::exact_make_magnitude(digits.data(), 0, Accumulator::kDigits - 1) != 0, {}};
  for (int i = 0; i < kUnitDigit; ++i) {
    if (digits[i] != 0) return std::nullopt;
  }
  if ((digits[kUnitDigit] & ((1 << kUnitBit) - 1)) != 0) return std::nullopt;
  for (int i = kUnitDigit; i + 1 < Accumulator::kDigits; ++i) {
    whole.words.push_back(static_cast<std::uint32_t>(digits[i] >> kUnitBit | digits[i + 1] << (32 - kUnitBit)));
  }
  while (!whole.words.empty() && whole.words.back() == 0) whole.words.pop_back();
  return whole;
}

Whole whole_or_refuse(const Accumulator& sum, const Digits& digits) {
  const bool finite = sum.nan_count() + sum.positive_infinities() + sum.negative_infinities() == 0;
  if (const auto whole = finite ? whole_of(digits) : std::nullopt) return *whole;
  throw Error(ErrorKind::no_answer, fmt::format("the sum is no integer: it is {}", sum.round()));
}

[[noreturn]] void overflow(const Whole& whole, std::string_view type) {
  throw Error(ErrorKind::no_answer, fmt::format("the sum does not fit into {}: it is exactly {}", type, whole.decimal()));
}

}  // namespace

DType Accumulator::result_type() const noexcept {
  return elements_ == Elements::unsigned_integers ? DType::uint64 : elements_ == Elements::integers ? DType::int64 : DType::float64;
}

std::int64_t Accumulator::to_int64() const {
  const Whole whole = whole_or_refuse(*this, canonical_digits());
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!whole.fits_in_64_bits() || whole.magnitude() > kMost + whole.negative) overflow(whole, "int64");
  return static_cast<std::int64_t>(whole.negative ? 0 - whole.magnitude() : whole.magnitude());
}

std::uint64_t Accumulator::to_uint64() const {
  const Whole whole = whole_or_refuse(*this, canonical_digits());
  if (!whole.fits_in_64_bits() || (whole.negative && whole.magnitude() != 0)) overflow(whole, "uint64");
  return whole.magnitude();
}

}  // namespace samesum
