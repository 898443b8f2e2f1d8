#include "nodata.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace samesum::cli {
namespace {

constexpr std::uint64_t kPartElements = std::uint64_t{1} << 20;  // what is left is copied: so many elements at once

template <class T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const last = text.data() + text.size();
  const auto result = std::from_chars(first, last, value);
  if (result.ec == std::errc() && result.ptr == last) return value;
  if constexpr (std::is_integral_v<T>) {  // "-9999.0" and "1e6" are whole numbers, too
    const std::optional<double> real = parse<double>(text);
    constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    const bool fits = real && *real == std::floor(*real) && *real < kEnd && *real >= static_cast<double>(std::numeric_limits<T>::min());
    if (fits) return static_cast<T>(*real);
  }
  return std::nullopt;
}

// As a float: of either 16-bit type.
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
void with_elements(View chunk, const Body& body) {
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

// Indices of the elements that equal `text`.
std::vector<std::uint64_t> find(View chunk, const std::string& text, bool mixed) {
  std::vector<std::uint64_t> found;
  with_elements(chunk, [&](auto zero, const auto& at) {
    using T = decltype(zero);
    const std::optional<T> value = parse<T>(text);
    if (!value && mixed) return;
    if (!value) {
      throw Error(ErrorKind::usage, fmt::format("--nodata {}: the elements are {}, which has no such number", text, name_of(chunk.type())));
    }
    for (std::uint64_t i = 0; i < chunk.size(); ++i) {
      const T element = at(i);
      if (element == *value || (element != element && *value != *value)) found.push_back(i);
    }
  });
  return found;
}

// 1 as an element.
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

NodataFilter::NodataFilter(std::string text) : text_(std::move(text)) {
  if (active() && !parse<double>(text_)) throw Error(ErrorKind::usage, fmt::format("--nodata takes a number, not '{}'", text_));
}

View NodataFilter::kept(View chunk) {
  if (!active()) return chunk;
  gaps_ = find(chunk, text_, mixed_);
  left_out_ += gaps_.size();
  if (gaps_.empty()) return chunk;
  const std::size_t size = size_of(chunk.type());
  buffer_.resize(chunk.bytes());
  const auto* from = static_cast<const std::byte*>(chunk.data());
  std::byte* to = buffer_.data();
  std::uint64_t first = 0;
  for (std::size_t i = 0; i <= gaps_.size(); ++i) {
    const std::uint64_t end = i < gaps_.size() ? gaps_[i] : chunk.size();
    std::memcpy(to, from + first * size, (end - first) * size);
    to += (end - first) * size;
    first = end + 1;
  }
  return {buffer_.data(), chunk.size() - gaps_.size(), chunk.type()};
}

View NodataFilter::with_ones(View chunk) {
  if (!active()) return chunk;
  const auto gaps = find(chunk, text_, mixed_);
  if (gaps.empty()) return chunk;
  const auto* from = static_cast<const std::byte*>(chunk.data());
  buffer_.assign(from, from + chunk.bytes());
  const auto one = one_of(chunk.type());
  for (const std::uint64_t i : gaps) std::memcpy(buffer_.data() + i * one.size(), one.data(), one.size());
  return {buffer_.data(), chunk.size(), chunk.type()};
}

std::uint64_t NodataFilter::index_in_chunk(std::uint64_t index) const {
  for (const std::uint64_t gap : gaps_) {
    if (gap > index) break;
    ++index;
  }
  return index;
}

void add_nodata(CLI::App& command, std::string& value) {
  const auto check = [](const std::string& text) -> std::string {
    return parse<double>(text) ? "" : fmt::format("takes a number, not '{}'", text);
  };
  command.add_option("--nodata", value, "leave out elements that equal this")->type_name("VALUE")->check(CLI::Validator(check, ""));
}

WithoutNodata::WithoutNodata(std::unique_ptr<Source> source, const std::string& text) : source_(std::move(source)), filter_(text) {
  if (!source_->type()) filter_.allow_mixed_types();
}

std::optional<View> WithoutNodata::next() {
  if (!left_ || left_->size() == 0) left_ = source_->next();
  if (!left_) return std::nullopt;
  const std::uint64_t count = std::min(left_->size(), kPartElements);
  const View part = left_->part(0, count);
  left_ = left_->part(count, left_->size() - count);
  return filter_.kept(part);
}

}  // namespace samesum::cli
