// Conversion of results to and from words that merge by addition.
#include "exact/words.hpp"
#include "exact/counted.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/error.hpp>
#include <samesum/product_accumulator.hpp>

#include <algorithm>

namespace samesum {
namespace exact {
namespace {

__extension__ typedef unsigned __int128 Uint128;  // no standard name for it

constexpr std::int64_t kLimit = std::int64_t{1} << 62;  // of a sum of words: 2^30 parts

}  // namespace

void WordWriter::put_count(std::uint64_t count) noexcept {
  const std::int64_t halves[] = {static_cast<std::int64_t>(count & 0xffffffff), static_cast<std::int64_t>(count >> 32)};
  put_words(halves);
}

void WordWriter::put_flag(bool flag) noexcept {
  const std::int64_t word = flag ? 1 : 0;
  put_words({&word, 1});
}

void WordWriter::put_words(std::span<const std::int64_t> words) noexcept {
  std::ranges::copy(words, left_.begin());
  left_ = left_.subspan(words.size());
}

std::int64_t WordReader::take() {
  const std::int64_t word = take_words<1>().front();
  if (word < 0 || word >= kLimit) refuse_words();
  return word;
}

std::uint64_t WordReader::take_count() {
  const auto low = static_cast<Uint128>(take()), high = static_cast<Uint128>(take());
  const Uint128 count = low + (high << 32);
  if (count >> 64 != 0) too_many_elements();
  return static_cast<std::uint64_t>(count);
}

std::uint64_t WordReader::take_parts() { return static_cast<std::uint64_t>(take()); }

void WordReader::take_digits(std::span<std::int64_t> digits) {
  std::ranges::copy(left_.first(digits.size()), digits.begin());
  left_ = left_.subspan(digits.size());
  std::uint64_t out_of_range = 0;  // any bit from 2^62 on
  for (const std::int64_t digit : digits.first(digits.size() - 1)) out_of_range |= static_cast<std::uint64_t>(digit) >> 62;
  if (out_of_range != 0 || digits.back() <= -kLimit || digits.back() >= kLimit) refuse_words();
}

void refuse_words() {
  throw Error(ErrorKind::usage,
              "these words are no sum of words of results: words() of each part are added word by word, as integers of 64 bits, and of at "
              "most 2^20 parts");
}

}  // namespace exact

auto Accumulator::words() const noexcept -> std::array<std::int64_t, kWords> {
  std::array<std::int64_t, kWords> words;
  exact::WordWriter writer(words);
  writer.put_words(canonical_digits());
  for (const std::uint64_t count : {count_, nans_, positive_infinities_, negative_infinities_}) writer.put_count(count);
  writer.put_flag(!only_negative_zeros_);
  for (const Elements elements : {Elements::unsigned_integers, Elements::integers, Elements::floats})
    writer.put_flag(elements_ == elements);
  return words;
}

Accumulator Accumulator::from_words(std::span<const std::int64_t, kWords> words) {
  exact::WordReader reader(words);
  Accumulator result;
  reader.take_digits(result.digits_);
  result.pending_ = 1;  // carries wait
  result.digits_ = result.canonical_digits();
  result.pending_ = 0;
  for (std::uint64_t* count : {&result.count_, &result.nans_, &result.positive_infinities_, &result.negative_infinities_}) {
    *count = reader.take_count();
  }
  result.only_negative_zeros_ = reader.take_parts() == 0;
  for (const Elements elements : {Elements::unsigned_integers, Elements::integers, Elements::floats}) {
    if (reader.take_parts() != 0) result.note(elements);
  }
  if (!result.consistent()) exact::refuse_words();
  return result;
}

auto ProductAccumulator::words() const noexcept -> std::array<std::int64_t, kWords> {
  std::array<std::int64_t, kWords> words;
  exact::WordWriter writer(words);
  writer.put_words(canonical_digits());
  for (const std::uint64_t count : {count_, nans_, positive_infinities_, negative_infinities_}) writer.put_count(count);
  writer.put_flag(!only_negative_zeros_);
  return words;
}

ProductAccumulator ProductAccumulator::from_words(std::span<const std::int64_t, kWords> words) {
  exact::WordReader reader(words);
  ProductAccumulator result;
  reader.take_digits(result.digits_);
  result.pending_ = 1;  // carries wait
  result.digits_ = result.canonical_digits();
  result.pending_ = 0;
  for (std::uint64_t* count : {&result.count_, &result.nans_, &result.positive_infinities_, &result.negative_infinities_}) {
    *count = reader.take_count();
  }
  result.only_negative_zeros_ = reader.take_parts() == 0;
  if (!result.consistent()) exact::refuse_words();
  return result;
}

}  // namespace samesum
