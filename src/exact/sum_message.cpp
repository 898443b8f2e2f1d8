// Sums in a message: straight loops over the digits that are used.
#include "exact/counted.hpp"
#include "exact/words.hpp"

#include <samesum/sum_message.hpp>

#include <algorithm>
#include <bit>

namespace samesum {
namespace {

constexpr int kDigits = Accumulator::kDigits;
constexpr std::int64_t kMask = 0xffffffff;

// Bits of needs behind those of the digits.
constexpr int kSpecials = kDigits, kKinds = kDigits + 1, kWide = kDigits + 2;
static_assert(kWide < 128);

void set(SumMessage::Needs& needs, int bit) noexcept { needs[static_cast<std::size_t>(bit) / 64] |= std::uint64_t{1} << bit % 64; }
bool has(const SumMessage::Needs& needs, int bit) noexcept { return (needs[static_cast<std::size_t>(bit) / 64] >> bit % 64 & 1) != 0; }

// The lowest and the highest digit that is needed.
int first_of(const SumMessage::Needs& needs) noexcept {
  for (int i = 0; i < kDigits; ++i) {
    if (has(needs, i)) return i;
  }
  return kDigits - 1;
}
int last_of(const SumMessage::Needs& needs) noexcept {
  for (int i = kDigits; i-- > 0;) {
    if (has(needs, i)) return i;
  }
  return first_of(needs);
}

// Counts of one word: those of 2^20 senders are below 2^62.
bool is_wide(std::uint64_t count) noexcept { return count >> 42 != 0; }

// Flags that add up to numbers of senders, three in a word: a sum is not of negative zeros alone, it has integers, it has floats. A sum
// with elements of neither kind is of unsigned integers.
constexpr int kFlagBits = 21;
constexpr std::int64_t kFlag = (std::int64_t{1} << kFlagBits) - 1;

}  // namespace

void SumMessage::normalize(Accumulator& sum) noexcept {
  if (sum.pending_ == 0) return;
  sum.digits_ = sum.canonical_digits();
  sum.pending_ = 0;
}

// The range of digits grows where a sum has others: those below it must be 0, those above it the sign.
SumMessage::Needs SumMessage::needs(std::span<Accumulator> sums) noexcept {
  int first = kDigits, last = -1;
  bool specials = false, kinds = false, wide = false;
  for (Accumulator& sum : sums) {
    normalize(sum);
    const auto& digits = sum.digits_;
    const std::int64_t sign = digits[kDigits - 1] >> 63;
    std::int64_t below = 0, above = (digits[kDigits - 1] ^ sign);
    for (int i = 0; i < first; ++i) below |= digits[i];
    for (int i = last + 1; i < kDigits - 1; ++i) above |= digits[i] ^ (sign & kMask);
    if (below != 0) {
      for (first = 0; digits[first] == 0;) ++first;
    }
    if (above != 0) {
      last = kDigits - 1;
      if (digits[last] == sign) {
        do --last;
        while (digits[last] == (sign & kMask));
      }
    }
    specials |= (sum.nans_ | sum.positive_infinities_ | sum.negative_infinities_) != 0;
    kinds |= sum.elements_ == Accumulator::Elements::integers || sum.elements_ == Accumulator::Elements::unsigned_integers ||
             (sum.count_ != 0 && sum.only_negative_zeros_);
    wide |= is_wide(sum.count_);
  }
  Needs needs{};
  if (first < kDigits) set(needs, first);
  if (last >= 0) set(needs, last);
  if (specials) set(needs, kSpecials);
  if (kinds) set(needs, kKinds);
  if (wide) set(needs, kWide);
  return needs;
}

SumMessage::SumMessage(const Needs& needs) noexcept
    : SumMessage(first_of(needs), last_of(needs), has(needs, kSpecials), has(needs, kKinds), has(needs, kWide)) {}

SumMessage SumMessage::ordinary() noexcept { return {28, 39, false, true, false}; }

bool SumMessage::holds(const Needs& needs) const noexcept {
  const bool none = first_of(needs) == kDigits - 1 && !has(needs, kDigits - 1);
  return (none || (first_of(needs) >= first_ && last_of(needs) <= last_)) && (specials_ || !has(needs, kSpecials)) &&
         (kinds_ || !has(needs, kKinds)) && (wide_ || !has(needs, kWide));
}

bool SumMessage::holds(Accumulator& sum) const noexcept {
  if (specials_ || !kinds_) return holds(needs({&sum, 1}));
  normalize(sum);
  const auto& digits = sum.digits_;
  const std::int64_t sign = digits[kDigits - 1] >> 63;
  std::int64_t other = last_ < kDigits - 1 ? digits[kDigits - 1] ^ sign : 0;
  for (int i = 0; i < first_; ++i) other |= digits[static_cast<std::size_t>(i)];
  for (int i = last_ + 1; i < kDigits - 1; ++i) other |= digits[static_cast<std::size_t>(i)] ^ (sign & kMask);
  return other == 0 && (sum.nans_ | sum.positive_infinities_ | sum.negative_infinities_) == 0 && (wide_ || !is_wide(sum.count_));
}

std::size_t SumMessage::words() const noexcept {
  const std::size_t counts = specials_ ? 4 : 1;
  return static_cast<std::size_t>(last_ - first_ + 1) + (wide_ ? 2 * counts : counts) + (kinds_ ? 1 : 0);
}

void SumMessage::write(std::span<const Accumulator> sums, std::span<std::int64_t> words) const noexcept {
  std::int64_t* to = words.data();
  const auto put_count = [&](std::uint64_t count) {
    *to++ = static_cast<std::int64_t>(wide_ ? count & kMask : count);
    if (wide_) *to++ = static_cast<std::int64_t>(count >> 32);
  };
  for (const Accumulator& sum : sums) {
    const auto& digits = sum.digits_;
    to = std::copy(digits.begin() + first_, digits.begin() + last_ + 1, to);
    if (last_ < kDigits - 1) to[-1] -= (digits[kDigits - 1] >> 63 & 1) << 32;  // the sign of all digits above
    put_count(sum.count_);
    if (specials_) {
      for (const std::uint64_t count : {sum.nans_, sum.positive_infinities_, sum.negative_infinities_}) put_count(count);
    }
    if (kinds_) {
      using enum Accumulator::Elements;
      *to++ = std::int64_t{!sum.only_negative_zeros_} | std::int64_t{sum.elements_ == integers} << kFlagBits |
              std::int64_t{sum.elements_ == floats} << 2 * kFlagBits;
    }
  }
}

void SumMessage::read(std::span<const std::int64_t> words, std::span<Accumulator> sums) const {
  using enum Accumulator::Elements;
  const auto digit_words = static_cast<std::size_t>(last_ - first_ + 1), per_sum = this->words();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::span<const std::int64_t> of_sum = words.subspan(i * per_sum, per_sum);
    Accumulator& sum = sums[i];
    auto& digits = sum.digits_;

    std::uint64_t out_of_range = 0;
    std::int64_t carry = 0, any = 0;
    for (std::size_t k = 0; k + 1 < digit_words; ++k) {
      out_of_range |= static_cast<std::uint64_t>(of_sum[k]) >> 62;
      const std::int64_t digit = of_sum[k] + carry;
      carry = digit >> 32;
      any |= digits[static_cast<std::size_t>(first_) + k] = digit & kMask;
    }
    for (const std::int64_t word : of_sum.subspan(digit_words, per_sum - digit_words - (kinds_ ? 1 : 0))) {
      out_of_range |= static_cast<std::uint64_t>(word) >> 62;
    }
    if (kinds_) out_of_range |= static_cast<std::uint64_t>(of_sum[per_sum - 1]) >> 63;
    constexpr std::int64_t kLimit = std::int64_t{1} << 62;
    const std::int64_t top = of_sum[digit_words - 1];
    if (out_of_range != 0 || top <= -kLimit || top >= kLimit) exact::refuse_words();
    carry += top;
    any |= carry;
    if (last_ < kDigits - 1) {
      digits[static_cast<std::size_t>(last_)] = carry & kMask;
      carry >>= 32;
      if (carry != digits[kDigits - 1]) {  // another sign than the sum had, or a carry into the digits above
        for (int k = last_ + 1; k < kDigits - 1; ++k) {
          digits[static_cast<std::size_t>(k)] = carry & kMask;
          carry >>= 32;
        }
        digits[kDigits - 1] = carry;
      }
    } else {
      digits[kDigits - 1] = carry;
    }

    const std::int64_t* next = of_sum.data() + digit_words;
    const auto take_count = [&] {
      const auto low = static_cast<std::uint64_t>(*next++);
      if (!wide_) return low;
      const auto high = static_cast<std::uint64_t>(*next++) + (low >> 32);
      if (high >> 32 != 0) exact::too_many_elements();
      return high << 32 | (low & kMask);
    };
    sum.count_ = take_count();
    if (specials_) {
      for (std::uint64_t* count : {&sum.nans_, &sum.positive_infinities_, &sum.negative_infinities_}) *count = take_count();
    }
    sum.elements_ = none;
    if (kinds_) {
      const std::int64_t flags = *next;
      sum.only_negative_zeros_ = (flags & kFlag) == 0;
      if (sum.count_ != 0) sum.note(unsigned_integers);
      if ((flags >> kFlagBits & kFlag) != 0) sum.note(integers);
      if (flags >> 2 * kFlagBits != 0) sum.note(floats);
    } else {
      sum.only_negative_zeros_ = sum.count_ == 0;
      if (sum.count_ != 0) sum.note(floats);
    }
    // As Accumulator::consistent(), for nearly all sums: a finite element is enough for any sum of floats below 2^2080 units.
    const std::uint64_t infinities = sum.positive_infinities_ | sum.negative_infinities_;
    const bool plain = last_ < 64 && (sum.nans_ | infinities) == 0 && sum.elements_ == (sum.count_ != 0 ? floats : none) &&
                       (sum.only_negative_zeros_ ? any == 0 : sum.count_ != 0);
    if (!plain && !sum.consistent()) exact::refuse_words();
  }
}

}  // namespace samesum
