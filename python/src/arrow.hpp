// Arrow's C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <nanobind/nanobind.h>

namespace samesum::python {

/// (array, missing): the elements of an object with __arrow_c_array__ or __arrow_c_stream__ that are not null, as an array of numpy, and how
/// many are null. Nothing is copied of one chunk of numbers without nulls; booleans become uint8.
/// @throws nanobind::type_error where the elements are no numbers.
nanobind::tuple read_arrow(nanobind::handle object);

}  // namespace samesum::python
