// Products of integers on a device by kernels (product.cl).
#include "core/view.hpp"
#include "product/product.hpp"

#include "core/threads/chunks.hpp"
#include "device/memory/upload.hpp"
#include "reduce/device/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum::product_tree {
namespace {

constexpr std::uint32_t kUnitSize = 1024;  // work-items on a compute unit, where the device cannot tell

}  // namespace

IntegerProducts::IntegerProducts(device::Device& device, DType type, const Tuning& tuning, const device::Source& source)
    : device_(device), type_(type), group_size_(tile_shape(device.info(), tuning).group_size) {
  kernel_ = device::build(device, source, "product");
  tile_ = std::uint64_t{group_size_} * elements_per_load(type);
  const std::uint32_t resident = reduction::resident_groups(device, kernel_, group_size_, std::max(kUnitSize / group_size_, 1u));
  most_groups_ = tuning.groups != 0 ? tuning.groups : resident;
  records_ = device.allocate(std::uint64_t{16} * most_groups_);
}

IntegerProducts::IntegerProducts(device::Device& device, const statistics::TermCode& term, const Tuning& tuning)
    : IntegerProducts(device, term.type, tuning, product_source(term.type, false, tile_shape(device.info(), tuning).group_size, 1, &term)) {
  use(term);
}

void IntegerProducts::use(const statistics::TermCode& term) {
  if (term.text == term_) return;
  const device::Source source = product_source(type_, false, group_size_, 1, &term);
  kernel_ = device::build(device_, source, "product");
  leaves_kernel_ = device::build(device_, source, "product_leaves");
  term_ = term.text;
}

std::uint32_t IntegerProducts::launch(std::vector<device::Argument> elements, std::uint64_t count) {
  const std::uint32_t groups = reduction::groups_for(count / tile_, most_groups_);
  elements.insert(elements.end(), {count, records_});
  device_.launch(kernel_, {groups, group_size_}, elements);
  return groups;
}

std::uint32_t IntegerProducts::launch(const device::Memory& memory, std::uint64_t offset, std::uint64_t count) {
  return launch({memory, offset}, count);
}

std::uint32_t IntegerProducts::launch(const statistics::Term& term) { return launch(arguments_of(term), term.count); }

void IntegerProducts::multiply_on_host(const statistics::Term& term, std::uint32_t threads, IntegerProduct& product) {
  constexpr std::uint64_t kPart = std::uint64_t{1} << 20;
  const std::uint64_t part = std::min(kPart, term.count);
  std::vector<std::byte> leaves(part * size_of(type_));
  if (leaves_.bytes < leaves.size()) leaves_ = device_.allocate(leaves.size());
  for (std::uint64_t first = 0; first < term.count; first += part) {
    const std::uint64_t count = std::min(part, term.count - first);
    std::vector<device::Argument> arguments = arguments_of(term);
    arguments.insert(arguments.end(), {first, count, leaves_});
    device_.launch(leaves_kernel_, {reduction::groups_for(count / group_size_, most_groups_), group_size_}, arguments);
    device_.read(leaves_, 0, leaves.data(), count * size_of(type_));
    multiply(View(leaves.data(), count, type_), threads, product);
  }
}

bool IntegerProducts::collect(std::uint32_t groups, IntegerProduct& product) {
  std::vector<std::uint64_t> records(2 * std::size_t{groups});
  device_.read(records_, 0, records.data(), 8 * records.size());
  bool negative = false, zero = false, too_large = false;
  for (std::uint32_t i = 0; i < groups; ++i) {
    zero |= (records[2 * i] & 1) != 0;
    negative ^= (records[2 * i] & 2) != 0;
    too_large |= (records[2 * i] & 4) != 0;
  }
  if (too_large && !zero && !product.has_no_digits()) return false;
  // Beyond 64 bits a record's magnitude is that of some of its elements: no more is needed there.
  for (std::uint32_t i = 0; i < groups; ++i) product.multiply(records[2 * i + 1], false);
  product.multiply(zero ? 0 : 1, negative);
  return true;
}

std::string IntegerProducts::text() const { return fmt::format("groups={} group_size={}", most_groups_, group_size_); }

namespace {

std::string integers_name(DType type, const Tuning& tuning) {
  return fmt::format("integer product {} {} {}", name_of(type), tuning.group_size, tuning.groups);
}

// Requires that the device's mutex is held.
std::shared_ptr<IntegerProducts> take_integers(device::Device& device, DType type, const Tuning& tuning) {
  return device.plans().take_or<IntegerProducts>(integers_name(type, tuning), [&] {
    const device::Source source = product_source(type, false, tile_shape(device.info(), tuning).group_size, 1);
    return std::make_shared<IntegerProducts>(device, type, tuning, source);
  });
}

void multiply_on_host(View part, const Tuning& tuning, IntegerProduct& product) {
  multiply(part, core::thread_count(part.bytes(), tuning.threads), product);
}

}  // namespace

void multiply_on_device(View data, device::Device& device, const Tuning& tuning, IntegerProduct& product, Report& report) {
  const std::lock_guard lock(device.mutex());
  if (data.size() == 0) return;
  std::vector<std::shared_ptr<IntegerProducts>> kernels{take_integers(device, data.type(), tuning)};  // one for each lane
  const std::uint64_t chunk = device::chunk_size(device.info(), data.type(), data.size(), kernels[0]->tile());
  if (device::upload_lanes(data.size(), chunk) > 1) kernels.push_back(take_integers(device, data.type(), tuning));
  std::uint32_t groups[2] = {};
  device::for_uploaded(
      device, std::span(&data, 1), chunk, &report,
      [&](std::size_t lane, std::span<const device::Memory> memories, std::uint64_t, std::uint64_t count) {
        groups[lane] = kernels[lane]->launch(memories[0], 0, count);
      },
      [&](std::size_t lane, std::uint64_t first, std::uint64_t count) {
        if (!kernels[lane]->collect(groups[lane], product)) multiply_on_host(data.part(first, count), tuning, product);
      });
  report.configuration = kernels[0]->text();
  for (std::shared_ptr<IntegerProducts>& kernel : kernels) device.plans().give_back(integers_name(data.type(), tuning), std::move(kernel));
}

void multiply_on_device(const device::Run& data, DType type, const samesum::Device& device, const Tuning& tuning, IntegerProduct& product,
                        Report& report) {
  device::Device& queue = device.implementation();
  std::shared_ptr<IntegerProducts> kernel;
  {
    const device::Lock lock(queue.mutex());
    kernel = take_integers(queue, type, tuning);
  }
  std::vector<std::byte> bytes;
  // Parts, as one that does not fit into 64 bits comes to the host.
  const std::uint64_t most = device::chunk_size(device.info(), type, data.count, kernel->tile());
  for (std::uint64_t first = 0; first < data.count; first += most) {
    const device::Run part = data.part(first, std::min(most, data.count - first));
    bool done = false;
    {
      const device::Lock lock(queue.mutex());
      done = kernel->collect(kernel->launch(part.memory, part.offset, part.count), product);
    }
    if (!done) multiply_on_host(device::read_run(device, part, type, bytes), tuning, product);
  }
  report.configuration = kernel->text();
  const device::Lock lock(queue.mutex());
  queue.plans().give_back(integers_name(type, tuning), std::move(kernel));
}

void multiply_terms(statistics::Terms& terms, const Tuning& options, std::uint64_t most, IntegerProduct& product, Report& report,
                    const std::function<void(std::uint64_t)>& done) {
  device::Device& device = terms.device();
  const device::Lock lock(device.mutex());
  const device::Mark start = report.device.empty() ? device::Mark{} : device.mark();
  std::shared_ptr<IntegerProducts> kernels;
  std::string name;
  // Parts, as values that do not fit into 64 bits are multiplied on the host.
  most = terms.part_size(std::min(most, device::chunk_size(device.info(), terms.type(), terms.size())));
  for (std::uint64_t first = 0; first < terms.size(); first += most) {
    const std::uint64_t count = std::min(most, terms.size() - first);
    const statistics::Term term = terms.part(first, count, std::nullopt, lock);
    if (!kernels) {
      name = fmt::format("{} of {}", integers_name(terms.type(), options), term.code.text);
      kernels =
          device.plans().take_or<IntegerProducts>(name, [&] { return std::make_shared<IntegerProducts>(device, term.code, options); });
    }
    kernels->use(term.code);
    const std::uint32_t groups = kernels->launch(term);
    terms.check(lock);
    if (!kernels->collect(groups, product)) {
      kernels->multiply_on_host(term, core::thread_count(count * size_of(terms.type()), options.threads), product);
    }
    const device::Unlocked unlocked(device.mutex());
    done(count);
  }
  if (!report.device.empty()) report.seconds += device.seconds_between(start, device.mark());
  report.configuration = kernels->text();
  device.plans().give_back(name, std::move(kernels));
}

}  // namespace samesum::product_tree
