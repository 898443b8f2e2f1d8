// Exact sums of small arrays on a device that runs kernels, in one short launch (small_sum.cl, sum_integers.cl): of elements, or of
// products.
#pragma once

#include "device/device.hpp"
#include "device/memory/run.hpp"
#include "reduce/device/launcher.hpp"
#include "reduce/term.hpp"
#include "tuning/record.hpp"

#include <samesum/types.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::reduction {

/// What is summed.
enum class Terms { elements, squares, products };

/// The words that the kernel stores: digits, of which digit i weighs 2^(base + 32 i - 1074), and four counters: NaNs, infinities of either
/// sign, whether any term was not -0.0 or NaN. Or a fixed-point number (fixed_sum.h), if the word after these is not zero.
struct SmallSumEntries {
  int base;
  std::uint32_t digits;
  int lower_bits = 0;  ///< of fixed-point numbers' words, but the last; 0: there are none
  int first_bits = 0;  ///< of the first one
  std::uint32_t fixed_words = 2;

  constexpr std::uint32_t words() const noexcept { return digits + 5; }
  /// Makes digits and counters of a fixed-point number.
  void unfold(std::span<std::int64_t> words) const;
};
SmallSumEntries small_sum_entries(DType type, Terms terms);

/// `code`: elements are its values.
device::Source small_sum_source(DType type, Terms terms, const tuning::Shape& shape, bool strided,
                                const statistics::TermCode* code = nullptr);

/// Prepared once, launched as often as one likes. One launch at a time.
class DeviceSmallSum {
 public:
  /// No value if this kernel is not for this many elements, or the device lacks a capability.
  /// @throws Error (device) if the kernel cannot be built.
  static std::optional<DeviceSmallSum> prepare(device::Device& device, DType type, Terms terms, std::uint64_t elements) {
    return prepare(device, type, terms, elements, std::nullopt);
  }
  /// The same for the values of a formula with this code.
  static std::optional<DeviceSmallSum> prepare(device::Device& device, const statistics::TermCode& code, std::uint64_t elements) {
    return prepare(device, code.type, Terms::elements, elements, code);
  }

  /// Enqueues the sum of `a`, or of its products with `b`, which is `a` where there is one array: words go to `result`, the SumRecord to
  /// `to`. False, and nothing is done, where there are too many elements. Allocates nothing, waits for nothing; the
  /// kernel for arrays that are not contiguous from a multiple of 16 bytes on is built for the first, unless prepare_strided() has.
  bool launch(const device::Run& a, const device::Run& b, bool skip_nans, const device::Memory& result, const device::Place& to);
  /// The same of a formula's values. False also where there are some before the first load.
  bool launch(const statistics::Term& term, bool skip_nans, const device::Memory& result, const device::Place& to);

  void prepare_strided() { launcher_.prepare(true); }

  /// The kernel's.
  std::string_view entry() const;

  /// "groups=1024 group_size=256 loads=2"
  std::string text() const;

 private:
  DeviceSmallSum(device::Device& device, DType type, Terms terms, const tuning::Shape& shape)
      : device_(&device), type_(type), terms_(terms), shape_(shape) {}

  static std::optional<DeviceSmallSum> prepare(device::Device& device, DType type, Terms terms, std::uint64_t elements,
                                               const std::optional<statistics::TermCode>& code);
  static std::optional<DeviceSmallSum> make(device::Device& device, DType type, Terms terms, const tuning::Shape& shape,
                                            const std::optional<statistics::TermCode>& code);
  void launch(std::vector<device::Argument> arguments, bool strided, std::uint64_t count, bool skip_nans, const device::Memory& result,
              const device::Place& to);

  device::Device* device_;
  DType type_;
  Terms terms_;
  tuning::Shape shape_;
  std::uint32_t groups_ = 0;  // at most
  std::uint64_t tile_elements_ = 0, most_elements_ = 0;
  Launcher launcher_{};
  device::Memory slots_{};
};

}  // namespace samesum::reduction
