// samesum devices
#include "command.hpp"
#include "output/number.hpp"

#include <samesum/device.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <array>
#include <memory>

namespace samesum::cli {
namespace {

constexpr std::array kCapabilities = {Capability::kernels,      Capability::fp64,     Capability::int64_atomics, Capability::subgroups,
                                      Capability::device_fence, Capability::unfused,  Capability::division,      Capability::square_root,
                                      Capability::fma,          Capability::denormals};

// Opens every device, as some capabilities are known only then; one that fails to open is listed as absent.
DeviceList examine() {
  DeviceList found = list_devices();
  DeviceList list{{}, std::move(found.absent)};
  for (const DeviceInfo& info : found.devices) {
    try {
      list.devices.push_back(Device::open(info.selector).info());
    } catch (const Error& error) {
      list.absent.push_back({info.selector, info.name + ": " + error.what()});
    }
  }
  return list;
}

std::string origin(const DeviceInfo& info) {
  return info.platform + (info.driver.empty() ? "" : ", driver " + info.driver) + ", " +
         counted(info.compute_units, info.is_cpu ? "core" : "compute unit");
}

std::string sizes(const DeviceInfo& info) {
  std::string text = byte_size(info.memory_bytes) + " of memory";
  if (!info.has(Capability::kernels)) return text;
  if (info.max_allocation_bytes < info.memory_bytes)
    text += fmt::format(" (at most {} in one piece)", byte_size(info.max_allocation_bytes));
  return text + fmt::format(", groups of up to {}, {} of local memory", grouped(info.max_group_size), byte_size(info.local_bytes));
}

void print_text(Output& out, const DeviceList& list) {
  std::size_t width = 0;
  for (const DeviceInfo& info : list.devices) width = std::max(width, info.selector.size());
  for (const Absence& absence : list.absent) width = std::max(width, absence.selector.size());

  for (const DeviceInfo& info : list.devices) {
    out.print("{}  {}\n", out.bold(fmt::format("{:<{}}", info.selector, width)), info.name);
    out.print("{:{}}  {}\n", "", width, out.dim(origin(info)));
    out.print("{:{}}  {}\n", "", width, out.dim(sizes(info)));
    std::string has;
    for (const Capability capability : kCapabilities) {
      if (info.has(capability)) has.append(" ").append(name_of(capability));
    }
    out.print("{:{}}  {}{}\n", "", width, out.good("has"), has);
    for (const Missing& missing : info.missing) {
      out.print("{:{}}  {} {}: {}\n", "", width, out.bad("lacks"), name_of(missing.capability), missing.reason);
    }
  }
  if (list.absent.empty()) return;
  out.print("\nNot usable here:\n");
  for (const Absence& absence : list.absent) out.print("{:<{}}  {}\n", absence.selector, width, absence.reason);
}

Json to_json(const DeviceList& list) {
  Json object = {{"devices", Json::array()}, {"absent", Json::array()}};
  for (const DeviceInfo& info : list.devices) {
    Json has = Json::array();
    for (const Capability capability : kCapabilities) {
      if (info.has(capability)) has.push_back(name_of(capability));
    }
    Json missing = Json::object();
    for (const Missing& entry : info.missing) missing[std::string(name_of(entry.capability))] = entry.reason;
    object["devices"].push_back({{"selector", info.selector},
                                 {"name", info.name},
                                 {"platform", info.platform},
                                 {"driver", info.driver},
                                 {"is_cpu", info.is_cpu},
                                 {"compute_units", info.compute_units},
                                 {"max_group_size", info.max_group_size},
                                 {"local_bytes", info.local_bytes},
                                 {"memory_bytes", info.memory_bytes},
                                 {"max_allocation_bytes", info.max_allocation_bytes},
                                 {"capabilities", std::move(has)},
                                 {"missing", std::move(missing)}});
  }
  for (const Absence& absence : list.absent) object["absent"].push_back({{"selector", absence.selector}, {"reason", absence.reason}});
  return object;
}

}  // namespace

void add_devices(CLI::App& program, Action& action) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("devices", "What there is to compute on, and what is missing");
  command->add_flag("--json", *json, "print JSON");
  command->footer(R"(Examples:
  samesum devices                      # selectors (for --device), capabilities
  samesum devices --json | jq -r '.devices[].selector'

A device that is opened for the first time passes a small test of its arithmetic;
what it gets wrong is a capability that it lacks. The environment variable
SAMESUM_MASK (fp64,subgroups,...) takes capabilities away, for tests.)");
  command->callback([json, &action] {
    action = [json](Output& out) {
      const DeviceList list = examine();
      if (*json) {
        out.print("{}\n", to_text(to_json(list)));
      } else {
        print_text(out, list);
      }
      return kExitOk;
    };
  });
}

}  // namespace samesum::cli
