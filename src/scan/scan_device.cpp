// Prefix sums on devices that run kernels: three launches of scan.cl.
#include "scan/scan_device.hpp"
#include "device/memory/buffer.hpp"
#include "groups/axes_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>

namespace samesum::prefix {
namespace {

constexpr std::uint32_t kGroupSize = 256, kCpuGroupSize = 16, kCpuItems = 4;

// Kernels and memory of a call, for the next one.
struct Scratch {
  Scratch(device::Device& device, const device::Source& source)
      : totals(device::build(device, source, "scan_totals")),
        before(device::build(device, source, "scan_before")),
        prefixes(device::build(device, source, "scan_prefixes")),
        words(device.allocate(16)),
        sums(device.allocate(16)) {}
  device::Kernel totals, before, prefixes;
  device::Memory words, sums;
};

}  // namespace

bool device_scans(DType type, std::uint64_t size, const DeviceInfo& info) {
  if (!info.has(Capability::kernels)) return false;
  if (is_integer(type)) return size_of(type) <= 4 && size >> 31 == 0;
  return (type == DType::float32 || type == DType::float64) && info.has(Capability::fp64);
}

device::Source scan_source(const DeviceScan& scan) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const bool integers = is_integer(scan.type), narrow = !integers && scan.float32;
  std::vector<std::string_view> files;
  if (!integers) files.emplace_back("groups/expansion.h");
  files.emplace_back("scan/scan.cl");
  return {std::move(files),
          {{"REAL", "double"},
           {"ELEMENT", std::string(groups::element_name(scan.type))},
           {"INTEGERS", flag(integers)},
           {"RESULT", integers ? (is_signed(scan.type) ? "long" : "ulong") : (narrow ? "float" : "double")},
           {"NARROW", flag(narrow)},
           {"FLOATS", flag(scan.type == DType::float32)},
           {"WORD", size_of(scan.type) == 8 || integers || !narrow ? "ulong" : "uint"},
           {"SKIP", flag(scan.skip && !integers)},
           {"GROUP_SIZE", std::to_string(scan.group_size)},
           {"ITEMS", std::to_string(scan.items)}}};
}

bool scan_on_device(const Array& data, bool float32, bool exclusive, NanPolicy nan, const Array& to) {
  device::Device& device = data.buffer().device().implementation();
  const DeviceInfo& info = device.info();
  DeviceScan scan{.type = data.type(), .float32 = float32, .skip = nan == NanPolicy::skip};
  scan.group_size = std::bit_floor(std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize));
  if (info.is_cpu) scan.items = kCpuItems;
  const device::Lock lock(device.mutex());
  const std::string name = fmt::format("scan {} {} {}", name_of(scan.type), scan.float32, scan.skip);
  auto scratch = device.plans().take<Scratch>(name);
  if (!scratch) scratch = std::make_shared<Scratch>(device, scan_source(scan));
  const std::uint64_t size = data.size(), tile = std::uint64_t{scan.group_size} * scan.items, tiles = (size + tile - 1) / tile;
  constexpr std::uint64_t kSumBytes = 32;
  if (scratch->sums.bytes < kSumBytes * tiles) scratch->sums = device.allocate(kSumBytes * tiles);
  const std::uint32_t known = 0;
  device.write(scratch->words, 0, &known, sizeof known);
  const device::Memory& from = data.buffer().state().memory;
  const std::uint64_t offset = data.offset() / size_of(data.type());
  const auto launch = [&](const device::Kernel& kernel, std::uint64_t groups, std::initializer_list<device::Argument> arguments) {
    device.launch(kernel, {static_cast<std::uint32_t>(groups), scan.group_size}, std::span(arguments.begin(), arguments.size()));
  };
  launch(scratch->totals, tiles, {from, offset, size, tiles, scratch->sums});
  launch(scratch->before, 1, {tiles, scratch->sums});
  launch(scratch->prefixes, tiles,
         {from, offset, size, tiles, scratch->sums, to.buffer().state().memory, to.offset() / size_of(to.type()),
          std::uint64_t{exclusive ? 1u : 0u}, scratch->words});
  std::uint32_t unknown = 0;
  device.read(scratch->words, 0, &unknown, sizeof unknown);
  device.plans().give_back(name, std::move(scratch));
  return unknown == 0;
}

}  // namespace samesum::prefix
