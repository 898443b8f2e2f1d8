// Bins, and the statistics computed from their counts.
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>

#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "core/visit.hpp"
#include "exact/counted.hpp"
#include "histogram/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace samesum {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGreatest = std::numeric_limits<double>::max();
constexpr std::uint64_t kGrain = std::uint64_t{1} << 14;  // edges that a thread takes at once

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

void check_slots(const Bins& bins, std::size_t slots) {
  if (slots == bins.count() + 3) return;
  refuse(fmt::format("a histogram over {} bins is made of {} counts: those below, in, and above all bins, and of NaNs; here are {}",
                     bins.count(), bins.count() + 3, slots));
}

void check(double low, double high, std::uint64_t count) {
  if (!std::isfinite(low) || !std::isfinite(high)) refuse(fmt::format("bins from {} to {}: bounds must be finite numbers", low, high));
  if (low >= high) refuse(fmt::format("bins from {} to {}: the lower bound must be less than the upper one", low, high));
  if (count < 1 || count > Bins::kMax) refuse(fmt::format("{} bins: there can be 1 to {} (2^24)", count, Bins::kMax));
}

// The ceiling of p * count, exactly; 0 <= p <= 1.
std::uint64_t ceil_of_product(double p, std::uint64_t count) {
  __extension__ using Wide = unsigned __int128;
  int exponent = 0;
  const double fraction = std::frexp(p, &exponent);  // in [0.5, 1), or 0; p = fraction * 2^exponent
  const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(std::ldexp(fraction, 53))) * count;
  const int shift = 53 - exponent;                // 52 or more
  if (shift >= 120) return product != 0 ? 1 : 0;  // the product has at most 117 bits
  return static_cast<std::uint64_t>((product >> shift) + ((product & ((Wide{1} << shift) - 1)) != 0 ? 1 : 0));
}

// Whether value >= edge, and value > edge, as real numbers; of integers that no double may hold.
template <class T>
bool reaches(T value, double edge) {
  if constexpr (std::is_integral_v<T>) {
    const double whole = std::ceil(edge);
    if (whole <= static_cast<double>(std::numeric_limits<T>::min())) return true;
    return whole < std::ldexp(1.0, std::numeric_limits<T>::digits) && value >= static_cast<T>(whole);
  } else {
    return static_cast<double>(value) >= edge;
  }
}
template <class T>
bool is_greater(T value, double edge) {
  if constexpr (std::is_integral_v<T>) {
    const double whole = std::floor(edge);
    if (whole < static_cast<double>(std::numeric_limits<T>::min())) return true;
    return whole < std::ldexp(1.0, std::numeric_limits<T>::digits) && value > static_cast<T>(whole);
  } else {
    return static_cast<double>(value) > edge;
  }
}

}  // namespace

// Requires the default floating-point environment: where denormals are flushed, one would be taken for zero.
Bins::Bins(detail::Edges edges, std::string_view kind) : edges_(std::make_shared<const detail::Edges>(std::move(edges))), kind_(kind) {}

Bins Bins::even(double low, double high, std::uint64_t count) {
  const core::DefaultFloatEnvironment environment;
  check(low, high, count);
  const auto n = static_cast<double>(count);
  const double width = high - low;
  const bool overflows = std::isinf(width);  // numpy has no result for it
  const double step = overflows ? high / n - low / n : width / n;
  detail::Edges edges(count + 1);
  // Each operation's rounding keeps the order, so that edges ascend; the last ones may be rounded to beyond `high`. Each case has a loop of
  // its own, of which compilers make vectors. Adding 0 makes 0 of -0.0, which is the same edge.
  const auto set = [&](auto edge) {
    core::parallel_parts(count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) edges[i] = std::min(edge(static_cast<double>(static_cast<std::int64_t>(i))), high) + 0.0;
    });
  };
  if (overflows) {
    set([&](double index) { return 2 * (index / 2 * step + low / 2); });  // halved and doubled, where i * step overflows a double
  } else if (step == 0) {
    set([&](double index) { return index / n * width + low; });  // as numpy, where the step underflows to 0
  } else {
    set([&](double index) { return index * step + low; });
  }
  edges.front() = low + 0.0;
  edges.back() = high + 0.0;
  return {std::move(edges), "even"};
}

Bins Bins::spanning(double least, double greatest, std::uint64_t count) {
  const core::DefaultFloatEnvironment environment;
  if (least != greatest || !std::isfinite(least)) return even(least, greatest, count);
  const double low = least - 0.5, high = least + 0.5;
  const double below = low < least ? low : std::nextafter(least, -kInfinity),
               above = high > least ? high : std::nextafter(least, kInfinity);
  return even(std::max(below, -kGreatest), std::min(above, kGreatest), count);
}

Bins Bins::logarithmic(double low, double high, std::uint64_t count) {
  const core::DefaultFloatEnvironment environment;
  check(low, high, count);
  if (low <= 0) refuse(fmt::format("logarithmic bins from {}: the lower bound must be greater than 0", low));
  const double from = std::log10(low), to = std::log10(high);  // log10, so that decades are exact
  detail::Edges edges(count + 1);
  edges.front() = low;
  for (std::uint64_t i = 1; i < count; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(count);
    edges[i] = std::clamp(std::pow(10.0, from + fraction * (to - from)), edges[i - 1], high);
  }
  edges.back() = high;
  return {std::move(edges), "logarithmic"};
}

Bins Bins::each_value(std::int64_t first, std::int64_t last) {
  const core::DefaultFloatEnvironment environment;
  constexpr std::int64_t kLimit = std::int64_t{1} << 51;
  if (first > last) refuse(fmt::format("a bin for each integer from {} to {}: there are none", first, last));
  if (first < -kLimit || last > kLimit) {
    refuse(fmt::format("a bin for each integer from {} to {}: beyond 2^51 there are no doubles between integers; take other edges", first,
                       last));
  }
  const auto count = static_cast<std::uint64_t>(last - first) + 1;
  if (count > kMax) refuse(fmt::format("a bin for each integer from {} to {}: there can be {} (2^24) bins", first, last, kMax));
  detail::Edges edges(count + 1);
  for (std::uint64_t i = 0; i <= count; ++i) edges[i] = static_cast<double>(first + static_cast<std::int64_t>(i)) - 0.5;
  return {std::move(edges), "each value"};
}

Bins Bins::each_value(DType type) {
  if (!is_integer(type) || size_of(type) > 2) {
    refuse(
        fmt::format("a bin for each value of {}: that is for integers of 8 and 16 bits; name the first and the last value", name_of(type)));
  }
  const std::int64_t values = std::int64_t{1} << (8 * size_of(type));
  const std::int64_t first = is_signed(type) ? -values / 2 : 0;
  return each_value(first, first + values - 1);
}

Bins Bins::categories(std::vector<std::string> names) {
  if (names.empty() || names.size() > kMax) refuse(fmt::format("{} categories: there can be 1 to {} (2^24)", names.size(), kMax));
  Bins bins = each_value(0, static_cast<std::int64_t>(names.size()) - 1);
  bins.kind_ = "categories";
  bins.names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
  return bins;
}

std::span<const std::string> Bins::names() const noexcept {
  return names_ != nullptr ? std::span<const std::string>(*names_) : std::span<const std::string>();
}

std::int64_t Bins::index_of(const void* sample, DType type) const {
  const core::DefaultFloatEnvironment environment;
  if (formula_ != nullptr) {
    const Histogram one = histogram(Array(sample, 1, type), *this, {.device = Device::open("cpu")});
    if (one.under() != 0) return kUnder;
    if (one.over() != 0) return kOver;
    if (one.nan_count() != 0) return kNan;
    return std::find(one.counts().begin(), one.counts().end(), 1) - one.counts().begin();
  }
  return core::visit(type, [&](auto element) -> std::int64_t {
    std::memcpy(&element, sample, sizeof element);
    using T = decltype(element);
    const auto value = static_cast<std::conditional_t<std::is_arithmetic_v<T>, T, float>>(element);
    if constexpr (!std::is_integral_v<T>) {
      if (std::isnan(value)) return kNan;
    }
    if (!reaches(value, low())) return kUnder;
    if (is_greater(value, high())) return kOver;
    // The last edge belongs to the bin below it.
    const auto above = std::partition_point(edges_->begin(), edges_->end() - 1, [&](double edge) { return reaches(value, edge); });
    return above - edges_->begin() - 1;
  });
}

Bins Bins::between(std::vector<double> edges) {
  const core::DefaultFloatEnvironment environment;
  if (edges.size() < 2) refuse(fmt::format("{} edges: bins need two or more", edges.size()));
  if (edges.size() - 1 > kMax) refuse(fmt::format("{} bins: there can be 1 to {} (2^24)", edges.size() - 1, kMax));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!std::isfinite(edges[i])) refuse(fmt::format("edge {} is {}: edges must be finite numbers", i, edges[i]));
    if (i > 0 && edges[i] < edges[i - 1]) {
      refuse(fmt::format("edge {} is {}, less than the one before it, {}: edges must be in ascending order", i, edges[i], edges[i - 1]));
    }
  }
  if (edges.front() == edges.back()) refuse(fmt::format("all edges are {}: the last must be greater than the first", edges.front()));
  detail::Edges own(edges.size());
  std::ranges::transform(edges, own.begin(), [](double edge) { return edge + 0.0; });  // -0.0 is the edge 0
  return {std::move(own), "edges"};
}

double Quantile::error() const noexcept {
  const core::DefaultFloatEnvironment environment;
  return std::isinf(value) ? kInfinity : std::max(value - low, high - value);
}

Histogram::Histogram(Bins bins) : bins_(std::move(bins)), counts_(bins_.count(), std::uint64_t{0}) {}

Histogram::Histogram(Bins bins, std::span<const std::uint64_t> slots) : bins_(std::move(bins)) {
  check_slots(bins_, slots.size());
  counts_.assign(slots.begin() + 1, slots.end() - 2);
  under_ = slots.front();
  over_ = slots[slots.size() - 2];
  nan_ = slots.back();
  check_total();
}

// Fewer than 2^32 slots of less than 2^32 samples: their sum needs no check.
Histogram::Histogram(Bins bins, std::span<const std::uint32_t> slots) : bins_(std::move(bins)) {
  check_slots(bins_, slots.size());
  counts_.resize(bins_.count());
  core::parallel_parts(counts_.size(), std::uint64_t{1} << 15, [&](std::uint64_t begin, std::uint64_t end) {
    std::copy(slots.begin() + 1 + begin, slots.begin() + 1 + end, counts_.begin() + begin);
  });
  under_ = slots.front();
  over_ = slots[slots.size() - 2];
  nan_ = slots.back();
}

Histogram::Histogram(Bins bins, const std::vector<std::uint64_t>& counts, std::uint64_t under, std::uint64_t over, std::uint64_t nan)
    : bins_(std::move(bins)), counts_(counts.begin(), counts.end()), under_(under), over_(over), nan_(nan) {
  if (counts_.size() != bins_.count()) {
    refuse(fmt::format("a histogram over {} bins is made of as many counts; here are {}", bins_.count(), counts_.size()));
  }
  check_total();
}

// The halves of all counts apart, as neither of their sums can overflow, and a compiler makes vectors of them.
void Histogram::check_total() const {
  std::uint64_t low = 0, high = 0;
  for (const std::uint64_t count : counts_) {
    low += count & 0xffffffff;
    high += count >> 32;
  }
  high += low >> 32;
  std::uint64_t total = exact::counted(exact::counted(under_, over_), nan_);
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  exact::counted(total, high >> 32 == 0 ? high << 32 | (low & 0xffffffff) : kMax);
  if (high >> 32 != 0) exact::counted(kMax, 1);  // throws
}

std::uint64_t Histogram::inside() const noexcept { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

std::vector<double> Histogram::density() const {
  const core::DefaultFloatEnvironment environment;
  const auto edges = bins_.edges();
  const auto n = static_cast<double>(inside());
  std::vector<double> result(counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const double width = edges[i + 1] - edges[i];
    if (counts_[i] != 0 && width > 0) result[i] = static_cast<double>(counts_[i]) / width / n;
  }
  return result;
}

std::vector<std::uint64_t> Histogram::cumulative() const {
  std::vector<std::uint64_t> result(counts_.size());
  std::partial_sum(counts_.begin(), counts_.end(), result.begin());
  return result;
}

Quantile Histogram::quantile(double p) const {
  const core::DefaultFloatEnvironment environment;
  if (!(p >= 0 && p <= 1)) refuse(fmt::format("the quantile of {}: it must lie in 0..1", p));
  const std::uint64_t samples = total() - nan_;
  if (samples == 0) throw Error(ErrorKind::no_answer, "there is no quantile of no samples");
  // The rank of the requested sample, counted from 1.
  std::uint64_t rank = std::clamp<std::uint64_t>(ceil_of_product(p, samples), 1, samples);
  if (rank <= under_) return {-kInfinity, -kInfinity, bins_.low()};
  rank -= under_;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (rank <= counts_[i]) {
      const double low = bins_.edges()[i], high = bins_.edges()[i + 1];
      const double part = (static_cast<double>(rank) - 0.5) / static_cast<double>(counts_[i]);
      return {std::clamp(low * (1 - part) + high * part, low, high), low, high};
    }
    rank -= counts_[i];
  }
  return {kInfinity, bins_.high(), kInfinity};
}

Histogram Histogram::slice(std::uint64_t first, std::uint64_t count) const {
  return HistogramNd({bins_}, binning::slots_of(*this)).slice(0, first, count).projection(0);
}

Histogram Histogram::rebin(std::uint64_t factor) const {
  return HistogramNd({bins_}, binning::slots_of(*this)).rebin(0, factor).projection(0);
}

void Histogram::merge(const Histogram& other) {
  if (bins_ != other.bins_) refuse("histograms over different bins cannot be added");
  exact::counted(total(), other.total());  // checked before any change; no single count can exceed the total
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  under_ += other.under_;
  over_ += other.over_;
  nan_ += other.nan_;
}

}  // namespace samesum
