#include "device/capability.hpp"
#include "core/setting.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace samesum {
namespace {

constexpr std::pair<Capability, std::string_view> kNames[] = {
    {Capability::kernels, "kernels"},
    {Capability::fp64, "fp64"},
    {Capability::int64_atomics, "int64_atomics"},
    {Capability::subgroups, "subgroups"},
    {Capability::device_fence, "device_fence"},
    {Capability::unfused, "unfused"},
    {Capability::division, "division"},
    {Capability::square_root, "square_root"},
    {Capability::fma, "fma"},
    {Capability::denormals, "denormals"},
};

}  // namespace

std::string_view name_of(Capability capability) noexcept {
  for (const auto& [known, name] : kNames) {
    if (known == capability) return name;
  }
  return "unknown";
}

bool DeviceInfo::has(Capability capability) const noexcept {
  return std::none_of(missing.begin(), missing.end(), [=](const Missing& lacking) { return lacking.capability == capability; });
}

std::string_view DeviceInfo::why_not(Capability capability) const noexcept {
  for (const Missing& lacking : missing) {
    if (lacking.capability == capability) return lacking.reason;
  }
  return {};
}

}  // namespace samesum

namespace samesum::device {
namespace {

constexpr std::string_view kSyntax =
    "it takes capabilities (fp64, int64_atomics, subgroups, device_fence, unfused, division, square_root, fma, denormals) and limits "
    "(local=BYTES, group=WORK-ITEMS, allocation=BYTES), separated by commas";

std::uint64_t parse_limit(std::string_view word, std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value == 0) {
    throw Error(ErrorKind::usage, fmt::format("SAMESUM_MASK: '{}' needs a positive whole number after '='", word));
  }
  return value;
}

void apply_word(DeviceInfo& info, std::string_view word) {
  if (const auto equals = word.find('='); equals != std::string_view::npos) {
    const std::string_view key = word.substr(0, equals);
    const std::uint64_t limit = parse_limit(word, word.substr(equals + 1));
    if (key == "local") {
      info.local_bytes = std::min(info.local_bytes, limit);
      return;
    }
    if (key == "group") {
      info.max_group_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(info.max_group_size, limit));
      return;
    }
    if (key == "allocation") {
      info.max_allocation_bytes = std::min(info.max_allocation_bytes, limit);
      return;
    }
  }
  for (const auto& [capability, name] : kNames) {
    if (word != name || capability == Capability::kernels) continue;
    if (info.has(capability)) info.missing.push_back({capability, "masked by SAMESUM_MASK"});
    return;
  }
  throw Error(ErrorKind::usage, fmt::format("SAMESUM_MASK: '{}' is not known; {}", word, kSyntax));
}

}  // namespace

std::string current_mask() { return core::setting("SAMESUM_MASK"); }

void apply_mask(DeviceInfo& info) {
  if (!info.has(Capability::kernels)) return;
  const std::string mask = current_mask();
  for (std::string_view rest = mask; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    const auto first = word.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    apply_word(info, word.substr(first, word.find_last_not_of(' ') - first + 1));
  }
}

}  // namespace samesum::device
