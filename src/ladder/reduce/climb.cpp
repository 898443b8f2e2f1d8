#include "ladder/reduce/climb.hpp"

#include "ladder/whole_numbers.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace samesum::bench {
namespace {

using reduction::TextbookOperation;

constexpr std::uint64_t kSamples = 100;                                       // elements on which an operator is tried
constexpr std::string_view kOperations[] = {"sum", "product", "max", "min"};  // numbered as TextbookOperation

TextbookOperation operation_of(const ReduceBenchOptions& options) {
  if (options.formula) return TextbookOperation::formula;
  for (std::size_t i = 0; i < std::size(kOperations); ++i) {
    if (options.ladder == kOperations[i]) return static_cast<TextbookOperation>(i);
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("'{}' has no ladder: there are sum, product, min, max, and operators as formulas with an identity", options.ladder));
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// A result of the library's as one of the elements' type.
std::uint64_t bits_of(const Value& value, DType type) {
  return std::visit(
      [&](auto number) {
        if (type == DType::float64) return bits_of(static_cast<double>(number));
        if (type == DType::float32) return bits_of(static_cast<float>(number));
        std::uint64_t word = 0;
        if constexpr (std::is_integral_v<decltype(number)>)
          word = static_cast<std::uint64_t>(number);
        else
          throw Error(ErrorKind::usage, "an operator on integers has to give integers");
        const std::size_t bits = 8 * size_of(type);
        return bits == 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
      },
      value.number);
}

template <class Call>
auto visit_type(DType type, const Call& call) {
  switch (type) {
    case DType::int8:
      return call(std::int8_t{});
    case DType::uint8:
      return call(std::uint8_t{});
    case DType::int16:
      return call(std::int16_t{});
    case DType::uint16:
      return call(std::uint16_t{});
    case DType::int32:
      return call(std::int32_t{});
    case DType::uint32:
      return call(std::uint32_t{});
    case DType::int64:
      return call(std::int64_t{});
    case DType::uint64:
      return call(std::uint64_t{});
    case DType::float32:
      return call(float{});
    default:
      return call(double{});
  }
}

std::string text_of(std::uint64_t bits, DType type) {
  return visit_type(type, [&](auto element) {
    std::memcpy(&element, &bits, sizeof element);
    return fmt::format("{}", +element);  // a small integer is no character
  });
}

template <class T>
T combine(TextbookOperation operation, T a, T b) {
  if (operation == TextbookOperation::max) return a < b ? b : a;
  if (operation == TextbookOperation::min) return b < a ? b : a;
  if constexpr (std::is_floating_point_v<T>) {
    return operation == TextbookOperation::sum ? a + b : a * b;
  } else {
    using Wide = std::uint64_t;
    return static_cast<T>(operation == TextbookOperation::sum ? static_cast<Wide>(a) + static_cast<Wide>(b)
                                                              : static_cast<Wide>(a) * static_cast<Wide>(b));
  }
}

template <class T>
T identity(TextbookOperation operation) {
  using Limits = std::numeric_limits<T>;
  if (operation == TextbookOperation::max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (operation == TextbookOperation::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return operation == TextbookOperation::sum ? T{0} : T{1};
}

}  // namespace

void Climb::check(DType type, const ReduceBenchOptions& options) {
  operation_of(options);
  if (type == DType::float16 || type == DType::bfloat16) {
    throw Error(ErrorKind::usage, fmt::format("the textbook works with integers, float32 and float64, not {}", name_of(type)));
  }
}

Climb::Climb(View data, const ReduceBenchOptions& options) : data_(data), options_(options), operation_(operation_of(options)) {}

std::string_view Climb::leads_to() const noexcept {
  if (operation_ == TextbookOperation::product) return "product";
  return operation_ == TextbookOperation::max || operation_ == TextbookOperation::min ? "extremes" : "";
}

template <class T>
std::uint64_t Climb::loop(bool backwards) const {
  const auto* values = static_cast<const T*>(data_.data());
  T result = identity<T>(operation_);
  const std::uint64_t n = data_.size();
  for (std::uint64_t i = 0; i < n; ++i) result = combine(operation_, result, values[backwards ? n - 1 - i : i]);
  return bits_of(result);
}

std::uint64_t Climb::plain_loop() const {
  if (operation_ == TextbookOperation::formula) {
    Options options{.device = Device::open("cpu")};
    options.tuning.threads = 1;
    return bits_of(samesum::reduce(data_, *options_.formula, options).at(0), data_.type());
  }
  return visit_type(data_.type(), [&](auto type) { return loop<decltype(type)>(false); });
}

std::string Climb::why_not_right(std::uint64_t bits) {
  const DType type = data_.type();
  if (!is_integer(type)) {
    return why_not_right_floating(type == DType::float64 ? std::bit_cast<double>(bits)
                                                         : std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  if (!expected_ && operation_ == TextbookOperation::formula) {
    expected_ = bits_of(samesum::reduce(data_, *options_.formula, {.device = Device::open("cpu")}).at(0), type);
  } else if (!expected_) {
    expected_ = visit_type(type, [&](auto element) { return loop<decltype(element)>(true); });
  }
  return bits == *expected_ ? "" : fmt::format("{} instead of {}", text_of(bits, type), text_of(*expected_, type)) + fault_of_operator();
}

std::string Climb::why_not_right_floating(double found) {
  const DType type = data_.type();
  const auto wrong = [&](double expected) {
    return fmt::format("{} instead of {}", text_of(bits_of(Value{found}, type), type), text_of(bits_of(Value{expected}, type), type));
  };
  const auto n = static_cast<double>(data_.size());
  if (operation_ == TextbookOperation::sum) {
    if (!sum_) sum_.emplace(data_);
    const double bound = error_bound(type, data_.size(), data_.size(), sum_->magnitude, true);
    return std::isinf(bound) || sum_->error_of(found) <= bound ? "" : wrong(sum_->sum.round());
  }
  if (!expected_) {
    const Options cpu{.device = Device::open("cpu")};
    const double value = operation_ == TextbookOperation::formula ? samesum::reduce(data_, *options_.formula, cpu).at(0).as_double()
                         : operation_ == TextbookOperation::max   ? samesum::max(data_, cpu).value.as_double()
                         : operation_ == TextbookOperation::min   ? samesum::min(data_, cpu).value.as_double()
                                                                  : samesum::product(data_, cpu).as_double();
    expected_ = std::bit_cast<std::uint64_t>(value);
  }
  const auto expected = std::bit_cast<double>(*expected_);
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return "";
  const double roundings = n * (type == DType::float64 ? 0x1p-53 : 0x1p-24);
  const bool rounds = operation_ == TextbookOperation::product || operation_ == TextbookOperation::formula;
  if (rounds && roundings < 0.25 && std::abs(found - expected) <= 4 * roundings * std::abs(expected)) return "";
  if (std::isnan(expected) && !rounds)
    return wrong(expected) + ": there are NaNs among the elements, which the textbook's comparisons skip";
  return wrong(expected) + fault_of_operator();
}

std::string Climb::fault_of_operator() const {
  if (operation_ != TextbookOperation::formula) return "";
  const DType type = data_.type();
  const Operator& op = *options_.formula;
  const auto combined = [&](std::uint64_t a, std::uint64_t b) {
    std::vector<char> two(2 * size_of(type));
    std::memcpy(two.data(), &a, size_of(type));
    std::memcpy(two.data() + size_of(type), &b, size_of(type));
    return bits_of(samesum::reduce(View(two.data(), 2, type), op, {.device = Device::open("cpu")}).at(0), type);
  };
  const auto element = [&](std::uint64_t i) { return static_cast<const char*>(data_.data()) + i * size_of(type); };
  const std::uint64_t identity = bits_of(op.identity.at(0), type);
  for (std::uint64_t i = 0; i + 1 < std::min(data_.size(), kSamples); ++i) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, element(i), size_of(type));
    std::memcpy(&y, element(i + 1), size_of(type));
    const auto text = [&](std::uint64_t bits) { return text_of(bits, type); };
    if (const std::uint64_t found = combined(identity, x); text(found) != text(x)) {
      return fmt::format(": {} is no identity of {}: with {} it gives {}", text(identity), op.combine.to_string(), text(x), text(found));
    }
    if (text(combined(x, y)) != text(combined(y, x))) {
      return fmt::format(": {} does not commute: of {} and {} it gives {}, and {} the other way round", op.combine.to_string(), text(x),
                         text(y), text(combined(x, y)), text(combined(y, x)));
    }
  }
  // Floating-point numbers that round are as good as never associative; small whole numbers rarely round.
  const std::vector<char> numbers = is_integer(type) ? std::vector<char>() : whole_numbers(type, kSamples, 0);
  const auto found = find_not_associative(numbers.empty() ? Array(data_) : Array(View(numbers.data(), kSamples, type)), op);
  return found ? ": " + *found : "";
}

std::string Climb::why_not_whole(std::string_view name, device::Device& device, const std::string& source) const {
  if (operation_ != TextbookOperation::sum || is_integer(data_.type())) return "";
  return why_not_whole_sum(device, data_.type(), data_.size(), [&](const device::Memory& numbers, std::uint64_t count) {
    return prepare(name, device, numbers, source, count);
  });
}

std::string Climb::why_not(std::string_view name, const DeviceInfo& device) const {
  return reduction::why_no_textbook(name, device, data_.type(), operation_);
}

std::shared_ptr<reduction::TextbookSum> Climb::prepare(std::string_view name, device::Device& device, const device::Memory& data,
                                                       const std::string& source, std::optional<std::uint64_t> size) const {
  reduction::TextbookOptions how{options_.group_size, options_.groups, options_.tile_columns, source};
  how.tile_rows = options_.tile_rows;
  how.registers = options_.registers;
  how.operation = operation_;
  how.entry = "reduce";
  if (options_.formula) how.formula = reduction::formula_source(*options_.formula, data_.type(), device.info());
  // As close to a square as powers of two allow.
  const std::uint64_t count = size.value_or(data_.size());
  std::uint64_t rows = 1;
  while (count != 0 && count % (2 * rows) == 0 && 4 * rows * rows <= count) rows *= 2;
  return std::make_shared<reduction::TextbookSum>(name, device, data_.type(), data, rows, count / rows, how);
}

}  // namespace samesum::bench
