// --axis, --tile, --offsets, --lengths, --keys: reductions of one array along axes, by tile, by segment and by key.
#pragma once

#include "group/division.hpp"
#include "input/input.hpp"
#include "output/output.hpp"
#include "output/result.hpp"

#include <samesum/operator.hpp>
#include <samesum/options.hpp>
#include <samesum/quantile.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

struct AxesOptions {
  std::vector<std::int64_t> axes;  ///< empty: not along axes
  bool keep = false;               ///< the result has them, with extent 1
  std::string tile;                ///< instead of axes, the extents of tiles: "16x16"
  DivisionOptions division;        ///< instead of both, of groups of the elements in C order
  std::string out;                 ///< .npy file; empty: values are printed

  /// Of these options the one that is set.
  std::string option() const { return std::string(division.wanted() ? division.option() : tile.empty() ? "--axis" : "--tile"); }
  bool wanted() const noexcept { return !axes.empty() || !tile.empty() || division.wanted(); }
  /// @throws Error (usage) where the others are given without axes, or two of axes, tiles, offsets and lengths.
  void check() const;
};

/// Numbers with 'x' between them. @throws Error (usage) for anything else, with the option's name.
std::vector<std::uint64_t> parse_extents(const std::string& text, std::string_view option);

/// Adds --axis, --keepdims, --offsets, --lengths, --keys and --out.
void add_axes(CLI::App& command, AxesOptions& options);
/// The same without the axes.
void add_groups(CLI::App& command, AxesOptions& options);
/// --tile.
void add_tile(CLI::App& command, AxesOptions& options);

/// `statistic` ("sum", "mean", "var" …) of the one input, along the axes: a value for each position along the others; or of each tile or
/// group.
int run_along_axes(Output& out, const Input& input, const std::string& device, std::string_view statistic, const AxesOptions& axes,
                   const ResultOptions& result, const Tuning& tuning);

/// Several statistics likewise: a row for each.
int run_rows_along_axes(Output& out, const Input& input, const std::string& device, const std::vector<std::string>& statistics,
                        const AxesOptions& axes, const ResultOptions& result, const Tuning& tuning);

/// Quantiles `q` along the axes, or of groups; `names` are what the user wrote.
int run_quantiles_along_axes(Output& out, const Input& input, const std::vector<double>& q, const std::vector<std::string>& names,
                             const QuantileRule& rule, const AxesOptions& axes, const ResultOptions& result);

/// The result of an operator along the axes, or of groups.
int run_operator_along_axes(Output& out, const Input& input, const std::string& device, const Operator& op, const AxesOptions& axes,
                            const ResultOptions& result);

}  // namespace samesum::cli
