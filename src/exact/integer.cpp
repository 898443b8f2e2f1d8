// The exact sum as an integer, and in decimal where it is too large for one.
#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>

#include "core/float_environment.hpp"
#include "exact/big_integer.hpp"

#include <fmt/format.h>

#include <limits>

namespace samesum {
namespace {

using exact::BigInteger;

constexpr int kUnitBit = 1074;  // of the digits: bit 0 weighs 2^-1074

bool fits_in_64_bits(const BigInteger& whole) { return whole.length() <= 64; }

std::uint64_t lowest_64_bits(const BigInteger& whole) {
  const auto words = whole.words();
  return (words.size() > 1 ? std::uint64_t{words[1]} << 32 : 0) | (words.empty() ? 0 : words[0]);
}

BigInteger whole_or_refuse(const Accumulator& sum, const BigInteger& digits) {
  const core::DefaultFloatEnvironment environment;
  const bool finite = sum.nan_count() + sum.positive_infinities() + sum.negative_infinities() == 0;
  if (finite && !digits.has_bits_below(kUnitBit)) return digits.shifted_right(kUnitBit);
  throw Error(ErrorKind::no_answer, fmt::format("the sum is no integer: it is {}", sum.round()));
}

[[noreturn]] void overflow(const BigInteger& whole, std::string_view type) {
  throw Error(ErrorKind::no_answer, fmt::format("the sum does not fit into {}: it is exactly {}", type, whole.decimal()));
}

}  // namespace

DType Accumulator::result_type() const noexcept {
  return elements_ == Elements::unsigned_integers ? DType::uint64 : elements_ == Elements::integers ? DType::int64 : DType::float64;
}

std::int64_t Accumulator::to_int64() const {
  const BigInteger whole = whole_or_refuse(*this, BigInteger::from_digits(canonical_digits()));
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t magnitude = lowest_64_bits(whole);
  if (!fits_in_64_bits(whole) || magnitude > kMax + whole.is_negative()) overflow(whole, "int64");
  return static_cast<std::int64_t>(whole.is_negative() ? 0 - magnitude : magnitude);
}

std::uint64_t Accumulator::to_uint64() const {
  const BigInteger whole = whole_or_refuse(*this, BigInteger::from_digits(canonical_digits()));
  if (!fits_in_64_bits(whole) || whole.is_negative()) overflow(whole, "uint64");
  return lowest_64_bits(whole);
}

}  // namespace samesum
