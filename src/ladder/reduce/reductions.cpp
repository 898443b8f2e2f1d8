// Reductions side by side.
#include <samesum/bench_reduce.hpp>
#include <samesum/error.hpp>

#include "core/array/array_blocks.hpp"
#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/expected.hpp"
#include "ladder/reduce/climb.hpp"
#include "ladder/reduce/operations.hpp"
#include "ladder/reduce/textbook.hpp"
#include "ladder/rungs.hpp"
#include "ladder/timing.hpp"
#include "product/product.hpp"
#include "reduce/collect.hpp"
#include "reduce/device/collect_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace samesum::bench {
namespace {

using Operation = ReduceOperation;

// A measurement: a call that is complete on return, or enqueues, and a check of its result.
struct Candidate {
  std::function<void()> call;
  std::function<bool()> is_right;
  std::uint64_t bytes = 0;
  Timer timer;
};

bool same_product(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  if (a->number.index() != 0 || b->number.index() != 0) return *a == *b;
  return std::bit_cast<std::uint64_t>(a->as_double()) == std::bit_cast<std::uint64_t>(b->as_double());
}

class Run {
 public:
  Run(const Device& device, View data, const ReduceBenchOptions& options) : device_(device), data_(data), options_(options) {
    bench_.device = device.info();
    bench_.type = data.type();
    bench_.size = data.size();
    if (!options.ladder.empty()) climb_.emplace(data, options);
    threads_ = options.threads != 0 ? options.threads : core::all_cores();
  }

  ReduceBench run() {
    if (!options_.kernel_source.empty()) check_kernel();
    if (options_.host || !device_.info().has(Capability::kernels)) run_host();
    if (device_.info().has(Capability::kernels)) run_kernels();
    return std::move(bench_);
  }

 private:
  bool wanted(std::string_view name) const {
    if (climbs() && options_.operations.empty()) return options_.variants.empty() && name == climb_->leads_to();
    return options_.operations.empty() || std::ranges::find(options_.operations, name) != options_.operations.end();
  }

  template <class Prepare>
  void add_row(const Operation& operation, const Reader& reader, const Prepare& prepare, bool always = false) {
    if (!always && !wanted(operation.name)) return;
    options_.effort.tell(operation.name);
    ReduceBenchRow row;
    row.operation = operation.name;
    row.where = reader.where;
    attempt(row, [&] {
      const Candidate candidate = prepare(operation, row);
      candidate.call();
      row.verdict = candidate.is_right() ? Verdict::right : Verdict::wrong;
      if (row.verdict == Verdict::right) {
        if (candidate.timer) time(candidate, reader, row);
      } else if (row.reason.empty()) {
        row.reason = "another result than the CPU's";
      }
    });
    bench_.rows.push_back(std::move(row));
    if (options_.measured) options_.measured(bench_);
  }

  void time(const Candidate& candidate, const Reader& reader, ReduceBenchRow& row) const {
    time_rung(row, candidate.timer, reader, options_.effort);
    const double times = static_cast<double>(candidate.bytes) / static_cast<double>(data_.bytes());
    Statistics& fraction = row.ceiling_fraction;
    fraction = {fraction.median * times, fraction.low * times, fraction.high * times, fraction.runs};
    row.bytes_per_second = static_cast<double>(candidate.bytes) / row.seconds.median;
  }

  // --- the CPU's rows

  statistics::CollectOptions collect_options(const Operation& operation) const {
    return {operation.fields, options_.group_size, options_.groups, threads_};
  }
  // The reference that results are compared with: the CPU's statistics.
  const samesum::Statistics& expected(const Operation& operation) {
    auto& entry = expected_[&operation - kReduceOperations];
    if (!entry) entry = statistics::collect_cpu(data_, {operation.fields, 0, 0, options_.host ? 1 : threads_});
    return *entry;
  }
  std::optional<Value> product_by(const Device& device) const {
    Options options{.device = device};
    options.tuning.threads = threads_;
    try {
      return samesum::product(data_, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_answer) throw;
      return std::nullopt;  // integers that do not fit: a valid result
    }
  }

  void run_host() {
    options_.effort.tell("the ceiling of the CPU");
    const Reader reader = fastest_reader(data_.data(), data_.bytes(), threads_);
    bench_.ceilings.push_back(read_rate(reader, options_.effort));
    if (climbs()) add_plain_loop(reader);
    for (const Operation& operation : kReduceOperations) {
      add_row(operation, reader, [&](const Operation& wanted, ReduceBenchRow& row) { return host_candidate(wanted, row); });
    }
  }

  // --- the ladder of one operation: a plain loop, and the textbook's kernels (ladder/reduce/textbook.cl)

  bool climbs() const { return climb_.has_value(); }
  template <class Prepare>
  void add_textbook_row(std::string_view name, const Reader& reader, const Prepare& prepare) {
    const std::string row_name = name == options_.kernel_name ? std::string(name) : fmt::format("{} {}", options_.ladder, name);
    if (!bench::wanted(options_.variants, name, options_.kernel_name)) return;
    add_row(
        {row_name, {}}, reader,
        [&](const Operation&, ReduceBenchRow& row) {
          Candidate candidate = prepare(row);
          candidate.bytes = data_.bytes();
          return candidate;
        },
        true);
  }
  void add_plain_loop(const Reader& reader) {
    add_textbook_row(Climb::kSequential, reader, [&](ReduceBenchRow& row) {
      row.where = host_label(1);
      const auto result = std::make_shared<std::uint64_t>();
      Candidate candidate;
      candidate.call = [this, result] { *result = climb_->plain_loop(); };
      candidate.is_right = [this, result, &row] {
        row.reason = climb_->why_not_right(*result);
        return row.reason.empty();
      };
      candidate.timer = host_timer(candidate.call);
      return candidate;
    });
  }
  void add_textbook_kernels(const Reader& reader, device::Device& device) {
    const auto add = [&](std::string_view name, const std::string& source) {
      add_textbook_row(name, reader, [&](ReduceBenchRow& row) {
        if (const std::string lacking = climb_->why_not(name, device.info()); !lacking.empty()) throw Error(ErrorKind::usage, lacking);
        const auto variant = climb_->prepare(name, device, memory_, source);
        row.configuration = variant->plan().configuration;
        Candidate candidate;
        candidate.call = [variant] { variant->launch(); };
        const bool own = !source.empty();
        candidate.is_right = [=, this, &device, &row] {
          const std::uint64_t bits = variant->bits();
          if (own && options_.expected.values) {
            row.reason = why_not_expected(options_.expected, Array(&bits, 1, data_.type()));
          } else {
            row.reason = climb_->why_not_right(bits);
            if (own && row.reason.empty()) row.reason = climb_->why_not_whole(name, device, source);
          }
          return row.reason.empty();
        };
        if (variant->plan().rounds.empty()) return candidate;  // one element: there is nothing to launch
        candidate.timer = device_timer(device, candidate.call);
        if (source.empty()) {
          variant->launch();
          row.rounds = reduction::time_rounds(*variant, device, options_.effort);
        }
        return candidate;
      });
    };
    for (const std::string_view name : reduction::textbook_variants()) add(name, {});
    // Run last: whatever it does to the device affects no other rung.
    if (!options_.kernel_source.empty()) add(options_.kernel_name, options_.kernel_source);
  }
  void check_kernel() const {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    check_own_kernel(options_.kernel_name,
                     [&] { climb_->prepare(options_.kernel_name, device, device.allocate(16), options_.kernel_source, 1); });
  }

  Candidate host_candidate(const Operation& operation, ReduceBenchRow& row) {
    row.configuration = fmt::format("threads={}", threads_);
    Candidate candidate;
    candidate.bytes = data_.bytes();
    if (operation.kind == Operation::multiplies_all) {
      const auto result = std::make_shared<std::optional<Value>>();
      candidate.call = [this, result] { *result = product_by(Device::open("cpu")); };
      candidate.is_right = [this, result] { return same_product(*result, product_by(Device::open("cpu"))); };
    } else if (operation.kind == Operation::multiplies_pairs) {
      const auto result = std::make_shared<ProductAccumulator>();
      const View other = reversed();
      candidate.bytes *= 2;
      candidate.call = [this, result, other] { *result = statistics::dot_cpu(data_, other, threads_); };
      candidate.is_right = [this, result, other] { return *result == statistics::dot_cpu(other, data_, 1); };
    } else {
      const auto result = std::make_shared<samesum::Statistics>();
      candidate.call = [this, result, &operation] { *result = statistics::collect_cpu(data_, collect_options(operation)); };
      candidate.is_right = [this, result, &operation] { return *result == expected(operation); };
    }
    candidate.timer = host_timer(candidate.call);
    return candidate;
  }

  // The second array of dot products: the same elements, rotated by half an array.
  View reversed() {
    if (other_.empty() && data_.size() != 0) {
      const auto* bytes = static_cast<const std::byte*>(data_.data());
      const std::uint64_t half = data_.size() / 2 * size_of(data_.type());
      other_.assign(bytes + half, bytes + data_.bytes());
      other_.insert(other_.end(), bytes, bytes + half);
    }
    return {other_.data(), data_.size(), data_.type()};
  }

  // --- the device's rows

  void run_kernels() {
    device::Device& device = device_.implementation();
    std::unique_lock lock(device.mutex());
    options_.effort.tell("upload");
    memory_ = device.allocate(std::max<std::uint64_t>(data_.bytes(), 16));
    if (data_.bytes() != 0) device.write(memory_, 0, data_.data(), data_.bytes());
    options_.effort.tell(fmt::format("the ceiling of {}", device.info().selector));
    const Reader reader = fastest_reader(device, memory_, data_.bytes());
    bench_.ceilings.push_back(read_rate(reader, options_.effort));
    if (climbs()) add_textbook_kernels(reader, device);
    for (const Operation& operation : kReduceOperations) {
      add_row(operation, reader, [&](const Operation& wanted, ReduceBenchRow& row) { return device_candidate(wanted, row, device); });
    }
  }

  Candidate device_candidate(const Operation& operation, ReduceBenchRow& row, device::Device& device) {
    Candidate candidate;
    candidate.bytes = data_.bytes();
    if (operation.kind == Operation::multiplies_all) return device_product(row, device);
    const bool dot = operation.kind == Operation::multiplies_pairs;
    const auto pass = std::make_shared<statistics::DevicePass>(device, data_.type(), collect_options(operation), dot, data_.size());
    row.configuration = pass->configuration();
    device::Memory second = memory_;
    if (dot) {
      candidate.bytes *= 2;
      second = device.allocate(std::max<std::uint64_t>(data_.bytes(), 16));
      if (data_.bytes() != 0) device.write(second, 0, reversed().data(), data_.bytes());
    }
    const auto stride = static_cast<std::int64_t>(size_of(data_.type()));
    candidate.call = [this, pass, second, stride] { pass->launch({memory_, data_.size(), stride, 0}, {second, data_.size(), stride, 0}); };
    candidate.is_right = [this, pass, dot, &operation] {
      const samesum::Statistics found(pass->result());
      return dot ? found.contents().squares == statistics::dot_cpu(data_, reversed(), threads_) : found == expected(operation);
    };
    candidate.timer = device_timer(device, candidate.call);
    return candidate;
  }

  // Only whole tiles: the host computes the rest, which is in no row's time.
  Candidate device_product(ReduceBenchRow& row, device::Device& device) {
    if (is_integer(data_.type())) throw Error(ErrorKind::usage, "products of integers stop at 64 bits: nothing to measure");
    Tuning options;
    options.group_size = options_.group_size;
    options.groups = options_.groups;
    const auto product = std::make_shared<product_tree::DeviceProduct>(device, data_.type(), false, options);
    row.configuration = product->text();
    Candidate candidate;
    candidate.bytes = data_.bytes();
    candidate.call = [this, product] { product->launch(memory_, data_.size() >> product->level(), 0); };
    candidate.is_right = [this, product] { return is_wide() ? is_product<double>(*product) : is_product<float>(*product); };
    candidate.timer = device_timer(device, candidate.call);
    return candidate;
  }
  bool is_wide() const { return data_.type() == DType::float64; }
  template <class T>
  bool is_product(product_tree::DeviceProduct& product) const {
    core::Tree<T> tree;
    product.collect(tree);
    const std::uint64_t whole = data_.size() >> product.level() << product.level();
    const double expected = samesum::product(data_.part(0, whole), {.device = Device::open("cpu")}).as_double();
    const double found = tree.root();
    return std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(found) || (std::isnan(expected) && std::isnan(found));
  }

  Device device_;
  View data_;
  const ReduceBenchOptions& options_;
  std::uint32_t threads_;
  ReduceBench bench_;
  std::optional<samesum::Statistics> expected_[std::size(kReduceOperations)];
  std::vector<std::byte> other_;
  device::Memory memory_;
  std::optional<Climb> climb_;
};

}  // namespace

std::vector<std::string_view> reduce_operations() {
  std::vector<std::string_view> names;
  for (const Operation& operation : kReduceOperations) names.push_back(operation.name);
  return names;
}

ReduceBench measure_reductions(const Device& device, const Array& array, const ReduceBenchOptions& options) {
  const core::DefaultFloatEnvironment environment;
  const View data = core::require_single_view(array, core::Order::index, "the measurement");
  const auto known = reduce_operations();
  for (const std::string& name : options.operations) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(ErrorKind::usage, fmt::format("'{}' is no reduction to measure: there are {}", name, fmt::join(known, ", ")));
  }
  if (!options.ladder.empty()) {
    Climb::check(data.type(), options);
    std::vector<std::string> rungs(reduction::textbook_variants().begin(), reduction::textbook_variants().end());
    rungs.emplace_back(Climb::kSequential);
    check_rungs(options.variants, rungs, options.kernel_name, device.info());
  } else if (!options.variants.empty() || !options.kernel_source.empty()) {
    throw Error(ErrorKind::usage, "variants and a kernel of one's own are rungs of a ladder: name the ladder, too");
  }
  if (device.info().has(Capability::kernels) && data.bytes() > device.info().max_allocation_bytes) {
    throw Error(ErrorKind::usage, fmt::format("the measurement keeps its data in one allocation: {} bytes, but {} allows {}", data.bytes(),
                                              device.info().selector, device.info().max_allocation_bytes));
  }
  return Run(device, data, options).run();
}

}  // namespace samesum::bench
