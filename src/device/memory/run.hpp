// Arrays in a device's memory as kernels take them: runs of elements at a constant distance in bytes; and the places where results go.
#pragma once

#include "core/array/array_blocks.hpp"
#include "core/threads/function_ref.hpp"
#include "core/view.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <samesum/array.hpp>
#include <samesum/options.hpp>
#include <samesum/source.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace samesum::device {

/// `count` elements, one every `stride` bytes, the first at byte `offset`; or whole rows of `row_length` such elements, `row_stride` bytes
/// apart, for kernels that walk rows. The element's size divides offset and strides, the memory's own misalignment included.
struct Run {
  Memory memory;
  std::uint64_t count = 0;
  std::int64_t stride = 0;
  std::uint64_t offset = 0;
  std::uint64_t row_length = 0;  // 0: there is one row
  std::int64_t row_stride = 0;

  std::uint64_t length() const noexcept { return row_length != 0 ? row_length : count; }
  std::uint64_t rows() const noexcept { return row_length != 0 ? count / row_length : 1; }

  /// Of whole rows, where there are several.
  Run part(std::uint64_t first, std::uint64_t size) const {
    const std::uint64_t bytes =
        row_length != 0 ? first / row_length * static_cast<std::uint64_t>(row_stride) : first * static_cast<std::uint64_t>(stride);
    return {memory, size, stride, offset + bytes, row_length, row_stride};
  }
  /// Elements of the largest part of `most` or fewer.
  std::uint64_t part_size(std::uint64_t most) const noexcept { return row_length != 0 ? most / row_length * row_length : most; }
};

/// An array on a device as one run, where its elements in this order are one.
std::optional<Run> single_run(const Array& data, core::Order order);

/// The same, or as rows: where the elements in this order lie along two axes, of which the inner has 2^30 elements at most.
std::optional<Run> run_of_rows(const Array& data, core::Order order);

/// Makes rows of the one array of those of the other, where it has none. False where both have rows, and of other lengths.
bool have_like_rows(Run& a, Run& b);

/// Brings elements of an array that is no single run to where they are one: parts of it, in memory of its own.
class Gather {
 public:
  /// Elements of a part, at most.
  static std::uint64_t most(DType type) noexcept { return (std::uint64_t{1} << 26) / size_of(type); }

  /// `data` lies on a device that runs kernels. Builds the kernel and allocates; takes the device's mutex.
  Gather(const Array& data, core::Order order);

  /// Enqueues: the elements from number `first` on, in the order; valid until the next call. Takes the device's mutex.
  Run part(std::uint64_t first, std::uint64_t count) {
    const Lock lock(device_.mutex());
    return part(first, count, lock);
  }
  /// The same for who holds it.
  Run part(std::uint64_t first, std::uint64_t count, const Lock&);

 private:
  Device& device_;
  Memory from_, axes_, to_;
  std::uint64_t offset_;
  std::uint32_t rank_;
  std::int64_t element_;
  Kernel kernel_;
};

/// The source of gather.cl for elements of `type`; `narrow`: of arrays of less than 2^32 of them.
Source gather_source(DType type, bool narrow);

/// Calls body(Run) with the elements of `data`, which lies on a device that runs kernels, run by run in this order: at least once.
void for_runs(const Array& data, core::Order order, core::FunctionRef<void(const Run&)> body, bool with_rows = false);

/// The same of two arrays of one shape and type on one device, by the order of their indices: body(Run, Run), of the same elements, in rows
/// of one length.
void for_runs_of_both(const Array& a, const Array& b, core::FunctionRef<void(const Run&, const Run&)> body);

/// The device on which work on `data` is done: the one that the caller names, or the one on which it lies, or what
/// choose_device("auto", bytes) names.
samesum::Device device_for(const Array& data, std::uint64_t bytes, const Options& options);
/// The same for a source with this many bytes in memory.
inline samesum::Device device_for(std::uint64_t resident_bytes, const Options& options) {
  return options.device ? *options.device : choose_device("auto", resident_bytes);
}
inline samesum::Device device_for(const samesum::Source& source, const Options& options) {
  const std::optional<samesum::Device> there = source.device();
  return !options.device && there ? *there : device_for(source.resident_bytes(), options);
}
/// The options with this device.
inline Options on(const samesum::Device& device, Options options) {
  options.device = device;
  return options;
}

/// The same array where the device's memory is the host's.
Array on_host(const Array& data);

/// Reads `count` elements of a run to the host: their view there, with the run's stride. Takes the device's mutex; waits.
View read_run(samesum::Device device, const Run& run, DType type, std::vector<std::byte>& bytes);

/// Calls body(View) with all elements of `data`, wherever it lies, in this order: those on a device come to the host by parts.
void for_host_blocks(const Array& data, core::Order order, core::FunctionRef<void(View)> body);

/// @throws Error (usage) where `data` lies on another device than `device`. Host memory may be given to any.
void require_on(const Array& data, const samesum::Device& device);

/// The array as a run that a plan for arrays of `type` and `layout` on `device` takes.
/// @throws Error (usage) where it cannot.
Run planned_run(const Array& data, core::Order order, const samesum::Device& device, DType type, Layout layout);
/// @throws Error (usage): result() of a plan that was not launched.
[[noreturn]] void refuse_result();

/// Where a record is to go.
struct Place {
  Memory memory;
  std::uint64_t offset = 0;  // in bytes
};
/// @throws Error (usage) where `to` is not on the plan's device, or has no room for `bytes` bytes of "a SumRecord" at `offset`, or no
/// alignment to 8 there.
Place place_in(const Buffer& to, std::uint64_t offset, std::string_view record, std::size_t bytes, const samesum::Device& device);

}  // namespace samesum::device
