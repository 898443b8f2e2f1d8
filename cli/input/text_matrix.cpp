#include "input/text_matrix.hpp"

#include "input/spool.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::cli {
namespace {

// Numbers of a column that come one after the other.
struct Run {
  std::size_t column;
  std::uint64_t first_row, count;
};

// The numbers of a table as they come; which they are is noted.
class Noted final : public Source {
 public:
  explicit Noted(Source& table) : table_(table) {}
  std::optional<Array> next() override {
    const std::optional<Array> chunk = table_.next();
    if (!chunk) return chunk;
    if (rows_.size() <= table_.column()) rows_.resize(table_.column() + 1, 0);
    std::uint64_t& row = rows_[table_.column()];
    runs_.push_back({table_.column(), row, chunk->size()});
    row += chunk->size();
    return chunk;
  }
  std::string_view format() const noexcept override { return table_.format(); }
  const std::vector<Run>& runs() const noexcept { return runs_; }

 private:
  Source& table_;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> rows_;  // of each column so far
};

}  // namespace

Values text_matrix(Source& table, bool integers, bool names_columns) {
  Noted noted(table);
  Spool spool(noted);
  for (const Column& column : table.columns()) {
    // A first line without a number has names; these may be meant as numbers.
    if (!names_columns && !column.name.empty() && std::string_view("0123456789+-.($").find(column.name[0]) != std::string_view::npos) {
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' in the first line is no number, and hardly a name: write it as a number, or say that the line "
                              "has names (--header)",
                              column.label));
    }
    if (column.words != 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("line {}: '{}' is no number, and a text along axes is a matrix of numbers: --column reads one column",
                              column.first_line, column.first_word));
    }
    if (column.missing != 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("column '{}' has {} missing {}, and a matrix has a number at each position: write nan for them", column.label,
                              column.missing, column.missing == 1 ? "number" : "numbers"));
    }
  }
  const std::size_t columns = std::max<std::size_t>(table.columns().size(), 1);
  const Array numbers = spool.all(integers, [&](std::uint64_t index) {
    for (const Run& run : noted.runs()) {
      if (index < run.count) return fmt::format("the number in row {}, column {}", run.first_row + index, run.column);
      index -= run.count;
    }
    return std::string("a number");
  });
  const std::uint64_t rows = numbers.size() / columns;
  Values matrix(numbers.type(), columns == 1 ? std::vector{rows} : std::vector{rows, std::uint64_t{columns}});
  const std::size_t element = size_of(numbers.type());
  auto* const to = static_cast<std::byte*>(matrix.data());
  const auto* from = static_cast<const std::byte*>(numbers.data());
  for (const Run& run : noted.runs()) {
    for (std::uint64_t i = 0; i < run.count; ++i, from += element) {
      std::memcpy(to + ((run.first_row + i) * columns + run.column) * element, from, element);
    }
  }
  return matrix;
}

}  // namespace samesum::cli
