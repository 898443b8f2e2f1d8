// Running a user's kernel in a separate process.
//
// A kernel may do to its process whatever machine code can: loop forever, write anywhere, and, as compilers accept inline assembly, call
// the system. So the command is run again in a child process, which reports when the kernel runs; this process waits, kills the child when
// the kernel's time limit has passed, and reports the outcome. It guards against mistakes, not against malice.
#pragma once

#include "input/elements.hpp"

#include <samesum/bench.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace samesum::cli {

/// The values of --kernel and --kernel-seconds.
struct UserKernelOptions {
  std::string path;  ///< empty: no user's kernel
  std::uint32_t seconds = 60;
};

void add_options(CLI::App& command, UserKernelOptions& options);

/// The values of --expect and --accept: results of the user's kernel, where it computes something else than its ladder.
class ExpectedOptions {
 public:
  void add_to(CLI::App& command);
  /// What a ladder takes; valid as long as this is. @throws Error (usage) for options that do not go together.
  bench::ExpectedResult expected(const UserKernelOptions& kernel);

 private:
  std::string path_, accepts_;
  std::shared_ptr<Elements> values_;
};

/// Runs this process's command again in a child and returns the child's exit code. No value where there is no user's kernel, or where this
/// process is the child. @throws Error (usage) where the kernel exceeded its time limit, or crashed the child. A signal that ends one of
/// the processes ends the other.
std::optional<int> run_in_child(const UserKernelOptions& options);

/// In the child: reports to the waiting process whether the user's kernel is running. Elsewhere it does nothing.
class KernelWatch {
 public:
  explicit KernelWatch(std::string kernel);
  ~KernelWatch() { tell({}); }
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;

  /// `rung`: what is measured now; for the user's kernel it begins with its name.
  void tell(std::string_view rung) const noexcept;

 private:
  std::string kernel_;
  int descriptor_;  // -1: none
};

}  // namespace samesum::cli
