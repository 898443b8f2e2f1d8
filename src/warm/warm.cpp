#include <samesum/error.hpp>
#include <samesum/warm.hpp>

#include "device/device.hpp"
#include "warm/calls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace samesum {

std::vector<std::string_view> warm_operations() {
  return {"sum", "dot", "extrema", "statistics", "product", "axes", "index", "scan", "histogram", "pairs"};
}

WarmResult warm(const Device& device, const WarmOptions& options) {
  const DeviceInfo& info = device.info();
  if (!info.has(Capability::kernels)) {
    throw Error(ErrorKind::usage, fmt::format("{} compiles no kernels: {}", info.selector, info.why_not(Capability::kernels)));
  }
  const std::vector<std::string_view> known = warm_operations();
  for (const std::string& operation : options.operations) {
    if (std::ranges::find(known, operation) != known.end()) continue;
    throw Error(ErrorKind::usage, fmt::format("no operation '{}': there are {}", operation, fmt::join(known, ", ")));
  }
  const auto start = std::chrono::steady_clock::now();
  const auto among = [](const auto& wanted, const auto& one) { return wanted.empty() || std::ranges::find(wanted, one) != wanted.end(); };
  std::vector<warming::Call> calls = warming::plain_calls(device);
  std::erase_if(calls,
                [&](const warming::Call& call) { return !among(options.operations, call.operation) || !among(options.types, call.type); });
  WarmResult result;
  for (const warming::Call& call : calls) {
    const std::string what = fmt::format("{} of {}", call.operation, name_of(call.type));
    if (options.progress && !options.progress({result.calls, calls.size()}, what)) {
      result.complete = false;
      break;
    }
    ++result.calls;
    try {
      call.run();
    } catch (const Error& error) {
      const std::string_view why = error.what();
      std::string failure = fmt::format("{}: {}", what, why.substr(0, why.find('\n')));
      if (std::ranges::find(result.failures, failure) == result.failures.end()) result.failures.push_back(std::move(failure));
    }
  }
  device::Device& implementation = device.implementation();
  const device::Lock lock(implementation.mutex());
  for (const auto& [source, built] : implementation.built()) {
    result.programs += !built.kernels.empty();
    result.compiled += built.compiled;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace samesum
