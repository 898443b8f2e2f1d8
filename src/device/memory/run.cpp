#include "device/memory/run.hpp"

#include "core/view.hpp"
#include "device/memory/buffer.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace samesum::device {
namespace {

// Work-items of a group, and groups to a compute unit: the copy waits for memory alone.
constexpr std::uint32_t kGatherGroupSize = 256;
constexpr std::uint32_t kGatherGroups = 8;

void check_device(const Buffer& buffer, const samesum::Device& device, std::string_view what) {
  if (&buffer.device().implementation() == &device.implementation()) return;
  throw Error(ErrorKind::usage, fmt::format("{} lies on {}, the plan is for {}, or for another queue of it", what,
                                            buffer.device().info().selector, device.info().selector));
}

std::string_view word_of(DType type) {
  constexpr std::array<std::string_view, 9> kWords = {"", "uchar", "ushort", "", "uint", "", "", "", "ulong"};
  return kWords[size_of(type)];
}

}  // namespace

std::optional<Run> single_run(const Array& data, core::Order order) {
  const Memory& memory = data.buffer().state().memory;
  if (data.rank() == 1) return Run{memory, data.size(), data.stride(), data.offset()};
  std::int64_t first = 0;
  const std::vector<core::Axis> axes = core::simplified_axes(data, order, first);
  if (data.size() != 0 && axes.size() > 1) return std::nullopt;
  const std::int64_t stride = axes.size() == 1 ? axes.front().stride : static_cast<std::int64_t>(size_of(data.type()));
  return Run{memory, data.size(), stride, data.offset() + static_cast<std::uint64_t>(data.size() == 0 ? 0 : first)};
}

std::optional<Run> run_of_rows(const Array& data, core::Order order) {
  if (std::optional<Run> run = single_run(data, order)) return run;
  std::int64_t first = 0;
  const std::vector<core::Axis> axes = core::simplified_axes(data, order, first);
  constexpr std::uint64_t kMaxLength = std::uint64_t{1} << 30;
  if (axes.size() != 2 || axes[1].extent > kMaxLength) return std::nullopt;
  return Run{data.buffer().state().memory,
             data.size(),
             axes[1].stride,
             data.offset() + static_cast<std::uint64_t>(first),
             axes[1].extent,
             axes[0].stride};
}

bool have_like_rows(Run& a, Run& b) {
  const auto cut = [](Run& run, std::uint64_t length) {
    run.row_length = length;
    run.row_stride = run.stride * static_cast<std::int64_t>(length);
  };
  if (a.row_length == 0 && b.row_length != 0) cut(a, b.row_length);
  if (b.row_length == 0 && a.row_length != 0) cut(b, a.row_length);
  return a.row_length == b.row_length;
}

Source gather_source(DType type, bool narrow) {
  return {{"device/memory/gather.cl"}, {{"ELEMENT", std::string(word_of(type))}, {"INDEX", narrow ? "uint" : "ulong"}}};
}

Gather::Gather(const Array& data, core::Order order)
    : device_(data.buffer().device().implementation()),
      from_(data.buffer().state().memory),
      element_(static_cast<std::int64_t>(size_of(data.type()))) {
  std::int64_t first = 0;
  std::vector<core::Axis> axes = core::simplified_axes(data, order, first);
  if (axes.empty()) axes.push_back({1, element_});
  offset_ = data.offset() + static_cast<std::uint64_t>(first);
  rank_ = static_cast<std::uint32_t>(axes.size());
  std::vector<std::uint64_t> words;
  for (std::size_t i = axes.size(); i-- > 0;) {
    words.push_back(axes[i].extent);
    words.push_back(static_cast<std::uint64_t>(axes[i].stride));
  }
  const bool narrow = data.size() <= UINT32_MAX;
  const Lock lock(device_.mutex());
  kernel_ = build(device_, gather_source(data.type(), narrow), "gather");
  axes_ = device_.allocate(words.size() * sizeof words[0]);
  device_.write(axes_, 0, words.data(), axes_.bytes);
  to_ = device_.allocate(std::min(most(data.type()), data.size()) * size_of(data.type()));
}

Run Gather::part(std::uint64_t first, std::uint64_t count, const Lock&) {
  const DeviceInfo& info = device_.info();
  const std::uint32_t group_size = std::min(info.max_group_size, kGatherGroupSize);
  const std::uint64_t groups = std::min<std::uint64_t>(kGatherGroups * info.compute_units, (count + group_size - 1) / group_size);
  const Argument arguments[] = {from_, offset_, axes_, rank_, first, count, to_};
  device_.launch(kernel_, {static_cast<std::uint32_t>(groups), group_size}, arguments);
  return {to_, count, element_, 0};
}

samesum::Device device_for(const Array& data, std::uint64_t bytes, const Options& options) {
  if (options.device) return *options.device;
  return data.on_device() ? data.buffer().device() : choose_device("auto", bytes);
}

Array on_host(const Array& data) {
  const auto* base = static_cast<const std::byte*>(data.buffer().state().memory.handle.get());
  return {base + data.offset(), data.shape(), data.type(), data.strides()};
}

View read_run(samesum::Device device, const Run& run, DType type, std::vector<std::byte>& bytes) {
  if (run.count == 0) return {nullptr, 0, type};
  const std::int64_t reach = static_cast<std::int64_t>(run.count - 1) * run.stride;
  const std::uint64_t first = run.offset + static_cast<std::uint64_t>(std::min<std::int64_t>(reach, 0));
  bytes.resize(static_cast<std::size_t>(reach < 0 ? -reach : reach) + size_of(type));
  const Lock lock(device.implementation().mutex());
  device.implementation().read(run.memory, first, bytes.data(), bytes.size());
  return {bytes.data() - std::min<std::int64_t>(reach, 0), run.count, type, run.stride};
}

void require_on(const Array& data, const samesum::Device& device) {
  if (!data.on_device() || &data.buffer().device().implementation() == &device.implementation()) return;
  throw Error(ErrorKind::usage,
              fmt::format("the array lies on {}, and work on it is asked of {}, or of another queue of it: leave the device "
                          "out, or copy the array to the host",
                          data.buffer().device().info().selector, device.info().selector));
}

Run planned_run(const Array& data, core::Order order, const samesum::Device& device, DType type, Layout layout) {
  if (!data.on_device()) {
    throw Error(ErrorKind::usage, fmt::format("the array lies in host memory: a plan for {} takes arrays in that device's memory (Buffer)",
                                              device.info().selector));
  }
  check_device(data.buffer(), device, "the array");
  if (data.type() != type) {
    throw Error(ErrorKind::usage, fmt::format("the plan is for {}, the array has {}", name_of(type), name_of(data.type())));
  }
  const std::optional<Run> run = single_run(data, order);
  if (!run) {
    throw Error(ErrorKind::usage,
                fmt::format("the array's {} axes do not lie so that its elements are a single run with one stride, which is "
                            "what a plan takes: call the function, which copies, or enqueue parts of it",
                            data.rank()));
  }
  if (layout == Layout::strided || run->count <= 1 || run->stride == static_cast<std::int64_t>(size_of(type))) return *run;
  throw Error(ErrorKind::usage,
              fmt::format("the plan is for contiguous arrays, the array has an element every {} bytes: make the plan with "
                          "Layout::strided, so that it compiles the kernel for these as well",
                          run->stride));
}

void refuse_result() {
  throw Error(ErrorKind::usage,
              "the plan has no result yet: call enqueue(data) before result(); what enqueue() left in a buffer is read there");
}

Place place_in(const Buffer& to, std::uint64_t offset, std::string_view record, std::size_t bytes, const samesum::Device& device) {
  check_device(to, device, "the place for the result");
  if (offset % 8 != 0 || offset > to.bytes() || to.bytes() - offset < bytes) {
    throw Error(ErrorKind::usage, fmt::format("{} of {} bytes at byte {} is not aligned to 8, or not within a buffer of {} bytes", record,
                                              bytes, offset, to.bytes()));
  }
  return {to.state().memory, offset};
}

void for_runs(const Array& data, core::Order order, core::FunctionRef<void(const Run&)> body, bool with_rows) {
  if (const std::optional<Run> run = with_rows ? run_of_rows(data, order) : single_run(data, order)) return body(*run);
  Gather gather(data, order);
  const std::uint64_t most = Gather::most(data.type());
  for (std::uint64_t first = 0; first < data.size(); first += most) body(gather.part(first, std::min(most, data.size() - first)));
}

void for_runs_of_both(const Array& a, const Array& b, core::FunctionRef<void(const Run&, const Run&)> body) {
  std::optional<Run> one = run_of_rows(a, core::Order::index), other = run_of_rows(b, core::Order::index);
  if (one && other && have_like_rows(*one, *other)) return body(*one, *other);
  if (one && one->rows() > 1) one.reset();
  if (other && other->rows() > 1) other.reset();
  std::optional<Gather> a_parts, b_parts;
  if (!one) a_parts.emplace(a, core::Order::index);
  if (!other) b_parts.emplace(b, core::Order::index);
  const std::uint64_t most = Gather::most(a.type());
  for (std::uint64_t first = 0; first < a.size(); first += most) {
    const std::uint64_t count = std::min(most, a.size() - first);
    body(one ? one->part(first, count) : a_parts->part(first, count), other ? other->part(first, count) : b_parts->part(first, count));
  }
}

void for_host_blocks(const Array& data, core::Order order, core::FunctionRef<void(View)> body) {
  if (!data.on_device()) return core::for_blocks(data, order, body);
  const samesum::Device& device = data.buffer().device();
  if (!device.info().has(Capability::kernels)) return core::for_blocks(on_host(data), order, body);
  std::vector<std::byte> bytes;
  for_runs(data, order, [&](const Run& run) {
    const std::uint64_t apart = static_cast<std::uint64_t>(run.stride < 0 ? -run.stride : run.stride);
    const std::uint64_t most = std::max<std::uint64_t>((std::uint64_t{1} << 24) / std::max<std::uint64_t>(apart, 1), 1);
    for (std::uint64_t first = 0; first == 0 || first < run.count; first += most) {
      body(read_run(device, run.part(first, std::min(most, run.count - first)), data.type(), bytes));
    }
  });
}

}  // namespace samesum::device
