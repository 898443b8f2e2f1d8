// Plans: what samesum.Plan calls.
#include "objects.hpp"

#include <nanobind/stl/string.h>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>

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

Operation operation_of(const std::string& name) {
  if (name == "sum") return ops::sum;
  if (name == "dot") return ops::dot;
  if (name == "extrema") return ops::extrema;
  if (name == "product") return ops::product;
  if (name == "statistics") return Fields{.extrema = true, .sum = true, .squares = true, .nonzeros = true};
  throw Error(ErrorKind::usage, "there is no plan of '" + name + "': one of sum, dot, extrema, product, statistics");
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
  const Buffer buffer = Buffer::wrap(Device::open("cpu"), first, static_cast<std::uint64_t>(high - low));
  return {buffer, Shape(array.shape()), array.type(), static_cast<std::uint64_t>(-low), Strides(array.strides())};
}

class PlanFor {
 public:
  PlanFor(const std::string& operation, nb::handle like, nb::handle nan) {
    const View view(like);
    const Array& array = every(real(view)).array();
    const Device device = array.on_device() ? array.buffer().device() : Device::open("cpu");
    type_ = array.type();
    const Options options = options_of(nan, nb::none());
    nan_ = options.nan;
    const Layout layout = array.contiguous() ? Layout::contiguous : Layout::strided;
    Operation wanted = operation_of(operation);
    const nb::gil_scoped_release release;
    plan_.emplace(device, std::move(wanted), type_, array.size(), options, layout);
  }

  void enqueue(const nb::list& arrays, nb::handle out) {
    std::vector<std::unique_ptr<View>> views;
    std::vector<Array> given;
    for (nb::handle each : arrays) {
      views.push_back(std::make_unique<View>(each));
      given.push_back(in_device_memory(every(real(*views.back())).array()));
    }
    if (out.is_none()) {
      const nb::gil_scoped_release release;
      plan_->enqueue(given);
      return;
    }
    const View to(out, true);
    const Array& place = to.array();
    if (!place.contiguous()) throw Error(ErrorKind::usage, "out has to be contiguous");
    const Array there = in_device_memory(place);
    const nb::gil_scoped_release release;
    plan_->enqueue(given, there.buffer(), there.offset());
  }

  nb::object result() const {
    Result found = [&] {
      const nb::gil_scoped_release release;
      return plan_->result();
    }();
    return std::visit(
        Overloaded{[](Accumulator& sum) { return nb::cast(std::move(sum)); },
                   [](Statistics& statistics) { return nb::cast(std::move(statistics)); }, [](const Value& value) { return number(value); },
                   [&](const ProductAccumulator& sum) { return is_integer(type_) ? integer(sum) : nb::cast(sum.round(nan_)); },
                   [](const auto&) -> nb::object { throw Error(ErrorKind::usage, "this plan has no such result"); }},
        found);
  }

  std::string configuration() const { return plan_->configuration(); }

 private:
  DType type_ = DType::float64;
  NanPolicy nan_ = NanPolicy::propagate;
  std::optional<Plan> plan_;
};

}  // namespace

void bind_plans(nb::module_& m) {
  nb::class_<PlanFor>(m, "PlanFor")
      .def(nb::init<const std::string&, nb::handle, nb::handle>(), nb::arg(), nb::arg(), nb::arg().none())
      .def("enqueue", &PlanFor::enqueue, nb::arg(), nb::arg().none())
      .def("result", &PlanFor::result)
      .def("configuration", &PlanFor::configuration);
}

}  // namespace samesum::python
