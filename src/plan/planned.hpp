// The implementation of a Plan: an operation with all its resources, on a device.
#pragma once

#include "device/memory/run.hpp"
#include "formula/operator/operator_plan.hpp"
#include "formula/program.hpp"
#include "pairs/problem.hpp"

#include <samesum/plan.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::planning {

/// A plan's parameters.
struct Request {
  Device device;
  DType type;
  std::uint64_t size;
  NanPolicy nan;
  Tuning tuning;
  Layout layout = Layout::contiguous;
};

/// The work of one operation. On devices that run kernels its functions are called with the device's mutex held; on the CPU they may be
/// called concurrently.
class Planned {
 public:
  virtual ~Planned() = default;
  /// As many arrays as the operation takes; `to` is null where no record is requested.
  virtual void enqueue(std::span<const Array> arrays, const device::Place* to) = 0;
  virtual Result result() = 0;
  virtual std::string configuration() const = 0;
  /// Of C for each x, of pairs.
  virtual std::size_t bytes_of_x() const { return 0; }
  /// Of what it leaves, of reductions along axes and by operators.
  virtual std::uint64_t result_bytes() const { return 0; }
};

/// A plan that runs the operation on the CPU when it is enqueued.
std::unique_ptr<Planned> on_host(const Request& request, const Operation& operation);

/// A plan on a device that runs kernels. Takes its mutex.
std::unique_ptr<Planned> make(const Request& request, ops::Sum);
std::unique_ptr<Planned> make(const Request& request, ops::Dot);
std::unique_ptr<Planned> make(const Request& request, const ops::Extrema& extrema);
std::unique_ptr<Planned> make(const Request& request, const Fields& fields);
std::unique_ptr<Planned> make(const Request& request, const Bins& bins);
std::unique_ptr<Planned> make(const Request& request, const PairsProblem& pairs);
std::unique_ptr<Planned> make(const Request& request, ops::Product);
std::unique_ptr<Planned> make(const Request& request, const FormulaFields& formula);
std::unique_ptr<Planned> make(const Request& request, const AlongAxes& axes);
std::unique_ptr<Planned> make(const Request& request, const ByOperator& by);

template <class Work, class... Arguments>
std::unique_ptr<Planned> make_locked(const Request& request, Arguments&&... arguments) {
  const device::Lock lock(request.device.implementation().mutex());
  return std::make_unique<Work>(request, std::forward<Arguments>(arguments)...);
}

/// The record that an operation on `data` writes: its name and its size in bytes.
struct RecordKind {
  std::string_view name;
  std::size_t bytes = 0;
};
/// No value for an operation without one.
std::optional<RecordKind> record_of(const Operation& operation, const Array& data, const Planned& work);

/// The product of elements of `type`. @throws Error (no_answer) where it does not fit into 64 bits.
Value value_of(const ProductRecord& record, DType type);

/// A problem of pairs for arrays of about that size on the plan's device: all but A and B.
all_pairs::OwnProblem prepared_pairs(const Request& request, const PairsProblem& pairs);
/// A and B of a plan of pairs: as contiguous runs of the given numbers of vectors.
struct PairOperands {
  device::Run a, b;
  std::uint64_t x_count = 0, y_count = 0;
};
/// @throws Error (usage) as Plan::enqueue().
PairOperands pair_operands(const Request& request, const all_pairs::Problem& problem, const Array& a, const Array& b);

/// @throws Error (usage) unless the array lies where the plan takes it, and has the type, the shape and the strides that it was made for.
void require_like(const Request& request, const AlongAxes& axes, const Array& data);

/// The program of a plan's formula. @throws Error (usage) where a plan cannot have it.
formula::Program program_of(const FormulaFields& formula);
DType result_type(const formula::Program& program);
/// Inputs of a formula with these arrays. @throws Error (usage) where one has another type than that the plan was made for.
std::vector<FormulaInput> inputs_of(const std::vector<FormulaInput>& made_for, std::span<const Array> arrays);
/// The operator and formula of a plan. @throws Error (usage) where a plan cannot have them.
std::shared_ptr<const formula::BoundMap> bound_map(const ByOperator& by);

/// @throws Error (usage) where there are more elements than one launch takes.
void check_count(std::uint64_t size, std::uint64_t most);

}  // namespace samesum::planning
