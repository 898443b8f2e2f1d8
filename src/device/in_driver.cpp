#include "device/in_driver.hpp"

#include <samesum/driver_calls.hpp>

#include <algorithm>
#include <mutex>

namespace samesum::device {

// An intrusive list of the active guards, so that nothing is allocated. Never destroyed, as threads may be in a driver when the process
// ends.
class CallList {
 public:
  static CallList& instance() {
    static auto* list = new CallList;
    return *list;
  }

  void add(InDriver& call) {
    const std::lock_guard lock(mutex_);
    call.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &call;
    first_ = &call;
  }

  void remove(InDriver& call) {
    const std::lock_guard lock(mutex_);
    (call.previous_ != nullptr ? call.previous_->next_ : first_) = call.next_;
    if (call.next_ != nullptr) call.next_->previous_ = call.previous_;
  }

  std::vector<DriverCall> all() {
    const auto now = std::chrono::steady_clock::now();
    std::vector<DriverCall> calls;
    const std::lock_guard lock(mutex_);
    for (const InDriver* call = first_; call != nullptr; call = call->next_) {
      calls.push_back({std::string(call->call_), std::string(call->on_), std::chrono::duration<double>(now - call->since_).count()});
    }
    return calls;
  }

 private:
  std::mutex mutex_;
  InDriver* first_ = nullptr;
};

InDriver::InDriver(std::string_view call, std::string_view on) : call_(call), on_(on), since_(std::chrono::steady_clock::now()) {
  CallList::instance().add(*this);
}

InDriver::~InDriver() { CallList::instance().remove(*this); }

}  // namespace samesum::device

namespace samesum {

std::vector<DriverCall> driver_calls() {
  std::vector<DriverCall> calls = device::CallList::instance().all();
  std::sort(calls.begin(), calls.end(), [](const DriverCall& a, const DriverCall& b) { return a.seconds > b.seconds; });
  return calls;
}

}  // namespace samesum
