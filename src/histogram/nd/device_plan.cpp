#include "histogram/nd/device_plan.hpp"

#include <algorithm>

namespace samesum::binning {

DevicePlan::DevicePlan(device::Device& device, const Plan& plan)
    : plan_(plan), doubles_(plan.type() == DType::float64 && device.info().has(Capability::fp64)), group_size_(group_size(device.info())) {
  if (plan.by_value()) {
    thresholds_ = upload(device, plan.pattern_slots());
    words_ = device.allocate(16);
    return;
  }
  guess_ = Guess::even;
  if (!guesses_evenly(device.info(), plan)) {
    trie_ = plan.trie(Trie::kLow, device.info().has(Capability::denormals));
    guess_ = trie_.by_value ? Guess::trie_by_value : Guess::trie;
  }
  thresholds_ = upload_thresholds(device, plan, guess_);
  words_ = upload(device, trie_.words);
}

device::Source DevicePlan::source(std::string_view file, std::vector<std::pair<std::string, std::string>> defines) const {
  const std::size_t bytes = size_of(plan_.type());
  const int element = bytes == 1 ? 0 : bytes == 2 ? 1 : 2 + static_cast<int>(plan_.element());
  defines.emplace_back("SAMPLE_TYPE", std::to_string(element));
  defines.emplace_back("GUESS", std::to_string(static_cast<int>(guess_)));
  defines.emplace_back("COPY_BITS", "0");
  defines.emplace_back("EDGES_LOCAL", "0");
  defines.emplace_back("GROUP_SIZE", std::to_string(group_size_));
  return {{"histogram/slots.cl", "histogram/nd/plan_parameters.h", file}, std::move(defines)};
}

void DevicePlan::add_to(std::vector<device::Argument>& arguments) const {
  if (size_of(plan_.type()) != 8) return add_typed<std::uint32_t, float>(arguments);
  doubles_ ? add_typed<std::uint64_t, double>(arguments) : add_typed<std::uint64_t, float>(arguments);
}

template <class Key, class Real>
void DevicePlan::add_typed(std::vector<device::Argument>& arguments) const {
  Key first = static_cast<Key>(trie_.first);
  Real low{}, scale{}, top{}, tolerance{}, last_tolerance{};
  const auto set = [&](const auto& guess) {
    low = static_cast<Real>(guess.low);
    scale = static_cast<Real>(guess.scale);
    top = static_cast<Real>(guess.top);
  };
  if (guess_ == Guess::even) {
    set(*plan_.even());
    first = static_cast<Key>(plan_.even()->first);
    tolerance = static_cast<Real>(plan_.even()->tolerance);
    last_tolerance = static_cast<Real>(plan_.even()->last_tolerance);
  } else {
    set(trie_);
  }
  const Key flip = is_signed(plan_.type()) ? Key{1} << (8 * sizeof(Key) - 1) : Key{0};
  const auto count = static_cast<std::uint32_t>(plan_.by_value() ? 0 : plan_.thresholds().size());
  arguments.insert(arguments.end(), {thresholds_, count, static_cast<std::uint32_t>(plan_.nan_slot()), words_, trie_.shift, first,
                                     static_cast<Key>(trie_.span), flip, low, scale, top, tolerance, last_tolerance});
}

groups::Indexing index_of_samples(const DevicePlan& plan) {
  device::Source source = plan.source("histogram/nd/index_of_sample.h", {});
  std::erase_if(source.defines, [](const auto& define) { return define.first == "GROUP_SIZE"; });
  groups::Indexing indexing{std::move(source.files), std::move(source.defines), {}};
  plan.add_to(indexing.arguments);
  return indexing;
}

}  // namespace samesum::binning
