// Plans: a reduction, also along axes, a product, a histogram or all pairs of arrays on a device, prepared once and enqueued any number of times.
//
//   const samesum::Device device = samesum::Device::on_cuda_stream(stream);
//   samesum::Plan plan(device, samesum::ops::sum, samesum::DType::float32, n);
//   plan.enqueue({samesum::Buffer::wrap(device, x, 4 * n), n, samesum::DType::float32}, samesum::Buffer::wrap(device, result, 24));
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/buffer.hpp>
#include <samesum/export.hpp>
#include <samesum/formula.hpp>
#include <samesum/histogram.hpp>
#include <samesum/operator.hpp>
#include <samesum/options.hpp>
#include <samesum/pairs.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>
#include <samesum/value.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// The operations of a plan, beside Fields (several statistics in one pass, whose record is a StatisticsRecord), Bins (a histogram) and PairsProblem (all pairs).
namespace ops {
/// The exact sum. Its result is an Accumulator, its record a SumRecord.
struct Sum {};
/// The exact sum of the products of two arrays' elements. Its result is a ProductAccumulator, its record a SumRecord.
struct Dot {};
/// The least and the greatest element. On small arrays, asking for less is faster. The result is a Statistics, the record an ExtremaRecord.
struct Extrema {
  bool min = true;
  bool max = true;
  /// Their indices, and that of the first NaN. If false, an index in ExtremaRecord is 0 if there is such an element, and in Statistics
  /// kNowhere.
  bool indices = true;

  friend bool operator==(const Extrema&, const Extrema&) = default;
};

/// The product, with the bits of product(): of floats by the balanced tree over the index, of integers exact. Its result is a Value, its
/// record a ProductRecord.
struct Product {};

inline constexpr Sum sum{};
inline constexpr Dot dot{};
inline constexpr Product product{};
inline constexpr Extrema extrema{}, min{.max = false}, max{.min = false};
}  // namespace ops

/// Statistics of what a formula gives at each position of its inputs, in one pass that writes no values: the sum of `w*x`, the mean of
/// `(x - y)^2`. Of `inputs` the names and types count, and which are vectors: enqueue() takes an array for each, in this order. The result is
/// a Statistics, the record a StatisticsRecord; of a sum alone (`{.extrema = false, .squares = false, .nonzeros = false}`) a SumRecord, which
/// takes less time.
struct FormulaFields {
  Formula formula;
  std::vector<FormulaInput> inputs;
  std::vector<FormulaParameter> parameters = {};
  Fields fields = {};
};

/// A reduction along axes, with the bits of axis_reduction(). Of `like` the type, the shape and the strides count: enqueue() takes arrays with
/// the same ones. The result is Values, the record one element of their type for each result, in C order. On a device that runs kernels: sums
/// and means, if it has float64. There a sum of integers that does not fit into 64 bits is 0 in device memory, the mean of no elements NaN.
struct AlongAxes {
  Array like;
  Axes axes;
  AxisReduction reduction = AxisReduction::sum;
};

/// A reduction by an operator of one's own of what a formula gives at each position of its inputs, with the bits of reduce(): of an array's
/// elements, `{op, Formula("x"), {{"x", x}}}`. Of `inputs` the names and types count, as in FormulaFields. The result has a Value for each number
/// that reduce() gives, the record 8 bytes for each: a float64, a float32 in the first half, or an integer of 64 bits.
struct ByOperator {
  Operator op;
  Formula formula;
  std::vector<FormulaInput> inputs;
  std::vector<FormulaParameter> parameters = {};
};

using Operation =
    std::variant<ops::Sum, ops::Dot, ops::Extrema, Fields, Bins, PairsProblem, ops::Product, FormulaFields, AlongAxes, ByOperator>;

/// The result of ops::Sum; of ops::Dot; of ops::Extrema, Fields and FormulaFields; of Bins; of PairsProblem; of ops::Product; of AlongAxes; of
/// ByOperator.
using Result = std::variant<Accumulator, ProductAccumulator, Statistics, Histogram, PairsResult, Value, Values, std::vector<Value>>;

/// The record that a sum writes to device memory: 24 bytes, as a C struct.
struct SumRecord {
  double value;            ///< the sum, rounded once
  std::int64_t integer;    ///< of integers: the sum; of unsigned ones its bits, to be read as uint64. Of floats: 0
  float value32;           ///< the sum, rounded once to float32
  std::uint32_t overflow;  ///< of integers: 1 if the sum needs more than 64 bits (`integer` is then 0); else 0
};

/// The record that a product writes to device memory: 24 bytes, as a C struct.
struct ProductRecord {
  double value;            ///< of floats: the product, which of types narrower than float64 is a float32. Of integers: 0
  std::int64_t integer;    ///< of integers: the product; of unsigned ones its bits, to be read as uint64. Of floats: 0
  std::uint32_t overflow;  ///< of integers: 1 if the product needs more than 64 bits (`integer` is then 0); else 0
  std::uint32_t reserved;  ///< 0
};

/// The record that extrema write to device memory: 48 bytes, as a C struct. NaNs are excluded from both extrema, and -0.0 < +0.0; if
/// there are no other elements, the indices are kNowhere and the values are undefined.
struct ExtremaRecord {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::uint64_t min;        ///< the element, in the first bytes; the others are zero
  std::uint64_t min_index;  ///< the lowest index at which it stands
  std::uint64_t max;        ///< likewise
  std::uint64_t max_index;
  std::uint64_t first_nan;  ///< kNowhere if there is none
  std::uint64_t nan_count;

  friend bool operator==(const ExtremaRecord&, const ExtremaRecord&) = default;
};

/// The record that Fields write to device memory: 128 bytes, as a C struct. Each number is the exact value rounded once, with the plan's policy
/// on NaNs. What was not asked for, or does not exist (the mean of no elements), is NaN, 0, or an index kNowhere.
struct StatisticsRecord {
  std::uint64_t count;        ///< elements, NaNs included
  std::uint64_t nonzeros;     ///< a NaN, unless skipped, is not zero
  SumRecord sum;              ///< of the elements
  double mean;                ///< as Statistics::mean()
  double variance;            ///< with ddof 0, as Statistics::variance()
  double standard_deviation;  ///< likewise; not the root of a rounded variance
  double squared_norm;        ///< the sum of the squares
  double norm;                ///< its square root, rounded once
  ExtremaRecord extrema;      ///< in it also the number of NaNs, whatever was asked for
};

/// An operation on arrays of one type. Everything is compiled and allocated when the plan is made: enqueue() does neither and never waits;
/// on the caller's own stream it can be captured by a CUDA graph.
///
/// The operations enqueued by one plan share its scratch memory and run in order in its device's queue; for concurrent work use one plan
/// for each queue. A plan may be used from several threads at once. It is a cheap handle: copies share it. A plan may adapt to the data of
/// earlier calls; this affects its speed, never its results.
///
/// On a GPU of compute capability 9.0 or newer a kernel may start before preceding work in the stream has ended; it then waits on the
/// device for that work (programmatic dependent launch, CUDA programming guide), so the order in which memory is written and read is
/// unchanged. A kernel that the caller launches with that attribute must wait as well (griddepcontrol.wait) before it reads a result.
class Plan {
 public:
  /// The maximum number of elements of one enqueue(), except for sums, extrema and pairs, which take any number; split larger arrays and merge
  /// the results.
  static constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 31;

  /// For arrays of `type` with about `size` elements: other sizes give the same results, perhaps more slowly. Strided arrays need kernels
  /// of their own, which are compiled only for Layout::strided; histograms and products have none.
  /// A plan uses only two of `options`: `nan`, for the records in device memory, and `tuning`.
  ///
  /// Of pairs, `size` is about the number of elements of A and of B; weights and further inputs of the y, of which there then are as many
  /// as the plan is made for, are copied when it is made, and their arrays may lie anywhere. Which kernels are run does not depend on the
  /// elements, as it does in pairs(): sums with PairAccuracy::fast may differ from its bits, within their bound.
  /// @throws Error (usage) for an unknown variant or a group size that the device cannot run, and for pairs as pairs() does; Error (device)
  /// if the kernels cannot be built.
  Plan(const Device& device, Operation operation, DType type, std::uint64_t size, const Options& options = {},
       Layout layout = Layout::contiguous);
  /// For a formula over about `size` positions. If its inputs are contiguous and equally aligned, they are read faster.
  /// @throws Error (usage) also for a formula of several results, of no arrays, or one in which an integer operation may fail, which a plan
  /// has no way to say.
  Plan(const Device& device, FormulaFields operation, std::uint64_t size, const Options& options = {});
  /// For an operator over about `size` positions. @throws Error (usage) also if the formula does not give the operator's operands, and
  /// if an integer operation may fail.
  Plan(const Device& device, ByOperator operation, std::uint64_t size, const Options& options = {});
  /// For arrays of one shape, along axes. @throws Error (usage) also for an axis that such arrays do not have, and on a device that runs
  /// kernels for other reductions than sums and means, and for none or 2^31 and more elements of a result; Error (device) if it lacks float64.
  Plan(const Device& device, AlongAxes operation, const Options& options = {});

  /// Enqueues the operation on `data`, which must not change until it is complete. O(n).
  /// @throws Error (usage) if `data` is of another type, lies on another device, is not of the plan's layout, or has too many elements.
  void enqueue(const Array& data);
  /// The same, and writes the operation's record to byte `offset` of `to`, a multiple of 8: a SumRecord, a ProductRecord, an ExtremaRecord or a
  /// StatisticsRecord; along axes the results, as an array in C order; of an operator 8 bytes for each number; for a histogram of n bins
  /// n + 3 counts as uint64: of the samples below all bins, in each bin, above all bins, and of the NaNs.
  void enqueue(const Array& data, const Buffer& to, std::uint64_t offset = 0);
  /// For ops::Dot: two arrays of the same shape; faster if they are contiguous and equally aligned. For PairsProblem: A and B, both
  /// contiguous, B of at least one vector. Without a place for C, A has `size` elements at most.
  /// @throws Error (usage) also if A or B is no whole number of vectors, or B has another number of them than there are weights.
  void enqueue(const Array& a, const Array& b);
  /// The same with the result written to byte `offset` of `to`, a multiple of 8. For ops::Dot a SumRecord. For PairsProblem C: for each vector of
  /// A an element of its type, or for argmin and argmax an int64; C overlaps neither A nor B.
  void enqueue(const Array& a, const Array& b, const Buffer& to, std::uint64_t offset = 0);
  /// For FormulaFields and ByOperator, an array for each input. Their shapes are equal or broadcast as those of map(), and each is a single
  /// run with one stride: `enqueue(std::vector{x, y}, to)`. Other operations take their one or two arrays in this way too.
  /// @throws Error (usage) as above, and for another number of arrays.
  void enqueue(std::span<const Array> arrays);
  void enqueue(std::span<const Array> arrays, const Buffer& to, std::uint64_t offset = 0);

  /// The result of the latest enqueue(), for which it waits; for ops::Extrema, ops::Product, PairsProblem, AlongAxes and ByOperator, of
  /// the latest one without a place for it. @throws Error (usage) if there was none; Error (no_answer) for a product of integers that
  /// needs more than 64 bits, and along axes if one of the results does not exist (on the CPU enqueue() throws it).
  Result result() const;
  /// The same, with the type of the result: `plan.result<Accumulator>()`. @throws Error (usage) also for another type than the operation's.
  template <class Expected>
  Expected result() const {
    Result found = result();
    if (auto* const expected = std::get_if<Expected>(&found)) return std::move(*expected);
    refuse_type_of(found);
  }

  /// "groups=264 group_size=1024 columns=32"
  std::string configuration() const;

  struct SAMESUM_HIDDEN State;

 private:
  [[noreturn]] static void refuse_type_of(const Result& result);

  std::shared_ptr<State> state_;
};

}  // namespace samesum
