// Reductions of an array to one value, each by its name. To ask for several at once in one pass: samesum/statistics.hpp.
#pragma once

#include <samesum/export.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <utility>

namespace samesum SAMESUM_EXPORT {

/// The policy on NaNs, and how it is to be done: but for the policy, none of it changes a bit of the answer.
struct ReduceOptions {
  NanPolicy nan = NanPolicy::propagate;
  std::uint32_t group_size = 0;  ///< as in ExecutionOptions
  std::uint32_t groups = 0;
  std::uint32_t threads = 0;
};

/// The least and the greatest element, with the lowest index of each: `min(x, device).index` is argmin. -0.0 is less than +0.0; with NaNs
/// that are not skipped, NaN and the index of the first. @throws Error (no_answer) where there is no element.
Extreme min(View data, const Device& device, const ReduceOptions& options = {});
Extreme max(View data, const Device& device, const ReduceOptions& options = {});
std::pair<Extreme, Extreme> minmax(View data, const Device& device, const ReduceOptions& options = {});
/// Of an array on a device, on that device; the same for what follows: collect() it (samesum/statistics.hpp).
Extreme min(const BufferView& data, const ReduceOptions& options = {});
Extreme max(const BufferView& data, const ReduceOptions& options = {});
std::pair<Extreme, Extreme> minmax(const BufferView& data, const ReduceOptions& options = {});

/// How many elements are not zero; NaNs, unless skipped, count as such. Whether any is, whether all are: of nothing, false and true.
std::uint64_t count_nonzero(View data, const Device& device, const ReduceOptions& options = {});
bool any(View data, const Device& device, const ReduceOptions& options = {});
bool all(View data, const Device& device, const ReduceOptions& options = {});

/// Correctly rounded: the exact value, rounded once to the nearest double. See Statistics.
double mean(View data, const Device& device, const ReduceOptions& options = {});
double variance(View data, const Device& device, std::uint64_t ddof = 0, const ReduceOptions& options = {});
double standard_deviation(View data, const Device& device, std::uint64_t ddof = 0, const ReduceOptions& options = {});
double squared_norm(View data, const Device& device, const ReduceOptions& options = {});
double norm(View data, const Device& device, const ReduceOptions& options = {});

/// The exact sum of a[i]·b[i]: round() it for the dot product, correctly rounded; of integers, to_int64() or to_uint64().
/// @throws Error (usage) unless both have the same length and type.
ProductAccumulator dot(View a, View b, const Device& device, const ExecutionOptions& options = {}, SumReport* report = nullptr);
/// The same of two arrays on one device, on that device. @throws Error (usage) where they lie on two.
ProductAccumulator dot(const BufferView& a, const BufferView& b, const ExecutionOptions& options = {}, SumReport* report = nullptr);
/// The same of all that comes from two sources. @throws Error (usage) where one ends before the other.
ProductAccumulator dot(Source& a, Source& b, const Device& device, const ExecutionOptions& options = {}, SumReport* report = nullptr);

/// The product of the elements.
///
/// Floats: by the balanced binary tree over the index (leaf i at position i, a missing right child passes the left through), each node
/// rounded to the nearest float (float16, bfloat16, float32) or double (float64): the same bits on every device. A skipped NaN counts as
/// 1, at its place. Of nothing: 1.
/// Integers: the exact product, as int64 or uint64. @throws Error (no_answer) where it does not fit.
Value product(View data, const Device& device, const ReduceOptions& options = {}, SumReport* report = nullptr);
/// The same of all that comes from `source`, by one tree over all of it.
Value product(Source& source, const Device& device, const ReduceOptions& options = {}, SumReport* report = nullptr);

// The same on the device that choose_device("auto", …) names for so many bytes.

inline Extreme min(View data, const ReduceOptions& options = {}) {
  return min(data, choose_device("auto", data.bytes()), options);
}
inline Extreme max(View data, const ReduceOptions& options = {}) {
  return max(data, choose_device("auto", data.bytes()), options);
}
inline std::pair<Extreme, Extreme> minmax(View data, const ReduceOptions& options = {}) {
  return minmax(data, choose_device("auto", data.bytes()), options);
}
inline std::uint64_t count_nonzero(View data, const ReduceOptions& options = {}) {
  return count_nonzero(data, choose_device("auto", data.bytes()), options);
}
inline bool any(View data, const ReduceOptions& options = {}) {
  return any(data, choose_device("auto", data.bytes()), options);
}
inline bool all(View data, const ReduceOptions& options = {}) {
  return all(data, choose_device("auto", data.bytes()), options);
}
inline double mean(View data, const ReduceOptions& options = {}) {
  return mean(data, choose_device("auto", data.bytes()), options);
}
inline double variance(View data, std::uint64_t ddof = 0, const ReduceOptions& options = {}) {
  return variance(data, choose_device("auto", data.bytes()), ddof, options);
}
inline double standard_deviation(View data, std::uint64_t ddof = 0, const ReduceOptions& options = {}) {
  return standard_deviation(data, choose_device("auto", data.bytes()), ddof, options);
}
inline double squared_norm(View data, const ReduceOptions& options = {}) {
  return squared_norm(data, choose_device("auto", data.bytes()), options);
}
inline double norm(View data, const ReduceOptions& options = {}) {
  return norm(data, choose_device("auto", data.bytes()), options);
}
inline ProductAccumulator dot(View a, View b, const ExecutionOptions& options = {}, SumReport* report = nullptr) {
  return dot(a, b, choose_device("auto", a.bytes() + b.bytes()), options, report);
}
inline ProductAccumulator dot(Source& a, Source& b, const ExecutionOptions& options = {}, SumReport* report = nullptr) {
  return dot(a, b, choose_device("auto", a.resident_bytes() + b.resident_bytes()), options, report);
}
inline Value product(View data, const ReduceOptions& options = {}, SumReport* report = nullptr) {
  return product(data, choose_device("auto", data.bytes()), options, report);
}
inline Value product(Source& source, const ReduceOptions& options = {}, SumReport* report = nullptr) {
  return product(source, choose_device("auto", source.resident_bytes()), options, report);
}

}  // namespace samesum
