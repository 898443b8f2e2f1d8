// One pass over an array on all cores: each block is looked at by one loop after the other while it lies in the first-level cache.
#include "core/half.hpp"
#include "core/threads/chunks.hpp"
#include "core/view.hpp"
#include "reduce/collect.hpp"
#include "reduce/cpu/collect_cpu_partial.hpp"
#include "reduce/cpu/term_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace samesum::statistics {
namespace {

const std::byte* at(View data, std::uint64_t index) { return static_cast<const std::byte*>(data.data()) + index * size_of(data.type()); }

Statistics finished(std::vector<Partial>& partials, DType type, const CollectOptions& options, std::uint64_t count) {
  const Fields& fields = options.fields;
  Statistics::Contents contents;
  contents.fields = fields;
  contents.count = count;
  Extremes extremes;
  for (Partial& partial : partials) {
    partial.finish(contents, extremes);
    if (options.slack == nullptr) continue;
    options.slack->sum += partial.slack().sum;
    options.slack->squares.add(partial.slack().squares);
  }
  if (extremes.min_index) contents.min = Extremum{value_of(extremes.min, type), *extremes.min_index};
  if (extremes.max_index) contents.max = Extremum{value_of(extremes.max, type), *extremes.max_index};
  contents.first_nan = extremes.first_nan;
  contents.nan_count = fields.extrema ? extremes.nan_count : fields.squares ? contents.squares.nan_count() : contents.sum.nan_count();
  return Statistics(contents);
}

}  // namespace

Value value_of(std::int64_t key, DType type) {
  const auto unmapped = [key](std::int64_t most) { return key < 0 ? key ^ most : key; };
  switch (type) {
    case DType::float16:
      return {core::Float16{static_cast<std::uint16_t>(unmapped(0x7fff))}, type};
    case DType::bfloat16:
      return {core::BFloat16{static_cast<std::uint16_t>(unmapped(0x7fff))}, type};
    case DType::float32:
      return {double{std::bit_cast<float>(static_cast<std::uint32_t>(unmapped(0x7fffffff)))}, type};
    case DType::float64:
      return {std::bit_cast<double>(unmapped(0x7fffffffffffffff)), type};
    case DType::uint64:
      return {static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63, type};
    default:
      return is_signed(type) ? Value{key, type} : Value{static_cast<std::uint64_t>(key), type};
  }
}

Statistics collect_cpu(View data, const CollectOptions& options, std::uint32_t* threads_used) {
  const std::uint32_t threads = core::thread_count(data.bytes(), options.threads);
  if (threads_used != nullptr) *threads_used = threads;
  std::vector<Partial> partials;
  partials.reserve(threads);
  for (std::uint32_t i = 0; i < threads; ++i) partials.emplace_back(data.type(), options.fields, options.slack != nullptr);
  // A single thread takes all of it in one go: sums are faster in long pieces.
  const std::uint64_t chunk = core::chunk_size(data.bytes(), size_of(data.type()), threads);
  core::for_chunks(data.size(), threads, chunk,
                   [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) { partials[task].add(data, first, count); });
  return finished(partials, data.type(), options, data.size());
}

Statistics collect_cpu(HostTerms& terms, const CollectOptions& options, std::uint32_t* threads_used) {
  const std::uint32_t threads = core::thread_count(terms.bytes(), options.threads);
  if (threads_used != nullptr) *threads_used = threads;
  terms.prepare(threads);
  std::vector<Partial> partials;
  partials.reserve(threads);
  for (std::uint32_t i = 0; i < threads; ++i) partials.emplace_back(terms.type(), options.fields, options.slack != nullptr);
  for_term_blocks(terms, threads, [&](std::uint32_t task, const std::byte* block, std::uint64_t first, std::uint64_t count) {
    partials[task].add(block, first, count);
  });
  return finished(partials, terms.type(), options, terms.size());
}

ProductAccumulator dot_cpu(View a, View b, std::uint32_t threads, std::uint32_t* threads_used) {
  const std::uint32_t used = core::thread_count(a.bytes(), threads);
  if (threads_used != nullptr) *threads_used = used;
  std::vector<PartialProducts> partials(used);
  core::for_chunks(a.size(), used, core::chunk_size(a.bytes(), size_of(a.type()), used),
                   [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
                     add_products(at(a, first), at(b, first), count, a.type(), partials[task]);
                   });
  ProductAccumulator total;
  for (PartialProducts& partial : partials) total.merge(partial.finish());
  return total;
}

}  // namespace samesum::statistics
