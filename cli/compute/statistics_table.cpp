// The statistics that there are: their names, what has to be collected for them, and their values.
#include "compute/statistics.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace samesum::cli {
namespace {

Number sum_of(const Found& found, const StatisticsOptions& options) { return options.result.round(found.all.sum()); }

// A text's integers have no type: int64 if it holds the value.
Number extreme_of(const Found& found, const Extremum& extreme) {
  const auto* const integer = std::get_if<std::uint64_t>(&extreme.value.number);
  if (found.text && integer != nullptr && *integer >> 63 == 0) return Number(static_cast<std::int64_t>(*integer));
  return Number(extreme.value);
}

Number index_of(const Found& found, const StatisticsOptions& options, bool least) {
  const Extremum extreme = least ? found.all.min(options.nan_policy()) : found.all.max(options.nan_policy());
  const bool is_nan = std::isnan(extreme.value.as_double());
  return Number(is_nan ? found.first_nan_at : least ? found.least_at : found.greatest_at);
}

constexpr Fields kExtremes{true, false, false, false}, kSum{false, true, false, false}, kVariance{false, true, true, false},
    kSquares{false, false, true, false}, kNonzeros{true, false, false, true};

const Statistic kStatistics[] = {
    {"count", "the number of elements, NaNs included", true, kExtremes,
     [](const Found& f, const StatisticsOptions&) { return Number(f.all.count()); }},
    {"missing", "the number of missing numbers", false, kExtremes,
     [](const Found& f, const StatisticsOptions&) { return Number(f.missing); }},
    {"nan", "the number of NaNs", true, kExtremes, [](const Found& f, const StatisticsOptions&) { return Number(f.all.nan_count()); }},
    {"min", "the least element", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return extreme_of(f, f.all.min(o.nan_policy())); }},
    {"argmin", "the index of the least element, from 0; of equal ones the first", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return index_of(f, o, true); }},
    {"max", "the greatest element", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return extreme_of(f, f.all.max(o.nan_policy())); }},
    {"argmax", "the index of the greatest element, from 0", true, kExtremes,
     [](const Found& f, const StatisticsOptions& o) { return index_of(f, o, false); }},
    {"sum", "the exact sum, rounded once", true, kSum, sum_of},
    {"mean", "the exact mean, rounded once", true, kSum,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? Number(f.all.mean_to_float(o.nan_policy())) : Number(f.all.mean(o.nan_policy()));
     }},
    {"var", "the exact variance, rounded once (--ddof)", true, kVariance,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? Number(f.all.variance_to_float(o.ddof, o.nan_policy())) : Number(f.all.variance(o.ddof, o.nan_policy()));
     }},
    {"std", "the standard deviation, rounded once (--ddof)", true, kVariance,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? Number(f.all.standard_deviation_to_float(o.ddof, o.nan_policy()))
                               : Number(f.all.standard_deviation(o.ddof, o.nan_policy()));
     }},
    {"norm", "the Euclidean norm, rounded once", false, kSquares,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? Number(f.all.norm_to_float(o.nan_policy())) : Number(f.all.norm(o.nan_policy()));
     }},
    {"sqnorm", "the sum of squares, rounded once", false, kSquares,
     [](const Found& f, const StatisticsOptions& o) {
       return o.result.float32 ? Number(f.all.squared_norm_to_float(o.nan_policy())) : Number(f.all.squared_norm(o.nan_policy()));
     }},
    {"nonzero", "the number of elements that are not zero", false, kNonzeros,
     [](const Found& f, const StatisticsOptions& o) { return Number(f.all.nonzero_count(o.nan_policy())); }},
    {"any", "1 if any element is not zero, else 0", false, kNonzeros,
     [](const Found& f, const StatisticsOptions& o) { return Number(std::uint64_t{f.all.any(o.nan_policy())}); }},
    {"all", "1 if no element is zero, else 0", false, kNonzeros,
     [](const Found& f, const StatisticsOptions& o) { return Number(std::uint64_t{f.all.all(o.nan_policy())}); }},
    {"prod", "the product, the same bits everywhere", false, kExtremes,
     [](const Found& f, const StatisticsOptions&) -> Number {
       if (!f.product) throw Error(ErrorKind::no_answer, f.no_product);
       return Number(*f.product);
     }},
};

}  // namespace

std::span<const Statistic> all_statistics() { return kStatistics; }

const Statistic& find_statistic(const std::string& name) {
  std::string known;
  for (const Statistic& statistic : kStatistics) {
    if (name == statistic.name) return statistic;
    known += (known.empty() ? "" : ", ") + std::string(statistic.name);
  }
  throw Error(ErrorKind::usage, fmt::format("no statistic '{}': there are {}", name, known));
}

std::vector<const Statistic*> find_statistics(const std::vector<std::string>& names) {
  std::vector<const Statistic*> wanted;
  for (const std::string& name : names) wanted.push_back(&find_statistic(name));
  if (wanted.empty()) {
    for (const Statistic& statistic : kStatistics) {
      if (statistic.usual) wanted.push_back(&statistic);
    }
  }
  return wanted;
}

Fields fields_of(const std::vector<const Statistic*>& wanted) {
  Fields fields{true, false, false, false};
  for (const Statistic* statistic : wanted) {
    fields.sum |= statistic->fields.sum;
    fields.squares |= statistic->fields.squares;
    fields.nonzeros |= statistic->fields.nonzeros;
  }
  return fields;
}

std::vector<std::string> names_of(const Statistics& all) {
  const Fields& fields = all.contents().fields;
  std::vector<std::string> names;
  for (const Statistic& one : kStatistics) {
    const bool collected =
        (fields.sum || !one.fields.sum) && (fields.squares || !one.fields.squares) && (fields.nonzeros || !one.fields.nonzeros);
    if (collected && (one.usual || one.fields.nonzeros) && (fields.extrema || !one.fields.extrema)) names.emplace_back(one.name);
  }
  return names;
}

}  // namespace samesum::cli
