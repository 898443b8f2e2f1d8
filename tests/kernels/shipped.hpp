// The kernels for sub-groups of 32 as they ship: every set of defines that the patterns' tables of shapes make of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {

/// A kernel for the emulation on the host (support/emulation.hpp): what ships, by groups as small as the kernel allows, or as large as they
/// ship.
struct ShippedKernel {
  std::string family;    ///< the file in tests/kernels/ that makes a row of it: "window"
  std::string name;      ///< "sums_float32_loads4_stream"
  std::string type;      ///< "float32"
  std::string about;     ///< kernels that are alike but for their shapes
  std::string settings;  ///< what tells it from others of its family
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> defines;
  bool thorough = false;  ///< the long cases run on it too

  const std::string& define(const std::string& what) const;  ///< "" where it is not defined
};

/// Those for arrays of so many bytes, each once; of families with too many settings, where only pairs are wanted, so many that any two
/// settings that ship in one kernel are together in one of these. Deterministic.
std::vector<ShippedKernel> shipped_kernels(std::span<const std::uint64_t> sizes, bool only_pairs);

/// The pairs of a kernel's settings.
std::vector<std::string> pairs_of(const ShippedKernel& kernel);

/// Those that are compiled for the host: of all sizes.
/// @throws std::logic_error where a kernel for the long cases ships no more.
std::vector<ShippedKernel> kernels_of_rows();

}  // namespace samesum::test
