// Serialization of sums and sums of products: docs/accumulator-format.md.
#include "exact/serialized.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>

#include <algorithm>
#include <array>

namespace samesum {
namespace {

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 48;
constexpr std::uint64_t kOnlyNegativeZeros = 1;
constexpr std::uint64_t kUnsignedIntegers = 2;
constexpr std::uint64_t kIntegers = 4;

using Counts = std::array<std::uint64_t, 4>;  // elements, NaNs, positive and negative infinities

std::vector<std::byte> write(const exact::Form& form, std::span<const std::int64_t> digits, std::uint64_t flags, const Counts& counts) {
  // The stored digits: from the lowest nonzero one up to the one whose top bit is the sign of all digits above.
  std::size_t first = 0;
  while (first < digits.size() && digits[first] == 0) ++first;
  std::size_t end = digits.size();
  const std::int64_t sign = digits.back() < 0 ? 0xffffffff : 0;
  while (end > first + 1 && (digits[end - 1] & 0xffffffff) == sign && digits[end - 2] >> 31 == sign >> 31) --end;
  if (first == digits.size()) first = end = 0;

  exact::Writer writer(form, kVersion, kHeaderBytes + 4 * (end - first) + exact::kChecksumBytes);
  for (const std::uint64_t field : {flags, std::uint64_t{first}, std::uint64_t{end - first}}) writer.put(field, 2);
  for (const std::uint64_t count : counts) writer.put(count, 8);
  for (std::size_t i = first; i < end; ++i) writer.put(static_cast<std::uint64_t>(digits[i]), 4);
  return writer.finish();
}

struct Header {
  std::uint64_t flags = 0;
  Counts counts = {};
};

// Digits outside of the stored range must be zero, as serialize() writes no others.
Header read(exact::Reader& reader, std::span<std::int64_t> digits) {
  Header header;
  header.flags = reader.take(2);
  const std::uint64_t first = reader.take(2), size = reader.take(2);
  reader.expect(kHeaderBytes + 4 * size + exact::kChecksumBytes);
  for (std::uint64_t& count : header.counts) count = reader.take(8);
  if (first + size > digits.size()) return header;
  for (std::size_t i = first; i < first + size; ++i) digits[i] = static_cast<std::int64_t>(reader.take(4));
  if (size > 0 && digits[first + size - 1] >> 31 != 0) {  // negative: sign extension to the digits above
    std::fill(digits.begin() + static_cast<std::ptrdiff_t>(first + size), digits.end(), 0xffffffff);
    digits.back() -= std::int64_t{1} << 32;
  }
  return header;
}

}  // namespace

std::vector<std::byte> Accumulator::serialize() const {
  const std::uint64_t flags = (only_negative_zeros_ ? kOnlyNegativeZeros : 0) |
                              (elements_ == Elements::unsigned_integers ? kUnsignedIntegers : 0) |
                              (elements_ == Elements::integers ? kIntegers : 0);
  return write(exact::kSumForm, canonical_digits(), flags, {count_, nans_, positive_infinities_, negative_infinities_});
}

// Refuses what serialize() never writes, even if it has a meaning: each sum has one serialized form.
Accumulator Accumulator::deserialize(std::span<const std::byte> bytes) {
  exact::Reader reader(exact::kSumForm, kVersion, bytes, kHeaderBytes);
  Accumulator result;
  const auto [flags, counts] = read(reader, result.digits_);
  result.count_ = counts[0];
  result.nans_ = counts[1];
  result.positive_infinities_ = counts[2];
  result.negative_infinities_ = counts[3];
  result.only_negative_zeros_ = flags & kOnlyNegativeZeros;
  result.elements_ = flags & kIntegers           ? Elements::integers
                     : flags & kUnsignedIntegers ? Elements::unsigned_integers
                     : result.count_ != 0        ? Elements::floats
                                                 : Elements::none;
  if (!result.consistent() || !std::ranges::equal(result.serialize(), bytes)) reader.contradiction();
  return result;
}

std::vector<std::byte> ProductAccumulator::serialize() const {
  return write(exact::kProductsForm, canonical_digits(), only_negative_zeros_ ? kOnlyNegativeZeros : 0,
               {count_, nans_, positive_infinities_, negative_infinities_});
}

ProductAccumulator ProductAccumulator::deserialize(std::span<const std::byte> bytes) {
  exact::Reader reader(exact::kProductsForm, kVersion, bytes, kHeaderBytes);
  ProductAccumulator result;
  const auto [flags, counts] = read(reader, result.digits_);
  result.count_ = counts[0];
  result.nans_ = counts[1];
  result.positive_infinities_ = counts[2];
  result.negative_infinities_ = counts[3];
  result.only_negative_zeros_ = flags & kOnlyNegativeZeros;
  if (!result.consistent() || !std::ranges::equal(result.serialize(), bytes)) reader.contradiction();
  return result;
}

}  // namespace samesum
