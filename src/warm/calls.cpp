#include "warm/calls.hpp"

#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/by.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/pairs.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>
#include <samesum/tiles.hpp>
#include <samesum/weighted_histogram.hpp>

#include "device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace samesum::warming {
namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 10;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;     // of GPUs, whose kernels depend on the size: all that is above is the same
constexpr std::uint64_t kMaxCpuBytes = std::uint64_t{1} << 20;  // an OpenCL device that is a CPU has one kernel for all sizes

Buffer zeros_on(const Device& device) {
  const DeviceInfo& info = device.info();
  const std::uint64_t room = std::min(info.memory_bytes / 4, info.max_allocation_bytes);
  const Buffer buffer(device, std::min(info.is_cpu ? kMaxCpuBytes : kMaxBytes, room));
  const std::vector<std::byte> zeros(std::uint64_t{1} << 20);
  for (std::uint64_t at = 0; at < buffer.bytes(); at += zeros.size()) {
    buffer.write(zeros.data(), std::min<std::uint64_t>(zeros.size(), buffer.bytes() - at), at);
  }
  return buffer;
}

class Calls {
 public:
  explicit Calls(const Device& device) : zeros_(zeros_on(device)) {}

  std::vector<Call> all() {
    for (const DType type : kDTypes) {
      add_reductions(type);
      add_axes_and_scans(type);
      add_histograms(type);
    }
    for (const DType type : {DType::float32, DType::float64}) add_pairs(type);
    return std::move(calls_);
  }

 private:
  template <class Run>
  void add(std::string_view operation, DType type, const Run& run) {
    calls_.push_back({std::string(operation), type, run});
  }

  Array zeros(std::uint64_t bytes, DType type) const { return {zeros_, std::min(bytes, zeros_.bytes()) / size_of(type), type}; }

  // Plans are made for numbers of elements that are powers of two.
  std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> sizes{zeros_.bytes()};
    if (zeros_.device().info().is_cpu) return sizes;
    for (std::uint64_t bytes = kLeastBytes; bytes < zeros_.bytes(); bytes *= 2) sizes.push_back(bytes);
    return sizes;
  }

  // Each size contiguous; and one array each with gaps, and that begins within 16 bytes.
  void add_reductions(DType type) {
    const auto reductions = [this, type](const Array& data) {
      const auto call = [&](std::string_view operation, const auto& run) {
        add(operation, type, [data, run] { static_cast<void>(run(data)); });
      };
      call("sum", [](const Array& x) { return sum(x); });
      call("sum", [](const Array& x) { return squared_norm(x); });
      call("dot", [](const Array& x) { return dot(x, x); });
      call("extrema", [](const Array& x) { return minmax(x); });
      call("extrema", [](const Array& x) { return min(x); });
      call("extrema", [](const Array& x) { return max(x); });
      call("statistics", [](const Array& x) { return collect(x); });
      call("statistics", [](const Array& x) { return variance(x); });
      call("statistics", [](const Array& x) { return count_nonzero(x); });
    };
    for (const std::uint64_t bytes : sizes()) reductions(zeros(bytes, type));
    const Array whole = zeros(zeros_.bytes(), type);
    reductions(whole.slice(0, 0, whole.size() / 2, 2));
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
      add("product", type, [data = zeros(1 << 20, type), nan] { static_cast<void>(product(data, {.nan = nan})); });
    }
  }

  void add_axes_and_scans(DType type) {
    const std::uint64_t side = std::uint64_t{1} << (zeros_.device().info().is_cpu ? 8 : 11);
    const std::uint64_t elements = zeros_.bytes() / size_of(type);
    const Array matrix(zeros_, {std::min(side, elements / side), side}, type), list = zeros(kMaxCpuBytes, type);
    for (const std::int64_t axis : {0, 1}) {
      add("axes", type, [=] { static_cast<void>(axis_reduction(matrix, AxisReduction::sum, {axis})); });  // others are computed on the host
      add("scan", type, [=] { static_cast<void>(scan(matrix, {.axis = axis})); });
    }
    for (const ScanOperation operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max, ScanOperation::count_nonzero}) {
      add("scan", type, [=] { static_cast<void>(scan(list, {.operation = operation})); });
    }
    add("axes", type, [=] { static_cast<void>(tile_reduction(matrix, AxisReduction::sum, {16, 16})); });
    add("index", type, [=, indices = zeros(list.size() * size_of(DType::int64), DType::int64)] {
      GroupSums sums(1000);
      sums.add(list.part(0, indices.size()), indices);
      static_cast<void>(sums.sums());
    });
    const std::uint64_t fewer = std::min(list.size(), kMaxCpuBytes / size_of(DType::uint32));
    add("index", type, [some = list.part(0, fewer), indices = zeros(fewer * size_of(DType::uint32), DType::uint32)] {
      const By groups = by(indices, 1);
      static_cast<void>(product(some, groups));
      static_cast<void>(median(some, groups));
    });
  }

  void add_histograms(DType type) {
    const auto count = [this, type](const Bins& bins) {
      for (const std::uint64_t bytes : {kMaxCpuBytes / 4, std::uint64_t{1} << 24, zeros_.bytes()}) {
        add("histogram", type, [data = zeros(bytes, type), bins] { static_cast<void>(histogram(data, bins)); });
      }
    };
    if (is_integer(type) && size_of(type) == 1) count(Bins::each_value(type));
    for (const std::uint64_t bins : {10, 256, 5000, 20000, 1 << 20}) count(Bins::even(-1, 100, bins));
    if (type == DType::float32) {  // bins that are found by rounding down
      for (const std::uint64_t bins : {10, 256, 5000}) count(Bins::even(0, 1, bins));
    }
    count(Bins::between({0, 1e-3, 1, 10, 100}));
    const Array some = zeros(kMaxCpuBytes, type);
    const Bins bins = Bins::even(-1, 100, 16);
    add("histogram", type, [=] { static_cast<void>(histogram_nd({some, some}, {bins, bins})); });
    add("histogram", type, [=] {
      WeightedHistogram weighted({bins});
      weighted.add({some}, some);
      static_cast<void>(weighted.sums());
    });
    const Array image(zeros_, {256, std::min<std::uint64_t>(256, some.size() / 256)}, type);
    add("histogram", type, [=] { static_cast<void>(tile_histograms(image, bins, {64, 64})); });
  }

  // In host memory, as elements choose kernels.
  void add_pairs(DType type) {
    const bool is_cpu = zeros_.device().info().is_cpu;
    const auto add_of = [&](PairFunction f, PairReduction reduction, PairAccuracy accuracy, std::uint64_t components) {
      for (const std::uint64_t x_count : {1000, is_cpu ? 1000 : 1 << 16}) {
        add("pairs", type, [=, device = zeros_.device()] {
          const std::vector<double> values(x_count * components);
          const Array x(values.data(), x_count * components, type), y(values.data(), 1000 * components, type);
          static_cast<void>(
              pairs(x, y, {.f = f, .reduction = reduction, .accuracy = accuracy, .components = components}, {.device = device}));
        });
        if (is_cpu) return;
      }
    };
    for (const std::uint64_t components : {1, 2, 3, 4}) {
      for (const PairFunction f : {PairFunction::product, PairFunction::difference, PairFunction::absdiff, PairFunction::sqdist,
                                   PairFunction::gaussian, PairFunction::invdist}) {
        add_of(f, PairReduction::sum, PairAccuracy::fast, components);
      }
      for (const PairReduction nearest : {PairReduction::min, PairReduction::argmin}) {
        add_of(PairFunction::sqdist, nearest, PairAccuracy::fast, components);
      }
    }
    for (const PairAccuracy accuracy : {PairAccuracy::compensated, PairAccuracy::exact}) {
      add_of(PairFunction::gaussian, PairReduction::sum, accuracy, 3);
    }
  }

  Buffer zeros_;
  std::vector<Call> calls_;
};

}  // namespace

std::vector<Call> plain_calls(const Device& device) { return Calls(device).all(); }

}  // namespace samesum::warming
