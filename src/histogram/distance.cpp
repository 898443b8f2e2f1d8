// Distances between histograms, from their integer counts.
#include <samesum/error.hpp>
#include <samesum/histogram_distance.hpp>
#include <samesum/map_source.hpp>
#include <samesum/sum.hpp>

#include "core/float_environment.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace samesum {
namespace {

__extension__ using Wide = unsigned __int128;
using Counts = std::vector<std::uint64_t>;

// The counts of two histograms, and how many samples there are in all bins. With these totals A and B, p = a B / (A B) and q = b A / (A B):
// all numerators are integers of less than 128 bits.
struct Pair {
  Counts a, b;
  std::uint64_t a_total = 0, b_total = 0;

  template <class H>
  static Pair of(const H& a, const H& b, bool alike) {
    if (!alike) throw Error(ErrorKind::usage, "histograms over different bins cannot be compared");
    const auto a_counts = a.counts(), b_counts = b.counts();
    Pair pair{Counts(a_counts.begin(), a_counts.end()), Counts(b_counts.begin(), b_counts.end())};
    pair.a_total = std::accumulate(pair.a.begin(), pair.a.end(), std::uint64_t{0});
    pair.b_total = std::accumulate(pair.b.begin(), pair.b.end(), std::uint64_t{0});
    if (pair.a_total == 0 || pair.b_total == 0) {
      throw Error(ErrorKind::no_answer, "a histogram without samples in its bins has no distance from another");
    }
    return pair;
  }
  static Pair of(const Histogram& a, const Histogram& b) { return of(a, b, a.bins() == b.bins()); }
  static Pair of(const HistogramNd& a, const HistogramNd& b) { return of(a, b, a.axes() == b.axes()); }

  std::size_t size() const { return a.size(); }
  Wide p(std::size_t i) const { return Wide{a[i]} * b_total; }
  Wide q(std::size_t i) const { return Wide{b[i]} * a_total; }
  double whole() const { return static_cast<double>(Wide{a_total} * b_total); }
};

Wide difference(Wide x, Wide y) { return x > y ? x - y : y - x; }

double intersection_of(const Pair& pair) {
  Wide sum = 0;
  for (std::size_t i = 0; i < pair.size(); ++i) sum += std::min(pair.p(i), pair.q(i));
  return static_cast<double>(sum) / pair.whole();
}

double chi_squared_of(const Pair& pair) {
  const double whole = pair.whole();
  Accumulator sum;
  for (std::size_t i = 0; i < pair.size(); ++i) {
    const auto away = static_cast<double>(difference(pair.p(i), pair.q(i))) / whole;
    const double share = static_cast<double>(pair.p(i)) / whole + static_cast<double>(pair.q(i)) / whole;
    if (away != 0) sum.add(away * (away / share));
  }
  return std::min(sum.round() / 2, 1.0);
}

double jensen_shannon_of(const Pair& pair) {
  // Of the bins that have samples of both, with shares that differ; those that have samples of one give half of its share each.
  const double whole = pair.whole();
  std::vector<double> p, q;
  Accumulator sum;
  for (std::size_t i = 0; i < pair.size(); ++i) {
    const double p_share = static_cast<double>(pair.p(i)) / whole, q_share = static_cast<double>(pair.q(i)) / whole;
    if (pair.p(i) == 0 || pair.q(i) == 0) {
      sum.add(p_share + q_share);
    } else if (pair.p(i) != pair.q(i)) {
      p.push_back(p_share);
      q.push_back(q_share);
    }
  }
  if (!p.empty()) {
    constexpr double kBit = 0x1.62e42fefa39efp-1;  // the logarithm of 2
    const Formula divergence("(p*log(2*p/(p + q)) + q*log(2*q/(p + q)))/bit");
    const std::vector<FormulaParameter> bit = {{"bit", kBit}};
    sum.merge(accumulate(*map(divergence, {{"p", p}, {"q", q}}, bit), {.device = Device::open("cpu")}));
  }
  return std::clamp(sum.round() / 2, 0.0, 1.0);
}

}  // namespace

double intersection(const Histogram& a, const Histogram& b) {
  const core::DefaultFloatEnvironment environment;
  return intersection_of(Pair::of(a, b));
}
double intersection(const HistogramNd& a, const HistogramNd& b) {
  const core::DefaultFloatEnvironment environment;
  return intersection_of(Pair::of(a, b));
}

double chi_squared(const Histogram& a, const Histogram& b) {
  const core::DefaultFloatEnvironment environment;
  return chi_squared_of(Pair::of(a, b));
}
double chi_squared(const HistogramNd& a, const HistogramNd& b) {
  const core::DefaultFloatEnvironment environment;
  return chi_squared_of(Pair::of(a, b));
}

double earth_movers(const Histogram& a, const Histogram& b) {
  const core::DefaultFloatEnvironment environment;
  const Pair pair = Pair::of(a, b);
  const auto edges = a.bins().edges();
  const double whole = pair.whole();
  Accumulator sum;
  Wide p = 0, q = 0;  // of all bins so far
  for (std::size_t i = 0; i + 1 < pair.size(); ++i) {
    p += pair.p(i);
    q += pair.q(i);
    // From the middle of this bin to that of the next one: halves first, as the whole may exceed the range of doubles.
    const double step = edges[i + 2] / 2 - edges[i] / 2;
    sum.add(static_cast<double>(difference(p, q)) / whole * step);
  }
  return sum.round();
}

double jensen_shannon(const Histogram& a, const Histogram& b) {
  const core::DefaultFloatEnvironment environment;
  return jensen_shannon_of(Pair::of(a, b));
}
double jensen_shannon(const HistogramNd& a, const HistogramNd& b) {
  const core::DefaultFloatEnvironment environment;
  return jensen_shannon_of(Pair::of(a, b));
}

}  // namespace samesum
