#include "reduce/sum_cpu.hpp"

#include "core/chunks.hpp"
#include "core/float_environment.hpp"
#include "core/pack.hpp"
#include "reduce/sum_cpu_integers.hpp"
#include "reduce/sum_cpu_partial.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace samesum::reduce {
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

// Partial: what a thread adds its elements to.
template <class Partial>
Accumulator sum_on(View data, std::uint32_t threads) {
  if (threads == 1) {
    const core::DefaultFloatEnvironment environment;
    Partial sum;
    add_part(data, sum);
    return sum.finish();
  }
  std::vector<Partial> sums(threads);
  core::for_chunks(data.size(), threads, core::chunk_size(data.bytes(), size_of(data.type()), threads),
                   [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) { add_part(data.part(first, count), sums[task]); });
  Accumulator total;
  for (auto& sum : sums) total.merge(sum.finish());
  return total;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
T plain_forward(View data) {
  const core::DefaultFloatEnvironment environment;
  T sum = 0;
  for (std::uint64_t i = 0; i < data.size(); ++i) sum += load<T>(at(data, i));
  return sum;
}

template <class T>
T plain_backward(View data) {
  const core::DefaultFloatEnvironment environment;
  T sum = 0;
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
  const std::uint32_t used = core::thread_count(data.bytes(), threads);
  if (threads_used != nullptr) *threads_used = used;
  if (is_integer(data.type())) return sum_on<IntegerSum>(data, used);
  return data.type() == DType::float64 ? sum_on<PartialSum<double>>(data, used) : sum_on<PartialSum<float>>(data, used);
}

double plain_sum_forward(View data) { return data.type() == DType::float32 ? plain_forward<float>(data) : plain_forward<double>(data); }

double plain_sum_backward(View data) { return data.type() == DType::float32 ? plain_backward<float>(data) : plain_backward<double>(data); }

double plain_sum_parallel(View data, std::uint32_t threads) {
  const std::uint32_t used = core::thread_count(data.bytes(), threads);
  return data.type() == DType::float32 ? plain_parallel<float>(data, used) : plain_parallel<double>(data, used);
}

}  // namespace samesum::reduce
