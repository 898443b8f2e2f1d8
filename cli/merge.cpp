// samesum merge PARTIAL...
#include "command.hpp"
#include "partial.hpp"
#include "result.hpp"
#include "usage.hpp"

#include <memory>

namespace samesum::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  ResultOptions result;
};

int run(Output& out, const Options& options) {
  options.result.check();
  const PartialTarget partial(options.result.partial, options.files);
  std::vector<NamedSum> sums;
  for (const std::string& file : options.files) sums.push_back({file, load_partial(file), std::nullopt, {}});
  const Accumulator total = total_of(sums);
  partial.save(out, total);

  if (options.result.json) {
    Json object;
    add_accumulator(object, options.result, total);
    object["files"] = Json::array();
    for (const NamedSum& sum : sums) object["files"].push_back(json_of(options.result, sum));
    out.print("{}\n", to_text(object));
  } else {
    print_sums(out, options.result, sums);
  }
  return kExitOk;
}

}  // namespace

void add_merge(CLI::App& program, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("merge", "The exact total of partial sums, from any number of machines");
  command->add_option("PARTIAL", options->files, "files that 'samesum sum --partial' wrote")->required()->option_text("...");
  add_options(*command, options->result, kNan | kFloat32 | kPlain | kJson | kCsv | kHex | kVerbose | kPartial);
  refuse_option(*command, "--nodata", "the elements are summed already: give it to 'samesum sum'");
  command->footer(R"(Examples:
  samesum sum --partial a.sum a.npy    # here, or on one machine
  samesum sum --partial b.sum b.npy    # there, or later
  samesum merge a.sum b.sum            # the bits of 'samesum sum a.npy b.npy'
  samesum merge --partial c.sum *.sum  # a partial sum again: any grouping, any order)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
