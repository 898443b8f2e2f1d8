// The kernels that are compiled for the host: generated translation units (tests/kernels/write_rows.cpp) add a row for each.
#pragma once

#include <samesum/plan.hpp>
#include <samesum/statistics.hpp>
#include <samesum/types.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::test {

/// The parts common to all rows.
struct KernelRow {
  std::string_view name;
  DType type;
  int group_size;
  bool thorough;  ///< the long cases run on it too
};
inline std::ostream& operator<<(std::ostream& out, const KernelRow& row) { return out << row.name; }

/// small_sum.cl and sum_integers.cl.
struct SmallSumKernel : KernelRow {
  enum Terms { elements, squares, products } terms;
  int digits, row_base, entries, slot_words;
  std::uint64_t tile, most_groups;  ///< in elements; the maximum of a launch
  void (*sum)(const unsigned char* a, unsigned long a_offset, long a_stride, const unsigned char* b, unsigned long b_offset, long b_stride,
              unsigned long count, unsigned long* slots, long* result, unsigned char* record, unsigned long record_offset, int skip_nans);
  bool fixed_point;  ///< tries sums as fixed-point numbers first
  bool strided;      ///< arrays of any layout; else contiguous and aligned to 16 bytes
};

/// extremes.cl, and extremes_small.cl.
struct ExtremesKernel : KernelRow {
  ops::Extrema ends;
  std::uint64_t elements_per_load, tile;  ///< a tile in loads of 16 bytes
  std::uint64_t record_words;
  bool strided;  ///< else elements follow one another
  void (*search)(const unsigned char* data, unsigned long offset, long stride, long row_stride, unsigned long row_length, unsigned head,
                 unsigned long row_loads, unsigned long loads, unsigned count, unsigned long* records, unsigned* schedule,
                 unsigned char* results, unsigned long result_offset, unsigned long base);
  void (*small)(const unsigned char* data, unsigned long offset, unsigned head, unsigned count, unsigned long* slots,
                unsigned char* results, unsigned long result_offset);
};

/// product.cl: for floats, the product of each whole tile; for integers, flags and a magnitude for each group.
struct ProductKernel : KernelRow {
  std::uint64_t elements_per_load, tile;  ///< a tile in loads of 16 bytes
  bool skip;                              ///< a NaN counts as 1
  void (*multiply)(const unsigned char* data, unsigned long count, unsigned char* results);
};

/// statistics.cl: of floats, and of integers where it is a sum alone.
struct StatisticsKernel : KernelRow {
  bool sum, products, dot;  ///< what it adds up; products are squares unless `dot`
  bool extremes, nonzeros;  ///< what else it finds
  bool rounds;              ///< a sum alone is rounded
  bool strided;             ///< rows and strides; else elements follow one another
  std::uint64_t elements_per_load;
  void (*collect)(const unsigned char* a, unsigned long a_offset, long a_stride, long a_row_stride, const unsigned char* b,
                  unsigned long b_offset, long b_stride, long b_row_stride, unsigned long row_length, unsigned head,
                  unsigned long row_loads, unsigned long loads, unsigned long count, unsigned long* records, unsigned long* merged,
                  unsigned* schedule, unsigned long* result, unsigned char* record, unsigned long record_offset, int skip_nans);
};

/// record.cl.
struct RecordKernel : KernelRow {
  Fields fields;
  void (*write)(const unsigned long* words, unsigned char* records, unsigned long record_offset, unsigned long count, int skip_nans);
};

/// All rows of a family, added by their translation units before main().
template <class Kernel>
std::vector<Kernel>& all_rows() {
  static std::vector<Kernel> rows;
  return rows;
}
template <class Kernel>
bool add_row(const Kernel& row) {
  all_rows<Kernel>().push_back(row);
  return true;
}

/// The rows of a family that satisfy `wanted`, by name.
template <class Kernel, class Wanted>
std::vector<Kernel> rows_where(const Wanted& wanted) {
  std::vector<Kernel> rows;
  std::ranges::copy_if(all_rows<Kernel>(), std::back_inserter(rows), wanted);
  std::ranges::sort(rows, {}, [](const Kernel& row) { return row.name; });
  return rows;
}

/// For INSTANTIATE_TEST_SUITE_P.
struct RowName {
  template <class Parameter>
  std::string operator()(const Parameter& parameter) const {
    return std::string(parameter.param.name);
  }
};

}  // namespace samesum::test
