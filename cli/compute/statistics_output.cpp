// The output of `samesum stats` and the commands for single statistics.
#include "command.hpp"
#include "compute/statistics.hpp"
#include "output/printable.hpp"
#include "output/rows.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace samesum::cli {

Answer answer(const Statistic& statistic, const Found& found, const StatisticsOptions& options) try {
  return {statistic.value(found, options), {}};
} catch (const Error& error) {
  if (error.kind() != ErrorKind::no_answer) throw;
  return {std::nullopt, error.what()};
}

std::string text_of(const Number& number, const StatisticsOptions& options) { return options.result.hex ? number.hex() : number.decimal(); }

namespace {

void add_answer(Json& object, const Answer& value) {
  if (value.number) return value.number->add_to(object);
  object["value"] = nullptr;
  object["reason"] = value.reason;
}

void add_statistics(Json& object, const Found& found, const std::vector<const Statistic*>& wanted, const StatisticsOptions& options) {
  object["count"] = found.all.count();
  object["nan_count"] = found.all.nan_count();
  object["missing"] = found.missing;
  for (const Statistic* statistic : wanted) {
    add_answer(object["statistics"][statistic->name], answer(*statistic, found, options));
  }
}

// On a terminal a table. In a pipe a line for each statistic, its name and its value; for a single one only the value. A statistic without
// an answer is "-", and the reason is in the table or, for pipes, on standard error. Returns the exit code: whether all requested
// statistics have an answer.
int print(Output& out, const Found& found, const std::vector<const Statistic*>& wanted, const StatisticsOptions& options, bool several) {
  const bool plain = options.result.plain, terminal = out.terminal() && !plain;
  const std::string name = shown_name(found.name);
  if (terminal && (several || wanted.size() > 1)) out.print("{}\n", out.bold(name));
  Table table("<<<", 2);
  int code = kExitOk;
  for (const Statistic* statistic : wanted) {
    const Answer value = answer(*statistic, found, options);
    if (!value.number && found.all.count() != 0) code = kExitNoAnswer;
    if (!value.number && wanted.size() == 1) throw Error(ErrorKind::no_answer, fmt::format("{}: {}", name, value.reason));
    const std::string text = value.number ? text_of(*value.number, options) : "-";
    if (terminal && wanted.size() > 1) {
      table.add({{statistic->name, Style::bold}, text, {value.number ? statistic->description : value.reason, Style::dim}});
    } else {
      const std::string label = wanted.size() > 1 && !plain ? std::string(statistic->name) + "\t" : "";
      out.print("{}{}{}\n", label, text, several && !plain ? "\t" + printable_name(found.name) : "");
      if (!value.number) out.note(fmt::format("{}: no {}: {}", name, statistic->name, value.reason));
    }
  }
  if (terminal && wanted.size() > 1) {
    if (found.missing != 0) table.add({{"missing", Style::bold}, grouped(found.missing), {"left out", Style::dim}});
    table.print(out);
  } else if (found.missing != 0 && !plain) {
    out.note(fmt::format("{}: {} missing{}", name, grouped(found.missing), options.nodata.empty() ? "" : " or equal to --nodata"));
  }
  if (!plain && found.all.nan_count() != 0 && options.nan_policy() == NanPolicy::propagate) {
    out.note(fmt::format("{}: {} NaN among the elements; --nan skip leaves NaNs out", name, grouped(found.all.nan_count())));
  }
  return code;
}

// Whether a word is a number in another notation, such as "1,5".
bool looks_like_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && word.find_first_not_of("0123456789.,'_ ") == std::string_view::npos;
}

// Reports columns of fields that are not numbers, where their omission may be a surprise: beside columns of numbers, where the fields look
// like numbers, or on a terminal.
void print_left_out(Output& out, const std::vector<Found>& all) {
  const bool terminal = out.terminal();
  for (const Found& found : all) {
    if (!found.column || found.column->words == 0) continue;
    const Column& column = *found.column;
    const bool format = looks_like_number(column.first_word);
    if (!terminal && found.all.count() == 0 && !format) continue;
    const std::string text = fmt::format("{}: left out, as {} of its fields {} no number: '{}' in line {}{}{}", column.label,
                                         grouped(column.words), column.words == 1 ? "is" : "are", column.first_word, column.first_line,
                                         found.all.count() != 0 ? fmt::format(", beside {}", counted(found.all.count(), "number")) : "",
                                         format ? " (--decimal and --thousands say how numbers are written)" : "");
    out.note(text);
  }
}

std::string text_of(const Statistic& statistic, const Found& found, const StatisticsOptions& options) {
  const Answer value = answer(statistic, found, options);
  return value.number ? text_of(*value.number, options) : options.result.csv ? "" : "-";
}

// A row for each column, or for each input.
void print_rows(Output& out, const std::vector<Found>& all, const std::vector<const Statistic*>& wanted, const StatisticsOptions& options) {
  const bool several = options.input.files.size() > 1 && !options.input.total && options.input.map.empty();
  const bool files = several || std::ranges::any_of(all, [&](const Found& found) { return found.name != all.front().name; });
  const bool columns = std::ranges::any_of(all, [](const Found& found) { return found.column.has_value(); });
  Rows rows;
  if (files) rows.names.emplace_back("file");
  if (columns) rows.names.emplace_back("column");
  rows.labels = rows.names.size();
  for (const Statistic* statistic : wanted) rows.names.emplace_back(statistic->name);
  for (const Found& found : all) {
    if (found.column && found.column->words != 0) continue;
    std::vector<std::string> row;
    if (files) row.push_back(found.name);
    if (columns)
      row.push_back(!found.column ? "" : options.result.csv && !found.column->name.empty() ? found.column->name : found.column->label);
    for (const Statistic* statistic : wanted) row.push_back(text_of(*statistic, found, options));
    rows.rows.push_back(std::move(row));
  }
  if (options.result.csv) return rows.print_csv(out);
  if (wanted.size() > 1) {
    rows.print(out);
  } else {  // the value first, as for files
    for (const auto& row : rows.rows) {
      if (options.result.plain) {
        out.print("{}\n", row.back());
        continue;
      }
      out.print("{}\t{}{}\n", row.back(), row[rows.labels - 1], files ? "\t" + row.front() : "");
    }
  }
}

}  // namespace

void print_json(Output& out, const std::vector<Found>& all, const std::vector<const Statistic*>& wanted, const Device& device,
                const StatisticsOptions& options) {
  Json object;
  if (all.size() == 1 && wanted.size() == 1) add_answer(object, answer(*wanted[0], all[0], options));  // as `sum` and `dot` have it
  object["device"] = device.info().selector;
  object["nan_policy"] = options.result.nan;
  object["ddof"] = options.ddof;
  object["files"] = Json::array();
  for (std::size_t i = 0; i < all.size();) {
    Json file;
    file["file"] = all[i].name;
    if (!all[i].column) {
      add_statistics(file, all[i++], wanted, options);
    } else {
      file["columns"] = file["left_out"] = Json::array();
      const std::size_t first = i;  // the same file may follow again, with the same columns
      for (; i < all.size() && all[i].name == all[first].name && all[i].column; ++i) {
        if (i != first && all[i].column->number == all[first].column->number) break;
        const Column& column = *all[i].column;
        Json entry;
        entry["number"] = column.number;
        entry["name"] = column.name;
        if (column.words == 0) {
          add_statistics(entry, all[i], wanted, options);
        } else {
          entry["words"] = column.words;
          entry["first_word"] = column.first_word;
          entry["first_line"] = column.first_line;
        }
        file[column.words == 0 ? "columns" : "left_out"].push_back(entry);
      }
    }
    object["files"].push_back(file);
  }
  out.print("{}\n", to_text(object));
}

int print_text(Output& out, const std::vector<Found>& all, const std::vector<const Statistic*>& wanted, const StatisticsOptions& options) {
  const bool columns = std::ranges::any_of(all, [](const Found& found) { return found.column.has_value(); });
  if (columns || options.result.csv) {
    print_rows(out, all, wanted, options);
    print_left_out(out, all);
    return kExitOk;
  }
  int code = kExitOk;
  for (const Found& found : all) code = std::max(code, print(out, found, wanted, options, all.size() > 1));
  return code;
}

}  // namespace samesum::cli
