// Quantiles for each group of rows of a table: its numbers are kept, beside the numbers of their groups.
#include "group/by.hpp"
#include "group/keys.hpp"
#include "input/spool.hpp"
#include "output/number.hpp"
#include "output/printable.hpp"
#include "output/rows.hpp"

#include <samesum/by.hpp>
#include <samesum/error.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

struct Rowed {
  std::vector<Grouped::Key> keys;
  std::vector<std::string> key_names;
  std::vector<std::uint64_t> group_of;  // each number's group
  std::uint64_t missing = 0;
};

// The numbers of all files, one after the other; their groups are noted on the way.
class Numbers final : public Source {
 public:
  Numbers(const Input& input, Rowed& rows) : input_(input), rows_(rows) {}

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
        rows_.missing += source_->missing();
        source_.reset();
        continue;
      }
      if (rows_.key_names.empty()) {
        for (const Column& column : source_->key_columns()) rows_.key_names.push_back(column.label);
      }
      for (const std::uint64_t group : source_->groups()) rows_.group_of.push_back(group_of_[group]);
      return chunk;
    }
  }
  std::string_view format() const noexcept override { return "text"; }
  std::optional<DType> type() const noexcept override { return std::nullopt; }

 private:
  const Input& input_;
  Rowed& rows_;
  KeyNumbers numbers_;
  std::size_t file_ = 0;
  std::unique_ptr<Source> source_;
  std::vector<std::uint64_t> group_of_;  // of the source's groups
};

}  // namespace

int run_quantiles_by(Output& out, Input input, const std::vector<double>& q, const std::vector<std::string>& names,
                     const QuantileRule& rule, const ResultOptions& result) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) throw Error(ErrorKind::usage, message);
  };
  require(input.named_columns().size() == 1, "--by needs the column of the numbers too, one of them: --column price --by city");
  require(input.nodata.empty(), "--nodata leaves elements out of their rows: leave out one of --nodata and --by (--missing names words)");
  require(input.map.empty(), "--map gives numbers without keys: leave out one of --map and --by");
  require(!result.plain, "--plain prints values without their keys: leave out one of --plain and --by (--csv prints both)");
  const auto start = std::chrono::steady_clock::now();
  input.tables = Tables::columns;
  input.any_order = false;
  Rowed rows;
  Numbers numbers(input, rows);
  Spool spool(numbers);
  const Array all = spool.all(
      true, [&](std::uint64_t index) { return fmt::format("number {} (of {})", index, fmt::join(rows.keys[rows.group_of[index]], ", ")); });
  if (rows.key_names.empty()) rows.key_names = input.named_keys();
  const std::uint64_t groups = rows.keys.size();
  // Groups without a number have no quantiles, and are numbered behind the others.
  std::vector<std::uint64_t> number_of(groups, groups);
  std::uint64_t with_numbers = 0;
  for (std::uint64_t& group : rows.group_of) {
    if (number_of[group] == groups) number_of[group] = with_numbers++;
    group = number_of[group];
  }
  const By by = samesum::by(Array(std::span<const std::uint64_t>(rows.group_of)), with_numbers);
  const Options options = {.nan = result.nan_policy(), .device = Device::open("cpu"), .tuning = {.threads = input.threads}};
  const Values found = quantiles(all, q, by, rule, options);
  const Values counts = count(all, by, options);
  const auto count_of = [&](std::size_t group) { return number_of[group] < groups ? counts.as<std::uint64_t>()[number_of[group]] : 0; };
  std::vector<std::size_t> order(groups);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (input.sorted) order = order_of(rows.keys);
  // Nothing of a group without a number.
  const auto at = [&](std::size_t group, std::size_t i) {
    return count_of(group) == 0 ? std::optional<Number>() : std::optional(number_at(found, i * with_numbers + number_of[group]));
  };

  if (result.json) {
    Json object = {{"by", rows.key_names}, {"method", name_of(rule.method)}, {"groups", Json::array()}};
    for (const std::size_t group : order) {
      Json& one = object["groups"].emplace_back();
      one["key"] = rows.keys[group];
      one["count"] = count_of(group);
      one["quantiles"] = Json::array();
      for (std::size_t i = 0; i < q.size(); ++i) {
        Json& entry = one["quantiles"].emplace_back(Json{{"q", q[i]}});
        if (const std::optional<Number> number = at(group, i)) {
          number->add_to(entry);
        } else {
          entry["value"] = nullptr;
        }
      }
    }
    object["missing"] = rows.missing;
    out.print("{}\n", to_text(object));
  } else {
    Rows table{rows.key_names, rows.key_names.size(), {}};
    for (std::size_t i = 0; i < q.size(); ++i) table.names.push_back(q.size() == 1 ? input.named_columns()[0] : names[i]);
    for (const std::size_t group : order) {
      std::vector<std::string>& row = table.rows.emplace_back(rows.keys[group]);
      for (std::size_t i = 0; i < q.size(); ++i) {
        const std::optional<Number> number = at(group, i);
        row.push_back(number ? result.text(*number) : "");
      }
    }
    result.csv ? table.print_csv(out) : table.print(out);
  }
  if (rows.missing != 0 && !result.json) out.note(fmt::format("{} missing", counted(rows.missing, "number")));
  if (result.verbose) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.note(fmt::format("{} in {}, cpu, {}", counted(all.size(), "number"), counted(groups, "group"), duration(seconds)));
  }
  return kExitOk;
}

}  // namespace samesum::cli
