// Scans: the public functions.
#include "scan/scan.hpp"

#include "core/array/pack.hpp"
#include "core/float_environment.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "scan/device/scan_device.hpp"
#include "scan/place.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>

namespace samesum {
namespace prefix {

Layout layout_of(const Array& data, const Scan& what) {
  Layout layout;
  layout.exclusive = what.exclusive;
  layout.extent = data.size();
  if (!what.axis) {
    if (what.offsets.empty()) return layout;
    if (what.offsets.front() != 0)
      throw Error(ErrorKind::usage, fmt::format("the first offset of a scan is {}, not 0", what.offsets.front()));
    const auto wrong = std::ranges::adjacent_find(what.offsets, std::greater<>());
    if (wrong != what.offsets.end()) {
      throw Error(ErrorKind::usage, fmt::format("the offsets of a scan ascend, but {} comes before {}", *wrong, *std::next(wrong)));
    }
    if (what.offsets.back() > data.size()) {
      throw Error(ErrorKind::usage, fmt::format("the offset {} of a scan is beyond the {} elements", what.offsets.back(), data.size()));
    }
    layout.offsets = what.offsets;
    return layout;
  }
  if (!what.offsets.empty()) throw Error(ErrorKind::usage, "a scan goes along an axis or by offsets, not both");
  const auto rank = static_cast<std::int64_t>(data.rank());
  if (*what.axis < -rank || *what.axis >= rank) {
    throw Error(ErrorKind::usage,
                fmt::format("there is no axis {}: the array has {}", *what.axis, rank == 1 ? "one axis" : fmt::format("{} axes", rank)));
  }
  const auto axis = static_cast<std::size_t>(*what.axis < 0 ? *what.axis + rank : *what.axis);
  layout.extent = data.shape()[axis];
  for (std::size_t i = 0; i < data.rank(); ++i) {
    if (i != axis) (i < axis ? layout.outer : layout.inner) *= data.shape()[i];
  }
  return layout;
}

HostElements::HostElements(const Array& data) : data_(data.data()) {
  if (data.size() == 0) return;
  if (!data.on_device() && data.contiguous() && reinterpret_cast<std::uintptr_t>(data.data()) % size_of(data.type()) == 0) return;
  copy_.resize((data.bytes() + 7) / 8);
  data_ = copy_.data();
  auto* to = reinterpret_cast<std::byte*>(copy_.data());
  device::for_host_blocks(data, core::Order::index, [&](View block) {
    core::pack(block, to);
    to += block.bytes();
  });
}

DType result_type(const Scan& what, DType type) {
  switch (what.operation) {
    case ScanOperation::sum:
    case ScanOperation::product:
      if (is_integer(type)) return is_signed(type) ? DType::int64 : DType::uint64;
      if (what.operation == ScanOperation::sum) return what.float32 ? DType::float32 : DType::float64;
      return type == DType::float64 ? DType::float64 : DType::float32;
    case ScanOperation::count_nonzero:
      return DType::uint64;
    default:
      return type;
  }
}

namespace {

void scan_host(const Array& data, const Scan& what, const Layout& layout, const Options& options, void* to) {
  const HostElements elements(data);
  const DType type = data.type();
  const std::uint32_t threads = options.tuning.threads;
  switch (what.operation) {
    case ScanOperation::sum:
      return scan_sums(layout, type, what.float32, options.nan, threads, elements.data(), to);
    case ScanOperation::product:
      return scan_products(layout, type, options.nan, threads, elements.data(), to);
    case ScanOperation::min:
    case ScanOperation::max:
      return scan_extremes(layout, type, what.operation == ScanOperation::max, options.nan, threads, elements.data(), to);
    case ScanOperation::count_nonzero:
      return scan_counts(layout, type, options.nan, threads, elements.data(), to);
  }
}

// Whether two arrays share memory. Where that has addresses, several handles may be of one allocation.
bool overlap(const Array& a, const Array& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const auto address = [](const Array& array) {
    return array.on_device() ? array.buffer().device().implementation().address_of(array.buffer().state().memory) : array.data();
  };
  const bool has_addresses = address(a) != nullptr;
  if (has_addresses != (address(b) != nullptr)) return false;
  if (!has_addresses && a.buffer().state().memory.handle != b.buffer().state().memory.handle) return false;
  const auto ends = [&](const Array& array) {
    auto first = static_cast<std::int64_t>(array.offset());
    if (has_addresses) first += reinterpret_cast<std::int64_t>(address(array));
    std::int64_t last = first + static_cast<std::int64_t>(size_of(array.type()));
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
      const std::int64_t reach = array.strides()[axis] * static_cast<std::int64_t>(array.shape()[axis] - 1);
      (reach < 0 ? first : last) += reach;
    }
    return std::pair(first, last);
  };
  const auto [first_a, last_a] = ends(a);
  const auto [first_b, last_b] = ends(b);
  return first_a < last_b && first_b < last_a;
}

// On the device, where that has kernels for it and all results are known there. Elements in host memory are uploaded.
bool try_device(const Array& data, const Scan& what, const Layout& layout, const Device& device, const Options& options, const Array& to) {
  if (!data.contiguous() || !device_scans(what.operation, data.type(), data.size(), device.info())) return false;
  std::optional<Buffer> elements, results;
  if (!data.on_device()) {
    elements.emplace(device, data.bytes());
    elements->write(data.data(), data.bytes(), 0);
  }
  const Array from = elements ? Array(*elements, data.size(), data.type()) : data;
  if (!to.on_device()) results.emplace(device, to.bytes());
  const Array there = results ? Array(*results, to.size(), to.type()) : to;
  if (!scan_on_device(from, what, layout, options.nan, there)) return false;
  if (results) results->read(const_cast<void*>(to.data()), to.bytes(), 0);
  return true;
}

void report(const Array& data, std::string_view device, std::chrono::steady_clock::time_point start, const Options& options) {
  if (options.report == nullptr) return;
  *options.report = {};
  options.report->device = device;
  options.report->variant = "scan";
  options.report->bytes = data.bytes();
  options.report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace
}  // namespace prefix

std::string_view name_of(ScanOperation operation) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"sum", "product", "min", "max", "count_nonzero"};
  return kNames[static_cast<std::size_t>(operation)];
}

Values scan(const Array& data, const Scan& what, const Options& options) {
  Values results(prefix::result_type(what, data.type()), {data.shape().begin(), data.shape().end()});
  scan(data, what, results.array(), options);
  return results;
}

void scan(const Array& data, const Scan& what, const Array& to, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const prefix::Layout layout = prefix::layout_of(data, what);
  const DType type = prefix::result_type(what, data.type());
  if (what.exclusive && (what.operation == ScanOperation::min || what.operation == ScanOperation::max)) {
    throw Error(ErrorKind::usage, "an exclusive scan begins with the result of no elements: extremes have none");
  }
  if (to.type() != type || !std::ranges::equal(to.shape(), data.shape())) {
    throw Error(ErrorKind::usage, fmt::format("the results are {} of shape ({}), the array for them is {} of shape ({})", name_of(type),
                                              fmt::join(data.shape(), ", "), name_of(to.type()), fmt::join(to.shape(), ", ")));
  }
  if (!to.contiguous()) throw Error(ErrorKind::usage, "the results of a scan go to an array in C order, without gaps");
  if (prefix::overlap(data, to)) throw Error(ErrorKind::usage, "the results of a scan go to memory of their own, not to that of the data");
  if (to.on_device() && (!data.on_device() || &to.buffer().device().implementation() != &data.buffer().device().implementation())) {
    throw Error(ErrorKind::usage,
                fmt::format("the array for the results lies on {}, the data do not", to.buffer().device().info().selector));
  }
  if (data.size() == 0) return;
  const auto start = std::chrono::steady_clock::now();
  const Device device = device::device_for(data, data.bytes(), options);
  device::require_on(data, device);
  if (prefix::try_device(data, what, layout, device, options, to)) return prefix::report(data, device.info().selector, start, options);
  const bool aligned = reinterpret_cast<std::uintptr_t>(to.data()) % size_of(type) == 0;
  if (!to.on_device() && aligned) {
    prefix::scan_host(data, what, layout, options, const_cast<void*>(to.data()));
  } else {
    Values results(type, {data.shape().begin(), data.shape().end()});
    prefix::scan_host(data, what, layout, options, results.data());
    if (to.on_device()) {
      to.buffer().write(results.data(), to.bytes(), to.offset());
    } else {
      std::memcpy(const_cast<void*>(to.data()), results.data(), to.bytes());
    }
  }
  prefix::report(data, "cpu", start, options);
}

}  // namespace samesum
