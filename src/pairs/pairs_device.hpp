// Pairs on a device by kernels.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "pairs/problem.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace samesum::all_pairs {

/// Affects speed, and bits only within the bounds of fast sums. 0: the default for the device.
struct Configuration {
  std::uint32_t group_size = 0;
  std::uint32_t items = 0;                 ///< x of a work-item
  std::uint32_t together = 0;              ///< how many of them are processed component by component; divides `items`
  std::uint32_t resident = 0;              ///< groups resident on a compute unit: limits registers
  std::uint32_t tile = 0;                  ///< y of a tile
  std::uint32_t parts = 0;                 ///< of the y
  std::uint32_t unroll = 0;                ///< steps of the loop over y
  std::uint32_t polynomials = UINT32_MAX;  ///< which of 16 exponentials of a fast gaussian; UINT32_MAX: the default for the device

  std::string text() const;
};

/// One problem, prepared. Requires that the device's mutex is held.
class OnDevice {
 public:
  virtual ~OnDevice() = default;

  /// The number of x in a piece should be a multiple of this.
  virtual std::uint64_t step() const noexcept = 0;
  /// Allocates for x_count and y_count of the problem: enqueue() allocates nothing afterwards, for any other numbers either.
  virtual void prepare() = 0;
  /// Enqueues C of x_count vectors at `a` and y_count at `b`, at least one of each, contiguous and aligned to elements, to `c`, which
  /// overlaps neither.
  virtual void enqueue(const device::Place& a, std::uint64_t x_count, const device::Place& b, std::uint64_t y_count,
                       const device::Place& c) = 0;
  /// C of `count` x from `first` on.
  virtual void run(std::uint64_t first, std::uint64_t count, Target c) = 0;

  virtual const Configuration& configuration() const noexcept = 0;
};
std::unique_ptr<OnDevice> on_device(device::Device& device, const Problem& problem, Configuration wanted);

/// Sums, minima and maxima of one number for each pair.
///
/// With A and B in host memory, whose elements also choose the kernels, run(). Without (Problem::a and b are null) for arrays on the
/// device, by enqueue(); what else belongs to the y is in host memory, and is brought to the device when this is made.
class DevicePairs final : public OnDevice {
 public:
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernels cannot be built.
  DevicePairs(device::Device& device, const Problem& problem, Configuration wanted);

  std::uint64_t step() const noexcept override { return std::uint64_t{configuration_.group_size} * configuration_.items; }
  void prepare() override;
  void enqueue(const device::Place& a, std::uint64_t x_count, const device::Place& b, std::uint64_t y_count,
               const device::Place& c) override;
  void run(std::uint64_t first, std::uint64_t count, Target c) override;

  // The steps of run():
  void load(std::uint64_t first, std::uint64_t count);  ///< to the device
  void launch();                                        ///< enqueues
  void read(std::uint64_t count, Target c) const;       ///< the first ones; waits

  const Configuration& configuration() const noexcept override { return configuration_; }

 private:
  enum class Shape { blocks, vectors, exact };  // the kernels: pairs_blocks.cl, pairs_cpu.cl, pairs_exact.cl

  void configure(Configuration wanted);
  device::Source source() const;
  std::uint32_t combine_size() const noexcept;
  std::uint64_t bytes_of_x() const noexcept;  // of the partial result for an x, in one part
  void choose_parts(std::uint64_t x_count, std::uint64_t most_bytes);
  void allocate_partials();
  void launch(const device::Place& a, const device::Place& b, const device::Place& c);
  device::Memory upload(const void* data, std::uint64_t bytes);
  device::Argument real(double value) const;

  device::Device& device_;
  Problem problem_;
  Configuration configuration_, wanted_;
  Shape shape_;
  bool clean_ = false;  // no f is NaN, nor -0.0 where the function never is
  device::Kernel kernel_, combine_;
  device::Memory a_, b_, of_y_, partials_, indices_, c_;
  std::uint64_t x_count_ = 0;  // of a launch
  std::uint64_t share_ = 0;    // y of a part
};

}  // namespace samesum::all_pairs
