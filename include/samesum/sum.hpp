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

/// The variants that can run on `device`, the one that "auto" takes first. All give the same bits.
std::vector<SumVariant> sum_variants(const Device& device);

/// The exact sum of `data` as an accumulator: merge it with others, serialize it, round it.
/// O(n) time; O(1) memory on the CPU; on other devices data in host memory goes through in chunks of bounded size. An array on a device is
/// summed where it lies: nothing is copied, but where its elements are no single run (a slice of a matrix); those are gathered on the
/// device, by parts of 64 MiB. Where no report is asked for, and the device's kernels are built, a call costs little more than its kernel;
/// for many such sums see Plan.
/// May be called from several threads at once; `data` is only read.
/// @throws Error (usage) for an unknown variant, a group size that the device cannot run, or an array on another device; Error (device)
/// where the device fails.
Accumulator accumulate(const Array& data, const Options& options = {});

/// The same of an array in host memory, shared out over several devices at once, each of which takes the next part when it is done with
/// one: the same bits as on any of them. `reports`, where given, has one for each device, with the bytes that it took; Options::device and
/// Options::report are not looked at.
/// @throws Error (device) where one of them fails.
Accumulator accumulate(const Array& data, std::span<const Device> devices, const Options& options = {},
                       std::vector<Report>* reports = nullptr);

/// The sum of `data`. Of floats, a double: the real-number sum of the elements, rounded once to the nearest double, ties to even; of none:
/// +0.0. Of integers, exactly: an int64, or a uint64 where their type is unsigned.
/// The same bits on every device, with every option. On the CPU it is faster than accumulate() where elements have exponents of all sizes,
/// but reads the data twice where, moreover, the least of them decide how it rounds.
/// Reference: A. Ziv, Fast Evaluation of Elementary Mathematical Functions with Correctly Rounded Last Bit (ACM TOMS 1991).
/// @throws Error (no_answer), with the exact value, where a sum of integers does not fit: accumulate() it, which fits any; Error as
/// accumulate() does.
/// No set-up cost for small arrays.
Value sum(const Array& data, const Options& options = {});

/// What sums of elements of such a range are: double, std::int64_t or std::uint64_t.
template <ElementRange Range>
using SumOf = std::conditional_t<std::floating_point<ElementOf<Range>>, double,
                                 std::conditional_t<std::is_signed_v<ElementOf<Range>>, std::int64_t, std::uint64_t>>;

/// The same of elements whose type the compiler knows: `double total = sum(std::vector{0.1, 0.2})`.
template <ElementRange Range>
SumOf<Range> sum(Range&& data, const Options& options = {}) {
  return std::get<SumOf<Range>>(sum(Array(data), options).number);
}

}  // namespace samesum
