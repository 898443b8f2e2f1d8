// The parts common to `samesum stats` and the commands for single statistics.
#pragma once

#include "group/axes.hpp"
#include "input/input.hpp"
#include "output/number.hpp"
#include "output/output.hpp"
#include "output/result.hpp"
#include "part/part.hpp"

#include <samesum/device.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum::cli {

struct StatisticsOptions {
  Input input;
  std::string device = "auto";
  std::vector<std::string> wanted;  ///< names of statistics
  std::uint64_t ddof = 0;
  std::string nodata;
  ResultOptions result;
  AxesOptions axes;
  PartOptions part;
  Fields fields;
  Tuning tuning;

  /// Whether the results are rows with names of columns: not for a single named column.
  bool in_rows() const { return input.named_columns().size() != 1; }
  NanPolicy nan_policy() const { return result.nan_policy(); }
};

/// The statistics of one input, or of a column of it.
struct Found {
  std::string name;
  std::optional<Column> column;  ///< if the input has several
  bool text = false;
  Statistics all;
  std::uint64_t least_at = 0, greatest_at = 0, first_nan_at = 0;  ///< indices in the input, counting elements removed by --nodata
  std::uint64_t missing = 0;
  std::optional<Value> product;
  std::string no_product;  ///< why there is no product
};

/// A statistic: a row of the table, a member of the JSON object, a command.
struct Statistic {
  const char* name;
  const char* description;
  bool usual;  ///< shown by `stats` by default
  Fields fields;
  Number (*value)(const Found&, const StatisticsOptions&);
};

std::span<const Statistic> all_statistics();
/// @throws Error (usage) with the names that there are.
const Statistic& find_statistic(const std::string& name);
/// Those of these names; of none the usual ones.
std::vector<const Statistic*> find_statistics(const std::vector<std::string>& names);
/// What has to be collected for them.
Fields fields_of(const std::vector<const Statistic*>& wanted);

/// The statistics of an input, or of each of its columns. `product`: the product too.
std::vector<Found> collect_from(const NamedSource& input, const Device& device, const StatisticsOptions& options, bool product);
/// @throws Error (usage) if a table has no column of numbers: the separator is wrong as a rule.
void require_numbers(const std::vector<Found>& columns);

/// A statistic's value, or why there is none.
struct Answer {
  std::optional<Number> number;
  std::string reason;
};
Answer answer(const Statistic& statistic, const Found& found, const StatisticsOptions& options);

std::string text_of(const Number& number, const StatisticsOptions& options);

void print_json(Output& out, const std::vector<Found>& all, const std::vector<const Statistic*>& wanted, const Device& device,
                const StatisticsOptions& options);
/// Prints for a terminal, a pipe or --csv; returns the exit code.
int print_text(Output& out, const std::vector<Found>& all, const std::vector<const Statistic*>& wanted, const StatisticsOptions& options);

/// Prints the statistics of elements that lie in one array, of which the options name some.
int print_statistics(Output& out, const std::string& name, const Statistics& all, const StatisticsOptions& options);
/// The usual statistics, and others that were collected.
std::vector<std::string> names_of(const Statistics& all);
/// Prints a dot product. `integers`: of integers; `is_signed_type`: of a signed type.
int print_dot(Output& out, const ProductAccumulator& sum, bool integers, bool is_signed_type, const ResultOptions& result,
              const std::string& device = "");

/// The options of all commands of statistics and of `dot`.
void add_common_options(CLI::App& command, StatisticsOptions& options, unsigned printed);

/// Prints the sums of several columns, by the options of `sum`.
int run_sums_of_columns(Output& out, const Input& input, const std::string& device, const ResultOptions& result);

}  // namespace samesum::cli
