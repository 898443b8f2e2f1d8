// Selection: the elements of given ranks, found by passes over the data that count digits of keys.
//
// The first pass counts the upper 16 bits of all keys, which tells the bucket of each rank; the next one counts the following 16 bits, but
// only of those buckets' elements; and so on, until a bucket is one key, or so small that its elements are gathered and sorted. Counts are
// exact, so the result is exact. Reference: D. Knuth, The Art of Computer Programming, volume 3, 5.2.5 (radix sorting from the most
// significant digit), refining only the buckets with a rank.
#pragma once

#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include "core/view.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "reduce/term.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace samesum::selection {

/// Contiguous elements, or the values of a formula.
struct Piece {
  View view;
  statistics::HostTerms* terms = nullptr;  ///< instead of the view

  Piece(View elements) : view(elements) {}  // NOLINT(google-explicit-constructor)
  explicit Piece(statistics::HostTerms& values) : view(nullptr, 0, values.type()), terms(&values) {}
  DType type() const { return view.type(); }
  std::uint64_t size() const { return terms != nullptr ? terms->size() : view.size(); }
  std::uint64_t bytes() const { return terms != nullptr ? terms->bytes() : view.bytes(); }
};

/// Passes over all data, calling its argument with pieces: the same elements in each pass.
using Pass = std::function<void(const std::function<void(const Piece&)>&)>;

/// The ranks to find among `count` elements that are not NaN, counted from 0, ascending and distinct.
using Ranks = std::function<std::vector<std::uint64_t>(std::uint64_t count, std::uint64_t nans)>;

struct Selected {
  std::uint64_t count = 0;  ///< NaNs included
  std::uint64_t nan_count = 0;
  std::vector<Value> values;  ///< one for each rank, in their order
};

/// The maximum of elements gathered at a time, to be sorted.
inline constexpr std::uint64_t kMaxGathered = std::uint64_t{1} << 20;

/// `type` is that of all elements; no value where there may be several.
/// @throws Error (usage) where two passes give different elements.
Selected select(const Pass& pass, std::optional<DType> type, std::uint32_t threads, const Ranks& ranks);

/// The elements of a pass on a device that are done with.
using Done = std::function<void(std::uint64_t elements)>;
/// Elements in a device's memory of which no more are copied and sorted on the host: launches would take longer.
inline constexpr std::uint64_t kMaxCopied = std::uint64_t{1} << 12;
/// The same where kernels count the digits: of a formula's values, of an array on a device that runs kernels; of more than kMaxCopied.
Selected select(statistics::Terms& terms, const Ranks& ranks, const Done& done, std::string& configuration);
Selected select(const Array& data, const Ranks& ranks, const Done& done, std::string& configuration);

/// Bits of a digit that is counted on a device: counters fit the local memory of several groups on a unit.
inline constexpr int kDeviceDigitBits = 11;
/// The source of their kernel, entry `select_keys`.
device::Source select_source(DType type, std::uint32_t group_size, std::uint32_t loads, bool strided, const statistics::TermCode* term);

/// @throws Error (usage): two passes differ.
[[noreturn]] void changed();

}  // namespace samesum::selection
