// Robust timing: warm-up, many measurements, median and spread; two things measured alternately for their ratio.
#pragma once

#include <samesum/bench.hpp>

#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace samesum::bench {

/// The seconds of `calls` successive calls.
using Timer = std::function<double(std::uint32_t calls)>;

/// Timed by the host's clock; `call` completes its work.
Timer host_timer(std::function<void()> call);
/// Timed by the device's marks; `call` enqueues.
Timer device_timer(device::Device& device, std::function<void()> call);

/// Median and spread of `samples`, which must not be empty.
Statistics summarize(std::vector<double> samples);

/// The seconds of one call. A measurement has enough calls to be well above the clock's resolution.
Statistics measure(const Timer& timer, const Effort& effort);

/// `work` measured alternately with `reference`, so that both see the same state of the machine.
struct Paired {
  Statistics work;
  Statistics reference;
  Statistics ratio;  ///< reference over work, pair by pair
};
Paired measure_in_turns(const Timer& work, const Timer& reference, const Effort& effort);

/// The index of the candidate with the least median: all are measured briefly, the better third of them longer, and so on. Candidates that
/// the device refuses to run are dropped; if all are, the last one's Error is thrown.
std::size_t fastest_of(const std::vector<Timer>& candidates);

}  // namespace samesum::bench
