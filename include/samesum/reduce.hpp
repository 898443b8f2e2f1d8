// Reductions of an array to one value, each by its name. To ask for several at once in one pass: samesum/statistics.hpp.
#pragma once

#include <samesum/export.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace samesum SAMESUM_EXPORT {

/// The least and the greatest element, each with its lowest index in C order: `min(x).index` is argmin. -0.0 is less than +0.0; if NaNs
/// are not skipped and there is one, the result is NaN and the index of the first. @throws Error (no_answer) if there are no elements.
Extremum min(const Array& data, const Options& options = {});
Extremum max(const Array& data, const Options& options = {});
std::pair<Extremum, Extremum> minmax(const Array& data, const Options& options = {});

/// The number of elements that are not zero; a NaN, unless skipped, counts as nonzero. Whether any is, whether all are: of no elements,
/// false and true.
std::uint64_t count_nonzero(const Array& data, const Options& options = {});
bool any(const Array& data, const Options& options = {});
bool all(const Array& data, const Options& options = {});

/// Correctly rounded: the exact value, rounded once to the nearest double. See Statistics.
double mean(const Array& data, const Options& options = {});
double variance(const Array& data, std::uint64_t ddof = 0, const Options& options = {});
double standard_deviation(const Array& data, std::uint64_t ddof = 0, const Options& options = {});
double squared_norm(const Array& data, const Options& options = {});
double norm(const Array& data, const Options& options = {});

/// The exact sum of a[i]·b[i]: round() it for the dot product, correctly rounded; of integers, to_int64() or to_uint64().
/// @throws Error (usage) unless both have the same shape and type, and lie both in host memory or on one device.
ProductAccumulator dot(const Array& a, const Array& b, const Options& options = {});
/// The same over all chunks of two sources. @throws Error (usage) if one ends before the other.
ProductAccumulator dot(Source& a, Source& b, const Options& options = {});

/// The product of the elements, in C order. An array on a device is worked on where it lies, but for what begins or
/// ends between two whole tiles; one whose elements have strides, or that begins at no multiple of 16 bytes, comes to the host by parts.
///
/// Floats: by the balanced binary tree over the index (leaf i at position i, a missing right child passes the left through), each node
/// rounded to the nearest float (float16, bfloat16, float32) or double (float64): the same bits on every device. A skipped NaN counts as 1
/// at its index. The empty product is 1. Integers: the exact product, as int64 or uint64. @throws Error (no_answer) if it does not fit:
/// the message has the exact value up to 2^14 bits, the number of bits up to 2^20. O(n) as long as it fits; O(n + b²) for b bits.
Value product(const Array& data, const Options& options = {});
/// The same over all chunks of `source`, by one tree. A text whose numbers are all integers has an exact product, as int64 if it fits, else
/// as uint64; any other text has a product of doubles.
Value product(Source& source, const Options& options = {});

/// A product of elements that arrive in pieces: one tree over all of them, in O(log n) memory and, of integers, up to 2^20 bits.
///
/// There is no merge(), as sums have: a product of floats is rounded at each node of one tree over all elements, so the products of parts
/// do not determine its bits, unless the parts are whole subtrees. Elements are appended in order, to one Product.
class Product {
 public:
  /// Takes elements of `type`; without `type`, elements of int64, uint64 and float64, as the chunks of a text have them: the product is
  /// exact while all are integers, and otherwise a product of doubles. Without Options::device it is computed on the CPU.
  explicit Product(const Options& options = {}, std::optional<DType> type = std::nullopt);
  Product(Product&&) noexcept;
  Product& operator=(Product&&) noexcept;
  ~Product();

  /// Appends elements behind those appended so far. O(n). @throws Error (usage) for another type; Error (device) as product().
  void append(const Array& data);
  /// The same of all chunks of a source. Values of a formula (map()) are computed where they are multiplied.
  void append(Source& source);
  /// As product().
  Value value() const;
  /// The exact product of integers in decimal, all its digits: "-1267650600228229401496703205376". O(b²) for b bits.
  /// @throws Error (usage) if not all elements were integers; Error (no_answer) if it has more than 2^20 bits (315,653 digits).
  std::string digits() const;
  /// How the work was done, so far.
  const Report& report() const noexcept;

 private:
  struct SAMESUM_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace samesum
