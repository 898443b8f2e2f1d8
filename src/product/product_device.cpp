// Products on a device by kernels (product.cl).
#include "core/view.hpp"
#include "product/product.hpp"

#include "core/threads/chunks.hpp"
#include "device/memory/upload.hpp"
#include "reduce/device/launcher.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace samesum::product_tree {
namespace {

constexpr std::uint32_t kGroupSize = 256;
constexpr std::uint32_t kCpuGroupSize = 16;
constexpr std::uint32_t kLoads = 8;
constexpr std::uint32_t kCpuLoads = 1;

constexpr bool is_wide(DType type) { return type == DType::float64; }

std::uint32_t choose_group_size(const DeviceInfo& info, std::uint32_t wanted) {
  const std::uint32_t most = std::bit_floor(std::min(info.max_group_size, 1024u));
  device::check_group_size(info, wanted, most);
  return std::bit_floor(wanted != 0 ? wanted : std::min(most, info.is_cpu ? kCpuGroupSize : kGroupSize));
}

// A group for each tile is fastest on a GPU; a CPU's cores take several.
std::uint32_t choose_groups(device::Device& device, const device::Kernel& kernel, std::uint32_t group_size, std::uint32_t wanted) {
  constexpr std::uint32_t kMax = 1u << 30;
  if (wanted != 0) return wanted;
  return device.info().is_cpu ? reduction::resident_groups(device, kernel, group_size, 1) : kMax;
}

void require(const DeviceInfo& info, Capability capability) {
  if (info.has(capability)) return;
  throw Error(ErrorKind::device, fmt::format("{} cannot give this product the bits that all devices give it: it lacks {} ({})",
                                             info.selector, name_of(capability), info.why_not(capability)));
}

}  // namespace

std::vector<device::Argument> arguments_of(const statistics::Term& term) {
  std::vector<device::Argument> arguments = term.arguments;
  arguments.emplace_back(term.row_length);
  arguments.emplace_back(term.head);
  return arguments;
}

TileShape tile_shape(const DeviceInfo& info, const Tuning& tuning) {
  return {choose_group_size(info, tuning.group_size), info.is_cpu ? kCpuLoads : kLoads};
}

device::Source product_source(DType type, bool skip, std::uint32_t group_size, std::uint32_t loads, const statistics::TermCode* term) {
  device::Source source{{"device/cache_policy.h", "reduce/device/elements.h"}, reduction::element_defines(type)};
  reduction::add_defines(source, {{"SKIP", skip}, {"GROUP_SIZE", group_size}, {"LOADS", loads}, {"TERM", term != nullptr}});
  if (term == nullptr) {
    source.files.emplace_back("product/product.cl");
    return source;
  }
  reduction::add_defines(source, {{"CACHED", 0}});
  source.files.emplace_back("reduce/device/walk.h");
  source.files.insert(source.files.end(), term->files.begin(), term->files.end());
  source.text = term->text;
  source.after = {"product/product.cl"};
  return source;
}

DeviceProduct::DeviceProduct(device::Device& device, DType type, bool skip, const Tuning& options, const statistics::TermCode* term)
    : device_(device),
      type_(type),
      skip_(skip),
      group_size_(tile_shape(device.info(), options).group_size),
      loads_(tile_shape(device.info(), options).loads) {
  require(device.info(), is_wide(type) ? Capability::fp64 : Capability::denormals);
  // A load of values takes one of each array, so fewer are in flight.
  if (term != nullptr && !device.info().is_cpu) loads_ = term->long_code || term->arrays > 3 ? 2 : term->arrays > 1 ? 4 : kLoads;
  if (term == nullptr) {
    kernel_ = device::build(device, product_source(type, skip, group_size_, loads_), "product");
  } else {
    use(*term);
  }
  again_kernel_ =
      device::build(device, product_source(is_wide(type) ? DType::float64 : DType::float32, false, group_size_, loads_), "product");
  groups_ = choose_groups(device, kernel_, group_size_, options.groups);
}

void DeviceProduct::use(const statistics::TermCode& term) {
  if (term.text == term_) return;
  const device::Source source = product_source(type_, skip_, group_size_, loads_, &term);
  kernel_ = device::build(device_, source, "product");
  leaves_kernel_ = device::build(device_, source, "product_leaves");
  term_ = term.text;
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

void DeviceProduct::launch(const device::Memory& data, std::uint64_t tiles, std::uint64_t position, std::uint64_t offset) {
  launch_any({data, offset}, tiles, position);
}

void DeviceProduct::launch(const statistics::Term& term, std::uint64_t tiles, std::uint64_t position) {
  launch_any(arguments_of(term), tiles, position);
}

template <class T>
void DeviceProduct::append_leaves(const statistics::Term& term, std::uint64_t first, std::uint64_t count, Tree<T>& tree) {
  if (count == 0) return;
  if (leaves_.bytes < count * sizeof(T)) leaves_ = device_.allocate((std::uint64_t{1} << level()) * sizeof(T));
  std::vector<device::Argument> arguments = arguments_of(term);
  arguments.insert(arguments.end(), {first, count, leaves_});
  device_.launch(leaves_kernel_, {static_cast<std::uint32_t>((count + group_size_ - 1) / group_size_), group_size_}, arguments);
  std::vector<T> leaves(count);
  device_.read(leaves_, 0, leaves.data(), count * sizeof(T));
  for (const T leaf : leaves) tree.append(leaf);
}

void DeviceProduct::launch_any(std::vector<device::Argument> data, std::uint64_t tiles, std::uint64_t position) {
  constexpr std::uint64_t kFew = 8192;  // products, which the host multiplies
  const int again_bits = std::countr_zero(group_size_ * loads_ * elements_per_load(is_wide(type_) ? DType::float64 : DType::float32));
  int at = level();
  used_stages_ = 0;
  if (tiles == 0) return;
  for (std::size_t index = 0;; ++index) {
    Stage& to = stage(index, tiles, at);
    std::vector<device::Argument> arguments = std::move(data);
    arguments.insert(arguments.end(), {tiles, to.products});
    device_.launch(index == 0 ? kernel_ : again_kernel_, {reduction::groups_for(tiles, groups_), group_size_}, arguments);
    const bool aligned = position % (std::uint64_t{1} << (at + again_bits)) == 0;
    if (tiles <= kFew || !aligned) return;
    tiles >>= again_bits;
    at += again_bits;
    to.reduced = tiles << again_bits;
    data = {to.products, std::uint64_t{0}};
  }
}

void DeviceProduct::launch_tiles(const device::Memory& data, std::uint64_t offset, std::uint64_t tiles, const device::Memory& to) {
  const device::Argument arguments[] = {data, offset, tiles, to};
  device_.launch(kernel_, {reduction::groups_for(tiles, groups_), group_size_}, arguments);
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
void append_on_device(View data, device::Device& device, bool skip, const Tuning& tuning, Tree<T>& tree, Report& report) {
  if (data.size() == 0) return;
  // What a launch leaves belongs to its DeviceProduct: one for each lane.
  std::vector<std::shared_ptr<DeviceProduct>> products{take_product(device, data.type(), skip, tuning)};
  const int level = products[0]->level();
  const std::uint64_t chunk = device::chunk_size(device.info(), data.type(), data.size(), std::uint64_t{1} << level), begin = tree.size();
  if (device::upload_lanes(data.size(), chunk) > 1) products.push_back(take_product(device, data.type(), skip, tuning));
  device::for_uploaded(
      device, std::span(&data, 1), chunk, &report,
      [&](std::size_t lane, std::span<const device::Memory> memories, std::uint64_t first, std::uint64_t count) {
        products[lane]->launch(memories[0], count >> level, begin + first);
      },
      [&](std::size_t lane, std::uint64_t, std::uint64_t) { products[lane]->collect(tree); });
  report.configuration = products[0]->text();
  for (std::shared_ptr<DeviceProduct>& product : products)
    device.plans().give_back(product_name(data.type(), skip, tuning), std::move(product));
}

template <class T>
void append_on_device(const device::Run& data, device::Device& device, DeviceProduct& product, Tree<T>& tree, Report& report) {
  const device::Mark start = report.device.empty() ? device::Mark{} : device.mark();
  product.launch(data.memory, data.count >> product.level(), tree.size(), data.offset);
  if (!report.device.empty()) report.seconds += device.seconds_between(start, device.mark());
  product.collect(tree);
  report.configuration = product.text();
}

template <class T>
void append_terms(statistics::Terms& terms, bool skip, const Tuning& options, std::uint64_t most, Tree<T>& tree, Report& report,
                  const std::function<void(std::uint64_t)>& done) {
  device::Device& device = terms.device();
  const device::Lock lock(device.mutex());
  const device::Mark start = report.device.empty() ? device::Mark{} : device.mark();
  std::shared_ptr<DeviceProduct> product;
  std::string name;
  most = terms.part_size(most);
  for (std::uint64_t first = 0; first < terms.size(); first += most) {
    const std::uint64_t count = std::min(most, terms.size() - first);
    // Tiles begin at multiples of their size in the tree. How large they are follows from the code alone.
    std::uint32_t head = 0;
    if (product) head = static_cast<std::uint32_t>(std::min(product->leaves_before_tile(tree.size()), count));
    statistics::Term term = terms.part(first, count, head, lock);
    if (!product) {
      name = fmt::format("{} of {}", product_name(terms.type(), skip, options), term.code.text);
      product = device.plans().take_or<DeviceProduct>(
          name, [&] { return std::make_shared<DeviceProduct>(device, terms.type(), skip, options, &term.code); });
      head = static_cast<std::uint32_t>(std::min(product->leaves_before_tile(tree.size()), count));
      if (head != 0) term = terms.part(first, count, head, lock);
    }
    product->use(term.code);
    product->append_leaves(term, 0, head, tree);
    const std::uint64_t tiles = (count - head) >> product->level(), whole = tiles << product->level();
    product->launch(term, tiles, tree.size());
    if (tiles != 0) product->collect(tree);
    product->append_leaves(term, head + whole, count - head - whole, tree);
    terms.check(lock);
    const device::Unlocked unlocked(device.mutex());
    done(count);
  }
  if (!report.device.empty()) report.seconds += device.seconds_between(start, device.mark());
  report.configuration = product->text();
  device.plans().give_back(name, std::move(product));
}

std::string product_name(DType type, bool skip, const Tuning& options) {
  return fmt::format("product {} {} {} {}", name_of(type), skip, options.group_size, options.groups);
}

std::shared_ptr<DeviceProduct> take_product(device::Device& device, DType type, bool skip, const Tuning& options) {
  return device.plans().take_or<DeviceProduct>(product_name(type, skip, options),
                                               [&] { return std::make_shared<DeviceProduct>(device, type, skip, options); });
}

template void append_terms<float>(statistics::Terms&, bool, const Tuning&, std::uint64_t, Tree<float>&, Report&,
                                  const std::function<void(std::uint64_t)>&);
template void append_terms<double>(statistics::Terms&, bool, const Tuning&, std::uint64_t, Tree<double>&, Report&,
                                   const std::function<void(std::uint64_t)>&);
template void DeviceProduct::collect<float>(Tree<float>&);
template void DeviceProduct::collect<double>(Tree<double>&);
template void append_on_device<float>(View, device::Device&, bool, const Tuning&, Tree<float>&, Report&);
template void append_on_device<double>(View, device::Device&, bool, const Tuning&, Tree<double>&, Report&);
template void append_on_device<float>(const device::Run&, device::Device&, DeviceProduct&, Tree<float>&, Report&);
template void append_on_device<double>(const device::Run&, device::Device&, DeviceProduct&, Tree<double>&, Report&);

}  // namespace samesum::product_tree
