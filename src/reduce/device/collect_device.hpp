// One pass over an array on a device that runs kernels (statistics.cl).
#pragma once

#include "device/device.hpp"
#include "reduce/collect.hpp"
#include "reduce/device/walk.hpp"
#include "reduce/extremes/extremes_device.hpp"
#include "reduce/layout.hpp"
#include "reduce/small/small_sum_device.hpp"
#include "reduce/term.hpp"

#include <samesum/statistics.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::statistics {

/// What a kernel is made for.
struct KernelShape {
  DType type = DType::float32;
  Fields fields = {};
  bool dot = false;  ///< `fields.squares` are products a·b
  std::uint32_t group_size = 0;
  std::uint32_t groups = 0;  ///< at most: small arrays take fewer
  std::uint32_t loads = 0;   ///< of 16 bytes, that a work-item has in flight
  std::uint32_t steps = 1;   ///< of a tile, each of `loads` loads
  std::uint32_t columns = 0;
  std::uint32_t resident = 1;  ///< groups to a compute unit, for which the compiler is to limit registers
  bool windows = false;        ///< sums in registers, where these are exact
  bool polled = false;         ///< the last group waits for the others
  bool own_bins = false;       ///< OWN_BINS of layout.h: more bins, and an addition less for each square
  bool cached = false;         ///< the array is small enough for a good part of it to stay in the cache (cache_policy.h)

  /// Whether what is added up, a sum alone or products, is rounded too.
  bool rounds() const { return dot || fields == kSumAlone; }
  reduction::RecordLayout layout() const { return {type, fields.sum, fields.squares, dot, own_bins}; }

  std::string text() const;
};

/// A pass over an array in device memory: prepared once, launched any number of times, one launch at a time. Extremes alone, and one sum of
/// a small array, have kernels of their own.
class DevicePass {
 public:
  /// `elements`: the size for which it is to be fast.
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernel cannot be built.
  DevicePass(device::Device& device, DType type, const CollectOptions& options, bool dot, std::uint64_t elements);
  /// The same over terms with this code instead of elements.
  DevicePass(device::Device& device, const TermCode& code, const CollectOptions& options, std::uint64_t elements);

  /// Builds and allocates all that a launch may need, for strided arrays too if `strided`: launches then do neither.
  void prepare_all(bool strided = true);

  /// Enqueues a pass over `a`, and for a dot product over as many elements of `b` (else `b` is not read). Waits for nothing. Builds and
  /// allocates for an array of another layout or size than expected, unless prepare_all() has. Contiguous rows are faster; of two arrays,
  /// if both begin at the same address modulo 16. A sum alone and a dot product are rounded too: the SumRecord goes to `record`, or to
  /// where record() finds it. At most kMaxIndexed elements; of sums alone any number.
  /// @throws Error (usage) for more than 2^32 tiles of the groups.
  void launch(const device::Run& a, const device::Run& b, NanPolicy nan = NanPolicy::propagate, const device::Place* record = nullptr);
  /// Of terms with the code for which it was made.
  void launch(const Term& term, NanPolicy nan = NanPolicy::propagate, const device::Place* record = nullptr);
  /// Waits for the last launch. Of a dot product, Contents::squares are the products.
  Statistics::Contents result();
  /// The memory where the last launch has stored the words of its record (layout.hpp); null if a kernel other than statistics.cl has run.
  const device::Memory* words() const { return extremes_ || in_window_ ? nullptr : &result_; }
  /// Of one sum: where the last launch has left its digits, and its counters behind them, from word `first` of `memory` on.
  struct Digits {
    const device::Memory& memory;
    std::uint32_t first;
    reduction::SmallSumEntries entries;
  };
  Digits digits() const;
  /// After result() of a sum alone or a dot product: the record that the device has written, if it went to no other place.
  const SumRecord& record() const { return record_; }

  /// The kernel of the last launch, or the first to be expected; "groups=528 group_size=256 columns=32".
  std::string_view entry() const { return extremes_ ? extremes_->entry() : in_window_ ? window_->entry() : kEntry; }
  std::string configuration() const { return extremes_ ? extremes_->text() : in_window_ ? window_->text() : shape_.text(); }

 private:
  static constexpr std::string_view kEntry = "statistics";

  KernelShape choose(DType type, bool dot) const;
  /// Whether nothing in the options speaks against a kernel for small sums.
  bool chooses_kernel() const { return options_.group_size == 0 && options_.groups == 0 && !options_.records; }
  void prepare_first();
  device::Memory allocate_result(std::uint64_t bytes);
  void prepare();
  void launch(std::vector<device::Argument> arguments, const Walk& walk, std::int32_t skip, const device::Place* record);
  std::vector<std::int64_t> read(const device::Memory& result);
  reduction::Terms terms() const;
  Statistics::Contents sum_of_window();
  void set_sums(Statistics::Contents& contents, std::span<const std::int64_t> sum, int sum_base, std::span<const std::int64_t> products,
                int product_base, std::span<const std::int64_t> counters) const;

  device::Device& device_;
  KernelShape shape_;
  CollectOptions options_;
  std::uint64_t elements_;
  std::optional<TermCode> term_;
  std::optional<DeviceExtremes> extremes_;
  std::optional<reduction::DeviceSmallSum> window_;
  bool in_window_ = false;  // the last launch
  reduction::Launcher launcher_;
  device::Memory slots_, merged_, schedule_, result_, window_result_;
  std::uint64_t count_ = 0;
  SumRecord record_{};
};

/// What the kernels are made from (entries statistics and statistics_combine).
device::Source pass_source(const KernelShape& shape, bool strided, const TermCode* term = nullptr);

}  // namespace samesum::statistics
