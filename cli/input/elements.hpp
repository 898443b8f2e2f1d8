// All elements of an input as one array in C order, for operations that need several passes.
#pragma once

#include "input/input.hpp"
#include "input/spool.hpp"

#include <samesum/axes.hpp>
#include <samesum/source.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

/// The type of all numbers of a text: a formula's result must not depend on whether some of them are whole.
enum class TextAs {
  float64,
  numbers,  ///< int64 or uint64, if all are integers; else float64
};

/// What the lines of a text are.
enum class TextLines {
  sequence,  ///< nothing: all numbers are one axis
  rows,      ///< the rows of a matrix, unless a column is named
};

/// A file that can be mapped is used in place; other inputs are stored by a Spool, so that memory stays bounded.
class Elements {
 public:
  /// @throws Error (usage) that names the file and what is wrong with it, such as missing numbers: each has its position.
  explicit Elements(std::string name, InputOptions options = {}, TextAs text = TextAs::float64, TextLines lines = TextLines::sequence);
  /// From an open source of one type; missing numbers are left out.
  Elements(std::string name, std::unique_ptr<Source> source);

  /// Aligned elements: where a file's are not, as in a .npy file with a header of odd length, they are stored by a Spool.
  static Elements aligned(std::string name, const InputOptions& options = {}, TextLines lines = TextLines::sequence);

  const std::string& name() const noexcept { return name_; }
  Array view() const noexcept { return view_; }
  DType type() const noexcept { return view_.type(); }
  /// As in numpy; for a text the number of its numbers, or of its rows and columns.
  /// Of complex numbers the last axis has their two parts.
  std::vector<std::uint64_t> shape() const;
  std::string_view format() const noexcept { return source_->format(); }
  bool complex() const noexcept { return source_->complex(); }

  /// @throws Error (usage) where the file was modified since it was opened.
  void check_unchanged() const;
  /// The same elements as an input that can be opened while this object exists.
  std::vector<NamedSource> sources() const;

 private:
  void take(TextAs text, TextLines lines);
  void keep(TextAs text, TextLines lines);

  std::string name_;
  bool names_columns_ = false;  ///< the user says that the first line does
  std::unique_ptr<Source> source_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Values> matrix_;
  Array view_{nullptr, 0, DType::float64};
};

}  // namespace samesum::cli
