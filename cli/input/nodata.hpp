// A value that marks missing elements: --nodata.
#pragma once

#include <samesum/array.hpp>
#include <samesum/source.hpp>
#include <samesum/types.hpp>

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

/// Removes elements that equal one value. Comparisons are in the elements' own type: no 64-bit integer is converted to double. The
/// remaining elements are copied: pass large arrays in parts, so that memory stays bounded.
class NodataFilter {
 public:
  /// The number of elements of a part in WithoutNodata: 16 MiB.
  static constexpr std::uint64_t most(DType type) noexcept { return (std::uint64_t{1} << 24) / size_of(type); }

  /// Empty: nothing is removed. `mixed`: elements are of several types, as in a text, and not every type has the value.
  /// @throws Error (usage) where `text` is not a number.
  explicit NodataFilter(std::string text, bool mixed = false);

  bool active() const noexcept { return !text_.empty(); }
  /// The remaining elements, in order; valid until the next call. @throws Error (usage) where the type has no such number.
  Array kept(Array part);
  /// The elements, with removed ones replaced by 1.
  Array with_ones(Array part);
  /// The index in the last part of the element at `index` in the result of `kept`.
  std::uint64_t index_in_part(std::uint64_t index) const;
  std::uint64_t left_out() const noexcept { return left_out_; }  ///< removed so far

 private:
  std::uint64_t mark(Array chunk);
  Array packed(Array chunk);

  std::string text_;
  bool mixed_;
  std::vector<std::byte> buffer_, packed_;
  std::vector<std::uint64_t> marks_;  // for the last chunk: a bit for each element, set where it is removed
  std::uint64_t left_out_ = 0;
};

/// Adds the option --nodata, a number, stored in `value`.
void add_nodata(CLI::App& command, std::string& value);

/// Another source without the removed elements, in parts of bounded size.
class WithoutNodata final : public Source {
 public:
  WithoutNodata(std::unique_ptr<Source> source, const std::string& nodata)
      : source_(std::move(source)), filter_(nodata, !source_->type()) {}

  std::optional<Array> next() override;
  std::string_view format() const noexcept override { return source_->format(); }
  std::optional<DType> type() const noexcept override { return source_->type(); }
  std::vector<std::uint64_t> shape() const override { return source_->shape(); }
  std::string part() const override { return source_->part(); }
  std::span<const Column> columns() const override { return source_->columns(); }
  std::size_t column() const noexcept override { return source_->column(); }
  std::uint64_t missing() const noexcept override { return source_->missing() + filter_.left_out(); }
  /// Must not be called: operations that need indices use the filter directly. @throws std::logic_error
  std::uint64_t missing_before(std::uint64_t index) const override;
  std::uint64_t bytes() const noexcept override { return source_->bytes(); }
  std::uint64_t bytes_read() const noexcept override { return source_->bytes_read(); }

 private:
  std::unique_ptr<Source> source_;
  NodataFilter filter_;
  Array left_{nullptr, 0, DType::float64};  // of the last chunk
};

}  // namespace samesum::cli
