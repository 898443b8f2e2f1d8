// What is printed of groups of rows: a row for each, with its key.
#pragma once

#include "group/grouped.hpp"
#include "output/number.hpp"
#include "output/output.hpp"
#include "output/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

struct GroupTable {
  const std::vector<Grouped::Key>& keys;
  const std::vector<std::string>& key_names;
  std::vector<std::string> columns, statistics;
  bool sorted = false;  ///< by their keys; else as first seen
  std::uint64_t missing = 0;
  /// A statistic of a column and group; none where the group has too few numbers for it.
  std::function<std::optional<Number>(std::size_t group, std::size_t column, std::size_t statistic)> at;

  std::vector<std::size_t> order() const;
  /// As the options say: in rows, as CSV, or as JSON.
  void print(Output& out, const ResultOptions& result) const;
  /// Likewise, but for JSON.
  void print_rows(Output& out, const ResultOptions& result) const;
};

}  // namespace samesum::cli
