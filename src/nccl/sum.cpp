// Exact sums in device memory: a pass over the elements, and a small kernel that takes over what it leaves (words.cl).
#include "core/float_environment.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "nccl/words.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/small/small_sum_device.hpp"

#include <samesum/error.hpp>
#include <samesum/nccl.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum::nccl {
namespace {

using device::Lock;
using statistics::DevicePass;

constexpr std::uint32_t kGroup = 160;  // work-items for all words
constexpr std::uint64_t kMostOfLaunch = std::uint64_t{1} << 30;

statistics::CollectOptions options_of(bool products) {
  statistics::CollectOptions options{.fields = {.extrema = false, .sum = !products, .squares = products, .nonzeros = false}};
  options.resident = true;
  return options;
}

}  // namespace

// Both kernels of a pass leave the same digits. Two more are for the sign and carries.
Words words_of(DType type, bool products) {
  const auto left = reduction::small_sum_entries(type, products ? reduction::Terms::products : reduction::Terms::elements);
  return {left.base, left.digits + 2};
}

device::Source words_source(DType type, bool products) {
  const Words words = words_of(type, products);
  return {
      {"exact/exact.h", "exact/exact_lanes.h", "reduce/layout.h", "nccl/words.cl"},
      {{"GROUP_SIZE", std::to_string(kGroup)}, {"BASE", "(" + std::to_string(words.base) + ")"}, {"DIGITS", std::to_string(words.digits)}}};
}

struct Sum::State {
  Device device;
  DType type;
  bool products;
  Buffer words;
  DevicePass pass;
  device::Kernel clear = {}, add = {}, round = {};

  State(const Device& on, DType of, bool of_products, Buffer memory, std::uint64_t elements)
      : device(on),
        type(of),
        products(of_products),
        words(std::move(memory)),
        pass(on.implementation(), of, options_of(of_products), of_products, elements) {
    const device::Source source = words_source(type, products);
    clear = device::build(device.implementation(), source, "words_clear");
    add = device::build(device.implementation(), source, "words_add");
    round = device::build(device.implementation(), source, "words_round");
    pass.prepare_all();
  }

  void launch(const device::Kernel& kernel, std::initializer_list<device::Argument> arguments) {
    device.implementation().launch(kernel, {1, kGroup}, std::span(arguments.begin(), arguments.size()));
  }
  void clear_words() { launch(clear, {words.state().memory}); }
  void add_runs(bool two, const Array& a, const Array& b, bool assign);
};

Sum::Sum(const Device& device, DType type, Of what, std::uint64_t elements) {
  const core::DefaultFloatEnvironment environment;
  if (type != DType::float32 && type != DType::float64) {
    throw Error(ErrorKind::usage, fmt::format("sums that stay on the device are of float32 and float64, not of {}", name_of(type)));
  }
  if (const Capability needed = Capability::kernels; !device.info().has(needed)) {
    throw Error(ErrorKind::device, fmt::format("{} cannot keep exact sums: it lacks {} ({})", device.info().selector, name_of(needed),
                                               device.info().why_not(needed)));
  }
  const bool products = what == Of::products;
  Buffer words(device, 8 * words_of(type, products).count());
  {
    const Lock lock(device.implementation().mutex());
    state_ = std::make_shared<State>(device, type, products, std::move(words), elements);
  }
  clear();
}

void Sum::clear() {
  const core::DefaultFloatEnvironment environment;
  const Lock lock(state_->device.implementation().mutex());
  state_->clear_words();
}

void Sum::State::add_runs(bool two, const Array& a, const Array& b, bool assign) {
  const core::DefaultFloatEnvironment environment;
  if (two != products) {
    throw Error(ErrorKind::usage,
                products ? "a sum of products takes two arrays" : "a sum of elements takes one array; Sum::Of::products takes two");
  }
  if (a.size() != b.size()) {
    throw Error(ErrorKind::usage, fmt::format("the arrays have {} and {} elements: products need as many", a.size(), b.size()));
  }
  const core::Order order = products ? core::Order::index : core::Order::memory;
  const device::Run one = device::planned_run(a, order, device, type, Layout::contiguous);
  const device::Run other = device::planned_run(b, order, device, type, Layout::contiguous);
  const Lock lock(device.implementation().mutex());
  if (assign && one.count == 0) clear_words();
  for (std::uint64_t done = 0; done < one.count; done += kMostOfLaunch) {
    const std::uint64_t count = std::min(kMostOfLaunch, one.count - done);
    pass.launch(one.part(done, count), other.part(done, count));
    const DevicePass::Digits left = pass.digits();
    const bool fixed = left.entries.lower_bits != 0;
    launch(add, {left.memory, left.first, left.entries.digits, left.entries.base, fixed ? left.entries.fixed_words : 0,
                 left.entries.lower_bits, left.entries.first_bits, count, words.state().memory, std::uint32_t{assign && done == 0}});
  }
}

void Sum::add(const Array& x) { state_->add_runs(false, x, x, false); }
void Sum::add(const Array& a, const Array& b) { state_->add_runs(true, a, b, false); }
void Sum::assign(const Array& x) { state_->add_runs(false, x, x, true); }
void Sum::assign(const Array& a, const Array& b) { state_->add_runs(true, a, b, true); }

void Sum::all_reduce(const Communicator& rank) { rank.all_reduce(state_->words, state_->words.bytes() / 8); }

void Sum::round(const Buffer& to, std::uint64_t offset) {
  const core::DefaultFloatEnvironment environment;
  const device::Place place = device::place_in(to, offset, "a double", sizeof(double), state_->device);
  const Lock lock(state_->device.implementation().mutex());
  state_->launch(state_->round, {state_->words.state().memory, place.memory, place.offset});
}

const Buffer& Sum::words() const noexcept { return state_->words; }

}  // namespace samesum::nccl
