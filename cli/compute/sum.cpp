// samesum sum FILE...
#include "command.hpp"
#include "compute/complex.hpp"
#include "compute/statistics.hpp"
#include "compute/summing.hpp"
#include "group/axes.hpp"
#include "group/by.hpp"
#include "input/nodata.hpp"
#include "part/part.hpp"
#include "part/partial.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <memory>

namespace samesum::cli {
namespace {

struct SumOptions {
  Input input;
  std::string device = "auto";
  bool split = false;
  Tuning sum;
  ResultOptions result;
  AxesOptions axes;
  PartOptions part;

  bool of_images() const {
    return std::ranges::any_of(input.files, [&](const std::string& file) { return input.is_image(file); });
  }
};

int print_all(Output& out, const SumOptions& options, const std::vector<NamedSource>& sources, const PartialTarget& partial) {
  const std::vector<DeviceSum> results = sum_everywhere(sources, options.sum);
  const bool agree = all_agree(results);
  if ((options.result.plain || options.result.csv) && !agree) {
    throw Error(ErrorKind::no_answer, "not every device gave the same answer; leave out --plain and --csv to see which");
  }

  const std::vector<NamedSum>& sums = results.front().sums;
  if (agree) partial.save(out, total_of(sums));
  if (options.result.json) {
    Json object;
    object["agree"] = agree;
    if (agree) add_accumulator(object, options.result, total_of(sums));
    object["devices"] = json_of(options.result, results);
    out.print("{}\n", to_text(object));
  } else if (options.result.plain || options.result.csv) {
    print_sums(out, options.result, sums);
  } else if (agree && !out.terminal() && !options.result.verbose) {
    print_sums(out, options.result, sums);
    out.note(verdict_on(results).text);
  } else {
    print_devices(out, options.result, results);
  }
  return agree ? kExitOk : kExitNoAnswer;
}

int run_in_parts(Output& out, const SumOptions& options) {
  if (options.split || means_all(options.device) || options.axes.wanted() || options.of_images() || options.input.selection.wanted()) {
    throw Error(
        ErrorKind::usage,
        "--part and --checkpoint are for the sum of all elements on one device: leave out --split, --device all, --axis and images");
  }
  PartWork work;
  work.command = "sum";
  work.reduce = [&](std::span<const std::unique_ptr<Source>> sources, const Device& device) -> PartialResult {
    return accumulate(*sources.front(), {.device = device, .tuning = options.sum});
  };
  return run_part(out, options.input, options.device, options.part, options.result, work);
}

int run(Output& out, const SumOptions& options) {
  options.result.check();
  options.axes.check();
  options.part.check();
  options.input.check();
  if (options.split && options.device == "auto" && !means_all(options.device)) {
    throw Error(ErrorKind::usage, "--split shares the work out over several devices: name them (--device all, or cuda:0,cuda:1)");
  }
  if (options.part.wanted() && options.input.keys.empty()) return run_in_parts(out, options);
  if (options.input.sorted && options.input.keys.empty()) throw Error(ErrorKind::usage, "--sorted goes with --by");
  if (!options.input.keys.empty()) {
    if (options.split || options.sum.variant != "auto" || options.sum.group_size != 0 || options.axes.wanted()) {
      throw Error(ErrorKind::usage, options.axes.wanted()
                                        ? fmt::format("{} is for an array, --by for a table: leave out one of them", options.axes.option())
                                        : "--split, --variant and --group are for one array: leave them or --by out");
    }
    return run_by(out, options.input, {.statistics = {"sum"}, .device = options.device, .tuning = options.sum}, options.result,
                  options.part);
  }
  if (options.axes.wanted()) {
    if (options.split || options.sum.variant != "auto" || options.sum.group_size != 0 || means_all(options.device)) {
      throw Error(ErrorKind::usage, "--device all, --split, --variant and --group are for one sum: name one device, or leave them out");
    }
    return run_along_axes(out, options.input, options.device, "sum", options.axes, options.result, options.sum);
  }
  if (options.input.takes_several()) {
    if (options.split || options.sum.variant != "auto" || options.sum.group_size != 0 || means_all(options.device)) {
      throw Error(ErrorKind::usage,
                  "--device all, --split, --variant and --group are for the sum of one column: name one, or leave them out");
    }
    return run_sums_of_columns(out, options.input, options.device, options.result);
  }
  if (!options.of_images()) {
    const bool further = options.split || means_all(options.device) || options.sum.variant != "auto" || options.sum.group_size != 0;
    const auto code = run_complex(out, "sum", options.input, options.device, options.result, options.sum, further);
    if (code) return *code;
  }
  const PartialTarget partial(options.result.partial, options.input.files);
  const std::vector<NamedSource> sources = options.input.sources();
  const std::uint64_t bytes = options.input.resident_bytes();
  if (means_all(options.device) && !options.split) return print_all(out, options, sources, partial);

  const std::vector<Device> devices = open_devices(options.device, bytes);
  if (devices.size() > 1 && !options.split) {
    throw Error(ErrorKind::usage, "--device names several devices: with --split they share the work, with 'all' each does it all");
  }
  const auto [device, sums, failure] =
      options.split ? sum_shared(devices, sources, options.sum) : sum_on(devices.front(), sources, options.sum);
  const Accumulator total = total_of(sums);
  partial.save(out, total);

  if (options.result.json) {
    Json object;
    add_accumulator(object, options.result, total);
    object["device"] = device.selector;
    object["files"] = Json::array();
    double seconds = 0;
    for (const NamedSum& sum : sums) {
      object["files"].push_back(json_of(options.result, sum));
      seconds += sum.report->seconds;
    }
    object["variant"] = sums.front().report->variant;
    object["seconds"] = rounded_seconds(seconds);
    out.print("{}\n", to_text(object));
  } else {
    print_sums(out, options.result, sums);
  }
  return kExitOk;
}

}  // namespace

void add_sum(CLI::App& program, Action& action) {
  const auto options = std::make_shared<SumOptions>();
  options->input.tables = Tables::columns;
  CLI::App* command = program.add_subcommand("sum", "The exact sum of the numbers in files, rounded once");
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  add_options(*command, options->input);
  add_nodata(*command, options->input.nodata);
  add_map(*command, options->input);
  add_total(*command, options->input);
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default), all ...")->type_name("DEVICE");
  command->add_flag("--split", options->split, "share the work out over all devices of --device all, or cuda:0,cuda:1");
  add_options(*command, options->result, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose | kPartial);
  add_part(*command, options->part);
  add_axes(*command, options->axes);
  add_tile(*command, options->axes);
  add_images(*command, options->input);
  add_by(*command, options->input);
  const CLI::Validator range = whole_number(1, 1u << 16);
  command->add_option("--variant", options->sum.variant, "how to sum; see 'samesum bench sum'")->type_name("NAME");
  command->add_option("--group", options->sum.group_size, "work-items of a group (OpenCL, CUDA)")->transform(range)->option_text("N");
  command->add_option("--threads", options->sum.threads, "threads (CPU)")->transform(range)->option_text("N");
  command->footer(R"(Examples:
  samesum sum x.npy                    # the value, and what was summed
  samesum sum *.npy                    # a value for each file, their exact total
  samesum sum --dtype float32 dump.raw # raw little-endian numbers; '>f4': big-endian
  seq 100 | samesum sum -              # text on standard input; .npy and raw, too
  samesum sum --column price sales.csv # one column of a table; or by number
  samesum sum --column price,7 sales.csv # several, in one pass; --all-columns
  samesum sum --sep ';' --decimal , --thousands . eu.txt --column 3
  samesum sum --dtype f4 --offset 512 --count 1000 dump.raw
  samesum sum x.csv.gz z.npz:x         # compressed; an array of an archive
  v=$(samesum sum x.npy)               # one bare number, for scripts
  samesum sum --json x.npy | jq .bits  # everything, for programs
  samesum sum --device all x.npy       # on every device: do they agree?
  samesum sum --device all --split x.npy # on every device a part of it
  samesum sum --nan skip x.npy         # as if no NaN were there
  samesum sum --partial a.sum a.npy    # keep the exact sum, for 'merge'
  samesum sum --part 1/2 --partial 1.part x.npy # half of x.npy; see 'merge'
  samesum sum --checkpoint x.state x.npy # again after a crash: it goes on
  samesum sum --axis 0 x.npy -o y.npy  # of each column of a matrix
  samesum sum photo.png --region 20x10+4+5 # of each channel of an image
  samesum sum --tile 16x16 image.npy -o y.npy # of each tile
  samesum sum --offsets o.npy x.npy    # of x[o[i]] ... x[o[i+1] - 1], each i
  samesum sum --column price --by city,year sales.csv # for each of the groups

A file that begins as a .npy file is one. Other files are raw with --dtype, and
otherwise text; a binary one is an error. A text has numbers with blanks, line ends, commas or
semicolons between them; lines that begin with # are skipped. Integers of up to
64 bits are read exactly, other numbers as the nearest double. Commas are decimal
points or separators of thousands only with --decimal or --thousands, and then
in quotes if they separate columns too. Empty fields, NA and each
--missing WORD count as missing and are reported; NaNs are numbers, for --nan.
Anything else is an error with its place.
A table has tabs, semicolons, commas or blanks between its columns, whichever of
these its first line has first, or as --sep says, and quotes as in RFC 4180.
A column whose name is a number is written in quotes: --column '"2024"'.
Pipes, text and big-endian numbers are read in under 64 MiB of memory.
What gzip or zstd has compressed is read as it is, raw numbers if the name ends
in .gz or .zst; z.npz:x is the array x of an .npz, or a file in any zip archive.
Complex numbers in .npy files have 'sum', 'mean', 'norm' and 'prod': 1.75+2j.

A device is named as 'samesum devices' names it, or by a part of its name, as in
opencl:nvidia. 'auto' goes by the environment variable SAMESUM_DEVICE, or else by
the size of the data. No choice of device, variant, group or threads changes a
bit of the answer.)");
  command->callback([options, &action] {
    options->input.threads = options->sum.threads;
    options->input.any_order = true;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
