#include "reduce/cpu/sum_cpu.hpp"

#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/threads/chunks.hpp"
#include "reduce/cpu/sum_cpu_partial.hpp"
#include "reduce/cpu/term_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace samesum::reduction {
namespace {

const std::byte* at(View data, std::uint64_t index) { return static_cast<const std::byte*>(data.part(index, 1).data()); }

// Elements that lie apart are brought together in the first-level cache.
template <class Partial>
void add_part(View part, Partial& sum) {
  if (part.contiguous()) return add_elements(static_cast<const std::byte*>(part.data()), part.size(), part.type(), sum);
  constexpr std::size_t kBlockBytes = std::size_t{16} << 10;
  alignas(64) std::array<std::byte, kBlockBytes> block;
  const std::uint64_t most = kBlockBytes / size_of(part.type());
  for (std::uint64_t first = 0; first < part.size(); first += most) {
    const View packed = core::pack_here(part.part(first, std::min(most, part.size() - first)), block.data());
    add_elements(block.data(), packed.size(), part.type(), sum);
  }
}

// Partial: what a thread adds its elements to. `progress` may be null.
template <class Partial, class... Parameters>
Partial add_up(View data, std::uint32_t threads, core::ProgressParts* progress, Parameters... parameters) {
  Partial sum(parameters...);
  std::vector<Partial> parts;
  if (threads > 1) {
    parts.reserve(threads);
    while (parts.size() != threads) parts.emplace_back(parameters...);
  }
  const std::uint64_t chunk = core::chunk_size(data.bytes(), size_of(data.type()), threads);
  const auto add = [&](View some) {
    if (threads == 1) return add_part(some, sum);
    core::for_chunks(some.size(), threads, chunk,
                     [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) { add_part(some.part(first, count), parts[task]); });
  };
  progress == nullptr ? add(data) : progress->for_parts(data, add);
  for (Partial& part : parts) sum.merge(part);
  return sum;
}

template <class Partial>
Accumulator add_up(statistics::HostTerms& terms, std::uint32_t threads) {
  std::vector<Partial> parts(threads);
  statistics::for_term_blocks(terms, threads, [&](std::uint32_t task, const std::byte* block, std::uint64_t, std::uint64_t count) {
    add_elements(block, count, terms.type(), parts[task]);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) parts[0].merge(parts[i]);
  return parts[0].finish();
}

// The rounded sum, where that does not hang on what the threads rounded away: where both ends of the interval that holds the exact sum
// round to the same. Reference: A. Ziv, Fast Evaluation of Elementary Mathematical Functions with Correctly Rounded Last Bit (TOMS 1991).
template <class T>
std::optional<double> round_enclosed(View data, std::uint32_t threads, NanPolicy nan, core::ProgressParts* progress) {
  constexpr bool kRounds = true;
  auto sum = add_up<PartialSum<T>>(data, threads, progress, kRounds);
  const Accumulator& total = sum.finish();
  const double value = total.round(nan);
  if (sum.slack == 0) return value;
  for (const double end : {-2 * sum.slack, 2 * sum.slack}) {
    Accumulator farthest = total;
    farthest.add_finite(end);
    if (std::bit_cast<std::uint64_t>(farthest.round(nan)) != std::bit_cast<std::uint64_t>(value)) return std::nullopt;
  }
  return value;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
T plain_forward(View data, double start) {
  const core::DefaultFloatEnvironment environment;
  auto sum = static_cast<T>(start);
  for (std::uint64_t i = 0; i < data.size(); ++i) sum += load<T>(at(data, i));
  return sum;
}

template <class T>
T plain_backward(View data, double start) {
  const core::DefaultFloatEnvironment environment;
  auto sum = static_cast<T>(start);
  for (std::uint64_t i = data.size(); i-- > 0;) sum += load<T>(at(data, i));
  return sum;
}

// The chunks' sums are added in the order of the chunks, whichever thread took them: the same bits in each run.
template <class T>
T plain_parallel(View data, std::uint32_t threads) {
  const core::DefaultFloatEnvironment environment;
  const std::uint64_t chunk = core::chunk_size(data.bytes(), size_of(data.type()), threads);
  std::vector<T> sums(data.size() / chunk + 1);
  core::for_chunks(data.size(), threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    sums[first / chunk] = plain_sum_simd<T>(at(data, first), count);
  });
  T total = 0;
  for (const T sum : sums) total += sum;
  return total;
}

}  // namespace

Accumulator sum_cpu(View data, std::uint32_t threads, std::uint32_t* threads_used) {
  const core::DefaultFloatEnvironment environment;
  const std::uint32_t used = core::thread_count(data.bytes(), threads);
  if (threads_used != nullptr) *threads_used = used;
  if (is_integer(data.type())) return add_up<IntegerSum>(data, used, nullptr).finish();
  return data.type() == DType::float64 ? add_up<PartialSum<double>>(data, used, nullptr).finish()
                                       : add_up<PartialSum<float>>(data, used, nullptr).finish();
}

Accumulator sum_cpu(statistics::HostTerms& terms, std::uint32_t threads, std::uint32_t* threads_used) {
  const core::DefaultFloatEnvironment environment;
  const std::uint32_t used = core::thread_count(terms.bytes(), threads);
  if (threads_used != nullptr) *threads_used = used;
  terms.prepare(used);
  if (is_integer(terms.type())) return add_up<IntegerSum>(terms, used);
  return terms.type() == DType::float64 ? add_up<PartialSum<double>>(terms, used) : add_up<PartialSum<float>>(terms, used);
}

double rounded_sum_cpu(View data, std::uint32_t threads, NanPolicy nan, core::ProgressParts* progress) {
  const core::DefaultFloatEnvironment environment;
  if (!is_integer(data.type())) {
    const std::uint32_t used = core::thread_count(data.bytes(), threads);
    const auto value = data.type() == DType::float64 ? round_enclosed<double>(data, used, nan, progress)
                                                     : round_enclosed<float>(data, used, nan, progress);
    if (value) return *value;
  }
  return sum_cpu(data, threads).round(nan);
}

double plain_sum_forward(View data, double start) {
  return data.type() == DType::float32 ? plain_forward<float>(data, start) : plain_forward<double>(data, start);
}

double plain_sum_backward(View data, double start) {
  return data.type() == DType::float32 ? plain_backward<float>(data, start) : plain_backward<double>(data, start);
}

double plain_sum_parallel(View data, std::uint32_t threads) {
  const std::uint32_t used = core::thread_count(data.bytes(), threads);
  return data.type() == DType::float32 ? plain_parallel<float>(data, used) : plain_parallel<double>(data, used);
}

}  // namespace samesum::reduction
