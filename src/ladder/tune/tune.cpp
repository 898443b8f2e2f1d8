// The search of tuning: every candidate is compiled, its result compared with the CPU's, and only then measured.
#include "device/device.hpp"
#include "ladder/timing.hpp"
#include "ladder/tune/space.hpp"
#include "tuning/tables.hpp"

#include <samesum/bench.hpp>
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace samesum {
namespace tuning {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kGeneric = "generic";
constexpr std::uint32_t kRecorded = 16;  // launches of a recording
constexpr double kMuchSlower = 10;
constexpr double kWorthwhile = 1.02;  // the shipped shape's time over that of a recorded one, at least, with nine of ten measurements
constexpr double kBearable = 0.8;     // the same of random bits

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<std::byte> bytes_of(const Result& result) {
  const auto bytes = [](const auto& value) -> std::vector<std::byte> {
    if constexpr (requires { value.serialize(); }) return value.serialize();
    return {};  // pairs, which are not measured
  };
  return std::visit(bytes, result);
}

// What is measured, on arrays of different kinds that take turns, so that no plan adapts to one. Random bits are measured apart: they are rare, and
// take several times as long, which would outweigh all other data.
class Case {
 public:
  static constexpr std::size_t kArrays = 4, kBits = 3;  // of kinds[]

  Case(const Device& device, const Tunable& tunable, DType type, std::uint64_t bytes) : device_(device), tunable_(tunable), type_(type) {
    size_ = std::max<std::uint64_t>(bytes / size_of(type), 1);
    const std::uint64_t spacing = (size_ * size_of(type) + 255) / 256 * 256;
    const Buffer buffer(device, (kArrays + 1) * spacing);
    const bench::DataKind kinds[] = {bench::DataKind::normal, bench::DataKind::lognormal, bench::DataKind::uniform, bench::DataKind::bits,
                                     bench::DataKind::normal};
    std::vector<bench::Data> host;
    for (std::size_t i = 0; i <= kArrays; ++i) {
      host.emplace_back(kinds[i], type, size_, i + 1);
      buffer.write(host.back().view().data(), size_ * size_of(type), i * spacing);
      arrays_.emplace_back(buffer, size_, type, i * spacing);
    }
    const Device cpu = Device::open("cpu");
    const auto on_cpu = [&](std::size_t i) {
      void* const memory = const_cast<void*>(host[i].view().data());  // which is only read
      return Array(Buffer::wrap(cpu, memory, size_ * size_of(type)), size_, type);
    };
    Plan plan(cpu, tunable.operation, type, size_);
    for (std::size_t i = 0; i < kArrays; ++i) {
      tunable.two_arrays ? plan.enqueue(on_cpu(i), on_cpu(i + 1)) : plan.enqueue(on_cpu(i));
      expected_.push_back(bytes_of(plan.result()));
    }
  }

  Plan plan() const { return Plan(device_, tunable_.operation, type_, size_); }

  void enqueue(Plan& plan, std::size_t i) const {
    tunable_.two_arrays ? plan.enqueue(arrays_[i], arrays_[i + 1]) : plan.enqueue(arrays_[i]);
  }

  // Twice, as a launch may leave something behind for the next.
  bool is_right(Plan& plan) const {
    for (std::size_t turn = 0; turn < 2 * kArrays; ++turn) {
      enqueue(plan, turn % kArrays);
      if (bytes_of(plan.result()) != expected_[turn % kArrays]) return false;
    }
    return true;
  }

  // The seconds of launches, recorded where the device can, so that the host's part does not count: on all kinds in turns but random bits, or on these.
  bench::Timer timer(const Plan& made, bool of_bits = false) const {
    device::Device& queue = device_.implementation();
    const auto plan = std::make_shared<Plan>(made);
    const auto some = [this, plan, of_bits] {
      for (std::size_t i = 0; i < kRecorded; ++i) enqueue(*plan, of_bits ? kBits : i % kBits);
    };
    std::optional<device::Recording> recording;
    {
      const auto begin = [&] {
        const device::Lock lock(queue.mutex());
        return queue.begin_recording();
      };
      if (begin()) {
        some();
        const device::Lock lock(queue.mutex());
        recording = queue.end_recording();
      }
    }
    return [&queue, some, recording](std::uint32_t calls) {
      const auto mark = [&] {
        const device::Lock lock(queue.mutex());
        return queue.mark();
      };
      const device::Mark start = mark();
      for (std::uint32_t i = 0; i < calls; ++i) {
        if (recording) {
          const device::Lock lock(queue.mutex());
          queue.replay(*recording);
        } else {
          some();
        }
      }
      const device::Mark end = mark();
      const device::Lock lock(queue.mutex());
      return queue.seconds_between(start, end) / kRecorded;
    };
  }

 private:
  Device device_;
  const Tunable& tunable_;
  DType type_;
  std::uint64_t size_;
  std::vector<Array> arrays_;
  std::vector<std::vector<std::byte>> expected_;
};

TuneFailure kind_of(const Error& error) {
  const std::string_view what = error.what();
  const auto says = [&](std::string_view word) { return what.find(word) != std::string_view::npos; };
  if (says("OUT_OF_MEMORY") || says("OUT_OF_RESOURCES") || says("OUT_OF_HOST_MEMORY") || says("local memory"))
    return TuneFailure::no_memory;
  return says("compile") || says("BUILD") ? TuneFailure::not_compiled : TuneFailure::failed;
}

struct Ranked {
  Candidate candidate;
  bench::Timer timer, of_bits;
  double seconds;
};

class Search {
 public:
  Search(const TuneOptions& options, TuneResult& result) : options_(options), result_(result) {}

  bool goes_on() {
    stopped_ = stopped_ || seconds_since(start_) >= options_.seconds;
    result_.complete = result_.complete && !stopped_;
    return !stopped_;
  }
  double left() const { return std::max(options_.seconds - seconds_since(start_), 0.0); }
  double passed() const { return seconds_since(start_); }

  // The records of the best candidate, where it is better than what is shipped.
  std::vector<Record> search(const Case& work, const std::vector<Candidate>& candidates, double seconds, TuneRow& row) {
    const auto begin = Clock::now();
    std::optional<bench::Timer> shipped, shipped_of_bits;
    {
      const ShippedOnly only;
      const Plan plan = work.plan();
      row.shipped_shape = row.shape = plan.configuration();
      shipped = work.timer(plan);
      shipped_of_bits = work.timer(work.plan(), true);
    }
    const bench::Effort effort{.runs = 21, .least_runs = 5, .seconds = std::clamp(seconds / 20, 0.02, 0.5), .progress = {}};
    const double usual = bench::measure(*shipped, {.runs = 5, .least_runs = 3, .seconds = 0.1, .progress = {}}).median;
    std::vector<Ranked> ranked;
    for (const Candidate& candidate : candidates) {
      if (!goes_on() || !told(row, candidate)) break;
      if (seconds_since(begin) > 0.7 * seconds) {
        result_.complete = false;
        break;
      }
      ++row.candidates;
      const TuneFailure failure = attempt(work, candidate, usual, ranked);
      if (failure != TuneFailure::none) count(row, failure);
      if (failure == TuneFailure::wrong_answer && row.wrong.empty()) row.wrong = candidate.records.back().shape.text();
    }
    std::ranges::sort(ranked, {}, &Ranked::seconds);
    if (ranked.size() > 4) ranked.resize(4);
    std::vector<Record> best;
    double ratio = kWorthwhile;
    row.timing = {usual, usual, usual, usual};
    for (const Ranked& one : ranked) {
      const bench::Paired pair = bench::measure_in_turns(one.timer, *shipped, effort);
      if (best.empty() && row.timing.low == usual)
        row.timing = {pair.reference.median, pair.reference.low, pair.reference.high, pair.reference.median};
      if (pair.ratio.low < kWorthwhile || pair.ratio.median < ratio) continue;
      if (bench::measure_in_turns(one.of_bits, *shipped_of_bits, effort).ratio.median < kBearable) continue;
      ratio = pair.ratio.median;
      best = one.candidate.records;
      row.timing = {pair.work.median, pair.work.low, pair.work.high, pair.reference.median};
    }
    row.better = !best.empty();
    if (row.better) row.shape = best.back().shape.text();
    for (Record& record : best) {
      if (record.shape.group_size != 0) record.timing = row.timing;
    }
    return best;
  }

 private:
  bool told(const TuneRow& row, const Candidate& candidate) {
    if (!options_.progress || options_.progress(fmt::format("{} {} {} bytes: {}", row.operation, name_of(row.type), row.bytes,
                                                            candidate.records.back().shape.text()))) {
      return true;
    }
    stopped_ = true;
    return result_.complete = false;
  }

  static TuneFailure attempt(const Case& work, const Candidate& candidate, double usual, std::vector<Ranked>& ranked) {
    try {
      const Override only(candidate.records);
      Plan plan = work.plan();
      if (!candidate.is_used(plan.configuration())) return TuneFailure::not_run;
      if (!work.is_right(plan)) return TuneFailure::wrong_answer;
      const bench::Timer timer = work.timer(plan);
      timer(1);
      double seconds = timer(1);
      if (seconds > kMuchSlower * usual) return TuneFailure::too_slow;
      for (int i = 0; i < 4; ++i) seconds = std::min(seconds, timer(2) / 2);
      ranked.push_back({candidate, timer, work.timer(work.plan(), true), seconds});
      // What cannot win keeps no memory.
      std::ranges::sort(ranked, {}, &Ranked::seconds);
      if (ranked.size() > 8) ranked.resize(8);
      return TuneFailure::none;
    } catch (const Error& error) {
      return kind_of(error);
    } catch (const std::bad_alloc&) {
      return TuneFailure::no_memory;
    }
  }

  static void count(TuneRow& row, TuneFailure failure) {
    const auto found = std::ranges::find(row.failures, failure, &std::pair<TuneFailure, std::uint32_t>::first);
    found == row.failures.end() ? static_cast<void>(row.failures.emplace_back(failure, 1)) : static_cast<void>(++found->second);
  }

  const TuneOptions& options_;
  TuneResult& result_;
  Clock::time_point start_ = Clock::now();
  bool stopped_ = false;
};

// Replaces what `table` has of the same arrays.
void put(Table& table, const std::vector<Record>& measured, const std::vector<Record>& replaced) {
  for (const Record& record : replaced) {
    std::erase_if(table.records, [&](const Record& other) {
      return other.operation == record.operation && other.types == record.types && other.above_bytes == record.above_bytes &&
             other.max_bytes == record.max_bytes;
    });
  }
  table.records.insert(table.records.begin(), measured.begin(), measured.end());
}

// The table that is to be written, with what the file has of it.
Table table_of(const std::string& path, const DeviceInfo& info, const std::string& kind) {
  Table table;
  table.kind = kind.empty() ? "own" : kind;
  table.is_cpu = info.is_cpu;
  if (kind.empty()) {
    table.device = info.name;
    table.platform = info.platform;
  } else if (kind != kGeneric) {
    table.names = {kind};
    if (match_of(table, info) != TuneMatch::kind) {
      throw Error(ErrorKind::usage, fmt::format("{} is named '{}' ({}), which does not contain '{}': name a kind that it is of", info.selector,
                                                info.name, info.platform, kind));
    }
  }
  for (Table& known : read_tables(path).tables) {
    if (is_of_same(known, table)) table.records = std::move(known.records);
  }
  table.driver = info.driver;
  return table;
}

const Tunable& tunable_of(const std::string& name) {
  const auto found = std::ranges::find(tunables(), name, &Tunable::name);
  if (found != tunables().end()) return *found;
  throw Error(ErrorKind::usage, fmt::format("no operation '{}' can be tuned: take sum, dot or extrema", name));
}

}  // namespace
}  // namespace tuning

std::string_view name_of(TuneFailure failure) noexcept {
  constexpr std::string_view kNames[] = {"none", "not_run", "not_compiled", "no_memory", "wrong_answer", "failed", "too_slow"};
  return kNames[static_cast<std::size_t>(failure)];
}

std::vector<std::string_view> tune_operations() {
  std::vector<std::string_view> names;
  for (const tuning::Tunable& tunable : tuning::tunables()) names.push_back(tunable.name);
  return names;
}

TuneResult tune(const Device& device, const TuneOptions& options) {
  const DeviceInfo& info = device.info();
  if (!info.has(Capability::kernels)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} runs no kernels, so it has no shapes to tune: name an OpenCL or a CUDA device", info.selector));
  }
  std::vector<const tuning::Tunable*> operations;
  for (const std::string& name : options.operations) operations.push_back(&tuning::tunable_of(name));
  if (operations.empty()) {
    for (const tuning::Tunable& tunable : tuning::tunables()) operations.push_back(&tunable);
  }
  std::vector<std::uint64_t> sizes = options.bytes;
  if (sizes.empty()) {
    for (std::uint64_t bytes = 4 << 10; bytes <= 64 << 20; bytes *= 4) sizes.push_back(bytes);
  }
  const std::vector<DType> types = options.types.empty() ? std::vector{DType::float32, DType::float64} : options.types;
  const std::string path = options.path.empty() ? tuning::user_path() : options.path;
  TuneResult result;
  result.device = info;
  if (!options.kind.empty() && options.write && options.path.empty()) {
    throw Error(ErrorKind::usage, "records for a kind of devices go to a file of their own: name one");
  }
  if (options.write) tuning::check_writable(path);
  tuning::Table table = tuning::table_of(options.write ? path : "", info, options.kind);
  tuning::Search search(options, result);
  std::size_t left = operations.size() * types.size() * sizes.size();
  for (const std::uint64_t bytes : sizes) {
    for (const tuning::Tunable* const operation : operations) {
      for (const DType type : types) {
        const double share = search.left() / static_cast<double>(left--);
        if (!search.goes_on()) continue;
        const tuning::Case work(device, *operation, type, bytes);
        const std::vector<tuning::Candidate> candidates = tuning::candidates(info, operation->name, type, bytes);
        TuneRow row;
        row.operation = operation->name;
        row.type = type;
        row.bytes = bytes;
        const std::vector<tuning::Record> best = search.search(work, candidates, share, row);
        std::vector<tuning::Record> replaced;
        for (const tuning::Candidate& candidate : candidates) std::ranges::copy(candidate.records, std::back_inserter(replaced));
        if (row.candidates != 0) tuning::put(table, best, replaced);
        if (options.write && row.candidates != 0) {
          tuning::write_table(path, table);
          result.path = path;
        }
        result.rows.push_back(std::move(row));
      }
    }
  }
  result.seconds = search.passed();
  return result;
}

}  // namespace samesum
