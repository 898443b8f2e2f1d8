// The mutex of a device.
#pragma once

#include <samesum/device.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace samesum::device {

/// A mutex that refuses a thread which has it already, where std::mutex would wait for ever: a callback that is told of an operation runs
/// while that operation has the device.
class Mutex {
 public:
  explicit Mutex(const DeviceInfo& info) : info_(info) {}

  /// @throws Error (usage) where the calling thread has it.
  void lock();
  bool try_lock();
  void unlock();

 private:
  const DeviceInfo& info_;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};  // only its own thread finds its id here
};

using Lock = std::lock_guard<Mutex>;

}  // namespace samesum::device
