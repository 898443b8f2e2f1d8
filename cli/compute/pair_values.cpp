#include "compute/pair_values.hpp"

#include "part/partial.hpp"
#include "usage.hpp"

#include <samesum/array_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <type_traits>

namespace samesum::cli {
namespace {

constexpr std::size_t kMembers = 2, kWord = 8;  // the type and the count of x, before the values; and the checksum

void append(std::vector<std::byte>& to, std::uint64_t word) {
  for (std::size_t i = 0; i < kWord; ++i) to.push_back(static_cast<std::byte>(word >> (8 * i)));
}
std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = kWord; i-- > 0;) word = word << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  return word;
}

PairsResult empty_of(std::uint64_t type) {
  switch (type) {
    case 0:
      return std::vector<float>();
    case 1:
      return std::vector<double>();
    case 2:
      return std::vector<std::int64_t>();
    case 3:
      return std::vector<std::uint64_t>();
    default:
      refuse("damaged values of pairs: they have an unknown type");
  }
}

// "x,value", or of several "x,value0,value1".
std::string csv_header(std::uint64_t values) {
  if (values == 1) return "x,value\n";
  std::string text = "x";
  for (std::uint64_t k = 0; k < values; ++k) text += fmt::format(",value{}", k);
  return text + "\n";
}

}  // namespace

std::uint64_t PairValues::each() const { return x == 0 ? 1 : array_of(values).size() / x; }

void PairValues::merge(const PairValues& later) {
  if (later.x == 0) return;
  if (x == 0) {
    *this = later;
    return;
  }
  if (later.values.index() != values.index() || later.each() != each())
    refuse("the parts have values of different types, or not as many for an x");
  std::visit(
      [&](auto& mine) {
        const auto& more = std::get<std::remove_reference_t<decltype(mine)>>(later.values);
        mine.insert(mine.end(), more.begin(), more.end());
      },
      values);
  x += later.x;
}

// Words and values are little-endian.
std::vector<std::byte> PairValues::serialize() const {
  const auto magic = std::as_bytes(std::span(kMagic));
  std::vector<std::byte> bytes(magic.begin(), magic.end());
  append(bytes, values.index());
  append(bytes, x);
  std::visit(
      [&](const auto& all) {
        for (const auto value : all) {
          if constexpr (sizeof value == 4) {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
          } else {
            append(bytes, std::bit_cast<std::uint64_t>(value));
          }
        }
      },
      values);
  append(bytes, hash_of(bytes));
  return bytes;
}

PairValues PairValues::deserialize(std::span<const std::byte> bytes) {
  const std::size_t before = kMagic.size() + kMembers * kWord;
  if (bytes.size() < before + kWord || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) refuse("no values of pairs");
  const auto body = bytes.first(bytes.size() - kWord);
  if (word_at(bytes, body.size()) != hash_of(body)) refuse("truncated or damaged values of pairs: the checksum does not match");
  PairValues found;
  found.values = empty_of(word_at(bytes, kMagic.size()));
  found.x = word_at(bytes, kMagic.size() + kWord);
  const auto rest = body.subspan(before);
  std::visit(
      [&](auto& all) {
        using Value = typename std::decay_t<decltype(all)>::value_type;
        const std::size_t count = rest.size() / sizeof(Value);
        if (rest.size() % sizeof(Value) != 0 || (found.x == 0 ? count != 0 : count % found.x != 0))
          refuse("damaged values of pairs: they contradict themselves");
        all.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
          std::uint64_t bits = 0;
          for (std::size_t k = sizeof(Value); k-- > 0;) bits = bits << 8 | std::to_integer<std::uint64_t>(rest[i * sizeof(Value) + k]);
          if constexpr (sizeof(Value) == 4) {
            all.push_back(std::bit_cast<Value>(static_cast<std::uint32_t>(bits)));
          } else {
            all.push_back(std::bit_cast<Value>(bits));
          }
        }
      },
      found.values);
  return found;
}

void print_pair_values(Output& out, const PairValues& values, std::uint64_t first, const ResultOptions& options, Json& array) {
  const std::uint64_t each = values.each();
  if (first == 0 && options.csv) out.print("{}", csv_header(each));
  std::visit(
      [&](const auto& all) {
        using Value = typename std::decay_t<decltype(all)>::value_type;
        std::vector<Number> numbers;
        std::vector<std::string> texts;
        for (std::uint64_t x = 0; x < values.x; ++x) {
          numbers.clear();
          for (const Value value : std::span(all).subspan(x * each, each)) {
            if constexpr (std::is_integral_v<Value>) {
              numbers.emplace_back(value);
            } else {
              numbers.emplace_back(value, sizeof value == 4 ? DType::float32 : DType::float64);
            }
          }
          if (options.json) {
            Json* to = &array.emplace_back();
            for (const Number& value : numbers) value.add_to(numbers.size() == 1 ? *to : to->emplace_back());
            continue;
          }
          texts.clear();
          for (const Number& value : numbers) texts.push_back(options.text(value));
          if (options.csv) {
            out.print("{},{}\n", first + x, fmt::join(texts, ","));
          } else {
            out.print("{}\n", fmt::join(texts, " "));
          }
        }
      },
      values.values);
}

std::vector<std::byte> npy_header_of(const PairValues& some, std::uint64_t x) {
  const std::uint64_t each = some.each();
  return npy_header(array_of(some.values).type(), each == 1 ? std::vector{x} : std::vector{x, each});
}

}  // namespace samesum::cli
