// Formulas on the CPU: each operation of a program for a block of positions, then the next, so that what lies between two operations stays
// in the first-level cache.
#pragma once

#include "formula/program.hpp"

#include <samesum/types.hpp>
#include <samesum/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::formula {

/// An operation for `count` positions. Bits of Fault go to `faults`; or, where `each` is not null, those of every position to its byte
/// there.
using Loop = void (*)(const void* const* from, void* to, std::size_t count, std::uint32_t& faults, std::uint8_t* each);

/// What is known of an operation. Each loop that knows less gives the same values.
struct Known {
  bool checked = true;       ///< it may fail
  bool narrow = false;       ///< Node::narrow
  bool one_divisor = false;  ///< its second operand is the same at all positions
};

/// The loop of an operation whose operands are of type `from` and that gives `type`; null where there is none.
Loop find_loop(Op op, Scalar from, Scalar type, Known known) noexcept;

/// The loop of two operations at once, (a - b)*(a - b) or fma(a - b, a - b, c), of floating-point numbers of this type; each is rounded as
/// by itself.
Loop find_square_loop(Op last, Scalar type) noexcept;

/// One constant operation of operands with these bits; nothing where it fails.
std::optional<std::uint64_t> fold(const Node& node, Scalar from, std::span<const std::uint64_t> operands);

/// Where the numbers of an input component lie: any alignment, any stride in bytes.
struct Column {
  const std::byte* data = nullptr;
  DType type = DType::float64;
  std::int64_t stride = 0;
};

/// Elements as contiguous numbers of the type in which they are computed.
void load(const Column& column, Scalar type, void* to, std::size_t count);

/// An integer operation that failed and whose value was wanted.
struct Failure {
  std::uint64_t position;
  std::uint32_t faults;
};

/// Evaluates a program block by block. Holds its scratch memory: one evaluator a thread. Requires a core::DefaultFloatEnvironment while it
/// is used.
class Evaluator {
 public:
  static constexpr std::size_t kBlock = 512;

  /// `parameters` as they were given to resolve(), by number. The program must outlive the evaluator.
  /// @throws Error (usage) where a parameter does not fit the type in which it is needed.
  Evaluator(const Program& program, std::span<const Value> parameters);

  /// The values at the next `count` positions (1 to kBlock), the first of which has the index `position`. `columns` are those of
  /// Program::inputs, from that position on. Afterwards results() are valid until the next call. Returns the first failure, if there is
  /// one: then the values are not to be used. `to`, for a program of one result: where its values are written, if an operation gives them;
  /// results() says where they are.
  std::optional<Failure> run(std::span<const Column> columns, std::uint64_t position, std::size_t count, void* to);
  std::optional<Failure> run(std::span<const Column> columns, std::uint64_t position, std::size_t count) {
    return run(columns, position, count, nullptr);
  }

  /// Of each result of the program `count` numbers of its type, one after the other. NaNs are as the operations left them: canonical()
  /// gives the promised one.
  std::span<const void* const> results() const noexcept { return results_; }

 private:
  struct Step {
    Loop loop = nullptr;
    std::uint32_t node = 0;  // that it gives
    std::size_t operands = 0;
    std::array<std::uint32_t, 3> from{};  // nodes
    void* to = nullptr;
  };

  void* place(std::uint32_t slot) noexcept { return memory_.data() + std::size_t{slot} * kBlock * 8; }
  void add_steps();
  std::optional<Failure> look_again(std::uint64_t position, std::size_t count);

  const Program& program_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> input_nodes_, index_nodes_;
  std::vector<std::uint64_t> storage_;
  std::span<std::byte> memory_;
  std::vector<const void*> values_;  // of each node
  std::vector<void*> places_;        // the same to be written; null where values_ points elsewhere
  std::vector<const void*> results_;
  std::vector<std::vector<std::uint8_t>> faults_;  // of each node that may fail, when a block is looked at again
};

/// NaNs become the canonical one.
void canonical(Scalar type, void* values, std::size_t count) noexcept;

/// A parameter's bits in a type. @throws Error (usage) where it does not fit.
std::uint64_t bits_of(const Value& value, Scalar type);

}  // namespace samesum::formula
