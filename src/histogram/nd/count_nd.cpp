// Counting the samples of each cell.
#include <samesum/error.hpp>
#include <samesum/histogram_nd.hpp>

#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/threads/chunks.hpp"
#include "device/memory/run.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/nd/along_axis.hpp"
#include "histogram/nd/cells.hpp"
#include "histogram/nd/cells_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
  const std::uint64_t cells = binning::cell_count(axes, HistogramNd::kMaxCells);
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

// The counts of cells in a device's memory.
class DeviceCounts {
 public:
  DeviceCounts(device::Device& device, std::uint64_t cells)
      : plan_(Bins::each_value(0, static_cast<std::int64_t>(cells) - 1), DType::uint32),
        counts_(device, {&plan_}, binning::DeviceCells::kPart),
        slots_(cells + 3) {
    counts_.clear();
  }
  void add(const device::Memory& cells, std::uint64_t count) {
    if (counted_ + count > binning::DeviceHistogram::kMaxCounted) take();
    counts_.launch(cells, count);
    counted_ += count;
  }
  std::vector<std::uint64_t> finish() {
    take();
    return {slots_.begin() + 1, slots_.end() - 2};
  }
  std::string configuration() const { return counts_.configuration().text(); }

 private:
  void take() {
    counts_.add_to(slots_);
    counts_.clear();
    counted_ = 0;
  }

  binning::Plan plan_;
  binning::DeviceHistogram counts_;
  std::vector<std::uint64_t> slots_;
  std::uint64_t counted_ = 0;
};

// Whether a device can count this many cells: as a histogram of the cells' indices, with a bin for each.
bool counts_on(const Device& device, std::uint64_t cells) { return device.info().has(Capability::kernels) && cells <= Bins::kMax; }

void tell(const Options& options, device::Device& device, const DeviceCounts* counts, std::uint64_t bytes,
          std::chrono::steady_clock::time_point start) {
  if (options.report == nullptr) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  *options.report = {device.info().selector, "histogram_cells", counts != nullptr ? counts->configuration() : "", bytes, 0, seconds};
}

// Of samples in host memory, on a device.
HistogramNd count_on_device(binning::Samples samples, const std::vector<Bins>& axes, device::Device& device, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t cells = binning::cell_count(axes, HistogramNd::kMaxCells);
  core::ProgressParts progress(options, samples.resident_bytes());
  std::map<std::vector<DType>, std::unique_ptr<binning::DeviceCells>> finders;
  std::optional<DeviceCounts> counts;
  std::uint64_t bytes = 0;
  binning::Samples::Part part;
  while (samples.next(binning::DeviceCells::kPart, part)) {
    std::vector<DType> types;
    std::uint64_t part_bytes = 0;
    for (const View& column : part.columns) {
      types.push_back(column.type());
      part_bytes += column.bytes();
    }
    {
      const device::Lock lock(device.mutex());
      std::unique_ptr<binning::DeviceCells>& finder = finders[types];
      if (!finder) finder = std::make_unique<binning::DeviceCells>(device, axes, types);
      if (!counts) counts.emplace(device, cells);
      finder->find(part.columns);
      counts->add(finder->cells(), part.size());
    }
    bytes += part_bytes;
    progress.add(part_bytes);
  }
  if (!counts) return HistogramNd(axes);
  const device::Lock lock(device.mutex());
  HistogramNd result(axes, counts->finish());
  tell(options, device, &*counts, bytes, start);
  return result;
}

// Of arrays in the device's memory.
HistogramNd count_there(const std::vector<Array>& coordinates, const std::vector<Bins>& axes, device::Device& device,
                        const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t cells = binning::cell_count(axes, HistogramNd::kMaxCells);
  std::uint64_t bytes = 0;
  for (const Array& array : coordinates) bytes += array.bytes();
  core::ProgressParts progress(options, bytes);
  binning::DeviceColumns columns(coordinates, axes);
  std::optional<binning::DeviceCells> finder;
  std::optional<DeviceCounts> counts;
  const std::uint64_t each = coordinates[0].size() == 0 ? 0 : bytes / coordinates[0].size();
  for (;;) {
    const std::span<const device::Run> part = columns.next();
    if (part.empty()) break;
    {
      const device::Lock lock(device.mutex());
      if (!finder) {
        finder.emplace(device, axes, columns.types());
        counts.emplace(device, cells);
      }
      finder->find(part);
      counts->add(finder->cells(), part[0].count);
    }
    progress.add(part[0].count * each);
  }
  if (!counts) return HistogramNd(axes);
  const device::Lock lock(device.mutex());
  HistogramNd result(axes, counts->finish());
  tell(options, device, &*counts, bytes, start);
  return result;
}

}  // namespace

HistogramNd histogram_nd(const std::vector<Array>& coordinates, const std::vector<Bins>& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  std::uint64_t bytes = 0;
  bool there = false;
  for (const Array& array : coordinates) {
    bytes += array.bytes();
    there = there || array.on_device();
  }
  binning::Samples::require_alike(coordinates, axes, coordinates.size());
  const std::uint64_t cells = binning::cell_count(axes, HistogramNd::kMaxCells);
  if (!there) {
    const Device device = device::device_for(bytes, options);
    binning::Samples samples(coordinates, axes, {});
    if (counts_on(device, cells)) return count_on_device(std::move(samples), axes, device.implementation(), options);
    return count(std::move(samples), axes, options);
  }
  const auto first = std::ranges::find_if(coordinates, [](const Array& array) { return array.on_device(); });
  const Device device = options.device ? *options.device : first->buffer().device();
  for (const Array& array : coordinates) {
    if (!array.on_device()) {
      throw Error(ErrorKind::usage, "the coordinates lie in different places: bring all of them to host memory or to one device");
    }
    device::require_on(array, device);
  }
  if (!device.info().has(Capability::kernels)) {
    std::vector<Array> on_host;
    for (const Array& array : coordinates) on_host.push_back(device::on_host(array));
    return count(binning::Samples(on_host, axes, {}), axes, options);
  }
  if (!counts_on(device, cells)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} counts up to {} cells, and these bins have {}: take fewer bins, or bring the arrays to the host",
                            device.info().selector, Bins::kMax, cells));
  }
  return count_there(coordinates, axes, device.implementation(), options);
}

HistogramNd histogram_nd(const std::vector<Source*>& coordinates, const std::vector<Bins>& axes, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  binning::Samples samples(coordinates, axes, {});
  const Device device = device::device_for(samples.resident_bytes(), options);
  if (counts_on(device, binning::cell_count(axes, HistogramNd::kMaxCells))) {
    return count_on_device(std::move(samples), axes, device.implementation(), options);
  }
  return count(std::move(samples), axes, options);
}

}  // namespace samesum
