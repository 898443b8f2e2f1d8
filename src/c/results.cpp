// Accumulators, statistics, histograms and plans of the C interface.
#include "c/handles.hpp"

#include <samesum/sum.hpp>

#include <algorithm>

using namespace samesum;
using namespace samesum::c;

namespace {

// A plan's result of a certain type. @throws Error (usage) where the plan is for another one.
template <class Expected>
Expected result_of(const samesum_plan* plan) {
  Result found = need(plan, "plan").plan.result();
  if (auto* expected = std::get_if<Expected>(&found)) return std::move(*expected);
  throw Error(ErrorKind::usage, "the plan is for another operation, whose result has another function");
}

Operation operation_of(samesum_operation operation) {
  switch (operation) {
    case SAMESUM_PLAN_SUM:
      return ops::sum;
    case SAMESUM_PLAN_DOT:
      return ops::dot;
    case SAMESUM_PLAN_EXTREMA:
      return ops::extrema;
    case SAMESUM_PLAN_STATISTICS:
      return Fields{.extrema = true, .sum = true, .squares = true, .nonzeros = true};
  }
  throw Error(ErrorKind::usage, "there is no operation " + std::to_string(static_cast<int>(operation)));
}

samesum_status make_plan(samesum_device* device, const Operation& operation, samesum_type type, uint64_t size, int strided,
                         const samesum_options* options, samesum_plan** plan) {
  return guard([&] {
    const Device& on = need(device, "device").device;
    const Layout layout = strided != 0 ? Layout::strided : Layout::contiguous;
    need(plan, "plan") = new samesum_plan{Plan(on, operation, type_of(type), size, options_of(options), layout), on};
  });
}

// A number of a result.
template <class Handle, class T, class Get>
samesum_status get(const Handle* handle, T* result, const Get& number) {
  return guard([&] { need(result, "result") = number(need(handle, "handle").value); });
}

}  // namespace

extern "C" {

samesum_status samesum_accumulator_new(samesum_accumulator** accumulator) {
  return guard([&] { need(accumulator, "accumulator") = new samesum_accumulator{}; });
}
samesum_status samesum_accumulator_add(samesum_accumulator* accumulator, const samesum_array* array, const samesum_options* options) {
  return guard([&] { need(accumulator, "accumulator").value.merge(accumulate(array_of(array), options_of(options))); });
}
samesum_status samesum_accumulator_add_number(samesum_accumulator* accumulator, double number) {
  return guard([&] { need(accumulator, "accumulator").value.add(number); });
}
samesum_status samesum_accumulator_merge(samesum_accumulator* accumulator, const samesum_accumulator* other) {
  return guard([&] { need(accumulator, "accumulator").value.merge(need(other, "other").value); });
}
samesum_status samesum_accumulator_round(const samesum_accumulator* accumulator, double* result) {
  return get(accumulator, result, [](const Accumulator& sum) { return sum.round(); });
}
samesum_status samesum_accumulator_value(const samesum_accumulator* accumulator, samesum_value* result) {
  return get(accumulator, result, [](const Accumulator& sum) {
    if (sum.result_type() == DType::int64) return c::value_of(Value{sum.to_int64(), DType::int64});
    if (sum.result_type() == DType::uint64) return c::value_of(Value{sum.to_uint64(), DType::uint64});
    return c::value_of(Value{sum.round(), DType::float64});
  });
}
uint64_t samesum_accumulator_count(const samesum_accumulator* accumulator) {
  return accumulator == nullptr ? 0 : accumulator->value.count();
}
samesum_status samesum_accumulator_words(const samesum_accumulator* accumulator, int64_t words[SAMESUM_ACCUMULATOR_WORDS]) {
  return guard([&] {
    const auto found = need(accumulator, "accumulator").value.words();
    std::copy(found.begin(), found.end(), &need(words, "words"));
  });
}
samesum_status samesum_accumulator_from_words(const int64_t words[SAMESUM_ACCUMULATOR_WORDS], samesum_accumulator** accumulator) {
  return guard([&] {
    const std::span<const std::int64_t, Accumulator::kWords> given(&need(words, "words"), Accumulator::kWords);
    need(accumulator, "accumulator") = new samesum_accumulator{Accumulator::from_words(given)};
  });
}
samesum_status samesum_accumulator_serialize(const samesum_accumulator* accumulator, void* bytes, size_t* size) {
  return guard([&] { write(need(accumulator, "accumulator").value.serialize(), bytes, size); });
}
samesum_status samesum_accumulator_deserialize(const void* bytes, size_t size, samesum_accumulator** accumulator) {
  return guard([&] { need(accumulator, "accumulator") = new samesum_accumulator{Accumulator::deserialize(bytes_of(bytes, size))}; });
}
void samesum_accumulator_free(samesum_accumulator* accumulator) { delete accumulator; }

samesum_status samesum_statistics_collect(const samesum_array* array, const samesum_options* options, samesum_statistics** statistics) {
  return guard([&] {
    const Fields all{.extrema = true, .sum = true, .squares = true, .nonzeros = true};
    need(statistics, "statistics") = new samesum_statistics{collect(array_of(array), all, options_of(options))};
  });
}
samesum_status samesum_statistics_merge(samesum_statistics* statistics, const samesum_statistics* later) {
  return guard([&] { need(statistics, "statistics").value.merge(need(later, "later").value); });
}
uint64_t samesum_statistics_count(const samesum_statistics* statistics) { return statistics == nullptr ? 0 : statistics->value.count(); }
samesum_status samesum_statistics_nan_count(const samesum_statistics* statistics, uint64_t* result) {
  return get(statistics, result, [](const Statistics& all) { return all.nan_count(); });
}
samesum_status samesum_statistics_min(const samesum_statistics* statistics, int skip_nan, samesum_extremum* result) {
  return get(statistics, result, [&](const Statistics& all) { return extremum_of(all.min(nan_of(skip_nan))); });
}
samesum_status samesum_statistics_max(const samesum_statistics* statistics, int skip_nan, samesum_extremum* result) {
  return get(statistics, result, [&](const Statistics& all) { return extremum_of(all.max(nan_of(skip_nan))); });
}
samesum_status samesum_statistics_sum(const samesum_statistics* statistics, int skip_nan, double* result) {
  return get(statistics, result, [&](const Statistics& all) { return all.sum().round(nan_of(skip_nan)); });
}
samesum_status samesum_statistics_mean(const samesum_statistics* statistics, int skip_nan, double* result) {
  return get(statistics, result, [&](const Statistics& all) { return all.mean(nan_of(skip_nan)); });
}
samesum_status samesum_statistics_variance(const samesum_statistics* statistics, uint64_t ddof, int skip_nan, double* result) {
  return get(statistics, result, [&](const Statistics& all) { return all.variance(ddof, nan_of(skip_nan)); });
}
samesum_status samesum_statistics_standard_deviation(const samesum_statistics* statistics, uint64_t ddof, int skip_nan, double* result) {
  return get(statistics, result, [&](const Statistics& all) { return all.standard_deviation(ddof, nan_of(skip_nan)); });
}
samesum_status samesum_statistics_norm(const samesum_statistics* statistics, int skip_nan, double* result) {
  return get(statistics, result, [&](const Statistics& all) { return all.norm(nan_of(skip_nan)); });
}
samesum_status samesum_statistics_serialize(const samesum_statistics* statistics, void* bytes, size_t* size) {
  return guard([&] { write(need(statistics, "statistics").value.serialize(), bytes, size); });
}
samesum_status samesum_statistics_deserialize(const void* bytes, size_t size, samesum_statistics** statistics) {
  return guard([&] { need(statistics, "statistics") = new samesum_statistics{Statistics::deserialize(bytes_of(bytes, size))}; });
}
void samesum_statistics_free(samesum_statistics* statistics) { delete statistics; }

samesum_status samesum_bins_even(double low, double high, uint64_t count, samesum_bins** bins) {
  return guard([&] { need(bins, "bins") = new samesum_bins{Bins::even(low, high, count)}; });
}
samesum_status samesum_bins_logarithmic(double low, double high, uint64_t count, samesum_bins** bins) {
  return guard([&] { need(bins, "bins") = new samesum_bins{Bins::logarithmic(low, high, count)}; });
}
samesum_status samesum_bins_between(const double* edges, size_t count, samesum_bins** bins) {
  return guard([&] {
    if (count != 0) need(edges, "edges");
    need(bins, "bins") = new samesum_bins{Bins::between(std::vector<double>(edges, edges + count))};
  });
}
samesum_status samesum_bins_each_value(int64_t first, int64_t last, samesum_bins** bins) {
  return guard([&] { need(bins, "bins") = new samesum_bins{Bins::each_value(first, last)}; });
}
uint64_t samesum_bins_count(const samesum_bins* bins) { return bins == nullptr ? 0 : bins->value.count(); }
const double* samesum_bins_edges(const samesum_bins* bins) { return bins == nullptr ? nullptr : bins->value.edges().data(); }
void samesum_bins_free(samesum_bins* bins) { delete bins; }

samesum_status samesum_histogram_of(const samesum_array* array, const samesum_bins* bins, const samesum_options* options,
                                    samesum_histogram** result) {
  return guard([&] {
    need(result, "histogram") = new samesum_histogram{histogram(array_of(array), need(bins, "bins").value, options_of(options))};
  });
}
samesum_status samesum_histogram_merge(samesum_histogram* histogram, const samesum_histogram* other) {
  return guard([&] { need(histogram, "histogram").value.merge(need(other, "other").value); });
}
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
  return guard([&] { write(need(histogram, "histogram").value.serialize(), bytes, size); });
}
samesum_status samesum_histogram_deserialize(const void* bytes, size_t size, samesum_histogram** histogram) {
  return guard([&] { need(histogram, "histogram") = new samesum_histogram{Histogram::deserialize(bytes_of(bytes, size))}; });
}
void samesum_histogram_free(samesum_histogram* histogram) { delete histogram; }

samesum_status samesum_plan_new(samesum_device* device, samesum_operation operation, samesum_type type, uint64_t size, int strided,
                                const samesum_options* options, samesum_plan** plan) {
  Operation wanted = ops::sum;
  const samesum_status status = guard([&] { wanted = operation_of(operation); });
  return status != SAMESUM_OK ? status : make_plan(device, wanted, type, size, strided, options, plan);
}
samesum_status samesum_plan_new_histogram(samesum_device* device, const samesum_bins* bins, samesum_type type, uint64_t size,
                                          const samesum_options* options, samesum_plan** plan) {
  const samesum_status status = guard([&] { need(bins, "bins"); });
  return status != SAMESUM_OK ? status : make_plan(device, bins->value, type, size, 0, options, plan);
}
samesum_status samesum_plan_enqueue(samesum_plan* plan, const samesum_array* a, const samesum_array* b, void* record,
                                    uint64_t record_bytes) {
  return guard([&] {
    samesum_plan& known = need(plan, "plan");
    if (b != nullptr && record != nullptr) throw Error(ErrorKind::usage, "a dot product leaves no record in device memory");
    if (b != nullptr) return known.plan.enqueue(array_of(a), array_of(b));
    if (record == nullptr) return known.plan.enqueue(array_of(a));
    known.plan.enqueue(array_of(a), Buffer::wrap(known.device, record, record_bytes));
  });
}
samesum_status samesum_plan_sum(const samesum_plan* plan, samesum_accumulator** result) {
  return guard([&] { need(result, "result") = new samesum_accumulator{result_of<Accumulator>(plan)}; });
}
samesum_status samesum_plan_dot(const samesum_plan* plan, double* result) {
  return guard([&] { need(result, "result") = result_of<ProductAccumulator>(plan).round(); });
}
samesum_status samesum_plan_statistics(const samesum_plan* plan, samesum_statistics** result) {
  return guard([&] { need(result, "result") = new samesum_statistics{result_of<Statistics>(plan)}; });
}
samesum_status samesum_plan_histogram(const samesum_plan* plan, samesum_histogram** result) {
  return guard([&] { need(result, "result") = new samesum_histogram{result_of<Histogram>(plan)}; });
}
void samesum_plan_free(samesum_plan* plan) { delete plan; }

}  // extern "C"
