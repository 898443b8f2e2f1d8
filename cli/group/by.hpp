// --by: a result for each group of rows of a table.
#pragma once

#include "group/grouped.hpp"
#include "input/input.hpp"
#include "output/output.hpp"
#include "output/result.hpp"
#include "part/part.hpp"

#include <samesum/operator.hpp>
#include <samesum/options.hpp>
#include <samesum/quantile.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// Adds --by and --sorted, of which `input` keeps the first.
void add_by(CLI::App& command, Input& input);

/// What is printed of each group.
struct ByOptions {
  std::vector<std::string> statistics;  ///< "sum", "mean", "count" …; empty: those that `stats` shows
  std::uint64_t ddof = 0;
  std::string device;  ///< as given: groups are added up on the CPU
  Tuning tuning;
};

/// The statistics of the named columns of all inputs together, for each group of rows with equal keys; without columns the number of rows.
/// With `part` those of some of the files, which are written to the file of --partial.
int run_by(Output& out, const Input& input, ByOptions options, const ResultOptions& result, const PartOptions& part = {});

/// The quantiles `q` of one column of all inputs together, for each group of rows; `names` are what the user wrote.
int run_quantiles_by(Output& out, const Input& input, const std::vector<double>& q, const std::vector<std::string>& names,
                     const QuantileRule& rule, const ResultOptions& result);

/// "prod", "argmin" or "argmax" likewise. Positions are rows, counted from 0 over all inputs.
int run_reduction_by(Output& out, const Input& input, const std::string& device, const std::string& statistic, const ResultOptions& result);

/// An operator likewise, of the numbers in their order. With --map each row may give a tuple.
int run_operator_by(Output& out, const Input& input, const std::string& device, const Operator& op, const ResultOptions& result);

/// Prints them; `sorted`: in the order of their keys.
void print_by(Output& out, const Grouped& all, bool sorted, const ByOptions& options, const ResultOptions& result);

}  // namespace samesum::cli
