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

/// Unlocks what the calling thread has locked, for as long as it lives: while a caller's function runs, which may use the device, or wait
/// for a thread that does.
class Unlocked {
 public:
  explicit Unlocked(Mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() { mutex_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace samesum::device
