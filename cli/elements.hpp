// All elements of an input in one array, by index: for what looks at them more than once.
#pragma once

#include "input.hpp"
#include "spool.hpp"

#include <samesum/source.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

/// What can be mapped lies in its file; all else is kept by a Spool, so that memory stays bounded. Numbers of a text are doubles.
class Elements {
 public:
  /// @throws Error (usage) that names the file and what is wrong with it.
  explicit Elements(std::string name, InputOptions options = {});
  /// Of a source of one type that was opened already.
  Elements(std::string name, std::unique_ptr<Source> source);

  /// At addresses that are multiples of the elements' size: where a file has them elsewhere, as a .npy file with a header of an odd length
  /// does, they are kept by a Spool.
  static Elements aligned(std::string name);

  const std::string& name() const noexcept { return name_; }
  Array view() const noexcept { return view_; }
  DType type() const noexcept { return view_.type(); }
  /// As numpy has it; of a text, the number of its numbers.
  std::vector<std::uint64_t> shape() const;
  std::string_view format() const noexcept { return source_->format(); }

  /// @throws Error (usage) where the file was written to since it was opened.
  void check_unchanged() const;
  /// The same elements as an input that may be opened as long as this object lives.
  std::vector<NamedSource> sources() const;

 private:
  void keep();

  std::string name_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Spool> spool_;
  Array view_{nullptr, 0, DType::float64};
};

}  // namespace samesum::cli
