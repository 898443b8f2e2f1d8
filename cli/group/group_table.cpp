#include "group/group_table.hpp"

#include "group/keys.hpp"
#include "output/rows.hpp"

#include <fmt/format.h>

#include <numeric>

namespace samesum::cli {

std::vector<std::size_t> GroupTable::order() const {
  if (sorted) return order_of(keys);
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

void GroupTable::print_rows(Output& out, const ResultOptions& result) const {
  Rows rows{key_names, key_names.size(), {}};
  for (const std::string& column : columns) {
    for (const std::string& name : statistics) {
      rows.names.push_back(statistics.size() == 1 ? column : columns.size() == 1 ? name : column + " " + name);
    }
  }
  for (const std::size_t group : order()) {
    std::vector<std::string>& row = rows.rows.emplace_back(keys[group]);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      for (std::size_t statistic = 0; statistic < statistics.size(); ++statistic) {
        const std::optional<Number> number = at(group, column, statistic);
        row.push_back(number ? result.text(*number) : "");
      }
    }
  }
  result.csv ? rows.print_csv(out) : rows.print(out);
  if (missing != 0) out.note(fmt::format("{} missing", counted(missing, "number")));
}

void GroupTable::print(Output& out, const ResultOptions& result) const {
  if (!result.json) return print_rows(out, result);
  Json object;
  object["by"] = key_names;
  object["groups"] = Json::array();
  for (const std::size_t group : order()) {
    Json& one = object["groups"].emplace_back();
    one["key"] = keys[group];
    for (std::size_t column = 0; column < columns.size(); ++column) {
      Json& values = one["columns"][columns[column]];
      for (std::size_t statistic = 0; statistic < statistics.size(); ++statistic) {
        const std::optional<Number> number = at(group, column, statistic);
        if (number) {
          number->add_to(values[statistics[statistic]]);
        } else {
          values[statistics[statistic]] = nullptr;
        }
      }
    }
  }
  object["missing"] = missing;
  out.print("{}\n", to_text(object));
}

}  // namespace samesum::cli
