// Several inputs as one: --total.
#pragma once

#include "input.hpp"

#include <samesum/source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// The numbers of several inputs, one after the other, each opened when its turn comes. Of tables, column by column: they must have the
/// same.
class Chain final : public Source {
 public:
  explicit Chain(std::vector<NamedSource> sources);

  std::optional<View> next() override;
  std::string_view format() const noexcept override { return format_; }
  std::optional<DType> type() const noexcept override { return type_; }  ///< that of all so far
  std::vector<std::uint64_t> shape() const override { return {count_}; }
  std::string part() const override { return part_; }
  std::span<const Column> columns() const override { return columns_; }
  std::size_t column() const noexcept override { return source_->column(); }
  std::uint64_t missing() const noexcept override { return missing_ + (source_ ? source_->missing() : 0); }
  std::uint64_t missing_before(std::uint64_t index) const override;

 private:
  void open_next();
  void take_columns();
  void add_facts();

  std::vector<NamedSource> sources_;
  std::size_t opened_ = 0;
  std::unique_ptr<Source> source_;  // the latest; null once all are read
  std::string format_, part_;
  std::optional<DType> type_;
  std::vector<Column> columns_;  // with what the inputs before the latest have
  bool known_ = false;           // the latest one's columns are looked at
  std::uint64_t count_ = 0;      // elements given
  std::uint64_t missing_ = 0;    // in the inputs before the latest
};

/// Several inputs as one, "3 files"; a single one as it is.
NamedSource as_one(std::vector<NamedSource> sources);

}  // namespace samesum::cli
