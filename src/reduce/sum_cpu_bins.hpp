// The exact sum of numbers whose exponents lie anywhere: a bin for each value of sign and exponent.
#pragma once

#include <samesum/accumulator.hpp>

#include <cstddef>
#include <memory>

namespace samesum::reduce {

/// Private bins, for one thread. An element costs a load, a shift and one addition to memory, whatever its value: the whole element,
/// taken as an integer, is added to the bin that its upper bits name. Sign and exponent, which all elements of a bin share, are taken
/// off when the bins are emptied.
template <class T>
class Bins {
 public:
  Bins() noexcept;  // tables are made when they are first needed
  ~Bins();
  Bins(const Bins&) = delete;
  Bins& operator=(const Bins&) = delete;

  /// Adds `count` <= kCapacity finite numbers, at any byte alignment. Where the bins are full, they are emptied into `total` first.
  void add(const std::byte* elements, std::size_t count, Accumulator& total);

  /// Empties the bins into `total`.
  void flush(Accumulator& total) noexcept;

  /// Elements that the bins have room for.
  static constexpr std::size_t kCapacity = std::size_t{1} << 20;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
  std::size_t filled_ = 0;
};

}  // namespace samesum::reduce
