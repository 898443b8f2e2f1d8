// Concatenation of several inputs: --total.
#pragma once

#include "input/input.hpp"

#include <samesum/source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// The numbers of several inputs in sequence, each opened when it is reached. Tables are concatenated column by column: they must have the
/// same columns.
class Chain final : public Source {
 public:
  explicit Chain(std::vector<NamedSource> sources);

  std::optional<Array> next() override;
  std::string_view format() const noexcept override { return format_; }
  std::optional<DType> type() const noexcept override { return type_; }  ///< of all inputs so far
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
  std::unique_ptr<Source> source_;  // the current one; null after the last
  std::string format_, part_;
  std::optional<DType> type_;
  std::vector<Column> columns_;  // including the inputs before the current one
  bool known_ = false;           // whether the current input's columns were compared
  std::uint64_t count_ = 0;      // elements so far
  std::uint64_t missing_ = 0;    // in the inputs before the current one
};

/// Several inputs as one, named "3 files"; a single one unchanged.
NamedSource as_one(std::vector<NamedSource> sources);

}  // namespace samesum::cli
