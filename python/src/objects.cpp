// Values that stay in the library: accumulators, statistics, histograms, devices.
#include "objects.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/samesum.hpp>
#include <samesum/selftest.hpp>
#include <samesum/tune.hpp>

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
nb::object fixed(const ProductAccumulator& sum) { return whole(sum, 0); }

nb::object array_at(const void* data, DType type, const std::vector<std::uint64_t>& extents, nb::handle owner, bool writable) {
  const nb::dlpack::dtype shown{
      static_cast<std::uint8_t>(is_integer(type) ? (is_signed(type) ? nb::dlpack::dtype_code::Int : nb::dlpack::dtype_code::UInt)
                                                 : nb::dlpack::dtype_code::Float),
      static_cast<std::uint8_t>(8 * size_of(type)), 1};
  const std::vector<std::size_t> shape(extents.begin(), extents.end());
  nb::object array = writable ? nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(data), shape.size(), shape.data(), owner, nullptr, shown))
                              : nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), owner, nullptr, shown));
  // The buffer protocol gives C's long long where numpy's own int64 is long: equal types that are shown in different ways.
  if (type == DType::int64 || type == DType::uint64) array = array.attr("view")(type == DType::int64 ? "int64" : "uint64");
  return array;
}

nb::object array_of(Values values, DType type) {
  if (type == DType::bfloat16) {  // numpy has none: the same numbers as float32
    const auto* from = static_cast<const std::uint16_t*>(std::as_const(values).data());
    Values wide(DType::float32, {values.shape().begin(), values.shape().end()});
    auto* to = static_cast<std::uint32_t*>(wide.data());
    for (std::uint64_t i = 0; i < values.array().size(); ++i) to[i] = static_cast<std::uint32_t>(from[i]) << 16;
    return array_of(std::move(wide), DType::float32);
  }
  auto owned = std::make_unique<Values>(std::move(values));
  Values* kept = owned.get();
  const nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<Values*>(p); });
  return array_at(kept->data(), type, {kept->shape().begin(), kept->shape().end()}, owner, true);
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

const View& whole(const View& view) {
  if (view.missing()) {
    throw nb::type_error("samesum: elements are missing or masked, so the positions of the others are not theirs: fill or drop them first");
  }
  return view;
}

const View& every(const View& view) { return real(whole(view)); }

nb::object complex_of(const nb::object& parts) { return nb::module_::import_("samesum._arrays").attr("as_complex")(parts); }

nb::bytes bytes_of(const std::vector<std::byte>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

std::vector<std::byte> bytes_in(nb::handle object) {
  const nb::object bytes = nb::steal(PyBytes_FromObject(object.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  const auto* first = reinterpret_cast<const std::byte*>(PyBytes_AsString(bytes.ptr()));
  return {first, first + PyBytes_Size(bytes.ptr())};
}

namespace {

// Values that merge change, so without the interpreter's lock calls of the same one take turns.
constexpr nb::lock_self alone{};

/// What every value has: merging, equality, the serialized form, pickling.
template <class T>
nb::class_<T> bind_value(nb::module_& m, const char* name, const char* doc) {
  nb::class_<T> bound(m, name, doc);
  bound
      .def(
          "merge",
          [](nb::object self, const T& other) {
            nb::cast<T&>(self).merge(other);
            return self;
          },
          alone, "other"_a.lock(), R"(Adds those of another part.

Parameters
----------
other
    Of the same type; of histograms over the same bins.

Returns
-------
The object itself.)")
      .def(
          "__iadd__",
          [](nb::object self, const T& other) {
            nb::cast<T&>(self).merge(other);
            return self;
          },
          alone, nb::arg().lock())
      .def(
          "__add__", [](T a, const T& b) { return a += b; }, nb::is_operator(), alone, nb::arg().lock())
      .def(
          "__radd__",  // sum(parts) begins with 0
          [](const T& self, int zero) {
            if (zero != 0) throw nb::type_error("samesum: to a part only another one is added, or 0, with which sum() begins");
            return T(self);
          },
          nb::is_operator(), alone, nb::arg())
      .def(
          "__eq__", [](const T& a, const T& b) { return a == b; }, nb::is_operator(), alone, nb::arg().lock())
      .def(
          "serialize", [](const T& self) { return bytes_of(self.serialize()); }, alone,
          R"(The canonical bytes (docs/accumulator-format.md): equal values have equal ones, on every machine.

Returns
-------
bytes)")
      .def_static(
          "deserialize", [](nb::handle bytes) { return T::deserialize(bytes_in(bytes)); }, "bytes"_a,
          R"(The value that was serialized.

Parameters
----------
bytes : bytes-like
    What serialize() gave.

Returns
-------
The object.

Raises
------
SamesumError
    Where the bytes are damaged, or of another type.)")
      .def(
          "__getstate__", [](const T& self) { return bytes_of(self.serialize()); }, alone)
      .def("__setstate__", [](T& self, const nb::bytes& bytes) { new (&self) T(T::deserialize(bytes_in(bytes))); });
  bound.attr("__hash__") = nb::none();  // equal ones may differ later
  return bound;
}

void add_to(Accumulator& sum, nb::handle x, nb::handle device) {
  const View view(x);
  Options options = options_of(nb::none(), device);
  sum.merge(run_pass(view.bytes(), options, [&] { return accumulate(real(view).array(), options); }));
}

void bind_sums(nb::module_& m) {
  bind_value<Accumulator>(m, "Accumulator", R"(An exact sum as a value: add to it, merge it with those of other parts, round it once.

It pickles, adds by `+`, and float() rounds it.

Parameters
----------
x : array_like, optional
    The first elements.
device : Device or str, optional
    Where to add them.

Examples
--------
>>> part = samesum.Accumulator([1e16, 1.0])
>>> part.add(-1e16)
<samesum.Accumulator of 3 elements: 1.0>
>>> float(part + samesum.Accumulator([0.5]))
1.5)")
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
          alone, "x"_a, "device"_a = nb::none(), R"(Adds a number, or all elements of an array.

Parameters
----------
x : array_like or number
    What to add.
device : Device or str, optional
    Where.

Returns
-------
Accumulator
    The object itself.)")
      .def(
          "_round", [](const Accumulator& self, nb::handle nan) { return self.round(options_of(nan, nb::none()).nan); }, alone,
          nb::arg().none())
      .def(
          "_integer", [](const Accumulator& self) { return integer(self); }, alone)
      .def(
          "_fixed", [](const Accumulator& self) { return whole(self, 0); }, alone)
      .def_prop_ro(
          "_whole", [](const Accumulator& self) { return is_integer(self.result_type()); }, alone)
      .def(
          "_words",
          [](const Accumulator& self) {
            const auto words = self.words();
            return std::vector<std::int64_t>(words.begin(), words.end());
          },
          alone)
      .def_static("_from_words",
                  [](const std::vector<std::int64_t>& words) {
                    if (words.size() != Accumulator::kWords) {
                      throw Error(ErrorKind::usage, "an accumulator has 82 words, not " + std::to_string(words.size()));
                    }
                    return Accumulator::from_words(std::span<const std::int64_t, Accumulator::kWords>(words));
                  })
      .def_prop_ro("count", &Accumulator::count, alone, "Elements added, NaNs and infinities included.")
      .def_prop_ro("nan_count", &Accumulator::nan_count, alone, "NaNs added.")
      .def_prop_ro(
          "infinities", [](const Accumulator& self) { return self.positive_infinities() + self.negative_infinities(); }, alone,
          "Infinities added, of both signs.");

  constexpr auto policy = [](nb::handle nan) { return options_of(nan, nb::none()).nan; };
  bind_value<Statistics>(m, "Statistics",
                         R"(Several statistics of a sequence, from one pass: `stats` makes it. Those of a later part can be added.

A NaN makes them NaN, but for those that take `nan`. They pickle.

Examples
--------
>>> whole = samesum.stats([1.0, 2.0]) + samesum.stats([6.0])
>>> whole.count, whole.mean, whole.var(), whole.argmax
(3, 3.0, 4.666666666666667, 2))")
      .def_prop_ro("count", &Statistics::count, alone, "Elements, NaNs included.")
      .def_prop_ro("nan_count", &Statistics::nan_count, alone, "NaNs.")
      .def_prop_ro(
          "nonzero_count", [](const Statistics& self) { return self.nonzero_count(); }, alone, "Elements that are not zero, NaNs included.")
      .def_prop_ro(
          "sum",
          [](const Statistics& self) {
            return is_integer(self.sum().result_type()) && self.count() != 0 ? integer(self.sum()) : nb::cast(self.sum().round());
          },
          alone, "The sum: of floats rounded once, of integers exact.")
      .def_prop_ro(
          "mean", [](const Statistics& self) { return self.mean(); }, alone, "The mean, rounded once.")
      .def_prop_ro(
          "norm", [](const Statistics& self) { return self.norm(); }, alone, "The Euclidean norm, rounded once.")
      .def_prop_ro(
          "min", [](const Statistics& self) { return number(self.min().value); }, alone, "The least element.")
      .def_prop_ro(
          "max", [](const Statistics& self) { return number(self.max().value); }, alone, "The greatest element.")
      .def_prop_ro(
          "argmin", [](const Statistics& self) { return self.min().index; }, alone, "The lowest index of the least element.")
      .def_prop_ro(
          "argmax", [](const Statistics& self) { return self.max().index; }, alone, "The lowest index of the greatest element.")
      .def(
          "var", [=](const Statistics& self, std::uint64_t ddof, nb::handle nan) { return self.variance(ddof, policy(nan)); }, alone,
          "ddof"_a = 0, "nan"_a = "propagate", R"(The variance in exact arithmetic, rounded once.

Parameters
----------
ddof : int, optional
    The variance is divided by n - `ddof`.
nan : {'propagate', 'skip'}, optional
    Whether a NaN makes it NaN, or is left out.

Returns
-------
float)")
      .def(
          "std", [=](const Statistics& self, std::uint64_t ddof, nb::handle nan) { return self.standard_deviation(ddof, policy(nan)); },
          alone, "ddof"_a = 0, "nan"_a = "propagate", R"(The root of the exact variance, rounded once.

Parameters
----------
ddof : int, optional
    The variance is divided by n - `ddof`.
nan : {'propagate', 'skip'}, optional
    Whether a NaN makes it NaN, or is left out.

Returns
-------
float)");
}

void bind_histograms(nb::module_& m) {
  nb::class_<Bins>(m, "Bins", "The bins of one axis.")
      .def_static("even", &Bins::even)
      .def_static("between", &Bins::between)
      .def_static("spanning",
                  [](nb::handle x, std::uint64_t count) {
                    const View view(x);
                    const Range range = range_of(real(view).array()).value_or(Range{0, 1});
                    return Bins::spanning(range.min, range.max, count);
                  })
      .def_prop_ro(
          "edges",
          [](const Bins& self) {
            Values edges(DType::float64, {self.edges().size()});
            std::memcpy(edges.data(), self.edges().data(), self.edges().size_bytes());
            return array_of(std::move(edges), DType::float64);
          },
          "One more than bins.");

  bind_value<Histogram>(m, "Histogram", R"(Counts over bins, and of what lies outside: `histogram` makes it.

It unpacks and has subscripts as the pair ``counts, edges``, pickles, adds by `+`, and has the protocol of UHI.

Examples
--------
>>> h = samesum.histogram([-1.0, 0.25, 0.5, 7.0], bins=2, range=(0.0, 1.0))
>>> h.counts(), h.under, h.over, (h + h).total
(array([1, 1]), 1, 1, 8))")
      .def(
          "counts", [](const Histogram& self) { return array_of(self.counts(), {self.counts().size()}); }, alone,
          R"(The samples in each bin.

Returns
-------
numpy.ndarray
    Of int64.)")
      .def_prop_ro("bins", &Histogram::bins, alone, "The bins.")
      .def_prop_ro("under", &Histogram::under, alone, "Samples below the first edge.")
      .def_prop_ro("over", &Histogram::over, alone, "Samples above the last edge.")
      .def_prop_ro("nan_count", &Histogram::nan_count, alone, "NaNs.")
      .def_prop_ro("total", &Histogram::total, alone, "All samples.")
      .def(
          "quantile", [](const Histogram& self, double p) { return self.quantile(p).value; }, alone, "p"_a,
          R"(A quantile, estimated within its bin.

Parameters
----------
p : float
    In [0, 1].

Returns
-------
float)");
  m.def(
      "histogram",
      [](nb::handle x, const Bins& bins, nb::handle device) {
        const View view(x);
        Options options = options_of(nb::none(), device);
        return run_pass(view.bytes(), options, [&] { return samesum::histogram(real(view).array(), bins, options); });
      },
      nb::arg(), nb::arg(), nb::arg().none());
}

nb::dict dict_of(const TuneRow& row) {
  nb::dict result, failures;
  for (const auto& [failure, count] : row.failures) failures[nb::cast(std::string(name_of(failure)))] = count;
  result["operation"] = row.operation;
  result["dtype"] = std::string(name_of(row.type));
  result["bytes"] = row.bytes;
  result["better"] = row.better;
  result["shape"] = row.shape;
  result["shipped_shape"] = row.shipped_shape;
  result["seconds"] = row.timing.median;
  result["shipped_seconds"] = row.timing.shipped;
  result["candidates"] = row.candidates;
  result["failures"] = failures;
  result["wrong"] = row.wrong;
  return result;
}

nb::dict tuned(nb::handle device, const std::vector<std::string>& operations, const std::vector<std::string>& types,
               const std::vector<std::uint64_t>& bytes, double seconds, const std::string& path, bool write, nb::handle progress) {
  TuneOptions options;
  options.operations = operations;
  options.bytes = bytes;
  options.seconds = seconds;
  options.path = path;
  options.write = write;
  for (const std::string& type : types) options.types.push_back(parse_dtype(type));
  bool raised = false;
  options.progress = [&](std::string_view what) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) {
      raised = true;  // the exception stays set in this thread
      return false;
    }
    if (progress.is_none()) return true;
    PyObject* answer = PyObject_CallFunctionObjArgs(progress.ptr(), nb::str(what.data(), what.size()).ptr(), nullptr);
    if (answer == nullptr) {
      raised = true;
      return false;
    }
    const bool ended = answer == Py_False;
    Py_DECREF(answer);
    return !ended;
  };
  const Device chosen = device.is_none() ? Device::open("auto") : device_of(device);
  const TuneResult found = [&] {
    nb::gil_scoped_release release;
    return tune(chosen, options);
  }();
  if (raised) throw nb::python_error();
  nb::dict result;
  nb::list rows;
  for (const TuneRow& row : found.rows) rows.append(dict_of(row));
  result["device"] = found.device.selector;
  result["path"] = found.path;
  result["complete"] = found.complete;
  result["seconds"] = found.seconds;
  result["rows"] = rows;
  return result;
}

nb::dict dict_of(const DeviceInfo& info) {
  nb::dict result;
  result["selector"] = info.selector;
  result["name"] = info.name;
  result["platform"] = info.platform;
  result["driver"] = info.driver;
  result["memory_bytes"] = info.memory_bytes;
  return result;
}

void bind_devices(nb::module_& m) {
  nb::class_<Device>(m, "Device", R"(Where to compute.

Parameters
----------
selector : str, optional
    'cpu', 'cuda:0', 'opencl:0', part of a name as in 'opencl:nvidia', or 'auto'.

Examples
--------
>>> samesum.sum([1e16, 1.0, -1e16], device=samesum.Device('cpu'))
1.0)")
      .def(
          "__init__", [](Device* self, const std::string& selector) { new (self) Device(Device::open(selector)); }, "selector"_a = "auto")
      .def_prop_ro(
          "selector", [](const Device& self) { return self.info().selector; }, "What opens exactly this device.")
      .def_prop_ro(
          "name", [](const Device& self) { return self.info().name; }, "As its driver names it.")
      .def_prop_ro(
          "info", [](const Device& self) { return dict_of(self.info()); }, "What devices() says of it.")
      .def("__repr__", [](const Device& self) { return "<samesum.Device " + self.info().selector + ": " + self.info().name + ">"; });
  m.def("devices", [] {
    nb::list list;
    for (const DeviceInfo& info : list_devices().devices) list.append(dict_of(info));
    return list;
  });
  m.def("tune", &tuned, nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
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
