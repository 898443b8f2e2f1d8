// An array divided into groups by some of its axes: which elements belong to which result.
#pragma once

#include "core/array/array_blocks.hpp"
#include "core/threads/function_ref.hpp"
#include "device/device.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::groups {

/// The results are numbered in C order along `kept`; each is that of the elements along `reduced`, in any order.
struct AxisProblem {
  /// `ordered`: loops along the reduced axes follow the order of their indices; else that of memory.
  AxisProblem(const Array& data, const Axes& axes, bool ordered = false);

  /// The distance in bytes from the first element of the array to the first of result `index`.
  std::int64_t offset_of(std::uint64_t index) const noexcept;
  /// The elements of result `index`, in the order of their indices, with the axes that are reduced.
  Array elements(std::uint64_t index) const;

  Array data;
  std::vector<std::uint64_t> shape;  ///< of the result
  std::uint64_t results = 1, each = 1;
  std::vector<core::Axis> kept, reduced;  ///< as few as there can be; of `reduced` the last has the shortest stride
  std::int64_t first = 0;                 ///< bytes from the array's first element to that at which the loops along `reduced` begin
  std::uint64_t ddof;                     ///< of variances
  std::vector<std::uint64_t> reduced_shape;
  std::vector<std::int64_t> reduced_strides;
};

/// @throws Error (usage) for a ddof with what is no variance.
void check_ddof(AxisReduction reduction, std::uint64_t ddof);
/// @throws Error (usage) for a ddof, with what else is computed: "an operator".
void refuse_ddof(std::string_view what, std::uint64_t ddof);

/// Whether reduce_cpu() computes this of `each` elements a result.
bool reduces_on_cpu(AxisReduction what, DType type, std::uint64_t each) noexcept;

/// Writes the results, of result_type(), to `results`, in one pass over the elements. Returns the indices of the results that cannot be
/// computed in this way, ascending. The array is in host memory; for positions its problem is ordered.
std::vector<std::uint64_t> reduce_cpu(const AxisProblem& problem, AxisReduction what, NanPolicy nan, std::uint32_t threads, void* results);

/// Whether reduce_on_device() computes this of `each` elements a result.
bool reduces_on_device(AxisReduction what, DType type, std::uint64_t each, const DeviceInfo& info) noexcept;

/// The same as reduce_cpu() of an array on a device that runs kernels, into memory of that device, from byte `offset` on, a multiple of 8.
std::vector<std::uint64_t> reduce_on_device(const AxisProblem& problem, AxisReduction what, NanPolicy nan, const device::Memory& results,
                                            std::uint64_t offset);

/// Of the results that kernels leave so many are computed on the device, each by itself. If they are more, all elements come to the host.
inline constexpr std::uint64_t kFewPending = 256;

/// @throws Error (usage) if `to` lies on another device than `data`.
void require_same_device(const Array& to, const Array& data);

/// Writes products along axes, of a shape with elements, to an array of their type and shape.
void multiply_along(const Array& data, const Axes& axes, const Array& to, const Options& options);

/// Calls one(i, result) for the i-th of `count` results, of `which` if that is not null, in `threads` tasks, `chunk` at a time. @throws
/// Error what the first of them throws that has no answer, with `name` and its position in results of this shape.
void for_each_result(std::uint64_t count, const std::uint64_t* which, std::uint32_t threads, std::uint64_t chunk, std::string_view name,
                     const std::vector<std::uint64_t>& shape, core::FunctionRef<void(std::uint64_t, std::uint64_t)> one);

/// Puts results of `bytes` each, which lie one after the other, in their places in an array of all results.
void place_results(const std::vector<std::uint64_t>& which, const std::byte* from, std::size_t bytes, std::byte* to);

/// Which axes of the array are reduced. @throws Error (usage) for an axis that it does not have, or that is named twice.
std::vector<bool> reduced_axes(const Array& data, const Axes& axes);
/// Where a result stands, for messages: "(3, 0)".
std::string position_of(std::uint64_t index, const std::vector<std::uint64_t>& shape);
/// Writes an element of this type with this value.
void store(const Value& value, DType type, std::byte* to);
/// @throws Error (usage) where the array for results is not of this shape and type.
void require_like(const Array& to, const std::vector<std::uint64_t>& shape, DType type);
/// Writes results that lie one after the other to an array, which may have strides.
void copy_to(const Array& to, const std::byte* from);

/// The type of the results.
DType result_type(AxisReduction reduction, DType type);

/// A copy of an array on any device, in host memory and C order.
Values copied_to_host(const Array& data);

}  // namespace samesum::groups
