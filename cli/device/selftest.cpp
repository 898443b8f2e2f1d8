// samesum selftest
#include "command.hpp"
#include "compute/summing.hpp"
#include "output/number.hpp"

#include <samesum/error.hpp>
#include <samesum/selftest.hpp>

#include <memory>

namespace samesum::cli {
namespace {

struct SelftestOptions {
  std::string device = "all";
  bool json = false;
};

std::vector<DeviceInfo> chosen(const std::string& selector) {
  if (means_all(selector)) return list_devices().devices;
  return {choose_device(selector, 0).info()};
}

// A device that cannot be opened has failed too.
SelftestResult examine(const DeviceInfo& info) {
  try {
    return selftest(Device::open(info.selector));
  } catch (const Error& error) {
    SelftestResult result;
    result.device = info;
    result.failures.push_back(error.what());
    return result;
  }
}

void print_text(Output& out, const SelftestResult& result) {
  out.print("{:<9}  {}  {:016x}  {} sums, {:.1f} s  {}\n", result.device.selector, result.passed() ? out.good("passed") : out.bad("FAILED"),
            result.hash, grouped(result.sums), result.seconds, out.dim(result.device.name));
  for (const std::string& failure : result.failures) out.print("           {}\n", failure);
}

int run(Output& out, const SelftestOptions& options) {
  std::string lines;
  std::size_t failed = 0;
  for (const DeviceInfo& info : chosen(options.device)) {
    const SelftestResult result = examine(info);
    failed += !result.passed();
    if (options.json) {
      out.print("{}\n", result.json());
    } else {
      print_text(out, result);
      lines += result.json() + "\n";
    }
    out.flush();  // prints each result at once, as devices may take a while
  }
  if (!options.json) {
    out.print("\n{}\n", failed == 0 ? out.good(fmt::format("All right: every hash is {:016x}, as on every sound device.", kSelftestHash))
                                    : out.bad(fmt::format("Something is wrong: every hash should be {:016x}.", kSelftestHash)));
    out.print("\nIf you report on this hardware, please send:\n{}", lines);
  }
  return failed == 0 ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_selftest(CLI::App& program, Action& action) {
  const auto options = std::make_shared<SelftestOptions>();
  CLI::App* command = program.add_subcommand("selftest", "Hard cases on every device: are the bits right?");
  command->add_option("--device", options->device, "all (default), or a single one")->type_name("DEVICE");
  command->add_flag("--json", options->json, "print a line of JSON for each device");
  command->footer(R"(Examples:
  samesum selftest                     # every device, in under a minute
  samesum selftest --device opencl:0   # one
  samesum selftest --json >> report.txt # a line for each device, to send

Exit code 1 if anything is wrong.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
