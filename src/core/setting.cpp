#include "core/setting.hpp"

#include <samesum/error.hpp>
#include <samesum/settings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace samesum {
namespace {

struct Configured {
  std::atomic<bool> any{false};  // small sums ask, too
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> values;
};
Configured& configured() {
  static auto* const instance = new Configured();  // never destroyed, for use in static destructors
  return *instance;
}

}  // namespace

const std::vector<std::string_view>& settings() {
  static const std::vector<std::string_view> names{
      "SAMESUM_CACHE",  "SAMESUM_CACHE_DIR",    "SAMESUM_CUDA_LIBRARY",  "SAMESUM_DEVICE",         "SAMESUM_KERNELS", "SAMESUM_MASK",
      "SAMESUM_MEMORY", "SAMESUM_NCCL_LIBRARY", "SAMESUM_NVRTC_LIBRARY", "SAMESUM_OPENCL_LIBRARY", "SAMESUM_TUNING"};
  return names;
}

void configure(std::string_view name, std::optional<std::string> value) {
  if (std::ranges::find(settings(), name) == settings().end()) {
    throw Error(ErrorKind::usage, fmt::format("there is no setting '{}': there are {}", name, fmt::join(settings(), ", ")));
  }
  Configured& all = configured();
  const std::lock_guard lock(all.mutex);
  if (value) {
    all.values.insert_or_assign(std::string(name), std::move(*value));
  } else {
    all.values.erase(std::string(name));
  }
  all.any = true;
}

std::string core::setting(const char* name) {
  Configured& all = configured();
  if (all.any) {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.values.find(name); found != all.values.end()) return found->second;
  }
  const char* const variable = std::getenv(name);
  return variable == nullptr ? std::string() : std::string(variable);
}

}  // namespace samesum
