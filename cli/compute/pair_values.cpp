#include "compute/pair_values.hpp"

#include "part/form.hpp"
#include "usage.hpp"

#include <samesum/array_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <type_traits>
#include <utility>

namespace samesum::cli {
namespace {

constexpr std::uint64_t kComplex = 16;  // in a serialized type

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
  if (later.values.index() != values.index() || later.each() != each() || later.complex != complex)
    refuse("the parts have values of different types, or not as many for an x");
  std::visit(
      [&](auto& mine) {
        const auto& more = std::get<std::remove_reference_t<decltype(mine)>>(later.values);
        mine.insert(mine.end(), more.begin(), more.end());
      },
      values);
  x += later.x;
}

std::vector<std::byte> PairValues::serialize() const {
  FormWriter writer(kMagic);
  writer.put(values.index() + (complex ? kComplex : 0));
  writer.put(x);
  std::visit(
      [&](const auto& all) {
        using Bits = std::conditional_t<sizeof all[0] == 4, std::uint32_t, std::uint64_t>;
        for (const auto value : all) writer.put(std::bit_cast<Bits>(value), sizeof value);
      },
      values);
  return std::move(writer).finished();
}

PairValues PairValues::deserialize(std::span<const std::byte> bytes) {
  FormReader reader(bytes, kMagic, "values of pairs");
  PairValues found;
  const std::uint64_t type = reader.take();
  found.complex = (type & kComplex) != 0;
  found.values = empty_of(type & ~kComplex);
  found.x = reader.take();
  std::visit(
      [&](auto& all) {
        using Value = typename std::decay_t<decltype(all)>::value_type;
        using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
        const std::size_t count = reader.left() / sizeof(Value);
        if (reader.left() % sizeof(Value) != 0 || (found.complex && count != 2 * found.x) ||
            (found.x == 0 ? count != 0 : count % found.x != 0))
          reader.refuse_contradiction();
        all.reserve(count);
        while (reader.left() != 0) all.push_back(std::bit_cast<Value>(static_cast<Bits>(reader.take(sizeof(Value)))));
      },
      found.values);
  return found;
}

void print_pair_values(Output& out, const PairValues& values, std::uint64_t first, const ResultOptions& options, Json& array) {
  const std::uint64_t each = values.each();
  if (first == 0 && options.csv) out.print("{}", csv_header(values.complex ? 1 : each));
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
            if (values.complex) {
              numbers[0].add_to((*to)["real"]);
              numbers[1].add_to((*to)["imag"]);
              continue;
            }
            for (const Number& value : numbers) value.add_to(numbers.size() == 1 ? *to : to->emplace_back());
            continue;
          }
          texts.clear();
          if (values.complex) {
            texts.push_back(options.text(numbers[0], numbers[1]));
          } else {
            for (const Number& value : numbers) texts.push_back(options.text(value));
          }
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
  return npy_header(array_of(some.values).type(), each == 1 || some.complex ? std::vector{x} : std::vector{x, each}, some.complex);
}

}  // namespace samesum::cli
