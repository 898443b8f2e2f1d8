// samesum bench histogram
#include "bench/bench.hpp"
#include "bench/output.hpp"
#include "input/user_file.hpp"
#include "kernel/kernel_process.hpp"
#include "kernel/user_kernel.hpp"
#include "output/number.hpp"
#include "output/output.hpp"
#include "usage.hpp"

#include <samesum/bench_histogram.hpp>
#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace samesum::cli {
namespace {

struct HistogramBench {
  UserKernelOptions kernel;
  ExpectedOptions expected;
  std::string device = "auto";
  std::vector<std::string> kinds;
  std::string size, bin;
  std::uint32_t bins = 0;
  std::uint64_t seed = 1;
  bench::HistogramLadderOptions ladder;
  EffortOptions effort;
  bool json = false;
};

constexpr std::string_view kRacy = "racy";

// Whether a row is as expected: counting without atomics is expected to be wrong.
bool row_sound(const bench::HistogramLadderRow& row) {
  if (row.verdict == bench::Verdict::failed) return false;
  return row.verdict != bench::Verdict::wrong || row.name == kRacy;
}

// Prints the rungs of a ladder as they are measured.
class HistogramPrinter {
 public:
  HistogramPrinter(Output& out, std::string kind, const std::vector<std::string>& rungs)
      : out_(out), kind_(std::move(kind)), widths_{widest(rungs), 14, 8, 6, fraction_width(out), 7, 15, 0} {}

  void print(const bench::HistogramLadder& ladder) {
    if (printed_ == 0) {
      out_.print("{}, {}\n", out_.bold(kind_), byte_size(ladder.size));
      Table head(kAlignment, 2, widths_);
      head.add_head({"variant", "where", "time", "10^9/s", "of ceiling", "speedup", "check", "configuration"});
      head.print(out_);
    }
    Table table(kAlignment, 2, widths_);
    for (; printed_ < ladder.rungs.size(); ++printed_) {
      const bench::HistogramLadderRow& row = ladder.rungs[printed_];
      const bool timed = row.seconds.runs != 0;
      std::string check = verdict_name(row.verdict, row.name == kRacy);
      if (!row.reason.empty()) check += ": " + row.reason;
      table.add({{row.name, row.name == "best" ? Style::bold : Style::plain},
                 row.where,
                 timed ? duration(row.seconds.median) : "",
                 timed ? fmt::format("{:.2f}", row.samples_per_second / 1e9) : "",
                 timed ? fraction_text(out_, row.ceiling_fraction.median) : "",
                 timed ? fmt::format("{:.1f}", row.speedup) : "",
                 {check, verdict_style(row.verdict, row.name == kRacy)},
                 {row.configuration, Style::dim}});
    }
    table.print(out_);
    show_now(out_);
  }

  void finish(const bench::HistogramLadder& ladder) {
    for (const bench::ReadRate& ceiling : ladder.ceilings) {
      out_.print("{}\n", out_.dim(fmt::format("  ceiling of {}: {:.1f} GB/s ({})", ceiling.where, ceiling.bytes_per_second / 1e9,
                                              ceiling.configuration)));
    }
    out_.print("\n");
    show_now(out_);
  }

 private:
  static constexpr const char* kAlignment = "<<>>>><<";
  Output& out_;
  std::string kind_;
  std::vector<std::size_t> widths_;
  std::size_t printed_ = 0;
};

Json json_of_histograms(const bench::HistogramLadder& ladder, const std::string& kind) {
  Json object = {{"data", kind}, {"size", ladder.size}};
  for (const bench::ReadRate& ceiling : ladder.ceilings) {
    object["ceilings"].push_back(
        {{"where", ceiling.where}, {"bytes_per_second", ceiling.bytes_per_second}, {"configuration", ceiling.configuration}});
  }
  object["variants"] = Json::array();
  for (const bench::HistogramLadderRow& row : ladder.rungs) {
    Json one = {{"name", row.name},
                {"where", row.where},
                {"verdict", bench::name_of(row.verdict)},
                {"reason", row.reason},
                {"configuration", row.configuration}};
    if (row.seconds.runs != 0) {
      one["seconds"] = figure_json(row.seconds);
      one["samples_per_second"] = row.samples_per_second;
      one["ceiling_fraction"] = figure_json(row.ceiling_fraction);
      one["speedup"] = row.speedup;
    }
    object["variants"].push_back(std::move(one));
  }
  return object;
}

// The bytes to count: made-up ones; the pixels of an image; or those of a file.
std::vector<std::uint8_t> data_of(const std::string& kind, std::uint64_t size, const HistogramBench& options) {
  const std::vector<std::string> kinds = bench::histogram_data_kinds();
  if (std::ranges::find(kinds, kind) != kinds.end() || kind.find_first_of("./") == std::string::npos) {
    return bench::histogram_data(kind, size, options.seed);
  }
  if (!options.size.empty()) throw Error(ErrorKind::usage, "--size is for made-up data; a file has its own size");
  if (is_image(kind)) {
    const Image image = load_image(kind);
    if (image.type != DType::uint8) {
      throw Error(ErrorKind::usage, fmt::format("{}: its samples are {}: this ladder counts those of 8 bits", kind, name_of(image.type)));
    }
    const auto* first = static_cast<const std::uint8_t*>(image.pixels.get());
    return {first, first + image.width * image.height * image.channels};
  }
  const std::string bytes = read_file(kind);
  return {bytes.begin(), bytes.end()};
}

// --bin and --bins; --bins alone: of equal width.
std::optional<Bins> bins_of(const HistogramBench& options) {
  if (options.bins == 0 && options.bin.empty()) return std::nullopt;
  if (options.bins == 0) throw Error(ErrorKind::usage, "--bin takes --bins, the number of bins: they are 0 to N - 1");
  return Bins::by_formula(Formula(options.bin.empty() ? fmt::format("x * {} >> 8", options.bins) : options.bin), options.bins);
}

int run(Output& out, HistogramBench options) {
  options.ladder.bins = bins_of(options);
  if (options.kinds.empty()) options.kinds = bench::histogram_data_kinds();
  options.ladder.expected = options.expected.expected(options.kernel);
  if (!options.kernel.path.empty()) {
    UserKernel kernel = load_user_kernel(options.kernel.path);
    if (const auto code = run_in_child(options.kernel)) return *code;
    options.ladder.kernel_name = std::move(kernel.name);
    options.ladder.kernel_source = std::move(kernel.source);
  }
  const Device device = choose_for_bench(options.device);
  const std::uint64_t size = parse_size(!options.size.empty() ? options.size : device.info().is_cpu ? "2^23" : "2^28", "--size");
  options.ladder.effort = options.effort.effort(device);
  bool all_sound = true;
  Json object = {{"device", {{"selector", device.info().selector}, {"name", device.info().name}, {"driver", device.info().driver}}}};
  if (!options.json) out.print("{}\n\n", out.dim(fmt::format("device {}, {}", device.info().selector, device.info().name)));
  std::vector<bench::HistogramLadderRow> rows;
  for (const std::string& kind : options.kinds) {
    const StatusLine progress;
    const KernelWatch watch(options.ladder.kernel_name);
    options.ladder.effort.progress = [&](std::string_view what) {
      watch.tell(what);
      StatusLine::show(fmt::format("{}: {}", kind, what));
    };
    options.ladder.effort.progress("data");
    HistogramPrinter printer(out, kind, bench::histogram_rungs(device));
    if (!options.json) options.ladder.measured = [&](const bench::HistogramLadder& so_far) { printer.print(so_far); };
    const std::vector<std::uint8_t> data = data_of(kind, size, options);
    const bench::HistogramLadder ladder = bench::histogram_ladder(device, data, options.ladder);
    rows.insert(rows.end(), ladder.rungs.begin(), ladder.rungs.end());
    all_sound = all_sound && std::ranges::all_of(ladder.rungs, row_sound);
    if (options.json) {
      object["data"].push_back(json_of_histograms(ladder, kind));
    } else {
      printer.finish(ladder);
    }
  }
  if (options.json) {
    out.print("{}\n", to_text(object));
  } else if (options.size.empty()) {
    options.effort.tell(out, device, "--size 2^28");
  }
  require_measured(rows);
  return all_sound ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_histogram(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<HistogramBench>();
  CLI::App* command = parent.add_subcommand("histogram", "The variants of the histogram side by side: checked, then timed");
  const CLI::Validator number = whole_number(1, 1u << 30);
  command->add_option("--data", options->kinds, "uniform, equal, sky, sorted, text (default: all), or a file")
      ->take_all()
      ->option_text("DATA");
  command->add_option("--size", options->size, "bytes: 1e6, 2^28 (default; on a CPU 2^23), 64M")->option_text("N");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--variant", options->ladder.rungs, "only this one; may be given again")->take_all()->option_text("NAME");
  add_options(*command, options->kernel);
  options->expected.add_to(*command);
  command->add_option("--group", options->ladder.group_size, "work-items of a group")->transform(number)->option_text("N");
  command->add_option("--registers", options->ladder.registers, "of a work-item, at most")->transform(number)->option_text("N");
  command->add_option("--bins", options->bins, "their number (default 256: one for each byte)")
      ->transform(whole_number(1, 4096))
      ->option_text("N");
  command->add_option("--bin", options->bin, "the bin of a byte x by a formula, with --bins: '(x - 97)/4'")->type_name("FORMULA");
  command->add_option("--seed", options->seed, "of made-up data (default 1)")
      ->transform(whole_number(0, std::uint64_t{1} << 62))
      ->option_text("N");
  command->add_option("--threads", options->ladder.threads, "threads of the CPU's variants")->transform(number)->option_text("N");
  add_options(*command, options->effort);
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum bench histogram                          # every variant, every kind of data
  samesum bench histogram --data sky --variant privatized --variant best
  samesum bench histogram --kernel my.cl           # your own, beside the others
  samesum bench histogram --bin '(x - 97)/4' --bins 7 --data text

Of a file its bytes are counted, of an image of 8 bits its samples.

A kernel of your own is named 'histogram' and has the parameters
(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts): BINS zeros before, 256
without --bins. With --bins it has bin_of(x), which is BINS for no bin. Else it is
as 'samesum bench sum --help' says of such kernels.
Without atomics ('racy') counts are lost wherever work-items run at the same time:
that is the point of its row. On a device that runs them one after the other they
may be right by chance. Exit code 1 if any other variant is wrong.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
