// Results of many groups: by key, by index, of every prefix, over bins of several axes, of all pairs.
#include "groups.hpp"

#include "formulas.hpp"
#include "objects.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/by_formula.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/pairs.hpp>
#include <samesum/quantile.hpp>
#include <samesum/scan.hpp>
#include <samesum/weighted_histogram.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace samesum::python {
GroupOptions kept_for(const std::string& what) {
  return {.squares = what == "var" || what == "std" || what == "norm", .extrema = what == "min" || what == "max"};
}

Values values_of(const GroupSums& sums, const std::string& what, std::uint64_t ddof, NanPolicy nan) {
  if (what == "mean") return sums.means(nan);
  if (what == "var") return sums.variances(ddof, nan);
  if (what == "std") return sums.standard_deviations(ddof, nan);
  if (what == "norm") return sums.norms(nan);
  if (what == "min") return sums.minima(nan);
  if (what == "max") return sums.maxima(nan);
  return sums.sums(nan);
}

PairsOf::PairsOf(const View& a, const View& b, const std::string& f, const std::string& reduction, const std::string& accuracy, double h,
                 double softening, nb::handle weights, std::uint32_t k, const std::string& combine, const std::string& finish,
                 nb::handle identity, const nb::dict& named)
    : problem{.reduction = parse_pair_reduction(reduction), .accuracy = parse_pair_accuracy(accuracy), .h = h, .softening = softening},
      inputs(named) {
  problem.k = k;
  nb::dict numbers;  // which an operator takes, too
  for (const auto& [key, value] : named) {
    if (PyLong_Check(value.ptr()) != 0 || PyFloat_Check(value.ptr()) != 0) numbers[key] = value;
  }
  if (!combine.empty()) problem.combine = operator_of(combine, identity, numbers, finish);
  // A word of several letters is a function's name, misspelt or not; all else is a formula.
  if (f.size() > 1 && std::ranges::all_of(f, [](char c) { return c >= 'a' && c <= 'z'; })) {
    problem.f = parse_pair_function(f);
    if (!inputs.arrays.empty()) throw Error(ErrorKind::usage, "f is '" + f + "': only a formula, as in 'q*sqdist(a, b)', has inputs");
  } else {
    problem.formula = Formula(f);
    problem.parameters = inputs.parameters;
    problem.of_y = inputs.arrays;
  }
  problem.complex = a.complex();
  if (b.complex() != problem.complex) throw Error(ErrorKind::usage, "one of a and b is of complex numbers: convert the other");
  const Array& vectors = (problem.complex ? whole(a) : every(a)).array();
  if (vectors.rank() > 2 || (problem.complex ? whole(b) : every(b)).array().rank() != vectors.rank()) {
    throw Error(ErrorKind::usage,
                "pairs takes two arrays of one axis (numbers), or two of two axes (a vector of real numbers in each row)");
  }
  if (vectors.rank() == 2) {
    if (vectors.shape()[1] != b.array().shape()[1]) throw Error(ErrorKind::usage, "the vectors of a and b have different lengths");
    problem.components = vectors.shape()[1];
  }
  if (!weights.is_none()) {
    weight = std::make_unique<View>(weights);
    problem.weights = every(*weight).array();
  }
}

nb::object array_of(const PairsResult& found, std::uint64_t vectors) {
  return std::visit(
      [&](const auto& results) {
        const std::uint64_t each = vectors == 0 ? 1 : results.size() / vectors;
        Values values(dtype_of<typename std::decay_t<decltype(results)>::value_type>(),
                      each == 1 ? std::vector{vectors} : std::vector{vectors, each});
        if (!results.empty()) std::memcpy(values.data(), results.data(), results.size() * sizeof(results[0]));
        const DType type = values.type();
        return array_of(std::move(values), type);
      },
      found);
}

namespace {

using namespace nanobind::literals;

nb::object shown(Values values) {
  const DType type = values.type();
  return array_of(std::move(values), type);
}

nb::object scan_of(nb::handle x, const std::string& operation, std::optional<std::int64_t> axis, bool exclusive, bool float32,
                   const std::vector<std::uint64_t>& offsets, nb::handle nan, nb::handle device, nb::handle out) {
  const View view(x);
  Options options = options_of(nan, device);
  Scan what{.exclusive = exclusive, .float32 = float32, .axis = axis, .offsets = offsets};
  constexpr ScanOperation all[] = {ScanOperation::sum, ScanOperation::product, ScanOperation::min, ScanOperation::max,
                                   ScanOperation::count_nonzero};
  const auto found = std::ranges::find(all, operation, [](ScanOperation each) { return name_of(each); });
  if (found == std::end(all)) {
    throw Error(ErrorKind::usage, "a scan is of sum, product, min, max or count_nonzero, not of '" + operation + "'");
  }
  what.operation = *found;
  if (!out.is_none()) {
    const View to(out, true);
    run(view.bytes(), options, [&] {
      scan(every(view).array(), what, to.array(), options);
      return 0;
    });
    return nb::borrow(out);
  }
  Values values = run(view.bytes(), options, [&] { return scan(every(view).array(), what, options); });
  const DType type = what.operation == ScanOperation::count_nonzero ? DType::int64 : values.type();
  return array_of(std::move(values), type);
}

nb::object reduce_groups(const By& by, nb::handle x, const std::string& what, std::uint64_t ddof, nb::handle nan) {
  const View view(x);
  Options options = options_of(nan, nb::none());
  if (what == "count") {  // numpy counts by int64
    return array_of(run(view.bytes(), options, [&] { return by.sums(every(view).array()).counts(); }), DType::int64);
  }
  const AxisReduction reduction = reduction_of(what);
  Values values = run(view.bytes(), options, [&] { return group_reduction(every(view).array(), reduction, by, ddof, options); });
  const DType type = gives_indices(reduction) ? DType::int64 : values.type();
  return array_of(std::move(values), type);
}

nb::list operate_on_groups(const By& by, const std::string& map, const nb::dict& named, const std::string& combine, nb::handle identity,
                           const nb::dict& parameters, const std::string& finish) {
  const Terms terms(map, named);
  if (terms.complex) throw Error(ErrorKind::usage, "of complex numbers there are only reductions of all elements: take their parts");
  const Operator op = operator_of(combine, identity, parameters, finish);
  Options options;
  return arrays_of(run(terms.inputs.bytes, options, [&] { return terms.reduce(op, options, by); }));
}

/// With the axis of `q` first.
nb::object group_quantiles(const By& by, nb::handle x, const std::vector<double>& q, const std::string& method, nb::handle nan) {
  const View view(x);
  Options options = options_of(nan, nb::none());
  const QuantileRule rule{.method = parse_quantile_method(method)};
  Values found = run(view.bytes(), options, [&] { return quantiles(every(view).array(), q, by, rule, options); });
  const DType type = found.type();
  return array_of(std::move(found), type);
}

/// The sum rounded to odd: truncated, with a last bit of 1 unless it is exact. Rounded once more to a narrower type, it is what one
/// rounding gives.
double to_odd(const Accumulator& sum) {
  const double nearest = sum.round();
  if (nearest - nearest != 0) return nearest;  // a NaN or an infinity
  Accumulator rest = sum;
  rest.add(-nearest);
  const double beyond = rest.round();
  if (beyond == 0) return nearest;
  auto bits = std::bit_cast<std::uint64_t>(nearest);
  if ((beyond > 0) != (nearest > 0)) --bits;
  return std::bit_cast<double>(bits | 1);
}

/// The sums of `values` at the indices 0 to groups - 1; `to`: an array to which they are added. Of floats float64, rounded to odd where
/// `to` has a narrower type.
nb::object sum_at(nb::handle values, nb::handle indices, std::uint64_t groups, nb::handle to) {
  const View data(values), places(indices);
  Options options;
  if (to.is_none()) {
    return shown(run(data.bytes(), options, [&] {
      GroupSums sums(groups);
      sums.add(every(data).array(), every(places).array());
      return sums.sums();
    }));
  }
  const View start(to);
  const DType type = every(start).array().type();
  return shown(run(data.bytes(), options, [&] {
    GroupSums sums(groups);
    std::vector<std::uint64_t> each(groups);
    for (std::uint64_t i = 0; i < groups; ++i) each[i] = i;
    sums.add(start.array(), Array(each));
    sums.add(every(data).array(), every(places).array());
    if (is_integer(type) || type == DType::float64) return sums.sums();
    Values odd(DType::float64, {groups});
    for (std::uint64_t i = 0; i < groups; ++i) static_cast<double*>(odd.data())[i] = to_odd(sums.sum(i));
    return odd;
  }));
}

/// The same where all of it lies on one device: `all` has the indices from 0 on, and `out`, float64 or int64, gets the sums.
void sum_at_device(nb::handle values, nb::handle indices, nb::handle to, nb::handle all, nb::handle out) {
  const View data(values), places(indices), start(to), each(all), result(out, true);
  Options options;
  run(data.bytes(), options, [&] {
    GroupSums sums(start.array().size());
    sums.add(start.array(), each.array());
    sums.add(data.array(), places.array());
    sums.sums(result.array());
    return 0;
  });
}

/// Views of several objects.
struct Views {
  explicit Views(const nb::list& objects) {
    for (const nb::handle object : objects) {
      views.push_back(std::make_unique<View>(object));
      arrays.push_back(every(*views.back()).array());
      bytes += views.back()->bytes();
    }
  }

  std::vector<std::unique_ptr<View>> views;
  std::vector<Array> arrays;
  std::uint64_t bytes = 0;
};

nb::object count_cells(const nb::list& coordinates, const std::vector<Bins>& bins, nb::handle device) {
  const Views samples(coordinates);
  Options options = options_of(nb::none(), device);
  const HistogramNd found = run(samples.bytes, options, [&] { return histogram_nd(samples.arrays, bins, options); });
  return array_of(found.counts(), found.shape());
}

/// The sums of the weights in each cell, and those of their squares or None.
nb::tuple weigh_cells(const nb::list& coordinates, nb::handle weights, const std::vector<Bins>& bins, bool squares, nb::handle device) {
  const Views samples(coordinates);
  const View weight(weights);
  Options options = options_of(nb::none(), device);
  const WeightedHistogram found = run(samples.bytes, options, [&] {
    WeightedHistogram cells(bins, squares);
    cells.add(samples.arrays, every(weight).array(), options);
    return cells;
  });
  return nb::make_tuple(shown(found.sums()), squares ? shown(found.squares()) : nb::none());
}

nb::object all_pairs(nb::handle a, nb::handle b, const std::string& f, const std::string& reduction, const std::string& accuracy, double h,
                     double softening, nb::handle weights, std::uint32_t k, const std::string& combine, const std::string& finish,
                     nb::handle identity, const nb::dict& named, nb::handle device) {
  const View left(a), right(b);
  Options options = options_of(nb::none(), device);
  const PairsOf asked(left, right, f, reduction, accuracy, h, softening, weights, k, combine, finish, identity, named);
  const PairsResult found =
      run(left.bytes() * right.bytes(), options, [&] { return pairs(left.array(), right.array(), asked.problem, options); });
  nb::object result = array_of(found, left.array().size() / asked.problem.components);
  if (pairs_give_complex(left.array(), right.array(), asked.problem)) result = complex_of(result);
  return result;
}

}  // namespace

void bind_groups(nb::module_& m) {
  nb::class_<By>(m, "By")
      .def_static("keys_of",
                  [](nb::handle keys) {
                    const View view(keys);
                    Options options;
                    return run(view.bytes(), options, [&] { return by(every(view).array()); });
                  })
      .def_prop_ro("keys", [](const By& self) { return shown(Values(self.keys())); })
      .def_prop_ro("groups", &By::groups)
      .def_prop_ro("indices",
                   [](const By& self) {
                     const Array indices = self.indices();
                     Values copy(indices.type(), {indices.size()});
                     if (indices.size() != 0) std::memcpy(copy.data(), indices.data(), indices.bytes());
                     return array_of(std::move(copy), DType::int64);
                   })
      .def("reduce", &reduce_groups, nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("operate", &operate_on_groups, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def("quantiles", &group_quantiles, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("scan", &scan_of, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg() = nb::none());
  m.def("sum_at", &sum_at, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("sum_at_device", &sum_at_device);
  m.def("count_cells", &count_cells, nb::arg(), nb::arg(), nb::arg().none());
  m.def("weigh_cells", &weigh_cells, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("pairs", &all_pairs, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace samesum::python
