// A device's cache of plans.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace samesum::device {

/// Plans of finished calls, for the next call of the same kind: with their scratch memory, and what they have learned about the data. The
/// most recently used few are kept. A caller takes a plan out, uses it exclusively, and puts it back unless the call failed.
class Plans {
 public:
  static constexpr std::size_t kMax = 8;
  /// The size that plans for about `elements` elements are made for: arrays of similar sizes share one.
  static std::uint64_t size_for(std::uint64_t elements) { return std::bit_ceil(std::min(elements, std::uint64_t{1} << 62)); }

  /// The plan of that name, which also determines its type; null where there is none.
  template <class Plan>
  std::shared_ptr<Plan> take(std::string_view name) {
    const auto found = std::ranges::find(plans_, name, &Named::first);
    if (found == plans_.end()) return nullptr;
    auto plan = std::static_pointer_cast<Plan>(std::move(found->second));
    plans_.erase(found);
    return plan;
  }
  /// The same, or what make() gives, a std::shared_ptr<Plan>, where there is none.
  template <class Plan, class Make>
  std::shared_ptr<Plan> take_or(std::string_view name, const Make& make) {
    std::shared_ptr<Plan> kept = take<Plan>(name);
    return kept != nullptr ? std::move(kept) : make();
  }
  void give_back(std::string name, std::shared_ptr<void> plan) {
    plans_.emplace_front(std::move(name), std::move(plan));
    if (plans_.size() > kMax) plans_.pop_back();
  }

 private:
  using Named = std::pair<std::string, std::shared_ptr<void>>;
  std::list<Named> plans_;  // most recently used first
};

}  // namespace samesum::device
