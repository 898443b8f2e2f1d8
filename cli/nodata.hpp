// A value that stands for "there is nothing here": --nodata.
#pragma once

#include <samesum/types.hpp>
#include <samesum/view.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// Leaves out elements that equal one value. Comparisons are in the elements' own type: no 64-bit integer passes through a double.
class NodataFilter {
 public:
  /// Empty: nothing is left out. @throws Error (usage) where `text` is no number.
  explicit NodataFilter(std::string text);

  bool active() const noexcept { return !text_.empty(); }
  /// The elements that are left, in order; valid until the next call. @throws Error (usage) where the type has no such number.
  View kept(View chunk);
  /// The elements, with 1 in the place of those that are left out.
  View with_ones(View chunk);
  /// The index in the last chunk of the element that `kept` has at `index`.
  std::uint64_t index_in_chunk(std::uint64_t index) const;
  std::uint64_t left_out() const noexcept { return left_out_; }  ///< so far

 private:
  std::string text_;
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> gaps_;  // of the last chunk: indices of what was left out
  std::uint64_t left_out_ = 0;
};

}  // namespace samesum::cli
