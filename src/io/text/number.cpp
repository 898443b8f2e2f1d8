#include "io/text/number.hpp"

#include "core/float_format.hpp"
#include "core/view.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace samesum::io {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Adds the integer `digits`, if it fits 64 bits.
bool add_integer(std::string_view digits, int base, bool negative, Numbers& numbers) {
  std::uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, magnitude, base);
  if (error != std::errc() || stop != end) return false;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  if (negative) {
    if (magnitude == 0 || magnitude > kTop) return false;
    numbers.add(static_cast<std::int64_t>(0 - magnitude));
  } else if (magnitude < kTop) {
    numbers.add(static_cast<std::int64_t>(magnitude));
  } else {
    numbers.add_large(magnitude);
  }
  return true;
}

// The rounded value of a hexadecimal number beyond the range of doubles: infinity or zero, by its exponent.
double out_of_range(std::string_view word) noexcept {
  const std::size_t mark = std::min(word.find_first_of("pP"), word.size());
  const std::string_view digits = word.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_not_of("0."), digits.size());
  const auto position = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);  // of the first significant digit
  std::string_view power = mark < word.size() ? word.substr(mark + 1) : "0";
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto result = std::from_chars(power.data(), power.data() + power.size(), exponent);
  const bool large = result.ec == std::errc() ? exponent + 4 * position > 0 : !power.starts_with('-');
  return large ? std::numeric_limits<double>::infinity() : 0;
}

// Adds a hexadecimal number, without its sign and its "0x".
bool parse_hexadecimal(std::string_view word, bool negative, const NumberRules& rules, Numbers& numbers) {
  if (std::string_view("0123456789abcdef.").find(lower(word[0])) == std::string_view::npos) return false;
  if (rules.integers && add_integer(word, 16, negative, numbers)) return true;
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value, std::chars_format::hex);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = out_of_range(word);
  numbers.add(negative ? -value : value);
  return true;
}

// `word` in C's form: no separators of thousands, a decimal point. No value where a separator stands anywhere but between groups of three
// digits, or a point where the decimal separator is another one.
std::optional<std::string> in_c_form(std::string_view word, const NumberRules& rules) {
  std::string text(word);
  if (rules.thousands == ' ') {  // also no-break and thin spaces: U+00A0, U+202F, U+2009
    for (const std::string_view space : {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"}) {
      for (std::size_t at = 0; (at = text.find(space, at)) != std::string::npos;) text.replace(at, space.size(), 1, ' ');
    }
  }
  std::string result;
  std::size_t at = 0, group = 0;
  bool grouped = false;
  for (; at < text.size(); ++at) {
    if (is_digit(text[at])) {
      result += text[at];
      ++group;
    } else if (rules.thousands != 0 && text[at] == rules.thousands) {
      if (grouped ? group != 3 : group < 1 || group > 3) return std::nullopt;
      grouped = true;
      group = 0;
    } else {
      break;
    }
  }
  if (grouped && group != 3) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at);
  if (rest.starts_with(rules.decimal)) {
    result += '.';
    rest.remove_prefix(1);
  }
  if (rest.find('.') != std::string_view::npos && rules.decimal != '.') return std::nullopt;
  if (rules.thousands != 0 && rest.find(rules.thousands) != std::string_view::npos) return std::nullopt;
  return result.append(rest);
}

}  // namespace

void Numbers::reset(std::size_t count) {
  if (count > capacity_) reallocate(count, 0);
  integers_end_ = integers_.get();
  reals_end_ = reals_.get();
  kinds_end_ = kinds_.get();
  large_.clear();
  gaps_.clear();
  chunks_.clear();
}

void Numbers::grow() {
  constexpr std::size_t kFirst = 64;
  reallocate(std::max(2 * capacity_, kFirst), size());
}

// Keeps the first `kept` numbers. Pages that are not written to take no memory.
void Numbers::reallocate(std::size_t capacity, std::size_t kept) {
  const auto move = [&](auto& from, auto*& end) {
    using T = std::remove_reference_t<decltype(*end)>;
    const auto used = kept == 0 ? 0 : end - from.get();
    auto to = std::make_unique_for_overwrite<T[]>(capacity);
    std::copy_n(from.get(), used, to.get());
    from = std::move(to);
    end = from.get() + used;
  };
  move(integers_, integers_end_);
  move(reals_, reals_end_);
  move(kinds_, kinds_end_);
  capacity_ = capacity;
}

void Numbers::remove_last() noexcept {
  switch (*--kinds_end_) {
    case Kind::integer:
      --integers_end_;
      break;
    case Kind::real:
      --reals_end_;
      break;
    case Kind::large:
      large_.pop_back();
  }
}

void Numbers::finish(bool in_order) {
  const View each[] = {View(integers_.get(), static_cast<std::uint64_t>(integers_end_ - integers_.get()), DType::int64),
                       View(large_.data(), large_.size(), DType::uint64),
                       View(reals_.get(), static_cast<std::uint64_t>(reals_end_ - reals_.get()), DType::float64)};
  chunks_.clear();
  for (const View& view : each) {
    if (view.size() != 0) chunks_.push_back(view);
  }
  if (in_order && chunks_.size() > 1) put_in_order();
}

// A chunk extends as long as one type can represent all of its numbers: int64 before uint64 before float64, which is used only where the
// chunk has doubles.
void Numbers::put_in_order() {
  constexpr unsigned kInt64 = 1, kUint64 = 2, kFloat64 = 4;
  chunks_.clear();
  ordered_.resize(size());
  const std::int64_t* integer = integers_.get();
  const std::uint64_t* large = large_.data();
  const double* real = reals_.get();
  const auto double_too = [](std::uint64_t magnitude) { return core::fits_float64(magnitude) ? kFloat64 : 0; };
  std::size_t first = 0;
  unsigned types = kInt64 | kUint64 | kFloat64;  // that can represent all numbers from `first` on
  bool reals = false;                            // whether there are doubles among them
  const auto end_chunk = [&](std::size_t end) {
    const DType type = (types & kInt64) != 0 ? DType::int64 : (types & kUint64) != 0 ? DType::uint64 : DType::float64;
    for (std::size_t i = first; type == DType::float64 && i < end; ++i) {
      if (kinds_[i] == Kind::integer)
        ordered_[i] = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(ordered_[i])));
      if (kinds_[i] == Kind::large) ordered_[i] = std::bit_cast<std::uint64_t>(static_cast<double>(ordered_[i]));
    }
    chunks_.emplace_back(ordered_.data() + first, end - first, type);
    first = end;
  };
  for (std::size_t i = 0; i < ordered_.size(); ++i) {
    unsigned own = kFloat64;
    if (kinds_[i] == Kind::integer) {
      const auto bits = static_cast<std::uint64_t>(*integer);
      own = *integer < 0 ? kInt64 | double_too(0 - bits) : kInt64 | kUint64 | double_too(bits);
      ordered_[i] = static_cast<std::uint64_t>(*integer++);
    } else if (kinds_[i] == Kind::large) {
      own = kUint64 | double_too(*large);
      ordered_[i] = *large++;
    } else {
      ordered_[i] = std::bit_cast<std::uint64_t>(*real++);
    }
    const bool real_now = kinds_[i] == Kind::real;
    if ((types & own) == 0 || ((types & own) == kFloat64 && !reals && !real_now)) {
      end_chunk(i);
      types = own;
      reals = real_now;
    } else {
      types &= own;
      reals |= real_now;
    }
  }
  end_chunk(ordered_.size());
}

bool NumberRules::is_missing(std::string_view word) const noexcept { return std::ranges::find(missing, word) != missing.end(); }

bool parse_number(std::string_view word, const NumberRules& rules, Numbers& numbers) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  std::optional<std::string> usual;
  if (rules.decimal != '.' || rules.thousands != 0) {
    usual = in_c_form(word, rules);
    if (!usual) return false;
    word = *usual;
  }
  if (word.empty()) return false;
  if (word.size() > 2 && word[0] == '0' && lower(word[1]) == 'x') return parse_hexadecimal(word.substr(2), negative, rules, numbers);

  const char first = lower(word[0]);
  if (first == 'i' || first == 'n') {  // other words that begin like this, such as "nan(7)", are not numbers
    const auto same = [&](std::string_view other) { return std::ranges::equal(word, other, {}, lower); };
    if (!same("inf") && !same("infinity") && !same("nan")) return false;
  } else if (!is_digit(first) && first != '.') {
    return false;
  }
  if (rules.integers && std::ranges::all_of(word, is_digit) && add_integer(word, 10, negative, numbers)) return true;

  double value = 0;
  const char* const end = word.data() + word.size();
  const auto result = fast_float::from_chars(word.data(), end, value);
  // Some versions report a number out of range, yet return the rounded value: infinity or zero.
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return false;
  numbers.add(negative ? -value : value);
  return true;
}

}  // namespace samesum::io
