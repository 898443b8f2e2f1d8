// Counting the samples of each cell.
#include <samesum/error.hpp>
#include <samesum/histogram_nd.hpp>

#include "core/chunks.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "histogram/nd/along_axis.hpp"
#include "histogram/nd/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace samesum {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 23;  // samples: progress is told after each

std::uint32_t thread_count(std::uint64_t samples, std::size_t rank, std::uint64_t cells, std::uint32_t wanted) {
  const std::uint64_t most = std::max<std::uint64_t>(samples / (2 * cells + 1), 1);  // at most as many counters as samples
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(core::thread_count(samples * rank * 4, wanted), most));
}

// The counts of all samples, on the CPU.
HistogramNd count(binning::Samples samples, const std::vector<Bins>& axes, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t cells = binning::cell_count(axes, HistogramNd::kMostCells);
  core::ProgressParts progress(options, samples.resident_bytes());
  std::vector<std::vector<std::uint64_t>> tables(1, std::vector<std::uint64_t>(cells));
  std::uint64_t bytes = 0;
  std::uint32_t most_threads = 1;
  binning::Samples::Part part;
  while (samples.next(progress.wanted() ? kPart : ~std::uint64_t{0}, part)) {
    const std::uint32_t threads = thread_count(part.size(), axes.size(), cells, options.tuning.threads);
    most_threads = std::max(most_threads, threads);
    if (tables.size() < threads) tables.resize(threads);
    core::for_chunks(part.size(), threads, std::uint64_t{1} << 16, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      std::vector<std::uint64_t>& table = tables[task];
      if (table.empty()) table.resize(cells);
      binning::for_cells(part, first, count, [&](std::uint64_t, std::size_t some, const std::uint32_t* found) {
        for (std::size_t k = 0; k < some; ++k) ++table[found[k]];
      });
    });
    std::uint64_t part_bytes = 0;
    for (const View& column : part.columns) part_bytes += column.bytes();
    bytes += part_bytes;
    progress.add(part_bytes);
  }
  for (std::size_t i = 1; i < tables.size(); ++i) {
    for (std::size_t cell = 0; cell < tables[i].size(); ++cell) tables[0][cell] += tables[i][cell];
  }
  if (options.report != nullptr) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    *options.report = {"cpu", "", fmt::format("threads={}", most_threads), bytes, 0, seconds};
  }
  return {axes, std::move(tables[0])};
}

}  // namespace

HistogramNd histogram_nd(const std::vector<Array>& coordinates, const std::vector<Bins>& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::vector<Array> on_host = coordinates;
  for (Array& array : on_host) {
    if (array.on_device()) array = device::on_host(array);
  }
  return count(binning::Samples(on_host, axes, {}), axes, options);
}

HistogramNd histogram_nd(const std::vector<Source*>& coordinates, const std::vector<Bins>& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  return count(binning::Samples(coordinates, axes, {}), axes, options);
}

}  // namespace samesum
