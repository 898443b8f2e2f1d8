#include "cut_short.hpp"

#include "command.hpp"

#include <samesum/array_file.hpp>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace samesum::cli {
namespace {

void write_error(const char* text) noexcept { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text)); }

// Replaces control characters by '?'; a signal handler can only process characters.
void write_name(const char* name) noexcept {
  for (; *name != 0; ++name) {
    const char shown[] = {static_cast<unsigned char>(*name) < 0x20 || *name == 0x7f ? '?' : *name, 0};
    write_error(shown);
  }
}

void tell(int signal, siginfo_t* how, void*) {
  const char* const name = mapped_file_at(how->si_addr);
  if (name == nullptr) {  // not in a mapped file
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  static std::atomic_flag said;
  while (said.test_and_set()) pause();  // several threads may get here: one prints and ends the program
  write_error("samesum: ");
  write_name(name);
  write_error(": became shorter, or its disk failed, while it was being read\n");
  _exit(kExitUsage);
}

}  // namespace

void watch_mapped_files() noexcept {
  struct sigaction action {};
  action.sa_sigaction = tell;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace samesum::cli
