// Products on a device by kernels (product.cl).
#include "core/view.hpp"
#include "product/product.hpp"

#include "core/chunks.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>

namespace samesum::product_tree {
namespace {

constexpr std::uint32_t kGroupSize = 256;
constexpr std::uint32_t kCpuGroupSize = 16;
constexpr std::uint32_t kLoads = 8;
constexpr std::uint32_t kCpuLoads = 1;
constexpr std::uint32_t kUnitSize = 1024;  // work-items on a compute unit, where the device cannot tell
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;

constexpr bool is_wide(DType type) { return type == DType::float64; }
constexpr std::uint32_t elements_per_load(DType type) { return static_cast<std::uint32_t>(16 / size_of(type)); }

std::uint32_t choose_group_size(const DeviceInfo& info, std::uint32_t wanted) {
  const std::uint32_t most = std::bit_floor(std::min(info.max_group_size, 1024u));
  device::check_group_size(info, wanted, most);
  return std::bit_floor(wanted != 0 ? wanted : std::min(most, info.is_cpu ? kCpuGroupSize : kGroupSize));
}

// A group for each tile is fastest on a GPU; a CPU's cores take several.
std::uint32_t choose_groups(device::Device& device, const device::Kernel& kernel, std::uint32_t group_size, std::uint32_t wanted) {
  constexpr std::uint32_t kMost = 1u << 30;
  if (wanted != 0) return wanted;
  return device.info().is_cpu ? device.resident_groups(kernel, group_size).value_or(device.info().compute_units) : kMost;
}

// For kernels whose groups write a record each.
std::uint32_t few_groups(device::Device& device, const device::Kernel& kernel, std::uint32_t group_size, std::uint32_t wanted) {
  if (wanted != 0) return wanted;
  return device.resident_groups(kernel, group_size).value_or(device.info().compute_units * std::max(kUnitSize / group_size, 1u));
}

void require(const DeviceInfo& info, Capability capability) {
  if (info.has(capability)) return;
  throw Error(ErrorKind::device, fmt::format("{} cannot give this product the bits that all devices give it: it lacks {} ({})",
                                             info.selector, name_of(capability), info.why_not(capability)));
}

// The largest piece of data that is copied to the device at once: whole tiles.
std::uint64_t chunk_elements(const DeviceInfo& info, DType type, std::uint64_t tile) {
  return std::max<std::uint64_t>(std::min(kChunkBytes, info.max_allocation_bytes) / size_of(type) / tile, 1) * tile;
}

}  // namespace

device::Source product_source(DType type, bool skip, std::uint32_t group_size, std::uint32_t loads) {
  const bool narrow = type == DType::float16;
  return {{"device/kept.h", "statistics/elements.h", "product/product.cl"},
          {{"BITS", std::to_string(8 * size_of(type))},
           {"FLOATS", is_integer(type) ? "0" : "1"},
           {"SIGNED", is_signed(type) ? "1" : "0"},
           {"EXPONENT_BITS", is_wide(type) ? "11"
                             : narrow      ? "5"
                                           : "8"},
           {"FRACTION_BITS", is_wide(type)             ? "52"
                             : narrow                  ? "10"
                             : type == DType::bfloat16 ? "7"
                                                       : "23"},
           {"SKIP", skip ? "1" : "0"},
           {"GROUP_SIZE", std::to_string(group_size)},
           {"LOADS", std::to_string(loads)}}};
}

DeviceProduct::DeviceProduct(device::Device& device, DType type, bool skip, const Tuning& options)
    : device_(device),
      type_(type),
      group_size_(choose_group_size(device.info(), options.group_size)),
      loads_(device.info().is_cpu ? kCpuLoads : kLoads) {
  require(device.info(), is_wide(type) ? Capability::fp64 : Capability::denormals);
  kernel_ = device::build(device, product_source(type, skip, group_size_, loads_), "product");
  again_kernel_ =
      device::build(device, product_source(is_wide(type) ? DType::float64 : DType::float32, false, group_size_, loads_), "product");
  groups_ = choose_groups(device, kernel_, group_size_, options.groups);
}

int DeviceProduct::level() const noexcept { return std::countr_zero(group_size_ * loads_ * elements_per_load(type_)); }
std::string DeviceProduct::text() const { return fmt::format("group_size={} loads={}", group_size_, loads_); }

DeviceProduct::Stage& DeviceProduct::stage(std::size_t index, std::uint64_t count, int level) {
  if (stages_.size() <= index) stages_.resize(index + 1);
  Stage& stage = stages_[index];
  const std::uint64_t bytes = count * (is_wide(type_) ? sizeof(double) : sizeof(float));
  if (stage.products.bytes < bytes) stage.products = device_.allocate(bytes);
  stage.count = count;
  stage.reduced = 0;
  stage.level = level;
  used_stages_ = index + 1;
  return stage;
}

void DeviceProduct::launch(const device::Memory& data, std::uint64_t tiles, std::uint64_t position) {
  constexpr std::uint64_t kFew = 8192;  // products: few enough for the host
  const int again_bits = std::countr_zero(group_size_ * loads_ * elements_per_load(is_wide(type_) ? DType::float64 : DType::float32));
  device::Memory from = data;
  int at = level();
  used_stages_ = 0;
  if (tiles == 0) return;
  for (std::size_t index = 0;; ++index) {
    Stage& to = stage(index, tiles, at);
    const device::Argument arguments[] = {from, tiles, to.products};
    device_.launch(index == 0 ? kernel_ : again_kernel_, {static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles, groups_)), group_size_},
                   arguments);
    const bool aligned = position % (std::uint64_t{1} << (at + again_bits)) == 0;
    if (tiles <= kFew || !aligned) return;
    tiles >>= again_bits;
    at += again_bits;
    to.reduced = tiles << again_bits;
    from = to.products;
  }
}

template <class T>
void DeviceProduct::collect(Tree<T>& tree) {
  for (std::size_t index = used_stages_; index-- > 0;) {
    const Stage& from = stages_[index];
    std::vector<T> products(from.count - from.reduced);
    if (products.empty()) continue;
    device_.read(from.products, from.reduced * sizeof(T), products.data(), products.size() * sizeof(T));
    for (const T product : products) tree.append(product, from.level);
  }
}

template <class T>
void append_on_device(View data, device::Device& device, DeviceProduct& product, Tree<T>& tree, Report& report) {
  const int level = product.level();
  const std::uint64_t chunk = std::min(chunk_elements(device.info(), data.type(), std::uint64_t{1} << level), data.size());
  const device::Memory memory = device.allocate(chunk * size_of(data.type()));
  for (std::uint64_t first = 0; first < data.size(); first += chunk) {
    const View part = data.part(first, std::min(chunk, data.size() - first));
    const device::Mark start = device.mark();
    device.write(memory, 0, part.data(), part.bytes());
    const device::Mark uploaded = device.mark();
    product.launch(memory, part.size() >> level, tree.size());
    const device::Mark done = device.mark();
    product.collect(tree);
    report.upload_seconds += device.seconds_between(start, uploaded);
    report.seconds += device.seconds_between(uploaded, done);
  }
  report.configuration = product.text();
}

template void DeviceProduct::collect<float>(Tree<float>&);
template void DeviceProduct::collect<double>(Tree<double>&);
template void append_on_device<float>(View, device::Device&, DeviceProduct&, Tree<float>&, Report&);
template void append_on_device<double>(View, device::Device&, DeviceProduct&, Tree<double>&, Report&);

void multiply_on_device(View data, device::Device& device, const Tuning& options, IntegerProduct& product, Report& report) {
  const std::lock_guard lock(device.mutex());
  const std::uint32_t group_size = choose_group_size(device.info(), options.group_size);
  const device::Kernel kernel = device::build(device, product_source(data.type(), false, group_size, 1), "product");
  const std::uint64_t tile = std::uint64_t{group_size} * elements_per_load(data.type());
  const std::uint64_t chunk = std::min(chunk_elements(device.info(), data.type(), tile), data.size());
  const std::uint32_t groups =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(chunk / tile, 1, few_groups(device, kernel, group_size, options.groups)));
  const device::Memory memory = device.allocate(chunk * size_of(data.type()));
  std::vector<std::uint64_t> records(2 * groups);
  const device::Memory result = device.allocate(records.size() * 8);
  for (std::uint64_t first = 0; first < data.size(); first += chunk) {
    const View part = data.part(first, std::min(chunk, data.size() - first));
    const device::Mark start = device.mark();
    device.write(memory, 0, part.data(), part.bytes());
    const device::Mark uploaded = device.mark();
    const device::Argument arguments[] = {memory, part.size(), result};
    device.launch(kernel, {groups, group_size}, arguments);
    const device::Mark done = device.mark();
    device.read(result, 0, records.data(), records.size() * 8);
    bool negative = false, zero = false, too_large = false;
    for (std::uint32_t i = 0; i < groups; ++i) {
      zero |= (records[2 * i] & 1) != 0;
      negative ^= (records[2 * i] & 2) != 0;
      too_large |= (records[2 * i] & 4) != 0;
    }
    if (too_large && !zero && !product.has_no_digits()) {
      multiply(part, core::thread_count(part.bytes(), options.threads), product);
    } else {
      // Beyond 64 bits a record's magnitude is that of some of its elements, which suffices to exceed 64 bits here too.
      for (std::uint32_t i = 0; i < groups; ++i) product.multiply(records[2 * i + 1], false);
      product.multiply(zero ? 0 : 1, negative);
    }
    report.upload_seconds += device.seconds_between(start, uploaded);
    report.seconds += device.seconds_between(uploaded, done);
  }
  report.configuration = fmt::format("groups={} group_size={}", groups, group_size);
}

}  // namespace samesum::product_tree
