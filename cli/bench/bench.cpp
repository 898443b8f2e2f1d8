// samesum bench sum, samesum bench ceiling; bench barrier is in its own file
#include "bench/bench.hpp"
#include "bench/output.hpp"
#include "command.hpp"
#include "input/input.hpp"
#include "kernel/kernel_process.hpp"
#include "kernel/user_kernel.hpp"
#include "usage.hpp"

#include <samesum/bench.hpp>
#include <samesum/error.hpp>

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

struct SumBench {
  std::string device = "auto";
  std::string data = "uniform";
  std::string dtype;
  std::string size, tile, block;
  UserKernelOptions kernel;
  ExpectedOptions expected;
  std::uint64_t seed = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t pitch = 0;
  bench::LadderOptions ladder;
  EffortOptions effort;
  bool json = false;
};

struct CeilingBench {
  std::string device = "auto";
  std::vector<std::string> sizes;
  bench::CeilingOptions ceiling;
  bool atomics = false;
  EffortOptions effort;
  bool json = false;
};

// As close to a square as powers of two allow.
std::uint64_t natural_rows(std::uint64_t size) {
  if (size == 0) return 1;
  std::uint64_t rows = std::uint64_t{1} << std::countr_zero(size);
  while (rows > 1 && rows > size / rows) rows /= 2;
  return rows;
}

// Rows that start `pitch` elements apart.
Array as_pitched(const SumBench& options, const Array& data, std::uint64_t columns) {
  if (columns == 0 || columns > options.pitch) {
    throw Error(ErrorKind::usage,
                fmt::format("--pitch {} goes with --columns from 1 to {}: the rest of a row is its gap", options.pitch, options.pitch));
  }
  const std::uint64_t size = data.size(), fitting = size < columns ? 0 : (size - columns) / options.pitch + 1;
  const std::uint64_t rows = options.rows != 0 ? options.rows : fitting;
  if (options.rows == 0 && rows != 0 && size - ((rows - 1) * options.pitch + columns) > options.pitch - columns) {
    throw Error(ErrorKind::usage,
                fmt::format("{} elements are more than {} rows of {} with a pitch of {}, and too few for one more: --rows {} "
                            "leaves the rest out",
                            grouped(size), grouped(rows), grouped(columns), grouped(options.pitch), rows));
  }
  if (rows > fitting) {
    throw Error(ErrorKind::usage, fmt::format("{} elements are {} rows of {} with a pitch of {}, not {}", grouped(size), grouped(fitting),
                                              grouped(columns), grouped(options.pitch), grouped(rows)));
  }
  const auto bytes = static_cast<std::int64_t>(size_of(data.type()));
  return {data.data(), {rows, columns}, data.type(), {static_cast<std::int64_t>(options.pitch) * bytes, bytes}};
}

// Rows and columns of `size` elements, where the options do not give them; `shape` is the file's own, if it has one.
Array as_matrix(const SumBench& options, const Array& data, std::span<const std::uint64_t> shape) {
  const std::uint64_t size = data.size();
  if (options.pitch != 0) return as_pitched(options, data, options.columns);
  std::uint64_t rows = shape.size() == 2 && shape[0] != 0 ? shape[0] : natural_rows(size);
  if (options.rows != 0) {
    rows = options.rows;
  } else if (options.columns != 0) {
    rows = size / options.columns;
  }
  const std::uint64_t columns = options.columns != 0 ? options.columns : size / rows;
  if (rows * columns != size) {
    const std::string asked = options.columns == 0 ? fmt::format("{} rows", grouped(rows))
                              : options.rows == 0  ? fmt::format("{} columns", grouped(columns))
                                                   : fmt::format("{} x {}", grouped(rows), grouped(columns));
    throw Error(ErrorKind::usage,
                fmt::format("{} elements are no matrix of {}: --rows and --columns have to divide them", grouped(size), asked));
  }
  return data.reshaped({rows, columns});
}

std::uint64_t generated_size(const SumBench& options, const Device& device) {
  const std::uint64_t side = device.info().is_cpu ? 2048 : 8192;
  if (!options.size.empty()) return parse_size(options.size, "--size");
  const std::uint64_t columns = options.pitch != 0 ? options.pitch : options.columns;
  return (options.rows != 0 ? options.rows : side) * (columns != 0 ? columns : side);
}

std::optional<bench::DataKind> data_kind(const std::string& name) {
  for (const auto kind :
       {bench::DataKind::uniform, bench::DataKind::normal, bench::DataKind::lognormal, bench::DataKind::bits, bench::DataKind::zeros}) {
    if (bench::name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

int run_sum(Output& out, SumBench options) {
  const RawType type = options.dtype.empty() ? RawType{DType::float32} : parse_raw_type(options.dtype);
  options.ladder.expected = options.expected.expected(options.kernel);
  if (!options.kernel.path.empty()) {
    UserKernel kernel = load_user_kernel(options.kernel.path);
    if (const auto code = run_in_child(options.kernel)) return *code;
    options.ladder.kernel_name = std::move(kernel.name);
    options.ladder.kernel_source = std::move(kernel.source);
  }
  check_taken(!options.tile.empty(), "--tile", options.ladder.rungs, {"tile_passes"});
  check_taken(!options.block.empty(), "--block", options.ladder.rungs, {"tree_passes"});
  check_taken(options.ladder.result_align != 1, "--result-align", options.ladder.rungs, {"tree_passes", "tile_passes"});
  if (!options.tile.empty()) {
    const TileShape tile = parse_tile(options.tile, "--tile");
    options.ladder.tile = tile.columns;
    options.ladder.tile_rows = tile.rows;
  }
  if (!options.block.empty()) {
    const TileShape block = parse_tile(options.block, "--block");
    const std::uint64_t items = std::uint64_t{block.rows} * block.columns;
    if (options.ladder.group_size != 0 && options.ladder.group_size != items) {
      throw Error(ErrorKind::usage, fmt::format("--block {} is a group of {} work-items, not of --group {}", options.block, items,
                                                options.ladder.group_size));
    }
    options.ladder.group_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(items, 1u << 30));
    options.ladder.block_columns = block.columns;
  }
  const Device device = choose_for_bench(options.device);
  options.ladder.effort = options.effort.effort(device);
  LadderPrinter printer(out, options.data, bench::sum_rungs(device));
  if (!options.json) options.ladder.measured = [&](const bench::Ladder& so_far) { printer.print(so_far); };
  const KernelWatch watch(options.ladder.kernel_name);
  options.ladder.effort.progress = [&](std::string_view what) {
    watch.tell(what);
    StatusLine::show(what);
  };
  bench::Ladder ladder;
  {
    const StatusLine progress;
    if (const auto kind = data_kind(options.data)) {
      const bench::Data data = made_data(*kind, type.type, generated_size(options, device), options.seed);
      ladder = bench::sum_ladder(device, as_matrix(options, data.view(), {}), options.ladder);
    } else {
      const Elements file = file_to_measure(options.data, options.dtype, options.size, options.seed);
      ladder = bench::sum_ladder(device, as_matrix(options, file.view(), file.shape()), options.ladder);
      file.check_unchanged();
    }
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of(ladder, options.data)));
  } else {
    printer.finish(ladder);
    if (options.size.empty() && options.rows == 0 && options.columns == 0) options.effort.tell(out, device, "--size 2^28");
  }
  require_measured(ladder.rungs);
  const bool sound = std::ranges::none_of(ladder.rungs, [](const bench::LadderRow& row) {
    if (row.name == kMissingBarrier && row.verdict == bench::Verdict::wrong) return false;  // as expected
    return row.verdict == bench::Verdict::wrong || row.verdict == bench::Verdict::failed;
  });
  return sound ? kExitOk : kExitNoAnswer;
}

int run_ceiling(Output& out, CeilingBench options) {
  for (const std::string& size : options.sizes) options.ceiling.sizes.push_back(parse_size(size, "--size"));
  if (options.atomics) {
    if (!options.sizes.empty())
      throw Error(ErrorKind::usage, "--size is for reading memory, which --atomics does not measure: leave one of them out");
    options.ceiling.read = options.ceiling.arithmetic = options.ceiling.latency = false;
    options.ceiling.atomics = true;
  }
  const Device device = choose_for_bench(options.device);
  options.ceiling.effort = options.effort.effort(device);
  CeilingPrinter printer(out);
  if (!options.json) options.ceiling.measured = [&](const bench::Ceiling& so_far) { printer.print(so_far); };
  bench::Ceiling ceiling;
  {
    const StatusLine progress;
    ceiling = bench::measure_ceiling(device, options.ceiling);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of(ceiling)));
  } else {
    options.effort.tell(out, device, "");
  }
  return kExitOk;
}

const CLI::Validator kNumber = whole_number(1, 1u << 30);

void add_bench_sum(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<SumBench>();
  CLI::App* command = parent.add_subcommand("sum", "The variants of the sum side by side: checked, then timed");
  const CLI::Validator side = whole_number(1, std::uint64_t{1} << 40);
  command->add_option("--data", options->data, "uniform (default), normal, lognormal, bits, zeros, a file")->type_name("DATA");
  command->add_option("--dtype", options->dtype, "float32 (default) or any other type")->type_name("TYPE");
  CLI::Option* size = command->add_option("--size", options->size, "elements: 1e6, 2^28, 64M")->option_text("N");
  command->add_option("--rows", options->rows, "rows of the matrix (default 8192; on a CPU 2048)")
      ->transform(side)
      ->excludes(size)
      ->option_text("N");
  command->add_option("--columns", options->columns, "columns of it (likewise)")->transform(side)->excludes(size)->option_text("N");
  command->add_option("--pitch", options->pitch, "elements from a row's start to the next one's")->transform(side)->option_text("N");
  command->add_option("--result-align", options->ladder.result_align, "rounds' results: rows start at multiples of N elements")
      ->transform(whole_number(1, std::uint64_t{1} << 20))
      ->option_text("N");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--variant", options->ladder.rungs, "only this one; may be given again")->take_all()->option_text("NAME");
  add_options(*command, options->kernel);
  options->expected.add_to(*command);
  command->add_option("--group", options->ladder.group_size, "work-items of a group")->transform(kNumber)->option_text("N");
  command->add_option("--registers", options->ladder.registers, "of a work-item, at most")->transform(kNumber)->option_text("N");
  command->add_option("--groups", options->ladder.groups, "work-groups, for variants that choose")->transform(kNumber)->option_text("N");
  command->add_option("--tile", options->tile, "tiles of tile_passes: 8 (default), or 4x16, rows and columns")->option_text("SHAPE");
  command->add_option("--block", options->block, "groups of tree_passes: 8x32, rows and columns")->option_text("SHAPE");
  command->add_option("--seed", options->seed, "of made-up data (default 1)")
      ->transform(whole_number(0, std::uint64_t{1} << 62))
      ->option_text("N");
  command->add_option("--threads", options->ladder.threads, "threads of the CPU's variants")->transform(kNumber)->option_text("N");
  add_options(*command, options->effort);
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum bench sum                                # every variant
  samesum bench sum --rows 1000 --columns 3000     # any matrix
  samesum bench sum --rows 1000 --columns 3000 --pitch 3072   # rows with gaps
  samesum bench sum --size 2^28 --data lognormal
  samesum bench sum --data dump.raw --dtype float64
  samesum bench sum --variant tree_passes --group 64
  samesum bench sum --kernel my.cl                 # your own, beside the others

'of ceiling' is the fraction of the rate at which the same device reads the same
data, measured in the same run. A kernel of your own is named 'sum', with the
parameters (GLOBAL const REAL* in, ulong n, GLOBAL REAL* out), and leaves each
group's sum in out[group_id()]; it is run again, by one group, over those. A group has
GROUP work-items; 'samesum kernel sum tree_passes' shows how kernels are written. It is
compiled before anything is measured, and runs in a process of its own: a loop
without an end (--kernel-seconds) or a wild write ends that with a message. A
kernel can do what any program can: run none that you would not run as one.
'samesum check my.cl' runs it in Oclgrind. The variant missing_barrier leaves the
tree's barriers out and is expected to be wrong. Exit code 1 if another is wrong,
2 if none could be measured.)");
  command->callback([options, &action] { action = [options](Output& out) { return run_sum(out, *options); }; });
}

void add_bench_ceiling(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<CeilingBench>();
  CLI::App* command = parent.add_subcommand("ceiling", "What a device can do at best: read, multiply-add, launch, atomics");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--size", options->sizes, "bytes to read: 64K, 2^30; may be given again")->take_all()->option_text("BYTES");
  command->add_flag("--atomics", options->atomics, "atomic additions instead: latency and rate");
  command->add_option("--threads", options->ceiling.threads, "threads of the CPU")->transform(kNumber)->option_text("N");
  add_options(*command, options->effort);
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum bench ceiling                            # every size that fits
  samesum bench ceiling --device cpu --size 1G
  samesum bench ceiling --device cuda --atomics

--atomics adds 1 to words of local and of global memory: to one word, and to many that
neighbouring work-items have side by side, or that are scattered over so much memory. The latency
is that of one work-item, which waits for each result. The rate is the whole device's.)");
  command->callback([options, &action] { action = [options](Output& out) { return run_ceiling(out, *options); }; });
}

}  // namespace

std::uint64_t parse_size(const std::string& text, const char* option) {
  std::uint64_t size = 0;
  if (parse_count(text, size) && size != 0) return size;
  throw Error(ErrorKind::usage, fmt::format("{} takes a number such as 1000000, 1e6, 2^28 or 64M, not '{}'", option, text));
}

bench::Data made_data(bench::DataKind kind, DType type, std::uint64_t size, std::uint64_t seed) {
  if (is_integer(type) && (kind == bench::DataKind::normal || kind == bench::DataKind::lognormal)) {
    throw Error(ErrorKind::usage,
                fmt::format("--data {}: made-up integers are 'uniform' over all values of {}, or half of them are 0 ('zeros')",
                            name_of(kind), name_of(type)));
  }
  StatusLine::show("making the data");
  return {kind, type, size, seed};
}

void check_taken(bool given, std::string_view option, const std::vector<std::string>& named, const std::vector<std::string>& takers) {
  if (!given || named.empty() || std::ranges::find_first_of(named, takers) != named.end()) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} is an option of {}, and --variant names others: leave one out", option, fmt::join(takers, ", ")));
}

Elements file_to_measure(const std::string& path, const std::string& dtype, const std::string& size, std::uint64_t seed) {
  if (!size.empty()) throw Error(ErrorKind::usage, "--size is for made-up data; a file has its own size");
  if (seed != 1) throw Error(ErrorKind::usage, "--seed is for made-up data: leave it out with a file");
  InputOptions how;
  how.allow_empty = true;
  if (!dtype.empty()) how.raw = parse_raw_type(dtype);
  Elements file(path, how);
  if (file.view().size() == 0)
    throw Error(ErrorKind::usage, fmt::format("{}: there are no elements in it to measure with", shown_name(path)));
  return file;
}

TileShape parse_tile(const std::string& text, const char* option) {
  constexpr std::uint64_t kMax = 1u << 16;
  const std::size_t cross = text.find('x');
  std::uint64_t rows = 0, columns = 0;
  const bool parsed =
      parse_count(text.substr(0, cross), rows) && (cross == std::string::npos || parse_count(text.substr(cross + 1), columns));
  if (cross == std::string::npos) columns = rows;
  if (!parsed || rows == 0 || columns == 0 || rows > kMax || columns > kMax) {
    throw Error(ErrorKind::usage, fmt::format("{} takes a side such as 8, or rows and columns such as 4x16, not '{}'", option, text));
  }
  return {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns)};
}

bench::Effort EffortOptions::effort(const Device& device) const {
  bench::Effort effort;
  effort.runs = runs;
  effort.seconds = seconds > 0 ? seconds : device.info().is_cpu ? 0.1 : 1;
  effort.progress = StatusLine::show;
  return effort;
}

void EffortOptions::tell(Output& out, const Device& device, std::string_view larger) const {
  if (seconds > 0 || !device.info().is_cpu) return;
  out.note(fmt::format("Measured for {} s a row, as this is a CPU. --seconds 1{}{} measures longer.", effort(device).seconds,
                       larger.empty() ? "" : " ", larger));
}

void add_options(CLI::App& command, EffortOptions& options) {
  command.add_option("--runs", options.runs, "measurements of each row, at most (default 31)")
      ->transform(whole_number(1, 1u << 30))
      ->option_text("N");
  command.add_option("--seconds", options.seconds, "time for each row (default 1; on a CPU 0.1)")
      ->check(number_from(1e-6, 1e6))
      ->option_text("S");
}

void show_now(Output& out) {
  StatusLine::clear();
  out.flush();
}

std::size_t widest(const std::vector<std::string>& names) {
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  return width;
}

// The last listed device that is not the host's processor; otherwise the last listed one.
Device choose_for_bench(const std::string& selector) {
  if ((selector != "auto" && !selector.empty()) || std::getenv("SAMESUM_DEVICE") != nullptr) return choose_device(selector, 0);
  std::string best = "cpu";
  bool best_is_host = true;
  for (const DeviceInfo& info : list_devices().devices) {
    if (best_is_host || !info.is_cpu) {
      best = info.selector;
      best_is_host = info.is_cpu;
    }
  }
  return Device::open(best);
}

void add_bench(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("bench", "How fast: the variants of what there is, and the device itself");
  command->require_subcommand(0, 1);
  command->footer(R"(Examples:
  samesum bench sum                    # the variants of the sum, side by side
  samesum bench ceiling                # bandwidth, multiply-adds, latency
  samesum bench barrier                # ways to wait for all work-groups
  samesum bench histogram              # the variants of the histogram
  samesum bench pairs                  # sums over all pairs
  samesum bench reduce                 # extremes, statistics, dot, product
  samesum bench --report report.html   # all of them as charts, on one page
  samesum bench --report sum.html --only sum --quick)");
  add_bench_sum(*command, action);
  add_bench_ceiling(*command, action);
  add_bench_barrier(*command, action);
  add_bench_pairs(*command, action);
  add_bench_histogram(*command, action);
  add_bench_reduce(*command, action);
  add_bench_report(*command, action);
}

}  // namespace samesum::cli
