// The sources of the kernels along axes and of segments: the files, and what the host defines for a type and a reduction.
#include "groups/axes_work.hpp"
#include "groups/device/axes_device.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

std::string_view float_bits_of(DType type) {
  if (type == DType::float32) return "as_uint(x)";
  return type == DType::float16 ? "as_uint(half_to_float(x))" : "((uint)(x) << 16)";
}

std::string_view value_of(DType type) { return is_integer(type) ? "((long)(x))" : as_double_source(type); }

// The identity of addition: -0.0, or 0.
std::string_view missing_of(DType type) {
  if (is_integer(type)) return "0";
  return type == DType::float16 || type == DType::bfloat16 ? "0x8000" : type == DType::float32 ? "-0.0f" : "-0.0";
}

// Whether an element is not zero, nor a NaN that is left out.
std::string nonzero_of(DType type, bool skip) {
  if (is_integer(type)) return "((x) != 0 ? 1L : 0L)";
  if (type == DType::float16 || type == DType::bfloat16) {
    const char* const infinity = type == DType::float16 ? "0x7c00" : "0x7f80";
    return fmt::format("(((x) & 0x7fff) != 0 {} ? 1L : 0L)", skip ? fmt::format("&& ((x) & 0x7fff) <= {}", infinity) : "");
  }
  return fmt::format("((x) != 0 {} ? 1L : 0L)", skip ? "&& (x) == (x)" : "");
}

// The defines of axes_extremes.h.
std::vector<std::pair<std::string, std::string>> extreme_defines(DType type, bool least, bool indexed, bool skip) {
  const bool wide = size_of(type) == 8, floats = !is_integer(type), narrow = type == DType::float16 || type == DType::bfloat16;
  const bool whole = is_integer(type) && !is_signed(type) && size_of(type) >= 4;  // unsigned and as wide as a key
  std::string bits = wide ? "((long)(x))" : "((int)(x))", element = "((ELEMENT)(bits))", missing;
  if (narrow) {
    bits = "((int)((uint)(x) << 16))";
    element = "((ELEMENT)((uint)(bits) >> 16))";
  } else if (floats) {
    bits = wide ? "((long)as_ulong(x))" : "((int)as_uint(x))";
    element = wide ? "as_double((ulong)(bits))" : "as_float((uint)(bits))";
  } else if (whole) {
    bits = wide ? "((long)((x) ^ 0x8000000000000000UL))" : "((int)((x) ^ 0x80000000u))";
    element = wide ? "((ulong)(bits) ^ 0x8000000000000000UL)" : "((uint)(bits) ^ 0x80000000u)";
  }
  const char* const greatest = wide ? "0x7fffffffffffffffL" : "0x7fffffff";
  if (floats) {
    const std::string sign = least ? "" : wide ? "0x8000000000000000UL | " : narrow ? "0x8000 | " : "0x80000000u | ";
    const std::string infinity = wide ? "0x7ff0000000000000UL" : type == DType::float16 ? "0x7c00" : narrow ? "0x7f80" : "0x7f800000u";
    const std::string own = skip ? infinity + (wide ? " | 0x8000000000000UL" : narrow ? " | 0x40" : " | 0x400000u") : sign + infinity;
    missing = narrow ? "(" + own + ")" : fmt::format("{}({})", wide ? "as_double" : "as_float", own);
  } else {
    const int shift = 8 * static_cast<int>(size_of(type)) - 1;
    if (is_signed(type)) {
      missing =
          least ? fmt::format("((ELEMENT)((1UL << {}) - 1))", shift) : fmt::format("((ELEMENT)(-(long)((1UL << {}) - 1) - 1))", shift);
    } else {
      missing = least ? "((ELEMENT)~0UL)" : "((ELEMENT)0)";
    }
  }
  return {{"KEY", wide ? "long" : "int"},
          {"BITS_OF(x)", bits},
          {"ELEMENT_OF(bits)", element},
          {"FLOATS", floats ? "1" : "0"},
          {"INFINITY_BITS", wide                     ? "0x7ff0000000000000L"
                            : type == DType::float16 ? "0x7c000000"
                                                     : "0x7f800000"},
          {"NAN_BITS", wide                     ? "0x7ff8000000000000L"
                       : type == DType::float16 ? "0x7e000000"
                                                : "0x7fc00000"},
          {"GREATEST_KEY", greatest},
          {"LEAST", least ? "1" : "0"},
          {"INDEXED", indexed ? "1" : "0"},
          {"MISSING", missing}};
}

// Resident groups of a compute unit, limited by registers for the elements in flight: 64 bytes hold more narrow elements.
std::uint32_t resident_of(DType type) { return size_of(type) == 8 ? 4 : size_of(type) == 4 ? 3 : 2; }

// Elements that a work-item adds in one step.
std::uint32_t unroll_of(DType type) { return size_of(type) == 8 ? 8 : 16; }

// The state of a result, and what the kernels over it share.
device::Source state_source(DType type, const AxesShape& shape) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const AxisWork work{shape.what, type, shape.skip};
  const bool counts = work.what == AxisReduction::count_nonzero, numbers = work.has_numbers() || work.has_squares();
  const bool integers = is_integer(type) || counts;
  device::Source source{{},
                        {{"REAL", "double"},
                         {"ELEMENT", std::string(element_name(type))},
                         {"UNROLL", std::to_string(unroll_of(type))},
                         {"SKIP", flag(shape.skip && !is_integer(type) && !counts)},  // VALUE(x) leaves them out of counts
                         {"GROUP_SIZE", std::to_string(shape.group_size)},
                         {"RESIDENT", std::to_string(work.has_squares() ? 2 : resident_of(type))}}};
  if (work.has_squares() || (numbers && !integers)) source.files = {"groups/expansion.h", "groups/near_moment.h", "groups/moments.h"};
  if (!numbers && !counts) {
    const bool least = work.what == AxisReduction::min || work.what == AxisReduction::argmin;
    const bool indexed = work.what == AxisReduction::argmin || work.what == AxisReduction::argmax;
    const auto more = extreme_defines(type, least, indexed, shape.skip);
    source.defines.insert(source.defines.end(), more.begin(), more.end());
    source.files.emplace_back("groups/device/axes_extremes.h");
  } else {
    source.defines.insert(source.defines.end(), {{"VALUE(x)", counts ? nonzero_of(type, shape.skip) : std::string(value_of(type))},
                                                 {"FLOAT_BITS(x)", std::string(float_bits_of(type))},
                                                 {"MISSING", counts ? "0" : std::string(missing_of(type))},
                                                 {"INTEGERS", flag(integers)},
                                                 {"SIGNED", flag(is_signed(type) && !counts)},
                                                 {"SHORT", flag(type != DType::float64)},
                                                 {"VARIANCE", flag(work.is_variance())}});
    source.files.emplace_back(work.has_squares() ? "groups/device/axes_squares.h" : "groups/device/axes_sums.h");
  }
  source.files.insert(source.files.end(), {"groups/device/pending.h", "groups/device/axes.h"});
  return source;
}

}  // namespace

std::string_view as_double_source(DType type) {
  if (type == DType::float16) return "((double)half_to_float(x))";
  if (type == DType::bfloat16) return "((double)as_float((uint)(x) << 16))";
  return "((double)(x))";
}

device::Source axes_source(DType type, const AxesShape& shape) {
  device::Source source = state_source(type, shape);
  source.files.emplace_back("groups/device/axes.cl");
  return source;
}

device::Source axes_exact_source(DType type, const AxesShape& shape) {
  device::Source source = state_source(type, shape);
  source.files.insert(source.files.end(),
                      {"exact/exact.h", "exact/exact_lanes.h", "exact/number.h", "exact/leading.h", "groups/device/axes_exact.cl"});
  source.defines.emplace_back("ONE_LANE", "1");
  return source;
}

device::Source segments_source(DType type, const AxesShape& shape) {
  device::Source source = state_source(type, shape);
  source.files.emplace_back("groups/device/segments.cl");
  return source;
}

}  // namespace samesum::groups
