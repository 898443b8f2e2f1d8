// A process of its own for a reader's own kernel.
//
// A kernel may do to its process whatever machine code can: loop forever, write anywhere, and, as inline assembly reaches the compilers,
// call the system. So the command is run once more, in a child process, which tells when the kernel is at work; this process waits, ends
// the child when the kernel's time is over, and says what became of it. That is a guard against mistakes, not against malice.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace samesum::cli {

/// What --kernel and --kernel-seconds say.
struct UserKernelOptions {
  std::string path;  ///< empty: there is no such kernel
  std::uint32_t seconds = 60;
};

void add_options(CLI::App& command, UserKernelOptions& options);

/// Runs this process's command once more in a child; its exit code, once it has ended. Nothing where there is no kernel, or this process
/// is that child. @throws Error (usage) where the kernel took longer than it may, or crashed the child. A signal that ends the one ends
/// the other.
std::optional<int> run_in_child(const UserKernelOptions& options);

/// In the child: tells the process that waits whether the kernel is at work. Elsewhere it does nothing.
class KernelWatch {
 public:
  explicit KernelWatch(std::string kernel);
  ~KernelWatch() { tell({}); }
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;

  /// `rung`: what is worked at now; the kernel's begins with its name.
  void tell(std::string_view rung) const noexcept;

 private:
  std::string kernel_;
  int descriptor_;  // -1: none
};

}  // namespace samesum::cli
