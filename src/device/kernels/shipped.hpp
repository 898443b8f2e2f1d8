// Kernels that were compiled before samesum was packed: one file, read and never written (docs/security.md). tools/kernels makes it.
//
// The file: $SAMESUM_KERNELS ("0": none), else "cuda-kernels" in the folder of the library or program that this is part of, or in
// ../share/samesum or ../../share/samesum from there. Without one, and where it lacks an entry, kernels are compiled when they are needed.
#pragma once

#include "device/device.hpp"

#include <optional>
#include <string>
#include <vector>

namespace samesum::device {

/// An architecture for which there are entries.
struct ShippedTarget {
  std::string arch;  ///< "sm_90": machine code; "compute_75": PTX
  int version = 0;   ///< of the CUDA release whose compiler made them: 12090

  friend bool operator==(const ShippedTarget&, const ShippedTarget&) = default;
};

/// In the order in which they were written; none where there is no such file, or a damaged one.
std::vector<ShippedTarget> shipped_targets();

/// What `source` was compiled to for `arch`, if there is an undamaged entry.
std::optional<Binary> find_shipped(const std::string& source, const std::string& arch);

/// An entry to be written.
struct ShippedEntry {
  std::string source;
  std::string arch;
  std::string bytes;
};
/// @throws Error (usage) where `path` cannot be written.
void write_shipped(const std::string& path, const std::vector<ShippedTarget>& targets, const std::vector<ShippedEntry>& entries);

}  // namespace samesum::device
