// The numbers of several sources at the same positions.
#pragma once

#include <samesum/array.hpp>
#include <samesum/source.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samesum::core {

/// Gives parts of the sources' chunks that are equally long, one of each source. The chunks lie in host memory.
class Together {
 public:
  struct Input {
    std::string name;  ///< for messages
    Source* source;
    std::uint64_t width = 1;  ///< elements at a position; what follows counts positions
  };
  /// `what` takes them: "a formula". The sources must outlive this object.
  Together(std::string what, std::vector<Input> inputs);

  /// Arrays of one axis with the elements at equally many positions, `most` or fewer; valid until the next call. None at the end.
  /// @throws Error (usage) where a source ends before another, has several columns, a missing number, or chunks on a device.
  std::span<const Array> next(std::uint64_t most);
  /// The positions before the latest parts.
  std::uint64_t before() const noexcept { return before_; }

 private:
  struct Rest {
    std::optional<Array> of_chunk;
    std::vector<std::byte> flat;  // a copy of a chunk of several axes that are no run
  };
  void flatten(Rest& rest);

  std::string what_;
  std::vector<Input> inputs_;
  std::vector<Rest> rests_;
  std::vector<Array> parts_;
  std::uint64_t before_ = 0, done_ = 0;
};

/// An array in host memory as a source, in the order of its indices.
class ArrayChunks final : public Source {
 public:
  /// `data` must outlive this object.
  explicit ArrayChunks(const Array& data);
  ~ArrayChunks() override;
  std::optional<Array> next() override;
  std::string_view format() const noexcept override { return "array"; }
  std::optional<DType> type() const noexcept override { return data_.type(); }
  std::uint64_t resident_bytes() const noexcept override { return data_.bytes(); }

 private:
  Array data_;
  std::unique_ptr<class ArrayBlocks> blocks_;
};

}  // namespace samesum::core
