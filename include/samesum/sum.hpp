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
#include <memory>
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
/// for many such sums see SumPlan.
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

/// What SumPlan leaves in a device's memory for whoever comes next: 24 bytes, as a C struct.
struct SumRecord {
  double value;            ///< the sum, rounded once
  std::int64_t integer;    ///< of integers: the sum itself; of unsigned ones its bits, to be read as uint64. Of floats: 0
  float value32;           ///< the sum, rounded once to float32
  std::uint32_t overflow;  ///< of integers: 1 where the sum needs more than 64 bits, and `integer` is 0; else 0
};

/// A sum that is prepared once and then launched as often as one likes, without compiling, allocating or waiting: on a device over the
/// caller's own stream or queue too, where a CUDA graph can capture it. One launch (two where the device has no 64-bit atomics) for any
/// size.
///
///   const samesum::Device device = samesum::Device::on_cuda_stream(stream);
///   samesum::SumPlan plan(device, samesum::DType::float32, n);
///   plan.launch({samesum::Buffer::wrap(device, x, 4 * n), n, samesum::DType::float32}, samesum::Buffer::wrap(device, result, 24));
///
/// A plan's launches use the same scratch memory, and follow each other in its device's queue; for launches that run at the same time take
/// a plan for each queue. A plan may be used from several threads at once. Launches are faster for data like those of the launch before,
/// with the same bits for any; of float32 arrays of 32 to 64 MiB once result() has been read, and a graph keeps what held when it was
/// captured.
///
/// On a GPU of compute capability 9.0 or newer a launch may start before what is ahead of it in the stream has ended, and waits on the
/// device for that (programmatic dependent launch, CUDA programming guide): it is ordered like any other, and sees what was written. A
/// kernel of the caller's that is launched with that attribute itself has to wait as well (griddepcontrol.wait) before it looks at a
/// result.
class SumPlan {
 public:
  /// For arrays of `type` with `size` elements or about so many: of another size it sums as well, only perhaps slower. Arrays whose
  /// elements lie apart need a kernel of their own, which is compiled for Layout::strided alone.
  /// @throws Error (usage) for an unknown variant or a group size that the device cannot run; Error (device) where the kernels cannot be
  /// built.
  SumPlan(const Device& device, DType type, std::uint64_t size, const Tuning& tuning = {}, Layout layout = Layout::contiguous);

  /// Enqueues the sum of `data`, which must stay as it is until that is done.
  /// @throws Error (usage) where `data` is of another type, lies on another device, or is not of the plan's layout.
  void launch(const Array& data);
  /// The same, and leaves a SumRecord, rounded by the policy `nan`, at byte `offset` of `to`, a multiple of 8.
  void launch(const Array& data, const Buffer& to, std::uint64_t offset = 0, NanPolicy nan = NanPolicy::propagate);

  /// The exact sum of the latest launch, which it waits for. @throws Error (usage) before the first.
  Accumulator result() const;

  /// "groups=264 group_size=1024 columns=32"
  std::string configuration() const;

  struct SAMESUM_HIDDEN State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace samesum
