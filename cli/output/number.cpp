#include "output/number.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace samesum::cli {
namespace {

template <typename... Format>
std::string to_chars_text(double value, DType type, Format... format) {
  std::array<char, 64> buffer;
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  const auto result = type == DType::float32 ? std::to_chars(begin, end, static_cast<float>(value), format...)
                                             : std::to_chars(begin, end, value, format...);
  return {begin, result.ptr};
}

}  // namespace

// 16-bit floats are printed as the equal float32.
Number::Number(const Value& value) : value_(value.number), type_(value.type) {
  if (std::holds_alternative<double>(value_)) {
    type_ = value.type == DType::float64 ? DType::float64 : DType::float32;
  } else {
    type_ = std::holds_alternative<std::int64_t>(value_) ? DType::int64 : DType::uint64;
  }
}

double Number::value() const noexcept {
  return std::visit([](auto value) { return static_cast<double>(value); }, value_);
}

std::string Number::decimal() const {
  if (is_integer(type_)) return std::visit([](auto value) { return fmt::format("{}", value); }, value_);
  const double value = this->value();
  return std::isnan(value) ? "nan" : to_chars_text(value, type_);
}

std::string Number::hex() const {
  if (is_integer(type_)) {
    return std::visit(
        [](auto value) {
          const bool negative = value < 0;
          const auto magnitude = static_cast<std::uint64_t>(value);
          return fmt::format("{}0x{:x}", negative ? "-" : "", negative ? 0 - magnitude : magnitude);
        },
        value_);
  }
  const double value = this->value();
  if (!std::isfinite(value)) return decimal();
  return (std::signbit(value) ? "-0x" : "0x") + to_chars_text(std::abs(value), type_, std::chars_format::hex);
}

std::string Number::bits() const {
  if (type_ == DType::float32) return fmt::format("0x{:08x}", std::bit_cast<std::uint32_t>(static_cast<float>(value())));
  return std::visit([](auto value) { return fmt::format("0x{:016x}", std::bit_cast<std::uint64_t>(value)); }, value_);
}

void Number::add_to(Json& object) const {
  if (std::isfinite(value())) {
    std::visit([&object](auto value) { object["value"] = value; }, value_);
  } else {
    object["value"] = nullptr;
    object["special"] = decimal();
  }
  object["hex"] = hex();
  object["bits"] = bits();
  object["type"] = name_of(type_);
}

Number number_at(const Values& values, std::uint64_t index) {
  const auto* const at = static_cast<const std::byte*>(values.data()) + index * size_of(values.type());
  if (values.type() == DType::float64) {  // with its bits: a sum would not keep a NaN's
    double number;
    std::memcpy(&number, at, sizeof number);
    return {number, DType::float64};
  }
  return Number(min(Array(at, 1, values.type())).value);
}

Value parse_value(const std::string& text, const std::string& option) {
  const char* const last = text.data() + text.size();
  std::int64_t whole = 0;
  const auto [end, code] = std::from_chars(text.data(), last, whole);
  if (code == std::errc() && end == last) return {whole, DType::int64};
  double real = 0;
  const auto [real_end, real_code] = std::from_chars(text.data(), last, real);
  if (real_code != std::errc() || real_end != last) {
    throw Error(ErrorKind::usage, fmt::format("{} takes numbers, one for each component, not '{}'", option, text));
  }
  return {real, DType::float64};
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string counted(std::uint64_t number, const std::string& what) { return grouped(number) + " " + what + (number == 1 ? "" : "s"); }

std::string duration(double seconds) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  for (const auto& [unit, name] : kUnits) {
    const double amount = seconds / unit;
    if (amount >= 1) return fmt::format("{:.{}f} {}", amount, amount < 10 ? 2 : amount < 100 ? 1 : 0, name);
  }
  return fmt::format("{:.2f} ns", seconds * 1e9);
}

std::string byte_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  if (bytes == 1) return "1 byte";
  return fmt::format("{:.{}f} {}", size, size < 10 && size != std::floor(size) ? 1 : 0, kUnits[unit]);
}

double rounded_seconds(double seconds) { return std::round(seconds * 1e9) / 1e9; }

std::string to_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

void print_with_array(Output& out, Json object, const std::string& name, std::uint64_t count,
                      const std::function<Json(std::uint64_t)>& element) {
  if (count == 0) {
    object[name] = Json::array();
    return out.print("{}\n", to_text(object));
  }
  constexpr std::string_view kPlace = "\"\\u0001here\"";  // a text that no member has
  object[name] = "\1here";
  const std::string text = to_text(object);
  const std::size_t place = text.find(kPlace);
  out.print("{}[", text.substr(0, place));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string one = i == 0 ? "\n" : ",\n";
    one += to_text(element(i));
    for (std::size_t line = one.find('\n'); line != std::string::npos; line = one.find('\n', line + 1)) one.insert(line + 1, "    ");
    out.print("{}", one);
    if (i % (1u << 16) == (1u << 16) - 1) out.flush();
  }
  out.print("\n  ]{}\n", text.substr(place + kPlace.size()));
}

}  // namespace samesum::cli
