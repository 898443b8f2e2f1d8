#include "reduce/sum_cpu.hpp"

#include "core/float_environment.hpp"
#include "core/pack.hpp"
#include "core/parallel.hpp"
#include "reduce/sum_cpu_integers.hpp"
#include "reduce/sum_cpu_partial.hpp"

#include <tbb/info.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

namespace samesum::reduce {
namespace {

// Threads take the next chunk when they are done with one, so that none waits long for another that woke up late or was interrupted.
// Chunks that are worked on at the same time lie close together: two threads at far ends of an array can keep hitting the same banks of
// memory at the same time, at half the speed.
constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMinChunkBytes = std::uint64_t{1} << 16;
// What has to be there for each thread, for waking it to pay.
constexpr std::uint64_t kThreadBytes = std::uint64_t{1} << 19;

// The arena in which all work is done: threads that wait there do not take up the caller's own tasks.
tbb::task_arena& arena() {
  static auto* const instance = new tbb::task_arena();  // outlives whoever sums in a static destructor
  return *instance;
}

std::uint32_t thread_count(View data, std::uint32_t wanted) {
  const std::uint64_t most = data.bytes() / (wanted == 0 ? kThreadBytes : kMinChunkBytes);
  if (wanted == 1 || most <= 1) return 1;
  const std::uint64_t threads = wanted != 0 ? wanted : static_cast<std::uint32_t>(tbb::info::default_concurrency());
  return static_cast<std::uint32_t>(std::min(threads, most));
}

// Elements of a chunk: small arrays have several chunks a thread too.
std::uint64_t chunk_size(View data, std::uint32_t threads) {
  constexpr std::uint64_t kPage = 4096;
  return std::clamp(data.bytes() / threads / 8 / kPage * kPage, kMinChunkBytes, kMaxChunkBytes) / size_of(data.type());
}

// Calls body(task, first, count) for all chunks of `data`, in `threads` tasks; a single one is the caller.
template <class Body>
void for_chunks(View data, std::uint32_t threads, std::uint64_t chunk, const Body& body) {
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](std::uint32_t task) {
    const core::DefaultFloatEnvironment environment;
    for (;;) {
      const std::uint64_t first = next.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= data.size()) return;
      body(task, first, std::min(chunk, data.size() - first));
    }
  };
  if (threads == 1) return work(0);
  core::execute(arena(), [&] { core::parallel_for(std::uint32_t{0}, threads, work, tbb::simple_partitioner()); });
}

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
  for_chunks(data, threads, chunk_size(data, threads),
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
  const std::uint64_t chunk = chunk_size(data, threads);
  std::vector<T> sums(data.size() / chunk + 1);
  for_chunks(data, threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    sums[first / chunk] = plain_sum_simd<T>(at(data, first), count);
  });
  T total = 0;
  for (const T sum : sums) total += sum;
  return total;
}

}  // namespace

Accumulator sum_cpu(View data, std::uint32_t threads, std::uint32_t* threads_used) {
  const std::uint32_t used = thread_count(data, threads);
  if (threads_used != nullptr) *threads_used = used;
  if (is_integer(data.type())) return sum_on<IntegerSum>(data, used);
  return data.type() == DType::float64 ? sum_on<PartialSum<double>>(data, used) : sum_on<PartialSum<float>>(data, used);
}

double plain_sum_forward(View data) { return data.type() == DType::float32 ? plain_forward<float>(data) : plain_forward<double>(data); }

double plain_sum_backward(View data) { return data.type() == DType::float32 ? plain_backward<float>(data) : plain_backward<double>(data); }

double plain_sum_parallel(View data, std::uint32_t threads) {
  const std::uint32_t used = thread_count(data, threads);
  return data.type() == DType::float32 ? plain_parallel<float>(data, used) : plain_parallel<double>(data, used);
}

}  // namespace samesum::reduce
