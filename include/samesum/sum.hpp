// The exact sum of an array.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// A way to compute the exact sum: a name for Tuning::variant, and what it does.
struct SumVariant {
  std::string_view name;
  std::string_view description;
};

/// The variants that can run on `device`; "auto" takes the first. All give the same bits.
std::vector<SumVariant> sum_variants(const Device& device);

/// The exact sum of `data` as an accumulator: merge it with others, serialize it, round it.
/// O(n) time; O(1) memory on the CPU; other devices process host data in chunks of bounded size. An array on a device is summed in place;
/// if its elements do not form one strided run (a slice of a matrix), they are gathered on the device first, in parts of 64 MiB. With
/// the kernels built and no report requested, a call costs little more than its kernel; for many such sums see Plan. May be called from
/// several threads at once; `data` is only read.
/// @throws Error (usage) for an unknown variant, a group size that the device cannot run, or an array on another device; Error (device)
/// if the device fails.
Accumulator accumulate(const Array& data, const Options& options = {});

/// The same for an array in host memory, divided over several devices that work at the same time, each taking the next part when it has
/// finished one: the same bits as on any of them. `reports`, if given, receives one report for each device, with the bytes that it
/// processed; Options::device and Options::report are ignored.
/// @throws Error (device) if one of them fails.
Accumulator accumulate(const Array& data, std::span<const Device> devices, const Options& options = {},
                       std::vector<Report>* reports = nullptr);

/// The sum of `data`. Of floats, a double: the real-number sum of the elements, rounded once to the nearest double, ties to even; the empty
/// sum is +0.0. Of integers, the exact sum: an int64, or a uint64 if their type is unsigned. The same bits on every device, with every
/// option. On the CPU it is faster than accumulate() if the elements' exponents spread widely; it reads the data a second time if the
/// smallest elements decide the rounding. Reference: A. Ziv, Fast Evaluation of Elementary Mathematical Functions with Correctly Rounded
/// Last Bit (ACM TOMS 1991).
/// @throws Error (no_answer), with the exact value, if a sum of integers does not fit: accumulate() holds any sum; otherwise Error as
/// accumulate(). No set-up cost for small arrays.
Value sum(const Array& data, const Options& options = {});

/// The type of a sum over such a range: double, std::int64_t or std::uint64_t.
template <ElementRange Range>
using SumOf = std::conditional_t<std::floating_point<ElementOf<Range>>, double,
                                 std::conditional_t<std::is_signed_v<ElementOf<Range>>, std::int64_t, std::uint64_t>>;

/// The same for elements whose type is known at compile time: `double total = sum(std::vector{0.1, 0.2})`.
template <ElementRange Range>
SumOf<Range> sum(Range&& data, const Options& options = {}) {
  return std::get<SumOf<Range>>(sum(Array(data), options).number);
}

}  // namespace samesum
