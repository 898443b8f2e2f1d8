#include "kernel/kernel_process.hpp"

#include "output/progress.hpp"
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
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

namespace samesum::cli {
namespace {

constexpr const char* kVariable = "SAMESUM_KERNEL_WATCH";  // for the child: its parent's id, and the descriptor to report to
constexpr char kBegins = 'b', kEnds = 'e', kNotStarted = 'x';

std::string message_of(int code) { return std::generic_category().message(code); }

// The descriptor set by a parent; -1 without one. Children of the child do not inherit it.
int watch_descriptor() {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr) return -1;
  const char* const end = text + std::strlen(text);
  long parent = 0;
  int descriptor = -1;
  const auto [colon, error] = std::from_chars(text, end, parent);
  if (error != std::errc() || colon == end || parent != getppid()) return -1;
  std::from_chars(colon + 1, end, descriptor);
  return descriptor;
}

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < text.size(); at += arguments.back().size() + 1) arguments.emplace_back(text.c_str() + at);
  return arguments;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// A child that runs the same command, and its reports.
class Child {
 public:
  Child() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno);
    const pid_t parent = getpid();
    std::vector<std::string> arguments = own_arguments();
    std::vector<std::string> variables = {fmt::format("{}={}:{}", kVariable, parent, ends[1])};
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with(std::string(kVariable) + "=")) variables.emplace_back(*variable);
    }
    const std::vector<char*> argument_pointers = pointers(arguments), variable_pointers = pointers(variables);
    id_ = fork();
    if (id_ == 0) {
      // The child is killed when its parent ends in any way.
      const bool bound = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
      if (bound && fcntl(ends[1], F_SETFD, 0) == 0) execve("/proc/self/exe", argument_pointers.data(), variable_pointers.data());
      [[maybe_unused]] const ssize_t written = write(ends[1], &kNotStarted, 1);
      _exit(127);
    }
    const int code = errno;
    close(ends[1]);
    told_ = ends[0];
    if (id_ < 0) fail(code);
  }
  ~Child() {
    close(told_);
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits a tenth of a second for its reports; no value at the end.
  std::optional<std::string> read() const {
    pollfd watched{told_, POLLIN, 0};
    std::array<char, 64> text{};
    if (poll(&watched, 1, 100) <= 0) return std::string();
    const ssize_t count = ::read(told_, text.data(), text.size());
    if (count == 0) return std::nullopt;
    return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  // Waits for its exit status.
  int wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return status;
  }

 private:
  [[noreturn]] static void fail(int code) {
    throw Error(ErrorKind::usage, "a process for the kernel cannot be started: " + message_of(code));
  }

  pid_t id_ = 0;
  int told_ = -1;
};

}  // namespace

void add_options(CLI::App& command, UserKernelOptions& options) {
  CLI::Option* const kernel = command.add_option("--kernel", options.path, "a kernel of your own as one more variant")->type_name("FILE");
  command.add_option("--kernel-seconds", options.seconds, "that it may take in all (default 60)")
      ->check(number_from(1, 1u << 20))
      ->needs(kernel)
      ->option_text("N");
}

void ExpectedOptions::add_to(CLI::App& command) {
  command.add_option("--expect", path_, "results that your kernel should leave, if it computes something else")->type_name("FILE");
  command.add_option("--accept", accepts_, "a condition of a result a and the expected b; by default a == b")->option_text("FORMULA");
}

bench::ExpectedResult ExpectedOptions::expected(const UserKernelOptions& kernel) {
  if (path_.empty() && accepts_.empty()) return {};
  if (kernel.path.empty()) throw Error(ErrorKind::usage, "--expect and --accept are of a kernel of your own: give it as --kernel FILE");
  if (path_.empty()) throw Error(ErrorKind::usage, "--accept compares with what --expect has: give a file of results, too");
  bench::ExpectedResult result;
  result.values = (values_ = std::make_shared<Elements>(path_))->view();
  if (!accepts_.empty()) result.accepts.emplace(accepts_);
  return result;
}

std::optional<int> run_in_child(const UserKernelOptions& options) {
  if (options.path.empty() || watch_descriptor() >= 0) return std::nullopt;
  using Clock = std::chrono::steady_clock;
  const StatusLine wiped;  // wipes the child's status line
  Child child;
  bool at_work = false, has_worked = false;
  double left = 0;
  auto last = Clock::now();
  while (const std::optional<std::string> told = child.read()) {
    for (const char event : *told) {
      if (event == kNotStarted) throw Error(ErrorKind::usage, "/proc/self/exe: cannot be run once more, for a kernel of your own");
      at_work = event == kBegins;
      has_worked |= at_work;
      if (at_work) left = options.seconds;
    }
    // Time in which the process was stopped (Ctrl-Z) does not count.
    const auto now = Clock::now();
    if (at_work) left -= std::min(std::chrono::duration<double>(now - last).count(), 0.2);
    last = now;
    if (at_work && left <= 0) {
      throw Error(ErrorKind::usage, fmt::format("{}: the kernel was not done after {} s, and was ended: is there a loop without an end? "
                                                "--kernel-seconds gives it more time",
                                                options.path, options.seconds));
    }
  }
  const int status = child.wait();
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  // The first four were sent to both processes; SIGPIPE says that no process reads the output any longer.
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT || signal == SIGPIPE) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  const char* const where = at_work      ? "while the kernel ran: it may read or write outside of its arrays"
                            : has_worked ? "after the kernel had run: it may have written outside of its arrays"
                                         : "before the kernel was run: compiling it, or samesum itself, may be at fault";
  throw Error(ErrorKind::usage, fmt::format("{}: the process crashed ({}) {}", options.path, strsignal(signal), where));
}

KernelWatch::KernelWatch(std::string kernel) : kernel_(std::move(kernel)), descriptor_(kernel_.empty() ? -1 : watch_descriptor()) {
  if (descriptor_ >= 0) fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
}

void KernelWatch::tell(std::string_view rung) const noexcept {
  if (descriptor_ < 0) return;
  const bool own = rung.starts_with(kernel_) && (rung.size() == kernel_.size() || rung[kernel_.size()] == ',');
  [[maybe_unused]] const ssize_t written = write(descriptor_, own ? &kBegins : &kEnds, 1);
}

}  // namespace samesum::cli
