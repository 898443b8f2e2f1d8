#include "ladder/timing.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace samesum::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The shortest measurement, in seconds: a thousand times the error of a clock or a launch; shorter where candidates are compared.
constexpr double kMinSample = 1e-3;
constexpr double kMinSiftingSample = 200e-6;
constexpr std::uint32_t kMaxCalls = 1 << 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Warms up, and finds how many calls make one measurement.
std::uint32_t calibrate(const Timer& timer, double least) {
  timer(1);
  for (std::uint32_t calls = 1;;) {
    const double seconds = timer(calls);
    if (seconds >= least || calls >= kMaxCalls) return calls;
    const double wanted = seconds > 0 ? 1.3 * least / seconds : 16;
    calls = std::min(kMaxCalls, static_cast<std::uint32_t>(std::ceil(calls * std::clamp(wanted, 2.0, 16.0))));
  }
}

bool enough(std::size_t runs, Clock::time_point start, const Effort& effort) {
  return runs >= effort.runs || (runs >= effort.least_runs && seconds_since(start) > effort.seconds);
}

}  // namespace

Timer host_timer(std::function<void()> call) {
  return [call = std::move(call)](std::uint32_t calls) {
    const auto start = Clock::now();
    for (std::uint32_t i = 0; i < calls; ++i) call();
    return seconds_since(start);
  };
}

Timer device_timer(device::Device& device, std::function<void()> call) {
  return [&device, call = std::move(call)](std::uint32_t calls) {
    const device::Mark start = device.mark();
    for (std::uint32_t i = 0; i < calls; ++i) call();
    return device.seconds_between(start, device.mark());
  };
}

Statistics summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  // Between the neighbours of a fractional rank, linearly.
  const auto quantile = [&samples](double q) {
    const double rank = q * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (rank - static_cast<double>(below)) * (samples[above] - samples[below]);
  };
  return {quantile(0.5), quantile(0.1), quantile(0.9), static_cast<std::uint32_t>(samples.size())};
}

Statistics measure(const Timer& timer, const Effort& effort) {
  const auto start = Clock::now();
  const std::uint32_t calls = calibrate(timer, kMinSample);
  std::vector<double> samples;
  while (!enough(samples.size(), start, effort)) samples.push_back(timer(calls) / calls);
  return summarize(std::move(samples));
}

Paired measure_in_turns(const Timer& work, const Timer& reference, const Effort& effort) {
  const auto start = Clock::now();
  const std::uint32_t work_calls = calibrate(work, kMinSample);
  const std::uint32_t reference_calls = calibrate(reference, kMinSample);
  std::vector<double> works, references, ratios;
  while (!enough(works.size(), start, effort)) {
    references.push_back(reference(reference_calls) / reference_calls);
    works.push_back(work(work_calls) / work_calls);
    ratios.push_back(references.back() / works.back());
  }
  return {summarize(std::move(works)), summarize(std::move(references)), summarize(std::move(ratios))};
}

std::size_t fastest_of(const std::vector<Timer>& candidates) {
  struct Entry {
    std::size_t index;
    std::uint32_t calls;
    std::vector<double> samples;
    double median;
  };
  std::vector<Entry> left;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    try {
      left.push_back({i, calibrate(candidates[i], kMinSiftingSample), {}, 0});
    } catch (const Error&) {
      if (i + 1 == candidates.size() && left.empty()) throw;
    }
  }
  while (left.size() > 1) {
    for (int turn = 0; turn < 3; ++turn) {
      for (Entry& entry : left) entry.samples.push_back(candidates[entry.index](entry.calls) / entry.calls);
    }
    for (Entry& entry : left) entry.median = summarize(entry.samples).median;
    std::sort(left.begin(), left.end(), [](const Entry& a, const Entry& b) { return a.median < b.median; });
    left.resize((left.size() + 2) / 3);
  }
  return left.front().index;
}

}  // namespace samesum::bench
