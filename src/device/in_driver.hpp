// Which calls into drivers have not returned: a driver may hang, and nothing can end its call from outside but the end of the process.
#pragma once

#include <chrono>
#include <string_view>

namespace samesum::device {

/// Lives around a call into a driver that may take long, so that driver_calls() tells of it. What both arguments name must outlive it; `on`
/// is a device's label, or a backend's name. Costs two locks of a mutex and one look at the clock.
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
