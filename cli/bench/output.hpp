// Measurements as tables and as JSON.
#pragma once

#include "output/number.hpp"
#include "output/output.hpp"

#include <samesum/bench.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace samesum::cli {

/// Prints the rungs of a ladder as they are measured.
class LadderPrinter {
 public:
  /// `rungs` are the names of all rungs that may follow.
  LadderPrinter(Output& out, std::string data, const std::vector<std::string>& rungs);
  void print(const bench::Ladder& ladder);   ///< only new rows
  void finish(const bench::Ladder& ladder);  ///< the ceilings that the figures are relative to

 private:
  Output& out_;
  std::string data_;
  std::vector<std::size_t> widths_;
  std::size_t printed_ = 0;
};

class CeilingPrinter {
 public:
  explicit CeilingPrinter(Output& out) : out_(out) {}
  void print(const bench::Ceiling& ceiling);  ///< only new rows

 private:
  Output& out_;
  bool begun_ = false;
  std::size_t reads_ = 0, arithmetic_ = 0, latencies_ = 0, atomics_ = 0;
};

Json figure_json(const bench::Statistics& figure);
Json json_of(const bench::Ladder& ladder, const std::string& data);
Json json_of(const bench::Ceiling& ceiling);

}  // namespace samesum::cli
