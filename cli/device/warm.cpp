// samesum warm
#include "command.hpp"
#include "compute/summing.hpp"
#include "input/elements.hpp"
#include "output/number.hpp"
#include "output/progress.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/warm.hpp>

#include <memory>

namespace samesum::cli {
namespace {

struct WarmCommand {
  std::string device = "all";
  std::vector<std::string> types;
  WarmOptions warm;
  bool json = false;
};

// Of all devices those that compile kernels; one that is named is refused by warm() if it does not.
std::vector<DeviceInfo> to_warm(const std::string& selector) {
  if (!means_all(selector)) return {Device::open(selector).info()};
  std::vector<DeviceInfo> devices = list_devices().devices;
  std::erase_if(devices, [](const DeviceInfo& info) { return !info.has(Capability::kernels); });
  return devices;
}

void print_warmed(Output& out, const DeviceInfo& info, const WarmResult& result, bool json) {
  if (json) {
    out.print("{}\n", to_text(Json{{"device", info.selector},
                                   {"name", info.name},
                                   {"calls", result.calls},
                                   {"programs", result.programs},
                                   {"compiled", result.compiled},
                                   {"failures", result.failures},
                                   {"seconds", rounded_seconds(result.seconds)}}));
    return;
  }
  out.print("{:<9}  {} of {} programs compiled, {:.1f} s  {}\n", info.selector, grouped(result.compiled), grouped(result.programs),
            result.seconds, out.dim(info.name));
  for (const std::string& failure : result.failures) out.print("           {}\n", out.bad(failure));
}

int run(Output& out, WarmCommand options) {
  for (const std::string& type : options.types) options.warm.types.push_back(parse_raw_type(type).type);
  const std::vector<DeviceInfo> devices = to_warm(options.device);
  bool failed = false;
  for (const DeviceInfo& info : devices) {
    WarmResult result;
    {
      const StatusLine line;
      options.warm.progress = [&](const samesum::Progress& progress, std::string_view what) {
        StatusLine::show(fmt::format("{}: {:.0f}%, {}", info.selector, 100 * progress.fraction(), what));
        return true;
      };
      result = warm(Device::open(info.selector), options.warm);
    }
    print_warmed(out, info, result, options.json);
    out.flush();
    failed |= !result.failures.empty();
  }
  if (devices.empty() && !options.json) out.print("There is no device here that compiles kernels: nothing to do.\n");
  return failed ? kExitNoAnswer : kExitOk;
}

}  // namespace

void add_warm(CLI::App& program, Action& action) {
  const auto options = std::make_shared<WarmCommand>();
  CLI::App* command = program.add_subcommand("warm", "Compile kernels before they are needed");
  command->add_option("--device", options->device, "all (default), or a single one")->type_name("DEVICE");
  command->add_option("--operation", options->warm.operations, "sum, dot, histogram, pairs ... (default: all)")
      ->take_all()
      ->option_text("NAME");
  command->add_option("--dtype", options->types, "default: all types of elements")->take_all()->type_name("TYPE");
  command->add_flag("--json", options->json, "print a line of JSON for each device");
  command->footer(R"(Examples:
  samesum warm                         # every device that compiles kernels
  samesum warm --device opencl:0 --operation sum --operation histogram
  samesum warm --dtype float32         # for these elements alone

Makes a call of each kind: sum, dot, extrema, statistics, product, axes, index, scan,
histogram, pairs. What is compiled for them is kept in the cache of kernels, so that no
later call waits for a compiler. That takes minutes, on a CPU's OpenCL many of them; when
it is interrupted, the next one goes on. Kernels of formulas and operators are compiled
when they are met. Exit code 1 if a call fails.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
