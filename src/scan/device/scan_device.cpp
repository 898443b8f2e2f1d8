// Scans on devices that run kernels: a launch of once.cl, or launches of scan.cl, or of columns.cl along an axis that is not the last.
#include "scan/device/scan_device.hpp"
#include "device/memory/buffer.hpp"
#include "groups/device/axes_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum::prefix {
namespace {

constexpr std::uint32_t kGroupSize = 128, kItems = 16, kWideItems = 8, kCpuGroupSize = 16, kCpuItems = 4;
constexpr std::uint32_t kOnceGroupSize = 256;
constexpr std::size_t kOnceBytes = 128;                      // of a work-item's elements or results: 32 KiB of local memory for a group
constexpr std::uint32_t kGroupsOfUnit = 16, kResident = 5;   // of a compute unit: groups in all, and at once
constexpr std::uint64_t kPieces = 1 << 17, kLeastRows = 16;  // pieces of lines in all; the elements of one

bool is_extreme(ScanOperation operation) { return operation == ScanOperation::min || operation == ScanOperation::max; }
bool sums_floats(const DeviceScan& scan) { return scan.operation == ScanOperation::sum && !is_integer(scan.type); }

std::string_view kind_of(const DeviceScan& scan) {
  if (is_extreme(scan.operation)) return "EXTREMES";
  if (scan.operation == ScanOperation::count_nonzero) return "COUNTS";
  if (is_integer(scan.type)) return size_of(scan.type) == 8 ? "LONG_SUMS" : "INTEGERS";
  return scan.once ? "PAIRS" : scan.wide ? "WIDE_SUMS" : "SUMS";
}

// The bits of infinity.
std::string_view infinite_of(DType type) {
  switch (type) {
    case DType::float16:
      return "0x7c00";
    case DType::bfloat16:
      return "0x7f80";
    case DType::float32:
      return "0x7f800000u";
    case DType::float64:
      return "0x7ff0000000000000ul";
    default:
      return "0";
  }
}

std::string_view bits_type(DType type) {
  return type == DType::float32 ? "uint" : type == DType::float64 ? "ulong" : groups::element_name(type);
}

std::size_t result_bytes_of(const DeviceScan& scan) {
  if (is_extreme(scan.operation)) return size_of(scan.type);
  return sums_floats(scan) && scan.float32 ? 4 : 8;
}
// What an element and its result need in local memory, one after the other.
std::size_t stage_bytes(const DeviceScan& scan) { return std::max(size_of(scan.type), result_bytes_of(scan)); }

// Groups of a compute unit for which registers do: their bytes in flight hide the time that a tile waits for the one before it.
std::uint32_t resident_once(const DeviceScan& scan) {
  const std::string_view kind = kind_of(scan);
  return (kind == "INTEGERS" || kind == "COUNTS") && !scan.segments ? 6 : 4;
}

// Kernels and memory of a call, for the next one.
struct Scratch {
  explicit Scratch(device::Device& device)
      : words(device.allocate(16)),
        totals(words),
        starts(words),
        started(words),
        offsets(words),
        states(words),
        drawn(device.allocate(16)),
        gave_up(device.allocate_result(16)) {}
  device::Memory words, totals, starts, started, offsets;
  // Of launches of scan_once(): what their tiles publish, how many tiles were drawn, the last launch that gave up, how many launches there
  // were, and tiles.
  device::Memory states, drawn, gave_up;
  std::uint32_t launches = 0, tiles = 1u << 31;
};

class Launcher {
 public:
  Launcher(device::Device& device, const DeviceScan& scan, Scratch& scratch)
      : device_(device), scan_(scan), source_(scan_source(scan)), scratch_(scratch) {}

  // Whether all results are known.
  bool run(const Array& data, const Layout& layout, const Array& to) {
    if (scan_.once) return once(data, layout, to);
    const std::uint32_t known = 0;
    device_.write(scratch_.words, 0, &known, sizeof known);
    scan_.columns ? columns(data, layout, to) : tiles(data, layout, to);
    std::uint32_t unknown = 0;
    device_.read(scratch_.words, 0, &unknown, sizeof unknown);
    return unknown == 0;
  }

 private:
  void reserve(device::Memory& memory, std::uint64_t bytes) {
    if (memory.bytes < bytes) memory = device_.allocate(bytes);
  }
  void launch(std::string_view kernel, std::uint64_t groups, std::initializer_list<device::Argument> arguments) {
    device_.launch(device::build(device_, source_, kernel), {static_cast<std::uint32_t>(groups), scan_.group_size},
                   std::span(arguments.begin(), arguments.size()));
  }
  // Of a kernel with an item for each of `count`.
  void launch_items(std::string_view kernel, std::uint64_t count, std::initializer_list<device::Argument> arguments) {
    launch(kernel, (count + scan_.group_size - 1) / scan_.group_size, arguments);
  }

  void mark_starts(const Layout& layout, std::uint64_t size, std::uint64_t words) {
    reserve(scratch_.starts, 4 * words);
    const std::uint64_t row = layout.offsets.empty() ? layout.extent : ~std::uint64_t{0} / 2;  // far beyond: a start at 0 alone
    launch_items("scan_rows", std::min<std::uint64_t>(words, 1 << 16), {scratch_.starts, words, row});
    if (layout.offsets.empty()) return;
    reserve(scratch_.offsets, layout.offsets.size_bytes());
    device_.write(scratch_.offsets, 0, layout.offsets.data(), layout.offsets.size_bytes());
    const std::uint64_t count = layout.offsets.size();
    launch_items("scan_offsets", std::min<std::uint64_t>(count, 1 << 16), {scratch_.starts, scratch_.offsets, count, size});
  }

  bool once(const Array& data, const Layout& layout, const Array& to) {
    const std::uint64_t size = data.size(), tile = std::uint64_t{scan_.group_size} * scan_.items, groups = (size + tile - 1) / tile;
    if (scan_.segments) mark_starts(layout, size, groups * tile / 32 + 1);
    constexpr std::uint32_t kGivenUp = 1u << 31;  // a bit of `drawn`
    constexpr std::uint64_t kStateBytes = 32;     // at most
    if (scratch_.states.bytes < kStateBytes * groups || scratch_.launches == kGivenUp - 1) {
      reserve(scratch_.states, kStateBytes * groups);
      const std::vector<std::byte> zeros(scratch_.states.bytes);
      device_.write(scratch_.states, 0, zeros.data(), zeros.size());
      device_.write(scratch_.gave_up, 0, zeros.data(), sizeof(std::uint32_t));
      scratch_.launches = 0;
    }
    if (scratch_.tiles >= kGivenUp - groups) {
      scratch_.tiles = 0;
      device_.write(scratch_.drawn, 0, &scratch_.tiles, sizeof scratch_.tiles);
    }
    launch("scan_once", groups,
           {data.buffer().state().memory, data.offset() / size_of(data.type()), size, scratch_.states, ++scratch_.launches, scratch_.drawn,
            scratch_.tiles, to.buffer().state().memory, to.offset() / size_of(to.type()), std::uint64_t{layout.exclusive ? 1u : 0u},
            scratch_.starts, scratch_.gave_up});
    std::uint32_t gave_up = 0;
    device_.read(scratch_.gave_up, 0, &gave_up, sizeof gave_up);
    const bool known = gave_up != scratch_.launches;
    scratch_.tiles = known ? scratch_.tiles + static_cast<std::uint32_t>(groups) : kGivenUp;
    return known;
  }

  void tiles(const Array& data, const Layout& layout, const Array& to) {
    const std::uint64_t size = data.size(), tile = std::uint64_t{scan_.group_size} * scan_.items, tiles = (size + tile - 1) / tile;
    const std::uint64_t wanted = std::uint64_t{kGroupsOfUnit} * std::max<std::uint32_t>(device_.info().compute_units, 1);
    const std::uint64_t each = (tiles + wanted - 1) / wanted, groups = (tiles + each - 1) / each;
    reserve(scratch_.totals, prefix_bytes(scan_) * groups);
    if (scan_.segments) {
      reserve(scratch_.started, 4 * groups);
      mark_starts(layout, size, tiles * tile / 32 + 1);
    }
    const device::Memory& from = data.buffer().state().memory;
    const std::uint64_t offset = data.offset() / size_of(data.type()), shift = layout.exclusive ? 1 : 0;
    launch("scan_totals", groups, {from, offset, size, tiles, each, scratch_.totals, scratch_.starts, scratch_.started});
    launch("scan_before", 1, {groups, scratch_.totals, scratch_.started});
    launch("scan_prefixes", groups,
           {from, offset, size, tiles, each, scratch_.totals, to.buffer().state().memory, to.offset() / size_of(to.type()), shift,
            scratch_.words, scratch_.starts});
  }

  void columns(const Array& data, const Layout& layout, const Array& to) {
    const std::uint64_t lines = layout.outer * layout.inner, offset = data.offset() / size_of(data.type());
    const std::uint64_t wanted = std::max<std::uint64_t>(kPieces / lines, 1), most = (layout.extent + kLeastRows - 1) / kLeastRows;
    const std::uint64_t rows = (layout.extent + std::min(wanted, most) - 1) / std::min(wanted, most);
    const std::uint64_t pieces = (layout.extent + rows - 1) / rows;
    const device::Memory& from = data.buffer().state().memory;
    if (pieces > 1) {
      reserve(scratch_.totals, prefix_bytes(scan_) * lines * pieces);
      launch_items("column_totals", lines * pieces, {from, offset, lines, layout.extent, layout.inner, rows, pieces, scratch_.totals});
      launch_items("columns_before", lines, {lines, pieces, scratch_.totals});
    }
    launch_items("column_prefixes", lines * pieces,
                 {from, offset, lines, layout.extent, layout.inner, rows, pieces, scratch_.totals, to.buffer().state().memory,
                  to.offset() / size_of(to.type()), std::uint32_t{layout.exclusive ? 1u : 0u}, scratch_.words});
  }

  device::Device& device_;
  DeviceScan scan_;
  device::Source source_;
  Scratch& scratch_;
};

}  // namespace

bool device_scans(ScanOperation operation, DType type, std::uint64_t size, const DeviceInfo& info) {
  if (!info.has(Capability::kernels) || operation == ScanOperation::product) return false;
  if (operation != ScanOperation::sum) return info.has(Capability::fp64) || type != DType::float64;
  if (is_integer(type)) return size_of(type) == 8 || size >> 31 == 0;
  // Where denormal floats are taken for zeros, they are so as doubles too.
  return info.has(Capability::fp64) && (type == DType::float64 || info.has(Capability::denormals));
}

std::optional<DeviceScan> scan_once(DeviceScan scan, const DeviceInfo& info) {
  if (scan.columns || scan.wide || !info.has(Capability::int64_atomics)) return std::nullopt;
  scan.once = true;
  if (info.is_cpu) return scan;
  scan.group_size = std::bit_floor(std::min(info.max_group_size, kOnceGroupSize));
  const std::size_t most = is_extreme(scan.operation) ? kItems : 2 * kItems;  // more registers than there are, otherwise
  scan.items = static_cast<std::uint32_t>(std::clamp<std::size_t>(kOnceBytes / stage_bytes(scan), kItems, most));
  // Beside the tile there is what passes between sub-groups.
  while (scan.group_size > 32 && stage_bytes(scan) * scan.items * scan.group_size + (2 << 10) > info.local_bytes) scan.group_size /= 2;
  return scan;
}

std::uint64_t prefix_bytes(const DeviceScan& scan) {
  if (sums_floats(scan)) return scan.wide ? 64 : 32;
  return 16;
}

device::Source scan_source(const DeviceScan& scan) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const bool floats = !is_integer(scan.type), extreme = is_extreme(scan.operation), sums = sums_floats(scan), narrow = sums && scan.float32;
  const std::string element(extreme ? bits_type(scan.type) : groups::element_name(scan.type));
  const bool half = scan.type == DType::float16 || scan.type == DType::bfloat16;
  std::string result = extreme ? element : scan.operation == ScanOperation::count_nonzero || !is_signed(scan.type) ? "ulong" : "long";
  if (sums) result = narrow ? "float" : "double";
  std::string number = "(x)";
  if (half && !extreme) number = scan.type == DType::float16 ? "half_to_float(x)" : "as_float((uint)(x) << 16)";
  const std::size_t result_bytes = result_bytes_of(scan);
  std::vector<std::string_view> files;
  if (sums) files.emplace_back("groups/expansion.h");
  if (sums)
    files.emplace_back(scan.once ? "scan/device/exact_pair.h" : scan.wide ? "scan/device/wide_expansion.h" : "scan/device/bounded_sum.h");
  files.emplace_back("scan/device/prefix.h");
  if (!scan.columns) files.insert(files.end(), {"scan/device/group.h", "scan/device/stage.h", "scan/device/items.h"});
  files.emplace_back(scan.columns ? "scan/device/columns.cl" : scan.once ? "scan/device/once.cl" : "scan/device/scan.cl");
  if (!scan.columns) files.emplace_back("scan/device/starts.cl");
  return {std::move(files),
          {{"REAL", "double"},
           {"RESIDENT", std::to_string(scan.once                    ? resident_once(scan)
                                       : scan.wide                  ? 1
                                       : scan.segments || scan.skip ? kResident - 1
                                                                    : kResident)},
           {"KIND", std::string(kind_of(scan))},
           {"ELEMENT", element},
           {"NUMBER", half && !extreme ? "float" : element},
           {"NUMBER_OF(x)", number},
           {"SIGNED", flag(!floats && is_signed(scan.type))},
           {"RESULT", result},
           {"NARROW", flag(narrow)},
           {"SINGLE", flag(floats && scan.type != DType::float64)},
           {"INFINITE", std::string(infinite_of(scan.type))},
           {"LEAST", flag(scan.operation == ScanOperation::min)},
           {"ELEMENT_BYTES", std::to_string(size_of(scan.type))},
           {"RESULT_BYTES", std::to_string(result_bytes)},
           {"STAGE_BYTES", std::to_string(stage_bytes(scan))},
           {"SKIP", flag(scan.skip && floats)},
           {"SEGMENTS", flag(scan.segments)},
           {"GROUP_SIZE", std::to_string(scan.group_size)},
           {"ITEMS", std::to_string(scan.items)}}};
}

bool scan_on_device(const Array& data, const Scan& what, const Layout& layout, NanPolicy nan, const Array& to) {
  device::Device& device = data.buffer().device().implementation();
  const DeviceInfo& info = device.info();
  DeviceScan scan{.operation = what.operation, .type = data.type(), .float32 = what.float32, .skip = nan == NanPolicy::skip};
  scan.columns = layout.inner > 1;
  const bool segments = layout.outer > 1 || layout.offsets.size() > 1;
  const device::Lock lock(device.mutex());
  constexpr std::string_view kName = "scan";
  auto scratch = device.plans().take<Scratch>(kName);
  if (!scratch) scratch = std::make_shared<Scratch>(device);
  bool known = false;
  const auto attempt = [&](const DeviceScan& shaped) { known = Launcher(device, shaped, *scratch).run(data, layout, to); };
  scan.segments = !scan.columns && segments;
  scan.group_size = std::bit_floor(std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize));
  scan.items = info.is_cpu ? kCpuItems : kItems;
  const std::optional<DeviceScan> once = data.size() >> 36 == 0 ? scan_once(scan, info) : std::nullopt;
  if (once) attempt(*once);
  if (!known && (!once || sums_floats(scan))) attempt(scan);
  if (!known && sums_floats(scan)) {
    scan.wide = true;
    scan.segments = !scan.columns;  // one program is enough
    if (!info.is_cpu) scan.items = kWideItems;
    attempt(scan);
  }
  device.plans().give_back(std::string(kName), std::move(scratch));
  return known;
}

}  // namespace samesum::prefix
