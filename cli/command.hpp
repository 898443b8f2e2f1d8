// The interface between main.cpp and the commands: each command describes its arguments and sets the action to run.
#pragma once

#include "output/output.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace samesum::cli {

constexpr int kExitOk = 0;
constexpr int kExitNoAnswer = 1;  ///< the input is fine, but has no correct answer
constexpr int kExitUsage = 2;     ///< bad input or usage, or a failure

/// Runs a command and returns its exit code; throws on failure.
using Action = std::function<int(Output&)>;

// Each adds its command to `program`; parsing the command sets `action`.
void add_sum(CLI::App& program, Action& action);
void add_hist(CLI::App& program, Action& action);
void add_hist2d(CLI::App& program, Action& action);
void add_statistics(CLI::App& program, Action& action);
void add_dot(CLI::App& program, Action& action);
void add_quantile(CLI::App& program, Action& action);
void add_product(CLI::App& program, Action& action);
void add_reduce(CLI::App& program, Action& action);
void add_scan(CLI::App& program, Action& action);
void add_merge(CLI::App& program, Action& action);
void add_compare(CLI::App& program, Action& action);
void add_pairs(CLI::App& program, Action& action);
void add_devices(CLI::App& program, Action& action);
void add_kernel(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_selftest(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
void add_tune(CLI::App& program, Action& action);
void add_warm(CLI::App& program, Action& action);
void add_completion(CLI::App& program, Action& action);  ///< the last: it knows all others

}  // namespace samesum::cli
