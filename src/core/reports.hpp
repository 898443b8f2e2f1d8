// The report of work that is done in several parts.
#pragma once

#include <samesum/options.hpp>

#include <utility>

namespace samesum::core {

class Reports {
 public:
  /// Where a part's report goes; null where nobody asks for one.
  explicit Reports(Report* wanted) : wanted_(wanted) {}
  Report* next() noexcept { return wanted_ != nullptr ? &part_ : nullptr; }
  /// After each part.
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
