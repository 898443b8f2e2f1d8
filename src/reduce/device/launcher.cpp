#include "reduce/device/launcher.hpp"

#include "core/float_format.hpp"

namespace samesum::reduction {

bool can_poll(const DeviceInfo& info) {
  return info.has(Capability::subgroups) && info.has(Capability::int64_atomics) && info.compute_units > 1 && info.max_group_size >= 1024;
}

std::vector<std::pair<std::string, std::string>> element_defines(DType type) {
  const core::FloatFormat format = core::float_format(type);
  device::Source source;
  add_defines(source, {{"BITS", 8 * size_of(type)},
                       {"FLOATS", !is_integer(type)},
                       {"SIGNED", is_signed(type)},
                       {"EXPONENT_BITS", format.exponent_bits},
                       {"FRACTION_BITS", format.fraction_bits},
                       {"LOWEST_BIT", format.lowest_bit()}});
  return std::move(source.defines);
}

void add_defines(device::Source& source, std::initializer_list<std::pair<std::string_view, std::int64_t>> defines) {
  for (const auto& [name, value] : defines) source.defines.emplace_back(name, std::to_string(value));
}

device::Memory allocate_zeros(device::Device& device, std::uint64_t bytes) {
  const std::vector<std::byte> zeros(bytes);
  device::Memory memory = device.allocate(bytes);
  device.write(memory, 0, zeros.data(), bytes);
  return memory;
}

void Launcher::prepare(bool strided) {
  if (kernels_[strided].handle != nullptr) return;
  const device::Source source = source_(strided);
  if (!finish_.empty()) finish_kernels_[strided] = device::build(*device_, source, finish_);
  kernels_[strided] = device::build(*device_, source, entry_);
}

std::uint32_t Launcher::resident_groups(std::uint32_t of_unit) {
  prepare(false);
  return reduction::resident_groups(*device_, kernels_[0], group_size_, of_unit);
}

std::uint32_t Launcher::launch(bool strided, std::uint64_t tiles, std::uint32_t most_groups, std::span<const device::Argument> arguments) {
  prepare(strided);
  const std::uint32_t groups = groups_for(tiles, most_groups);
  device_->launch(kernels_[strided], {groups, group_size_}, arguments);
  return groups;
}

void Launcher::finish(bool strided, std::span<const device::Argument> arguments) {
  device_->launch(finish_kernels_[strided], {1, group_size_}, arguments);
}

}  // namespace samesum::reduction
