// The program: finds the command, runs it, and turns whatever goes wrong into one message and an exit code.
#include "arguments.hpp"
#include "command.hpp"
#include "driver_watch.hpp"
#include "cut_short.hpp"

#include <samesum/error.hpp>
#include <samesum/version.hpp>

#include <cstdio>
#include <exception>
#include <new>

namespace samesum::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  samesum sum x.npy                    # the exact sum of a file
  samesum sum --dtype float64 dump.raw # raw numbers
  samesum stats x.npy                  # extremes, exact mean and variance
  samesum compare x.npy                # plain sums beside the exact one
  samesum hist photo.png --by-channel  # a histogram of numbers, images, text
  samesum pairs A.npy B.npy -o C.npy   # sums over all pairs, nearest neighbours
  samesum devices                      # what there is to compute on
  samesum sum --help                   # each command explains itself

Exit codes: 0; 1 where no right answer can be given; 2 for bad input or usage.)";

int complain(const std::string& message, int code) {
  std::fprintf(stderr, "samesum: %s\n", message.c_str());
  return code;
}

// A mistake in the arguments, and where to read on.
int complain(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  std::string name = "samesum";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  std::string message = error.what();
  std::string known;
  for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; }))
    known += (known.empty() ? " " : ", ") + sub->get_name();
  if (!known.empty()) {
    const std::vector<std::string> rest = command->remaining();
    message = (rest.empty() ? "which command?" : fmt::format("no command '{}'.", rest.front())) + " There are" + known;
  }
  return complain(fmt::format("{}\nTry '{} --help'.", message, name), kExitUsage);
}

// Describing a command takes time, which all that are not asked for would cost every start: `wanted` ends it, where it is a command's name.
void describe(CLI::App& program, Action& action, const std::string& wanted) {
  program.get_formatter()->column_width(24);
  program.get_formatter()->label("SUBCOMMAND", "COMMAND");
  program.get_formatter()->label("Positionals", "Arguments");
  program.set_help_flag("-h,--help", "print this help");
  program.set_version_flag("--version", std::string("samesum ") + version(), "print the version");
  program.require_subcommand(1);
  program.footer(kFooter);
  for (const auto add : {add_sum, add_hist, add_statistics, add_product, add_quantile, add_merge, add_compare, add_pairs, add_devices, add_selftest,
                         add_bench, add_kernel}) {
    add(program, action);
    if (!program.get_subcommands([&](const CLI::App* command) { return command->get_name() == wanted; }).empty()) break;
  }
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) command->group("Commands");
}

int run(int argument_count, const char* const* arguments) {
  CLI::App program(
      "Exact sums, statistics and histograms of big arrays: the same bits from every\n"
      "device, in any order, on any number of machines.",
      "samesum");
  Action action;
  describe(program, action, argument_count > 1 ? arguments[1] : "");
  Output out;
  try {
    program.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    out.print("{}", program.help());
  } catch (const CLI::CallForVersion& request) {
    out.print("{}\n", request.what());
  } catch (const CLI::ParseError& error) {
    return complain(program, error);
  }
  refuse_empty(program);
  const DriverWatch watch;
  const int code = action ? action(out) : kExitOk;
  out.flush();
  return code;
}

}  // namespace
}  // namespace samesum::cli

int main(int argument_count, char** arguments) {
  using namespace samesum::cli;
  watch_mapped_files();
  try {
    return run(argument_count, arguments);
  } catch (const BrokenPipe&) {
    return kExitUsage;
  } catch (const samesum::Error& error) {
    return complain(error.what(), error.kind() == samesum::ErrorKind::no_answer ? kExitNoAnswer : kExitUsage);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kExitUsage);
  } catch (const std::exception& error) {
    return complain(error.what(), kExitUsage);
  }
}
