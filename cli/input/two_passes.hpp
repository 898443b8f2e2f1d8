// An input that is read twice where bounds come from the data.
#pragma once

#include "input/input.hpp"

#include <samesum/histogram.hpp>
#include <samesum/source.hpp>

#include <memory>
#include <optional>

namespace samesum::cli {

class TwoPasses {
 public:
  /// Opens the one input.
  explicit TwoPasses(Input input);

  Source& source() { return *source_; }
  /// Reads all of it, for the range of its numbers, and begins again: mapped files are opened again, all else is stored (spool.hpp).
  std::optional<Range> range();

 private:
  NamedSource input_;
  bool again_;
  std::unique_ptr<Source> source_;
};

}  // namespace samesum::cli
