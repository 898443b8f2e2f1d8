// The parts common to the commands under `samesum bench`.
#pragma once

#include "command.hpp"
#include "input/elements.hpp"
#include "output/progress.hpp"

#include <samesum/bench.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

/// The fastest device, regardless of its start-up time, unless the user names one.
Device choose_for_bench(const std::string& selector);

/// A size as parsed by parse_count, not 0. @throws Error (usage) that names `option`.
std::uint64_t parse_size(const std::string& text, const char* option);

/// Made-up data. @throws Error (usage) for a distribution that elements of this type do not have.
bench::Data made_data(bench::DataKind kind, DType type, std::uint64_t size, std::uint64_t seed);

/// The elements of a file; `dtype`: of raw numbers, empty if it has none. @throws Error (usage) also if there are no elements, and for what
/// made-up data alone have: the value of --size, and a --seed other than 1.
Elements file_to_measure(const std::string& path, const std::string& dtype, const std::string& size, std::uint64_t seed);

/// @throws Error (usage) for an option, if it is given, of variants that are not among those that --variant names; none are all.
void check_taken(bool given, std::string_view option, const std::vector<std::string>& named, const std::vector<std::string>& takers);

/// The tiles of --tile: "8", or "4x16" as rows and columns. @throws Error (usage) that names `option`.
struct TileShape {
  std::uint32_t rows = 0, columns = 0;
};
TileShape parse_tile(const std::string& text, const char* option);

/// How long to measure: --runs and --seconds.
struct EffortOptions {
  std::uint32_t runs = 31;
  double seconds = 0;  ///< for each row; 0: chosen so that the whole benchmark is short

  /// On a CPU, where two dozen rows take long, each is measured for a tenth of the time on a GPU.
  bench::Effort effort(const Device& device) const;
  /// Prints how to measure longer, unless the user set these options.
  void tell(Output& out, const Device& device, std::string_view larger) const;
};
void add_options(CLI::App& command, EffortOptions& options);

/// @throws Error (usage) if no row of a ladder was measured, as none of those that were asked for goes with the options or the device.
template <class Row>
void require_measured(const std::vector<Row>& rows) {
  const auto skipped = [](const Row& row) { return row.verdict == bench::Verdict::skipped; };
  if (!rows.empty() && std::ranges::all_of(rows, skipped)) throw Error(ErrorKind::usage, "nothing was measured: " + rows.front().reason);
}

/// Prints the rows of a table as soon as each is complete.
void show_now(Output& out);

/// The length of the longest of `names`, for a column of a table that is printed row by row.
std::size_t widest(const std::vector<std::string>& names);

/// The variant of reductions that is expected to be wrong.
inline constexpr std::string_view kMissingBarrier = "missing_barrier";

void add_bench_barrier(CLI::App& parent, Action& action);
void add_bench_histogram(CLI::App& parent, Action& action);
void add_bench_pairs(CLI::App& parent, Action& action);
void add_bench_reduce(CLI::App& parent, Action& action);
void add_bench_report(CLI::App& bench, Action& action);  ///< options of `bench` itself

}  // namespace samesum::cli
