// samesum check FILE: a user's kernel in Oclgrind, an interpreter of kernels that looks at every access.
#include "command.hpp"
#include "kernel/user_kernel.hpp"
#include "output/output.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {
namespace {

struct CheckOptions {
  std::string file, pattern, size, dtype, ladder = "max", identity;
  std::uint32_t seconds = 60;
  std::uint32_t group = 0, bins = 0;
};

// Oclgrind as an OpenCL driver; "" where it is not installed.
std::string find_oclgrind() {
  std::vector<std::filesystem::path> folders = {"/usr/lib", "/usr/local/lib"};
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib", ignored)) folders.push_back(entry.path());
  for (const auto& folder : folders) {
    const auto library = folder / "oclgrind" / "liboclgrind-rt-icd.so";
    if (std::filesystem::exists(library, ignored)) return library.string();
  }
  return {};
}

// What a command wrote, and how it ended.
struct Outcome {
  std::string out, messages;
  int status = 0;
};

Outcome run_with(std::vector<std::string> arguments, std::vector<std::string> settings) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name(*variable, std::strcspn(*variable, "="));
    const bool set = name.starts_with("OCLGRIND_") || name == "OCL_ICD_VENDORS" || name == "OCL_ICD_FILENAMES" || name == "SAMESUM_CACHE" ||
                     name == "SAMESUM_DEVICE";
    if (!set) settings.emplace_back(*variable);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  const std::vector<char*> argument_pointers = pointers(arguments), setting_pointers = pointers(settings);
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& ends : pipes) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::usage, fmt::format("a process cannot be started: {}", std::strerror(errno)));
  }
  const pid_t id = fork();
  if (id == 0) {
    const bool ready =
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && dup2(pipes[0][1], STDOUT_FILENO) >= 0 && dup2(pipes[1][1], STDERR_FILENO) >= 0;
    if (ready) execve("/proc/self/exe", argument_pointers.data(), setting_pointers.data());
    _exit(127);
  }
  for (auto& ends : pipes) close(ends[1]);
  if (id < 0) throw Error(ErrorKind::usage, fmt::format("a process cannot be started: {}", std::strerror(errno)));
  Outcome outcome;
  std::array<pollfd, 2> watched = {pollfd{pipes[0][0], POLLIN, 0}, pollfd{pipes[1][0], POLLIN, 0}};
  constexpr std::size_t kMax = 1 << 20;  // of a kernel that is wrong everywhere the first messages are enough
  for (int open = 2; open > 0;) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      std::array<char, 4096> block{};
      const ssize_t count = read(watched[i].fd, block.data(), block.size());
      std::string& to = i == 0 ? outcome.out : outcome.messages;
      if (count > 0 && to.size() < kMax) to.append(block.data(), static_cast<std::size_t>(count));
      if (count <= 0) {
        watched[i].fd = -1;
        --open;
      }
    }
  }
  for (auto& ends : pipes) close(ends[0]);
  while (waitpid(id, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

// Oclgrind's messages are blocks between empty lines.
std::vector<std::string> findings_in(std::string_view text) {
  std::vector<std::string> findings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    std::string block(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
    while (!block.empty() && block.front() == '\n') block.erase(0, 1);
    const bool finding = block.find("Kernel: ") != std::string::npos || block.find("data race") != std::string::npos ||
                         block.starts_with("Invalid ") || block.find("divergence") != std::string::npos;
    if (finding) findings.push_back(std::move(block));
  }
  return findings;
}

// Oclgrind counts the lines of the kernel's file, but quotes those of all that is compiled with it: the line of the kernel instead.
std::string with_lines_of(const UserKernel& kernel, const std::string& finding) {
  constexpr std::string_view kAt = "At line ", kOf = " of kernel:";
  std::vector<std::string> lines_of_kernel;
  std::istringstream source(kernel.source), lines(finding);
  for (std::string line; std::getline(source, line);) lines_of_kernel.push_back(std::move(line));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(kAt), end = line.rfind(kOf);
    const std::size_t number =
        at == std::string::npos || end == std::string::npos ? 0 : std::strtoul(line.c_str() + at + kAt.size(), nullptr, 10);
    if (number == 0 || number > lines_of_kernel.size()) {
      result += line + "\n";
      continue;
    }
    const std::string& quoted = lines_of_kernel[number - 1];
    result += fmt::format("{} of {}:\n\t  {}\n", line.substr(0, end), kernel.name,
                          quoted.substr(std::min(quoted.find_first_not_of(" \t"), quoted.size())));
    std::getline(lines, line);
  }
  return result;
}

// Findings that differ in nothing but the work-item and its address are one.
struct Finding {
  std::string text, common;
  std::size_t more = 0;
};
std::vector<Finding> joined(const UserKernel& kernel, const std::vector<std::string>& texts) {
  std::vector<Finding> all;
  for (const std::string& text : texts) {
    std::string common;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("ntity: ") == std::string::npos) common += line.substr(0, line.find(" address 0x")) + "\n";
    }
    const auto same = std::ranges::find(all, common, &Finding::common);
    if (same != all.end()) {
      ++same->more;
    } else {
      all.push_back({with_lines_of(kernel, text), std::move(common)});
    }
  }
  return all;
}

int run(Output& out, const CheckOptions& options) {
  const UserKernel kernel = load_user_kernel(options.file);
  const std::string pattern = pattern_of(kernel, options.pattern);
  const std::string library = find_oclgrind();
  if (library.empty()) {
    throw Error(ErrorKind::usage,
                "Oclgrind, which this needs, is not installed: it is Debian's and Ubuntu's package oclgrind ('apt install oclgrind')");
  }
  const std::string size = options.size.empty() ? pattern == "pairs" ? "100" : "1000" : options.size;
  std::vector<std::string> arguments = {
      "samesum",  "bench",    pattern,  "--kernel", options.file, "--kernel-seconds", std::to_string(options.seconds),
      "--device", "opencl:0", "--runs", "1",        "--json"};
  const auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  // A rung of their own: the user's kernel is run whatever is asked for.
  if (pattern == "barrier") {
    const std::string group = std::to_string(options.group != 0 ? options.group : 8);
    add({"--variant", kernel.name, "--no-shapes", "--rounds", "2", "--items", std::to_string(2 * std::stoul(group)), "--group", group});
  } else {
    add({"--variant", kernel.name, "--size", size, "--seconds", "0.001", "--group",
         std::to_string(options.group != 0 ? options.group : 32)});
  }
  if (pattern == "histogram") add({"--data", "uniform"});
  if (pattern == "histogram" && options.bins != 0) add({"--bins", std::to_string(options.bins)});
  if (!options.dtype.empty()) add({"--dtype", options.dtype});
  if (pattern == "reduce") add({"--ladder", options.ladder});
  if (pattern == "reduce" && !options.identity.empty()) add({"--identity", options.identity});
  const Outcome outcome = run_with(std::move(arguments),
                                   {"OCL_ICD_VENDORS=" + library, "OCLGRIND_DATA_RACES=1", "OCLGRIND_MAX_ERRORS=1000", "SAMESUM_CACHE=0"});
  const std::vector<Finding> findings = joined(kernel, findings_in(outcome.messages));
  for (const Finding& finding : findings) {
    out.print("{}\n{}\n", finding.text.substr(0, finding.text.find_last_not_of(" \t\n") + 1),
              finding.more == 0 ? "" : fmt::format("\tand {} more of it\n", finding.more));
  }
  const int code = WIFEXITED(outcome.status) ? WEXITSTATUS(outcome.status) : -1;
  if (findings.empty() && code != kExitOk && code != kExitNoAnswer) {
    std::string_view words = outcome.messages;
    if (words.starts_with("samesum: ")) words.remove_prefix(9);
    while (words.ends_with('\n')) words.remove_suffix(1);
    if (words.find(": the process crashed (") != std::string_view::npos) {
      throw Error(ErrorKind::no_answer,
                  fmt::format("{}; or its parameters are others than 'samesum bench {} --help' asks for", words, pattern));
    }
    throw Error(ErrorKind::usage, words.empty() ? fmt::format("{}: it could not be run in Oclgrind", kernel.name) : std::string(words));
  }
  if (findings.empty()) {
    out.print("{}: Oclgrind found no wild access and no data race; its result is {}\n", kernel.name,
              code == kExitOk ? "right" : out.bold("wrong"));
    return code;
  }
  out.print("{}: Oclgrind found {}{}\n", kernel.name, findings.size() == 1 ? "one fault" : fmt::format("{} faults", findings.size()),
            code == kExitOk ? ", though its result happened to be right" : "");
  return kExitNoAnswer;
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = program.add_subcommand("check", "A kernel of your own in Oclgrind: wild accesses and data races");
  command->add_option("FILE", options->file, "the kernel, as for 'samesum bench PATTERN --kernel'")->required();
  command->add_option("--pattern", options->pattern, "sum, reduce, histogram, pairs, barrier; by default what its name says")
      ->option_text("PATTERN");
  command->add_option("--size", options->size, "elements that it is run on (default 1000, of pairs 100)")->option_text("N");
  command->add_option("--dtype", options->dtype, "of sums, reductions and pairs: float32 (default) or another type")->type_name("TYPE");
  command->add_option("--group", options->group, "work-items of a group (default 32, of barriers 8)")
      ->transform(whole_number(1, 1024))
      ->option_text("N");
  command->add_option("--bins", options->bins, "of a histogram (default 256)")->transform(whole_number(1, 4096))->option_text("N");
  command->add_option("--ladder", options->ladder, "of a reduction: its operation (default max)")->option_text("OPERATION");
  command->add_option("--identity", options->identity, "of an operator as a formula")->option_text("NUMBER");
  command->add_option("--kernel-seconds", options->seconds, "that it may take in all (default 60)")
      ->transform(whole_number(1, 1u << 20))
      ->option_text("N");
  command->footer(R"(Examples:
  samesum check my.cl
  samesum check my.cl --pattern reduce --ladder 'gcd(a, b)' --identity 0 --dtype uint32

Oclgrind interprets the kernel, work-item by work-item, and watches every access:
where it reads or writes outside of its memory, and where two work-items race. It
is Debian's package oclgrind, and needs no GPU. Its result is compared with the
CPU's, too. Exit code 1 if there is a fault, or the result is wrong.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
