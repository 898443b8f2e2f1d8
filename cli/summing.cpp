#include "summing.hpp"

#include "command.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace samesum::cli {
namespace {

// The file being read, for the signal handler, which may run in any thread.
std::atomic<const char*> reading = nullptr;

void write_error(const char* text) noexcept { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text)); }

void file_cut_short(int) {
  write_error("samesum: ");
  const char* path = reading;
  write_error(path != nullptr ? path : "a file");
  write_error(": became shorter, or its disk failed, while it was being read\n");
  _exit(kExitUsage);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Accumulator total_of(const DeviceSum& result) { return cli::total_of(result.sums); }

// What the answers of several devices come to.
void print_verdict(Output& out, const std::vector<DeviceSum>& results) {
  std::vector<DeviceSum> answers = results;
  const std::size_t failed = std::erase_if(answers, [](const DeviceSum& result) { return !result.failure.empty(); });
  if (!all_agree(answers)) {
    out.print("{}\n", out.bad("The devices do not agree: something is broken. 'samesum selftest' may tell what."));
  } else if (failed != 0) {
    out.print("{}\n", out.bad(fmt::format("{} failed{}", counted(failed, "device"), answers.size() > 1 ? "; the others agree." : ".")));
  } else if (answers.size() > 1) {
    out.print("{}\n", out.good(fmt::format("{} devices agree, to the last bit.",
                                           answers.size() == 2 ? "Both" : fmt::format("All {}", answers.size()))));
  } else {
    out.print("{}\n", out.dim("One device: nothing to compare it with."));
  }
}

}  // namespace

ArrayFile Input::open(const std::string& file) const {
  return ArrayFile(file, dtype.empty() ? std::nullopt : std::optional(parse_dtype(dtype)));
}

std::uint64_t Input::bytes() const {
  std::uint64_t total = 0;
  for (const std::string& file : files) total += open(file).view().bytes();
  return total;
}

ReadingGuard::ReadingGuard(const std::string& path) noexcept {
  reading = path.c_str();
  std::signal(SIGBUS, file_cut_short);
}

ReadingGuard::~ReadingGuard() {
  std::signal(SIGBUS, SIG_DFL);
  reading = nullptr;
}

std::vector<NamedSum> sum_files(const Input& input, const Device& device, const SumOptions& options) {
  std::vector<NamedSum> sums;
  for (const std::string& name : input.files) {
    const ReadingGuard guard(name);
    const ArrayFile file = input.open(name);
    SumReport report;
    Accumulator sum = accumulate(file.view(), device, options, &report);
    file.check_unchanged();
    sums.push_back({name, sum, file.type(), file.shape(), std::move(report)});
  }
  return sums;
}

double DeviceSum::seconds() const noexcept {
  double total = 0;
  for (const NamedSum& sum : sums) total += sum.report ? sum.report->seconds : 0;
  return total;
}

bool means_all(const std::string& selector) {
  const char* variable = std::getenv("SAMESUM_DEVICE");
  return lower(selector) == "all" || (lower(selector) == "auto" && variable != nullptr && lower(variable) == "all");
}

std::vector<DeviceSum> sum_everywhere(const Input& input, const SumOptions& options) {
  std::vector<DeviceSum> results;
  for (DeviceInfo& info : list_devices().devices) {
    DeviceSum result{std::move(info), {}, ""};
    try {
      const Device device = Device::open(result.device.selector);
      result.device = device.info();
      result.sums = sum_files(input, device, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      result.failure = error.what();
    }
    results.push_back(std::move(result));
  }
  return results;
}

bool all_agree(const std::vector<DeviceSum>& results) {
  return std::ranges::all_of(
      results, [&](const DeviceSum& result) { return result.failure.empty() && total_of(result) == total_of(results.front()); });
}

void print_devices(Output& out, const ResultOptions& options, const std::vector<DeviceSum>& results) {
  Table table("<<<<", 2);
  for (const DeviceSum& result : results) {
    if (!result.failure.empty()) {
      table.add({result.device.selector, {"failed", Style::bad}, "", result.failure});
      continue;
    }
    const Number value = options.round(total_of(result));
    table.add({result.device.selector, {options.text(value), Style::bold}, value.bits(), {result.device.name, Style::dim}});
    if (!options.verbose) continue;
    for (const NamedSum& sum : result.sums) table.note("  " + sum.name + ": " + describe(*sum.report));
  }
  table.print(out);
  print_verdict(out, results);
}

Json json_of(const ResultOptions& options, const std::vector<DeviceSum>& results) {
  Json array = Json::array();
  for (const DeviceSum& result : results) {
    Json object;
    object["device"] = result.device.selector;
    object["name"] = result.device.name;
    if (!result.failure.empty()) {
      object["failure"] = result.failure;
    } else {
      options.round(total_of(result)).add_to(object);
      object["seconds"] = rounded_seconds(result.seconds());
      for (const NamedSum& sum : result.sums) object["files"].push_back(json_of(options, sum));
    }
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace samesum::cli
