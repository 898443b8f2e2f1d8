// samesum merge PARTIAL...
#include "command.hpp"
#include "compute/statistics.hpp"
#include "output/result.hpp"
#include "part/part.hpp"
#include "part/partial.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>

#include <memory>
#include <optional>

namespace samesum::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::optional<std::uint64_t> ddof;  ///< unless given, as the parts say
  std::string out;
  ResultOptions result;
};

int print_sum_of(Output& out, const MergeOptions& options, const std::vector<Partial>& parts) {
  std::vector<NamedSum> sums;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sums.push_back({options.files[i], std::get<Accumulator>(parts[i].result), std::nullopt, {}});
  }
  if (!options.result.json) {
    print_sums(out, options.result, sums);
    return kExitOk;
  }
  Json object;
  add_accumulator(object, options.result, total_of(sums));
  object["files"] = Json::array();
  for (const NamedSum& sum : sums) object["files"].push_back(json_of(options.result, sum));
  out.print("{}\n", to_text(object));
  return kExitOk;
}

// Results of whole inputs: their files say how they were made no more than their kind.
int print_whole(Output& out, const MergeOptions& options, const PartialResult& result) {
  if (const auto* const sum = std::get_if<ProductAccumulator>(&result)) return print_dot(out, *sum, false, true, options.result);
  PartOf of;
  of.work["command"] = std::holds_alternative<Histogram>(result) ? "hist" : "stats";
  of.work["files"] = Json::array();
  of.work["files"].push_back(Json{{"file", fmt::format("{} partial results", options.files.size())}, {"type", "float64"}});
  of.work["how"] = Json::object();
  of.print = {{"wanted", Json::array()}, {"ddof", options.ddof.value_or(0)}, {"log", false}};
  if (const auto* const all = std::get_if<Statistics>(&result)) of.print["wanted"] = names_of(*all);
  return print_partial(out, {result, of}, options.result);
}

int run(Output& out, const MergeOptions& options) {
  options.result.check();
  const PartialTarget target(options.result.partial, options.files);
  const OutputFile array(options.out, options.files);
  std::vector<Partial> parts;
  for (const std::string& file : options.files) {
    parts.push_back(load_partial(file));
    if (parts.back().of.has_value() != parts.front().of.has_value()) {
      throw Error(ErrorKind::usage,
                  fmt::format("one of {} and {} is a part of an input, the other is of whole inputs: merge the parts first, "
                              "with --partial, and then the wholes",
                              options.files.front(), file));
    }
  }
  if (parts.front().of) {
    Partial whole = joined(std::move(parts), options.files);
    const bool by_key = std::holds_alternative<Grouped>(whole.result);
    if (by_key && !options.result.partial.empty()) refuse("parts by key are merged all at once, and printed: leave out --partial");
    if (options.ddof) (by_key ? whole.of->work["how"] : whole.of->print)["ddof"] = *options.ddof;
    target.save(out, {whole.result, std::nullopt});
    return print_partial(out, whole, options.result, &array);
  }
  if (array.wanted()) refuse("--out writes the array that parts of pairs give, and these are results of whole inputs");
  PartialResult total = parts.front().result;
  for (std::size_t i = 1; i < parts.size(); ++i) merge(total, parts[i].result, options.files.front(), options.files[i]);
  target.save(out, {total, std::nullopt});
  return std::holds_alternative<Accumulator>(total) ? print_sum_of(out, options, parts) : print_whole(out, options, total);
}

}  // namespace

void add_merge(CLI::App& program, Action& action) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App* command = program.add_subcommand("merge", "One exact answer of partial results, from any number of machines");
  command->add_option("PARTIAL", options->files, "files that '--partial' wrote: of sum, stats, hist, dot, pairs")
      ->required()
      ->option_text("...");
  command->add_option("--ddof", options->ddof, "var, std: divide by n - N (default 0)")
      ->transform(whole_number(0, UINT64_MAX))
      ->option_text("N");
  command->add_option("-o,--out", options->out, "of parts of pairs: .npy to write; else the values are printed")->type_name("FILE");
  add_options(*command, options->result, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose | kPartial);
  refuse_option(*command, "--nodata", "the elements are summed already: give it to 'samesum sum'");
  command->footer(R"(Examples:
  samesum sum --partial a.sum a.npy    # here, or on one machine
  samesum sum --partial b.sum b.npy    # there, or later
  samesum merge a.sum b.sum            # the bits of 'samesum sum a.npy b.npy'
  samesum merge --partial c.sum *.sum  # a partial sum again: any grouping, any order

The parts of one input (--part) are printed as their command asked for, and must
all be there, each once:
  samesum stats --part 1/2 --partial 1.part x.npy # on one machine
  samesum stats --part 2/2 --partial 2.part x.npy # on another one
  samesum merge 1.part 2.part          # the bits of 'samesum stats x.npy')");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
