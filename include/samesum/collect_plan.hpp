// Statistics and dot products of arrays that lie on a device: plans, launched as often as one likes.
#pragma once

#include <samesum/buffer.hpp>
#include <samesum/export.hpp>
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace samesum SAMESUM_EXPORT {

/// A pass over arrays, collect() or dot(), that is prepared once and then launched as often as one likes, without compiling, allocating or
/// waiting: on a device over the caller's own stream or queue too, where a CUDA graph can capture it. What it finds is rounded on the host,
/// when it is asked for: for a sum or extremes that the next kernel is to read, take SumPlan or ExtremesPlan.
///
///   samesum::CollectPlan plan(device, samesum::DType::float32, n, {.extremes = false, .sum = true, .squares = true});
///   plan.launch({samesum::Buffer::wrap(device, x, 4 * n), n, samesum::DType::float32});
///   double variance = plan.result().variance();
///
/// A plan's launches use the same scratch memory, and follow each other in its device's queue; for launches that run at the same time take
/// a plan for each queue. A plan may be used from several threads at once. For one sum, of elements or of products, launches are faster for
/// data like those of the launch before, with the same bits for any.
class CollectPlan {
 public:
  /// At most so many elements a launch; of more, parts merge.
  static constexpr std::uint64_t kMostElements = std::uint64_t{1} << 31;

  /// For arrays of `type` with `size` elements or about so many: of another size it does as well, only perhaps slower. Arrays
  /// whose elements lie apart are read element by element, and slower.
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernels cannot be built.
  CollectPlan(const Device& device, DType type, std::uint64_t size, const Fields& fields = {}, const Tuning& tuning = {});

  /// Enqueues the pass over `data`, which must stay as it is until that is done. O(n).
  /// @throws Error (usage) where `data` is of another type, lies on another device, or has more than kMostElements.
  void launch(const Array& data);

  /// What the latest launch has collected, which it waits for. @throws Error (usage) before the first.
  Statistics result() const;

  /// "groups=528 group_size=256 columns=32"
  std::string configuration() const;

  struct SAMESUM_HIDDEN State;

 private:
  std::shared_ptr<State> state_;
};

/// The same for dot products.
class DotPlan {
 public:
  static constexpr std::uint64_t kMostElements = CollectPlan::kMostElements;

  DotPlan(const Device& device, DType type, std::uint64_t size, const Tuning& tuning = {});

  /// Enqueues the exact sum of the products of `a` and `b`. O(n); arrays that are contiguous and lie alike are faster.
  /// @throws Error (usage) as CollectPlan::launch(), and where the arrays are not of one length.
  void launch(const Array& a, const Array& b);

  /// The dot product of the latest launch, which it waits for: round it, or take its root. @throws Error (usage) before the first.
  ProductAccumulator result() const;

  std::string configuration() const;

 private:
  std::shared_ptr<CollectPlan::State> state_;
};

}  // namespace samesum
