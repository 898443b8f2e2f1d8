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
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::cli {

/// Leaves out elements that equal one value. Comparisons are in the elements' own type: no 64-bit integer passes through a double.
/// What is left is copied: of a large array give parts, so that memory stays bounded.
class NodataFilter {
 public:
  /// Elements of a part, as WithoutNodata has it: 16 MiB.
  static constexpr std::uint64_t most(DType type) noexcept { return (std::uint64_t{1} << 24) / size_of(type); }

  /// Empty: nothing is left out. `mixed`: elements are of several types, as those of a text, not all of which have the value.
  /// @throws Error (usage) where `text` is no number.
  explicit NodataFilter(std::string text, bool mixed = false);

  bool active() const noexcept { return !text_.empty(); }
  /// The elements that are left, in order; valid until the next call. @throws Error (usage) where the type has no such number.
  View kept(View part);
  /// The elements, with 1 in the place of those that are left out.
  View with_ones(View part);
  /// The index in the last part of the element that `kept` has at `index`.
  std::uint64_t index_in_part(std::uint64_t index) const;
  std::uint64_t left_out() const noexcept { return left_out_; }  ///< so far

 private:
  std::uint64_t mark(View chunk);

  std::string text_;
  bool mixed_;
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> marks_;  // of the last chunk: a bit for each element, set where it is left out
  std::uint64_t left_out_ = 0;
};

/// The option --nodata: a number, which stands in `value`.
void add_nodata(CLI::App& command, std::string& value);

/// What another source has, as NodataFilter::kept leaves it, in parts of bounded size.
class WithoutNodata final : public Source {
 public:
  WithoutNodata(std::unique_ptr<Source> source, const std::string& nodata)
      : source_(std::move(source)), filter_(nodata, !source_->type()) {}

  std::optional<View> next() override;
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return source_->type(); }
  std::vector<std::uint64_t> shape() const override { return source_->shape(); }
  std::string part() const override { return source_->part(); }
  std::span<const Column> columns() const override { return source_->columns(); }
  std::size_t column() const noexcept override { return source_->column(); }
  std::uint64_t missing() const noexcept override { return source_->missing() + filter_.left_out(); }
  /// Not to be called: what needs the places of elements has the filter itself. @throws std::logic_error
  std::uint64_t missing_before(std::uint64_t index) const override;
  std::uint64_t bytes() const noexcept override { return source_->bytes(); }
  std::uint64_t bytes_read() const noexcept override { return source_->bytes_read(); }

 private:
  std::unique_ptr<Source> source_;
  NodataFilter filter_;
  View left_{nullptr, 0, DType::float64};  // of the last chunk
};

}  // namespace samesum::cli
