// The plan of one pass: on which device; arrays and sources; and the reductions that are one field of it.
#include "statistics/collect.hpp"
#include "core/float_environment.hpp"
#include "core/pieces.hpp"
#include "device/array.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace samesum {
namespace {

template <class Options>
CollectOptions options_of(const Options& options, Fields fields) {
  return {fields, options.group_size, options.groups, options.threads};
}

constexpr std::string_view kArray = "npy";  // what has a shape from its beginning

constexpr Fields kExtremes{true, false, false, false};
constexpr Fields kNonzeros{true, false, false, true};
constexpr Fields kSum{false, true, false, false};
constexpr Fields kVariance{false, true, true, false};
constexpr Fields kSquares{false, false, true, false};

// Runs `work` on the CPU, which fills in the number of its threads, and tells of it.
template <class Work>
auto on_cpu(SumReport* report, const Work& work) {
  std::uint32_t threads = 0;
  const auto start = std::chrono::steady_clock::now();
  auto result = work(&threads);
  if (report != nullptr) {
    report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report->configuration = fmt::format("threads={}", threads);
  }
  return result;
}

// With the name of the CPU's loops: of kernels there are several.
SumReport begin_report(const Device& device, std::string_view loops, std::uint64_t bytes) {
  SumReport report;
  report.device = device.info().selector;
  report.variant = loops;
  report.bytes = bytes;
  return report;
}

std::string_view loops_for(const Fields& fields) { return fields == kExtremes ? "extremes" : "statistics"; }

// Element `i` of a view of int64, uint64 or float64, as a text gives them.
Value value_at(View view, std::uint64_t i) {
  const auto* const at = static_cast<const std::byte*>(view.data()) + i * size_of(view.type());
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  if (view.type() == DType::int64) return {static_cast<std::int64_t>(bits), DType::int64};
  if (view.type() == DType::uint64) return {bits, DType::uint64};
  return {std::bit_cast<double>(bits), DType::float64};
}

// An integer of a text, whose chunks of uint64 have smaller ones too: int64 where it is one, wherever the text is cut.
Value of_text(const Value& value) {
  const auto* const integer = std::get_if<std::uint64_t>(&value.number);
  if (integer == nullptr || *integer >> 63 != 0) return value;
  return {static_cast<std::int64_t>(*integer), DType::int64};
}

// The products of what two texts have, of which one has integers and the other other numbers in this place.
void add_products(View a, View b, ProductAccumulator& total) {
  for (std::uint64_t i = 0; i < a.size(); ++i) total.add(value_at(a, i), value_at(b, i));
}

// The report of several chunks together.
class Reports {
 public:
  SumReport* next() noexcept { return &chunk_; }
  void add() {
    if (std::exchange(first_, false)) {
      all_ = chunk_;
    } else {
      all_ += chunk_;
    }
  }
  bool empty() const noexcept { return first_; }
  void give(SumReport* report) {
    if (report != nullptr) *report = all_;
  }

 private:
  SumReport all_, chunk_;
  bool first_ = true;
};

}  // namespace

void statistics::require_alike(DType a, std::uint64_t a_size, DType b, std::uint64_t b_size) {
  if (a == b && a_size == b_size) return;
  throw Error(ErrorKind::usage, fmt::format("a dot product takes two arrays of one length and type: these have {} {} and {} {} elements",
                                            a_size, name_of(a), b_size, name_of(b)));
}

Statistics collect(View data, const Device& device, const CollectOptions& wanted, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  const CollectOptions options = statistics::with_nans(wanted);
  if (!data.contiguous()) {
    Statistics all;
    Reports reports;
    core::for_contiguous_pieces(data, [&](View piece) {
      all.merge(collect(piece, device, options, reports.next()));
      reports.add();
    });
    reports.give(report);
    return all;
  }
  if (report != nullptr) *report = begin_report(device, loops_for(options.fields), data.bytes());
  if (device.info().has(Capability::kernels)) return statistics::collect_on_device(data, device.implementation(), options, report);
  return on_cpu(report, [&](std::uint32_t* threads) { return statistics::collect_cpu(data, options, threads); });
}

Statistics collect(const BufferView& data, const CollectOptions& wanted, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  const Device& device = data.buffer().device();
  if (!device.info().has(Capability::kernels)) return collect(device::host_view(data), device, wanted, report);
  const CollectOptions options = statistics::with_nans(wanted);
  if (report != nullptr) *report = begin_report(device, loops_for(options.fields), data.bytes());
  return statistics::collect_on_device(device::array_of(data), data.type(), device.implementation(), options, report);
}

std::vector<Statistics> collect_columns(Source& source, const Device& device, const CollectOptions& options, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  std::vector<Statistics> all;
  Reports reports;
  if (!options.fields.extremes) source.allow_any_order();  // whose indices are those of the array
  while (const std::optional<View> view = source.next()) {
    Statistics::Contents part = collect(*view, device, options, reports.next()).contents();
    reports.add();
    const auto place = [&](std::uint64_t& index) { index += source.missing_before(index); };
    for (std::optional<Extreme>* end : {&part.least, &part.greatest}) {
      if (!*end) continue;
      place((*end)->index);
      if (!source.type()) (*end)->value = of_text((*end)->value);
    }
    if (part.first_nan) place(*part.first_nan);
    if (source.column() >= all.size()) all.resize(source.column() + 1);
    all[source.column()].merge(Statistics(std::move(part)));
  }
  const std::span<const Column> columns = source.columns();
  all.resize(std::max({all.size(), columns.size(), std::size_t{columns.empty() ? 1u : 0u}}));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Statistics& one = all[i];
    if (one.count() == 0) {
      one = collect(View(nullptr, 0, source.type().value_or(DType::float64)), device, options, reports.next());
      reports.add();
    }
    Statistics::Contents contents = one.contents();
    contents.missing = columns.empty() ? source.missing() : columns[i].missing;
    one = Statistics(std::move(contents));
  }
  reports.give(report);
  return all;
}

Statistics collect(Source& source, const Device& device, const CollectOptions& options, SumReport* report) {
  std::vector<Statistics> all = collect_columns(source, device, options, report);
  require_one_column(source);
  return std::move(all.front());
}

ProductAccumulator dot(View a, View b, const Device& device, const ExecutionOptions& options, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  statistics::require_alike(a.type(), a.size(), b.type(), b.size());
  if (!a.contiguous() || !b.contiguous()) {
    ProductAccumulator total;
    Reports reports;
    const std::uint64_t most = core::kPieceBytes / size_of(a.type());
    for (std::uint64_t first = 0; first < a.size(); first += most) {
      const std::uint64_t count = std::min(most, a.size() - first);
      core::for_contiguous_pieces(a.part(first, count), [&](View left) {
        core::for_contiguous_pieces(b.part(first, count),
                                    [&](View right) { total.merge(dot(left, right, device, options, reports.next())); });
      });
      reports.add();
    }
    reports.give(report);
    return total;
  }
  const CollectOptions how = options_of(options, kSquares);
  if (report != nullptr) *report = begin_report(device, "dot", a.bytes() + b.bytes());
  if (device.info().has(Capability::kernels)) return statistics::dot_on_device(a, b, device.implementation(), how, report);
  return on_cpu(report, [&](std::uint32_t* threads) { return statistics::dot_cpu(a, b, how.threads, threads); });
}

ProductAccumulator dot(const BufferView& a, const BufferView& b, const ExecutionOptions& options, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  statistics::require_alike(a.type(), a.size(), b.type(), b.size());
  const Device& device = a.buffer().device();
  if (&device.implementation() != &b.buffer().device().implementation()) {
    throw Error(ErrorKind::usage,
                fmt::format("a dot product takes two arrays on one device: these lie on {} and {}, or on two queues of it",
                            device.info().selector, b.buffer().device().info().selector));
  }
  if (!device.info().has(Capability::kernels)) return dot(device::host_view(a), device::host_view(b), device, options, report);
  if (report != nullptr) *report = begin_report(device, "dot", a.bytes() + b.bytes());
  return statistics::dot_on_device(device::array_of(a), device::array_of(b), a.type(), device.implementation(),
                                   options_of(options, kSquares), report);
}

ProductAccumulator dot(Source& a, Source& b, const Device& device, const ExecutionOptions& options, SumReport* report) {
  const core::DefaultFloatEnvironment environment;
  if (a.format() == kArray && b.format() == kArray && a.shape() != b.shape()) {
    throw Error(ErrorKind::usage, fmt::format("a dot product takes two arrays of one shape: these have ({}) and ({})",
                                              fmt::join(a.shape(), ", "), fmt::join(b.shape(), ", ")));
  }
  ProductAccumulator total;
  Reports reports;
  std::optional<View> left, right;  // what is left of a chunk
  std::uint64_t done = 0;
  for (;;) {
    if (!left || left->size() == 0) left = a.next();
    if (!right || right->size() == 0) right = b.next();
    if (!left || !right) break;
    const std::uint64_t count = std::min(left->size(), right->size());
    const View one = left->part(0, count), other = right->part(0, count);
    if (one.type() == other.type() || a.type() || b.type()) {
      total.merge(dot(one, other, device, options, reports.next()));
      reports.add();
    } else {
      add_products(one, other, total);
    }
    left = left->part(count, left->size() - count);
    right = right->part(count, right->size() - count);
    done += count;
  }
  if ((left && left->size() != 0) || (right && right->size() != 0)) {
    throw Error(ErrorKind::usage, fmt::format("a dot product takes two arrays of one length: the {} has more than the {}'s {} elements",
                                              left ? "first" : "second", left ? "second" : "first", done));
  }
  require_one_column(a);
  require_one_column(b);
  if (a.missing() + b.missing() != 0) {
    throw Error(ErrorKind::usage, fmt::format("a dot product takes all numbers of both: {} missing in the first, {} in the second",
                                              a.missing(), b.missing()));
  }
  if (reports.empty()) {
    const View none(nullptr, 0, DType::float64);
    total.merge(dot(none, none, device, options, reports.next()));
    reports.add();
  }
  reports.give(report);
  return total;
}

Extreme min(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kExtremes)).min(options.nan);
}
Extreme max(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kExtremes)).max(options.nan);
}
std::pair<Extreme, Extreme> minmax(View data, const Device& device, const ReduceOptions& options) {
  const Statistics found = collect(data, device, options_of(options, kExtremes));
  return {found.min(options.nan), found.max(options.nan)};
}
Extreme min(const BufferView& data, const ReduceOptions& options) { return collect(data, options_of(options, kExtremes)).min(options.nan); }
Extreme max(const BufferView& data, const ReduceOptions& options) { return collect(data, options_of(options, kExtremes)).max(options.nan); }
std::pair<Extreme, Extreme> minmax(const BufferView& data, const ReduceOptions& options) {
  const Statistics found = collect(data, options_of(options, kExtremes));
  return {found.min(options.nan), found.max(options.nan)};
}

std::uint64_t count_nonzero(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kNonzeros)).nonzero_count(options.nan);
}
bool any(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kNonzeros)).any(options.nan);
}
bool all(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kNonzeros)).all(options.nan);
}

double mean(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kSum)).mean(options.nan);
}
double variance(View data, const Device& device, std::uint64_t ddof, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kVariance)).variance(ddof, options.nan);
}
double standard_deviation(View data, const Device& device, std::uint64_t ddof, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kVariance)).standard_deviation(ddof, options.nan);
}
double squared_norm(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kSquares)).squared_norm(options.nan);
}
double norm(View data, const Device& device, const ReduceOptions& options) {
  return collect(data, device, options_of(options, kSquares)).norm(options.nan);
}

}  // namespace samesum
