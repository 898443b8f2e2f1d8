// Robust timing: warm up, many measurements, middle and spread; two things in turns where their ratio is wanted.
#pragma once

#include <samesum/bench.hpp>

#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace samesum::bench {

/// The seconds that so many calls of something take, one right after the other.
using Timer = std::function<double(std::uint32_t calls)>;

/// Timed by the host's clock; `call` returns when it is done.
Timer host_timer(std::function<void()> call);
/// Timed by the device's marks; `call` enqueues.
Timer device_timer(device::Device& device, std::function<void()> call);

/// Middle and spread of `samples`, which must not be empty.
Statistics summarize(std::vector<double> samples);

/// Seconds of one call. As many calls make one measurement as it takes to be well above the clock's grain.
Statistics measure(const Timer& timer, const Effort& effort);

/// `work` measured in turns with `reference`, so that both see the same state of the machine.
struct Paired {
  Statistics work;
  Statistics reference;
  Statistics ratio;  ///< reference over work, pair by pair
};
Paired measure_in_turns(const Timer& work, const Timer& reference, const Effort& effort);

/// The index of the candidate with the least median: all are measured a little, the better third of them more, and so on.
/// One that the device refuses to run drops out; where all do, the last one's Error is thrown.
std::size_t fastest_of(const std::vector<Timer>& candidates);

}  // namespace samesum::bench
