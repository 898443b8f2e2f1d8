// Collects the statistics of an input, or of each of its columns, in one pass.
#include "compute/statistics.hpp"
#include "input/nodata.hpp"

#include <samesum/error.hpp>
#include <samesum/reduce.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace samesum::cli {
namespace {

// The intermediate state of a column: results and counts so far.
struct Running {
  Found found;
  NodataFilter filter;
  NodataFilter ones;  // for the product, in which removed elements are 1
  std::uint64_t before = 0;
  std::optional<Product> product;
};

// Adds a part of the current chunk of `source`, from its element `first` on.
void collect_part(Array part, std::uint64_t first, const Source& source, const Device& device, const StatisticsOptions& options,
                  Running& running) {
  Found& found = running.found;
  const std::uint64_t known = found.all.count();
  const auto first_known = found.all.contents().first_nan;
  found.all.merge(collect(running.filter.kept(part), options.fields, {.device = device, .tuning = options.tuning}));
  const auto place = [&](std::uint64_t index, std::uint64_t& at) {
    if (index < known) return;
    const std::uint64_t in_part = running.filter.index_in_part(index - known);
    at = running.before + in_part + source.missing_before(first + in_part);
  };
  const Statistics::Contents& contents = found.all.contents();
  if (contents.min) place(contents.min->index, found.least_at);
  if (contents.max) place(contents.max->index, found.greatest_at);
  if (contents.first_nan && !first_known) place(*contents.first_nan, found.first_nan_at);
  running.before += part.size();
}

}  // namespace

std::vector<Found> collect_from(const NamedSource& input, const Device& device, const StatisticsOptions& options, bool product) {
  const std::unique_ptr<Source> source = input.open();
  const bool text = source->format() == "text";
  std::vector<Running> columns;
  const auto need = [&](std::size_t count) {
    while (columns.size() < count) {
      columns.push_back({{input.name, std::nullopt, text, {}, 0, 0, 0, 0, std::nullopt, {}},
                         NodataFilter(options.nodata, text),
                         NodataFilter(options.nodata, text),
                         0,
                         std::nullopt});
      if (product)
        columns.back().product.emplace(samesum::Options{.nan = options.nan_policy(), .device = device, .tuning = options.tuning},
                                       source->type());
    }
  };
  while (const std::optional<Array> chunk = source->next()) {
    need(std::max(source->column() + 1, source->columns().size()));
    Running& running = columns[source->column()];
    const std::uint64_t most = running.filter.active() ? NodataFilter::most(chunk->type()) : std::max<std::uint64_t>(chunk->size(), 1);
    for (std::uint64_t first = 0; first == 0 || first < chunk->size(); first += most) {
      const Array part = chunk->part(first, std::min(most, chunk->size() - first));
      collect_part(part, first, *source, device, options, running);
      if (product) running.product->append(running.ones.with_ones(part));
    }
  }
  const std::span<const Column> known = source->columns();
  need(std::max<std::size_t>(known.size(), 1));
  std::vector<Found> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Found& found = columns[i].found;
    if (found.all.count() == 0)
      found.all =
          collect(Array(nullptr, 0, source->type().value_or(DType::float64)), options.fields, {.device = device, .tuning = options.tuning});
    found.missing = (known.empty() ? source->missing() : known[i].missing) + columns[i].filter.left_out();
    if (!known.empty() && options.in_rows()) found.column = known[i];
    if (product) {
      try {
        found.product = columns[i].product->value();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::no_answer) throw;
        found.no_product = error.what();
      }
    }
    all.push_back(std::move(found));
  }
  return all;
}

void require_numbers(const std::vector<Found>& columns) {
  const auto has_words = [](const Found& found) { return found.column && found.column->words != 0; };
  if (columns.empty() || !std::ranges::all_of(columns, has_words)) return;
  const Column& column = *columns.front().column;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "{}: no column has only numbers: in column {} the first field that is not a number is '{}', in line {} (--sep, --decimal and "
          "--thousands say how numbers are written, --skip-lines where they begin)",
          columns.front().name, column.label, column.first_word, column.first_line));
}

}  // namespace samesum::cli
