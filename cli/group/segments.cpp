#include "group/segments.hpp"

#include "input/elements.hpp"
#include "output/printable.hpp"

#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace samesum::cli {
namespace {

constexpr std::string_view kSegmentStatistics[] = {"sum", "mean", "var", "std", "norm", "min", "max", "count"};

// Numbers of a text are doubles; a double holds no whole number beyond 2^53 for certain.
std::vector<std::uint64_t> whole_numbers(std::span<const double> numbers) {
  std::vector<std::uint64_t> whole;
  for (const double number : numbers) {
    if (!(number >= 0 && number <= 0x1p53) || static_cast<double>(static_cast<std::uint64_t>(number)) != number) {
      throw Error(ErrorKind::usage, fmt::format("number {} is {}, not a whole number from 0 to 2^53", whole.size(), number));
    }
    whole.push_back(static_cast<std::uint64_t>(number));
  }
  return whole;
}

// What GroupSums has no function over all groups for.
template <typename Value>
Values of_each(const GroupSums& sums, const Value& value) {
  Values values(DType::float64, {sums.groups()});
  auto* const to = static_cast<double*>(values.data());
  for (std::uint64_t group = 0; group < sums.groups(); ++group) to[group] = value(sums.statistics(group));
  return values;
}

}  // namespace

void SegmentsOptions::check() const {
  if (!offsets.empty() && !lengths.empty()) throw Error(ErrorKind::usage, "--offsets and --lengths say the same: leave out one of them");
}

void add_options(CLI::App& command, SegmentsOptions& options) {
  command.add_option("--offsets", options.offsets, "of segments: file of their first indices, and of the end")->type_name("FILE");
  command.add_option("--lengths", options.lengths, "of segments: file of how many elements each has")->type_name("FILE");
}

By division_by(const SegmentsOptions& segments) {
  const bool by_length = !segments.lengths.empty();
  const std::string& name = by_length ? segments.lengths : segments.offsets;
  const Elements elements(name);
  const Array bounds = elements.view();
  try {
    const auto divide = [&](const Array& whole) { return by_length ? by_lengths(whole) : by_offsets(whole); };
    if (bounds.type() != DType::float64 || elements.format() != "text") return divide(bounds);
    const std::vector<std::uint64_t> whole = whole_numbers({static_cast<const double*>(bounds.data()), bounds.size()});
    return divide(Array(std::span<const std::uint64_t>(whole)));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} {}: {}", segments.option(), shown_name(name), error.what()));
  }
}

Values segment_reduction(const Array& data, std::string_view statistic, const SegmentsOptions& segments, NanPolicy nan,
                         const Tuning& tuning) {
  if (std::ranges::find(kSegmentStatistics, statistic) == std::end(kSegmentStatistics)) {
    throw Error(ErrorKind::usage, fmt::format("by segment there is no '{}': leave out {}", statistic, segments.option()));
  }
  const By division = division_by(segments);
  const bool spread = statistic == "var" || statistic == "std";
  const GroupSums sums = division.sums(
      data, {.squares = spread || statistic == "norm", .extrema = statistic == "min" || statistic == "max", .threads = tuning.threads});
  if (statistic == "sum") return sums.sums(nan);
  if (statistic == "mean") return sums.means(nan);
  if (statistic == "min") return sums.minima(nan);
  if (statistic == "max") return sums.maxima(nan);
  if (statistic == "count") return sums.counts();
  if (statistic == "norm") return of_each(sums, [&](const Statistics& of) { return of.norm(nan); });
  if (statistic == "var") return sums.variances(segments.ddof, nan);
  return of_each(sums, [&](const Statistics& of) {
    const std::uint64_t used = of.count() - (nan == NanPolicy::skip ? of.nan_count() : 0);
    return used > segments.ddof ? of.standard_deviation(segments.ddof, nan) : std::numeric_limits<double>::quiet_NaN();
  });
}

}  // namespace samesum::cli
