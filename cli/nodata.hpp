// A value that stands for "there is nothing here": --nodata.
#pragma once

#include <samesum/source.hpp>
#include <samesum/types.hpp>
#include <samesum/view.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// Leaves out elements that equal one value. Comparisons are in the elements' own type: no 64-bit integer passes through a double.
class NodataFilter {
 public:
  /// Empty: nothing is left out. @throws Error (usage) where `text` is no number.
  explicit NodataFilter(std::string text);

  bool active() const noexcept { return !text_.empty(); }
  /// The chunks may be of several types, as those of a text: what one of them cannot hold is then no mistake.
  void allow_mixed_types() noexcept { mixed_ = true; }
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
  bool mixed_ = false;
};

/// The option --nodata. A value of no characters is refused.
void add_nodata(CLI::App& command, std::string& value);

/// What another source has, without what a filter leaves out, in parts of bounded size.
class WithoutNodata final : public Source {
 public:
  WithoutNodata(std::unique_ptr<Source> source, const std::string& text);
  std::optional<View> next() override;
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return source_->type(); }
  std::vector<std::uint64_t> shape() const override { return source_->shape(); }
  std::string part() const override { return source_->part(); }
  std::uint64_t missing() const noexcept override { return source_->missing() + filter_.left_out(); }
  std::uint64_t bytes() const noexcept override { return source_->bytes(); }
  std::uint64_t bytes_read() const noexcept override { return source_->bytes_read(); }

 private:
  std::unique_ptr<Source> source_;
  NodataFilter filter_;
  std::optional<View> left_;  // of the last chunk
};

}  // namespace samesum::cli
