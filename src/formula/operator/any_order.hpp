// Operators whose elements may be combined in any order: associative and commutative ones that cannot fail give the same bits by any tree.
#pragma once

#include "formula/cpu/evaluate.hpp"
#include "formula/program.hpp"
#include "formula/ranges.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::formula {

using State = std::vector<std::uint64_t>;  ///< bits of each component

struct AnyOrder {
  /// combine(a, b) for what has been combined so far and an element, or for two that have been.
  Program program;
  /// What comes before the first element. combine(unit, x) stands for x wherever it is combined with another element.
  State unit;
};

/// The operator `combine` as one of any order, where it is known to be one: its components are each + & | xor min max gcd of integers, min
/// or max of floats, a·b modulo a number, or the sum of numbers that are not negative modulo one. `leaves` are the ranges of elements,
/// `parameters` those of Program::parameters, 2^levels is at least the number of elements.
std::optional<AnyOrder> any_order(const Program& combine, std::span<const Scalar> types, std::span<const Range> leaves,
                                  std::span<const Range> parameters, int levels);

/// Folds elements block by block: element k goes to sum k modulo the block's size. One for each thread.
class Folder {
 public:
  Folder(const AnyOrder& order, std::span<const Value> parameters, std::span<const Scalar> types);

  /// `columns`: of each component where elements of its type, or of one that is read as it, lie.
  void add(std::span<const Column> columns, std::uint64_t count);
  /// Of all elements. Afterwards the first sum has it, and no more elements may come.
  State result();

 private:
  void run(std::span<const Column> columns, std::size_t count);

  const AnyOrder& order_;
  std::span<const Scalar> types_;
  Evaluator evaluator_;
  std::vector<std::vector<std::uint64_t>> sums_;  // of each component
};

}  // namespace samesum::formula
