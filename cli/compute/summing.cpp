#include "compute/summing.hpp"

#include "output/progress.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Accumulator total_of(const DeviceSum& result) { return cli::total_of(result.sums); }

constexpr std::uint64_t kToldBytes = std::uint64_t{1} << 28;  // of a mapped file, between two updates of the progress

// A function that sums a chunk: on one device, or on several.
using Adder = std::function<Accumulator(Array, Report*)>;

Adder adder(const Device& device, const Tuning& options) {
  return
      [device, options](Array view, Report* report) { return accumulate(view, {.device = device, .report = report, .tuning = options}); };
}

// Adds `view` to the latest sum of each device that has not failed.
void add_chunk(Array view, const std::vector<Adder>& adders, std::vector<DeviceSum>& results) {
  for (std::size_t i = 0; i < adders.size(); ++i) {
    if (!results[i].failure.empty()) continue;
    NamedSum& named = results[i].sums.back();
    try {
      Report report;
      named.sum += adders[i](view, &report);
      if (named.report) {
        *named.report += report;
      } else {
        named.report = std::move(report);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      results[i].failure = error.what();
    }
  }
}

// One pass over all files: each device that has not failed sums each chunk. A device's failure is recorded in its result.
void sum_all(const std::vector<NamedSource>& sources, const std::vector<Adder>& adders, std::vector<DeviceSum>& results) {
  using Clock = std::chrono::steady_clock;
  Progress progress;
  for (const auto& [name, open] : sources) {
    const std::unique_ptr<Source> source = open();
    for (DeviceSum& result : results) result.sums.push_back({name, {}, source->type(), {}});
    double waited = 0;
    bool any = false;
    for (;;) {
      const auto start = Clock::now();
      const std::optional<Array> chunk = source->next();
      waited += std::chrono::duration<double>(Clock::now() - start).count();
      if (!chunk && any) break;
      const Array view =
          chunk.value_or(Array(nullptr, 0, source->type().value_or(DType::float64)));  // an input without numbers has a sum too
      any = true;
      const bool whole = !progress.wanted() || view.bytes() <= 2 * kToldBytes;
      const std::uint64_t part = whole ? view.size() : kToldBytes / size_of(view.type());
      std::uint64_t done = 0;
      do {
        add_chunk(view.part(done, std::min(part, view.size() - done)), adders, results);
        done += part;
        progress.tell(name, whole ? source->bytes_read() : done * size_of(view.type()), source->bytes());
      } while (done < view.size());
      if (!chunk) break;
    }
    for (DeviceSum& result : results) {
      NamedSum& named = result.sums.back();
      named.type = source->type();  // for concatenated inputs it is known only now
      named.shape = source->shape();
      named.format = source->format();
      named.part = source->part();
      named.missing = source->missing();
      named.read_seconds = source->resident_bytes() == 0 ? waited : 0;
    }
  }
}

}  // namespace

double DeviceSum::seconds() const noexcept {
  double total = 0;
  for (const NamedSum& sum : sums) total += sum.report ? sum.report->seconds : 0;
  return total;
}

bool means_all(const std::string& selector) {
  const char* variable = std::getenv("SAMESUM_DEVICE");
  return lower(selector) == "all" || (lower(selector) == "auto" && variable != nullptr && lower(variable) == "all");
}

DeviceSum sum_on(const Device& device, const std::vector<NamedSource>& sources, const Tuning& options) {
  std::vector<DeviceSum> results = {{device.info(), {}, ""}};
  sum_all(sources, {adder(device, options)}, results);
  if (!results.front().failure.empty()) throw Error(ErrorKind::device, results.front().failure);
  return std::move(results.front());
}

DeviceSum sum_shared(const std::vector<Device>& devices, const std::vector<NamedSource>& sources, const Tuning& options) {
  const auto add = [&](Array view, Report* report) {
    std::vector<Report> reports;
    const auto start = std::chrono::steady_clock::now();
    Accumulator sum = accumulate(view, devices, {.tuning = options}, &reports);
    *report = reports.front();
    report->bytes = view.bytes();
    report->upload_seconds = 0;  // overlaps with the sums of other devices
    report->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report->configuration.clear();
    for (const Report& one : reports) {
      report->configuration +=
          fmt::format("{}{} {:.0f}%", report->configuration.empty() ? "" : ", ", one.device,
                      view.bytes() == 0 ? 0 : 100 * static_cast<double>(one.bytes) / static_cast<double>(view.bytes()));
    }
    return sum;
  };
  DeviceInfo together;
  for (const Device& device : devices) together.selector += (together.selector.empty() ? "" : ",") + device.info().selector;
  std::vector<DeviceSum> results = {{together, {}, ""}};
  sum_all(sources, {add}, results);
  if (!results.front().failure.empty()) throw Error(ErrorKind::device, results.front().failure);
  for (NamedSum& sum : results.front().sums) sum.report->device = together.selector;
  return std::move(results.front());
}

std::vector<DeviceSum> sum_everywhere(const std::vector<NamedSource>& sources, const Tuning& options) {
  std::vector<DeviceSum> results;
  std::vector<Adder> adders;
  for (DeviceInfo& info : list_devices().devices) {
    DeviceSum result{std::move(info), {}, ""};
    adders.emplace_back();
    try {
      const Device device = Device::open(result.device.selector);
      adders.back() = adder(device, options);
      result.device = device.info();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      result.failure = error.what();
    }
    results.push_back(std::move(result));
  }
  sum_all(sources, adders, results);
  return results;
}

bool all_agree(const std::vector<DeviceSum>& results) {
  return std::ranges::all_of(
      results, [&](const DeviceSum& result) { return result.failure.empty() && total_of(result) == total_of(results.front()); });
}

Table::Cell verdict_on(const std::vector<DeviceSum>& results) {
  std::vector<DeviceSum> answers = results;
  const std::size_t failed = std::erase_if(answers, [](const DeviceSum& result) { return !result.failure.empty(); });
  if (!all_agree(answers)) return {"The devices do not agree: something is broken. 'samesum selftest' may tell what.", Style::bad};
  if (failed != 0)
    return {fmt::format("{} failed{}", counted(failed, "device"), answers.size() > 1 ? "; the others agree." : "."), Style::bad};
  if (answers.size() < 2) return {"One device: nothing to compare it with.", Style::dim};
  return {fmt::format("{} devices agree, to the last bit.", answers.size() == 2 ? "Both" : fmt::format("All {}", answers.size())),
          Style::good};
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
    for (const NamedSum& sum : result.sums) table.note("  " + shown_name(sum.name) + ": " + describe(sum));
  }
  table.print(out);
  const Table::Cell verdict = verdict_on(results);
  out.print("{}\n", out.paint(verdict.style, verdict.text));
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
