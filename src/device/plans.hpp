// What calls leave to later ones.
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

/// Plans of calls that are over, for the next call of the same kind: with their scratch memory, and what they know of the data that came.
/// The latest few are kept. Who takes a plan has it alone, and gives it back where all went well: what failed is not used again.
class Plans {
 public:
  static constexpr std::size_t kMost = 8;
  /// What plans for about so many elements are made for: arrays of like sizes share one.
  static std::uint64_t size_for(std::uint64_t elements) { return std::bit_ceil(std::min(elements, std::uint64_t{1} << 62)); }

  /// The plan of that name, which also says what its type is; nothing where there is none.
  template <class Plan>
  std::shared_ptr<Plan> take(std::string_view name) {
    const auto found = std::ranges::find(plans_, name, &Named::first);
    if (found == plans_.end()) return nullptr;
    auto plan = std::static_pointer_cast<Plan>(std::move(found->second));
    plans_.erase(found);
    return plan;
  }
  void give_back(std::string name, std::shared_ptr<void> plan) {
    plans_.emplace_front(std::move(name), std::move(plan));
    if (plans_.size() > kMost) plans_.pop_back();
  }

 private:
  using Named = std::pair<std::string, std::shared_ptr<void>>;
  std::list<Named> plans_;  // the latest first
};

}  // namespace samesum::device
