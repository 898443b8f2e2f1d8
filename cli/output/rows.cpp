#include "output/rows.hpp"

#include "output/result.hpp"

#include <unistd.h>

#include <algorithm>

namespace samesum::cli {
namespace {

// Replaces tabs and line ends, which would divide the field.
std::string in_one_field(std::string field) {
  std::ranges::replace_if(
      field, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return field;
}

template <class Form>
void print_lines(Output& out, const Rows& rows, char between, const Form& form) {
  const auto line = [&](const std::vector<std::string>& fields) {
    std::string text;
    for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : std::string(1, between)) + form(fields[i]);
    out.print("{}\n", text);
  };
  line(rows.names);
  for (const auto& row : rows.rows) line(row);
}

}  // namespace

void Rows::print_csv(Output& out) const {
  out.keep_bytes();
  print_lines(out, *this, ',', csv_field);
}

void Rows::print(Output& out) const {
  if (isatty(STDOUT_FILENO) == 0) {
    out.keep_bytes();
    return print_lines(out, *this, '\t', in_one_field);
  }
  Table table(std::string(labels, '<') + std::string(names.size() - labels, '>'));
  std::vector<Table::Cell> heads;
  for (const std::string& name : names) heads.emplace_back(name, Style::bold);
  table.add(std::move(heads));
  for (const auto& row : rows) {
    std::vector<Table::Cell> cells;
    for (const std::string& field : row) cells.emplace_back(in_one_field(field));
    table.add(std::move(cells));
  }
  table.print(out);
}

}  // namespace samesum::cli
