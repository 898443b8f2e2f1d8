// The kernels for sub-groups of 32 that ship: every set of defines that the patterns' tables of shapes produce.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {

/// A kernel for the emulation on the host (support/emulation.hpp): one that ships, with groups as small as the kernel allows, or in their
/// original size.
struct ShippedKernel {
  std::string family;    ///< the file in tests/kernels/ that adds a row for it: "window"
  std::string name;      ///< "sums_float32_loads2_stream"
  std::string type;      ///< "float32"
  std::string about;     ///< equal for kernels that differ only in their shapes
  std::string settings;  ///< distinguishes it from others of its family
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> defines;
  bool thorough = false;    ///< the long cases run on it too
  bool concurrent = false;  ///< runs under ThreadSanitizer too
  bool few = false;         ///< one of the few on which `make test` runs, rather than `make test-all` alone

  const std::string& define(const std::string& what) const;  ///< "" where it is not defined
};

/// Those for arrays of the given sizes in bytes, each once. With `only_pairs`, for families with too many settings a subset that covers all
/// pairs of settings that ship in one kernel. Deterministic.
std::vector<ShippedKernel> shipped_kernels(std::span<const std::uint64_t> sizes, bool only_pairs);

/// The pairs of a kernel's settings.
std::vector<std::string> pairs_of(const ShippedKernel& kernel);

/// The kernels that are compiled for the host, for all sizes.
/// @throws std::logic_error where a kernel for the long cases no longer ships.
std::vector<ShippedKernel> kernels_of_rows();

}  // namespace samesum::test
