// Reductions along axes on devices that run kernels (axes.cl).
#include "groups/device/axes_device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/buffer.hpp"
#include "groups/axes.hpp"
#include "groups/axes_work.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace samesum::groups {
namespace {

constexpr std::uint32_t kGroupSize = 256, kCpuGroupSize = 16;
constexpr std::uint64_t kUnits = std::uint64_t{1} << 30;  // groups of a launch

// Reductions with one kernel have one name.
std::string_view kernel_of(const AxisWork& work) {
  return work.is_variance() ? "variance" : work.has_squares() ? "squares" : work.has_numbers() ? "sums" : name_of(work.what);
}

constexpr std::uint64_t kLoad = 16, kLoadsInFlight = 4;  // LOADS of axes.cl

// Whether the elements of a result can be read in aligned loads of 16 bytes, none of which has elements of two results.
bool reads_loads(const AxisProblem& problem) {
  const auto bytes = static_cast<std::int64_t>(size_of(problem.data.type()));
  if (problem.reduced.size() != 1 || problem.reduced.front().stride != bytes) return false;
  if ((problem.data.offset() + static_cast<std::uint64_t>(problem.first)) % kLoad != 0) return false;
  return std::ranges::all_of(problem.kept, [](const core::Axis& axis) { return axis.stride % static_cast<std::int64_t>(kLoad) == 0; });
}

constexpr std::uint32_t kFew = 4;  // FEW of axes.h

// Words of one part's sum, at most.
std::uint64_t sum_words(AxisReduction what) { return AxisWork{what, DType::float64, false}.is_variance() ? 9 : 5; }
constexpr std::uint64_t kCapacity = std::uint64_t{1}
                                    << 16;  // pending results whose indices are stored; if there are more, all are computed again
constexpr std::uint32_t kMaxOfHost = 256;   // up to this many pending results are computed by one sum each
constexpr std::uint64_t kMaxOfExact = std::uint64_t{1} << 31;  // the limit of axes_exact.cl for the elements of a result
constexpr std::uint32_t kExactToUnit = 4;
constexpr std::uint64_t kMaxExactGroups = 65535;  // which axes_exact.cl counts in 16 bits

}  // namespace

// The kernels and the memory of a call, reused by the next one.
struct AxesScratch {
  AxesScratch(device::Device& device, const device::Source& source)
      : kernel(device::build(device, source, "axes")),
        few(device::build(device, source, "axes_few")),
        merge(device::build(device, source, "axes_parts")),
        words(device.allocate(8 * (1 + 4 * Array::kMaxRank))),
        pending(device.allocate(8 * kCapacity)),
        sums(device.allocate(16)),
        state(zero_state(device)) {}
  static device::Memory zero_state(device::Device& device) {
    const device::Memory state = device.allocate(16);
    const std::uint64_t none = 0;
    device.write(state, 0, &none, sizeof none);
    return state;
  }
  device::Kernel kernel, few, merge;
  device::Memory words, pending, sums, state;
  std::optional<device::Kernel> exact;  // built on first use
};

namespace {

// Adds extents and strides, the last axis first.
std::uint32_t add_axes(const std::vector<core::Axis>& axes, std::vector<std::uint64_t>& words) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    words.push_back(axes[i].extent);
    words.push_back(static_cast<std::uint64_t>(axes[i].stride));
  }
  if (axes.empty()) words.insert(words.end(), {1, 0});
  return static_cast<std::uint32_t>(std::max<std::size_t>(axes.size(), 1));
}

std::uint64_t size(std::int64_t stride) { return static_cast<std::uint64_t>(stride < 0 ? -stride : stride); }

}  // namespace

AxesShape axes_shape(const AxisProblem& problem, AxisReduction what, bool skip, const DeviceInfo& info) {
  AxesShape shape;
  shape.what = what;
  shape.skip = skip;
  shape.group_size = std::bit_floor(std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize));
  const core::Axis lanes = problem.kept.empty() ? core::Axis{1, 0} : problem.kept.back();
  const core::Axis steps = problem.reduced.empty() ? core::Axis{1, 0} : problem.reduced.back();
  shape.neighbours = size(lanes.stride) < size(steps.stride) || steps.extent == 1;
  shape.loads = !shape.neighbours && reads_loads(problem);
  // The least number of elements of a lane: those of four loads, or 8.
  const std::uint64_t steps_each = shape.loads ? kLoadsInFlight * kLoad / size_of(problem.data.type()) : 8;
  const auto fitting = [&](std::uint64_t extent) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::bit_ceil(std::max<std::uint64_t>(extent, 1)), shape.group_size));
  };
  // Adjacent work-items read adjacent memory: adjacent results if `neighbours` is set; otherwise 32 bytes (a memory sector) of one result
  // if there are many results, or all of its elements. Each lane reads several elements.
  const std::uint64_t wanted = std::uint64_t{info.compute_units} * (info.is_cpu ? 2 : 16);  // groups
  const auto sector = static_cast<std::uint64_t>(32 / size_of(problem.data.type()));
  if (shape.neighbours) {
    const bool many = problem.results / shape.group_size >= wanted;
    shape.width = many && lanes.extent >= sector ? shape.group_size
                  : many                         ? fitting(lanes.extent)
                                                 : std::min(fitting(lanes.extent), std::max(shape.group_size / 4, 1u));
    if (problem.each <= steps_each) shape.width = shape.group_size;
  } else {
    std::uint64_t most = shape.group_size;
    while (most > sector && problem.results / (shape.group_size / most) >= 2 * wanted) most /= 2;
    shape.width = shape.group_size / static_cast<std::uint32_t>(std::min<std::uint64_t>(fitting(problem.each / steps_each), most));
  }
  shape.few = problem.each <= kFew && problem.reduced.size() <= 1 && problem.results / shape.group_size >= wanted;
  // Several times as many groups as the device runs at once, so that few of its units are idle at the end.
  const std::uint64_t tiles = (problem.results + shape.width - 1) / shape.width;
  const std::uint64_t least = std::uint64_t{shape.group_size / shape.width} * 32;  // elements of a part
  const bool whole = tiles >= wanted || shape.few;
  shape.parts = whole ? 1 : std::clamp<std::uint64_t>((wanted + tiles - 1) / tiles, 1, std::max<std::uint64_t>(problem.each / least, 1));
  return shape;
}

namespace {

// The launches of one call over an array on the device.
class AxesLaunch {
 public:
  AxesLaunch(device::Device& device, AxesScratch& scratch, const AxisProblem& problem, const AxesShape& shape, const device::Place& to)
      : device_(device),
        scratch_(scratch),
        problem_(problem),
        shape_(shape),
        what_(static_cast<std::int32_t>(AxisWork{shape.what, problem.data.type(), shape.skip}.moment())),
        to_(to.memory),
        to_offset_(to.offset / size_of(result_type(shape.what, problem.data.type()))),
        from_(problem.data.buffer().state().memory),
        offset_(problem.data.offset() + static_cast<std::uint64_t>(problem.first)),
        kept_stride_(problem.kept.empty() ? 0 : problem.kept.back().stride) {}

  // The number of pending results, then extents and strides.
  static std::vector<std::uint64_t> words(const AxisProblem& problem) {
    std::vector<std::uint64_t> words{0};
    add_axes(problem.kept, words);
    add_axes(problem.reduced, words);
    return words;
  }

  // All results but the pending ones.
  void sums() const {
    const std::int64_t reduced_stride = problem_.reduced.empty() ? 0 : problem_.reduced.back().stride;
    const std::uint64_t of_group = shape_.few ? std::uint64_t{kFew} * shape_.group_size : shape_.width;  // results
    const std::uint64_t units = (problem_.results + of_group - 1) / of_group * shape_.parts;
    for (std::uint64_t first = 0; first < units; first += kUnits) {
      const device::Grid groups{static_cast<std::uint32_t>(std::min(kUnits, units - first)), shape_.group_size};
      if (shape_.few) {
        const device::Argument arguments[] = {from_,        offset_,          scratch_.words, kept_axes(), problem_.results, problem_.each,
                                              kept_stride_, reduced_stride,   first,          what_,       problem_.ddof,    to_,
                                              to_offset_,   scratch_.pending, kCapacity};
        device_.launch(scratch_.few, groups, arguments);
        continue;
      }
      const device::Argument arguments[] = {from_,
                                            offset_,
                                            scratch_.words,
                                            kept_axes(),
                                            reduced_axes(),
                                            problem_.results,
                                            problem_.each,
                                            kept_stride_,
                                            reduced_stride,
                                            shape_.parts,
                                            first,
                                            shape_.width,
                                            std::int32_t{shape_.neighbours},
                                            std::int32_t{shape_.loads},
                                            what_,
                                            problem_.ddof,
                                            scratch_.sums,
                                            to_,
                                            to_offset_,
                                            scratch_.pending,
                                            kCapacity};
      device_.launch(scratch_.kernel, groups, arguments);
    }
    if (shape_.parts == 1) return;
    const auto lanes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(std::bit_ceil((shape_.parts + kFew - 1) / kFew), shape_.group_size));
    const std::uint32_t width = shape_.group_size / lanes;
    const device::Argument arguments[] = {scratch_.sums, problem_.results, problem_.each,  shape_.parts,     width,    what_, problem_.ddof,
                                          to_,           to_offset_,       scratch_.words, scratch_.pending, kCapacity};
    device_.launch(scratch_.merge, {static_cast<std::uint32_t>((problem_.results + width - 1) / width), shape_.group_size}, arguments);
  }

  // The pending results, of which there are about `wanted`.
  void exact(std::uint64_t wanted) const { exact(wanted, scratch_.state); }
  void exact(std::uint64_t wanted, const device::Memory& state) const {
    const auto groups =
        static_cast<std::uint32_t>(std::min({wanted, std::uint64_t{device_.info().compute_units} * kExactToUnit, kMaxExactGroups}));
    const device::Argument arguments[] = {
        from_,          offset_,      scratch_.words, kept_axes(), reduced_axes(), problem_.results, problem_.each,
        scratch_.words, kept_stride_, what_,          to_,         to_offset_,     scratch_.pending, kCapacity,
        state};
    device_.launch(*scratch_.exact, {groups, shape_.group_size}, arguments);
  }

  // Waits. Whether exact() has found all of them.
  static bool all_exist(device::Device& device, const device::Memory& state) {
    std::uint32_t without = 0;
    device.read(state, sizeof without, &without, sizeof without);
    return without == 0;
  }

 private:
  static std::uint32_t count(const std::vector<core::Axis>& axes) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(axes.size(), 1));
  }
  std::uint32_t kept_axes() const { return count(problem_.kept); }
  std::uint32_t reduced_axes() const { return count(problem_.reduced); }

  device::Device& device_;
  AxesScratch& scratch_;
  const AxisProblem& problem_;
  const AxesShape& shape_;
  std::int32_t what_;
  device::Memory to_;
  std::uint64_t to_offset_;
  device::Memory from_;
  std::uint64_t offset_;
  std::int64_t kept_stride_;
};

std::uint64_t bytes_of_parts(const AxisProblem& problem, const AxesShape& shape) {
  return shape.parts > 1 ? 8 * sum_words(shape.what) * problem.results * shape.parts : 0;
}

}  // namespace

bool reduces_on_device(AxisReduction what, DType type, std::uint64_t each, const DeviceInfo& info) noexcept {
  const bool squares = AxisWork{what, type, false}.has_squares();
  return info.has(Capability::fp64) && each != 0 && !(squares && is_integer(type) && (size_of(type) == 8 || each >> 31 != 0));
}

std::vector<std::uint64_t> reduce_on_device(const AxisProblem& problem, AxisReduction what, NanPolicy nan, const device::Memory& to,
                                            std::uint64_t to_bytes) {
  device::Device& device = problem.data.buffer().device().implementation();
  const DType type = problem.data.type();
  const AxesShape shape = axes_shape(problem, what, nan == NanPolicy::skip, device.info());
  const AxisWork work{what, type, shape.skip};
  const device::Lock lock(device.mutex());
  const std::string name = fmt::format("axes {} {} {}", kernel_of(work), name_of(type), shape.skip);
  auto scratch = device.plans().take<AxesScratch>(name);
  if (!scratch) scratch = std::make_shared<AxesScratch>(device, axes_source(type, shape));
  const std::vector<std::uint64_t> words = AxesLaunch::words(problem);
  device.write(scratch->words, 0, words.data(), 8 * words.size());
  if (const std::uint64_t bytes = bytes_of_parts(problem, shape); scratch->sums.bytes < bytes) scratch->sums = device.allocate(bytes);
  const AxesLaunch launch(device, *scratch, problem, shape, {to, to_bytes});
  launch.sums();
  std::uint32_t count = 0;
  device.read(scratch->words, 0, &count, sizeof count);
  const bool sums = work.has_numbers() && !work.has_squares();
  if (sums && count > kMaxOfHost && problem.each < kMaxOfExact) {
    if (!scratch->exact) scratch->exact = device::build(device, axes_exact_source(type, shape), "axes_exact");
    launch.exact(count <= kCapacity ? count : problem.results);
    if (AxesLaunch::all_exist(device, scratch->state)) count = 0;
  }
  std::vector<std::uint64_t> pending(count <= kCapacity ? count : problem.results);
  if (count > kCapacity) {
    std::iota(pending.begin(), pending.end(), std::uint64_t{0});
  } else if (count != 0) {
    device.read(scratch->pending, 0, pending.data(), 8 * count);
    std::ranges::sort(pending);
  }
  device.plans().give_back(name, std::move(scratch));
  return pending;
}

namespace {

// What a call with segments uses, kept for the next one.
struct SegmentsScratch {
  SegmentsScratch(device::Device& device, DType type, const AxesShape& shape)
      : kernel(device::build(device, segments_source(type, shape), "segments")),
        words(device.allocate(8)),
        pending(device.allocate(8 * kCapacity)),
        state(device.allocate(16)) {
    const std::uint64_t none = 0;
    device.write(words, 0, &none, sizeof none);
    device.write(state, 0, &none, sizeof none);
  }
  device::Kernel kernel;
  device::Memory words, pending, state;
  std::optional<device::Kernel> exact;
};

}  // namespace

bool segments_on_device(const Array& values, const Array& offsets, std::uint64_t elements, NanPolicy nan, const device::Place& to) {
  constexpr std::uint64_t kMostLanes = 32, kElementsOfLane = 8;
  const std::optional<device::Run> run = device::single_run(values, core::Order::index);
  const DType type = values.type();
  const std::uint64_t count = offsets.size() - 1;
  if (!run || run->stride != static_cast<std::int64_t>(size_of(type)) || run->offset % size_of(type) != 0) return false;
  device::Device& device = values.buffer().device().implementation();
  AxesShape shape;
  shape.skip = nan == NanPolicy::skip;
  shape.group_size = std::bit_floor(std::min(device.info().max_group_size, device.info().is_cpu ? kCpuGroupSize : kGroupSize));
  const std::uint64_t lanes = std::bit_ceil(
      std::clamp<std::uint64_t>(elements / count / kElementsOfLane, 1, std::min<std::uint64_t>(kMostLanes, shape.group_size)));
  const auto width = static_cast<std::uint32_t>(shape.group_size / lanes);
  if ((count + width - 1) / width > kUnits) return false;
  const device::Lock lock(device.mutex());
  const std::string name = fmt::format("segments {} {}", name_of(type), shape.skip);
  auto scratch = device.plans().take<SegmentsScratch>(name);
  if (!scratch) scratch = std::make_shared<SegmentsScratch>(device, type, shape);
  const device::Memory begins = offsets.buffer().state().memory;
  const device::Argument sums[] = {run->memory, run->offset,   begins,           count,    width, scratch->words,
                                   to.memory,   to.offset / 8, scratch->pending, kCapacity};
  device.launch(scratch->kernel, {static_cast<std::uint32_t>((count + width - 1) / width), shape.group_size}, sums);
  std::uint32_t pending = 0;
  device.read(scratch->words, 0, &pending, sizeof pending);
  bool all = true;
  if (pending != 0) {
    if (!scratch->exact) scratch->exact = device::build(device, axes_exact_source(type, shape), "axes_exact");
    const auto groups = static_cast<std::uint32_t>(
        std::min({std::uint64_t{pending}, std::uint64_t{device.info().compute_units} * kExactToUnit, kMaxExactGroups}));
    const std::uint32_t no_axes = 0;
    const device::Argument exact[] = {run->memory, run->offset,   scratch->words,   no_axes,         no_axes,
                                      count,       count,         begins,           std::int64_t{0}, std::int32_t{0},
                                      to.memory,   to.offset / 8, scratch->pending, kCapacity,       scratch->state};
    device.launch(*scratch->exact, {groups, shape.group_size}, exact);
    std::uint32_t without = 0;
    device.read(scratch->state, sizeof without, &without, sizeof without);
    all = without == 0;
  }
  device.plans().give_back(name, std::move(scratch));
  return all;
}

PlannedAxes::PlannedAxes(device::Device& device, const Array& like, const Axes& axes, bool mean, NanPolicy nan)
    : device_(device), problem_(like, axes), what_(mean ? AxisReduction::mean : AxisReduction::sum), skip_(nan == NanPolicy::skip) {
  if (problem_.each == 0 || problem_.each >= kMaxOfExact) {
    throw Error(ErrorKind::usage, fmt::format("{} elements for each result along these axes: a plan takes 1 to 2^31 - 1", problem_.each));
  }
  const AxesShape shape = axes_shape(problem_, what_, skip_, device.info());
  scratch_ = std::make_shared<AxesScratch>(device, axes_source(like.type(), shape));
  AxesScratch& scratch = *scratch_;
  scratch.exact = device::build(device, axes_exact_source(like.type(), shape), "axes_exact");
  other_state_ = AxesScratch::zero_state(device);
  const std::vector<std::uint64_t> words = AxesLaunch::words(problem_);
  device.write(scratch.words, 0, words.data(), 8 * words.size());
  parts_ = shape.parts;
  if (const std::uint64_t bytes = bytes_of_parts(problem_, shape); bytes != 0) scratch.sums = device.allocate(bytes);
}

void PlannedAxes::launch(const Array& data, const device::Place& to, bool looked_at) {
  if (problem_.results == 0) return;
  problem_.data = data;
  AxesShape shape = axes_shape(problem_, what_, skip_, device_.info());  // which depends on where the array begins
  shape.parts = std::min(shape.parts, parts_);
  const AxesLaunch launch(device_, *scratch_, problem_, shape, to);
  launch.sums();
  launch.exact(problem_.results, looked_at ? scratch_->state : other_state_);
}

bool PlannedAxes::all_exist() const { return AxesLaunch::all_exist(device_, scratch_->state); }

}  // namespace samesum::groups
