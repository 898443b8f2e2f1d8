// The fixed association of factors: the balanced binary tree over the index.
#pragma once

#include <cstdint>
#include <vector>

namespace samesum::product_tree {

/// Leaf i stands at position i; a node is left · right; a missing right child passes the left through. Every aligned block of 2^k leaves is
/// a subtree, so the tree can be built from the products of such blocks, appended from left to right.
template <class T>
class Tree {
 public:
  /// The number of leaves so far.
  std::uint64_t size() const noexcept { return size_; }

  /// Appends the product of the next 2^level leaves. Requires size() to be a multiple of 2^level.
  void append(T product, int level = 0) {
    size_ += std::uint64_t{1} << level;
    while (!pending_.empty() && pending_.back().level == level) {
      product = pending_.back().product * product;
      pending_.pop_back();
      ++level;
    }
    pending_.push_back({product, level});
  }

  /// The product of all leaves; 1 if there are none.
  T root() const {
    if (pending_.empty()) return 1;
    T product = pending_.back().product;
    for (std::size_t i = pending_.size() - 1; i-- > 0;) product = pending_[i].product * product;
    return product;
  }

 private:
  struct Subtree {
    T product;
    int level;
  };
  std::vector<Subtree> pending_;  // left to right: a complete subtree for each bit set in size_
  std::uint64_t size_ = 0;
};

}  // namespace samesum::product_tree
