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

/// `text` and, on a terminal, a bar of this fraction of its greatest length. A pipe gets no bars.
std::string with_bar(const Output& out, const std::string& text, double fraction);
/// A fraction as a percentage, with its bar.
std::string fraction_text(const Output& out, double fraction);
std::size_t fraction_width(const Output& out);  ///< at least

/// The launches of a rung that has several, below its row.
void print_rounds(Output& out, const std::vector<bench::Round>& rounds);

/// The name of a verdict. A rung that is expected to be wrong and is not was right by chance.
std::string verdict_name(bench::Verdict verdict, bool faulty);
Style verdict_style(bench::Verdict verdict, bool faulty);

Json figure_json(const bench::Statistics& figure);
Json json_of(const bench::Ladder& ladder, const std::string& data);
Json json_of(const bench::Ceiling& ceiling);

}  // namespace samesum::cli
