// Values of the library as Python objects.
#pragma once

#include "view.hpp"

#include <nanobind/nanobind.h>
#include <samesum/accumulator.hpp>
#include <samesum/axes.hpp>
#include <samesum/complex.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/value.hpp>

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace samesum::python {

nb::object number(const Value& value);
nb::object number(std::complex<double> value);
/// The exact sum of integers, of any size.
nb::object integer(const Accumulator& sum);
nb::object integer(const ProductAccumulator& sum);
/// The exact sum as a multiple of 2^-ProductAccumulator::kUnit.
nb::object fixed(const ProductAccumulator& sum);
/// An array of numpy that owns `values`; `type`: the type to show them as, of the same size; bfloat16 as float32.
nb::object array_of(Values values, DType type);
/// An array of numpy over elements of `owner`, which it keeps.
nb::object array_at(const void* data, DType type, const std::vector<std::uint64_t>& shape, nb::handle owner, bool writable = false);
/// Of such an array with both parts of complex numbers along its last axis, these.
nb::object complex_of(const nb::object& parts);
/// Counts as numpy has them: int64, as none reaches 2^63.
nb::object array_of(std::span<const std::uint64_t> counts, const std::vector<std::uint64_t>& shape);
/// @throws Error (usage) where the elements are complex numbers.
const View& real(const View& view);
/// For what takes the positions of elements. @throws nb::type_error where some were left out.
const View& whole(const View& view);
/// Both. @throws nb::type_error as whole(); Error as real().
const View& every(const View& view);

/// The axes that were named as numpy's functions do; none: all of them.
Axes axes_of(const View& view, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims);
Axes axes_of(std::size_t rank, const std::optional<std::vector<std::int64_t>>& axes, bool keepdims);  ///< of an array of so many axes
/// Whether a reduction counts or indexes: numpy has int64 for that, where the library has uint64. Neither reaches 2^63.
bool gives_indices(AxisReduction reduction);
/// By its name in numpy: "std", "prod". @throws Error (usage) for another one.
AxisReduction reduction_of(std::string_view name);

nb::bytes bytes_of(const std::vector<std::byte>& bytes);
/// The bytes of anything with the buffer protocol.
std::vector<std::byte> bytes_in(nb::handle object);

void bind_objects(nb::module_& m);
void bind_reductions(nb::module_& m);
void bind_lazy(nb::module_& m);
void bind_element_words(nb::module_& m);
void bind_plans(nb::module_& m);

}  // namespace samesum::python
