// Formulas of arrays in host memory, over all cores.
#include "core/threads/chunks.hpp"
#include "formula/bound.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

namespace samesum::formula {

Walk::Walk(std::span<const Array> arrays, std::span<const std::uint64_t> shape) {
  for (const Array& array : arrays) data_.push_back(static_cast<const std::byte*>(array.data()));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    Axis next{shape[axis], {}};
    for (const Array& array : arrays) next.strides.push_back(array.strides()[axis]);
    // It goes on where the one before it ends, in all arrays.
    bool one = !axes_.empty();
    for (std::size_t k = 0; one && k < arrays.size(); ++k) {
      one = axes_.back().strides[k] == next.strides[k] * static_cast<std::int64_t>(next.extent);
    }
    if (one) {
      axes_.back().extent *= next.extent;
      axes_.back().strides = std::move(next.strides);
    } else {
      axes_.push_back(std::move(next));
    }
  }
  if (axes_.empty()) axes_.push_back({1, std::vector<std::int64_t>(arrays.size(), 0)});
}

std::uint64_t Walk::at(std::uint64_t first, std::uint64_t most, std::span<const std::byte*> to) const noexcept {
  std::copy(data_.begin(), data_.end(), to.begin());
  std::uint64_t run = 0;
  for (std::size_t axis = axes_.size(); axis-- > 0;) {
    const std::uint64_t index = first % axes_[axis].extent;
    first /= axes_[axis].extent;
    if (axis + 1 == axes_.size()) run = axes_[axis].extent - index;
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += static_cast<std::int64_t>(index) * axes_[axis].strides[k];
  }
  return std::min(run, most);
}

namespace {

// Where results are written: an element every `stride` bytes.
void store(Scalar type, const void* values, std::size_t count, std::byte* to, std::int64_t stride) {
  const std::size_t bytes = size_of(dtype_of(type));
  if (stride == static_cast<std::int64_t>(bytes) || count == 1) {
    std::memcpy(to, values, count * bytes);
    return;
  }
  for (std::size_t k = 0; k < count; ++k, to += stride) std::memcpy(to, static_cast<const std::byte*>(values) + k * bytes, bytes);
}

}  // namespace

void map_on_host(const Formula& formula, const Program& program, std::span<const Value> parameters, std::span<const Array> inputs,
                 std::span<const Array> results, std::span<const std::uint64_t> shape, std::uint64_t begin, std::uint64_t index) {
  const Walk from(inputs, shape), into(results, results[0].shape());
  const std::uint64_t size = results[0].size();
  std::uint64_t bytes = 0;
  for (const Array& array : inputs) bytes += array.bytes();
  for (const Array& array : results) bytes += array.bytes();
  const std::uint32_t threads = core::thread_count(bytes, 0);
  const std::uint64_t each = std::max<std::uint64_t>(bytes / size, 1);
  const std::uint64_t chunk = std::max<std::uint64_t>(core::chunk_size(bytes, each, threads) / Evaluator::kBlock, 1) * Evaluator::kBlock;

  std::vector<std::unique_ptr<Evaluator>> evaluators(threads);
  for (auto& evaluator : evaluators) evaluator = std::make_unique<Evaluator>(program, parameters);
  std::mutex mutex;
  Failure first_failure{std::numeric_limits<std::uint64_t>::max(), 0};
  std::atomic<std::uint64_t> failed_at{first_failure.position};

  core::for_chunks(size, threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
    Evaluator& evaluator = *evaluators[task];
    std::vector<const std::byte*> places(inputs.size()), targets(results.size());
    std::vector<Column> columns(inputs.size());
    alignas(64) std::byte block[Evaluator::kBlock * 8];
    for (const std::uint64_t end = first + count; first < end && index + first < failed_at.load(std::memory_order_relaxed);) {
      const std::uint64_t run =
          into.at(first, from.at(begin + first, std::min<std::uint64_t>(end - first, Evaluator::kBlock), places), targets);
      for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = {places[k], inputs[k].type(), from.stride(k)};
      if (const std::optional<Failure> failure = evaluator.run(columns, index + first, run)) {
        const std::lock_guard lock(mutex);
        if (failure->position < first_failure.position) first_failure = *failure;
        failed_at.store(first_failure.position, std::memory_order_relaxed);
        return;
      }
      for (std::size_t k = 0; k < results.size(); ++k) {
        const Scalar type = program.nodes[program.results[k]].type;
        std::memcpy(block, evaluator.results()[k], run * size_of(dtype_of(type)));
        canonical(type, block, run);
        store(type, block, run, const_cast<std::byte*>(targets[k]), into.stride(k));
      }
      first += run;
    }
  });
  if (first_failure.faults != 0) throw failed(formula, first_failure.position, shape, first_failure.faults);
}

}  // namespace samesum::formula
