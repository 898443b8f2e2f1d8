// Results of parts of an input that merge, for frameworks that compute on chunks and send results between processes.
#include "groups.hpp"
#include "objects.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <samesum/samesum.hpp>

#include <optional>
#include <utility>

namespace samesum::python {
namespace {

/// Merging and pickling.
template <class T>
nb::class_<T> bind_part(nb::module_& m, const char* name) {
  return nb::class_<T>(m, name)
      .def("__getstate__", [](const T& self) { return bytes_of(self.serialize()); })
      .def("__setstate__", [](T& self, const nb::bytes& bytes) { new (&self) T(T::deserialize(bytes_in(bytes))); });
}

Statistics collected(nb::handle x, bool sum, bool squares) {
  const View view(x);
  Options options;
  return run(view.bytes(), options,
             [&] { return collect(real(view).array(), {.extrema = false, .sum = sum, .squares = squares}, options); });
}

nb::object shown_of(const Statistics& all, const std::string& what, std::uint64_t ddof, nb::handle nan) {
  const NanPolicy policy = options_of(nan, nb::none()).nan;
  if (what == "mean") return nb::cast(all.mean(policy));
  if (what == "var") return nb::cast(all.variance(ddof, policy));
  if (what == "std") return nb::cast(all.standard_deviation(ddof, policy));
  if (what == "norm") return nb::cast(all.norm(policy));
  const bool whole = is_integer(all.sum().result_type()) && all.count() != 0;
  return whole ? integer(all.sum()) : nb::cast(all.sum().round(policy));
}

GroupSums grouped(nb::handle values, nb::handle indices, std::uint64_t groups, const std::string& what) {
  const View data(values), places(indices);
  Options options;
  return run(data.bytes(), options, [&] {
    GroupSums sums(groups, kept_for(what));
    sums.add(every(data).array(), every(places).array());
    return sums;
  });
}

void merge_groups(GroupSums& self, const GroupSums& other, const std::optional<std::vector<std::uint64_t>>& to) {
  nb::gil_scoped_release release;
  if (to) {
    self.merge(other, *to);
  } else {
    self.merge(other);
  }
}

nb::object shown_of_groups(const GroupSums& sums, const std::string& what, std::uint64_t ddof, nb::handle nan) {
  if (what == "count") return array_of(sums.counts(), DType::int64);  // numpy counts by int64
  Values values = values_of(sums, what, ddof, options_of(nan, nb::none()).nan);
  const DType type = values.type();
  return array_of(std::move(values), type);
}

ProductAccumulator products(nb::handle a, nb::handle b) {
  const View left(a), right(b);
  Options options;
  return run(left.bytes() + right.bytes(), options, [&] { return samesum::dot(every(left).array(), every(right).array(), options); });
}

}  // namespace

void bind_parts(nb::module_& m) {
  m.def("collect", &collected);
  m.def("shown_of", &shown_of, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  bind_part<GroupSums>(m, "GroupSums")
      .def_static("of", &grouped)
      .def_static("empty", [](std::uint64_t groups, const std::string& what) { return GroupSums(groups, kept_for(what)); })
      .def("merge", &merge_groups, nb::arg(), nb::arg().none())
      .def("shown", &shown_of_groups, nb::arg(), nb::arg(), nb::arg().none());
  bind_part<ProductAccumulator>(m, "ProductAccumulator")
      .def("merge", &ProductAccumulator::merge)
      .def(
          "round", [](const ProductAccumulator& self, nb::handle nan) { return self.round(options_of(nan, nb::none()).nan); },
          nb::arg().none())
      .def("integer", [](const ProductAccumulator& self) { return integer(self); });
  m.def("products", &products);
}

}  // namespace samesum::python
