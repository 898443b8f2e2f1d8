#include "ladder/ceiling/atomics.hpp"

#include "ladder/timing.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

namespace samesum::bench {
namespace {

constexpr std::uint32_t kLocalWords = 2048;
constexpr std::uint32_t kCachedWords = 1u << 16;  // 256 KiB
constexpr std::uint64_t kMaxMemory = 256u << 20;  // larger than caches
constexpr std::uint32_t kMultiplier = 1664525,
                        kIncrement = 1013904223;  // a linear congruential generator of period 2^32: Numerical Recipes

struct Place {
  bool local = false;
  std::uint64_t words = 1;  // a power of two
  bool neighbouring = false;
};

std::string text_of(const Place& place) {
  if (place.words == 1) return "one word";
  const std::uint64_t bytes = 4 * place.words;
  const std::string size = bytes >= 1u << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} words of {}", place.neighbouring ? "neighbouring" : "scattered", size);
}

// Launches that add one to words again and again: each as soon as it can, or `waiting` for the result of the addition before.
class Additions {
 public:
  Additions(device::Device& device, const Place& place, bool waiting) : device_(device), place_(place), waiting_(waiting) {
    const bool is_cpu = device.info().is_cpu;
    grid_.group_size = is_cpu ? 1 : std::min(256u, device.info().max_group_size);
    const std::string name = fmt::format("add_{}{}", place.local ? "local" : "global", waiting ? "_waiting" : "");
    kernel_ = device::build(device, atomics_source(grid_.group_size), name);
    if (!waiting) {
      const std::uint32_t units = std::max(1u, device.info().compute_units);
      grid_.groups = is_cpu ? 4 * units : device.resident_groups(kernel_, grid_.group_size).value_or(units * 2048 / grid_.group_size);
    }
    const std::vector<std::uint32_t> zeros(place.local ? 1 : place.words);
    words_ = device.allocate(4 * zeros.size());
    device.write(words_, 0, zeros.data(), 4 * zeros.size());
  }

  /// The work-items that add.
  std::uint64_t items() const noexcept { return waiting_ ? 1 : std::uint64_t{grid_.groups} * grid_.group_size; }
  std::string configuration() const { return fmt::format("groups={} group_size={}", grid_.groups, grid_.group_size); }

  Timer timer(std::uint32_t rounds) const {
    return device_timer(device_, [this, rounds] { launch(rounds); });
  }

  void launch(std::uint32_t rounds) const {
    const auto mask = static_cast<std::uint32_t>(place_.words - 1);
    const std::uint32_t factor = place_.neighbouring ? 1 : kMultiplier;
    const auto step = place_.neighbouring ? static_cast<std::uint32_t>(place_.local ? grid_.group_size : items()) : kIncrement;
    const device::Argument arguments[] = {words_, mask, factor, step, rounds};
    device_.launch(kernel_, grid_, arguments);
  }

  void check(std::uint32_t rounds) const {
    launch(rounds);
    std::vector<std::uint32_t> words(words_.bytes / 4);
    device_.read(words_, 0, words.data(), words_.bytes);
    const auto sum = std::accumulate(words.begin(), words.end(), 0u);
    const auto expected = static_cast<std::uint32_t>(rounds * items());
    if (sum != expected) {
      throw Error(ErrorKind::device, fmt::format("{} atomic additions on {}, {}, counted to {} modulo 2^32", rounds * items(),
                                                 device_.info().selector, text_of(place_), sum));
    }
  }

 private:
  device::Device& device_;
  Place place_;
  bool waiting_;
  device::Grid grid_{1, 1};
  device::Kernel kernel_;
  device::Memory words_;
};

// The seconds of one round, in which each work-item adds once; a launch takes a millisecond or more.
Statistics seconds_of_a_round(const Additions& additions, const Effort& effort) {
  additions.check(3);
  std::uint32_t rounds = 64;
  while (additions.timer(rounds)(1) < 1e-3 && rounds < 1u << 20) rounds *= 2;
  Statistics seconds = measure(additions.timer(rounds), effort);
  for (double* each : {&seconds.median, &seconds.low, &seconds.high}) *each /= rounds;
  return seconds;
}

}  // namespace

device::Source atomics_source(std::uint32_t group_size) {
  return {{"ladder/ceiling/atomics.cl"}, {{"GROUP", std::to_string(group_size)}, {"WORDS", std::to_string(kLocalWords)}}};
}

void measure_atomics(device::Device& device, const Effort& effort, const std::function<void(const AtomicRate&)>& found) {
  const DeviceInfo& info = device.info();
  const std::uint64_t most = std::bit_floor(std::min({kMaxMemory, info.memory_bytes / 4, info.max_allocation_bytes}) / 4);
  for (const Place& place : {Place{true}, Place{true, kLocalWords, true}, Place{true, kLocalWords}, Place{},
                             Place{false, kCachedWords, true}, Place{false, kCachedWords}, Place{false, most}}) {
    AtomicRate rate;
    rate.memory = place.local ? "local" : "global";
    rate.addresses = text_of(place);
    effort.tell(fmt::format("atomic additions to {} memory, {}", rate.memory, rate.addresses));
    rate.latency = seconds_of_a_round(Additions(device, place, true), effort);
    const Additions all(device, place, false);
    const Statistics round = seconds_of_a_round(all, effort);
    rate.operations_per_second = static_cast<double>(all.items()) / round.median;
    rate.configuration = all.configuration();
    found(rate);
  }
}

}  // namespace samesum::bench
