#include "group/keyed.hpp"

#include "group/keys.hpp"
#include "output/number.hpp"
#include "output/printable.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace samesum::cli {
namespace {

// The numbers of all files, one after the other; their groups and rows are noted on the way.
class Numbers final : public Source {
 public:
  Numbers(const Input& input, RowKeys& rows, std::vector<std::uint64_t>& row_of) : input_(input), rows_(rows), row_of_(row_of) {}

  std::optional<Array> next() override {
    for (;;) {
      if (source_ == nullptr) {
        if (file_ == input_.files.size()) return std::nullopt;
        source_ = input_.open(input_.files[file_++]);
        group_of_.clear();
      }
      const std::optional<Array> chunk = source_->next();
      for (std::uint64_t group = group_of_.size(); group < source_->group_count(); ++group) {
        group_of_.push_back(numbers_.of(source_->key(group), rows_.keys));
      }
      if (!chunk) {
        missing_ += source_->missing();
        source_.reset();
        continue;
      }
      if (rows_.key_names.empty()) {
        for (const Column& column : source_->key_columns()) rows_.key_names.push_back(column.label);
      }
      const std::span<const std::uint64_t> groups = source_->groups();
      for (std::uint64_t i = 0; i < groups.size(); ++i) {
        row_of_.push_back(row_of_.size() + missing_ + source_->missing_before(i));
        rows_.group_of.push_back(group_of_[groups[i]]);
      }
      return chunk;
    }
  }
  std::string_view format() const noexcept override { return "text"; }
  std::optional<DType> type() const noexcept override { return std::nullopt; }
  std::uint64_t missing() const noexcept override { return missing_; }

 private:
  const Input& input_;
  RowKeys& rows_;
  std::vector<std::uint64_t>& row_of_;
  KeyNumbers numbers_;
  std::size_t file_ = 0;
  std::uint64_t missing_ = 0;  // of the files before the current one
  std::unique_ptr<Source> source_;
  std::vector<std::uint64_t> group_of_;  // of the source's groups
};

}  // namespace

void check_by(const Input& input, const std::string& device, bool plain) {
  require(device == "auto" || device == "cpu", "--by works on the CPU: leave out --device");
  require(input.nodata.empty(), "--nodata leaves elements out of their rows: leave out one of --nodata and --by (--missing names words)");
  require(!plain, "--plain prints values without their keys: leave out one of --plain and --by (--csv prints both)");
  if (input.map.empty()) return;
  require(input.files.size() == 1 && !is_npy(input.files.front()),
          "--map and --by together take one table, whose columns the formula names: --map 'price*amount' --by city sales.csv");
  require(!is_stream(input.files.front()),
          "--map and --by read their table once for each column: standard input and pipes can be read only once: save it to a file");
}

RowKeys keys_of_mapped(const Input& input) {
  Input of_keys = input;
  of_keys.map.clear();
  of_keys.columns.clear();
  of_keys.tables = Tables::columns;
  of_keys.any_order = false;
  RowKeys rows;
  std::vector<std::uint64_t> row_of;
  Numbers ones(of_keys, rows, row_of);
  while (ones.next()) {
  }
  if (rows.key_names.empty()) rows.key_names = input.named_keys();
  return rows;
}

Keyed::Keyed(Input input, TextAs text) : sorted_(input.sorted) {
  input.tables = Tables::columns;
  input.any_order = false;
  if (input.map.empty()) {
    require(input.named_columns().size() == 1, "--by needs the column of the numbers too, one of them: --column price --by city");
    column_ = input.named_columns()[0];
    Numbers numbers(input, rows_, row_of_);
    spool_ = std::make_unique<Spool>(numbers);
    missing_ = numbers.missing();
  } else {
    rows_ = keys_of_mapped(input);
    column_ = input.formula().to_string();
    Input of_map = input;
    of_map.keys.clear();
    of_map.in_order = true;
    const std::unique_ptr<Source> source = of_map.sources().front().open();
    spool_ = std::make_unique<Spool>(*source);
    if (const std::uint64_t numbers = spool_->all(true).size(); numbers != rows_.group_of.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} has {}, and the formula takes {}: it names columns, or one is named by --column",
                              shown_name(input.files.front()), counted(rows_.group_of.size(), "row"), counted(numbers, "number")));
    }
  }
  numbers_ = spool_->all(text == TextAs::numbers, [&](std::uint64_t index) {
    return fmt::format("number {} (of {})", index, fmt::join(rows_.keys[rows_.group_of[index]], ", "));
  });
  if (rows_.key_names.empty()) rows_.key_names = input.named_keys();
  // Groups without a number are left out of by().
  const std::uint64_t groups = rows_.keys.size();
  number_of_.assign(groups, groups);
  std::uint64_t with_numbers = 0;
  for (std::uint64_t& group : rows_.group_of) {
    if (number_of_[group] == groups) number_of_[group] = with_numbers++;
    group = number_of_[group];
  }
  by_ = samesum::by(Array(std::span<const std::uint64_t>(rows_.group_of)), with_numbers);
}

std::optional<std::uint64_t> Keyed::number_of(std::uint64_t group) const {
  return number_of_[group] < number_of_.size() ? std::optional(number_of_[group]) : std::nullopt;
}

}  // namespace samesum::cli
