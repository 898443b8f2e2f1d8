// The mutex of a device.
#pragma once

#include <samesum/device.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace samesum::device {

/// A mutex that throws where the calling thread already holds it and std::mutex would deadlock: progress callbacks run while an operation
/// holds the device.
class Mutex {
 public:
  explicit Mutex(const DeviceInfo& info) : info_(info) {}

  /// @throws Error (usage) where the calling thread holds it.
  void lock();
  bool try_lock();
  void unlock();

 private:
  const DeviceInfo& info_;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};  // a thread reads its own id only while it holds the mutex
};

using Lock = std::lock_guard<Mutex>;

}  // namespace samesum::device
