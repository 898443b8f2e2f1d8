// Bins and histograms of the C interface: over one axis, over several, and with weights.
#include "c/handles.hpp"

#include <samesum/histogram_distance.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/weighted_histogram.hpp>

#include <algorithm>

using namespace samesum;
using namespace samesum::c;

struct samesum_histogram_nd {
  HistogramNd value;
};
struct samesum_weighted_histogram {
  WeightedHistogram value;
};

namespace {

std::vector<Bins> axes_of(const samesum_bins* const* axes, size_t rank) {
  std::vector<Bins> result;
  for (const samesum_bins* const axis : need(axes, rank, "axes")) result.push_back(need(axis, "axes[]").value);
  return result;
}

std::vector<Array> arrays_of(const samesum_array* coordinates, size_t rank) {
  std::vector<Array> result;
  for (const samesum_array& one : need(coordinates, rank, "coordinates")) result.push_back(array_of(&one));
  return result;
}

// One index for each axis of a histogram.
template <class Histogram>
std::span<const std::int64_t> indices_of(const Histogram& histogram, const int64_t* indices) {
  return need(indices, histogram.rank(), "indices");
}

// A histogram of a histogram's samples.
template <class Handle, class Made, class Make>
samesum_status derive(const Handle* from, Made** to, const Make& make) {
  return give(to, [&] { return make(need(from, "histogram").value); });
}

std::vector<size_t> numbers_of(const size_t* axes, size_t count) {
  const std::span given = need(axes, count, "axes");
  return {given.begin(), given.end()};
}

}  // namespace

static_assert(SAMESUM_BIN_UNDER == Bins::kUnder && SAMESUM_BIN_OVER == Bins::kOver && SAMESUM_BIN_NAN == Bins::kNan);

extern "C" {

samesum_status samesum_bins_even(double low, double high, uint64_t count, samesum_bins** bins) {
  return give(bins, [&] { return Bins::even(low, high, count); });
}
samesum_status samesum_bins_logarithmic(double low, double high, uint64_t count, samesum_bins** bins) {
  return give(bins, [&] { return Bins::logarithmic(low, high, count); });
}
samesum_status samesum_bins_between(const double* edges, size_t count, samesum_bins** bins) {
  return give(bins, [&] {
    const std::span given = need(edges, count, "edges");
    return Bins::between({given.begin(), given.end()});
  });
}
samesum_status samesum_bins_each_value(int64_t first, int64_t last, samesum_bins** bins) {
  return give(bins, [&] { return Bins::each_value(first, last); });
}
uint64_t samesum_bins_count(const samesum_bins* bins) { return bins == nullptr ? 0 : bins->value.count(); }
const double* samesum_bins_edges(const samesum_bins* bins) { return bins == nullptr ? nullptr : bins->value.edges().data(); }
void samesum_bins_free(samesum_bins* bins) { delete bins; }

samesum_status samesum_histogram_of(const samesum_array* array, const samesum_bins* bins, const samesum_options* options,
                                    samesum_histogram** result) {
  return give(result, [&] { return histogram(array_of(array), need(bins, "bins").value, options_of(options)); });
}
samesum_status samesum_histogram_merge(samesum_histogram* histogram, const samesum_histogram* other) { return c::merge(histogram, other); }
const uint64_t* samesum_histogram_counts(const samesum_histogram* histogram, uint64_t* count) {
  if (histogram == nullptr) return nullptr;
  if (count != nullptr) *count = histogram->value.counts().size();
  return histogram->value.counts().data();
}
void samesum_histogram_outside(const samesum_histogram* histogram, uint64_t* under, uint64_t* over, uint64_t* nan) {
  if (histogram == nullptr) return;
  if (under != nullptr) *under = histogram->value.under();
  if (over != nullptr) *over = histogram->value.over();
  if (nan != nullptr) *nan = histogram->value.nan_count();
}
samesum_status samesum_histogram_serialize(const samesum_histogram* histogram, void* bytes, size_t* size) {
  return serialize(histogram, bytes, size);
}
samesum_status samesum_histogram_deserialize(const void* bytes, size_t size, samesum_histogram** histogram) {
  return deserialize(bytes, size, histogram);
}
void samesum_histogram_free(samesum_histogram* histogram) { delete histogram; }

samesum_status samesum_bins_spanning(const samesum_array* array, uint64_t count, samesum_bins** bins) {
  return give(bins, [&] {
    const std::optional<Range> range = range_of(array_of(array));
    if (!range) throw Error(ErrorKind::no_answer, "bins that span the elements: there is no finite one");
    return Bins::spanning(range->min, range->max, count);
  });
}
samesum_status samesum_bins_by_formula(const char* formula, uint64_t count, samesum_bins** bins) {
  return give(bins, [&] { return Bins::by_formula(Formula(&need(formula, "formula")), count); });
}
samesum_status samesum_histogram_bins(const samesum_histogram* histogram, samesum_bins** bins) {
  return derive(histogram, bins, [](const Histogram& all) { return all.bins(); });
}
samesum_status samesum_histogram_quantile(const samesum_histogram* histogram, double p, double* value, double* low, double* high) {
  return guard([&] {
    const Quantile found = need(histogram, "histogram").value.quantile(p);
    need(value, "value") = found.value;
    if (low != nullptr) *low = found.low;
    if (high != nullptr) *high = found.high;
  });
}
samesum_status samesum_histogram_slice(const samesum_histogram* histogram, uint64_t first, uint64_t count, samesum_histogram** result) {
  return derive(histogram, result, [&](const Histogram& all) { return all.slice(first, count); });
}
samesum_status samesum_histogram_rebin(const samesum_histogram* histogram, uint64_t factor, samesum_histogram** result) {
  return derive(histogram, result, [&](const Histogram& all) { return all.rebin(factor); });
}
samesum_status samesum_histogram_distance(const samesum_histogram* a, const samesum_histogram* b, samesum_distance distance,
                                          double* result) {
  return get(a, result, [&](const Histogram& one) {
    const Histogram& other = need(b, "b").value;
    switch (distance) {
      case SAMESUM_DISTANCE_INTERSECTION:
        return intersection(one, other);
      case SAMESUM_DISTANCE_CHI_SQUARED:
        return chi_squared(one, other);
      case SAMESUM_DISTANCE_EARTH_MOVERS:
        return earth_movers(one, other);
      case SAMESUM_DISTANCE_JENSEN_SHANNON:
        return jensen_shannon(one, other);
    }
    refuse("there is no distance " + std::to_string(static_cast<int>(distance)));
  });
}
samesum_status samesum_histogram_words(const samesum_histogram* histogram, int64_t* words, size_t* count) {
  return write_words(histogram, words, count);
}
samesum_status samesum_histogram_from_words(const samesum_bins* bins, const int64_t* words, size_t count, samesum_histogram** result) {
  return give(result, [&] { return Histogram::from_words(need(bins, "bins").value, need(words, count, "words")); });
}

samesum_status samesum_histogram_nd_of(const samesum_array* coordinates, const samesum_bins* const* axes, size_t rank,
                                       const samesum_options* options, samesum_histogram_nd** result) {
  return give(result, [&] { return histogram_nd(arrays_of(coordinates, rank), axes_of(axes, rank), options_of(options)); });
}
samesum_status samesum_histogram_nd_from_cells(const samesum_bins* const* axes, size_t rank, const uint64_t* cells, uint64_t count,
                                               samesum_histogram_nd** result) {
  return give(result, [&] {
    const std::span given = need(cells, count, "cells");
    return HistogramNd(axes_of(axes, rank), {given.begin(), given.end()});
  });
}
size_t samesum_histogram_nd_rank(const samesum_histogram_nd* histogram) { return histogram == nullptr ? 0 : histogram->value.rank(); }
samesum_status samesum_histogram_nd_bins(const samesum_histogram_nd* histogram, size_t axis, samesum_bins** bins) {
  return derive(histogram, bins, [&](const HistogramNd& all) {
    if (axis >= all.rank()) refuse("there is no axis " + std::to_string(axis) + " of " + std::to_string(all.rank()));
    return all.axes()[axis];
  });
}
const uint64_t* samesum_histogram_nd_cells(const samesum_histogram_nd* histogram, uint64_t* count) {
  if (histogram == nullptr) return nullptr;
  if (count != nullptr) *count = histogram->value.cells().size();
  return histogram->value.cells().data();
}
samesum_status samesum_histogram_nd_counts(const samesum_histogram_nd* histogram, const samesum_array* to) {
  return guard([&] {
    const HistogramNd& all = need(histogram, "histogram").value;
    const std::vector<std::uint64_t> counts = all.counts(), shape = all.shape();
    copy(Array(counts.data(), Shape(shape), DType::uint64), to);
  });
}
samesum_status samesum_histogram_nd_at(const samesum_histogram_nd* histogram, const int64_t* indices, uint64_t* result) {
  return get(histogram, result, [&](const HistogramNd& all) { return all.at(indices_of(all, indices)); });
}
samesum_status samesum_histogram_nd_project(const samesum_histogram_nd* histogram, const size_t* axes, size_t count,
                                            samesum_histogram_nd** result) {
  return derive(histogram, result, [&](const HistogramNd& all) { return all.project(numbers_of(axes, count)); });
}
samesum_status samesum_histogram_nd_projection(const samesum_histogram_nd* histogram, size_t axis, samesum_histogram** result) {
  return derive(histogram, result, [&](const HistogramNd& all) { return all.projection(axis); });
}
samesum_status samesum_histogram_nd_cut(const samesum_histogram_nd* histogram, size_t axis, int64_t index, samesum_histogram_nd** result) {
  return derive(histogram, result, [&](const HistogramNd& all) { return all.cut(axis, index); });
}
samesum_status samesum_histogram_nd_slice(const samesum_histogram_nd* histogram, size_t axis, uint64_t first, uint64_t count,
                                          samesum_histogram_nd** result) {
  return derive(histogram, result, [&](const HistogramNd& all) { return all.slice(axis, first, count); });
}
samesum_status samesum_histogram_nd_rebin(const samesum_histogram_nd* histogram, size_t axis, uint64_t factor,
                                          samesum_histogram_nd** result) {
  return derive(histogram, result, [&](const HistogramNd& all) { return all.rebin(axis, factor); });
}
samesum_status samesum_histogram_nd_merge(samesum_histogram_nd* histogram, const samesum_histogram_nd* other) {
  return c::merge(histogram, other);
}
samesum_status samesum_histogram_nd_words(const samesum_histogram_nd* histogram, int64_t* words, size_t* count) {
  return write_words(histogram, words, count);
}
samesum_status samesum_histogram_nd_from_words(const samesum_bins* const* axes, size_t rank, const int64_t* words, size_t count,
                                               samesum_histogram_nd** result) {
  return give(result, [&] { return HistogramNd::from_words(axes_of(axes, rank), need(words, count, "words")); });
}
samesum_status samesum_histogram_nd_serialize(const samesum_histogram_nd* histogram, void* bytes, size_t* size) {
  return serialize(histogram, bytes, size);
}
samesum_status samesum_histogram_nd_deserialize(const void* bytes, size_t size, samesum_histogram_nd** histogram) {
  return deserialize(bytes, size, histogram);
}
void samesum_histogram_nd_free(samesum_histogram_nd* histogram) { delete histogram; }

samesum_status samesum_weighted_histogram_new(const samesum_bins* const* axes, size_t rank, int squares,
                                              samesum_weighted_histogram** result) {
  return give(result, [&] { return WeightedHistogram(axes_of(axes, rank), squares != 0); });
}
samesum_status samesum_weighted_histogram_add(samesum_weighted_histogram* histogram, const samesum_array* coordinates,
                                              const samesum_array* weights, const samesum_options* options) {
  return guard([&] {
    WeightedHistogram& to = need(histogram, "histogram").value;
    to.add(arrays_of(coordinates, to.rank()), array_of(weights), options_of(options));
  });
}
samesum_status samesum_weighted_histogram_results(const samesum_weighted_histogram* histogram, samesum_group_result which, uint64_t ddof,
                                                  int skip_nan, const samesum_array* to) {
  return guard([&] {
    const WeightedHistogram& all = need(histogram, "histogram").value;
    const NanPolicy nan = nan_of(skip_nan);
    switch (which) {
      case SAMESUM_GROUP_SUM:
        return copy(all.sums(nan).array(), to);
      case SAMESUM_GROUP_SQUARED_NORM:
        return copy(all.squares(nan).array(), to);
      case SAMESUM_GROUP_MEAN:
        return copy(all.means(nan).array(), to);
      case SAMESUM_GROUP_VARIANCE:
        return copy(all.variances(ddof, nan).array(), to);
      case SAMESUM_GROUP_COUNT: {
        const HistogramNd counted = all.histogram();
        const std::vector<std::uint64_t> counts = counted.counts(), shape = counted.shape();
        return copy(Array(counts.data(), Shape(shape), DType::uint64), to);
      }
      default:
        refuse("a weighted histogram has no result " + std::to_string(static_cast<int>(which)));
    }
  });
}
samesum_status samesum_weighted_histogram_sum(const samesum_weighted_histogram* histogram, const int64_t* indices,
                                              samesum_accumulator** result) {
  return derive(histogram, result, [&](const WeightedHistogram& all) { return all.sum(indices_of(all, indices)); });
}
samesum_status samesum_weighted_histogram_counts(const samesum_weighted_histogram* histogram, samesum_histogram_nd** result) {
  return derive(histogram, result, [](const WeightedHistogram& all) { return all.histogram(); });
}
samesum_status samesum_weighted_histogram_project(const samesum_weighted_histogram* histogram, const size_t* axes, size_t count,
                                                  samesum_weighted_histogram** result) {
  return derive(histogram, result, [&](const WeightedHistogram& all) { return all.project(numbers_of(axes, count)); });
}
samesum_status samesum_weighted_histogram_slice(const samesum_weighted_histogram* histogram, size_t axis, uint64_t first, uint64_t count,
                                                samesum_weighted_histogram** result) {
  return derive(histogram, result, [&](const WeightedHistogram& all) { return all.slice(axis, first, count); });
}
samesum_status samesum_weighted_histogram_rebin(const samesum_weighted_histogram* histogram, size_t axis, uint64_t factor,
                                                samesum_weighted_histogram** result) {
  return derive(histogram, result, [&](const WeightedHistogram& all) { return all.rebin(axis, factor); });
}
samesum_status samesum_weighted_histogram_merge(samesum_weighted_histogram* histogram, const samesum_weighted_histogram* other) {
  return c::merge(histogram, other);
}
samesum_status samesum_weighted_histogram_words(const samesum_weighted_histogram* histogram, int64_t* words, size_t* count) {
  return write_words(histogram, words, count);
}
samesum_status samesum_weighted_histogram_from_words(const samesum_bins* const* axes, size_t rank, int squares, const int64_t* words,
                                                     size_t count, samesum_weighted_histogram** result) {
  return give(result, [&] { return WeightedHistogram::from_words(axes_of(axes, rank), need(words, count, "words"), squares != 0); });
}
samesum_status samesum_weighted_histogram_serialize(const samesum_weighted_histogram* histogram, void* bytes, size_t* size) {
  return serialize(histogram, bytes, size);
}
samesum_status samesum_weighted_histogram_deserialize(const void* bytes, size_t size, samesum_weighted_histogram** histogram) {
  return deserialize(bytes, size, histogram);
}
void samesum_weighted_histogram_free(samesum_weighted_histogram* histogram) { delete histogram; }

}  // extern "C"
