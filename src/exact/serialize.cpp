// An accumulator as bytes and back: docs/accumulator-format.md.
#include "exact/big_integer.hpp"
#include "exact/serialized.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace samesum {
namespace {

using exact::BigInteger;

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 48;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint64_t kOnlyNegativeZeros = 1;
constexpr std::uint64_t kUnsignedIntegers = 2;
constexpr std::uint64_t kIntegers = 4;

// 2^64 doubles add up to less than 2^2162 units of 2^-1074; with the sign that is 68 digits, whatever an accumulator could hold.
constexpr std::size_t kMaxDigits = 68;

void put(std::vector<std::byte>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

// Takes little-endian numbers off the front of what is left.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::uint64_t take(std::size_t bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(left_[i]);
    left_ = left_.subspan(bytes);
    return value;
  }

 private:
  std::span<const std::byte> left_;
};

constexpr int kUnit = 1074;  // the bit of 2^0
constexpr std::uint64_t kGreatest = ~std::uint64_t{0}, kLeast = std::uint64_t{1} << 63;  // of integers: their magnitudes
BigInteger greatest_double() { return BigInteger((std::uint64_t{1} << 53) - 1).shifted_left(971 + kUnit); }

// Whether digits have nothing below 2^0, which is bit 18 of digit 33.
bool whole(std::span<const std::int64_t> digits) {
  return std::ranges::all_of(digits.first(33), [](std::int64_t digit) { return digit == 0; }) && (digits[33] & 0x3ffff) == 0;
}

// Whether `count` elements, between -most_negative and most_positive, can add up to this.
bool reachable(const BigInteger& sum, std::uint64_t count, const BigInteger& most_negative, const BigInteger& most_positive) {
  return !((sum.is_negative() ? most_negative : most_positive) * count - sum.magnitude()).is_negative();
}

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

}  // namespace

std::vector<std::byte> Accumulator::serialize() const {
  const auto digits = canonical_digits();
  // The digits that matter: from the lowest that is not zero up to the one whose top bit is the sign of all above.
  std::size_t first = 0;
  while (first < digits.size() && digits[first] == 0) ++first;
  std::size_t end = digits.size();
  const std::int64_t sign = digits.back() < 0 ? 0xffffffff : 0;
  while (end > first + 1 && (digits[end - 1] & 0xffffffff) == sign && digits[end - 2] >> 31 == sign >> 31) --end;
  if (first == digits.size()) first = end = 0;

  std::vector<std::byte> bytes;
  bytes.reserve(kHeaderBytes + 4 * (end - first) + kChecksumBytes);
  for (const char c : exact::kMagic) bytes.push_back(static_cast<std::byte>(c));
  put(bytes, kVersion, 2);
  put(bytes,
      (only_negative_zeros_ ? kOnlyNegativeZeros : 0) | (elements_ == Elements::unsigned_integers ? kUnsignedIntegers : 0) |
          (elements_ == Elements::integers ? kIntegers : 0),
      2);
  put(bytes, first, 2);
  put(bytes, end - first, 2);
  for (const std::uint64_t count : {count_, nans_, positive_infinities_, negative_infinities_}) put(bytes, count, 8);
  for (std::size_t i = first; i < end; ++i) put(bytes, static_cast<std::uint64_t>(digits[i]), 4);
  put(bytes, XXH3_64bits(bytes.data(), bytes.size()), 8);
  return bytes;
}

Accumulator Accumulator::deserialize(std::span<const std::byte> bytes) {
  const std::size_t magic = std::min(bytes.size(), exact::kMagic.size());
  if (magic == 0 || std::memcmp(bytes.data(), exact::kMagic.data(), magic) != 0) refuse("not a partial sum written by samesum");
  if (bytes.size() < kHeaderBytes + kChecksumBytes) {
    refuse(fmt::format("truncated partial sum: at least {} bytes expected, {} are there", kHeaderBytes + kChecksumBytes, bytes.size()));
  }
  Reader reader(bytes.subspan(magic));
  const std::uint64_t version = reader.take(2);
  if (version != kVersion) refuse(fmt::format("partial sum of format version {}; this samesum knows version {}", version, kVersion));
  const std::uint64_t flags = reader.take(2);
  const std::uint64_t first = reader.take(2);
  const std::uint64_t size = reader.take(2);
  const std::size_t expected = kHeaderBytes + 4 * size + kChecksumBytes;
  if (bytes.size() != expected) {
    refuse(fmt::format("{} partial sum: {} bytes expected, {} are there", bytes.size() < expected ? "truncated" : "damaged", expected,
                       bytes.size()));
  }
  const auto payload = bytes.first(bytes.size() - kChecksumBytes);
  if (Reader(bytes.last(kChecksumBytes)).take(8) != XXH3_64bits(payload.data(), payload.size())) {
    refuse("damaged partial sum: its checksum does not match");
  }

  // From here on the bytes are as someone wrote them. What no accumulator writes is refused all the same: one sum, one form.
  Accumulator result;
  result.count_ = reader.take(8);
  result.nans_ = reader.take(8);
  result.positive_infinities_ = reader.take(8);
  result.negative_infinities_ = reader.take(8);
  result.only_negative_zeros_ = flags & kOnlyNegativeZeros;
  result.elements_ = flags & kIntegers           ? Elements::integers
                     : flags & kUnsignedIntegers ? Elements::unsigned_integers
                     : result.count_ != 0        ? Elements::floats
                                                 : Elements::none;
  std::array<std::int64_t, kDigits> digits{};
  if (first + size <= kMaxDigits) {
    for (std::size_t i = first; i < first + size; ++i) digits[i] = static_cast<std::int64_t>(reader.take(4));
    if (size > 0 && digits[first + size - 1] >> 31 != 0) {  // negative: every digit above is the sign's, the last one -1
      std::fill(digits.begin() + static_cast<std::ptrdiff_t>(first + size), digits.end() - 1, 0xffffffff);
      digits.back() = -1;
    }
    result.digits_ = digits;
  }
  std::uint64_t left = result.count_;  // that no special value accounts for
  bool counts_fit = true;
  for (const std::uint64_t specials : {result.nans_, result.positive_infinities_, result.negative_infinities_}) {
    counts_fit = counts_fit && specials <= left;
    left -= std::min(specials, left);
  }
  const bool no_infinities = result.positive_infinities_ == 0 && result.negative_infinities_ == 0;
  const bool integers = result.elements_ == Elements::integers || result.elements_ == Elements::unsigned_integers;
  const bool integers_fit = !integers || (result.count_ != 0 && left == result.count_ && !result.only_negative_zeros_ && whole(digits));
  const auto sum = BigInteger::from_digits(digits);
  const auto unit = [](const BigInteger& whole) { return whole.shifted_left(kUnit); };
  const bool sum_fits = result.elements_ == Elements::unsigned_integers ? reachable(sum, left, 0, unit(kGreatest))
                        : result.elements_ == Elements::integers        ? reachable(sum, left, unit(kLeast), unit(kGreatest))
                                                                        : reachable(sum, left, greatest_double(), greatest_double());
  const bool consistent = counts_fit && integers_fit && sum_fits && (size == 0 || (left > 0 && !result.only_negative_zeros_)) &&
                          (result.only_negative_zeros_ ? no_infinities : left > 0 || !no_infinities);
  if (!consistent || !std::ranges::equal(result.serialize(), bytes)) refuse("damaged partial sum: it contradicts itself");
  return result;
}

}  // namespace samesum
