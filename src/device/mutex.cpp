#include "device/mutex.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

namespace samesum::device {

void Mutex::lock() {
  if (owner_ == std::this_thread::get_id()) {
    throw Error(ErrorKind::usage, fmt::format("{} is in use by the operation that called back: a progress function of a measurement must "
                                              "not use the device that is measured; use it after the measurement",
                                              info_.selector));
  }
  mutex_.lock();
  owner_ = std::this_thread::get_id();
}

bool Mutex::try_lock() {
  if (owner_ == std::this_thread::get_id() || !mutex_.try_lock()) return false;
  owner_ = std::this_thread::get_id();
  return true;
}

void Mutex::unlock() {
  owner_ = std::thread::id();
  mutex_.unlock();
}

}  // namespace samesum::device
