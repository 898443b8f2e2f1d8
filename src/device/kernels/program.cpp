#include "device/kernels/program.hpp"

#include "device/kernels/hash.hpp"
#include "device/kernels/kernel_cache.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace samesum::device {
namespace {

using Defines = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kCacheFormat = "samesum kernel 1";

// The capabilities that kernels depend on, as the names that preludes and kernels test with #if.
constexpr std::pair<Capability, std::string_view> kCapabilityDefines[] = {
    {Capability::fp64, "SAMESUM_FP64"},           {Capability::int64_atomics, "SAMESUM_INT64_ATOMICS"},
    {Capability::subgroups, "SAMESUM_SUBGROUPS"}, {Capability::device_fence, "SAMESUM_DEVICE_FENCE"},
    {Capability::denormals, "SAMESUM_DENORMALS"},
};

Source with_capabilities(const DeviceInfo& info, const Source& source) {
  Source result = source;
  for (const auto& [capability, name] : kCapabilityDefines) result.defines.emplace_back(name, info.has(capability) ? "1" : "0");
  return result;
}

void append_file(std::string& text, std::string_view path) {
  text.append("#line 1 \"").append(path).append("\"\n").append(kernel_file(path)).append("\n");
}

std::string configuration_of(const Source& source) {
  std::string text;
  for (const auto& [name, value] : source.defines) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string memory_key(const Source& source) {
  std::string key;
  for (const auto* files : {&source.files, &source.after}) {
    for (const std::string_view file : *files) key.append(file).push_back('\n');
    key.push_back('\n');
  }
  for (const auto& [name, value] : source.defines) key.append(name).append("=").append(value).push_back('\n');
  return key + source.text;
}

// Whether a kernel waits for preceding launches: all kernels of a file do, or none; unknown for a user's kernel.
bool waits_for_launches(const Source& source) {
  return source.text.empty() && std::any_of(source.files.begin(), source.files.end(), [](std::string_view file) {
           return kernel_file(file).find("grid_dependency_wait()") != std::string_view::npos;
         });
}

[[noreturn]] void fail(const Device& device, std::string_view entry, const Source& source, const Error& cause) {
  const std::string_view what = cause.what();
  Error::Context context = cause.context();
  context.device = label(device.info());
  context.kernel = entry;
  context.configuration = configuration_of(source);
  // Only the first line: the rest repeats the context.
  throw Error(ErrorKind::device, fmt::format("cannot build the kernel '{}': {}", entry, what.substr(0, what.find('\n'))), context);
}

Kernel load_or_compile(Device& device, const Source& source, std::string_view entry, Built& built) try {
  const std::string name(entry);
  if (!built.binary.bytes.empty()) return device.load(built.binary, name);

  const DeviceInfo& info = device.info();
  const std::string language = device.language() == Language::cuda ? "cuda" : "opencl";
  const std::string text = assemble(device.language(), source);
  const std::string key = hash_of({kCacheFormat, language, text, info.name, info.platform, info.driver, device.compiler_identity()});
  const auto load = [&](std::optional<Binary> found) -> std::optional<Kernel> {
    if (!found) return std::nullopt;
    try {
      Kernel kernel = device.load(*found, name);
      built.binary = std::move(*found);
      return kernel;
    } catch (const Error&) {  // a damaged entry, or one that this driver refuses, is compiled anew
      return std::nullopt;
    }
  };
  if (auto kernel = load(device.cached() ? find_cached(key) : std::nullopt)) return *kernel;
  for (Binary& found : device.shipped(text)) {
    if (auto kernel = load(std::move(found))) return *kernel;
  }
  Binary fresh = device.compile(text);
  Kernel kernel = device.load(fresh, name);
  if (device.cached()) keep_cached(key, fresh);
  built.binary = std::move(fresh);
  built.compiled = true;
  return kernel;
} catch (const Error& error) {
  fail(device, entry, source, error);
}

}  // namespace

std::string assemble(Language language, const Source& source) {
  std::string text = "#line 1 \"defines\"\n";
  for (const auto& [name, value] : source.defines) text.append("#define ").append(name).append(" ").append(value).append("\n");
  if (language == Language::cuda) {
    // Every CUDA device has these; those that a mask takes away are defined as 0 above.
    for (const auto& [capability, name] : kCapabilityDefines) text += fmt::format("#ifndef {0}\n#define {0} 1\n#endif\n", name);
  }
  append_file(text, language == Language::cuda ? "device/dialect/cuda.h" : "device/dialect/opencl.h");
  append_file(text, "device/dialect/ptx.h");
  for (const std::string_view file : source.files) append_file(text, file);
  if (!source.text.empty()) text.append("#line 1 \"kernel\"\n").append(source.text).append("\n");
  for (const std::string_view file : source.after) append_file(text, file);
  return text;
}

Kernel build(Device& device, const Source& source, std::string_view entry) {
  if (!device.info().has(Capability::kernels)) {
    Error::Context context;
    context.device = label(device.info());
    context.kernel = entry;
    throw Error(ErrorKind::device, fmt::format("this device runs no kernels: {}", device.info().why_not(Capability::kernels)), context);
  }
  Built& built = device.built()[memory_key(source)];
  if (const auto found = built.kernels.find(entry); found != built.kernels.end()) return found->second;
  Kernel kernel = load_or_compile(device, with_capabilities(device.info(), source), entry, built);
  kernel.early = waits_for_launches(source);
  return built.kernels.emplace(entry, std::move(kernel)).first->second;
}

}  // namespace samesum::device
