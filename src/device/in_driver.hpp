// Tracks calls into drivers: a driver may hang, and only the end of the process ends such a call.
#pragma once

#include <chrono>
#include <string_view>

namespace samesum::device {

/// A guard around a call into a driver that may take long; driver_calls() lists it. Both arguments must outlive it; `on` is a device's
/// label, or a backend's name. Costs two locks of a mutex and one clock reading.
class InDriver {
 public:
  InDriver(std::string_view call, std::string_view on);
  ~InDriver();
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;

 private:
  friend class CallList;

  std::string_view call_, on_;
  std::chrono::steady_clock::time_point since_;
  InDriver* previous_ = nullptr;
  InDriver* next_ = nullptr;
};

}  // namespace samesum::device
