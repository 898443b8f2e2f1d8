// The report of work in several parts.
#pragma once

#include <samesum/options.hpp>

#include <utility>

namespace samesum::core {

class Reports {
 public:
  /// The report to fill for one part; null where no report is requested.
  explicit Reports(Report* wanted) : wanted_(wanted) {}
  Report* next() noexcept { return wanted_ != nullptr ? &part_ : nullptr; }
  /// To be called after each part.
  void add() {
    if (wanted_ == nullptr) return;
    if (std::exchange(first_, false)) {
      *wanted_ = part_;
    } else {
      *wanted_ += part_;
    }
  }

 private:
  Report* wanted_;
  Report part_;
  bool first_ = true;
};

}  // namespace samesum::core
