// Plans of statistics of formulas: what both kinds of device need, and those that run kernels.
#include "plan/planned.hpp"
#include "plan/record.hpp"

#include "formula/bound.hpp"
#include "formula/map/map_device.hpp"
#include "formula/map/term.hpp"
#include "reduce/device/collect_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace samesum::planning {

DType result_type(const formula::Program& program) { return formula::dtype_of(program.nodes[program.results[0]].type); }

formula::Program program_of(const FormulaFields& formula) {
  formula::Program program = formula::resolve(formula.formula.tree(), formula.inputs, formula.parameters);
  if (program.results.size() != 1) {
    throw Error(ErrorKind::usage, fmt::format("a plan reduces one number for each position, the formula gives {}", program.results.size()));
  }
  if (program.inputs.empty()) throw Error(ErrorKind::usage, "the formula of a plan takes no array: it has nothing to be enqueued with");
  if (program.may_fail) {
    throw Error(ErrorKind::usage, "a plan has no way to say that an integer operation failed, as one here may: use collect() with map()");
  }
  return program;
}

std::vector<FormulaInput> inputs_of(const std::vector<FormulaInput>& wanted, std::span<const Array> arrays) {
  std::vector<FormulaInput> inputs;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const FormulaInput& made_for = wanted[k];
    if (arrays[k].type() != made_for.array.type()) {
      throw Error(ErrorKind::usage, fmt::format("the plan takes {} as '{}', the array has {}", name_of(made_for.array.type()),
                                                made_for.name, name_of(arrays[k].type())));
    }
    if ((made_for.vector || made_for.complex) && (arrays[k].rank() == 0 || arrays[k].shape().back() != made_for.array.shape().back())) {
      throw Error(ErrorKind::usage, fmt::format("the plan takes vectors of {} components as '{}', the array has others",
                                                made_for.array.shape().back(), made_for.name));
    }
    inputs.emplace_back(made_for.name, arrays[k], made_for.vector).complex = made_for.complex;
  }
  return inputs;
}

namespace {

constexpr std::size_t kMaxArrays = 16;  // of a kernel's arguments

using formula::Reading;

// There are two passes: for arrays that are read by loads of 16 bytes, contiguous and equally aligned, and for any others.
class PlannedFormula : public Planned {
 public:
  PlannedFormula(const Request& request, const FormulaFields& formula, formula::Program program)
      : request_(request),
        formula_(formula),
        program_(std::move(program)),
        values_(formula::values_of(formula.parameters)),
        type_(result_type(program_)),
        in_loads_(pass(Reading::loads)),
        any_(pass(Reading::strided)) {
    in_loads_.prepare_all(false);
    any_.prepare_all(false);
    if (!alone()) recorder_.emplace(request.device.implementation(), type_, formula.fields);
  }

  void enqueue(std::span<const Array> arrays, const device::Place* to) override {
    const std::vector<FormulaInput> inputs = inputs_of(formula_.inputs, arrays);
    const std::vector<std::uint64_t> shape = shape_of(inputs);
    device::Device& device = request_.device.implementation();
    statistics::Term term;
    term.count = 1;
    for (const std::uint64_t extent : shape) term.count *= extent;
    check_count(term.count, Plan::kMaxElements);
    const std::uint64_t in_load = 16 / size_of(type_);
    std::optional<std::uint64_t> head;  // positions before the first boundary of a load, the same in all arrays
    bool loads = true;
    for (const formula::InputComponent& use : program_.inputs) {
      const Array array = formula::component_of(inputs[use.input], use.component, shape);
      const device::Run run = device::planned_run(array, core::Order::index, request_.device, array.type(), Layout::strided);
      const std::uint64_t element = size_of(array.type()), load = std::min<std::uint64_t>(16, in_load * element);
      const std::uint64_t beyond = (device.misalignment(run.memory) + run.offset) % load;
      if (!head) head = (load - beyond) % load / element;
      loads = loads && run.stride == static_cast<std::int64_t>(element) && (beyond + *head * element) % load == 0;
      term.arguments.insert(term.arguments.end(), {run.memory, run.offset, run.stride, run.row_stride});
    }
    formula::add_parameters(program_, values_, term.arguments);
    term.arguments.insert(term.arguments.end(), {std::uint64_t{0}, no_failure_});
    term.head = static_cast<std::uint32_t>(loads ? std::min(*head, term.count) : 0);
    latest_ = loads ? &in_loads_ : &any_;
    latest_->launch(term, request_.nan, alone() ? to : nullptr);
    if (to != nullptr && recorder_) recorder_->launch(*latest_->words(), term.count, request_.nan, *to);
  }

  Result result() override {
    if (latest_ == nullptr) device::refuse_result();
    return statistics::without_nans_field(Statistics(latest_->result()), formula_.fields);
  }

  std::string configuration() const override { return in_loads_.configuration(); }

 private:
  // A sum alone is rounded by its own kernel.
  bool alone() const { return formula_.fields == statistics::kSumAlone; }

  statistics::DevicePass pass(Reading reading) const {
    std::vector<DType> types;
    for (const formula::InputComponent& use : program_.inputs) types.push_back(formula_.inputs[use.input].array.type());
    statistics::CollectOptions options = statistics::collect_options(formula_.fields, request_.tuning);
    if (!alone()) {
      options = statistics::with_nans(options);
      options.records = true;
    }
    return {request_.device.implementation(), formula::term_code(program_, types, std::vector<Reading>(types.size(), reading)), options,
            request_.size};
  }

  Request request_;
  FormulaFields formula_;
  formula::Program program_;
  std::vector<Value> values_;
  DType type_;
  statistics::DevicePass in_loads_, any_;
  std::optional<Recorder> recorder_;
  device::Memory no_failure_ = request_.device.implementation().allocate(sizeof(std::uint64_t));  // which no position writes
  statistics::DevicePass* latest_ = nullptr;
};

}  // namespace

std::unique_ptr<Planned> make(const Request& request, const FormulaFields& formula) {
  formula::Program program = program_of(formula);
  formula::require_types(program, request.device.info());
  if (program.inputs.size() > kMaxArrays || program.parameters.size() > kMaxArrays) {
    throw Error(ErrorKind::usage, fmt::format("the formula of a plan reads {} arrays and {} parameters: {} of either are too many",
                                              program.inputs.size(), program.parameters.size(), kMaxArrays + 1));
  }
  return make_locked<PlannedFormula>(request, formula, std::move(program));
}

}  // namespace samesum::planning
