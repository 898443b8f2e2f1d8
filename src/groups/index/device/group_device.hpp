// A table of exact sums in a device's memory (by_index.cl).
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "groups/index/group_table.hpp"

#include <samesum/array.hpp>
#include <samesum/device.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/types.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::groups {

/// What the kernels of by_index.cl and by_runs.cl are compiled for.
struct IndexSums {
  DType type = DType::float32, index = DType::int32;
  bool segments = false;  ///< offsets of 64 bits in place of indices
  bool runs = false;      ///< most elements have the group of the one before: of segments, and of sorted indices
  bool fields = false;    ///< local memory has sums of all groups (fields.h): not of 64-bit elements, nor of runs
  bool counts = true, squares = false, extrema = false;
  std::uint32_t group_size = 512, items = 8;
};
/// How kernels find the index of an element: as a function of a sample (INDEX_OF of by_index.cl, in one of the files), of the type
/// `Sample`.
struct Indexing {
  std::vector<std::string_view> files;
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<device::Argument> arguments;
};
/// The kernel "sums_by_runs" for runs, else "sums_by_index". Without `indexing` indices are given; with it there are no runs.
device::Source index_sums_source(const IndexSums& what, const Indexing* indexing = nullptr);
/// Kernels "greatest_bit", "index_changes", "first_outside", "offsets_seen", for the same types.
device::Source samples_source(IndexSums what);
/// Kernels "clear_words", "carry_digits", "round_sums".
device::Source digits_source(const IndexSums& what);

/// Sums of elements, and their squares, counts and extremes where these are wanted, in integers: so they do not depend on the order of
/// additions. Functions take the device's mutex.
class DeviceTable {
 public:
  /// None where the device cannot add into so many groups: without kernels or 64-bit atomics, or with too little memory.
  static std::unique_ptr<DeviceTable> make(const samesum::Device& device, std::uint64_t groups, DType type, const GroupOptions& options);
  ~DeviceTable();
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  /// Whether elements of this type on this device can be added.
  bool takes(const samesum::Device& device, DType type) const;

  /// Elements whose index is not below the number of groups; the first of them, and its index.
  struct Outside {
    std::uint64_t count = 0, first = 0, index = 0;
  };
  /// Adds elements; both arrays lie on the device, and are equally long. Unless those outside are ignored, nothing is added where there
  /// are any.
  Outside add(const Array& values, const Array& indices, bool ignore_outside);
  /// The same of runs, whose indices are below the number of groups, or samples of this type, with which `indexing` does the same.
  void add(const device::Run& values, DType type, const device::Run& indices, DType index_type, const Indexing* indexing);
  /// Adds the elements from each offset to the next to a group. Offsets are right.
  void add_segments(const Array& values, std::span<const std::uint64_t> offsets);
  /// The same of offsets in the device's memory, as many as groups and one; they are looked at there. False where nothing was added: they
  /// are not adjacent numbers of 64 bits, or not right.
  bool add_segments_there(const Array& values, const Array& offsets);

  /// The rounded sums, float64 or 64-bit integers: to host memory, or to neighbouring elements on a device. False where that is another
  /// device, and where a sum does not fit.
  bool round(NanPolicy nan, bool is_signed, void* to, const Array* there);

  /// Adds all to a table in host memory.
  void merge_into(Table& to, std::uint32_t threads);

 private:
  // Digits of a sum, or of a sum of squares.
  struct Digits {
    std::uint32_t rows = 0, phase = 0, pair = 0;
    std::uint32_t lowest = ~0u, highest = 0;  // that are used
    std::uint32_t last() const noexcept { return highest + 1 < rows ? highest + 1 : rows - 1; }
    std::uint32_t place_pair(std::uint64_t greatest, bool fresh, bool fields, std::uint32_t held = 2);  // digits that kernels hold
  };
  struct Geometry {
    std::uint32_t group_size = 1, groups = 1, slots = 1, copies = 0, known = 0, local_bytes = 0;
    std::uint64_t chunk = 1;
  };
  class Parts;
  // Neighbouring planes.
  struct Rows {
    std::uint64_t first, count;
  };
  // What is kept for the next table, which clears only what this one has used, where it has the same planes.
  struct Room {
    device::Memory planes, others, words;
    std::uint64_t groups, rows;
    std::vector<Rows> used;
  };

  DeviceTable(const samesum::Device& device, std::uint64_t groups, DType type, const GroupOptions& options);

  void allocate();
  std::vector<Rows> rows_used() const;
  std::uint32_t extrema_row() const noexcept;
  void merge_extremes(Table& to, std::uint64_t group, std::uint64_t least, std::uint64_t greatest) const;
  IndexSums kernels_for(DType type, DType index, bool segments) const;
  device::Source samples_for(DType type, DType index) const;
  // Groups whose extremes are in local memory, all or none; and how many sums find room there beside these.
  std::uint64_t known_groups() const;
  std::uint64_t most_slots() const;
  Geometry geometry(std::uint64_t count, bool runs) const;
  // What the host reads of `words` before a launch, from GREATEST on.
  using Seen = std::array<std::uint32_t, 8>;
  Seen look(const device::Run& values, DType type, const device::Run* indices, DType index_type, bool segments = false, bool read = false);
  void add_segments(Parts& elements, DType type, const device::Run& offsets, std::uint64_t begin, std::uint64_t end,
                    const device::Lock& lock);
  std::uint64_t room() const noexcept;
  // Adds up to room() elements.
  void launch(const IndexSums& what, const device::Source& source, const device::Run& values, const device::Run& indices,
              std::uint64_t first, const Indexing* indexing);
  void clear_seen();
  Outside collect();
  void walk(const device::Kernel& kernel, std::uint64_t count, std::span<const device::Argument> arguments);
  void clear();
  void propagate();

  samesum::Device handle_;
  device::Device& device_;
  std::uint64_t groups_;
  bool squares_, counts_, extrema_;
  DType kind_;  // of the numbers: float32, float64, int32, int64
  bool signed_;
  Digits sums_, products_;
  std::uint64_t rows_;
  std::uint64_t other_words_;
  device::Memory planes_, others_, words_;
  std::vector<Rows> used_;  // planes to be cleared
  device::Source digits_source_;
  bool fresh_ = true, cleared_ = false, launched_ = false;
  bool runs_ = false;          // whether most indices are equal to the next one
  bool seen_before_ = false;   // whether the words that look() reads may not be zero
  bool specials_ = false;      // whether any element was a NaN, an infinity or -0.0
  bool looked_ = false;        // at the elements of the next launch
  std::uint64_t pending_ = 0;  // elements since carries were propagated
};

}  // namespace samesum::groups
