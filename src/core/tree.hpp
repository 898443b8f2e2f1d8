// The fixed association of products and of operators of the user's own: the balanced binary tree over the index.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace samesum::core {

/// Leaf i stands at position i; a node is combine(left, right); a missing right child passes the left through. Every aligned block of 2^k
/// leaves is a subtree, so the tree can be built from the roots of such blocks, appended from left to right.
template <class T, class Combine = std::multiplies<T>>
class Tree {
 public:
  Tree() = default;
  explicit Tree(Combine combine) : combine_(std::move(combine)) {}

  /// The number of leaves so far.
  std::uint64_t size() const noexcept { return size_; }

  /// Appends the root of the next 2^level leaves. Requires size() to be a multiple of 2^level.
  void append(T root, int level = 0) {
    size_ += std::uint64_t{1} << level;
    while (!pending_.empty() && pending_.back().level == level) {
      root = combine_(pending_.back().root, root);
      pending_.pop_back();
      ++level;
    }
    pending_.push_back({std::move(root), level});
  }

  /// The root over all leaves; T(1) if there are none.
  T root() const {
    if (pending_.empty()) return T(1);
    T root = pending_.back().root;
    for (std::size_t i = pending_.size() - 1; i-- > 0;) root = combine_(pending_[i].root, root);
    return root;
  }

 private:
  struct Subtree {
    T root;
    int level;
  };
  std::vector<Subtree> pending_;  // left to right: a complete subtree for each bit set in size_
  std::uint64_t size_ = 0;
  Combine combine_;
};

}  // namespace samesum::core
