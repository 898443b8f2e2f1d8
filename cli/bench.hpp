// What the commands under `samesum bench` share.
#pragma once

#include "command.hpp"
#include "progress.hpp"

#include <samesum/bench.hpp>
#include <samesum/device.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

/// A benchmark wants the fastest device, whatever its start-up, where the user does not say which.
Device choose_for_bench(const std::string& selector);

/// A size as parse_count has it, and not 0. @throws Error (usage) that names `option`.
std::uint64_t parse_size(const std::string& text, const char* option);

/// How long to measure: --runs and --seconds.
struct EffortOptions {
  std::uint32_t runs = 31;
  double seconds = 0;  ///< for each row; 0: so that all of them end soon

  /// On a CPU, where there are two dozen rows that take long, each takes a tenth of what it takes on a GPU.
  bench::Effort effort(const Device& device) const;
  /// Tells, where nothing else was asked for, how to measure longer than that.
  void tell(Output& out, const Device& device, std::string_view larger) const;
};
void add_options(CLI::App& command, EffortOptions& options);

/// Writes what was printed of a table so far: each row as soon as it is there.
void show_now(Output& out);

/// The longest of `names`, for a column of a table of which only some rows are there.
std::size_t widest(const std::vector<std::string>& names);

void add_bench_barrier(CLI::App& parent, Action& action);
void add_bench_histogram(CLI::App& parent, Action& action);
void add_bench_pairs(CLI::App& parent, Action& action);
void add_bench_reduce(CLI::App& parent, Action& action);

}  // namespace samesum::cli
