// Inspecting kernels: the sources that samesum builds for a device, the compiler's log, and the binary.
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

struct InspectOptions {
  DType type = DType::float32;    ///< of the elements, if the variant has several
  std::uint64_t size = 0;         ///< elements of the array that the kernel is for; 0: 2^28, of pairs 2^16
  std::uint32_t group_size = 0;   ///< work-items of a group; 0: the variant's own
  std::uint64_t components = 1;   ///< of pairs
  std::string f = "product";      ///< of pairs
  std::string reduction = "sum";  ///< of pairs
  std::uint32_t bins = 256;       ///< of a histogram's kernel of the caller's own
  bool binaries = true;           ///< `binary` and `ptx` are wanted, for which PoCL compiles everything twice
  std::string kernel_name;        ///< a kernel of the caller's own, as the ladders of the pattern have it: its name,
  std::string kernel_source;      ///< and its source; the variant is not used
};

/// A program as passed to the compiler, and the compiler's output.
struct KernelListing {
  std::string source;  ///< prelude, defines and all files
  std::string log;     ///< the compiler's; on NVIDIA's devices with registers, local memory and spills
  std::string binary;  ///< as the driver gives it
  std::string format;  ///< of `binary`: "cubin", "PTX", or "the driver's own"
  std::string ptx;     ///< of devices of CUDA and of NVIDIA's OpenCL: the intermediate code that the machine code is made from
  std::string launch;  ///< how the variant is launched: the shape of its groups, …, and the local memory that the launch gives each group
};

/// The pattern that a kernel of a user's own is for, by the name of its function: "sum" (`sum`), …, "barrier" (`synchronize`).
/// @throws Error (usage) if no such function is defined in it.
std::string kernel_pattern_of(std::string_view source);

/// The patterns that have kernels: "sum", "histogram", "reduce", "barrier", "pairs", as `samesum bench` has them.
std::vector<std::string> kernel_patterns();
/// The variants of a pattern, by the names of the ladder.
/// @throws Error (usage) for another name, listing those that are known.
std::vector<std::string> kernel_variants(std::string_view pattern);

/// Compiles again the programs that `variant` uses for that much data on `device`: neither samesum's cache nor a program built before is
/// used. (The driver's own cache may leave the log empty; NVIDIA's is disabled by CUDA_CACHE_DISABLE=1, set before the first device is
/// opened.)
/// @throws Error (usage) for unknown names, or a device that runs no kernels or not this one; Error (device) if compilation fails.
std::vector<KernelListing> inspect_kernels(const Device& device, std::string_view pattern, std::string_view variant,
                                           const InspectOptions& options = {});

}  // namespace samesum
