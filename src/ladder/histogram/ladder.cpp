// The variants of the histogram side by side.
#include <samesum/bench_histogram.hpp>
#include <samesum/error.hpp>

#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "core/view.hpp"
#include "device/kernels/program.hpp"
#include "histogram/cpu/count.hpp"
#include "histogram/histogram_device.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/expected.hpp"
#include "ladder/histogram/bins.hpp"
#include "ladder/rungs.hpp"
#include "ladder/timing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <optional>

namespace samesum::bench {
namespace {

using Counts = std::vector<std::uint64_t>;

constexpr std::string_view kKinds[] = {"uniform", "equal", "sky", "sorted", "text"};
constexpr std::string_view kSequential = "sequential", kCpu = "cpu", kBest = "best";
constexpr std::string_view kTextbook[] = {"racy", "block_partition", "interleaved", "privatized", "aggregated"};  // entries of ladder.cl
constexpr std::uint64_t kMaxBins = 4096;    // counters of a group in local memory
constexpr std::uint32_t kUnitItems = 2048;  // of the textbook's kernels, on a compute unit

// The finaliser of SplitMix64.
std::uint64_t random_bits(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Words in lines, as a sample of a text's bytes.
constexpr std::string_view kText =
    "A histogram counts how often each value occurs. Of a text it counts letters, and finds that blanks, e, t, a, o, i and n are\n"
    "most of it; of a picture of the sky, that four shades of blue are. Whoever counts with many hands at once will find that all\n"
    "of them reach for the same few counters, and wait for one another.\n";

std::uint8_t byte_of(std::string_view kind, std::uint64_t i, std::uint64_t size, std::uint64_t seed) {
  const std::uint64_t bits = random_bits(i + seed);
  if (kind == "equal") return 'e';
  if (kind == "sky") return static_cast<std::uint8_t>(bits % 100 < 85 ? 200 + (bits >> 20 & 3) : bits >> 56);
  if (kind == "sorted") return static_cast<std::uint8_t>(static_cast<double>(i) / static_cast<double>(size) * 256);
  // Each block of 64 bytes begins at another position.
  if (kind == "text") return static_cast<std::uint8_t>(kText[(random_bits(i / 64 + seed) % kText.size() + i % 64) % kText.size()]);
  return static_cast<std::uint8_t>(bits >> 56);
}

struct Rung {
  std::function<void()> call;
  std::function<Counts()> counts;  // of the last call
  Timer timer;
};

class HistogramLadderRun {
 public:
  HistogramLadderRun(const Device& device, std::span<const std::uint8_t> data, const HistogramLadderOptions& options)
      : device_(device), data_(data), options_(options) {
    if (options.bins) plan_.emplace(*options.bins, DType::uint8);
    ladder_.device = device.info();
    ladder_.size = data.size();
    expected_ = count_sequentially();
  }

  HistogramLadder run() {
    if (!options_.kernel_source.empty()) check_kernel();
    run_host();
    if (device_.info().has(Capability::kernels)) run_kernels();
    return std::move(ladder_);
  }

 private:
  template <class Prepare>
  void add_row(std::string_view name, const Reader& reader, const Prepare& prepare) {
    if (!wanted(options_.rungs, name, options_.kernel_name)) return;
    options_.effort.tell(name);
    HistogramLadderRow row;
    row.name = name;
    row.where = reader.where;
    attempt(row, [&] {
      const Rung rung = prepare(row);
      rung.call();
      row.verdict = Verdict::right;
      check_result(rung, row);
      // Incorrect variants are timed too, to show what they gain.
      time_rung(row, rung.timer, reader, options_.effort);
      row.samples_per_second = static_cast<double>(data_.size()) / row.seconds.median;
      check_result(rung, row);
    });
    ladder_.rungs.push_back(std::move(row));
    rank(ladder_);
    if (options_.measured) options_.measured(ladder_);
  }

  void check_result(const Rung& rung, HistogramLadderRow& row) const {
    const Counts counts = rung.counts();
    if (row.name == options_.kernel_name && options_.expected.values) {
      const std::vector<std::int64_t> found(counts.begin(), counts.end());
      row.reason = why_not_expected(options_.expected, found);
      if (!row.reason.empty()) row.verdict = Verdict::wrong;
      return;
    }
    if (counts == expected_) return;
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts) total += count;
    row.verdict = Verdict::wrong;
    std::uint64_t right = 0;
    for (const std::uint64_t count : expected_) right += count;
    row.reason = fmt::format("{} of {} bytes counted", total, right);
  }

  static Rung host_rung(const std::function<Counts()>& count) {
    const auto result = std::make_shared<Counts>();
    const auto call = [=] { *result = count(); };
    return {call, [=] { return *result; }, host_timer(call)};
  }

  const Bins* bins() const { return options_.bins ? &*options_.bins : nullptr; }
  std::uint32_t bin_count() const { return bins() != nullptr ? static_cast<std::uint32_t>(bins()->count()) : 256; }

  // Of the counts of a plan's slots those of bins: without those below, above, and of NaN.
  Counts in_bins(const Counts& slots) const { return {slots.begin() + 1, slots.begin() + 1 + bin_count()}; }

  Counts count_sequentially() const {
    Counts bytes(256);
    binning::count_plainly(View(data_), 0, 256, 256, bytes.data());
    return of_bytes(bytes);
  }

  // The counts of bins, from those of bytes.
  Counts of_bytes(const Counts& bytes) const {
    if (!plan_) return bytes;
    Counts slots(plan_->slots());
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) slots[plan_->pattern_slots()[byte]] += bytes[byte];
    return in_bins(slots);
  }

  void run_host() {
    const std::uint32_t all = options_.threads != 0 ? options_.threads : core::all_cores();
    if (!wanted(options_.rungs, kSequential) && !wanted(options_.rungs, kCpu)) return;
    const Reader one = host_reader(ladder_, View(data_), 1, options_.effort);
    add_row(kSequential, one, [&](HistogramLadderRow&) { return host_rung([this] { return count_sequentially(); }); });
    const Reader many = all == 1 ? one : host_reader(ladder_, View(data_), all, options_.effort);
    add_row(kCpu, many, [&](HistogramLadderRow& row) {
      row.configuration = fmt::format("threads={}", all);
      return host_rung([this, all] {
        return plan_ ? in_bins(binning::count_on_cpu(View(data_), *plan_, all)) : binning::count_bytes_on_cpu(View(data_), 1, all);
      });
    });
  }

  void run_kernels() {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    options_.effort.tell("upload");
    const std::uint64_t padded = (std::max<std::uint64_t>(data_.size(), 1) + 15) / 16 * 16;
    const device::Memory memory = device.allocate(padded);
    if (!data_.empty()) device.write(memory, 0, data_.data(), data_.size());
    const Reader reader = device_reader(ladder_, device, memory, data_.size(), options_.effort);
    for (const std::string_view name : kTextbook) {
      add_row(name, reader, [&](HistogramLadderRow& row) { return textbook_rung(name, device, memory, row); });
    }
    add_row(kBest, reader, [&](HistogramLadderRow& row) { return best_rung(device, memory, row); });
    // Run last: whatever it does to the device affects no other rung.
    if (!options_.kernel_source.empty()) {
      add_row(options_.kernel_name, reader,
              [&](HistogramLadderRow& row) { return textbook_rung("histogram", device, memory, row, options_.kernel_source); });
    }
  }

  void check_kernel() const {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    HistogramLadderRow row;
    check_own_kernel(options_.kernel_name, [&] { textbook_rung("histogram", device, device.allocate(16), row, options_.kernel_source); });
  }

  // `text`: the source of the user's kernel.
  Rung textbook_rung(std::string_view name, device::Device& device, const device::Memory& memory, HistogramLadderRow& row,
                     const std::string& text = {}) const {
    const std::uint32_t size = histogram_group_size(device.info(), options_.group_size);
    const device::Source source = histogram_source(device.info(), options_.group_size, bins(), options_.registers);
    const device::Kernel kernel = device::build(
        device,
        text.empty() ? source : own_histogram_source(text, device.info(), options_.group_size, bin_count(), bins(), options_.registers),
        name);
    const device::Kernel clear = device::build(device, source, "clear");
    const std::uint32_t units = device.info().compute_units * std::max(1u, kUnitItems / size);
    const std::uint32_t groups = device.resident_groups(kernel, size).value_or(units);
    row.configuration = fmt::format("groups={} group_size={}", groups, size);
    constexpr std::uint32_t kClearing = 16;
    const std::uint32_t clearing = (bin_count() + kClearing - 1) / kClearing;
    const device::Memory counts = device.allocate(std::uint64_t{4} * clearing * kClearing);
    const std::uint64_t bytes = data_.size();
    const auto call = [=, &device] {
      device.launch(clear, {clearing, kClearing}, std::array<device::Argument, 1>{counts});
      device.launch(kernel, {groups, size}, std::array<device::Argument, 3>{memory, bytes, counts});
    };
    const auto read = [=, this, &device] {
      std::vector<std::uint32_t> found(bin_count());
      device.read(counts, 0, found.data(), 4 * found.size());
      return Counts(found.begin(), found.end());
    };
    return {call, read, device_timer(device, call)};
  }

  Rung best_rung(device::Device& device, const device::Memory& memory, HistogramLadderRow& row) const {
    const std::uint64_t bytes = data_.size();
    const auto histogram =
        std::make_shared<binning::DeviceHistogram>(device, binning::Problem{plan_ ? &*plan_ : nullptr}, bytes, options_.group_size);
    row.configuration = histogram->configuration().text();
    const auto call = [=] {
      histogram->clear();
      histogram->launch(memory, bytes);
    };
    const auto read = [=, this] {
      Counts counts(256);
      histogram->add_to(counts);
      return of_bytes(counts);
    };
    return {call, read, device_timer(device, call)};
  }

  Device device_;
  std::span<const std::uint8_t> data_;
  const HistogramLadderOptions& options_;
  std::optional<binning::Plan> plan_;
  Counts expected_;
  HistogramLadder ladder_;
};

}  // namespace

std::vector<std::string> histogram_data_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

std::vector<std::uint8_t> histogram_data(std::string_view kind, std::uint64_t size, std::uint64_t seed) {
  const core::DefaultFloatEnvironment environment;
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    throw Error(ErrorKind::usage, fmt::format("unknown kind of data '{}': known are {}", kind, fmt::join(kKinds, ", ")));
  }
  constexpr std::uint64_t kPart = 1 << 16;
  std::vector<std::uint8_t> data(size);
  core::parallel_for((size + kPart - 1) / kPart, [&](std::uint64_t part) {
    for (std::uint64_t i = part * kPart; i < std::min(size, (part + 1) * kPart); ++i) data[i] = byte_of(kind, i, size, seed - 1);
  });
  return data;
}

std::vector<std::string> histogram_rungs(const Device& device) {
  std::vector<std::string> names = {std::string(kSequential), std::string(kCpu)};
  if (!device.info().has(Capability::kernels)) return names;
  names.insert(names.end(), std::begin(kTextbook), std::end(kTextbook));
  names.emplace_back(kBest);
  return names;
}

HistogramLadder histogram_ladder(const Device& device, std::span<const std::uint8_t> data, const HistogramLadderOptions& options) {
  const core::DefaultFloatEnvironment environment;
  check_rungs(options.rungs, histogram_rungs(device), options.kernel_name, device.info());
  if (options.bins && (options.bins->formula() == nullptr || options.bins->count() > kMaxBins)) {
    throw Error(ErrorKind::usage, fmt::format("the ladder's bins are given by a formula, and are 1 to {}", kMaxBins));
  }
  if (data.size() > binning::DeviceHistogram::kMaxCounted) {
    throw Error(ErrorKind::usage, "the ladder counts fewer than 2^32 bytes: its kernels have counters of 32 bits");
  }
  if (device.info().has(Capability::kernels) && data.size() > device.info().max_allocation_bytes) {
    throw Error(ErrorKind::usage, fmt::format("the ladder keeps its data in one allocation: {} bytes, but {} allows {}", data.size(),
                                              device.info().selector, device.info().max_allocation_bytes));
  }
  return HistogramLadderRun(device, data, options).run();
}

}  // namespace samesum::bench
