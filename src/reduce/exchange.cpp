// Statistics as bytes (docs/accumulator-format.md) and as words that merge by addition, and back.
#include "core/float_environment.hpp"
#include "core/visit.hpp"
#include "exact/counted.hpp"
#include "exact/serialized.hpp"
#include "exact/words.hpp"

#include <samesum/error.hpp>
#include <samesum/statistics.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace samesum {
namespace {

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 96;

enum Flag : std::uint64_t {
  kHasExtremes = 1,
  kHasSum = 2,
  kHasSquares = 4,
  kHasNonzeros = 8,
  kMixed = 16,
  kFirstNan = 32,
  kLeast = 64,
  kGreatest = 128,
};

// The types by their numbers in the form, from 1 on: in this order for good, whatever becomes of the enumeration.
constexpr std::array kTypes = {DType::int8,  DType::uint8,  DType::int16,   DType::uint16,   DType::int32,   DType::uint32,
                               DType::int64, DType::uint64, DType::float16, DType::bfloat16, DType::float32, DType::float64};
static_assert(kTypes.size() == kDTypes.size(), "a new type needs a number here");

std::uint64_t number_of(const std::optional<Extremum>& end) {
  return end ? static_cast<std::uint64_t>(std::ranges::find(kTypes, end->value.type) - kTypes.begin()) + 1 : 0;
}

void put(exact::Writer& writer, const std::optional<Extremum>& end) {
  writer.put(end ? std::visit([](auto number) { return std::bit_cast<std::uint64_t>(number); }, end->value.number) : 0, 8);
  writer.put(end ? end->index : 0, 8);
}

// Whether T has the number.
template <class T>
bool holds(double number) {
  if constexpr (std::is_same_v<T, double>) {
    return !std::isnan(number);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::isinf(number) || (std::abs(number) <= std::numeric_limits<float>::max() && static_cast<float>(number) == number);
  } else {
    return std::isinf(number) || (holds<float>(number) && static_cast<float>(T::truncate(static_cast<float>(number))) == number);
  }
}
template <class T, class Integer>
bool holds_integer(Integer number) {
  return number >= std::numeric_limits<T>::min() && number <= std::numeric_limits<T>::max();
}

// The element with these bits; nothing where the type has no such number, or is none.
std::optional<Value> element(std::uint64_t type_number, std::uint64_t bits) {
  if (type_number == 0 || type_number > kTypes.size()) return std::nullopt;
  const DType type = kTypes[type_number - 1];
  return core::visit(type, [&](auto zero) -> std::optional<Value> {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      const auto number = std::bit_cast<double>(bits);
      return holds<T>(number) ? std::optional(Value{number, type}) : std::nullopt;
    } else if constexpr (std::is_signed_v<T>) {
      const auto number = std::bit_cast<std::int64_t>(bits);
      return holds_integer<T>(number) ? std::optional(Value{number, type}) : std::nullopt;
    } else {
      return holds_integer<T>(bits) ? std::optional(Value{bits, type}) : std::nullopt;
    }
  });
}

}  // namespace

std::vector<std::byte> Statistics::serialize() const {
  const Contents& c = contents_;
  const auto sum = c.fields.sum ? c.sum.serialize() : std::vector<std::byte>();
  const auto squares = c.fields.squares ? c.squares.serialize() : std::vector<std::byte>();
  std::uint64_t flags = 0;
  const auto set = [&](bool is_so, std::uint64_t flag) { flags |= is_so ? flag : 0; };
  set(c.fields.extrema, kHasExtremes);
  set(c.fields.sum, kHasSum);
  set(c.fields.squares, kHasSquares);
  set(c.fields.nonzeros, kHasNonzeros);
  set(c.mixed, kMixed);
  set(c.first_nan.has_value(), kFirstNan);
  set(c.min.has_value(), kLeast);
  set(c.max.has_value(), kGreatest);
  exact::Writer writer(exact::kStatisticsForm, kVersion, kHeaderBytes + sum.size() + squares.size() + exact::kChecksumBytes);
  for (const std::uint64_t field : {flags, number_of(c.min), number_of(c.max)}) writer.put(field, 2);
  writer.put(sum.size(), 4);
  writer.put(squares.size(), 4);
  for (const std::uint64_t count : {c.count, c.nan_count, c.nonzeros, c.missing, c.first_nan.value_or(0)}) writer.put(count, 8);
  put(writer, c.min);
  put(writer, c.max);
  writer.put(sum);
  writer.put(squares);
  return writer.finish();
}

Statistics Statistics::deserialize(std::span<const std::byte> bytes) {
  const core::DefaultFloatEnvironment environment;
  exact::Reader reader(exact::kStatisticsForm, kVersion, bytes, kHeaderBytes);
  const std::uint64_t flags = reader.take(2), least_type = reader.take(2), greatest_type = reader.take(2);
  const std::uint64_t sum_bytes = reader.take(4), squares_bytes = reader.take(4);
  reader.expect(kHeaderBytes + sum_bytes + squares_bytes + exact::kChecksumBytes);
  Contents c;
  c.fields = {(flags & kHasExtremes) != 0, (flags & kHasSum) != 0, (flags & kHasSquares) != 0, (flags & kHasNonzeros) != 0};
  c.mixed = (flags & kMixed) != 0;
  for (std::uint64_t* count : {&c.count, &c.nan_count, &c.nonzeros, &c.missing}) *count = reader.take(8);
  if (const std::uint64_t index = reader.take(8); (flags & kFirstNan) != 0) c.first_nan = index;
  const auto take_end = [&](std::optional<Extremum>& end, std::uint64_t type, bool is_there) {
    const std::uint64_t bits = reader.take(8), index = reader.take(8);
    if (!is_there) return;
    const std::optional<Value> value = element(type, bits);
    if (!value) reader.contradiction();
    end = Extremum{*value, index};
  };
  take_end(c.min, least_type, (flags & kLeast) != 0);
  take_end(c.max, greatest_type, (flags & kGreatest) != 0);
  const auto sum = reader.take_bytes(sum_bytes), squares = reader.take_bytes(squares_bytes);
  if (c.fields.sum) c.sum = Accumulator::deserialize(sum);
  if (c.fields.squares) c.squares = ProductAccumulator::deserialize(squares);
  Statistics result(std::move(c));
  if (!result.consistent() || !std::ranges::equal(result.serialize(), bytes)) reader.contradiction();
  return result;
}

auto Statistics::words() const -> std::array<std::int64_t, kWords> {
  const Contents& c = contents_;
  if (c.fields.extrema && c.count != 0) {
    throw Error(
        ErrorKind::usage,
        "extremes are no sums, and have no words: take without_extrema().words(), collect without them, or serialize() and merge()");
  }
  std::array<std::int64_t, kWords> words;
  exact::WordWriter writer(words);
  writer.put_words(c.sum.words());
  writer.put_words(c.squares.words());
  for (const std::uint64_t count : {c.count, c.nan_count, c.nonzeros, c.missing}) writer.put_count(count);
  for (const bool has_elements : {true, false}) {
    for (const bool collected : {c.fields.extrema, c.fields.sum, c.fields.squares, c.fields.nonzeros}) {
      writer.put_flag(!collected && (c.count != 0) == has_elements);
    }
  }
  return words;
}

Statistics Statistics::from_words(std::span<const std::int64_t, kWords> words) {
  const core::DefaultFloatEnvironment environment;
  exact::WordReader reader(words);
  Contents c;
  const auto sum = reader.take_words<Accumulator::kWords>();
  const auto squares = reader.take_words<ProductAccumulator::kWords>();
  for (std::uint64_t* count : {&c.count, &c.nan_count, &c.nonzeros, &c.missing}) *count = reader.take_count();
  exact::counted(c.count, c.missing);
  const auto take_fields = [&] {
    Fields fields;
    for (bool* field : {&fields.extrema, &fields.sum, &fields.squares, &fields.nonzeros}) *field = reader.take_parts() == 0;
    return fields;
  };
  const Fields with_elements = take_fields(), without_elements = take_fields();
  c.fields = c.count != 0 ? with_elements : without_elements;
  if (c.fields.sum) c.sum = Accumulator::from_words(sum);
  if (c.fields.squares) c.squares = ProductAccumulator::from_words(squares);
  Statistics result(std::move(c));
  if (!result.consistent()) exact::refuse_words();
  return result;
}

}  // namespace samesum
