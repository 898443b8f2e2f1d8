// Partial sums as files.
#pragma once

#include <samesum/accumulator.hpp>

#include <string>
#include <vector>

namespace samesum::cli {

/// A file that a partial sum is going to be written to. Made before the work is begun, so that a name that cannot be written to is found
/// at once.
class PartialTarget {
 public:
  /// An empty `path` stands for no file. @throws Error (usage) where `path` is one of `inputs`, or cannot be written.
  PartialTarget(const std::string& path, const std::vector<std::string>& inputs);

  /// Writes `sum`: the file is there whole, or as it was before.
  void save(const Accumulator& sum) const;

 private:
  std::string path_;
};

/// The partial sum in the file `path`, which may be a pipe.
Accumulator load_partial(const std::string& path);

}  // namespace samesum::cli
