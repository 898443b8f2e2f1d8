// Values that stay in the library: accumulators, statistics, histograms, devices.
#include "objects.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/samesum.hpp>
#include <samesum/selftest.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace samesum::python {

using namespace nanobind::literals;

nb::object number(const Value& value) {
  return std::visit([](auto v) { return nb::object(nb::cast(v)); }, value.number);
}

nb::object number(std::complex<double> value) { return nb::steal(PyComplex_FromDoubles(value.real(), value.imag())); }

namespace {

template <class Sum>
nb::object whole(const Sum& sum, int unit) {
  nb::list digits;
  for (const std::int64_t digit : sum.canonical_digits()) digits.append(digit);
  return nb::module_::import_("samesum._arrays").attr("integer")(digits, unit);
}

constexpr int kUnit = 1074;  // the lowest digit of an Accumulator weighs 2^-1074

}  // namespace

nb::object integer(const Accumulator& sum) { return whole(sum, kUnit); }
nb::object integer(const ProductAccumulator& sum) { return whole(sum, ProductAccumulator::kUnit); }

nb::object array_of(Values values, DType type) {
  const nb::dlpack::dtype shown{
      static_cast<std::uint8_t>(is_integer(type) ? (is_signed(type) ? nb::dlpack::dtype_code::Int : nb::dlpack::dtype_code::UInt)
                                                 : nb::dlpack::dtype_code::Float),
      static_cast<std::uint8_t>(8 * size_of(type)), 1};
  auto owned = std::make_unique<Values>(std::move(values));
  Values* kept = owned.get();
  const nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<Values*>(p); });
  const std::vector<std::size_t> shape(kept->shape().begin(), kept->shape().end());
  return nb::cast(nb::ndarray<nb::numpy>(kept->data(), shape.size(), shape.data(), owner, nullptr, shown));
}

nb::object array_of(std::span<const std::uint64_t> counts, const std::vector<std::uint64_t>& shape) {
  Values values(DType::int64, shape);
  if (!counts.empty()) std::memcpy(values.data(), counts.data(), counts.size_bytes());
  return array_of(std::move(values), DType::int64);
}

const View& real(const View& view) {
  if (view.complex()) throw Error(ErrorKind::usage, "this is not defined for complex numbers");
  return view;
}

nb::bytes bytes_of(const std::vector<std::byte>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

std::vector<std::byte> bytes_in(nb::handle object) {
  const nb::object bytes = nb::steal(PyBytes_FromObject(object.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  const auto* first = reinterpret_cast<const std::byte*>(PyBytes_AsString(bytes.ptr()));
  return {first, first + PyBytes_Size(bytes.ptr())};
}

namespace {

/// What every value has: merging, equality, the serialized form, pickling.
template <class T>
nb::class_<T> bind_value(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<T>(m, name, doc)
      .def(
          "merge",
          [](nb::object self, const T& other) {
            nb::cast<T&>(self).merge(other);
            return self;
          },
          "other"_a, "Add those of another part; returns itself.")
      .def("__iadd__",
           [](nb::object self, const T& other) {
             nb::cast<T&>(self).merge(other);
             return self;
           })
      .def(
          "__add__", [](T a, const T& b) { return a += b; }, nb::is_operator())
      .def(
          "__eq__", [](const T& a, const T& b) { return a == b; }, nb::is_operator())
      .def(
          "serialize", [](const T& self) { return bytes_of(self.serialize()); },
          "The canonical bytes (docs/accumulator-format.md): equal values have equal ones, on every machine.")
      .def_static(
          "deserialize", [](nb::handle bytes) { return T::deserialize(bytes_in(bytes)); }, "bytes"_a,
          "The value of serialize(); damaged bytes raise SamesumError.")
      .def("__getstate__", [](const T& self) { return bytes_of(self.serialize()); })
      .def("__setstate__", [](T& self, const nb::bytes& bytes) { new (&self) T(T::deserialize(bytes_in(bytes))); });
}

void add_to(Accumulator& sum, nb::handle x, nb::handle device) {
  const View view(x);
  Options options = options_of(nb::none(), device);
  sum.merge(run(view.bytes(), options, [&] { return accumulate(real(view).array(), options); }));
}

void bind_sums(nb::module_& m) {
  bind_value<Accumulator>(m, "Accumulator", "An exact sum as a value: add to it, merge it with those of other parts, round it once.")
      .def(
          "__init__",
          [](Accumulator* self, nb::handle x, nb::handle device) {
            new (self) Accumulator();
            if (!x.is_none()) add_to(*self, x, device);
          },
          "x"_a = nb::none(), "device"_a = nb::none())
      .def(
          "add",
          [](nb::object self, nb::handle x, nb::handle device) {
            add_to(nb::cast<Accumulator&>(self), x, device);
            return self;
          },
          "x"_a, "device"_a = nb::none(), "Add a number, or all elements of an array; returns the accumulator.")
      .def(
          "_round", [](const Accumulator& self, nb::handle nan) { return self.round(options_of(nan, nb::none()).nan); }, nb::arg().none())
      .def("_integer", [](const Accumulator& self) { return integer(self); })
      .def("_fixed", [](const Accumulator& self) { return whole(self, 0); })
      .def_prop_ro("_whole", [](const Accumulator& self) { return is_integer(self.result_type()); })
      .def("_words",
           [](const Accumulator& self) {
             const auto words = self.words();
             return std::vector<std::int64_t>(words.begin(), words.end());
           })
      .def_static("_from_words",
                  [](const std::vector<std::int64_t>& words) {
                    if (words.size() != Accumulator::kWords) {
                      throw Error(ErrorKind::usage, "an accumulator has 82 words, not " + std::to_string(words.size()));
                    }
                    return Accumulator::from_words(std::span<const std::int64_t, Accumulator::kWords>(words));
                  })
      .def_prop_ro("count", &Accumulator::count, "Elements added, NaNs and infinities included.")
      .def_prop_ro("nan_count", &Accumulator::nan_count)
      .def_prop_ro("infinities", [](const Accumulator& self) { return self.positive_infinities() + self.negative_infinities(); });

  constexpr auto policy = [](nb::handle nan) { return options_of(nan, nb::none()).nan; };
  bind_value<Statistics>(m, "Statistics",
                         "Several statistics of a sequence, from one pass; those of a later part can be added. A NaN makes them NaN.")
      .def_prop_ro("count", &Statistics::count, "Elements, NaNs included.")
      .def_prop_ro("nan_count", &Statistics::nan_count)
      .def_prop_ro("nonzero_count", [](const Statistics& self) { return self.nonzero_count(); })
      .def_prop_ro(
          "sum",
          [](const Statistics& self) {
            return is_integer(self.sum().result_type()) && self.count() != 0 ? integer(self.sum()) : nb::cast(self.sum().round());
          },
          "Of integers exact.")
      .def_prop_ro("mean", [](const Statistics& self) { return self.mean(); })
      .def_prop_ro("norm", [](const Statistics& self) { return self.norm(); })
      .def_prop_ro("min", [](const Statistics& self) { return number(self.min().value); })
      .def_prop_ro("max", [](const Statistics& self) { return number(self.max().value); })
      .def_prop_ro("argmin", [](const Statistics& self) { return self.min().index; })
      .def_prop_ro("argmax", [](const Statistics& self) { return self.max().index; })
      .def(
          "var", [=](const Statistics& self, std::uint64_t ddof, nb::handle nan) { return self.variance(ddof, policy(nan)); }, "ddof"_a = 0,
          "nan"_a = "propagate")
      .def(
          "std", [=](const Statistics& self, std::uint64_t ddof, nb::handle nan) { return self.standard_deviation(ddof, policy(nan)); },
          "ddof"_a = 0, "nan"_a = "propagate");
}

void bind_histograms(nb::module_& m) {
  nb::class_<Bins>(m, "Bins")
      .def_static("even", &Bins::even)
      .def_static("between", &Bins::between)
      .def_static("spanning",
                  [](nb::handle x, std::uint64_t count) {
                    const View view(x);
                    const Range range = range_of(real(view).array()).value_or(Range{0, 1});
                    return Bins::spanning(range.min, range.max, count);
                  })
      .def_prop_ro("edges", [](const Bins& self) {
        Values edges(DType::float64, {self.edges().size()});
        std::memcpy(edges.data(), self.edges().data(), self.edges().size_bytes());
        return array_of(std::move(edges), DType::float64);
      });

  bind_value<Histogram>(m, "Histogram", "Counts over bins, and of what lies outside.")
      .def(
          "counts", [](const Histogram& self) { return array_of(self.counts(), {self.counts().size()}); }, "The samples in each bin.")
      .def_prop_ro("bins", &Histogram::bins)
      .def_prop_ro("under", &Histogram::under, "Samples below the first edge.")
      .def_prop_ro("over", &Histogram::over, "Samples above the last edge.")
      .def_prop_ro("nan_count", &Histogram::nan_count)
      .def_prop_ro("total", &Histogram::total, "All samples.")
      .def(
          "quantile", [](const Histogram& self, double p) { return self.quantile(p).value; }, "p"_a, "Estimated within its bin.");
  m.def(
      "histogram",
      [](nb::handle x, const Bins& bins, nb::handle device) {
        const View view(x);
        Options options = options_of(nb::none(), device);
        return run(view.bytes(), options, [&] { return samesum::histogram(real(view).array(), bins, options); });
      },
      nb::arg(), nb::arg(), nb::arg().none());
}

void bind_devices(nb::module_& m) {
  nb::class_<Device>(m, "Device", "Where to compute: a selector such as 'cpu', 'cuda:0', 'opencl:nvidia', or 'auto'.")
      .def(
          "__init__", [](Device* self, const std::string& selector) { new (self) Device(Device::open(selector)); }, "selector"_a = "auto")
      .def_prop_ro("selector", [](const Device& self) { return self.info().selector; })
      .def_prop_ro("name", [](const Device& self) { return self.info().name; })
      .def("__repr__", [](const Device& self) { return "<samesum.Device " + self.info().selector + ": " + self.info().name + ">"; });
  m.def("devices", [] {
    nb::list list;
    for (const DeviceInfo& info : list_devices().devices) {
      nb::dict entry;
      entry["selector"] = info.selector;
      entry["name"] = info.name;
      entry["platform"] = info.platform;
      entry["driver"] = info.driver;
      entry["memory_bytes"] = info.memory_bytes;
      list.append(entry);
    }
    return list;
  });
  m.def("selftest", [](nb::handle device) {
    const Device chosen = device_of(device);
    nb::gil_scoped_release release;
    return selftest(chosen).json();
  });
}

}  // namespace

void bind_objects(nb::module_& m) {
  bind_sums(m);
  bind_histograms(m);
  bind_devices(m);
}

}  // namespace samesum::python
