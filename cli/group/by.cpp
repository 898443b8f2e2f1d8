#include "group/by.hpp"

#include "command.hpp"
#include "group/group_table.hpp"
#include "group/keyed.hpp"
#include "group/keys.hpp"
#include "output/number.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>

namespace samesum::cli {
namespace {

constexpr std::string_view kGroupStatistics[] = {"count", "nan", "min", "max", "sum", "mean", "var", "std", "norm", "sqnorm"};
constexpr std::size_t kUsual = 8;  // of them, for `stats`

void add_input(Grouped& all, KeyNumbers* numbers, Source& source, const GroupOptions& how) {
  std::vector<std::uint64_t> group_of;  // of the source's groups, where there are several inputs
  const auto take_keys = [&] {
    for (std::uint64_t group = group_of.size(); group < source.group_count(); ++group) {
      if (numbers == nullptr) all.keys.push_back(source.key(group));
      group_of.push_back(numbers == nullptr ? group : numbers->of(source.key(group), all.keys));
    }
  };
  std::vector<std::uint64_t> moved;
  while (const std::optional<Array> chunk = source.next()) {
    take_keys();
    if (all.sums.empty()) {
      for (const Column& column : source.columns()) {
        all.names.push_back(column.label);
        all.sums.emplace_back(0, how);
      }
      for (const Column& column : source.key_columns()) all.key_names.push_back(column.label);
    }
    GroupSums& sums = all.sums.at(source.column());
    if (sums.groups() < all.keys.size()) sums.grow(std::bit_ceil(all.keys.size()));
    std::span<const std::uint64_t> groups = source.groups();
    if (numbers != nullptr) {
      moved.resize(groups.size());
      std::ranges::transform(groups, moved.begin(), [&](std::uint64_t group) { return group_of[group]; });
      groups = moved;
    }
    sums.add(*chunk, Array(groups));
    all.elements += chunk->size();
  }
  take_keys();
  all.missing += source.missing();
}

// A statistic of a group; nothing where a group has too few numbers for it.
std::optional<Number> answer(const GroupSums& sums, std::uint64_t group, std::string_view what, const ByOptions& options,
                             const ResultOptions& result) {
  const NanPolicy nan = result.nan_policy();
  const std::uint64_t used = sums.count(group) - (nan == NanPolicy::skip ? sums.nan_count(group) : 0);
  if (what == "count") return Number(sums.count(group));
  if (what == "nan") return Number(sums.nan_count(group));
  if (what == "sum") {
    const Accumulator sum = sums.sum(group);
    if (!is_integer(sums.type())) return result.float32 ? Number(sum.round_to_float(nan)) : Number(sum.round(nan));
    if (result.float32) return Number(sum.round_to_float(nan));
    return sum.round() < 0x1p63 ? Number(sum.to_int64()) : Number(sum.to_uint64());  // a text's integers have no type
  }
  if (what == "min" || what == "max") {
    if (used == 0) return std::nullopt;
    const Value value = what == "min" ? sums.min(group, nan) : sums.max(group, nan);
    return Number(value);
  }
  const bool spread = what == "var" || what == "std";
  if ((what == "mean" && used == 0) || (spread && used <= options.ddof)) return std::nullopt;
  const Statistics all = sums.statistics(group);
  if (what == "mean") return result.float32 ? Number(all.mean_to_float(nan)) : Number(all.mean(nan));
  if (what == "norm") return result.float32 ? Number(all.norm_to_float(nan)) : Number(all.norm(nan));
  if (what == "sqnorm") return result.float32 ? Number(all.squared_norm_to_float(nan)) : Number(all.squared_norm(nan));
  if (what == "var") return result.float32 ? Number(all.variance_to_float(options.ddof, nan)) : Number(all.variance(options.ddof, nan));
  return result.float32 ? Number(all.standard_deviation_to_float(options.ddof, nan)) : Number(all.standard_deviation(options.ddof, nan));
}

std::vector<std::string> statistics_of(const ByOptions& options) {
  return options.statistics.empty() ? std::vector<std::string>(kGroupStatistics, kGroupStatistics + kUsual) : options.statistics;
}

// Of the input's files `files`, all of them or a part.
Grouped read_all(const Input& input, std::span<const std::string> files, const GroupOptions& how) {
  Grouped all;
  if (!input.map.empty()) {
    const Keyed keyed(input);
    all.keys = keyed.rows().keys;
    all.key_names = keyed.rows().key_names;
    all.names = {keyed.column()};
    all.sums.push_back(keyed.by().sums(keyed.numbers(), how));
    all.elements = keyed.numbers().size();
    return all;
  }
  KeyNumbers numbers;
  for (const std::string& file : files) add_input(all, files.size() > 1 ? &numbers : nullptr, *input.open(file), how);
  if (all.sums.empty()) {  // inputs without a number
    all.names = input.columns.empty() ? std::vector<std::string>{"rows"} : input.named_columns();
    for (std::size_t i = 0; i < all.names.size(); ++i) all.sums.emplace_back(0, how);
  }
  if (all.key_names.empty()) all.key_names = input.named_keys();
  for (GroupSums& sums : all.sums) sums.grow(std::max<std::uint64_t>(sums.groups(), all.keys.size()));
  return all;
}

}  // namespace

void add_by(CLI::App& command, Input& input) {
  command.add_option("--by", input.keys, "of a table: for each group of rows with equal fields in these columns")
      ->type_name("COLUMNS")
      ->allow_extra_args(false);
  command.add_flag("--sorted", input.sorted, "--by: groups in the order of their keys; else as first seen");
}

void add_by_to(Json& to, const Input& input, const ByOptions& options) {
  to["by"] = input.named_keys();
  to["columns"] = input.named_columns();
  to["statistics"] = options.statistics;
  to["ddof"] = options.ddof;
  to["sorted"] = input.sorted;
}

int run_by(Output& out, const Input& input, ByOptions options, const ResultOptions& result, const PartOptions& part) {
  if (input.columns.empty() && input.map.empty()) {
    const bool counts = options.statistics.empty() || options.statistics == std::vector<std::string>{"count"};
    require(counts && !input.all_columns,
            "--by needs the columns of the numbers too: --column price --by city (without them 'stats --by city' counts rows)");
    options.statistics = {"count"};
  }
  check_by(input, options.device, result.plain);
  require(part.checkpoint.empty(), "--checkpoint is for arrays: leave out one of --checkpoint and --by");
  require(!part.part.empty() || result.partial.empty(),
          "--partial keeps one sum, and with --by those of a part: name the part (--part 1/2)");
  GroupOptions how;
  how.threads = options.tuning.threads;
  for (const std::string& name : statistics_of(options)) {
    if (name == "prod" || name.starts_with("arg")) {
      refuse(fmt::format("--by: '{}' is worked out alone, from all numbers of a group: name no other statistic beside it", name));
    }
    if (std::ranges::find(kGroupStatistics, name) == std::end(kGroupStatistics))
      refuse(fmt::format("--by has no '{}': there are {}", name, fmt::join(kGroupStatistics, ", ")));
    how.extrema |= name == "min" || name == "max";
    how.squares |= name == "var" || name == "std" || name == "norm" || name == "sqnorm";
  }
  if (!part.part.empty()) {
    require(input.map.empty(), "a part has the columns of its files: leave out one of --map and --part");
    PartOf of;
    of.work = {{"command", "by"}, {"files", Json::array()}, {"how", Json::object()}};
    add_by_to(of.work["how"], input, options);
    const auto compute = [&](std::span<const std::string> files) -> PartialResult { return read_all(input, files, how); };
    return run_part_of_files(out, input, part, result, std::move(of), compute);
  }
  const auto start = std::chrono::steady_clock::now();
  const Grouped all = read_all(input, input.files, how);
  print_by(out, all, input.sorted, options, result);
  if (result.verbose) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.note(fmt::format("{} in {}, cpu, {}", counted(all.elements, "number"), counted(all.keys.size(), "group"), duration(seconds)));
  }
  return kExitOk;
}

void print_by(Output& out, const Grouped& all, bool sorted, const ByOptions& options, const ResultOptions& result) {
  const std::vector<std::string> statistics = statistics_of(options);
  const auto at = [&](std::size_t group, std::size_t column, std::size_t statistic) {
    const std::string& name = statistics[statistic];
    try {
      return answer(all.sums[column], group, name, options, result);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{} of {} at {}: {}", name, all.names[column], fmt::join(all.keys[group], ", "), error.what()));
    }
  };
  GroupTable{all.keys, all.key_names, all.names, statistics, sorted, all.missing, at}.print(out, result);
}

}  // namespace samesum::cli
