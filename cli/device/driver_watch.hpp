// Warnings about calls into a driver that do not return.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace samesum::cli {

/// A guard: in its scope a thread warns on standard error of calls into a driver that have not returned for the number of seconds in the
/// environment variable SAMESUM_DRIVER_SECONDS (default 30; 0: never), and again each time that number has doubled.
class DriverWatch {
 public:
  DriverWatch();
  ~DriverWatch();
  DriverWatch(const DriverWatch&) = delete;
  DriverWatch& operator=(const DriverWatch&) = delete;

 private:
  void watch(double seconds);

  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace samesum::cli
