// Kernels of the caller's own: compiling them, and launching them with one, two or three axes.
//
//   const samesum::Device device = samesum::Device::open("cuda:0");
//   const samesum::Kernel kernel(device, source, "blur");
//   samesum::launch(kernel, {image, blurred, 3.0f}, {.groups = {40, 30}, .group_size = {16, 16}});
//   samesum::finish(device);
#pragma once

#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// A kernel of the caller's own, on any device with kernels (Capability::kernels).
class Kernel {
 public:
  /// Compiles `source` for `device`, or loads it from the disk cache. The source is OpenCL C or CUDA C++, whichever the device compiles;
  /// with the names of the kernel dialect (docs/kernels.md: KERNEL, FN, GLOBAL, …) it is both. The dialect's prelude is prepended and,
  /// if the device can order memory between work-groups, samesum/device/grid_barrier.h.
  /// @throws Error (device) with the build log if it does not compile, or if the device runs no kernels.
  Kernel(const Device& device, std::string_view source, std::string_view entry);

  const Device& device() const noexcept;  ///< for which it was compiled
  /// The number of groups of `group_size` work-items that can be resident at once. If the device cannot tell (OpenCL on GPUs): the
  /// number that launch_grid() has found for this kernel so far; no value before the first.
  std::optional<std::uint32_t> resident_groups(std::uint32_t group_size) const;

  struct SAMESUM_HIDDEN State;
  State& state() const noexcept { return *state_; }  ///< for the library's own use

 private:
  std::shared_ptr<State> state_;
};

/// An argument of a kernel: a number, or global memory.
/// Numbers have the sizes of the kernel dialect: ushort 16 bits, int and uint 32, long and ulong 64. A ushort also carries a float16, by its
/// bits (`half_to_float(ushort)`, `float_to_half(float)` in the dialect).
/// Of an Array the kernel gets the address of its first element, of any type, float16 too; shape and strides are arguments of their own
/// if the kernel needs them. OpenCL takes an address only at a multiple of what the device aligns memory to (128 to 512 bytes from the
/// buffer's beginning, as a rule).
using KernelArgument = std::variant<Buffer, Array, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

/// Numbers along the axes x, y and z: `{40, 30}`.
struct LaunchExtents {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// The shape of a launch.
struct LaunchShape {
  LaunchExtents groups;              ///< work-groups along each axis
  LaunchExtents group_size = {256};  ///< work-items of a group along each axis
  std::uint32_t local_bytes = 0;  ///< local memory of each group, for a kernel that declares it by DYNLOCAL; other local variables need none
};

/// Enqueues a kernel. Its parameters are `arguments`.
/// @throws Error (usage) for an array in host memory or on another device, or one whose address the device cannot pass. Error (device) for a
/// shape that the device cannot run, or another number of arguments (OpenCL; CUDA does not tell).
void launch(const Kernel& kernel, const std::vector<KernelArgument>& arguments, const LaunchShape& shape);
/// The same along one axis.
void launch(const Device& device, const Kernel& kernel, const std::vector<KernelArgument>& arguments, std::uint32_t groups,
            std::uint32_t group_size);

/// Waits for all work launched on `device`.
void finish(const Device& device);

/// A sequence of launches that can be repeated as one: a CUDA graph.
class Recording {
 public:
  void replay() const;  ///< enqueues the launches once more

  struct SAMESUM_HIDDEN State;
  explicit Recording(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// Records the launches that `launches` makes, without running them; no value if the device cannot record (then `launches` is not
/// called).
std::optional<Recording> record(const Device& device, const std::function<void()>& launches);

}  // namespace samesum
