// The program: finds the command, runs it, and turns every failure into one message and an exit code.
#include "command.hpp"
#include "cut_short.hpp"
#include "device/driver_watch.hpp"
#include "output/printable.hpp"
#include "output/write.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/version.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

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

Environment:
  SAMESUM_DEVICE          the device for 'auto': cpu, opencl:0, cuda:0, all
  SAMESUM_MEMORY          bytes of memory that files may fill; larger ones are read ahead
  SAMESUM_CACHE_DIR       where compiled kernels are kept (default ~/.cache/samesum/kernels)
  SAMESUM_CACHE           0: keep no compiled kernels
  SAMESUM_TUNING          the file of shapes that 'tune' has found; 0: none
  SAMESUM_KERNELS         the file of kernels that ship; 0: none
  SAMESUM_MASK            capabilities to take away from devices: fp64,local=8192
  SAMESUM_DRIVER_SECONDS  tell of a driver's call that takes longer (default 30; 0: never)
  SAMESUM_OPENCL_LIBRARY  the library to load, as SAMESUM_CUDA_LIBRARY, SAMESUM_NVRTC_LIBRARY
  TMPDIR                  where numbers from pipes are stored for a second pass (default /tmp)
  NO_COLOR                no colours on a terminal

Exit codes: 0; 1 if no right answer can be given (--json: 0, the value null, and the
reason); 2 for bad input or usage.)";

int complain(const std::string& message, int code) {
  write_all(STDERR_FILENO, printable("samesum: " + message + "\n"));
  return code;
}

// Describing a command takes time that every start would pay for all commands: so if `wanted` names a command, only that one is described,
// and none for the version.
void describe(CLI::App& program, Action& action, const std::string& wanted) {
  program.get_formatter()->column_width(24);
  program.get_formatter()->label("SUBCOMMAND", "COMMAND");
  program.get_formatter()->label("Positionals", "Arguments");
  program.set_help_flag("-h,--help", "print this help");
  program.set_version_flag("-V,--version", std::string("samesum ") + version(), "print the version");
  program.require_subcommand(1);
  program.footer(kFooter);
  if (wanted == "--version" || wanted == "-V") return;
  for (const auto add : {add_sum,   add_hist,     add_hist2d, add_statistics, add_dot,   add_product,   add_reduce,
                         add_scan,  add_quantile, add_merge,  add_compare,    add_pairs, add_devices,   add_selftest,
                         add_bench, add_tune,     add_warm,   add_kernel,     add_check, add_completion}) {
    add(program, action);
    if (!program.get_subcommands([&](const CLI::App* command) { return command->get_name() == wanted; }).empty()) break;
  }
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) command->group("Commands");
  finish(program);
}

int run(int argument_count, const char* const* given) {
  CLI::App program(
      "Exact sums, statistics and histograms of big arrays: the same bits from every\n"
      "device, in any order, on any number of machines.",
      "samesum");
  std::vector<std::string> arguments = arguments_of(argument_count, given);
  Action action;
  describe(program, action, arguments.empty() ? "" : arguments.front());
  Output out;
  try {
    std::ranges::reverse(arguments);  // CLI11 expects them reversed
    program.parse(std::move(arguments));
  } catch (const CLI::CallForHelp& request) {
    if (!program.remaining().empty()) return complain(describe_mistake(program, request), kExitUsage);  // help on an unknown command
    out.print("{}", program.help());
  } catch (const CLI::CallForVersion& request) {
    out.print("{}\n", request.what());
  } catch (const CLI::ParseError& error) {
    return complain(describe_mistake(program, error), kExitUsage);
  }
  const DriverWatch watch;
  const int code = action ? action(out) : kExitOk;
  out.flush();
  return code;
}

std::string_view command_of(int argument_count, const char* const* arguments) { return argument_count > 1 ? arguments[1] : "samesum"; }

// Allocates nothing.
int complain_of_memory(std::string_view command) noexcept {
  constexpr std::string_view kEnd =
      ": there is not enough memory for this (ulimit -v, or the machine's): fewer threads (--threads 1), fewer bins or smaller files take "
      "less; "
      "the sums of pipes and text take under 64 MiB\n";
  const auto known = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (!std::ranges::all_of(command, known)) command = "samesum";
  for (const std::string_view text : {std::string_view("samesum: "), command, kEnd}) {
    write_all(STDERR_FILENO, text);
  }
  return kExitUsage;
}

std::string_view running = "samesum";  // the command, for a message
std::terminate_handler otherwise = std::abort;

// Memory that ends where no exception may leave, as in the destructor of a JSON value, which allocates. Anything else is a mistake of ours.
[[noreturn]] void end() noexcept {
  try {
    if (std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    std::_Exit(complain_of_memory(running));
  } catch (...) {
  }
  otherwise();
  std::abort();
}

// Runs the program, and tells of every failure but that of memory.
int run_and_tell(int argument_count, char** arguments) {
  try {
    return run(argument_count, arguments);
  } catch (const BrokenPipe&) {
    return kExitUsage;
  } catch (const Error& error) {
    return complain(error.what(), error.kind() == ErrorKind::no_answer ? kExitNoAnswer : kExitUsage);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {
    const bool threads = error.code() == std::errc::resource_unavailable_try_again;
    return complain(
        fmt::format("{}: {}{}", command_of(argument_count, arguments), error.what(),
                    threads ? ": no more threads can be started (ulimit -u, or a limit of the container); --threads 1 takes fewer" : ""),
        kExitUsage);
  } catch (const std::exception& error) {
    return complain(fmt::format("{}: {}", command_of(argument_count, arguments), error.what()), kExitUsage);
  }
}

}  // namespace
}  // namespace samesum::cli

int main(int argument_count, char** arguments) {
  using namespace samesum::cli;
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit then is a write error, with its reason
  watch_mapped_files();
  running = command_of(argument_count, arguments);
  otherwise = std::set_terminate(end);
  try {
    return run_and_tell(argument_count, arguments);
  } catch (const std::bad_alloc&) {
    return complain_of_memory(running);
  }
}
