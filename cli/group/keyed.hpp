// The rows of a table with their keys: all numbers at once, for what needs all of a group.
#pragma once

#include "group/grouped.hpp"
#include "group/keys.hpp"
#include "input/elements.hpp"
#include "input/input.hpp"
#include "input/spool.hpp"

#include <samesum/array.hpp>
#include <samesum/by.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// The groups of rows, numbered in the order in which their keys are first seen.
struct RowKeys {
  std::vector<Grouped::Key> keys;
  std::vector<std::string> key_names;
  std::vector<std::uint64_t> group_of;  ///< of each row; of Keyed, of each number
};

/// Of the one table that --map reads. @throws Error (usage) where there are other inputs, or it can be read only once.
RowKeys keys_of_mapped(const Input& input);
/// body(), where messages name the keys of groups.
template <class Body>
auto naming_keys(const RowKeys& rows, const Body& body) {
  return naming_groups(body, [&](std::uint64_t group) { return text_of(rows.keys[group]); });
}

/// All numbers of one column of all inputs, or of --map, with the groups of their rows.
class Keyed {
 public:
  /// @throws Error (usage) where there are several columns, or options that do not go with --by.
  explicit Keyed(Input input, TextAs text = TextAs::numbers);

  const Array& numbers() const noexcept { return *numbers_; }
  /// Of the groups that have a number. Those of rows without one have no results.
  const By& by() const noexcept { return *by_; }
  const RowKeys& rows() const noexcept { return rows_; }
  /// The number of a group in by(); none where it has no numbers.
  std::optional<std::uint64_t> number_of(std::uint64_t group) const;
  /// The row of a number, counted from 0 over all inputs, those without a number included.
  std::uint64_t row_of(std::uint64_t number) const { return missing_ == 0 ? number : row_of_[number]; }
  const std::string& column() const noexcept { return column_; }
  std::uint64_t missing() const noexcept { return missing_; }
  bool sorted() const noexcept { return sorted_; }

  /// body(), where messages name the keys of groups.
  template <class Body>
  auto naming_keys(const Body& body) const {
    return naming_groups(body, [&](std::uint64_t number) {
      for (std::size_t group = 0; group < number_of_.size(); ++group) {
        if (number_of_[group] == number) return text_of(rows_.keys[group]);
      }
      return std::string();
    });
  }

 private:
  RowKeys rows_;
  std::unique_ptr<Spool> spool_;
  std::optional<Array> numbers_;
  std::optional<By> by_;
  std::vector<std::uint64_t> number_of_;
  std::vector<std::uint64_t> row_of_;
  std::string column_;
  std::uint64_t missing_ = 0;
  bool sorted_;
};

/// @throws Error (usage) for options that do not go with --by.
void check_by(const Input& input, const std::string& device, bool plain);

}  // namespace samesum::cli
