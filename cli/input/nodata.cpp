#include "input/nodata.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace samesum::cli {
namespace {

template <class T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const last = text.data() + text.size();
  const auto result = std::from_chars(first, last, value);
  if (result.ec == std::errc() && result.ptr == last) return value;
  if constexpr (std::is_integral_v<T>) {  // "-9999.0" and "1e6" are integers too
    const std::optional<double> real = parse<double>(text);
    constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    const bool fits = real && *real == std::floor(*real) && *real < kEnd && *real >= static_cast<double>(std::numeric_limits<T>::min());
    if (fits) return static_cast<T>(*real);
  }
  return std::nullopt;
}

// Converts a 16-bit float of either type to float.
float widened(std::uint16_t bits, DType type) {
  if (type == DType::bfloat16) {
    const std::uint32_t wide = std::uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  const float magnitude = exponent == 31
                              ? (fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN())
                              : std::ldexp(exponent == 0 ? fraction : fraction + 1024, (exponent == 0 ? 1 : exponent) - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Calls body(T) with the type in which elements are compared, and a function that reads element i.
template <class Body>
void with_elements(Array chunk, const Body& body) {
  const auto* bytes = static_cast<const std::byte*>(chunk.data());
  const auto plain = [&](auto zero) {
    body(zero, [bytes](std::uint64_t i) {
      decltype(zero) element;
      std::memcpy(&element, bytes + i * sizeof element, sizeof element);
      return element;
    });
  };
  switch (chunk.type()) {
    case DType::int8:
      return plain(std::int8_t{});
    case DType::uint8:
      return plain(std::uint8_t{});
    case DType::int16:
      return plain(std::int16_t{});
    case DType::uint16:
      return plain(std::uint16_t{});
    case DType::int32:
      return plain(std::int32_t{});
    case DType::uint32:
      return plain(std::uint32_t{});
    case DType::int64:
      return plain(std::int64_t{});
    case DType::uint64:
      return plain(std::uint64_t{});
    case DType::float32:
      return plain(float{});
    case DType::float64:
      return plain(double{});
    default:
      return body(float{}, [bytes, type = chunk.type()](std::uint64_t i) {
        std::uint16_t bits;
        std::memcpy(&bits, bytes + 2 * i, sizeof bits);
        return widened(bits, type);
      });
  }
}

// Copies the elements of `from` whose bit in `marks` is clear to `to`, contiguously.
template <std::size_t kSize>
void copy_unmarked(const std::byte* from, std::uint64_t count, std::span<const std::uint64_t> marks, std::byte* to) {
  for (std::uint64_t first = 0; first < count; first += 64) {
    const std::uint64_t here = std::min<std::uint64_t>(64, count - first);
    std::uint64_t left = ~marks[first / 64] & (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1);
    if (left == ~std::uint64_t{0}) {
      std::memcpy(to, from + first * kSize, 64 * kSize);
      to += 64 * kSize;
      continue;
    }
    for (; left != 0; left &= left - 1) {
      std::memcpy(to, from + (first + static_cast<std::uint64_t>(std::countr_zero(left))) * kSize, kSize);
      to += kSize;
    }
  }
}

// The number 1 as an element.
std::vector<std::byte> one_of(DType type) {
  std::vector<std::byte> bytes(size_of(type));
  const std::uint64_t bits = type == DType::float64    ? 0x3ff0000000000000
                             : type == DType::float32  ? 0x3f800000
                             : type == DType::bfloat16 ? 0x3f80
                             : type == DType::float16  ? 0x3c00
                                                       : 1;
  std::memcpy(bytes.data(), &bits, bytes.size());
  return bytes;
}

}  // namespace

NodataFilter::NodataFilter(std::string text, bool mixed) : text_(std::move(text)), mixed_(mixed) {
  if (active() && !parse<double>(text_)) throw Error(ErrorKind::usage, fmt::format("--nodata takes a number, not '{}'", text_));
}

std::uint64_t NodataFilter::mark(Array chunk) {
  marks_.assign((chunk.size() + 63) / 64, 0);
  std::uint64_t marked = 0;
  with_elements(chunk, [&](auto zero, const auto& at) {
    using T = decltype(zero);
    const std::optional<T> value = parse<T>(text_);
    if (!value && mixed_) return;
    if (!value)
      throw Error(ErrorKind::usage, fmt::format("--nodata {}: the elements are {}, none of which has this value: leave --nodata out", text_,
                                                name_of(chunk.type())));
    const bool nan = *value != *value;
    for (std::size_t word = 0; word < marks_.size(); ++word) {
      const std::uint64_t first = 64 * word, count = std::min<std::uint64_t>(64, chunk.size() - first);
      std::uint64_t bits = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        const T element = at(first + i);
        bits |= std::uint64_t{nan ? element != element : element == *value} << i;
      }
      marks_[word] = bits;
      marked += static_cast<std::uint64_t>(std::popcount(bits));
    }
  });
  return marked;
}

Array NodataFilter::packed(Array chunk) {
  if (chunk.contiguous()) return chunk;
  const std::size_t size = size_of(chunk.type());
  packed_.resize(chunk.bytes());
  const auto* const from = static_cast<const std::byte*>(chunk.data());
  for (std::uint64_t i = 0; i < chunk.size(); ++i) {
    std::memcpy(packed_.data() + i * size, from + static_cast<std::int64_t>(i) * chunk.strides()[0], size);
  }
  return {packed_.data(), chunk.size(), chunk.type()};
}

Array NodataFilter::kept(Array chunk) {
  if (!active()) return chunk;
  chunk = packed(chunk);
  const std::uint64_t marked = mark(chunk);
  left_out_ += marked;
  if (marked == 0) return chunk;
  const std::uint64_t count = chunk.size() - marked;
  const std::size_t size = size_of(chunk.type());
  buffer_.resize(count * size);
  const auto* from = static_cast<const std::byte*>(chunk.data());
  const auto copy = size == 1 ? copy_unmarked<1> : size == 2 ? copy_unmarked<2> : size == 4 ? copy_unmarked<4> : copy_unmarked<8>;
  copy(from, chunk.size(), marks_, buffer_.data());
  return {buffer_.data(), count, chunk.type()};
}

Array NodataFilter::with_ones(Array chunk) {
  if (!active()) return chunk;
  chunk = packed(chunk);
  const std::uint64_t marked = mark(chunk);
  left_out_ += marked;
  if (marked == 0) return chunk;
  const auto* from = static_cast<const std::byte*>(chunk.data());
  buffer_.assign(from, from + chunk.bytes());
  const auto one = one_of(chunk.type());
  for (std::size_t word = 0; word < marks_.size(); ++word) {
    for (std::uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1) {
      const std::uint64_t index = 64 * word + static_cast<std::uint64_t>(std::countr_zero(bits));
      std::memcpy(buffer_.data() + index * one.size(), one.data(), one.size());
    }
  }
  return {buffer_.data(), chunk.size(), chunk.type()};
}

std::uint64_t NodataFilter::index_in_part(std::uint64_t index) const {
  for (std::size_t word = 0; word < marks_.size(); ++word) {
    std::uint64_t left = ~marks_[word];
    const auto count = static_cast<std::uint64_t>(std::popcount(left));
    if (index >= count) {
      index -= count;
      continue;
    }
    for (; index != 0; --index) left &= left - 1;
    return 64 * word + static_cast<std::uint64_t>(std::countr_zero(left));
  }
  return index;
}

void add_nodata(CLI::App& command, std::string& value) {
  const auto check = [](const std::string& text) -> std::string {
    return parse<double>(text) ? "" : fmt::format("takes a number, not '{}'", text);
  };
  command.add_option("--nodata", value, "leave out elements that equal this")->type_name("VALUE")->check(CLI::Validator(check, ""));
}

std::optional<Array> WithoutNodata::next() {
  if (left_.size() == 0) {
    const std::optional<Array> chunk = source_->next();
    if (!chunk || !filter_.active()) return chunk;
    left_ = *chunk;
  }
  const std::uint64_t count = std::min(left_.size(), NodataFilter::most(left_.type()));
  const Array part = left_.part(0, count);
  left_ = left_.part(count, left_.size() - count);
  return filter_.kept(part);
}

std::uint64_t WithoutNodata::missing_before(std::uint64_t) const {
  throw std::logic_error("the places of elements are not known where others were left out");
}

}  // namespace samesum::cli
