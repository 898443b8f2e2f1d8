// Formatting of numbers for people and programs.
#pragma once

#include "output/output.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/axes.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace samesum::cli {

using Json = nlohmann::ordered_json;

/// A result: a double, a float that is printed as one, or an integer.
class Number {
 public:
  Number(double value, DType type) : value_(value), type_(type) {}
  explicit Number(double value) : Number(value, DType::float64) {}
  explicit Number(float value) : Number(value, DType::float32) {}
  explicit Number(std::int64_t value) : value_(value), type_(DType::int64) {}
  explicit Number(std::uint64_t value) : value_(value), type_(DType::uint64) {}
  explicit Number(const Value& value);

  /// Rounded to double where it is a large integer.
  double value() const noexcept;
  DType type() const noexcept { return type_; }

  std::string decimal() const;  ///< the shortest that reads back as the same number; "nan", "inf", "-inf"
  std::string hex() const;      ///< as C's %a: "0x1.8p+1"; an integer: "-0x1f"
  std::string bits() const;     ///< "0x3ff8000000000000"

  /// Adds the members value, special (where JSON has no such number), hex, bits and type to `object`.
  void add_to(Json& object) const;

 private:
  std::variant<double, std::int64_t, std::uint64_t> value_;
  DType type_;
};

/// The element at an index of C order.
Number number_at(const Values& values, std::uint64_t index);

/// A number that the user wrote: int64 where it is such an integer, else float64. @throws Error (usage) that names the option.
Value parse_value(const std::string& text, const std::string& option);

std::string grouped(std::uint64_t number);                           ///< "1,234,567"
std::string counted(std::uint64_t number, const std::string& what);  ///< "1 file", "1,234 files"
std::string duration(double seconds);                                ///< "12.3 ms"
std::string byte_size(std::uint64_t bytes);                          ///< "1.5 GiB"

/// Seconds for JSON, rounded to a clock's resolution.
double rounded_seconds(double seconds);

/// A JSON text of any strings: invalid UTF-8 (in a file's name, say) is replaced.
std::string to_text(const Json& json);

/// Prints an object and, as its member `name`, an array of the `count` objects that element(i) gives, one after the other: in memory are
/// not all of them at once.
void print_with_array(Output& out, Json object, const std::string& name, std::uint64_t count,
                      const std::function<Json(std::uint64_t)>& element);

}  // namespace samesum::cli
