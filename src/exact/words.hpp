// Numbers as 64-bit words that merge by addition: a digit of radix 2^32, half of a count, or a flag (0 or 1, which adds up to a number of
// parts). The words of one part lie within ±2^32, so that there is headroom for many more than 2^20 parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace samesum::exact {

/// Writes numbers as consecutive words. Requires room for them.
class WordWriter {
 public:
  explicit WordWriter(std::span<std::int64_t> words) noexcept : left_(words) {}
  /// Two words.
  void put_count(std::uint64_t count) noexcept;
  /// One word.
  void put_flag(bool flag) noexcept;
  /// As many words as given: digits in their unique form, or the words of a part of the result.
  void put_words(std::span<const std::int64_t> words) noexcept;

 private:
  std::span<std::int64_t> left_;
};

/// Reads sums of such words.
class WordReader {
 public:
  explicit WordReader(std::span<const std::int64_t> words) noexcept : left_(words) {}
  /// @throws Error (usage) for words that are not a sum of words of counts; Error (no_answer) where the count has more than 64 bits.
  std::uint64_t take_count();
  /// The number of parts in which the flag was set. @throws Error (usage) for a negative number.
  std::uint64_t take_parts();
  /// Sums of digits, each of magnitude under 2^62, of which the last carries the sign. @throws Error (usage) for others.
  void take_digits(std::span<std::int64_t> digits);
  /// The words of a part of the result.
  template <std::size_t kSize>
  std::span<const std::int64_t, kSize> take_words() noexcept {
    const auto words = left_.first<kSize>();
    left_ = left_.subspan(kSize);
    return words;
  }

 private:
  std::int64_t take();

  std::span<const std::int64_t> left_;
};

/// Throws Error (usage): the words are not a sum of words of results.
[[noreturn]] void refuse_words();

}  // namespace samesum::exact
