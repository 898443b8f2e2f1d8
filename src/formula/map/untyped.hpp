// Numbers of sources that have no type, as those of a text: a formula takes all of them as one type, which does not depend on the numbers.
#pragma once

#include <samesum/array.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace samesum::formula {

/// float64, or int64 for a formula that takes integers only. `resolve` throws Error (usage) for a type that the formula does not take.
DType type_for_untyped(const std::function<void(DType)>& resolve);

/// Converts chunks of such a source.
class Untyped {
 public:
  /// `name` is for messages. `type`: float64 or int64.
  Untyped(std::string name, DType type) : name_(std::move(name)), type_(type) {}

  /// The elements of the next chunk, in host memory, as that type; valid until the next call.
  /// @throws Error (usage) where one cannot be converted exactly.
  Array convert(const Array& chunk);

 private:
  std::string name_;
  DType type_;
  std::vector<std::uint64_t> converted_;
  std::uint64_t before_ = 0;  // elements in chunks before
};

}  // namespace samesum::formula
