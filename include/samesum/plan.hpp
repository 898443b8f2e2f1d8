// Plans: a reduction or a histogram of arrays that lie on a device, prepared once and then enqueued as often as one likes.
//
//   const samesum::Device device = samesum::Device::on_cuda_stream(stream);
//   samesum::Plan plan(device, samesum::ops::sum, samesum::DType::float32, n);
//   plan.enqueue({samesum::Buffer::wrap(device, x, 4 * n), n, samesum::DType::float32}, samesum::Buffer::wrap(device, result, 24));
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/export.hpp>
#include <samesum/histogram.hpp>
#include <samesum/options.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace samesum SAMESUM_EXPORT {

/// What a plan works out, beside Fields (several statistics in one pass) and Bins (a histogram).
namespace ops {
/// The exact sum. Its result is an Accumulator, its record a SumRecord.
struct Sum {};
/// The exact sum of the products of two arrays' elements. Its result is a ProductAccumulator.
struct Dot {};
/// The least and the greatest element: the less is looked for, the faster where there is little data. The result is a Statistics, the
/// record an ExtremaRecord.
struct Extrema {
  bool min = true;
  bool max = true;
  /// Where they are, and the first NaN. If not, an index in ExtremaRecord is 0 where there is such an element, and in Statistics kNowhere.
  bool indices = true;

  friend bool operator==(const Extrema&, const Extrema&) = default;
};

inline constexpr Sum sum{};
inline constexpr Dot dot{};
inline constexpr Extrema extrema{}, min{.max = false}, max{.min = false};
}  // namespace ops

using Operation = std::variant<ops::Sum, ops::Dot, ops::Extrema, Fields, Bins>;

/// Of ops::Sum, ops::Dot, of ops::Extrema and Fields, of Bins.
using Result = std::variant<Accumulator, ProductAccumulator, Statistics, Histogram>;

/// What a sum leaves in a device's memory: 24 bytes, as a C struct.
struct SumRecord {
  double value;            ///< the sum, rounded once
  std::int64_t integer;    ///< of integers: the sum itself; of unsigned ones its bits, to be read as uint64. Of floats: 0
  float value32;           ///< the sum, rounded once to float32
  std::uint32_t overflow;  ///< of integers: 1 where the sum needs more than 64 bits, and `integer` is 0; else 0
};

/// What extrema leave in a device's memory: 48 bytes, as a C struct. They are those of the elements that are no NaN, by the order in which
/// -0.0 < +0.0; where there is none, their indices are kNowhere and they mean nothing.
struct ExtremaRecord {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::uint64_t min;        ///< the element itself, in the first bytes; the others are zero
  std::uint64_t min_index;  ///< the lowest index at which it stands
  std::uint64_t max;        ///< likewise
  std::uint64_t max_index;
  std::uint64_t first_nan;  ///< kNowhere where there is none
  std::uint64_t nan_count;

  friend bool operator==(const ExtremaRecord&, const ExtremaRecord&) = default;
};

/// An operation on arrays of one type, for which everything is compiled and allocated when the plan is made: enqueue() does neither, and
/// waits for nothing, on a device over the caller's own stream or queue too, where a CUDA graph can capture it.
///
/// A plan's work uses the same scratch memory, and follows each other in its device's queue; for work at the same time take a plan for each
/// queue. A plan may be used from several threads at once. It is a cheap handle: copies share it. Work may be faster for data like those
/// before, with the same bits for any.
///
/// On a GPU of compute capability 9.0 or newer a kernel may start before what is ahead of it in the stream has ended, and waits on the
/// device for that (programmatic dependent launch, CUDA programming guide): it is ordered like any other, and sees what was written. A
/// kernel of the caller's that is launched with that attribute itself has to wait as well (griddepcontrol.wait) before it looks at a
/// result.
class Plan {
 public:
  /// At most so many elements at once, but for sums, which take any number, and extrema; of more, the results of parts merge.
  static constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 31;

  /// For arrays of `type` with `size` elements or about so many: of another size it does as well, only perhaps slower. Arrays whose
  /// elements lie apart need kernels of their own, which are compiled for Layout::strided alone; a histogram takes none.
  /// Of `options` a plan takes the policy on NaNs of what is left in device memory, and the tuning.
  /// @throws Error (usage) for an unknown variant or a group size that the device cannot run; Error (device) where the kernels cannot be
  /// built.
  Plan(const Device& device, Operation operation, DType type, std::uint64_t size, const Options& options = {},
       Layout layout = Layout::contiguous);

  /// Enqueues the operation on `data`, which must stay as it is until that is done. O(n).
  /// @throws Error (usage) where `data` is of another type, lies on another device, is not of the plan's layout, or has too many elements.
  void enqueue(const Array& data);
  /// The same, and leaves the operation's record at byte `offset` of `to`, a multiple of 8: a SumRecord or an ExtremaRecord, or of a
  /// histogram bins + 3 counts, uint64: of the samples below all bins, in each bin, above all bins, and of the NaNs.
  /// @throws Error (usage) also for an operation without a record: ops::Dot, Fields.
  void enqueue(const Array& data, const Buffer& to, std::uint64_t offset = 0);
  /// Of two arrays, for ops::Dot: of one shape; faster where they are contiguous and lie alike.
  void enqueue(const Array& a, const Array& b);

  /// What the latest enqueue() found, which it waits for; of ops::Extrema, the latest that had no place for its record.
  /// @throws Error (usage) before that.
  Result result() const;
  /// The same, where the caller knows what it is: `plan.result<Accumulator>()`.
  template <class Expected>
  Expected result() const {
    return std::get<Expected>(result());
  }

  /// "groups=264 group_size=1024 columns=32"
  std::string configuration() const;

  struct SAMESUM_HIDDEN State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace samesum
