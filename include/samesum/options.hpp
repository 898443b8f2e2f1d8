// Options common to all functions: the policy on NaNs, the device, a report, progress; and tuning.
//
//   samesum::sum(values, {.nan = samesum::NanPolicy::skip});
//   samesum::mean(values, {.device = samesum::Device::open("cuda"), .report = &report});
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace samesum SAMESUM_EXPORT {

/// How work is divided: it affects the speed, never the bits of an answer.
struct Tuning {
  std::string variant = "auto";  ///< a name of sum_variants(); "auto": the best
  std::uint32_t group_size = 0;  ///< work-items of a group on a device that runs kernels; 0: chosen
  std::uint32_t groups = 0;      ///< work-groups; 0: as many as the device holds at once
  std::uint32_t threads = 0;     ///< of the CPU backend; 0: chosen by the size, at most all cores

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// How work was done: what --verbose prints.
struct Report {
  std::string device;  ///< selector
  /// What ran. Sums: a name of sum_variants(), or, if a device ran a kernel for small data, that kernel's entry ("small_sum",
  /// "sum_integers"). Other reductions: on devices that run kernels the kernel's entry ("extremes", "extremes_small", "statistics",
  /// "small_sum", …); on the CPU "extremes", "statistics" or "dot". Products: "tree", of integers "integers". Histograms: empty.
  std::string variant;
  std::string configuration;  ///< "groups=264 group_size=1024"
  std::uint64_t bytes = 0;
  double upload_seconds = 0;  ///< host to device; 0 if nothing is copied
  double seconds = 0;         ///< the work itself

  /// Adds the bytes and the times of later work of the same kind.
  Report& operator+=(const Report& later);
};

/// The progress of long work: bytes of the input; of pairs, pairs.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: unknown (a pipe)

  double fraction() const noexcept { return total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total); }
};

/// The options of every function. Only `nan` affects the value of an answer.
struct Options {
  /// Used where a result is rounded or compared. Accumulator and Statistics keep what both policies need; their functions take the policy.
  NanPolicy nan = NanPolicy::propagate;
  /// The device to which elements in host memory are copied. Unset: work is done where the array lies, for host memory on the device that
  /// choose_device("auto", bytes) names.
  std::optional<Device> device = {};
  /// Receives the report; must not be shared between concurrent calls.
  Report* report = nullptr;
  /// Called on the calling thread between two parts of long work; it may use the device. To cancel the work, throw: the exception
  /// propagates out of the function that was called.
  std::function<void(const Progress&)> progress = {};
  Tuning tuning = {};
};

}  // namespace samesum
