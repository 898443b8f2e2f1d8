// Accumulators, sums of products and statistics of the C interface.
#include "c/handles.hpp"

#include <samesum/reduce.hpp>
#include <samesum/sum.hpp>

#include <algorithm>

using namespace samesum;
using namespace samesum::c;

namespace {

template <class Handle>
samesum_status write_words(const Handle* handle, int64_t* words) {
  return guard([&] {
    const auto found = need(handle, "handle").value.words();
    std::copy(found.begin(), found.end(), &need(words, "words"));
  });
}
template <class Handle>
samesum_status from_words(const int64_t* words, Handle** to) {
  return give(to, [&] {
    using Value = decltype(Handle::value);
    return Value::from_words(std::span<const std::int64_t, Value::kWords>(&need(words, "words"), Value::kWords));
  });
}

}  // namespace

static_assert(SAMESUM_ACCUMULATOR_WORDS == Accumulator::kWords && SAMESUM_PRODUCTS_WORDS == ProductAccumulator::kWords &&
              SAMESUM_STATISTICS_WORDS == Statistics::kWords);

extern "C" {

samesum_status samesum_accumulator_new(samesum_accumulator** accumulator) {
  return give(accumulator, [] { return Accumulator(); });
}
samesum_status samesum_accumulator_add(samesum_accumulator* accumulator, const samesum_array* array, const samesum_options* options) {
  return guard([&] { need(accumulator, "accumulator").value.merge(accumulate(array_of(array), options_of(options))); });
}
samesum_status samesum_accumulator_add_number(samesum_accumulator* accumulator, double number) {
  return guard([&] { need(accumulator, "accumulator").value.add(number); });
}
samesum_status samesum_accumulator_merge(samesum_accumulator* accumulator, const samesum_accumulator* other) {
  return c::merge(accumulator, other);
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
  return write_words(accumulator, words);
}
samesum_status samesum_accumulator_from_words(const int64_t words[SAMESUM_ACCUMULATOR_WORDS], samesum_accumulator** accumulator) {
  return from_words(words, accumulator);
}
samesum_status samesum_accumulator_serialize(const samesum_accumulator* accumulator, void* bytes, size_t* size) {
  return serialize(accumulator, bytes, size);
}
samesum_status samesum_accumulator_deserialize(const void* bytes, size_t size, samesum_accumulator** accumulator) {
  return deserialize(bytes, size, accumulator);
}
void samesum_accumulator_free(samesum_accumulator* accumulator) { delete accumulator; }

samesum_status samesum_products_new(samesum_products** products) {
  return give(products, [] { return ProductAccumulator(); });
}
samesum_status samesum_products_add(samesum_products* products, const samesum_array* a, const samesum_array* b,
                                    const samesum_options* options) {
  return guard([&] { need(products, "products").value.merge(dot(array_of(a), array_of(b), options_of(options))); });
}
samesum_status samesum_products_merge(samesum_products* products, const samesum_products* other) { return c::merge(products, other); }
samesum_status samesum_products_round(const samesum_products* products, double* result) {
  return get(products, result, [](const ProductAccumulator& sum) { return sum.round(); });
}
uint64_t samesum_products_count(const samesum_products* products) { return products == nullptr ? 0 : products->value.count(); }
samesum_status samesum_products_words(const samesum_products* products, int64_t words[SAMESUM_PRODUCTS_WORDS]) {
  return write_words(products, words);
}
samesum_status samesum_products_from_words(const int64_t words[SAMESUM_PRODUCTS_WORDS], samesum_products** products) {
  return from_words(words, products);
}
samesum_status samesum_products_serialize(const samesum_products* products, void* bytes, size_t* size) {
  return serialize(products, bytes, size);
}
samesum_status samesum_products_deserialize(const void* bytes, size_t size, samesum_products** products) {
  return deserialize(bytes, size, products);
}
void samesum_products_free(samesum_products* products) { delete products; }

samesum_status samesum_statistics_collect(const samesum_array* array, const samesum_options* options, samesum_statistics** statistics) {
  return give(statistics, [&] { return collect(array_of(array), kAllFields, options_of(options)); });
}
samesum_status samesum_statistics_merge(samesum_statistics* statistics, const samesum_statistics* later) {
  return c::merge(statistics, later);
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
samesum_status samesum_statistics_words(const samesum_statistics* statistics, int64_t words[SAMESUM_STATISTICS_WORDS]) {
  return guard([&] {
    const auto found = need(statistics, "statistics").value.without_extrema().words();
    std::copy(found.begin(), found.end(), &need(words, "words"));
  });
}
samesum_status samesum_statistics_from_words(const int64_t words[SAMESUM_STATISTICS_WORDS], samesum_statistics** statistics) {
  return from_words(words, statistics);
}
samesum_status samesum_statistics_serialize(const samesum_statistics* statistics, void* bytes, size_t* size) {
  return serialize(statistics, bytes, size);
}
samesum_status samesum_statistics_deserialize(const void* bytes, size_t size, samesum_statistics** statistics) {
  return deserialize(bytes, size, statistics);
}
void samesum_statistics_free(samesum_statistics* statistics) { delete statistics; }

}  // extern "C"
