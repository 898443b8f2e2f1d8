// What a caller may want of any function: the policy on NaNs, the device, a report, progress; and how the work is shared out.
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

/// How work is shared out: it changes speed, never a bit of an answer.
struct Tuning {
  std::string variant = "auto";  ///< a name of sum_variants(); "auto" takes the best
  std::uint32_t group_size = 0;  ///< work-items of a group on a device that runs kernels; 0: chosen
  std::uint32_t groups = 0;      ///< work-groups; 0: as many as the device holds at once
  std::uint32_t threads = 0;     ///< of the CPU backend; 0: as many as pay for the size, at most all cores

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// How work was done: what --verbose prints.
struct Report {
  std::string device;  ///< selector
  /// What ran. Sums: a name of sum_variants(), or, where a device took another kernel for little data, that kernel's entry ("sum_window",
  /// "sum_integers"). Other reductions: on devices that run kernels the kernel's entry ("extremes", "extremes_little", "statistics",
  /// "sum_window", …); on the CPU "extremes", "statistics" or "dot". Products: "tree", of integers "integers". Histograms: empty.
  std::string variant;
  std::string configuration;  ///< "groups=264 group_size=1024"
  std::uint64_t bytes = 0;
  double upload_seconds = 0;  ///< host to device; 0 where nothing is moved
  double seconds = 0;         ///< the work itself

  /// Adds the bytes and the times of what was done later, in the same way.
  Report& operator+=(const Report& later);
};

/// How far long work has come: bytes of the input; of pairs, pairs.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: not known (a pipe)

  double fraction() const noexcept { return total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total); }
};

/// What every function takes. But for `nan`, nothing of it changes a bit of an answer.
struct Options {
  /// Where a result is rounded, or compared. Accumulator and Statistics keep both answers and are asked for one of them later.
  NanPolicy nan = NanPolicy::propagate;
  /// Elements in host memory go to this device. Unset: work is done where the array lies, and of host memory on the device that
  /// choose_device("auto", bytes) names.
  std::optional<Device> device = {};
  /// Where it goes; it is this call's own.
  Report* report = nullptr;
  /// Called by the calling thread between two parts of long work. What it throws ends the work, and comes out of the function that was
  /// called: so it is cancelled. It may use the device.
  std::function<void(const Progress&)> progress = {};
  Tuning tuning = {};
};

}  // namespace samesum
