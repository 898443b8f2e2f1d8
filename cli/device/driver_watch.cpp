#include "device/driver_watch.hpp"

#include <samesum/driver_calls.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace samesum::cli {
namespace {

constexpr double kPatience = 30;

// The value of SAMESUM_DRIVER_SECONDS; its default where it is not a number.
double patience() {
  const char* variable = std::getenv("SAMESUM_DRIVER_SECONDS");
  char* end = nullptr;
  const double seconds = variable == nullptr ? kPatience : std::strtod(variable, &end);
  return variable != nullptr && (end == variable || *end != '\0') ? kPatience : seconds;
}

}  // namespace

DriverWatch::DriverWatch() {
  const double seconds = std::min(patience(), 1e6);
  if (!(seconds > 0)) return;
  try {
    thread_ = std::thread([this, seconds] { watch(seconds); });
  } catch (const std::system_error&) {  // no thread available: runs without a watch
  }
}

DriverWatch::~DriverWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DriverWatch::watch(double seconds) {
  double limit = seconds;
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, std::chrono::duration<double>(seconds / 4), [this] { return ended_; })) {
    const std::vector<DriverCall> calls = driver_calls();
    if (calls.empty() || calls.front().seconds < seconds) {
      limit = seconds;
      continue;
    }
    const DriverCall& longest = calls.front();
    if (longest.seconds < limit) continue;
    limit = 2 * longest.seconds;
    std::fprintf(stderr,
                 "samesum: still waiting: the driver of %s has not returned from %s for %.3g seconds. It may be compiling, or busy; if it "
                 "hangs, only the end of this process ends that (Ctrl-C). Another device: --device cpu\n",
                 longest.device.c_str(), longest.name.c_str(), longest.seconds);
  }
}

}  // namespace samesum::cli
