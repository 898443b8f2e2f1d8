#include "groups/dots/problem.hpp"

#include "formula/bound.hpp"
#include "groups/axes.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace samesum::groups {

void DotAxes::append(const DotAxis& axis) {
  size_ *= axis.extent;
  if (axis.extent == 1) return;
  if (!axes_.empty()) {
    DotAxis& last = axes_.back();
    const auto extent = static_cast<std::int64_t>(axis.extent);
    if (last.a == extent * axis.a && last.b == extent * axis.b && last.to == extent * axis.to) {  // they are one axis
      last = {last.extent * axis.extent, axis.a, axis.b, axis.to};
      return;
    }
  }
  axes_.push_back(axis);
}

void DotAxes::sort_by_strides() {
  std::vector<DotAxis> axes = std::move(axes_);
  const auto length = [](const DotAxis& axis) { return std::abs(axis.a) + std::abs(axis.b); };
  std::ranges::stable_sort(axes, [&](const DotAxis& x, const DotAxis& y) { return length(x) > length(y); });
  axes_.clear();
  const std::uint64_t size = size_;
  for (const DotAxis& axis : axes) append(axis);
  size_ = size;
}

DotAxes::Place DotAxes::at(std::uint64_t index) const noexcept {
  Place place{0, 0, 0};
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const auto number = static_cast<std::int64_t>(index % axes_[i].extent);
    place.a += number * axes_[i].a;
    place.b += number * axes_[i].b;
    place.to += number * axes_[i].to;
    index /= axes_[i].extent;
  }
  return place;
}

void DotAxes::places(std::uint64_t first, std::uint64_t count, Place* to) const {
  if (axes_.empty()) {
    std::fill_n(to, count, Place{0, 0, 0});
    return;
  }
  const DotAxis& last = axes_.back();
  while (count != 0) {
    const std::uint64_t steps = std::min(count, last.extent - first % last.extent);
    Place place = at(first);
    for (std::uint64_t i = 0; i < steps; ++i) {
      *to++ = place;
      place.a += last.a;
      place.b += last.b;
      place.to += last.to;
    }
    first += steps;
    count -= steps;
  }
}

namespace {

Array elements_of(const Array& array, std::int64_t offset, const std::vector<DotAxis>& summed, std::int64_t DotAxis::*stride) {
  std::vector<std::uint64_t> extents;
  std::vector<std::int64_t> strides;
  for (const DotAxis& axis : summed) {
    extents.push_back(axis.extent);
    strides.push_back(axis.*stride);
  }
  if (array.on_device()) {
    return {array.buffer(), Shape(extents), array.type(), array.offset() + static_cast<std::uint64_t>(offset), Strides(strides)};
  }
  return {static_cast<const std::byte*>(array.data()) + offset, Shape(extents), array.type(), Strides(strides)};
}

}  // namespace

DotProblem::DotProblem(const Array& left, const Array& right, const Axes& axes) : a(left), b(right) {
  refuse_ddof("a dot product", axes.ddof());
  if (a.type() != b.type()) {
    throw Error(ErrorKind::usage, fmt::format("the arrays of a dot product are of different types, {} and {}: convert one of them",
                                              name_of(a.type()), name_of(b.type())));
  }
  if (a.on_device() != b.on_device() || (a.on_device() && &a.buffer().device().implementation() != &b.buffer().device().implementation())) {
    throw Error(ErrorKind::usage, "the arrays of a dot product lie in different places: bring both to host memory or to one device");
  }
  const std::vector<std::uint64_t> all = shape_of({{"a", a}, {"b", b}});
  a = formula::broadcast(a, all, "a");
  b = formula::broadcast(b, all, "b");
  const std::vector<bool> is_summed = reduced_axes(a, axes);
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    if (!is_summed[axis]) results *= all[axis];
    if (!is_summed[axis] || axes.are_kept()) shape.push_back(is_summed[axis] ? 1 : all[axis]);
  }
  auto apart = static_cast<std::int64_t>(results);
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    DotAxis each{all[axis], a.strides()[axis], b.strides()[axis], 0};
    if (is_summed[axis]) {
      summed.append(each);
      continue;
    }
    if (results != 0) apart /= static_cast<std::int64_t>(each.extent);
    each.to = apart;
    kept_.append(each);
    (each.b == 0 && each.a != 0 ? rows : each.a == 0 && each.b != 0 ? columns : both).append(each);
  }
  summed.sort_by_strides();
}

Array DotProblem::left(std::uint64_t result) const { return elements_of(a, kept_.at(result).a, summed.axes(), &DotAxis::a); }
Array DotProblem::right(std::uint64_t result) const { return elements_of(b, kept_.at(result).b, summed.axes(), &DotAxis::b); }
DType DotProblem::type() const noexcept { return result_type(AxisReduction::sum, a.type()); }

}  // namespace samesum::groups
