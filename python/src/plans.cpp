// Plans: what samesum.Plan calls.
#include "formulas.hpp"
#include "groups.hpp"
#include "objects.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samesum::python {
namespace {

template <class... Each>
struct Overloaded : Each... {
  using Each::operator()...;
};

constexpr Fields kAllFields{.extrema = true, .sum = true, .squares = true, .nonzeros = true};

Operation operation_of(const std::string& name) {
  if (name == "sum") return ops::sum;
  if (name == "dot") return ops::dot;
  if (name == "extrema") return ops::extrema;
  if (name == "product") return ops::product;
  if (name == "statistics") return kAllFields;
  throw Error(ErrorKind::usage, "there is no plan of '" + name +
                                    "': one of sum, dot, extrema, product, statistics; with axis= a reduction that has this argument; or "
                                    "Plan.histogram, Plan.pairs, Plan.map, Plan.reduce");
}

/// The CPU, which is kept: opening it takes a tenth of a microsecond.
const Device& cpu() {
  static auto* const device = new Device(Device::open("cpu"));  // never destroyed: plans may outlive static objects
  return *device;
}

/// What a plan takes: host memory as the CPU's.
Array in_device_memory(const Array& array) {
  if (array.on_device()) return array;
  std::int64_t low = 0, high = array.size() == 0 ? 0 : static_cast<std::int64_t>(size_of(array.type()));
  for (std::size_t i = 0; i < array.rank() && array.size() != 0; ++i) {
    const std::int64_t reach = array.strides()[i] * static_cast<std::int64_t>(array.shape()[i] - 1);
    (reach < 0 ? low : high) += reach;
  }
  auto* const first = const_cast<std::byte*>(static_cast<const std::byte*>(array.data())) + low;  // NOLINT: which is only read
  const Buffer buffer = Buffer::wrap(cpu(), first, static_cast<std::uint64_t>(high - low));
  return {buffer, Shape(array.shape()), array.type(), static_cast<std::uint64_t>(-low), Strides(array.strides())};
}

/// The device where the first array in a device's memory lies, else the CPU.
Device device_of_arrays(const std::vector<Array>& arrays) {
  const auto found = std::ranges::find_if(arrays, &Array::on_device);
  return found == arrays.end() ? cpu() : found->buffer().device();
}

class PlanFor {
 public:
  /// `make(device)` gives the plan, for arrays like these.
  template <class Make>
  PlanFor(const std::vector<Array>& like, NanPolicy nan, const Make& make)
      : type_(like.at(0).type()), nan_(nan), plan_([&] {
          const Device device = device_of_arrays(like);
          const nb::gil_scoped_release release;
          return make(device);
        }()) {}

  void enqueue(const nb::list& arrays, nb::handle out) {
    std::vector<std::unique_ptr<View>> views;
    std::vector<Array> given;
    for (nb::handle each : arrays) {
      views.push_back(std::make_unique<View>(each));
      given.push_back(in_device_memory((views.back()->complex() == complex ? whole(*views.back()) : every(*views.back())).array()));
    }
    if (out.is_none()) {
      {
        const nb::gil_scoped_release release;
        plan_.enqueue(given);
      }
      if (components != 0) vectors_ = given[0].size() / components;
      return;
    }
    const View to(out, true);
    const Array& place = to.array();
    if (!place.contiguous()) throw Error(ErrorKind::usage, "out has to be contiguous");
    const bool as_indices = gives == DType::uint64 && place.type() == DType::int64;
    if (gives && (to.complex() || (place.type() != *gives && !as_indices))) {
      throw Error(ErrorKind::usage, std::string("out is of ") + (to.complex() ? "complex numbers" : std::string(name_of(place.type()))) +
                                        ", and these results are of " + std::string(name_of(*gives)));
    }
    const Array there = in_device_memory(place);
    const nb::gil_scoped_release release;
    plan_.enqueue(given, there.buffer(), there.offset());
  }

  nb::object result() const {
    Result found = [&] {
      const nb::gil_scoped_release release;
      return plan_.result();
    }();
    return std::visit(
        Overloaded{
            [](Accumulator& sum) { return nb::cast(std::move(sum)); },
            [](Statistics& statistics) { return nb::cast(std::move(statistics)); },
            [](Histogram& histogram) { return nb::cast(std::move(histogram)); }, [](const Value& value) { return number(value); },
            [](const std::vector<Value>& values) { return number(values.at(0)); },
            [&](const PairsResult& pairs) { return complex_result ? complex_of(array_of(pairs, vectors_)) : array_of(pairs, vectors_); },
            [&](Values& values) {
              const DType type = indices ? DType::int64 : values.type();
              return array_of(std::move(values), type);
            },
            [&](const ProductAccumulator& sum) { return is_integer(type_) ? integer(sum) : nb::cast(sum.round(nan_)); }},
        found);
  }

  std::string configuration() const { return plan_.configuration(); }

  std::uint64_t components = 0;  ///< of pairs: of a vector
  bool indices = false;          ///< along axes: the results are counts or indices
  std::optional<DType> gives;    ///< … and of histograms: what `out` gets, in place of a record
  bool complex = false;          ///< of pairs: A and B have complex numbers
  bool complex_result = false;   ///< … and so has C

 private:
  DType type_;
  NanPolicy nan_;
  std::atomic<std::uint64_t> vectors_{0};  // of A, in the latest call without a place
  Plan plan_;
};

// Each of these gives a plan that Python owns.

PlanFor* plan_of(const std::string& operation, nb::handle like, nb::handle nan) {
  const View view(like);
  const Array& array = every(view).array();
  const Options options = options_of(nan, nb::none());
  const Layout layout = array.contiguous() ? Layout::contiguous : Layout::strided;
  Operation wanted = operation_of(operation);
  return new PlanFor({array}, options.nan,
                     [&](const Device& device) { return Plan(device, std::move(wanted), array.type(), array.size(), options, layout); });
}

/// The type of results along axes, as axis_reduction() has it.
DType result_of(AxisReduction reduction, DType type) {
  switch (reduction) {
    case AxisReduction::sum:
    case AxisReduction::product:
      if (is_integer(type)) return is_signed(type) ? DType::int64 : DType::uint64;
      return reduction == AxisReduction::product && type != DType::float64 ? DType::float32 : DType::float64;
    case AxisReduction::min:
    case AxisReduction::max:
      return type;
    default:
      return gives_indices(reduction) ? DType::uint64 : DType::float64;
  }
}

PlanFor* plan_along(AxisReduction reduction, nb::handle like, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims,
                    nb::handle nan) {
  const View view(like);
  const Array& array = every(view).array();
  const Options options = options_of(nan, nb::none());
  const AlongAxes wanted{array, axes_of(view, axes, keepdims), reduction};
  auto plan =
      std::make_unique<PlanFor>(std::vector{array}, options.nan, [&](const Device& device) { return Plan(device, wanted, options); });
  plan->indices = gives_indices(reduction);
  plan->gives = result_of(reduction, array.type());
  return plan.release();
}

PlanFor* plan_of_histogram(nb::handle like, const Bins& bins) {
  const View view(like);
  const Array& array = every(view).array();
  auto plan = std::make_unique<PlanFor>(std::vector{array}, NanPolicy::propagate,
                                        [&](const Device& device) { return Plan(device, bins, array.type(), array.size()); });
  plan->gives = DType::uint64;
  return plan.release();
}

PlanFor* plan_of_pairs(nb::handle a, nb::handle b, const std::string& f, const std::string& reduction, const std::string& accuracy,
                       double h, double softening, nb::handle weights, std::uint32_t k, const std::string& combine,
                       const std::string& finish, nb::handle identity, const nb::dict& named) {
  const View left(a), right(b);
  const PairsOf asked(left, right, f, reduction, accuracy, h, softening, weights, k, combine, finish, identity, named);
  const Array &from = left.array(), &to = right.array();
  auto plan = std::make_unique<PlanFor>(std::vector{from, to}, NanPolicy::propagate, [&](const Device& device) {
    return Plan(device, asked.problem, from.type(), std::max(from.size(), to.size()));
  });
  plan->components = asked.problem.components;
  plan->complex = asked.problem.complex;
  plan->complex_result = pairs_give_complex(from, to, asked.problem);
  return plan.release();
}

/// About how many positions the inputs of a formula have.
std::uint64_t positions_of(const std::vector<FormulaInput>& inputs) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape_of(inputs)) count *= extent;
  return count;
}

std::vector<Array> arrays_of(const Inputs& inputs) {
  std::vector<Array> arrays;
  for (const FormulaInput& each : inputs.arrays) arrays.push_back(each.array);
  if (arrays.empty()) throw Error(ErrorKind::usage, "the formula of a plan takes no array: it has nothing to be enqueued with");
  return arrays;
}

PlanFor* plan_of_map(const std::string& text, const nb::dict& named, nb::handle nan) {
  const Inputs inputs(named);
  const Options options = options_of(nan, nb::none());
  const FormulaFields wanted{Formula(text), inputs.arrays, inputs.parameters, kAllFields};
  return new PlanFor(arrays_of(inputs), options.nan,
                     [&](const Device& device) { return Plan(device, wanted, positions_of(inputs.arrays), options); });
}

PlanFor* plan_of_operator(nb::handle like, const std::string& combine, nb::handle identity, const nb::dict& parameters) {
  const View view(like);
  const Array& array = every(view).array();
  const ByOperator wanted{operator_of(combine, identity, parameters, ""), Formula("x"), {{"x", array}}};
  return new PlanFor({array}, NanPolicy::propagate, [&](const Device& device) { return Plan(device, wanted, array.size()); });
}

}  // namespace

void bind_plans(nb::module_& m) {
  nb::class_<PlanFor>(m, "PlanFor")
      .def("enqueue", &PlanFor::enqueue, nb::arg(), nb::arg().none())
      .def("result", &PlanFor::result)
      .def("configuration", &PlanFor::configuration);
  m.def("plan", &plan_of, nb::arg(), nb::arg(), nb::arg().none());
  m.def("plan_along", &plan_along, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
  m.def("plan_of_histogram", &plan_of_histogram);
  m.def("plan_of_pairs", &plan_of_pairs, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("plan_of_map", &plan_of_map, nb::arg(), nb::arg(), nb::arg().none());
  m.def("plan_of_operator", &plan_of_operator, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
}

}  // namespace samesum::python
