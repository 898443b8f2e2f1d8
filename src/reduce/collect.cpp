// The plan of one pass: on which device; arrays and sources; and the reductions that are one field of it.
#include "reduce/collect.hpp"
#include "core/array/array_blocks.hpp"
#include "core/array/pieces.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/reports.hpp"
#include "device/memory/run.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace samesum {
namespace {

using statistics::CollectOptions;

constexpr std::string_view kArray = "npy";  // what has a shape from its beginning

constexpr Fields kExtremes{true, false, false, false};
constexpr Fields kNonzeros{true, false, false, true};
constexpr Fields kSum{false, true, false, false};
constexpr Fields kVariance{false, true, true, false};
constexpr Fields kSquares{false, false, true, false};

// Runs `work` on the CPU, which fills in the number of its threads, and tells of it.
template <class Work>
auto on_cpu(Report* report, const Work& work) {
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
Report begin_report(const Device& device, std::string_view loops, std::uint64_t bytes) {
  Report report;
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

// Where extremes are is told by the order of indices; for all else elements may come as they lie.
core::Order order_for(const Fields& fields) { return fields.extrema ? core::Order::index : core::Order::memory; }

// What was collected of an array in several parts.
class Parts {
 public:
  explicit Parts(Report* report) : reports_(report) {}
  Report* report() noexcept { return reports_.next(); }
  void add(Statistics part) {
    all_ ? all_->merge(part) : static_cast<void>(all_ = std::move(part));
    reports_.add();
  }
  Statistics all() { return std::move(*all_); }

 private:
  core::Reports reports_;
  std::optional<Statistics> all_;
};

// Two arrays of one shape, as runs of the same elements: body(View, View).
template <class Body>
void for_blocks_of_both(const Array& a, const Array& b, const Body& body) {
  const auto one = core::single_view(a, core::Order::index), other = core::single_view(b, core::Order::index);
  if (one && other) return body(*one, *other);
  core::ArrayBlocks left_blocks(a, core::Order::index), right_blocks(b, core::Order::index);
  std::optional<View> left = left_blocks.next(), right = right_blocks.next();
  while (left && right) {
    const std::uint64_t count = std::min(left->size(), right->size());
    body(left->part(0, count), right->part(0, count));
    left = count == left->size() ? left_blocks.next() : left->part(count, left->size() - count);
    right = count == right->size() ? right_blocks.next() : right->part(count, right->size() - count);
  }
}

}  // namespace

void statistics::require_alike(const Array& a, const Array& b) {
  if (a.type() == b.type() && std::ranges::equal(a.shape(), b.shape())) return;
  if (a.rank() <= 1 && b.rank() <= 1) {
    throw Error(ErrorKind::usage, fmt::format("a dot product takes two arrays of one length and type: these have {} {} and {} {} elements",
                                              a.size(), name_of(a.type()), b.size(), name_of(b.type())));
  }
  throw Error(ErrorKind::usage,
              fmt::format("a dot product takes two arrays of one shape and type: these have {} {} and {} {} elements",
                          fmt::join(a.shape(), " x "), name_of(a.type()), fmt::join(b.shape(), " x "), name_of(b.type())));
}

namespace {

// `slack`, where given: sums may be rounded, and it becomes how far they may be off.
Statistics collect_array(const Array& data, const Fields& wanted, const Options& all, statistics::Slack* slack) {
  const core::DefaultFloatEnvironment environment;
  const Device device = device::device_for(data, data.bytes(), all);
  CollectOptions options = statistics::with_nans(statistics::collect_options(wanted, all.tuning));
  options.slack = slack;
  Report* const report = all.report;
  const bool on_kernels = device.info().has(Capability::kernels);
  const core::Order order = order_for(options.fields);
  const auto of_piece = [&](View piece, Report* part) {
    if (part != nullptr) *part = begin_report(device, loops_for(options.fields), piece.bytes());
    if (on_kernels) return statistics::collect_on_device(piece, device.implementation(), options, part);
    return on_cpu(part, [&](std::uint32_t* threads) { return statistics::collect_cpu(piece, options, threads); });
  };
  const auto of_run = [&](const device::Run& run, Report* part) {
    if (part != nullptr) *part = begin_report(device, loops_for(options.fields), run.count * size_of(data.type()));
    return statistics::collect_on_device(run, data.type(), device.implementation(), options, part);
  };
  Parts parts(report);
  core::ProgressParts progress(all, data.bytes(), on_kernels);
  if (data.on_device()) {
    device::require_on(data, device);
    if (!on_kernels) return collect_array(device::on_host(data), wanted, device::on(device, all), slack);
    if (const auto run = device::run_of_rows(data, order); run && !progress.wanted()) return of_run(*run, report);
    device::for_runs(data, order, [&](const device::Run& run) {
      parts.add(of_run(run, parts.report()));
      progress.add(run.count * size_of(data.type()));
    });
  } else {
    if (const auto view = core::single_view(data, order); view && view->contiguous() && !progress.wanted()) return of_piece(*view, report);
    core::for_blocks(data, order, [&](View block) {
      progress.for_parts(
          block, [&](View part) { core::for_contiguous_pieces(part, [&](View piece) { parts.add(of_piece(piece, parts.report())); }); });
    });
  }
  return parts.all();
}

// What `finish` makes of sums and squares, where that does not hang on what was rounded away of them: where both ends of the interval that
// holds the exact result round to the same, as for sums (reduce/cpu/sum_cpu.cpp). It grows with the sum of squares, and falls with the
// sum's magnitude.
template <class Finish>
double enclosed(const Array& data, const Fields& fields, const Options& options, const Finish& finish) {
  const core::DefaultFloatEnvironment environment;
  statistics::Slack slack;
  const Statistics found = collect_array(data, fields, options, &slack);
  if (slack.squares.number == 0) return finish(found);
  Statistics::Contents low = found.contents(), high = low;
  const auto add = [&](ProductAccumulator& squares, double times) {
    int exponent = 0;
    const double mantissa = std::ldexp(std::frexp(times * slack.squares.number, &exponent), 53);
    squares.add_scaled(static_cast<std::int64_t>(mantissa), exponent - 53 + slack.squares.exponent + ProductAccumulator::kUnit);
  };
  add(low.squares, -2);
  add(high.squares, 2);
  if (slack.sum != 0) {
    const double sum = found.sum().round(NanPolicy::skip), off = std::copysign(2 * slack.sum, sum);
    low.sum.add_finite(off);
    std::abs(sum) > 2 * std::abs(off) ? high.sum.add_finite(-off) : static_cast<void>(high.sum = {});
  }
  const Statistics least(low), most(high);
  if ((fields.sum ? least.variance(0, NanPolicy::skip) : least.squared_norm(NanPolicy::skip)) > 0) {
    const double value = finish(least);
    if (std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(finish(most))) return value;
  }
  Options again = options;
  again.progress = {};
  return finish(collect_array(data, fields, again, nullptr));
}

}  // namespace

Statistics collect(const Array& data, const Fields& wanted, const Options& options) {
  return statistics::without_nans_field(collect_array(data, wanted, options, nullptr), wanted);
}

std::uint64_t statistics::positions_of_launch(const Terms& terms, bool progress) {
  return progress ? core::ProgressParts::kKernelPartBytes / size_of(terms.type()) : ~std::uint64_t{0};
}

std::unique_ptr<statistics::Terms> statistics::terms_of(Source& source, const Device& device) {
  const std::optional<Device> there = source.device();
  if (!there || &there->implementation() != &device.implementation()) return nullptr;
  auto* const of_terms = dynamic_cast<TermSource*>(&source);
  return of_terms != nullptr ? of_terms->take_terms() : nullptr;
}

std::unique_ptr<statistics::HostTerms> statistics::host_terms_of(Source& source, const Device& device, core::ProgressParts& progress) {
  if (device.info().has(Capability::kernels)) return nullptr;
  auto* const of_terms = dynamic_cast<TermSource*>(&source);
  auto terms = of_terms != nullptr ? of_terms->take_host_terms() : nullptr;
  if (terms != nullptr) terms->progress = &progress;
  return terms;
}

std::vector<Statistics> collect_columns(Source& source, const Fields& fields, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::vector<Statistics> all;
  core::Reports reports(options.report);
  core::ProgressParts progress(options, core::known_bytes(source));
  Options of_part = progress.of_chunk(device::on(device::device_for(source, options), options));
  const auto collect_part = [&](const Array& part) {
    of_part.report = reports.next();
    Statistics found = collect(part, fields, of_part);
    progress.skip(part.bytes());
    reports.add();
    return found;
  };
  if (!fields.extrema) source.allow_any_order();  // whose indices are those of the array
  if (const auto terms = statistics::terms_of(source, *of_part.device)) {
    const std::uint64_t each = size_of(terms->type());
    const CollectOptions how = statistics::with_nans(statistics::collect_options(fields, options.tuning));
    of_part.report = reports.next();
    if (of_part.report != nullptr) *of_part.report = begin_report(*of_part.device, loops_for(how.fields), terms->size() * each);
    all.push_back(statistics::collect_terms(*terms, how, statistics::positions_of_launch(*terms, progress.wanted()), of_part.report,
                                            [&](std::uint64_t count) { progress.add(count * each); }));
    reports.add();
  }
  if (const auto terms = statistics::host_terms_of(source, *of_part.device, progress)) {
    const CollectOptions how = statistics::with_nans(statistics::collect_options(fields, options.tuning));
    of_part.report = reports.next();
    if (of_part.report != nullptr)
      *of_part.report = begin_report(*of_part.device, loops_for(how.fields), terms->size() * size_of(terms->type()));
    all.push_back(on_cpu(of_part.report, [&](std::uint32_t* threads) { return statistics::collect_cpu(*terms, how, threads); }));
    reports.add();
  }
  while (const std::optional<Array> view = source.next()) {
    Statistics::Contents part = collect_part(*view).contents();
    const auto place = [&](std::uint64_t& index) { index += source.missing_before(index); };
    for (std::optional<Extremum>* end : {&part.min, &part.max}) {
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
    if (one.count() == 0) one = collect_part(Array(nullptr, 0, source.type().value_or(DType::float64)));
    Statistics::Contents contents = one.contents();
    contents.missing = columns.empty() ? source.missing() : columns[i].missing;
    one = statistics::without_nans_field(Statistics(std::move(contents)), fields);
  }
  return all;
}

Statistics collect(Source& source, const Fields& fields, const Options& options) {
  std::vector<Statistics> all = collect_columns(source, fields, options);
  require_one_column(source);
  return std::move(all.front());
}

ProductAccumulator dot(const Array& a, const Array& b, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const Device device = device::device_for(a.on_device() ? a : b, a.bytes() + b.bytes(), options);
  statistics::require_alike(a, b);
  if (a.on_device() != b.on_device() || (a.on_device() && &a.buffer().device().implementation() != &b.buffer().device().implementation())) {
    const auto place = [](const Array& array) { return array.on_device() ? array.buffer().device().info().selector : "the host"; };
    throw Error(
        ErrorKind::usage,
        fmt::format("a dot product takes two arrays on one device: these lie on {} and {}, or on two queues of it", place(a), place(b)));
  }
  const CollectOptions how = statistics::collect_options(kSquares, options.tuning);
  const bool on_kernels = device.info().has(Capability::kernels);
  core::Reports reports(options.report);
  ProductAccumulator total;
  core::ProgressParts progress(options, a.bytes() + b.bytes(), on_kernels);
  const auto add = [&](std::uint64_t bytes, const auto& work) {
    Report* const part = reports.next();
    if (part != nullptr) *part = begin_report(device, "dot", bytes);
    total.merge(work(part));
    reports.add();
  };
  if (a.on_device()) {
    device::require_on(a, device);
    if (!on_kernels) return dot(device::on_host(a), device::on_host(b), device::on(device, options));
    device::for_runs_of_both(a, b, [&](const device::Run& left, const device::Run& right) {
      add(2 * left.count * size_of(a.type()),
          [&](Report* part) { return statistics::dot_on_device(left, right, a.type(), device.implementation(), how, part); });
    });
    return total;
  }
  const auto add_pieces = [&](View left, View right) {
    add(left.bytes() + right.bytes(), [&](Report* part) {
      if (on_kernels) return statistics::dot_on_device(left, right, device.implementation(), how, part);
      return on_cpu(part, [&](std::uint32_t* threads) { return statistics::dot_cpu(left, right, how.threads, threads); });
    });
  };
  const auto add_both = [&](View left, View right) {
    if (left.contiguous() && right.contiguous()) return add_pieces(left, right);
    const std::uint64_t most = core::kPieceBytes / size_of(a.type());
    for (std::uint64_t first = 0; first < left.size(); first += most) {
      const std::uint64_t count = std::min(most, left.size() - first);
      core::for_contiguous_pieces(left.part(first, count), [&](View one) {
        core::for_contiguous_pieces(right.part(first, count), [&](View other) { add_pieces(one, other); });
      });
    }
  };
  for_blocks_of_both(a, b, [&](View left, View right) { progress.for_parts(left, right, add_both); });
  return total;
}

ProductAccumulator dot(Source& a, Source& b, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  if (a.format() == kArray && b.format() == kArray && a.shape() != b.shape()) {
    throw Error(ErrorKind::usage, fmt::format("a dot product takes two arrays of one shape: these have ({}) and ({})",
                                              fmt::join(a.shape(), ", "), fmt::join(b.shape(), ", ")));
  }
  ProductAccumulator total;
  core::Reports reports(options.report);
  core::ProgressParts progress(options, core::known_bytes(a) + core::known_bytes(b));
  Options of_part = progress.of_chunk(device::on(
      a.device() ? device::device_for(a, options) : device::device_for(a.resident_bytes() + b.resident_bytes(), options), options));
  const auto add_part = [&](const Array& left, const Array& right) {
    of_part.report = reports.next();
    total.merge(dot(left, right, of_part));
    progress.skip(left.bytes() + right.bytes());
    reports.add();
  };
  bool any = false;
  std::optional<Array> left, right;  // what is left of a chunk
  std::uint64_t done = 0;
  for (;;) {
    if (!left || left->size() == 0) left = a.next();
    if (!right || right->size() == 0) right = b.next();
    if (!left || !right) break;
    const std::uint64_t count = std::min(left->size(), right->size());
    const Array one = left->part(0, count), other = right->part(0, count);
    if (one.type() == other.type() || a.type() || b.type()) {
      add_part(one, other);
      any = true;
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
  if (!any) {
    const Array none(nullptr, 0, DType::float64);
    add_part(none, none);
  }
  return total;
}

namespace {

std::pair<Extremum, Extremum> both_ends(const Statistics& found, NanPolicy nan) { return {found.min(nan), found.max(nan)}; }

}  // namespace

// A NaN has the type of the elements, also if there is nothing else.
static Extremum of_type(Extremum found, DType type) {
  if (!is_integer(type)) found.value.type = type;
  return found;
}

Extremum min(const Array& data, const Options& options) { return of_type(collect(data, kExtremes, options).min(options.nan), data.type()); }
Extremum max(const Array& data, const Options& options) { return of_type(collect(data, kExtremes, options).max(options.nan), data.type()); }
std::pair<Extremum, Extremum> minmax(const Array& data, const Options& options) {
  const auto [least, greatest] = both_ends(collect(data, kExtremes, options), options.nan);
  return {of_type(least, data.type()), of_type(greatest, data.type())};
}

std::uint64_t count_nonzero(const Array& data, const Options& options) {
  return collect(data, kNonzeros, options).nonzero_count(options.nan);
}
bool any(const Array& data, const Options& options) { return collect(data, kNonzeros, options).any(options.nan); }
bool all(const Array& data, const Options& options) { return collect(data, kNonzeros, options).all(options.nan); }

double mean(const Array& data, const Options& options) { return collect(data, kSum, options).mean(options.nan); }
double variance(const Array& data, std::uint64_t ddof, const Options& options) {
  return enclosed(data, kVariance, options, [&](const Statistics& found) { return found.variance(ddof, options.nan); });
}
double standard_deviation(const Array& data, std::uint64_t ddof, const Options& options) {
  return enclosed(data, kVariance, options, [&](const Statistics& found) { return found.standard_deviation(ddof, options.nan); });
}
double squared_norm(const Array& data, const Options& options) {
  return enclosed(data, kSquares, options, [&](const Statistics& found) { return found.squared_norm(options.nan); });
}
double norm(const Array& data, const Options& options) {
  return enclosed(data, kSquares, options, [&](const Statistics& found) { return found.norm(options.nan); });
}

}  // namespace samesum
