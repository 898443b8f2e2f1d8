#include "plan/record.hpp"

#include "core/float_format.hpp"
#include "reduce/layout.hpp"

#include <algorithm>
#include <string>

namespace samesum::planning {
namespace {

constexpr std::uint32_t kTaskSize = 32, kTasks = 4;
constexpr int kUnit = 1074;  // 2^-1074 is the unit of exact.h

int down(int bits) { return bits >> 5; }  // the digit in which a bit lies

}  // namespace

device::Source record_source(DType type, const Fields& fields, std::uint32_t group_size) {
  const core::FloatFormat format = core::float_format(type);
  const reduction::RecordLayout layout(type, fields.sum, fields.squares, false);
  const int sum_base = layout.sum_base, product_base = 2 * layout.sum_base - kUnit;
  // The numerator of the variance has the digits of a product by a number of 32 bits, and those of the sum's square.
  const int sum_low = down(sum_base), sum_high = sum_low + static_cast<int>(layout.sum_digits) + 2;
  const int product_low = down(product_base), product_high = product_low + static_cast<int>(layout.product_digits) + 2;
  const int low = std::min(product_low, down(64 * sum_low - kUnit));
  const int high = std::max(product_high, down(64 * sum_high - kUnit) + 2) + 1;
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  return {{"exact/exact.h", "exact/exact_lanes.h", "exact/number.h", "exact/leading.h", "reduce/layout.h", "reduce/device/elements.h",
           "plan/record.cl"},
          {{"GROUP_SIZE", std::to_string(group_size)},
           {"BITS", std::to_string(8 * size_of(type))},
           {"FLOATS", flag(!is_integer(type))},
           {"SIGNED", flag(is_signed(type))},
           {"EXPONENT_BITS", std::to_string(format.exponent_bits)},
           {"FRACTION_BITS", std::to_string(format.fraction_bits)},
           {"EXTREMES", flag(fields.extrema)},
           {"SUM", flag(fields.sum)},
           {"PRODUCTS", flag(fields.squares)},
           {"NONZEROS", flag(fields.nonzeros)},
           {"SUM_DIGITS", std::to_string(layout.sum_digits)},
           {"PRODUCT_DIGITS", std::to_string(layout.product_digits)},
           {"SUM_BASE", std::to_string(sum_base)},
           {"PRODUCT_BASE", "(" + std::to_string(product_base) + ")"},
           {"NUMERATOR_LOW", "(" + std::to_string(low) + ")"},
           {"NUMERATOR_ROOM", std::to_string(high - low + 1)}}};
}

Recorder::Recorder(device::Device& device, DType type, const Fields& fields)
    : device_(device),
      group_size_(device.info().max_group_size < kTaskSize * kTasks ? kTaskSize : kTaskSize * kTasks),
      kernel_(device::build(device, record_source(type, fields, group_size_), "statistics_record")) {}

void Recorder::launch(const device::Memory& words, std::uint64_t count, NanPolicy nan, const device::Place& to) {
  const device::Argument arguments[] = {words, to.memory, to.offset, count, std::int32_t{nan == NanPolicy::skip}};
  device_.launch(kernel_, {1, group_size_}, arguments);
}

}  // namespace samesum::planning
