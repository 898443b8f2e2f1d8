// Compiling kernels before they are needed.
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/options.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// What warm() has done.
struct WarmResult {
  std::uint64_t calls = 0;            ///< made
  std::uint64_t programs = 0;         ///< that they took
  std::uint64_t compiled = 0;         ///< of these; the others were there, in the cache or shipped with samesum
  std::vector<std::string> failures;  ///< calls that this device refuses, and why
  bool complete = true;               ///< not ended by the caller's `progress`
  double seconds = 0;
};

struct WarmOptions {
  std::vector<std::string> operations = {};  ///< of warm_operations(); empty: all
  std::vector<DType> types = {};             ///< empty: all
  /// Told what comes next; may return false to end it.
  std::function<bool(const Progress&, std::string_view what)> progress = {};
};

/// "sum", "dot", "extrema", "statistics", "product", "axes", "index", "scan", "histogram", "pairs".
std::vector<std::string_view> warm_operations();

/// Makes a call of each kind on `device`, with zeros of each type of element and, on a GPU, of each order of magnitude. What is compiled
/// for them is kept in the cache of kernels, for this process and later ones. Formulas, operators and kernels of the caller's own are
/// compiled when they are met. Takes minutes if all is to be compiled; a quarter of the device's memory, at most 256 MiB.
/// @throws Error (usage) for a device that runs no kernels, and for an operation that is none; Error (device) if there is no memory.
WarmResult warm(const Device& device, const WarmOptions& options = {});

}  // namespace samesum
