// Results in rows with column names: for people, pipes and spreadsheets.
#pragma once

#include "output/output.hpp"

#include <string>
#include <vector>

namespace samesum::cli {

struct Rows {
  std::vector<std::string> names;              ///< of the columns
  std::size_t labels = 0;                      ///< the number of leading columns that are words, not numbers
  std::vector<std::vector<std::string>> rows;  ///< each with one field per column

  /// In RFC 4180's format.
  void print_csv(Output& out) const;
  /// On a terminal in aligned columns; in a pipe with tabs between the fields.
  void print(Output& out) const;
};

}  // namespace samesum::cli
