// A driver that hangs is told of, not waited for in silence.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace samesum::cli {

/// While it lives, a thread says on standard error which call into a driver has not returned for so many seconds as the environment
/// variable SAMESUM_DRIVER_SECONDS says (30 without it; 0: never), and again each time that twice as many have passed.
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
