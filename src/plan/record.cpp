#include "plan/record.hpp"

#include "core/float_format.hpp"
#include "reduce/layout.hpp"

#include <algorithm>
#include <string>

namespace samesum::planning {
namespace {

constexpr std::uint32_t kTaskSize = 32, kTasks = 4;
constexpr int kUnit = 1074, kFractionDigits = 5, kExactDigits = 70;  // as in exact.h and record.cl

int down(int bits) { return bits >> 5; }  // the digit in which a bit lies

}  // namespace

device::Source record_source(DType type, const Fields& fields, std::uint32_t group_size) {
  const core::FloatFormat format = core::float_format(type);
  const reduction::RecordLayout layout(type, fields.sum, fields.squares, false);
  const int sum_base = layout.sum_base, product_base = 2 * layout.sum_base - kUnit;
  const int sum_room = static_cast<int>(layout.sum_digits) + 4, product_room = static_cast<int>(layout.product_digits) + 4;
  // The numerator of the variance has the digits of a product by a number of 32 bits, and those of the sum's square.
  const int square_low = down(64 * down(sum_base) - kUnit), square_high = down(64 * (down(sum_base) + sum_room) - kUnit) + 4;
  const int low = std::min(down(product_base), square_low) - kFractionDigits;
  const int high = std::max(down(product_base) + product_room + 4, square_high);
  const int room = std::max({high - low + 1, kExactDigits, product_room, sum_room + kFractionDigits});
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  return {{"exact/exact.h", "exact/quotient.h", "exact/exact_lanes.h", "reduce/layout.h", "reduce/device/elements.h",
           "reduce/small/sum_record.h", "plan/record.cl"},
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
           {"SUM_LOW", std::to_string(down(sum_base))},
           {"PRODUCT_LOW", "(" + std::to_string(down(product_base)) + ")"},
           {"NUMERATOR_LOW", "(" + std::to_string(low) + ")"},
           {"SUM_ROOM", std::to_string(sum_room)},
           {"PRODUCT_ROOM", std::to_string(product_room)},
           {"NUMERATOR_ROOM", std::to_string(room)}}};
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
