#include "histogram/cpu/count.hpp"

#include "core/array/pack.hpp"
#include "core/threads/chunks.hpp"
#include "histogram/cpu/slots.hpp"
#include "reduce/cpu/term_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

namespace samesum::binning {
namespace {

constexpr std::uint64_t kThreadBytes = std::uint64_t{1} << 18;  // the minimum of data per thread that makes a thread worthwhile
constexpr std::uint64_t kMaxCounted = std::uint64_t{1} << 31;   // limit of 32-bit counters
constexpr std::size_t kBlock = 512;                             // samples whose slots are computed before they are counted

using Totals = std::vector<std::uint64_t>;

std::uint32_t thread_count(std::uint64_t bytes, std::uint64_t size, std::uint32_t wanted, std::uint64_t slots) {
  const std::uint64_t most = std::min(bytes / kThreadBytes, size / (2 * slots + 1));  // at most as many counters as samples
  if (wanted == 1 || most <= 1) return 1;
  const std::uint64_t threads = wanted != 0 ? wanted : core::concurrency();
  return static_cast<std::uint32_t>(std::min(threads, most));
}

// The counts of a thread: its `Counter` counts chunks by add(from, count) and moves its counts to the totals by empty(totals).
template <class Counter>
struct Task {
  Totals total;
  std::optional<Counter> counter;  // created by the thread that uses it, with its first chunk
  std::uint64_t since = 0;         // samples since it was emptied
  std::vector<std::byte> packed;

  template <class Make>
  void add(const void* from, std::uint64_t count, std::uint64_t totals, const Make& make) {
    if (!counter) {
      total.resize(totals);
      counter.emplace(make());
    }
    if (since + count > kMaxCounted) {
      counter->empty(total);
      since = 0;
    }
    since += count;
    counter->add(static_cast<const std::byte*>(from), count);
  }
};

template <class Counter>
Totals sum_of(std::vector<Task<Counter>>& tasks, std::uint64_t totals) {
  Totals sum(totals);
  for (Task<Counter>& task : tasks) {
    if (!task.counter) continue;
    task.counter->empty(task.total);
    for (std::uint64_t k = 0; k < totals; ++k) sum[k] += task.total[k];
  }
  return sum;
}

template <class Make>
Totals count_with(View data, std::uint64_t unit, std::uint64_t totals, std::uint32_t threads, const Make& make) {
  const std::uint64_t chunk = std::max<std::uint64_t>(core::kMaxChunkBytes / size_of(data.type()) / unit, 1) * unit;
  std::vector<Task<decltype(make())>> tasks(threads);
  core::for_chunks(data.size(), threads, chunk, [&](std::uint32_t index, std::uint64_t first, std::uint64_t count) {
    auto& task = tasks[index];
    View part = data.part(first, count);
    if (!part.contiguous()) {
      task.packed.resize(std::min(chunk, data.size()) * size_of(data.type()));
      part = core::pack_here(part, task.packed.data());
    }
    task.add(part.data(), count, totals, make);
  });
  return sum_of(tasks, totals);
}

template <class Make>
Totals count_with(statistics::HostTerms& terms, std::uint64_t, std::uint64_t totals, std::uint32_t threads, const Make& make) {
  std::vector<Task<decltype(make())>> tasks(threads);
  terms.prepare(threads);
  statistics::for_term_blocks(terms, threads, [&](std::uint32_t index, const std::byte* block, std::uint64_t, std::uint64_t count) {
    tasks[index].add(block, count, totals, make);
  });
  return sum_of(tasks, totals);
}

class ByteCounter {
 public:
  void add(const std::byte* from, std::uint64_t count) { add_bytes(reinterpret_cast<const std::uint8_t*>(from), count, *tables_); }
  void empty(Totals& totals) {
    for (std::size_t value = 0; value < 256; ++value) {
      for (const auto& copy : tables_->single) totals[value] += copy[value];
    }
    if (tables_->ordered != nullptr) {
      std::uint32_t low[256] = {};
      for (std::size_t high = 0; high < 256; ++high) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < 256; ++i) {
          low[i] += tables_->ordered->counts[256 * high + i];
          sum += tables_->ordered->counts[256 * high + i];
        }
        totals[high] += sum;
      }
      for (std::size_t value = 0; value < 256; ++value) totals[value] += low[value];
    }
    if (tables_->unordered != nullptr) {
      move_counts(*tables_->unordered);
      for (std::size_t value = 0; value < 256; ++value) {
        totals[value] += std::uint64_t{tables_->unordered->bytes[0][value]} + tables_->unordered->bytes[1][value];
      }
    }
    *tables_ = {};
  }

 private:
  std::unique_ptr<ByteTables> tables_ = std::make_unique<ByteTables>();
};

// Bytes of several interleaved channels: chunks begin with the first channel. Words are counted, in one table for each byte of as many
// words as it takes until the first channel is the first byte again: 3 for 3 channels, else 1.
template <std::uint32_t kChannels>
class ChannelCounter {
 public:
  void add(const std::byte* from, std::uint64_t count) {
    std::uint32_t* const table = tables_.data();
    const std::uint64_t distance = count / (kPlaces * kUnit) * kUnit;
    for (std::uint64_t first = 0; first < distance; first += kUnit) {
      for (std::size_t place = 0; place < kPlaces; ++place) {
        const std::byte* const at = from + place * distance + first;
        __builtin_prefetch(at + kPrefetchBytes);
        for (std::size_t k = 0; k < kUnit; k += 8) {
          const auto word = load<std::uint64_t>(at + k);
          for (std::size_t byte = 0; byte < 8; ++byte) ++table[(k + byte) * 256 + (word >> 8 * byte & 255)];
        }
      }
    }
    std::uint64_t i = kPlaces * distance;
    for (; i < count; ++i) ++table[i % kUnit * 256 + static_cast<std::uint8_t>(from[i])];
  }
  void empty(Totals& totals) {
    for (std::size_t i = 0; i < tables_.size(); ++i) totals[i / 256 % kChannels * 256 + i % 256] += tables_[i];
    std::fill(tables_.begin(), tables_.end(), 0);
  }

 private:
  static constexpr std::size_t kUnit = kChannels == 3 ? 24 : 16;
  std::vector<std::uint32_t> tables_ = std::vector<std::uint32_t>(kUnit * 256);
};

// Counts all 16-bit patterns.
class PatternCounter {
 public:
  void add(const std::byte* from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) ++table_[load<std::uint16_t>(from + 2 * i)];
  }
  void empty(Totals& totals) {
    for (std::size_t i = 0; i < table_.size(); ++i) totals[i] += table_[i];
    std::fill(table_.begin(), table_.end(), 0);
  }

 private:
  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(65536);
};

class SlotCounter {
 public:
  explicit SlotCounter(const SlotFinder& finder)
      : finder_(finder),
        plan_(finder.plan()),
        copies_(plan_.slots() <= 1024   ? 8
                : plan_.slots() <= 8192 ? 2
                                        : 1),
        tables_(copies_ * plan_.slots()) {}

  void add(const std::byte* from, std::uint64_t count) {
    if (!is_integer(plan_.type()) && plan_.even()) return add_even(from, count, plan_, copies_, tables_.data());
    const std::size_t size = size_of(plan_.type());
    for (std::uint64_t i = 0; i < count; i += kBlock) {
      const std::size_t block = std::min<std::uint64_t>(kBlock, count - i);
      finder_.find(from + i * size, block, slots_);
      if (copies_ == 8) {
        count_slots<8>(block);
      } else if (copies_ == 2) {
        count_slots<2>(block);
      } else {
        count_slots<1>(block);
      }
    }
  }

  void empty(Totals& totals) {
    for (std::size_t i = 0; i < tables_.size(); ++i) totals[i / copies_] += tables_[i];
    std::fill(tables_.begin(), tables_.end(), 0);
  }

 private:
  // A slot's copies are adjacent: one base address for all of them.
  template <std::size_t kCopies>
  void count_slots(std::size_t count) {
    std::uint32_t* const tables = tables_.data();
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      for (std::size_t k = 0; k < 8; ++k) ++tables[slots_[i + k] * kCopies + k % kCopies];
    }
    for (; i < count; ++i) ++tables[slots_[i] * kCopies];
  }

  const SlotFinder& finder_;
  const Plan& plan_;
  std::size_t copies_;
  std::vector<std::uint32_t> tables_;
  alignas(64) std::uint32_t slots_[kBlock];
};

}  // namespace

std::vector<std::uint64_t> count_bytes_on_cpu(View data, std::uint32_t channels, std::uint32_t threads, std::uint32_t* used) {
  const std::uint32_t count = thread_count(data.bytes(), data.size(), threads, 256);
  if (used != nullptr) *used = count;
  if (channels == 1) return count_with(data, 1, 256, count, [] { return ByteCounter(); });
  const std::uint64_t totals = std::uint64_t{256} * channels;
  if (channels == 2) return count_with(data, 2, totals, count, [] { return ChannelCounter<2>(); });
  if (channels == 3) return count_with(data, 3, totals, count, [] { return ChannelCounter<3>(); });
  return count_with(data, 4, totals, count, [] { return ChannelCounter<4>(); });
}

namespace {

// Of samples in memory, or of a formula's.
template <class Samples>
Totals slots_of(Samples&& samples, const Plan& plan, std::uint32_t threads) {
  if (size_of(plan.type()) == 1) return plan.fold(count_with(samples, 1, 256, threads, [] { return ByteCounter(); }));
  if (plan.by_value()) return plan.fold(count_with(samples, 1, 65536, threads, [] { return PatternCounter(); }));
  const SlotFinder finder(plan);
  return count_with(samples, 1, plan.slots(), threads, [&] { return SlotCounter(finder); });
}

std::uint64_t counters_of(const Plan& plan) { return size_of(plan.type()) == 1 ? 256 : plan.by_value() ? 65536 : plan.slots(); }

}  // namespace

std::vector<std::uint64_t> count_on_cpu(View data, const Plan& plan, std::uint32_t threads, std::uint32_t* used) {
  const std::uint32_t count = thread_count(data.bytes(), data.size(), threads, counters_of(plan));
  if (used != nullptr) *used = count;
  return slots_of(data, plan, count);
}

std::vector<std::uint64_t> count_on_cpu(statistics::HostTerms& terms, const Plan& plan, std::uint32_t threads, std::uint32_t* used) {
  const std::uint32_t count = thread_count(terms.bytes(), terms.size(), threads, counters_of(plan));
  if (used != nullptr) *used = count;
  return slots_of(terms, plan, count);
}

void count_plainly(View data, double low, double high, std::uint32_t bins, std::uint64_t* counts) {
  if (data.type() == DType::uint8) {
    const auto* bytes = static_cast<const std::uint8_t*>(data.data());
    for (std::uint64_t i = 0; i < data.size(); ++i) ++counts[bytes[i]];
    return;
  }
  const auto from = static_cast<float>(low), to = static_cast<float>(high);
  const float scale = static_cast<float>(bins) / (to - from);
  const auto* samples = static_cast<const std::byte*>(data.data());
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const float x = load<float>(samples + 4 * i);
    if (x >= from && x <= to) ++counts[std::min(static_cast<std::uint32_t>((x - from) * scale), bins - 1)];
  }
}

}  // namespace samesum::binning
