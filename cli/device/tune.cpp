// samesum tune
#include "bench/bench.hpp"
#include "command.hpp"
#include "input/elements.hpp"
#include "output/number.hpp"
#include "output/progress.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/tune.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <memory>

namespace samesum::cli {
namespace {

struct TuneCommand {
  std::string device = "auto";
  std::vector<std::string> types, sizes;
  TuneOptions tune;
  bool show = false;
  bool reset = false;
  bool json = false;
};

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C ends the search and keeps what was found; the second one ends the program.
class Interruption {
 public:
  Interruption() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, &before_);
  }
  ~Interruption() { sigaction(SIGINT, &before_, nullptr); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  struct sigaction before_ {};
};

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::string spread(const TuneTiming& timing) {
  return timing.median == 0 ? "" : fmt::format("{} ({} to {})", duration(timing.median), duration(timing.low), duration(timing.high));
}

Json json_of(const TuneTiming& timing) {
  return {{"median", timing.median}, {"low", timing.low}, {"high", timing.high}, {"shipped", timing.shipped}};
}

int show(Output& out, const DeviceInfo& device, bool json) {
  const TuneTables all = tune_tables(device);
  if (json) {
    Json object = {
        {"device", device.selector}, {"name", device.name}, {"file", all.path}, {"problem", all.problem}, {"tables", Json::array()}};
    for (const TuneTable& table : all.tables) {
      Json records = Json::array();
      for (const TuneRecord& record : table.records) {
        Json& row =
            records.emplace_back(Json{{"operation", record.operation}, {"types", record.types}, {"above_bytes", record.above_bytes}});
        if (record.max_bytes != kNoLimit) row["max_bytes"] = record.max_bytes;
        row["shape"] = record.shape;
        if (record.timing.median != 0) row["seconds"] = json_of(record.timing);
      }
      object["tables"].push_back(
          {{"kind", table.kind}, {"match", name_of(table.match)}, {"driver", table.driver}, {"records", std::move(records)}});
    }
    out.print("{}\n", to_text(object));
    return kExitOk;
  }
  out.print("{}  {}\n", out.bold(device.selector), device.name);
  out.print("own records: {}{}\n", all.path.empty() ? "none (SAMESUM_TUNING=0, or no HOME)" : all.path,
            all.problem.empty() ? "" : out.bad(fmt::format(" is not used: {}", all.problem)));
  for (const TuneTable& table : all.tables) {
    const std::string driver = !table.driver.empty() && table.driver != device.driver ? ", measured with driver " + table.driver : "";
    out.print("\n{}  match: {}{}, {}\n", out.bold(table.kind), name_of(table.match), driver, counted(table.records.size(), "record"));
    if (table.match != TuneMatch::device && &table != &all.tables.front()) continue;
    for (const TuneRecord& record : table.records) {
      const std::string limit = record.max_bytes == kNoLimit ? "any size" : "up to " + byte_size(record.max_bytes);
      out.print("  {:<13} {:<14} {:<22} {}  {}\n", record.operation, limit, record.shape == "none" ? "not this kernel" : record.shape,
                record.types, out.dim(spread(record.timing)));
    }
  }
  return kExitOk;
}

void print_row(Output& out, const TuneRow& row) {
  std::string failures;
  for (const auto& [failure, count] : row.failures)
    failures += fmt::format("{}{} {}", failures.empty() ? "" : ", ", count, name_of(failure));
  const std::string gain =
      row.better ? out.good(fmt::format("{:.2f} times as fast", row.timing.shipped / row.timing.median)) : "as shipped";
  out.print("{:<8} {:<8} {:>9}  {}  {}  {}\n", row.operation, name_of(row.type), byte_size(row.bytes), gain, spread(row.timing), row.shape);
  out.print("  {}\n", out.dim(fmt::format("{} tried{}{}", row.candidates, failures.empty() ? "" : ": ", failures)));
  if (!row.wrong.empty()) out.print("  {}\n", out.bad("wrong answer of " + row.wrong + ": please report this device"));
}

Json json_of(const TuneResult& result) {
  Json object = {
      {"device", result.device.selector},           {"name", result.device.name}, {"file", result.path}, {"complete", result.complete},
      {"seconds", rounded_seconds(result.seconds)}, {"rows", Json::array()}};
  for (const TuneRow& row : result.rows) {
    Json failures = Json::object();
    for (const auto& [failure, count] : row.failures) failures[std::string(name_of(failure))] = count;
    object["rows"].push_back({{"operation", row.operation},
                              {"type", name_of(row.type)},
                              {"bytes", row.bytes},
                              {"better", row.better},
                              {"shape", row.shape},
                              {"shipped_shape", row.shipped_shape},
                              {"seconds", json_of(row.timing)},
                              {"candidates", row.candidates},
                              {"failures", std::move(failures)},
                              {"wrong", row.wrong}});
  }
  return object;
}

int run(Output& out, TuneCommand options) {
  const Device device = choose_for_bench(options.device);
  if (options.show) return show(out, device.info(), options.json);
  if (options.reset) {
    tune_reset(device.info(), options.tune.path);
    return kExitOk;
  }
  for (const std::string& type : options.types) options.tune.types.push_back(parse_raw_type(type).type);
  for (const std::string& size : options.sizes) options.tune.bytes.push_back(parse_size(size, "--size"));
  options.tune.progress = [](std::string_view what) {
    StatusLine::show(what);
    return interrupted == 0;
  };
  TuneResult result;
  {
    const Interruption interruption;
    const StatusLine progress;
    result = tune(device, options.tune);
  }
  const bool wrong = std::ranges::any_of(result.rows, [](const TuneRow& row) { return !row.wrong.empty(); });
  if (options.json) {
    out.print("{}\n", to_text(json_of(result)));
    return wrong ? kExitNoAnswer : kExitOk;
  }
  for (const TuneRow& row : result.rows) print_row(out, row);
  if (!result.path.empty()) out.print("\nwritten: {}\n", result.path);
  if (!result.complete) out.print("The time was over before all was tried: --seconds {:.0f} goes further.\n", 4 * options.tune.seconds);
  return wrong ? kExitNoAnswer : kExitOk;
}

}  // namespace

void add_tune(CLI::App& program, Action& action) {
  const auto options = std::make_shared<TuneCommand>();
  CLI::App* command = program.add_subcommand("tune", "Find the fastest shapes of kernels for this device");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--operation", options->tune.operations, "sum, dot, extrema (default: all)")->take_all()->option_text("NAME");
  command->add_option("--dtype", options->types, "default: float32 and float64")->take_all()->type_name("TYPE");
  command->add_option("--size", options->sizes, "bytes: 64K, 2^20 (default: 4K to 64M)")->take_all()->option_text("BYTES");
  command->add_option("--seconds", options->tune.seconds, "time for all of it (default 60)")
      ->check(number_from(0.1, 86400))
      ->option_text("N");
  command->add_option("--output", options->tune.path, "the file to write, instead of your own")->type_name("FILE");
  command->add_option("--kind", options->tune.kind, "write records for all devices with this word in their names, or 'generic'")
      ->option_text("WORD");
  CLI::Option* show = command->add_flag("--show", options->show, "print the records for the device, and how well they match");
  command->add_flag("--reset", options->reset, "remove your records of the device")->excludes(show);
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum tune --seconds 600           # all, on the fastest device
  samesum tune --operation sum --dtype float32 --size 1M
  samesum tune --show                  # what is used now, and from where
  samesum tune --reset                 # back to the records of the library
  samesum tune --kind H100 --output src/tuning/h100.json    # for samesum itself

Tuning changes the speed of answers, never their bits: each candidate's results
are compared with the CPU's before it is measured. What is faster than the shipped
shape by 2% in nine of ten measurements goes to $SAMESUM_TUNING, or else to
~/.config/samesum/tuning.json; SAMESUM_TUNING=0 ignores it. Ctrl-C ends the search
and keeps what was found. Exit code 1 if a candidate gives a wrong answer.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
