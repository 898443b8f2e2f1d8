// How far two histograms over the same bins are from each other.
//
//   const double d = samesum::earth_movers(samesum::histogram(a, bins), samesum::histogram(b, bins));
//
// With a[i] and b[i] the counts of the bins, and p[i] = a[i] / sum(a), q[i] = b[i] / sum(b): the shares of the samples that are in bins.
// Samples outside of them are not compared. The arguments may have different numbers of samples. Terms are computed from exact integers and
// added up exactly, so that results are the same on every machine, and within a few units in the last place (the Jensen-Shannon
// divergence: of the last place of 1); equal shares give exactly 1 (intersection) or 0. O(bins).
// All of them: @throws Error (usage) for other bins; Error (no_answer) if one has no samples in its bins.
#pragma once

#include <samesum/export.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>

namespace samesum SAMESUM_EXPORT {

/// The sum of min(p[i], q[i]): 1 for equal shares, 0 if no bin has samples of both. Swain and Ballard, "Color Indexing" (1991).
double intersection(const Histogram& a, const Histogram& b);
double intersection(const HistogramNd& a, const HistogramNd& b);

/// Half the sum of (p[i] - q[i])^2 / (p[i] + q[i]): 0 for equal shares, 1 if no bin has samples of both. For two histograms of n samples
/// each, 2n times this is the statistic of the chi-squared test of homogeneity.
double chi_squared(const Histogram& a, const Histogram& b);
double chi_squared(const HistogramNd& a, const HistogramNd& b);

/// The earth mover's or first Wasserstein distance: how far, on average, shares must be moved along the axis to make p of q, in the unit of
/// the samples. All samples of a bin count as lying in its middle. Rubner, Tomasi and Guibas, "The Earth Mover's Distance as a Metric for
/// Image Retrieval" (2000). Infinite if it exceeds the range of doubles.
double earth_movers(const Histogram& a, const Histogram& b);

/// The Jensen-Shannon divergence in bits: the mean of the Kullback-Leibler divergences of p and q from (p + q) / 2. 0 for equal shares, 1
/// if no bin has samples of both; its root is a metric. Lin, "Divergence Measures Based on the Shannon Entropy" (1991).
double jensen_shannon(const Histogram& a, const Histogram& b);
double jensen_shannon(const HistogramNd& a, const HistogramNd& b);

}  // namespace samesum
