// Shapes of kernels as data: what a record holds, and the text of a file of records (docs/tuning.md).
#pragma once

#include <samesum/tune.hpp>
#include <samesum/types.hpp>

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::tuning {

/// A family of kernels that share a table.
enum class Operation {
  small_sum,  ///< reduce/small: one short launch
  small_squares,
  small_dot,
  extrema,      ///< reduce/extremes/extremes*.cl
  sum,          ///< reduce/device/statistics.cl with exponent windows
  dot,          ///< the same for products of two arrays
  sum_in_bins,  ///< without exponent windows
  dot_in_bins,
  count,  ///< no sums
};
std::string_view name_of(Operation operation);

/// A configuration of a kernel. Affects speed, never a bit. A field that a family does not have keeps its default.
struct Shape {
  std::uint32_t group_size = 0;  ///< work-items; 0: this kernel is not for such arrays (families small_*)
  std::uint32_t loads = 1;       ///< of 16 bytes, in flight for each work-item
  std::uint32_t resident = 1;    ///< groups for each compute unit that the compiler reserves registers for
  std::uint32_t groups = 0;      ///< at most; 0: as many as are resident
  std::uint32_t columns = 32;    ///< copies of the bins
  std::uint32_t steps = 1;       ///< tiles between two draws, where there are enough
  bool per_unit = false;         ///< `groups` is for each compute unit
  bool stream = false;           ///< groups take more than one tile
  bool drawn = false;            ///< groups draw tiles from a counter
  bool polled = false;           ///< the last group waits for the others
  bool single_tiles = false;     ///< a group for each tile

  friend bool operator==(const Shape&, const Shape&) = default;
  /// "group_size=256 loads=4": all that differs from the default.
  std::string text() const;
};

/// Why `shape` cannot be one of the family's; empty where it can.
std::string why_invalid(Operation operation, const Shape& shape);

struct Record {
  Operation operation = Operation::sum;
  std::bitset<kDTypes.size()> types;
  std::uint64_t above_bytes = 0;                ///< for arrays of more bytes, or any where it is 0,
  std::uint64_t max_bytes = ~std::uint64_t{0};  ///< and of no more than this
  bool without_indices = false;                 ///< only where no indices are wanted
  Shape shape;
  std::optional<TuneTiming> timing;  ///< of a record that was measured on this machine

  bool fits(Operation wanted, DType type, std::uint64_t bytes, bool indices) const;
  friend bool operator==(const Record&, const Record&) = default;
};

/// "float32 float64"; "all".
std::string text_of_types(const std::bitset<kDTypes.size()>& types);

/// The records of a device, or of a kind of devices.
struct Table {
  std::string kind;                ///< "nvidia-hopper"; "own" for what was measured by the user
  std::string device, platform;    ///< the exact device; empty: a kind
  std::string driver;              ///< with which it was measured
  std::vector<std::string> names;  ///< a device's name contains one of them: of this kind
  std::string vendor;              ///< or its name or platform contains this: of the same vendor
  bool is_cpu = false;
  std::vector<Record> records;
};

/// Whether both are of one device, or both of one kind of devices.
bool is_of_same(const Table& a, const Table& b);

/// How well the table fits a device.
TuneMatch match_of(const Table& table, const DeviceInfo& info);

/// The tables of a file.
/// @throws Error (usage) with the place and the reason for anything that is not exactly such a file.
std::vector<Table> parse_tables(std::string_view text);
std::string text_of(std::span<const Table> tables);

}  // namespace samesum::tuning
