#include "histogram/histogram_device.hpp"

#include "device/memory/run.hpp"
#include "device/memory/upload.hpp"
#include "device/plans.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

namespace samesum::binning {
namespace {

// The work-items of a group, and the groups on a compute unit: together the maximum of an H100.
constexpr std::uint32_t kGroupSize = 1024;
constexpr std::uint32_t kResident = 2;
constexpr std::uint32_t kAheadLoads = 4, kAheadSteps = 4;
constexpr std::uint32_t kLoads = 2;
constexpr std::uint32_t kLargeDataLoads = 4;  // of bytes, and of bins found by rounding down: others need more registers
constexpr std::uint64_t kLargeDataBytes = std::uint64_t{1} << 27;  // from there on the second-level cache has little of the data
constexpr std::uint32_t kHotLoads = 3;                             // of 32-bit samples: a fourth one would be spilled
constexpr std::uint64_t kManyTiles = 64;                           // per compute unit: from this number on, tiles are taken in fours
constexpr std::uint32_t kFewerGroupSize = 768;  // 80 registers for each; a multiple of 3, so that a work-item always has the same channels
constexpr std::uint32_t kReservedBytes = 1024;  // of local memory, per group, reserved by the driver
// More copies would cost more to clear and to add up than they save; measured on an H100, for 8-bit and for wider samples.
constexpr std::uint32_t kMaxCopyBitsOfBytes = 5;
constexpr std::uint32_t kMaxCopyBits = 2;
// Drivers with this limit for local memory reserve part of it themselves; their compilers need more loads in flight for bytes.
constexpr std::uint64_t kSmallLocal = 48 << 10, kSmallReservedBytes = 4 << 10;
// Small data: small groups with few counters to clear and to add up.
constexpr std::uint64_t kSmallDataBytes = std::uint64_t{1} << 19;
constexpr std::uint32_t kSmallDataGroupSize = 512;
constexpr std::uint64_t kSmallDataLocalBytes = 16 << 10;
constexpr std::uint32_t kCpuGroupSize = 32;
constexpr std::uint32_t kDrawnBytes = 32;      // of local memory, for the tile numbers and the hot slots
constexpr std::uint32_t kCandidateBytes = 96;  // 3 CANDIDATES of counters.cl
constexpr std::uint32_t kNearSlots = 4096;

std::uint32_t per_vector(DType type) { return static_cast<std::uint32_t>(16 / size_of(type)); }

std::uint64_t edges_bytes(const Plan& plan, const Trie& trie) {
  return plan.thresholds().size() * size_of(plan.type()) + trie.words.size() * 4;
}

// Words of 16-bit counters, as in counters.cl.
std::uint64_t narrow_words(std::uint64_t slots) { return ((slots + 1) / 2 + 31) / 32 * 32; }

// Words of hot slots, as in counters.cl.
std::uint64_t hot_words(DType type) { return (size_of(type) == 2 ? 256 : 128) * 64 + 32; }

// The rest of `room` without `taken` of it, at least 0.
std::uint64_t left_of(std::uint64_t room, std::uint64_t taken) { return room - std::min(room, taken); }

}  // namespace

bool guesses_evenly(const DeviceInfo& info, const Plan& plan) {
  // Flushed denormals would give other slots than those computed on the host.
  return plan.even() && info.has(Capability::denormals) && (plan.type() != DType::float64 || info.has(Capability::fp64));
}

// By instructions of GPUs that round down.
bool guesses_by_floor(const DeviceInfo& info, const Plan& plan) {
  return plan.floor() && !info.is_cpu && info.has(Capability::fp64) && info.has(Capability::denormals) && info.has(Capability::fma);
}

device::Memory upload_thresholds(device::Device& device, const Plan& plan, Guess guess) {
  if (size_of(plan.type()) == 8) return upload(device, plan.thresholds());
  const bool bits = guess == Guess::trie_by_value;
  return upload<std::uint32_t>(device, plan.thresholds(), [&](std::uint64_t key) {
    const auto word = static_cast<std::uint32_t>(key);
    return bits ? float_bits_of(word) : word;
  });
}

std::string Configuration::text() const {
  constexpr std::string_view kGuesses[] = {"patterns", "even", "trie", "trie by value", "floor"};
  constexpr std::string_view kCounters[] = {"local32", "local16", "global"};
  return fmt::format("{}{} {}{} groups={} group_size={} loads={}{}{}{}", kGuesses[static_cast<std::size_t>(guess)],
                     edges_local ? " in local memory," : ",", kCounters[static_cast<std::size_t>(counters)],
                     counters == Counters::local32 || copy_bits > 0 ? fmt::format("x{}", 1u << copy_bits) : "", groups, group_size, loads,
                     steps > 1 ? fmt::format("x{}", steps) : "", ahead ? " ahead" : "", hot ? " hot" : "");
}

std::uint64_t Problem::slots() const noexcept {
  if (plan == nullptr) return std::uint64_t{256} * channels;
  return plan->by_value() ? std::uint64_t{1} << (8 * size_of(plan->type())) : plan->slots();
}

std::uint64_t local_bytes_of(const Problem& problem, const Configuration& configuration, const Trie& trie) {
  const std::uint64_t slots = problem.slots();
  std::uint64_t words = 0;
  if (configuration.counters == Counters::local32) words = slots << configuration.copy_bits;
  if (configuration.counters == Counters::local16) {
    // For bytes, two channels share a word.
    words =
        problem.type() == DType::uint8 ? std::uint64_t{256} * ((problem.channels + 1) / 2) << configuration.copy_bits : narrow_words(slots);
    if (configuration.hot) words += hot_words(problem.type());
  }
  if (configuration.counters == Counters::global) words = 2 * std::uint64_t{configuration.near_slots};
  const std::uint32_t candidates = configuration.counters == Counters::global ? kCandidateBytes : 0;
  return kDrawnBytes + candidates + (configuration.edges_local ? edges_bytes(*problem.plan, trie) : 0) + 4 * words;
}

Configuration choose(const DeviceInfo& info, std::uint64_t local_bytes, const Problem& problem, std::uint64_t samples,
                     std::uint32_t group_size, Trie& trie) {
  Configuration chosen;
  const bool small_local = local_bytes <= kSmallLocal;
  if (small_local) local_bytes = left_of(local_bytes, kSmallReservedBytes);
  const DType type = problem.type();
  const std::uint64_t bytes = samples * size_of(type);
  const bool small_data = bytes <= kSmallDataBytes && !info.is_cpu;
  const std::uint32_t most = std::min(info.max_group_size, kGroupSize);
  device::check_group_size(info, group_size, most);
  const std::uint32_t preferred = info.is_cpu ? kCpuGroupSize : small_data ? kSmallDataGroupSize : kGroupSize;
  chosen.group_size = group_size != 0 ? group_size : std::min(most, preferred);
  chosen.resident = info.is_cpu ? 1 : std::max(1u, kResident * kGroupSize / chosen.group_size);
  // The local memory of a group where `groups` of them share a compute unit.
  const auto share = [&](std::uint64_t groups) { return left_of((local_bytes + kReservedBytes) / groups, kReservedBytes); };
  // A driver that limits a group to a part of a unit's memory gives that much to each of two groups.
  const std::uint64_t shared = small_local ? local_bytes : share(std::min(chosen.resident, kResident));

  const auto fits = [&](std::uint64_t room) { return local_bytes_of(problem, chosen, trie) <= room; };
  if (problem.plan != nullptr && !problem.plan->by_value()) {
    chosen.guess = Guess::even;
    if (guesses_by_floor(info, *problem.plan)) {
      chosen.guess = Guess::floor;
    } else if (!guesses_evenly(info, *problem.plan)) {
      const bool by_value = info.has(Capability::denormals);
      chosen.edges_local = true;
      const bool thresholds_fit = fits(shared);                                     // while the trie is empty
      if (thresholds_fit) trie = problem.plan->trie(shared / 4 * 5 / 8, by_value);  // words: somewhat more than half of the memory
      if (!thresholds_fit || !fits(shared)) {
        chosen.edges_local = false;
        trie = problem.plan->trie(Trie::kLow, by_value);
      }
      chosen.guess = trie.by_value ? Guess::trie_by_value : Guess::trie;
    }
  }
  chosen.loads = small_data || info.is_cpu ? 1 : small_local && size_of(type) == 1 ? 4 : kLoads;
  const bool few_registers = size_of(type) == 1 || chosen.guess == Guess::floor;
  if (few_registers && bytes >= kLargeDataBytes && !small_local && !info.is_cpu) chosen.loads = kLargeDataLoads;
  // Arithmetic in double needs more registers than the full group size leaves.
  if (size_of(type) == 8 && chosen.guess == Guess::even && chosen.group_size == kGroupSize && group_size == 0)
    chosen.group_size = kFewerGroupSize;
  if (problem.channels > 1 && !info.is_cpu) {
    // Three channels with whole words would leave little of the first-level cache, which loads in flight need.
    Configuration whole = chosen;
    whole.copy_bits = kMaxCopyBitsOfBytes;
    if (problem.channels > 2 || local_bytes_of(problem, whole, trie) > shared) {
      chosen.counters = Counters::local16;
      if (small_local && group_size == 0 && !small_data) {
        chosen.group_size = std::min(most, kFewerGroupSize);
        chosen.loads = 2;
      }
    }
  }
  if (fits(local_bytes)) {
    const std::uint32_t most_bits = info.is_cpu ? 0 : size_of(type) == 1 ? kMaxCopyBitsOfBytes : kMaxCopyBits;
    const std::uint64_t room = small_data ? std::min(kSmallDataLocalBytes, shared) : shared;
    for (; chosen.copy_bits < most_bits; ++chosen.copy_bits) {
      Configuration more = chosen;
      ++more.copy_bits;
      if (local_bytes_of(problem, more, trie) > room) break;
    }
  } else if (chosen.counters = Counters::local16; fits(local_bytes)) {
    chosen.resident = 1;
    if (group_size == 0 && !info.is_cpu && size_of(type) == 2) chosen.group_size = std::min(most, kFewerGroupSize);
  } else {
    chosen.counters = Counters::global;
    if (type != DType::uint8) chosen.near_slots = kNearSlots;
    if (!fits(shared)) chosen.near_slots = 0;
  }
  chosen.local_bytes = static_cast<std::uint32_t>(local_bytes_of(problem, chosen, trie));
  if (!info.is_cpu && chosen.local_bytes > share(chosen.resident) && !small_local) {
    chosen.resident = std::max(1u, static_cast<std::uint32_t>((local_bytes + kReservedBytes) / (chosen.local_bytes + kReservedBytes)));
  }
  if (chosen.resident == 1 && !info.is_cpu) {
    // With one group on a compute unit, nothing else hides the latency of its loads.
    chosen.ahead = true;
    chosen.loads = kAheadLoads;
  }
  const std::uint64_t tile = std::uint64_t{chosen.group_size} * chosen.loads * per_vector(type);
  const std::uint64_t tiles = std::max<std::uint64_t>((samples + tile - 1) / tile, 1);
  if (chosen.ahead && tiles >= kManyTiles * info.compute_units) {
    chosen.steps = kAheadSteps;
    Configuration more = chosen;
    more.hot = chosen.counters == Counters::local16 && (size_of(type) == 2 || size_of(type) == 4);  // 64-bit: not limited by counters
    if (more.hot && size_of(type) == 4) more.loads = kHotLoads;
    if (local_bytes_of(problem, more, trie) <= local_bytes) chosen = more;
    chosen.local_bytes = static_cast<std::uint32_t>(local_bytes_of(problem, chosen, trie));
  }
  chosen.groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{info.compute_units} * chosen.resident, tiles));
  return chosen;
}

device::Source count_source(const Problem& problem, const Configuration& configuration, const statistics::TermCode* term) {
  const DType type = problem.type();
  const int sample_type = size_of(type) == 1 ? 0 : size_of(type) == 2 ? 1 : 2 + static_cast<int>(problem.plan->element());
  const auto number = [](auto value) { return std::to_string(static_cast<std::uint32_t>(value)); };
  device::Source source{{"histogram/slots.cl", "histogram/counters.cl"},
                        {{"SAMPLE_TYPE", number(sample_type)},
                         {"GUESS", number(configuration.guess)},
                         {"COUNTERS", number(configuration.counters)},
                         {"CHANNELS", number(problem.channels)},
                         {"COPY_BITS", number(configuration.copy_bits)},
                         {"EDGES_LOCAL", number(configuration.edges_local)},
                         {"AHEAD", number(configuration.ahead)},
                         {"GROUP_SIZE", number(configuration.group_size)},
                         {"RESIDENT", number(configuration.resident)},
                         {"LOADS", number(configuration.loads)},
                         {"NEAR_SLOTS", number(configuration.near_slots)},
                         {"HOT", number(configuration.hot)},
                         {"STEPS", number(configuration.steps)},
                         {"TERM", number(term != nullptr)}}};
  if (term == nullptr) {
    source.files.emplace_back("histogram/count.cl");
    return source;
  }
  source.files.emplace_back("reduce/device/walk.h");
  source.files.insert(source.files.end(), term->files.begin(), term->files.end());
  const std::string_view bits = size_of(type) == 1 ? "uchar" : size_of(type) == 4 ? "uint" : "ulong";
  source.text = fmt::format("#define ELEMENT {}\n#define ELEMENTS_PER_LOAD PER_VECTOR\n#define CACHED 0\n{}", bits, term->text);
  source.after = {"histogram/count.cl"};
  return source;
}

DeviceHistogram::DeviceHistogram(device::Device& device, const Problem& problem, std::uint64_t samples, std::uint32_t group_size,
                                 const statistics::TermCode* term)
    : device_(device),
      problem_(problem),
      configuration_(choose(device.info(), device.launch_local_bytes(), problem, samples, group_size, trie_)) {
  if (term != nullptr && !device.info().is_cpu) {
    // The code takes registers, and a load of values takes one of each array, so fewer are in flight; long code takes the registers of half
    // as many work-items.
    if (!configuration_.ahead) configuration_.loads = std::min(configuration_.loads, kLoads);
    if (term->arrays > 1 || term->long_code) configuration_.loads = 1;
    if (term->long_code) configuration_.resident = std::max(configuration_.resident / 2, 1u);
  }
  prepare(term);
}

DeviceHistogram::DeviceHistogram(device::Device& device, const Problem& problem, const Configuration& configuration, Trie trie)
    : device_(device), problem_(problem), trie_(std::move(trie)), configuration_(configuration) {
  prepare();
}

void DeviceHistogram::prepare(const statistics::TermCode* term) {
  const device::Source source = count_source(problem_, configuration_, term);
  count_ = device::build(device_, source, "histogram_count");
  clear_ = device::build(device_, source, "histogram_clear");
  if (term != nullptr) term_ = term->text;
  // One more: the tile counter.
  counts_ = device_.allocate(4 * (problem_.slots() + 1));
  spare_ = device_.allocate(4 * (problem_.slots() + 1));
  if (configuration_.guess == Guess::pattern) return;
  thresholds_ = upload_thresholds(device_, *problem_.plan, configuration_.guess);
  if (!trie_.words.empty()) words_ = upload(device_, trie_.words);
}

// Launches that are recorded into a graph may run any number of times: they clear their own counts first, and do not change the spare ones.
void DeviceHistogram::clear() {
  recorded_ = device_.is_recording();
  if (counts_clean_ && !recorded_) return;
  if (spare_clean_ && !recorded_) {
    std::swap(counts_, spare_);
    spare_clean_ = false;
  } else {
    const auto slots = static_cast<std::uint32_t>(problem_.slots() + 1);
    const std::uint32_t group_size = std::min(configuration_.group_size, 256u);
    const std::uint32_t groups = std::min((slots + group_size - 1) / group_size, 4 * device_.info().compute_units);
    device_.launch(clear_, {groups, group_size}, std::array<device::Argument, 3>{counts_, std::uint64_t{0}, slots});
  }
  counts_clean_ = true;
  drawn_ = 0;
}

template <class Key, class Real>
void DeviceHistogram::launch_typed(std::vector<device::Argument> arguments, std::uint64_t count, std::uint32_t head, device::Grid grid) {
  const Plan* plan = configuration_.guess == Guess::pattern ? nullptr : problem_.plan;
  const auto thresholds = static_cast<std::uint32_t>(plan != nullptr ? plan->thresholds().size() : 0);
  Key first = static_cast<Key>(trie_.first);
  Real low{}, scale{}, top{}, tolerance{}, last_tolerance{}, high{};
  const auto set = [&](const auto& guess) {
    low = static_cast<Real>(guess.low);
    scale = static_cast<Real>(guess.scale);
    top = static_cast<Real>(guess.top);
  };
  if (configuration_.guess == Guess::floor) {
    set(*plan->floor());
    high = static_cast<Real>(plan->floor()->high);
  } else if (configuration_.guess == Guess::even) {
    set(*plan->even());
    first = static_cast<Key>(plan->even()->first);
    tolerance = static_cast<Real>(plan->even()->tolerance);
    last_tolerance = static_cast<Real>(plan->even()->last_tolerance);
  } else {
    set(trie_);
  }
  // The key of a signed integer is its bits with the sign flipped.
  const Key flip = plan != nullptr && is_signed(plan->type()) ? Key{1} << (8 * sizeof(Key) - 1) : Key{0};
  const bool clears_spare = !spare_clean_ && !recorded_;
  const device::Argument others[] = {head,
                                     count,
                                     counts_,
                                     static_cast<std::uint32_t>(problem_.slots()),
                                     drawn_,
                                     spare_,
                                     static_cast<std::uint32_t>(clears_spare ? problem_.slots() + 1 : 0),
                                     thresholds_,
                                     thresholds,
                                     words_,
                                     static_cast<std::uint32_t>(trie_.words.size()),
                                     trie_.shift,
                                     first,
                                     static_cast<Key>(trie_.span),
                                     flip,
                                     low,
                                     scale,
                                     top,
                                     tolerance,
                                     last_tolerance,
                                     high,
                                     std::uint32_t{1}};
  arguments.insert(arguments.end(), std::begin(others), std::end(others));
  device_.launch(count_, grid, arguments);
  counts_clean_ = false;
  spare_clean_ = spare_clean_ || clears_spare;
  const std::uint64_t shares =
      count / per_vector(problem_.type()) / (std::uint64_t{configuration_.group_size} * configuration_.loads * configuration_.steps);
  if (shares > 2 * std::uint64_t{grid.groups}) drawn_ += static_cast<std::uint32_t>(shares);
}

void DeviceHistogram::launch(const device::Memory& data, std::uint64_t count, std::uint64_t offset) {
  const std::uint64_t element = size_of(problem_.type());
  const std::uint64_t beyond = (device_.misalignment(data) + offset) % 16;
  const auto head = static_cast<std::uint32_t>(std::min((16 - beyond) % 16 / element, count));
  launch_any({data, offset + head * element}, count - head, head);
}

void DeviceHistogram::launch(const statistics::Term& term) {
  if (term.code.text != term_) {
    count_ = device::build(device_, count_source(problem_, configuration_, &term.code), "histogram_count");
    term_ = term.code.text;
  }
  std::vector<device::Argument> data = term.arguments;
  data.emplace_back(term.row_length);
  launch_any(std::move(data), term.count - term.head, term.head);
}

// `count` samples, and `head` before them.
void DeviceHistogram::launch_any(std::vector<device::Argument> data, std::uint64_t count, std::uint32_t head) {
  const std::uint64_t tile = std::uint64_t{configuration_.group_size} * configuration_.loads * per_vector(problem_.type());
  const std::uint64_t tiles = std::max<std::uint64_t>((count + tile - 1) / tile, 1);
  const device::Grid grid{.groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(configuration_.groups, tiles)),
                          .group_size = configuration_.group_size,
                          .local_bytes = configuration_.local_bytes};
  const bool wide = size_of(problem_.type()) == 8;
  // Without fp64, kernels have no parameters of that type.
  if (wide && problem_.type() == DType::float64 && device_.info().has(Capability::fp64)) {
    launch_typed<std::uint64_t, double>(std::move(data), count, head, grid);
  } else if (wide) {
    launch_typed<std::uint64_t, float>(std::move(data), count, head, grid);
  } else {
    launch_typed<std::uint32_t, float>(std::move(data), count, head, grid);
  }
}

void DeviceHistogram::prepare_export() {
  if (export_.handle != nullptr) return;
  const bool patterns = problem_.slots() != problem_.plan->slots();
  if (problem_.plan->may_fail()) {
    throw Error(ErrorKind::usage, "the formula of these bins may fail, and counts that are left on a device cannot tell: ask for result()");
  }
  if (patterns && !device_.info().has(Capability::int64_atomics)) {
    throw Error(ErrorKind::usage, fmt::format("counts of {} can be left on a device that has 64-bit atomics, unlike {}: ask for result()",
                                              name_of(problem_.type()), device_.info().selector));
  }
  export_ = device::build(device_, count_source(problem_, configuration_), "histogram_export");
  if (patterns) slot_of_ = upload(device_, problem_.plan->pattern_slots());
}

void DeviceHistogram::export_to(const device::Place& to) {
  const auto slots = static_cast<std::uint32_t>(problem_.plan->slots()), counted = static_cast<std::uint32_t>(problem_.slots());
  const std::uint32_t group_size = std::min(configuration_.group_size, 256u);
  const auto grid = [&](std::uint32_t items) {
    return device::Grid{.groups = std::min((items + group_size - 1) / group_size, 4 * device_.info().compute_units),
                        .group_size = group_size};
  };
  if (slot_of_.bytes != 0) device_.launch(clear_, grid(2 * slots), std::array<device::Argument, 3>{to.memory, to.offset, 2 * slots});
  const device::Memory& slot_of = slot_of_.bytes != 0 ? slot_of_ : counts_;
  device_.launch(export_, grid(counted), std::array<device::Argument, 5>{counts_, counted, slot_of, to.memory, to.offset});
}

std::span<const std::uint32_t> DeviceHistogram::read() {
  counted_.resize(problem_.slots());
  device_.read(counts_, 0, counted_.data(), 4 * counted_.size());
  return counted_;
}

Histogram DeviceHistogram::result(const Bins& bins) {
  const std::span<const std::uint32_t> counted = read();
  if (problem_.plan->by_value()) {
    const std::vector<std::uint64_t> patterns(counted.begin(), counted.end());
    return Histogram(bins, problem_.plan->fold(patterns));
  }
  return Histogram(bins, counted);
}

void DeviceHistogram::add_to(std::vector<std::uint64_t>& slots) {
  read();
  for (std::size_t i = 0; i < counted_.size(); ++i) slots[i] += counted_[i];
}

namespace {

// The sum of partial histograms, for more samples than 32-bit counters hold.
class Total {
 public:
  /// Adds the counts to `slots`.
  Total(DeviceHistogram& histogram, std::vector<std::uint64_t>& slots) : histogram_(histogram), slots_(slots) {
    slots_.assign(histogram.slots(), 0);
    histogram_.clear();
  }
  /// Enqueues counting `count` samples by DeviceHistogram::launch(what …).
  template <class... What>
  void add(std::uint64_t count, const What&... what) {
    if (counted_ + count > DeviceHistogram::kMaxCounted) {
      histogram_.add_to(slots_);
      histogram_.clear();
      counted_ = 0;
    }
    counted_ += count;
    histogram_.launch(what...);
  }
  void finish() { histogram_.add_to(slots_); }

 private:
  DeviceHistogram& histogram_;
  std::vector<std::uint64_t>& slots_;
  std::uint64_t counted_ = 0;  // since the counters were cleared
};

// Cached between calls over arrays on the device with the same bins.
struct CachedHistogram {
  CachedHistogram(device::Device& device, const Bins& edges, DType type, std::uint64_t samples, std::uint32_t group_size,
                  const statistics::TermCode* term = nullptr)
      : bins(edges), plan(edges, type), histogram(device, {&plan}, samples, group_size, term) {}

  Bins bins;
  Plan plan;
  DeviceHistogram histogram;
  std::vector<std::uint64_t> slots;  // of the latest call: avoids another large allocation
};

}  // namespace

std::vector<std::uint64_t> count_on_device(View data, const Problem& problem, device::Device& device, const Tuning& options,
                                           Report* report) {
  const std::lock_guard lock(device.mutex());
  DeviceHistogram histogram(device, problem, data.size(), options.group_size);
  std::vector<std::uint64_t> slots;
  Total total(histogram, slots);
  const std::uint64_t pixels = std::uint64_t{48} / size_of(data.type());  // chunks are whole pixels for any number of channels
  const std::uint64_t chunk = device::chunk_size(device.info(), data.type(), data.size(), pixels);
  device::for_uploaded(
      device, std::span(&data, 1), chunk, report,
      [&](std::size_t, std::span<const device::Memory> memories, std::uint64_t, std::uint64_t count) {
        total.add(count, memories[0], count);
      },
      [](std::size_t, std::uint64_t, std::uint64_t) {});  // all lanes count into the same counters
  if (report != nullptr) report->configuration = histogram.configuration().text();
  total.finish();
  return slots;
}

Histogram count_in_buffer(const Array& data, const Bins& bins, const Tuning& options, Report* report) {
  device::Device& device = data.buffer().device().implementation();
  const auto element = static_cast<std::int64_t>(size_of(data.type()));
  std::optional<device::Run> run = device::single_run(data, core::Order::memory);
  if (run && run->stride != element) run.reset();
  std::optional<device::Gather> gather;
  if (!run) gather.emplace(data, core::Order::memory);
  const std::uint64_t most = run ? DeviceHistogram::kMaxCounted / 16 * 16 : device::Gather::most(data.type());

  const device::Lock lock(device.mutex());
  const std::uint64_t size = device::Plans::size_for(data.size());
  const std::string name = fmt::format("histogram {} {} {} {}", name_of(data.type()), size, bins.count(), options.group_size);
  auto cached = device.plans().take<CachedHistogram>(name);
  if (!cached || cached->bins != bins) cached = std::make_shared<CachedHistogram>(device, bins, data.type(), size, options.group_size);
  cached->bins = bins;  // the caller's own edges: comparing the same ones again takes no time, comparing a million others a millisecond
  const device::Mark start = report != nullptr ? device.mark() : device::Mark{};
  const auto tell = [&] {
    if (report == nullptr) return;
    report->configuration = cached->histogram.configuration().text();
    report->seconds = device.seconds_between(start, device.mark());
  };
  if (run && data.size() <= DeviceHistogram::kMaxCounted) {
    cached->histogram.clear();
    cached->histogram.launch(run->memory, run->count, run->offset);
    tell();
    Histogram result = cached->histogram.result(bins);
    device.plans().give_back(name, std::move(cached));
    return result;
  }
  Total total(cached->histogram, cached->slots);
  for (std::uint64_t first = 0; first < data.size(); first += most) {
    const std::uint64_t count = std::min(most, data.size() - first);
    const device::Run part = run ? run->part(first, count) : gather->part(first, count, lock);
    total.add(count, part.memory, count, part.offset);
  }
  tell();
  total.finish();
  Histogram result = cached->plan.by_value() ? Histogram(bins, cached->plan.fold(cached->slots)) : Histogram(bins, cached->slots);
  device.plans().give_back(name, std::move(cached));
  return result;
}

Histogram count_terms(statistics::Terms& terms, const Bins& bins, const Tuning& options, std::uint64_t most, Report* report,
                      const std::function<void(std::uint64_t)>& done) {
  device::Device& device = terms.device();
  const device::Lock lock(device.mutex());
  const std::uint64_t size = terms.size(), each = terms.part_size(std::min(most, DeviceHistogram::kMaxCounted));
  const device::Mark start = report != nullptr ? device.mark() : device::Mark{};
  std::string name;
  std::shared_ptr<CachedHistogram> cached;
  std::optional<Total> total;
  for (std::uint64_t first = 0; first < size; first += each) {
    const statistics::Term term = terms.part(first, std::min(each, size - first), {}, lock);
    if (!cached) {
      const std::uint64_t about = device::Plans::size_for(size);
      name = fmt::format("histogram of {} {} {} {}", term.code.text, about, bins.count(), options.group_size);
      cached = device.plans().take<CachedHistogram>(name);
      if (!cached || cached->bins != bins)
        cached = std::make_shared<CachedHistogram>(device, bins, terms.type(), about, options.group_size, &term.code);
      cached->bins = bins;
      total.emplace(cached->histogram, cached->slots);
    }
    total->add(term.count, term);
    terms.check(lock);
    const device::Unlocked unlocked(device.mutex());
    done(term.count);
  }
  if (report != nullptr) {
    report->configuration = cached->histogram.configuration().text();
    report->seconds = device.seconds_between(start, device.mark());
  }
  total->finish();
  Histogram result = cached->plan.by_value() ? Histogram(bins, cached->plan.fold(cached->slots)) : Histogram(bins, cached->slots);
  device.plans().give_back(name, std::move(cached));
  return result;
}

}  // namespace samesum::binning
