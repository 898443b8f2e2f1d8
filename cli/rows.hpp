// Results in rows under names: for people, for pipes, for spreadsheets.
#pragma once

#include "output.hpp"

#include <string>
#include <vector>

namespace samesum::cli {

struct Rows {
  std::vector<std::string> names;              ///< of the columns
  std::size_t labels = 0;                      ///< so many columns, the first ones, are words, not numbers
  std::vector<std::vector<std::string>> rows;  ///< each with as many fields

  /// As RFC 4180 has it.
  void print_csv(Output& out) const;
  /// On a terminal in columns; in a pipe with tabs between the fields.
  void print(Output& out) const;
};

}  // namespace samesum::cli
