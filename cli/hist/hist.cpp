// samesum hist FILE
#include "command.hpp"
#include "compute/summing.hpp"
#include "hist/options.hpp"
#include "hist/standard_image.hpp"
#include "input/chain.hpp"
#include "input/nodata.hpp"
#include "input/two_passes.hpp"
#include "input/user_file.hpp"
#include "output/output_file.hpp"
#include "output/progress.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

namespace samesum::cli {
namespace {

// The file name after the '@' of --edges; empty if there is none.
std::string edges_file(const std::string& edges) { return edges.starts_with('@') ? edges.substr(1) : ""; }

// The output file of the plot. Its extension selects the format.
OutputFile plot_of(const HistOptions& options) {
  const std::string& path = options.plot;
  std::string end = path.size() < 4 ? "" : path.substr(path.size() - 4);
  std::ranges::transform(end, end.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!path.empty() && path != "-" && end != ".svg") {
    refuse(fmt::format("--plot {}: drawings are SVG: give a name that ends in .svg (rsvg-convert or a browser makes a PNG of it)", path));
  }
  return OutputFile(path, {options.input.files.front(), edges_file(options.edges), options.compare});
}

double parse_number(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(fmt::format("{}: '{}' is no number", where, text));
  return value;
}

// Numbers separated by commas, blanks or line ends; from a file, where the text is '@' and its name.
std::vector<double> parse_edges(const std::string& given) {
  const std::string file = edges_file(given);
  std::string text = file.empty() ? given : read_file(file);
  bool after_comma = true;
  for (char& c : text) {
    if (c == ',' && after_comma) refuse(fmt::format("{}: a number is missing before a comma", file.empty() ? "--edges" : file));
    if (c == ',' || std::isspace(static_cast<unsigned char>(c)) == 0) after_comma = c == ',';
    if (c == ',') c = ' ';
  }
  std::vector<double> edges;
  std::istringstream words(text);
  for (std::string word; words >> word;) edges.push_back(parse_number(word, file.empty() ? "--edges" : file));
  return edges;
}

}  // namespace

std::string describe(const Report& report) {
  std::string text = report.device;
  if (!report.configuration.empty()) text += " " + report.configuration;
  text += ", " + duration(report.seconds);
  if (report.seconds > 0) text += fmt::format(", {:.3g} GB/s", static_cast<double>(report.bytes) / report.seconds / 1e9);
  if (report.upload_seconds > 0) text += fmt::format("; upload {}", duration(report.upload_seconds));
  return text;
}

void check_plot(const std::string& plot, const ResultOptions& result) {
  if (plot == "-" && (result.csv || result.json)) refuse("--plot - draws on standard output, where --csv and --json print: name a file");
}

void check_bins(const HistOptions& options, const std::string& prefix) {
  const auto given = [&](std::string_view names, std::string_view rest) {
    std::string list;
    for (const char c : names) list += c == '+' ? prefix : std::string(1, c);
    refuse(list + std::string(rest));
  };
  if (!options.edges.empty() && (options.bins != 0 || !options.range.empty() || options.log_bins || options.each_value)) {
    given("+edges gives the bounds of every bin: +bins, +range, +log-bins and +each-value", " cannot be used with it");
  }
  if (!options.bin.empty()) {
    if (!options.edges.empty() || !options.range.empty() || options.log_bins || options.each_value || options.letters != 0) {
      given("+bin says which bin a number belongs to: +range, +edges, +log-bins, +each-value", " and --letters cannot be used with it");
    }
    if (options.bins == 0) given("+bin takes +bins, the number of bins: they are 0 to N - 1", "");
  }
  if (options.each_value && (options.bins != 0 || options.log_bins)) {
    given("+each-value makes a bin for each value: +bins and +log-bins", " cannot be used with it");
  }
}

Bins make_bins(const HistOptions& options, std::optional<DType> type, const std::function<std::optional<Range>()>& find_range) {
  if (!options.bin.empty()) {
    const FormulaMath math = options.input.math();
    return Bins::by_formula(Formula(options.bin, math), options.bins, options.input.formula_parameters());
  }
  if (!options.edges.empty()) return Bins::between(parse_edges(options.edges));
  const bool eight_bits = type && is_integer(*type) && size_of(*type) == 1;
  const bool nothing_asked = options.bins == 0 && options.range.empty() && !options.log_bins;
  if (!options.each_value && nothing_asked && eight_bits) return Bins::each_value(*type);
  if (options.each_value && options.range.empty() && type && is_integer(*type) && size_of(*type) <= 2) return Bins::each_value(*type);

  Range range{0, 0};
  if (options.range.size() == 2) {
    range = {options.range[0], options.range[1]};
  } else if (const std::optional<Range> found = find_range()) {
    range = *found;
  } else {
    range = {0, 1};  // as numpy does without numbers
  }
  if (options.each_value) {
    if (!(std::abs(range.min) <= 0x1p52 && std::abs(range.max) <= 0x1p52))
      refuse(fmt::format("--each-value takes whole numbers of up to 2^52, and these go from {:g} to {:g}: give --bins instead", range.min,
                         range.max));
    return Bins::each_value(static_cast<std::int64_t>(std::floor(range.min)), static_cast<std::int64_t>(std::ceil(range.max)));
  }
  const std::uint64_t count = options.bins != 0 ? options.bins : 64;
  if (options.log_bins) return Bins::logarithmic(range.min, range.max, count);
  return options.range.empty() ? Bins::spanning(range.min, range.max, count) : Bins::even(range.min, range.max, count);
}

std::optional<Range> joined(std::optional<Range> a, std::optional<Range> b) {
  if (!a || !b) return a ? a : b;
  return Range{std::min(a->min, b->min), std::max(a->max, b->max)};
}

void draw_plot(Output& out, const HistOptions& options, const std::vector<Chart>& charts) {
  const OutputFile plot = plot_of(options);
  if (!plot.wanted()) return;
  if (charts.size() > 1) refuse("--plot draws one histogram, not one for each of the tiles: leave --tiles out");
  const std::string drawing = svg_of(charts.front(), options.log);
  plot.write(out, {bytes_of(drawing)});
}

void print_charts(Output& out, const HistOptions& options, const std::vector<Chart>& charts, const Report& report, std::string_view format,
                  std::uint64_t missing) {
  const Chart& first = charts.front();
  draw_plot(out, options, charts);
  if (options.result.json) {
    Json object;
    if (options.input.files.size() == 1) {
      object["file"] = options.input.files.front();
    } else {
      object["files"] = options.input.files;
    }
    object["format"] = format;
    if (first.pages != 0) object["pages"] = first.pages;
    object["kind"] = first.series.front().histogram.bins().kind();
    if (!options.bin.empty()) object["bin"] = first.series.front().histogram.bins().formula()->formula.to_string();
    object["bins"] = first.series.front().histogram.bins().count();
    object["edges"] = first.series.front().histogram.bins().edges();
    if (charts.size() == 1) {
      object["channels"] = json_of(first)["channels"];
    }
    if (missing != 0 || format == "text") object["missing"] = missing;
    object["device"] = report.device;
    object["configuration"] = report.configuration;
    object["upload_seconds"] = rounded_seconds(report.upload_seconds);
    object["seconds"] = rounded_seconds(report.seconds);
    if (charts.size() == 1) {
      out.print("{}\n", to_text(object));
    } else {
      print_with_array(out, std::move(object), "tiles", charts.size(), [&](std::uint64_t i) { return json_of(charts[i]); });
    }
  } else if (options.result.csv) {
    out.print("{}", csv_of(charts));
  } else if (options.plot.empty() || options.result.verbose) {
    if (first.pages > 1) out.print("{}\n", first.title);
    if (charts.size() > 1) {
      draw_tiles(out, charts, options.log, terminal_width());
    } else {
      draw(out, first, options.log, terminal_width());
    }
  }
  if (missing != 0 && !options.result.json)
    out.note(fmt::format("{} missing{}", counted(missing, "number"), options.input.nodata.empty() ? "" : " or equal to --nodata"));
  if (options.result.verbose) out.note(describe(report));
}

namespace {

// The name of the input, or the number of inputs.
std::string title_of(const Input& input) {
  const std::string& first = input.files.front();
  return input.files.size() > 1 ? fmt::format("{} files", input.files.size()) : shown_name(first);
}

int run_characters(Output& out, const HistOptions& options, const std::string& path) {
  const std::string given = options.characters ? "--characters" : "--letters";
  if (options.bins != 0 || !options.range.empty() || !options.edges.empty() || !options.bin.empty() || options.log_bins ||
      options.each_value || !options.input.map.empty() || !options.input.nodata.empty() || options.selection.wanted() ||
      !options.tile.empty() || !options.tiles.empty()) {
    refuse(
        fmt::format("{} has a bin for each {}: leave out what makes other bins (--bins, --range, --edges, --bin, --log-bins, "
                    "--each-value), and --map, --nodata, --tile, --tiles, --region and --mask",
                    given, options.characters ? "byte" : "group of letters"));
  }
  for (const std::string& file : options.input.files) {
    if (is_npy(file))
      refuse(fmt::format("{}: {} counts the bytes of a text, and this is a .npy file: leave it out", shown_name(file), given));
    if (is_image(file))
      refuse(fmt::format("{}: {} counts the bytes of a text, and this is an image: leave it out", shown_name(file), given));
  }
  if (options.by_channel || options.alpha || options.page != 0 || options.input.of_text()) {
    refuse(
        fmt::format("{} counts the bytes of a text as they are: leave out what is for images (--by-channel, --alpha, --page) and for "
                    "tables (--column, --missing, --sep and their like)",
                    given));
  }
  const CharacterMap map = options.characters ? CharacterMap::bytes() : CharacterMap::letters(options.letters);
  InputOptions raw;
  raw.raw = RawType{DType::uint8};
  raw.allow_empty = options.input.allow_empty;
  std::vector<NamedSource> sources;
  for (const std::string& file : options.input.files) sources.push_back({file, [file, raw] { return open_source(file, raw); }});
  const std::unique_ptr<Source> source = as_one(std::move(sources)).open();
  const Device device = choose_device(options.device, source->resident_bytes());
  CharacterCounts total{map.names, std::vector<std::uint64_t>(map.names.size()), 0};
  std::optional<Report> report;
  while (const std::optional<Array> view = source->next()) {
    const std::string_view text(static_cast<const char*>(view->data()), view->size());
    Report step;
    const CharacterCounts counts = count_characters(text, map, {.device = device, .report = &step, .tuning = options.tuning});
    if (report) {
      *report += step;
    } else {
      report = std::move(step);
    }
    for (std::size_t i = 0; i < counts.counts.size(); ++i) total.counts[i] += counts.counts[i];
    total.others += counts.others;
  }
  const OutputFile plot = plot_of(options);
  if (plot.wanted()) {
    const std::string drawing = svg_of(title_of(options.input), total, options.log);
    plot.write(out, {bytes_of(drawing)});
  }
  if (options.result.json) {
    Json object = {{"file", options.input.files.size() > 1 ? title_of(options.input) : path},
                   {"names", total.names},
                   {"counts", total.counts},
                   {"others", total.others}};
    out.print("{}\n", to_text(object));
  } else if (options.result.csv) {
    out.print("characters,count\n");
    for (std::size_t i = 0; i < total.counts.size(); ++i) {
      out.print("{},{}\n", csv_field(total.names[i]), total.counts[i]);
    }
    out.print("others,{}\n", total.others);
  } else if (options.plot.empty()) {
    draw(out, total, options.log, terminal_width());
  }
  if (options.result.verbose && report) out.note(describe(*report));
  return kExitOk;
}

int run_numbers(Output& out, const HistOptions& options) {
  Input any = options.input;
  any.any_order = true;
  TwoPasses input(any);
  const std::optional<DType> type = input.source().type();
  const std::string format(input.source().format());
  const Bins bins = make_bins(options, type, [&] { return input.range(); });
  Report report;
  const Device device = choose_device(options.device, options.input.resident_bytes());
  std::vector<Chart> charts(1);
  charts[0].title = title_of(options.input);
  charts[0].series.push_back({"", histogram(input.source(), bins, {.device = device, .report = &report, .tuning = options.tuning})});
  print_charts(out, options, charts, report, format, input.source().missing());
  return kExitOk;
}

// --part, --checkpoint, --partial.
int run_in_parts(Output& out, const HistOptions& options) {
  if (options.weighted() || !options.compare.empty() || !options.tile.empty() || !options.tiles.empty() || options.by_channel ||
      options.alpha || options.page != 0 || options.selection.wanted() || options.letters != 0 || options.characters ||
      !options.plot.empty()) {
    refuse(
        "--part, --checkpoint and --partial are for one histogram of numbers: leave out --weights, --compare, --plot and what is for "
        "images and texts");
  }
  require_one_input(options.input);
  const std::string& file = options.input.files.front();
  const std::optional<DType> type = is_stream(file) ? std::nullopt : options.input.open(file)->type();
  const Bins bins = make_bins(options, type, []() -> std::optional<Range> {
    refuse("each part needs the same bins, whatever its elements: give --range or --edges");
  });
  std::vector<std::byte> form = Histogram(bins).serialize();
  PartWork work;
  work.command = "hist";
  work.how = {{"bins", bins.count()}, {"edges", fmt::format("{:016x}", hash_of(form))}};
  if (bins.formula() != nullptr) work.how["formula"] = {bins.formula()->formula.to_string(), options.input.parameters};
  work.print = {{"log", options.log}};
  work.reduce = [&](std::span<const std::unique_ptr<Source>> sources, const Device& device) -> PartialResult {
    Histogram counts = histogram(*sources.front(), bins, {.device = device, .tuning = options.tuning});
    return bins.formula() == nullptr ? counts : Histogram::deserialize(counts.serialize());  // by its edges, as the others' come from files
  };
  return run_part(out, options.input, options.device, options.part, options.result, work);
}

int run_image(Output& out, const HistOptions& options, const std::string& path) try {
  return run_hist_image(out, options, path, shown_name(options.input.files.front()));
} catch (const Error& error) {
  const std::string_view message = error.what();
  if (options.input.files.front() != "-" || !message.starts_with(path)) throw;
  throw Error(error.kind(), fmt::format("standard input{}", message.substr(path.size())));
}

int run(Output& out, const HistOptions& options) {
  const std::string& path = options.input.files.front();
  options.result.check();
  options.part.check();
  check_plot(options.plot, options.result);
  if (options.letters != 0 && options.characters && options.bin.empty())
    refuse("--characters counts bytes, --letters letters: leave one out");
  plot_of(options);  // fails before the work if it cannot be written
  if (options.bin.empty() && options.input.map.empty() && (!options.input.parameters.empty() || options.input.native)) {
    refuse("--param and --native are for the formulas of --bin and --map, and there is none");
  }
  check_bins(options, "--");
  check_used(options.input.parameters, {options.bin, options.input.map});
  if (options.part.wanted() || !options.result.partial.empty()) return run_in_parts(out, options);
  if (!options.bin.empty() && options.characters) {
    HistOptions bytes = options;
    bytes.input.dtype = "uint8";
    return run_numbers(out, bytes);
  }
  if (options.input.files.size() > 1 && !options.input.total && options.input.map.empty())
    refuse("one histogram of several files is what --total counts; without it give one file");
  if (!options.tile.empty() && (!options.tiles.empty() || !options.compare.empty())) {
    refuse("--tile gives the size of tiles: --tiles and --compare cannot be used with it");
  }
  if (!options.selection.mask.empty() && (!options.tiles.empty() || !options.tile.empty())) {
    refuse("--mask takes pixels out of their places: --tiles and --tile cannot be used with it");
  }
  if ((!options.compare.empty() || options.weighted()) && (options.letters != 0 || options.characters)) {
    refuse("--compare and --weights are for numbers: --letters and --characters cannot be used with them");
  }
  if (options.letters != 0 || options.characters) return run_characters(out, options, path);
  for (const std::string& file : options.input.files) {
    if (options.input.total && options.input.files.size() > 1 && options.input.dtype.empty() && is_image(file))
      refuse(fmt::format("{}: an image, and --total counts the numbers of several files: give one image", shown_name(file)));
  }
  if (options.input.files.size() == 1 && options.input.dtype.empty()) {
    const std::string image = path == "-" ? image_from_standard_input() : is_image(path) ? path : "";
    if (!image.empty() && (!options.compare.empty() || options.weighted()))
      refuse("--compare and --weights are for numbers, not for images");
    if (!image.empty() && options.input.of_text())
      refuse(fmt::format("{}: an image, and --column, --header, --missing and their like are for text: leave them out", shown_name(path)));
    if (!image.empty()) return run_image(out, options, image);
  }
  if (options.by_channel || options.alpha || options.page != 0 || options.max_pixels != HistOptions().max_pixels) {
    if (options.input.map.empty() && !is_stream(path) && !std::filesystem::exists(path)) options.input.open(path);  // which says so
    refuse(fmt::format("{}: --by-channel, --alpha, --page and --max-pixels are for images, and this is no PNG, JPEG or TIFF image",
                       shown_name(path)));
  }
  const bool of_matrix = !options.tile.empty() || !options.tiles.empty() || options.selection.wanted();
  if (options.weighted()) {
    if (of_matrix || !options.compare.empty() || !options.input.map.empty() || !options.input.nodata.empty()) {
      refuse(
          "--weights goes with numbers as they are: --tile, --tiles, --region, --mask, --compare, --map and --nodata cannot be used with "
          "it");
    }
    return run_weighted(out, options, {options.input}, {options});
  }
  if (of_matrix && !options.compare.empty())
    refuse("--compare is for all numbers: --tile, --tiles, --region and --mask cannot be used with it");
  if (of_matrix) return run_matrix(out, options);
  return options.compare.empty() ? run_numbers(out, options) : run_compare(out, options);
}

}  // namespace

void add_hist(CLI::App& program, Action& action) {
  const auto options = std::make_shared<HistOptions>();
  CLI::App* command = program.add_subcommand("hist", "A histogram of numbers, an image or a text: every count right");
  add_files(*command, options->input, ".npy, text, raw numbers, PNG, JPEG, TIFF; none, or -: standard input");
  const CLI::Validator range = whole_number(1, Bins::kMax);
  command->add_option("--bins", options->bins, "bins of one width (default 64)")->transform(range)->option_text("N");
  command->add_option("--range", options->range, "where the bins begin and end (default: the data's range)")
      ->expected(2)
      ->option_text("LOW HIGH");
  command->add_option("--edges", options->edges, "the bounds of all bins: 0,1,10 or @FILE")->option_text("EDGES");
  command->add_option("--bin", options->bin, "the bin of a number x by a formula, with --bins: 'clz(x)'")->type_name("FORMULA");
  command->add_flag("--log-bins", options->log_bins, "bins of one ratio: logarithmic");
  command->add_flag("--each-value", options->each_value, "a bin for each whole number, to which others are rounded");
  add_options(*command, options->input);
  add_total(*command, options->input);
  add_nodata(*command, options->input.nodata);
  add_map(*command, options->input);
  command->add_flag("--by-channel", options->by_channel, "of an image: a histogram of each channel");
  command->add_flag("--alpha", options->alpha, "of an image: count the alpha channel, too");
  command->add_option("--tiles", options->tiles, "of an image or matrix: a histogram of each tile of a grid")->option_text("COLUMNSxROWS");
  command->add_option("--tile", options->tile, "of an image or matrix: a histogram of each tile of a size")->type_name("HxW");
  add_selection(*command, options->selection, "of an image or matrix");
  command->add_option("--page", options->page, "of a TIFF: one of its pages (default all)")
      ->transform(whole_number(1, 1u << 31))
      ->option_text("N");
  command->add_option("--max-pixels", options->max_pixels, "refuse images of more (default 2^30)")
      ->transform(whole_number(1, std::uint64_t{1} << 62))
      ->option_text("N");
  command->add_option("--letters", options->letters, "of a text: count letters, N to a bin")
      ->transform(whole_number(1, 26u))
      ->option_text("N");
  command->add_flag("--characters", options->characters, "of a text: count each byte");
  command->add_option("--compare", options->compare, "how far the histogram is from another file's")->type_name("FILE");
  add_weights(*command, *options);
  command->add_flag("--log", options->log, "draw logarithmic bars");
  command->add_option("--plot", options->plot, "draw into an SVG file; - is standard output")->type_name("OUT.svg");
  add_options(*command, options->result, kJson | kCsv | kVerbose | kPartial);
  add_part(*command, options->part);
  refuse_option(*command, "--plain", "a count means little without its bin: --csv has both");
  refuse_option(*command, "--float32", "counts are whole numbers, and edges are compared exactly");
  const CLI::Validator number = whole_number(1, 1u << 16);
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default) ...")->type_name("DEVICE");
  command->add_option("--threads", options->tuning.threads, "threads (CPU)")->transform(number)->option_text("N");
  command->footer(R"(Examples:
  samesum hist x.npy                     # 64 bins from the least to the greatest
  samesum hist --bins 20 --range 0 1 x.npy
  samesum hist --edges 0,1,10,100 x.npy  # any edges
  samesum hist --bin 'clz(x)' --bins 65 counts.npy  # a formula gives x's bin
  samesum hist --characters --bin '(x - 97)/4' --bins 7 book.txt
  samesum hist photo.jpg --by-channel --plot photo.svg
  samesum hist photo.png --tiles 4x3 --json
  samesum hist image.npy --tile 16x16 --bins 10 --csv
  samesum hist image.npy --region 20x10+4+5 --bins 10
  samesum hist photo.png --region 20x10+4+5 --mask mask.png
  samesum hist book.txt --letters 4      # a-d, e-h, ... as in the textbook
  seq 100 | samesum hist - --bins 5 --csv
  samesum hist --total --column 2 *.csv # one histogram of several files
  samesum hist --range 0 1 --part 1/2 --partial 1.part x.npy # half; see 'merge'
  samesum hist a.npy --weights v.npy --bins 10 # exact sums of weights
  samesum hist a.npy --compare b.npy    # earth mover's distance and others

Bin i holds edge[i] <= x < edge[i+1], the last one its upper edge too, compared
exactly whatever the type. Samples below, above, and NaNs have their own counts.
Without options, integers of 8 bits have a bin for each value. Bounds from the
data take two passes: without --range or --edges, standard input and text go
through a temporary file (in TMPDIR). Infinities set no bounds.
All pages of a TIFF are counted, or --page N; reduced copies and masks are not.
No choice of device or threads changes a count.)");
  command->callback([options, &action] {
    options->input.threads = options->tuning.threads;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
