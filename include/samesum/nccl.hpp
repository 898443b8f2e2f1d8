// Exact sums over several GPUs that stay on them: no host waits between the elements and the rounded sum. NCCL is loaded when it is first
// needed (libnccl.so.2, or what SAMESUM_NCCL_LIBRARY names); this header needs neither NCCL's nor CUDA's.
//
//   // A thread for each GPU, as NCCL has it:
//   auto ranks = samesum::nccl::Communicator::of_gpus({0, 1});
//   samesum::nccl::Sum sum(device, samesum::DType::float32);   // device: this thread's, cuda:0 or cuda:1
//   sum.assign(x);                   // x: an array in the device's memory; add() adds more
//   sum.all_reduce(ranks[rank]);     // ncclAllReduce of integers, on the device's stream
//   sum.round(result);               // a double in the device's memory: the same bits on all GPUs, and for any number of them
//
// An exact sum is a vector of integers (its words), so that adding up those of all ranks as int64 merges them exactly. Everything is
// enqueued, and can be captured into a CUDA graph.
#pragma once

#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace samesum SAMESUM_EXPORT {
namespace nccl {

/// One rank of several that add up integers together. A cheap handle: copies share the rank.
class Communicator {
 public:
  /// A rank for each of these GPUs of this process, by CUDA's ordinals: ncclCommInitAll. Each rank is for one thread.
  /// @throws Error (device) if NCCL cannot be loaded or refuses.
  static std::vector<Communicator> of_gpus(const std::vector<std::uint32_t>& ordinals);
  /// A communicator of the caller's own (an ncclComm_t), over any number of processes. The caller destroys it, behind its last use here.
  /// @throws Error (usage) if it is null; Error (device) if NCCL cannot be loaded.
  static Communicator wrap(void* communicator);
  /// `ranks` ranks in threads of this process, which add up in host memory, and wait: for devices that NCCL does not know, mixtures of
  /// them, and tests. A rank whose thread ends without its calls makes the others wait forever.
  static std::vector<Communicator> in_process(std::size_t ranks);

  /// Replaces `count` integers of 64 bits, from byte `offset` of `words` on, by the sums of those of all ranks. By NCCL it is enqueued on
  /// the stream of the buffer's device, a CUDA device. All ranks call it, with the same count.
  /// @throws Error (usage) if the buffer is too small, or its device has no CUDA stream; Error (device) if NCCL refuses.
  void all_reduce(const Buffer& words, std::uint64_t count, std::uint64_t offset = 0) const;

  struct SAMESUM_HIDDEN State;

 private:
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// An exact sum of numbers, or of products of two numbers, in the memory of a device that runs kernels. Its functions are enqueued in the
/// device's queue, wait for nothing and allocate nothing. One thread at a time may use it.
class Sum {
 public:
  enum class Of { elements, products };

  /// The sum of nothing, of arrays of `type`: float32 or float64; `elements`: of an addition, for which it is to be fast. Compiles the
  /// kernels.
  /// @throws Error (usage) for other types; Error (device) if the device has no kernels.
  Sum(const Device& device, DType type, Of what = Of::elements, std::uint64_t elements = std::uint64_t{1} << 24);

  /// Makes it the sum of nothing again.
  void clear();
  /// Adds the elements of `x`, which is contiguous and in the device's memory. O(n).
  /// @throws Error (usage) for another array, and for a sum of products.
  void add(const Array& x);
  /// Adds the products a[i] * b[i], exactly. @throws Error (usage) also if the arrays differ in size, and for a sum of elements.
  void add(const Array& a, const Array& b);
  /// Makes it the sum of the elements of x alone, or of the products of a and b: as clear() and add(), in one launch. The arrays are in the
  /// device's memory. O(n).
  /// @throws Error as add().
  void assign(const Array& x);
  void assign(const Array& a, const Array& b);
  /// The sum over all ranks, on each of them: 20 integers (float32), 34 (products of float32), 76 (float64) or 144
  /// (products of float64).
  /// @throws Error as Communicator::all_reduce().
  void all_reduce(const Communicator& rank);
  /// Writes the sum, rounded once to the nearest double, to byte `offset` of `to`, a multiple of 8. NaN, infinities and -0.0 as for
  /// Accumulator::round().
  void round(const Buffer& to, std::uint64_t offset = 0);

  /// The words, for other transports that add up int64 in device memory: words().bytes() / 8 of them, of up to 2^20 ranks.
  const Buffer& words() const noexcept;

  struct SAMESUM_HIDDEN State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nccl
}  // namespace samesum
