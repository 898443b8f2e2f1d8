// The variants of the sum side by side.
#include <samesum/bench.hpp>
#include <samesum/error.hpp>
#include <samesum/sum.hpp>

#include "core/array/array_blocks.hpp"
#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/expected.hpp"
#include "ladder/reduce/reference.hpp"
#include "ladder/reduce/textbook.hpp"
#include "ladder/rungs.hpp"
#include "ladder/timing.hpp"
#include "ladder/whole_numbers.hpp"
#include "reduce/cpu/sum_cpu.hpp"
#include "reduce/sum_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace samesum::bench {
namespace {

constexpr std::string_view kSequential = "sequential";
constexpr std::string_view kParallel = "parallel";
constexpr std::string_view kAccumulator = "accumulator";  // the exact sum before it is rounded

std::string host_exact_rung() { return std::string(sum_variants(Device::open("cpu")).front().name); }

// A rung, on any device.
struct Rung {
  std::function<void()> call;             // one sum: complete on return, or enqueued
  std::function<bool(LadderRow&)> check;  // writes the last sum's value to the row; whether it is right
  Timer timer;
};

// Rows of elements.
struct Matrix {
  View data;                           // the elements without gaps
  std::uint64_t rows, columns, pitch;  // the pitch in elements
  const void* start;                   // of the elements with their gaps
  std::vector<char> packed = {};       // what `data` shows where there are gaps
  bool gaps() const { return pitch != columns && rows > 1; }
  std::uint64_t bytes() const { return gaps() ? ((rows - 1) * pitch + columns) * size_of(data.type()) : data.bytes(); }
};

// Copies the matrix with its gaps to the device.
device::Memory upload(device::Device& device, const Matrix& matrix) {
  const device::Memory memory = device.allocate(std::max<std::uint64_t>(matrix.bytes(), 16));
  if (matrix.bytes() != 0) device.write(memory, 0, matrix.start, matrix.bytes());
  return memory;
}

void check_textbook_type(DType type) {
  if (type != DType::float32 && type != DType::float64) {
    throw Error(
        ErrorKind::usage,
        fmt::format("the textbook adds up float32 and float64, not {}; 'bench reduce --ladder sum' adds up integers", name_of(type)));
  }
}

reduction::TextbookOptions textbook_options(const Matrix& matrix, const LadderOptions& options, const std::string& source) {
  reduction::TextbookOptions textbook{options.group_size, options.groups, options.tile, source};
  textbook.registers = options.registers;
  textbook.tile_rows = options.tile_rows;
  textbook.block_columns = options.block_columns;
  if (matrix.gaps()) textbook.pitch = matrix.pitch;
  textbook.result_align = options.result_align;
  return textbook;
}

class LadderRun {
 public:
  LadderRun(const Device& device, const Matrix& matrix, const LadderOptions& options)
      : device_(device), matrix_(matrix), options_(options), reference_(matrix.data) {
    ladder_.device = device.info();
    ladder_.type = matrix.data.type();
    ladder_.rows = matrix.rows;
    ladder_.columns = matrix.columns;
    ladder_.pitch = matrix.pitch;
    ladder_.exact_sum = reference_.sum.round();
    ladder_.magnitude_sum = reference_.magnitude;
  }

  Ladder run() {
    if (!options_.kernel_source.empty()) check_kernel();
    run_host();
    if (device_.info().has(Capability::kernels)) run_kernels();
    return std::move(ladder_);
  }

 private:
  View data() const { return matrix_.data; }

  // Writes `value` to the row and checks it as a plain sum of that depth.
  bool within_bound(LadderRow& row, double value, std::uint64_t depth, bool flushed = false) const {
    row.value = value;
    row.error = reference_.error_of(value);
    row.bound = error_bound(data().type(), data().size(), depth, reference_.magnitude, flushed);
    if (std::isinf(row.bound)) {
      row.verdict = Verdict::not_comparable;
      row.reason = "the data have no finite sum of magnitudes in their own type: an addition may overflow";
      return true;
    }
    return row.error <= row.bound;  // false for NaN
  }

  bool equals_exactly(LadderRow& row, double value) const {
    row.value = value;
    row.error = reference_.error_of(value);
    return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(ladder_.exact_sum);
  }

  // Makes one row: `prepare` returns the rung. Checked before and after it is timed.
  template <class Prepare>
  void add_row(std::string_view name, const Reader& reader, bool exact, const Prepare& prepare) {
    if (!wanted(options_.rungs, name, options_.kernel_name)) return;
    options_.effort.tell(name);
    LadderRow row;
    row.name = name;
    row.where = reader.where;
    row.exact = exact;
    attempt(row, [&] {
      const Rung rung = prepare(row);
      row.verdict = Verdict::right;
      rung.call();
      if (check_result(rung, row) && rung.timer) {
        time_rung(row, rung.timer, reader, options_.effort);
        row.bytes_per_second = static_cast<double>(data().bytes()) / row.seconds.median;
        if (!check_result(rung, row)) forget_times(row);
      }
    });
    ladder_.rungs.push_back(std::move(row));
    rank(ladder_);
    if (options_.measured) options_.measured(ladder_);
  }

  static bool check_result(const Rung& rung, LadderRow& row) {
    const bool right = rung.check(row);
    if (!right) {
      row.verdict = Verdict::wrong;
      if (row.reason.empty()) row.reason = row.exact ? "other bits than the exact sum" : "the error is over the bound";
    }
    return right;
  }

  // Wrong variants are not ranked.
  static void forget_times(LadderRow& row) {
    row.seconds = row.ceiling_fraction = {};
    row.bytes_per_second = 0;
  }

  // --- the host's rungs

  void run_host() {
    const std::uint32_t all = options_.threads != 0 ? options_.threads : core::all_cores();
    const std::string exact = host_exact_rung();
    if (!wanted(options_.rungs, kSequential) && !wanted(options_.rungs, kParallel) && !wanted(options_.rungs, exact) &&
        !wanted(options_.rungs, kAccumulator)) {
      return;
    }

    const Reader one = host_reader(ladder_, data(), 1, options_.effort);
    const std::uint64_t depth = data().size();  // n - 1 additions, in any order
    add_row(kSequential, one, false, [&](LadderRow&) {
      check_textbook_type(data().type());
      return host_rung<double>([this] { return reduction::plain_sum_forward(data()); },
                               [this, depth](LadderRow& row, double value) { return within_bound(row, value, depth); });
    });
    const Reader many = all == 1 ? one : host_reader(ladder_, data(), all, options_.effort);
    add_row(kParallel, many, false, [&](LadderRow& row) {
      check_textbook_type(data().type());
      row.configuration = fmt::format("threads={}", all);
      return host_rung<double>([this, all] { return reduction::plain_sum_parallel(data(), all); },
                               [this, depth](LadderRow& r, double value) { return within_bound(r, value, depth); });
    });
    add_row(exact, many, true, [&](LadderRow& row) {
      row.configuration = fmt::format("threads={}", all);
      return host_rung<double>([this, all] { return reduction::rounded_sum_cpu(data(), all); },
                               [this](LadderRow& r, double sum) { return equals_exactly(r, sum); });
    });
    add_row(kAccumulator, many, true, [&](LadderRow& row) {
      row.configuration = fmt::format("threads={}", all);
      return host_rung<Accumulator>(
          [this, all] { return reduction::sum_cpu(data(), all); },
          [this](LadderRow& r, const Accumulator& sum) { return equals_exactly(r, sum.round()) && sum == reference_.sum; });
    });
  }

  template <class Value, class Call, class Check>
  static Rung host_rung(const Call& call, const Check& check) {
    const auto value = std::make_shared<Value>();
    const auto keep = [value, call] { *value = call(); };
    return {keep, [value, check](LadderRow& row) { return check(row, *value); }, host_timer(keep)};
  }

  // --- the device's rungs

  void run_kernels() {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    options_.effort.tell("upload");
    const device::Mark start = device.mark();
    const device::Memory memory = upload(device, matrix_);
    ladder_.upload_seconds = device.seconds_between(start, device.mark());

    const Reader reader = device_reader(ladder_, device, memory, data().bytes(), options_.effort);
    for (const std::string_view name : reduction::textbook_variants()) {
      add_row(name, reader, false, [&](LadderRow& row) { return textbook_rung(name, device, memory, row); });
    }
    for (const SumVariant& variant : sum_variants(device_)) {
      add_row(variant.name, reader, true, [&](LadderRow& row) { return exact_rung(variant.name, device, memory, row); });
    }
    // Run last: whatever it does to the device affects no other rung.
    if (!options_.kernel_source.empty()) {
      add_row(options_.kernel_name, reader, false,
              [&](LadderRow& row) { return textbook_rung(options_.kernel_name, device, memory, row, options_.kernel_source); });
    }
  }

  void check_kernel() const {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    check_own_kernel(options_.kernel_name, [&] {
      check_textbook_type(data().type());
      const reduction::TextbookOptions own = textbook_options({data(), 1, 1, 1, nullptr}, options_, options_.kernel_source);
      reduction::TextbookSum(options_.kernel_name, device, data().type(), device.allocate(16), 1, 1, own);
    });
  }

  // `source`: of a user's kernel that replaces the rung.
  Rung textbook_rung(std::string_view name, device::Device& device, const device::Memory& memory, LadderRow& row,
                     const std::string& source = {}) const {
    check_textbook_type(data().type());
    const std::string lacking = reduction::why_no_textbook(name, device.info(), data().type());
    if (!lacking.empty()) throw Error(ErrorKind::usage, lacking);
    const reduction::TextbookOptions textbook = textbook_options(matrix_, options_, source);
    const auto sum = std::make_shared<reduction::TextbookSum>(name, device, data().type(), memory, matrix_.rows, matrix_.columns, textbook);
    const reduction::TextbookPlan& plan = sum->plan();
    row.configuration = plan.configuration;
    const auto call = [sum] { sum->launch(); };
    const bool own = !source.empty();
    const auto check = [=, this, &device, flushed = !device.info().has(Capability::denormals)](LadderRow& r) {
      if (own && options_.expected.values) {
        const double found[] = {r.value = sum->result()};
        r.reason = why_not_expected(options_.expected, found);
        return r.reason.empty();
      }
      return within_bound(r, sum->result(), sum->plan().depth, flushed) && (!own || adds_whole_numbers(name, device, textbook, r));
    };
    if (plan.rounds.empty()) return {call, check, {}};
    call();
    row.rounds = time_rounds(*sum, device, options_.effort);
    return {call, check, device_timer(device, call)};
  }

  // The second check of a user's kernel.
  bool adds_whole_numbers(std::string_view name, device::Device& device, const reduction::TextbookOptions& textbook, LadderRow& row) const {
    const std::string fault =
        why_not_whole_sum(device, data().type(), data().size(), [&](const device::Memory& numbers, std::uint64_t count) {
          return std::make_shared<reduction::TextbookSum>(name, device, data().type(), numbers, 1, count, textbook);
        });
    if (!fault.empty()) row.reason = fault;
    return fault.empty();
  }

  Rung exact_rung(std::string_view name, device::Device& device, const device::Memory& memory, LadderRow& row) const {
    if (matrix_.gaps()) throw Error(ErrorKind::usage, fmt::format("{} reads elements that lie one behind the other", name));
    Tuning sum_options;
    sum_options.variant = name;
    sum_options.group_size = options_.group_size;
    sum_options.groups = options_.groups;
    const auto sum = std::make_shared<reduction::DeviceSum>(device, data().type(), sum_options, data().size());
    row.configuration = sum->configuration();
    const auto call = [this, sum, memory] { sum->launch(memory, data().size()); };
    const auto check = [this, sum](LadderRow& r) {
      const reduction::DeviceSumResult result = sum->result();
      return equals_exactly(r, result.record.value) && result.accumulator == reference_.sum;
    };
    return {call, check, device_timer(device, call)};
  }

  Device device_;
  const Matrix& matrix_;
  const LadderOptions& options_;
  Reference reference_;
  Ladder ladder_;
};

Matrix matrix_of(const Array& array) {
  const auto bytes = static_cast<std::int64_t>(size_of(array.type()));
  const std::uint64_t rows = array.rank() == 2 ? array.shape()[0] : 1, columns = array.rank() == 2 ? array.shape()[1] : array.size();
  const bool pitched = array.rank() == 2 && !array.contiguous();
  if (array.rank() > 2 || array.on_device() || (!pitched && !array.contiguous()) ||
      (pitched && (array.strides()[1] != bytes || array.strides()[0] % bytes != 0 ||
                   array.strides()[0] < bytes * static_cast<std::int64_t>(columns)))) {
    throw Error(ErrorKind::usage, "the ladder takes a matrix in host memory whose rows are contiguous and do not overlap");
  }
  if (!pitched) return {core::require_single_view(array, core::Order::index, "the ladder"), rows, columns, columns, array.data()};
  const auto* const start = static_cast<const char*>(array.data());
  std::vector<char> packed(array.bytes());
  const std::uint64_t row_bytes = columns * size_of(array.type());
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::copy_n(start + static_cast<std::int64_t>(row) * array.strides()[0], row_bytes, packed.data() + row * row_bytes);
  }
  const View data(packed.data(), rows * columns, array.type());
  return {data, rows, columns, static_cast<std::uint64_t>(array.strides()[0] / bytes), start, std::move(packed)};
}

// What both entry points need of a device that runs kernels.
void check_device(const DeviceInfo& info, const Matrix& matrix, const LadderOptions& options) {
  device::check_group_size(info, options.group_size, info.max_group_size);
  if (options.result_align == 0) throw Error(ErrorKind::usage, "rows of results start at multiples of 1 element or more, not of 0");
  if (matrix.bytes() > info.max_allocation_bytes) {
    throw Error(ErrorKind::usage, fmt::format("the ladder keeps its data in one allocation: {} bytes, but {} allows {}", matrix.bytes(),
                                              info.selector, info.max_allocation_bytes));
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::right:
      return "right";
    case Verdict::wrong:
      return "wrong";
    case Verdict::not_comparable:
      return "not comparable";
    case Verdict::skipped:
      return "skipped";
    case Verdict::failed:
      return "failed";
  }
  return "";
}

std::vector<std::string> sum_rungs(const Device& device) {
  std::vector<std::string> names = {std::string(kSequential), std::string(kParallel)};
  names.push_back(host_exact_rung());
  names.emplace_back(kAccumulator);
  if (!device.info().has(Capability::kernels)) return names;
  for (const std::string_view name : reduction::textbook_variants()) names.emplace_back(name);
  for (const SumVariant& variant : sum_variants(device)) names.emplace_back(variant.name);
  return names;
}

Ladder sum_ladder(const Device& device, const Array& array, const LadderOptions& options) {
  const core::DefaultFloatEnvironment environment;
  const Matrix matrix = matrix_of(array);
  check_rungs(options.rungs, sum_rungs(device), options.kernel_name, device.info());
  if (device.info().has(Capability::kernels)) check_device(device.info(), matrix, options);
  return LadderRun(device, matrix, options).run();
}

std::vector<RoundSums> sum_rounds(const Device& opened, std::string_view method, const Array& array, const LadderOptions& options) {
  const core::DefaultFloatEnvironment environment;
  if (method != "tree_passes" && method != "tile_passes") {
    throw Error(ErrorKind::usage, fmt::format("'{}' leaves no matrix after each round: tree_passes and tile_passes do", method));
  }
  const DeviceInfo& info = opened.info();
  if (!info.has(Capability::kernels)) {
    throw Error(ErrorKind::usage, fmt::format("{} runs no kernels: {}", info.selector, info.why_not(Capability::kernels)));
  }
  const Matrix matrix = matrix_of(array);
  check_textbook_type(array.type());
  check_device(info, matrix, options);
  const std::string lacking = reduction::why_no_textbook(method, info, array.type());
  if (!lacking.empty()) throw Error(ErrorKind::usage, lacking);
  device::Device& device = opened.implementation();
  const std::lock_guard lock(device.mutex());
  const device::Memory memory = upload(device, matrix);
  reduction::TextbookSum sum(method, device, array.type(), memory, matrix.rows, matrix.columns, textbook_options(matrix, options, {}));
  std::vector<RoundSums> results;
  for (const reduction::TextbookRound& round : sum.plan().rounds) {
    sum.launch(round);
    RoundSums& result = results.emplace_back(RoundSums{round.result_rows, round.result_columns, round.result_pitch, {}});
    const auto read = [&](auto element) {
      std::vector<decltype(element)> row(result.columns);
      for (std::uint64_t r = 0; r < result.rows; ++r) {
        device.read(round.result, r * result.pitch * sizeof element, row.data(), row.size() * sizeof element);
        result.values.insert(result.values.end(), row.begin(), row.end());
      }
    };
    if (array.type() == DType::float32) {
      read(float{});
    } else {
      read(double{});
    }
  }
  return results;
}

}  // namespace samesum::bench
