// Exact sums in device memory (words.cl).
#include "core/float_environment.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "nccl/words.hpp"

#include <samesum/device/exact_sum.h>
#include <samesum/error.hpp>
#include <samesum/nccl.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace samesum::nccl {
namespace {

using device::Lock;

constexpr std::uint32_t kGroup = 256;
constexpr std::uint32_t kGroupsOfUnit = 8;  // launched for each compute unit
// Between two normalizations: each element adds to the words twice at most, as a product, and they have room for 2^30 additions.
constexpr std::uint64_t kMax = std::uint64_t{1} << 28;

bool is_wide(DType type) { return type == DType::float64; }
// Elements that a work-item loads before it adds the first: with more, registers are spilled.
std::uint32_t loads_of(DType type, bool products) { return !is_wide(type) ? 8 : products ? 2 : 4; }

}  // namespace

device::Source words_source(DType type, bool products) {
  return {{"samesum/device/exact_sum.h", "nccl/words.cl"},
          {{"REAL", is_wide(type) ? "double" : "float"},
           {"WIDE", is_wide(type) ? "1" : "0"},
           {"PRODUCTS", products ? "1" : "0"},
           {"GROUP", std::to_string(kGroup)},
           {"LOADS", std::to_string(loads_of(type, products))}}};
}

std::uint64_t words_of(DType type, bool products) {
  if (products) return (is_wide(type) ? 3 : 1) * EXACT_SUM_WORDS(EXACT_SUM_FLOAT64);
  return is_wide(type) ? EXACT_SUM_WORDS(EXACT_SUM_FLOAT64) : EXACT_SUM_WORDS(EXACT_SUM_FLOAT32);
}

struct Sum::State {
  Device device;
  DType type;
  bool products;
  Buffer words, tickets;  // tickets: of the groups that have added
  device::Kernel clear = {}, add = {}, normalize = {}, round = {};

  void launch(const device::Kernel& kernel, std::uint32_t groups, std::uint32_t size, std::initializer_list<device::Argument> arguments) {
    device.implementation().launch(kernel, {groups, size}, std::span(arguments.begin(), arguments.size()));
  }
  void add_runs(const Array& a, const Array& b);
};

Sum::Sum(const Device& device, DType type, Of what) {
  const core::DefaultFloatEnvironment environment;
  if (type != DType::float32 && type != DType::float64) {
    throw Error(ErrorKind::usage, fmt::format("sums that stay on the device are of float32 and float64, not of {}", name_of(type)));
  }
  for (const Capability needed : {Capability::kernels, Capability::fp64, Capability::int64_atomics}) {
    if (device.info().has(needed)) continue;
    throw Error(ErrorKind::device, fmt::format("{} cannot keep exact sums: it lacks {} ({})", device.info().selector, name_of(needed),
                                               device.info().why_not(needed)));
  }
  const bool products = what == Of::products;
  state_ = std::make_shared<State>(State{device, type, products, Buffer(device, 8 * words_of(type, products)), Buffer(device, 8)});
  {
    device::Device& implementation = device.implementation();
    const Lock lock(implementation.mutex());
    const device::Source source = words_source(type, products);
    state_->clear = device::build(implementation, source, "words_clear");
    state_->add = device::build(implementation, source, "words_add");
    state_->normalize = device::build(implementation, source, "words_normalize");
    state_->round = device::build(implementation, source, "words_round");
  }
  clear();
}

void Sum::clear() {
  const core::DefaultFloatEnvironment environment;
  const Lock lock(state_->device.implementation().mutex());
  state_->launch(state_->clear, 1, kGroup, {state_->words.state().memory, state_->tickets.state().memory});
}

void Sum::State::add_runs(const Array& a, const Array& b) {
  const core::DefaultFloatEnvironment environment;
  const core::Order order = products ? core::Order::index : core::Order::memory;
  const device::Run one = device::planned_run(a, order, device, type, Layout::contiguous);
  const device::Run other = device::planned_run(b, order, device, type, Layout::contiguous);
  const std::uint64_t size = size_of(type), tile = std::uint64_t{kGroup} * loads_of(type, products);
  const std::uint32_t most_groups = std::max(device.info().compute_units, 1u) * kGroupsOfUnit;
  const Lock lock(device.implementation().mutex());
  for (std::uint64_t done = 0; done < one.count; done += kMax) {
    const std::uint64_t count = std::min(kMax, one.count - done);
    const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>((count + tile - 1) / tile, most_groups));
    launch(add, groups, kGroup,
           {one.memory, one.offset / size + done, other.memory, other.offset / size + done, count, words.state().memory,
            tickets.state().memory});
    if (!device.info().has(Capability::device_fence)) launch(normalize, 1, kGroup, {words.state().memory});
  }
}

void Sum::add(const Array& x) {
  if (state_->products) throw Error(ErrorKind::usage, "a sum of products takes two arrays");
  state_->add_runs(x, x);
}

void Sum::add(const Array& a, const Array& b) {
  if (!state_->products) throw Error(ErrorKind::usage, "a sum of elements takes one array; Sum::Of::products takes two");
  if (a.size() != b.size()) {
    throw Error(ErrorKind::usage, fmt::format("the arrays have {} and {} elements: products need as many", a.size(), b.size()));
  }
  state_->add_runs(a, b);
}

void Sum::all_reduce(const Communicator& rank) { rank.all_reduce(state_->words, state_->words.bytes() / 8); }

void Sum::round(const Buffer& to, std::uint64_t offset) {
  const core::DefaultFloatEnvironment environment;
  const device::Place place = device::place_in(to, offset, "a double", sizeof(double), state_->device);
  const Lock lock(state_->device.implementation().mutex());
  state_->launch(state_->round, 1, kGroup, {state_->words.state().memory, place.memory, place.offset});
}

const Buffer& Sum::words() const noexcept { return state_->words; }

}  // namespace samesum::nccl
