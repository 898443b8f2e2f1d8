// The variants of pairs side by side.
#include <samesum/bench_pairs.hpp>
#include <samesum/error.hpp>

#include "core/array/array_blocks.hpp"
#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "ladder/ceiling/arithmetic.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/expected.hpp"
#include "ladder/pairs/reference.hpp"
#include "ladder/pairs/textbook.hpp"
#include "ladder/resident.hpp"
#include "ladder/rungs.hpp"
#include "ladder/timing.hpp"
#include "ladder/vendor.hpp"
#include "ladder/whole_numbers.hpp"
#include "pairs/cpu/pairs_cpu.hpp"
#include "pairs/pairs_device.hpp"
#include "pairs/pairs_formula.hpp"
#include "pairs/tree/host_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace samesum::bench {
namespace {

using all_pairs::Problem;
using all_pairs::Target;

constexpr std::string_view kSerial = "serial";
constexpr std::string_view kBest = "register_blocks";
constexpr std::string_view kBestVec4 = "vec4_best";
constexpr std::uint64_t kSerialPairs = std::uint64_t{1} << 27;  // enough to time a loop
constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 16;    // y: with 16 components of up to 9 each, float32 holds the sum
constexpr std::uint64_t kHostPairs = std::uint64_t{1} << 31;    // and for all cores

double operations_of(const PairsProblem& pairs, const Problem& problem) {
  if (pairs.formula && problem.formula != nullptr) {
    using formula::Op;
    const auto computes = [](const formula::Node& node) {
      return node.op != Op::input && node.op != Op::constant && node.op != Op::parameter;
    };
    return 1 + static_cast<double>(std::ranges::count_if(problem.formula->program.nodes, computes));
  }
  const auto d = static_cast<double>(pairs.components);
  switch (pairs.f) {
    case PairFunction::product:
    case PairFunction::difference:
    case PairFunction::absdiff:
      return 2 * d;
    case PairFunction::sqdist:
      return 3 * d;  // D - 1 additions, and one to the sum, or the comparison
    case PairFunction::gaussian:
      return 3 * d + 2;
    case PairFunction::invdist:
      return 3 * d + 3;
  }
  return 0;
}

struct PairsRung {
  std::function<void()> call;
  std::function<void(Target)> read;
  Timer timer;
  std::uint64_t x_count;  // that one call processes
};

class PairsLadderRun {
 public:
  PairsLadderRun(const Device& device, const PairsLadderOptions& options)
      : device_(device),
        options_(options),
        x_count_(options.a              ? options.a->size() / std::max<std::uint64_t>(options.pairs.components, 1)
                 : options.x_count != 0 ? options.x_count
                 : device.info().is_cpu ? 1 << 13
                                        : 1 << 16),
        y_count_(options.b              ? options.b->size() / std::max<std::uint64_t>(options.pairs.components, 1)
                 : options.y_count != 0 ? options.y_count
                                        : x_count_),
        a_(DataKind::normal, made_type(options.type), options.a ? 0 : x_count_ * options.pairs.components, options.seed),
        b_(DataKind::normal, made_type(options.type), options.b ? 0 : y_count_ * options.pairs.components, options.seed + 1),
        problem_(all_pairs::checked(view_of(options.a, a_), view_of(options.b, b_), pairs_options(options))),
        a_elements_(view_of(options.a, a_), problem_.type),
        b_elements_(view_of(options.b, b_), problem_.type) {
    problem_.a = a_elements_.data();
    problem_.b = b_elements_.data();
    problem_.own_stored.reset();
    reference_.emplace(problem_, options.pairs);
    ladder_.device = device.info();
    ladder_.pairs = options.pairs;
    ladder_.type = problem_.type;
    ladder_.x_count = x_count_;
    ladder_.y_count = y_count_;
    ladder_.operations_of_pair = operations_of(options.pairs, problem_);
  }

  PairsLadder run() {
    if (!options_.kernel_source.empty()) check_kernel();
    const std::uint32_t threads = options_.threads != 0 ? options_.threads : core::all_cores();
    const bool kernels = device_.info().has(Capability::kernels);
    if (!integers()) {
      add_ceiling(host_arithmetic(problem_.type, 1));
      if (threads > 1) add_ceiling(host_arithmetic(problem_.type, threads));
      if (kernels) add_ceiling(device_ceiling());
      if (kernels && problem_.f == PairFunction::product && summing() && problem_.formula == nullptr) measure_vendor();
    }
    add_host(kSerial, 1, [this](const Problem& problem, Target c) { serial(problem, c); });
    for (const PairAccuracy accuracy : accuracies()) {
      add_host(
          accuracy == PairAccuracy::fast ? kBest : name_of(accuracy), threads,
          [=](const Problem& problem, Target c) {
            Problem accurate = problem;
            accurate.accuracy = accuracy;
            all_pairs::pairs_on_cpu(accurate, c, threads);
          },
          accuracy);
    }
    if (kernels) run_kernels();
    return std::move(ladder_);
  }

 private:
  static View view_of(const std::optional<Array>& own, const Data& made) {
    return core::require_single_view(own ? *own : made.view(), core::Order::index, "the ladder of pairs");
  }
  static PairsProblem pairs_options(const PairsLadderOptions& options) {
    PairsProblem pairs = options.pairs;
    pairs.weights.reset();
    pairs.accuracy = PairAccuracy::fast;
    return pairs;
  }
  // Made-up integers have 16 bits, so that no sum of products overflows.
  static DType made_type(DType type) {
    if (type == DType::float16 || type == DType::bfloat16) {
      throw Error(ErrorKind::usage, fmt::format("the ladder of pairs makes float32, float64 or integers, not {}: elements of files of this "
                                                "type are computed as float32",
                                                name_of(type)));
    }
    if (!is_integer(type)) return type;
    return type == DType::uint8 || type == DType::uint16 || type == DType::uint32 || type == DType::uint64 ? DType::uint16 : DType::int16;
  }
  bool summing() const { return problem_.reduction == PairReduction::sum; }
  bool integers() const { return is_integer(problem_.type); }
  std::vector<PairAccuracy> accuracies() const {
    if (!summing() || integers()) return {PairAccuracy::fast};
    return {PairAccuracy::fast, PairAccuracy::compensated, PairAccuracy::exact};
  }

  template <class Action>
  static auto locked(device::Device& device, Action action) {
    return [&device, action](auto... arguments) {
      const std::lock_guard lock(device.mutex());
      return action(arguments...);
    };
  }

  void add_ceiling(Arithmetic ceiling) {
    options_.effort.tell("multiply-adds, " + ceiling.where);
    Effort effort;
    effort.runs = 9;
    ladder_.ceilings.push_back(rate_of(ceiling, effort));
    ceilings_.push_back(std::move(ceiling));
  }
  Arithmetic device_ceiling() {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    Arithmetic ceiling = device_arithmetic(device, problem_.type);
    ceiling.timer = locked(device, ceiling.timer);
    return ceiling;
  }

  void measure_vendor() try {
    options_.effort.tell("the vendor's matrix product");
    Effort effort = options_.effort;
    effort.runs = std::min(effort.runs, 9u);
    ladder_.matrix_product = vendor_matrix_product(device_, problem_.type, effort);
  } catch (const Error& error) {
    ladder_.no_matrix_product = error.what();
  }

  // The tutorial's serial loop: only products.
  void serial(const Problem& problem, Target c) const {
    if (problem.formula != nullptr || problem.f != PairFunction::product || !summing() || problem.components != 1 || integers()) {
      throw Error(ErrorKind::usage, "the textbook's loop adds up products of floating-point scalars");
    }
    all_pairs::serial_products(problem, c);
  }

  template <class Call>
  void add_host(std::string_view name, std::uint32_t threads, const Call& call, PairAccuracy accuracy = PairAccuracy::fast) {
    add_row(name, host_label(threads), accuracy, name == kSerial, [&](PairsRow& row) {
      // Where there are many x, only some are timed: the rate is the same.
      const std::uint64_t enough = name == kSerial ? kSerialPairs : kHostPairs;
      const std::uint64_t count = std::min(x_count_, std::max<std::uint64_t>(enough / y_count_, 1));
      row.configuration = fmt::format("threads={}{}", threads, count < x_count_ ? fmt::format(", {} of the x", count) : "");
      const auto c = std::make_shared<std::vector<char>>(x_count_ * std::max<std::size_t>(all_pairs::result_bytes(problem_), 8));
      const auto work = [this, c, count, call] { call(problem_.part(0, count), Target{c->data()}); };
      // Checked at all samples, also where only some x are timed.
      const auto read = [this, c, count, call](Target to) {
        for (const std::uint64_t x : reference_->samples()) {
          const std::size_t bytes = all_pairs::result_bytes(problem_);
          if (x >= count) call(problem_.part(x, 1), Target{c->data() + x * bytes});
        }
        std::memcpy(to.data, c->data(), x_count_ * all_pairs::result_bytes(problem_));
      };
      return PairsRung{work, read, host_timer(work), count};
    });
  }

  void run_kernels() {
    device::Device& device = device_.implementation();
    for (const std::string_view name : all_pairs::textbook_variants()) {
      add_textbook(name, device, options_.best_group, {}, 1);
      if (name == "vec4") add_textbook(name, device, true, {}, 1, kBestVec4);
    }
    for (const PairAccuracy accuracy : accuracies()) {
      const std::string_view name = accuracy == PairAccuracy::fast ? kBest : name_of(accuracy);
      add_row(name, device.info().selector, accuracy, false, [&](PairsRow& row) {
        const std::lock_guard lock(device.mutex());
        Problem accurate = problem_;
        accurate.accuracy = accuracy;
        if (accurate.nodes != nullptr || accurate.smallest()) return tree_rung(device, accurate, row);
        all_pairs::Configuration wanted;
        wanted.group_size = options_.group_size;
        wanted.items = options_.items;
        wanted.tile = options_.tile;
        wanted.parts = options_.parts;
        wanted.polynomials = options_.polynomials;
        if (options_.registers != 0) wanted.resident = resident_for(options_.registers, std::max(wanted.group_size, 256u));
        const auto run = std::make_shared<all_pairs::DevicePairs>(device, accurate, wanted);
        run->load(0, x_count_);
        row.configuration = run->configuration().text();
        return kernel_rung(
            device, [run] { run->launch(); }, [run, count = x_count_](Target c) { run->read(count, c); });
      });
    }
    // Run last: whatever it does to the device affects no other rung.
    if (!options_.kernel_source.empty()) {
      add_textbook(options_.kernel_name, device, options_.best_group, options_.kernel_source, options_.kernel_items);
    }
  }

  void check_kernel() const {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    check_own_kernel(options_.kernel_name,
                     [&] { all_pairs::TextbookPairs(options_.kernel_name, device, problem_.part(0, 1), kernel_options()); });
  }

  PairsRung kernel_rung(device::Device& device, std::function<void()> launch, std::function<void(Target)> read) const {
    return {locked(device, launch), locked(device, std::move(read)), locked(device, device_timer(device, launch)), x_count_};
  }

  // Reductions by the tree over y, and the smallest, from host memory and back to it.
  PairsRung tree_rung(device::Device& device, const Problem& problem, PairsRow& row) const {
    const std::shared_ptr<all_pairs::OnDevice> run = all_pairs::on_device(device, problem, {options_.group_size});
    const auto c = std::make_shared<std::vector<char>>(x_count_ * all_pairs::result_bytes(problem));
    const auto call = locked(device, [=, this] { run->run(0, x_count_, {c->data()}); });
    row.configuration = run->configuration().text() + " with copies";
    return {call, [c](Target to) { std::memcpy(to.data, c->data(), c->size()); }, host_timer(call), x_count_};
  }

  // `best`: with its best group size.
  void add_textbook(std::string_view name, device::Device& device, bool best, const std::string& source, std::uint32_t items,
                    std::string_view row_name = {}) {
    add_row(row_name.empty() ? name : row_name, device.info().selector, PairAccuracy::fast, true, [&](PairsRow& row) {
      const std::lock_guard lock(device.mutex());
      const auto prepare = [&](std::uint32_t group_size) {
        const all_pairs::TextbookOptions options{group_size, source, items, options_.registers, options_.pairs.formula.has_value()};
        return std::make_shared<all_pairs::TextbookPairs>(name, device, problem_, options);
      };
      const auto run = best ? fastest(device, prepare) : prepare(options_.group_size);
      row.configuration = run->configuration();
      return kernel_rung(
          device, [run] { run->launch(); }, [run](Target c) { run->read(c); });
    });
  }

  // The fastest of the group sizes 32, 64, …, 1024.
  template <class Prepare>
  static std::shared_ptr<all_pairs::TextbookPairs> fastest(device::Device& device, const Prepare& prepare) {
    std::vector<std::shared_ptr<all_pairs::TextbookPairs>> runs;
    std::vector<Timer> timers;
    for (std::uint32_t size = 32; size <= device.info().max_group_size && size <= 1024; size *= 2) {
      const auto run = runs.emplace_back(prepare(size));
      timers.push_back(device_timer(device, [run] { run->launch(); }));
    }
    if (runs.empty()) throw Error(ErrorKind::usage, "the device runs no groups of 32 work-items");
    return runs[fastest_of(timers)];
  }

  // `in_sequence`: all additions of an x are sequential, as in the textbook.
  template <class Prepare>
  void add_row(std::string_view name, const std::string& where, PairAccuracy accuracy, bool in_sequence, const Prepare& prepare) {
    if (!wanted(options_.rungs, name, options_.kernel_name)) return;
    options_.effort.tell(fmt::format("{}, {}", name, where));
    PairsRow row;
    row.name = name;
    row.where = where;
    attempt(row, [&] {
      const PairsRung rung = prepare(row);
      rung.call();
      check_result(rung, accuracy, in_sequence, row);
      if (row.verdict == Verdict::right) time(rung, row);
    });
    if (row.name == kSerial) serial_pairs_per_second_ = row.pairs_per_second;
    if (serial_pairs_per_second_ > 0) row.speedup = row.pairs_per_second / serial_pairs_per_second_;
    const auto& vendor = ladder_.matrix_product;
    if (vendor && row.where == vendor->where) row.vendor_ratio = row.operations_per_second / vendor->operations_per_second;
    ladder_.rungs.push_back(std::move(row));
    if (options_.measured) options_.measured(ladder_);
  }

  // Timed alternately with the ceiling of its device.
  void time(const PairsRung& rung, PairsRow& row) const {
    const double pairs = static_cast<double>(rung.x_count) * static_cast<double>(y_count_);
    const auto ceiling = std::find_if(ceilings_.begin(), ceilings_.end(), [&](const Arithmetic& c) { return c.where == row.where; });
    if (ceiling == ceilings_.end()) {
      row.seconds = measure(rung.timer, options_.effort);
    } else {
      const Paired paired = measure_in_turns(rung.timer, ceiling->timer, options_.effort);
      row.seconds = paired.work;
      row.ceiling_fraction = paired.ratio.median * pairs * ladder_.operations_of_pair / ceiling->operations;
    }
    row.pairs_per_second = pairs / row.seconds.median;
    row.operations_per_second = row.pairs_per_second * ladder_.operations_of_pair;
  }

  void check_result(const PairsRung& rung, PairAccuracy accuracy, bool in_sequence, PairsRow& row) const {
    std::vector<char> c(x_count_ * std::max<std::size_t>(all_pairs::result_bytes(problem_), 8));
    rung.read({c.data()});
    if (row.name == options_.kernel_name && options_.expected.values) {
      row.reason = why_not_expected(options_.expected, Array(c.data(), x_count_ * problem_.results, problem_.result()));
      row.verdict = row.reason.empty() ? Verdict::right : Verdict::wrong;
      return;
    }
    if (!summing() || integers() || accuracy == PairAccuracy::exact) {
      const bool right = reference_->same_bits(c, accuracy, in_sequence);  // a textbook's minimum does not tell -0 from +0
      row.verdict = right ? Verdict::right : Verdict::wrong;
      if (!right) row.reason = in_sequence ? "another value than the CPU's" : "other bits than the CPU's";
      return;
    }
    const auto y = static_cast<double>(y_count_);
    const auto d = static_cast<double>(problem_.components);
    const double depth = in_sequence ? y : accuracy == PairAccuracy::fast ? std::min(y * d, 4096 + y * (d + 4) / 1024 + 8 * d) : 2;
    const bool right = reference_->error_ratio(c, depth, row) <= 1;
    row.verdict = right ? Verdict::right : Verdict::wrong;
    if (!right) row.reason = "the error is over the bound";
    if (right && row.name == options_.kernel_name && !adds_whole_numbers()) {
      row.verdict = Verdict::wrong;
      row.reason = "of vectors of 1, 2 and 3, whose sums are exact in any order, it has other sums";
    }
  }

  // The second check of a user's kernel. f of whole numbers has to be one: formulas, gaussian and invdist are not checked again.
  bool adds_whole_numbers() const {
    if (problem_.formula != nullptr || problem_.f == PairFunction::gaussian || problem_.f == PairFunction::invdist) return true;
    Problem whole = problem_;
    whole.y_count = whole_count(y_count_, kMostWhole);
    const std::vector<char> a = whole_numbers(whole.type, x_count_ * whole.components, 1);
    const std::vector<char> b = whole_numbers(whole.type, whole.y_count * whole.components, 2);
    whole.a = a.data();
    whole.b = b.data();
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    all_pairs::TextbookPairs own(options_.kernel_name, device, whole, kernel_options());
    own.launch();
    std::vector<char> c(x_count_ * all_pairs::result_bytes(whole));
    own.read({c.data()});
    return PairsReference(whole, options_.pairs).same_bits(c, PairAccuracy::fast, true);
  }

  all_pairs::TextbookOptions kernel_options() const {
    return {options_.group_size, options_.kernel_source, options_.kernel_items, options_.registers, options_.pairs.formula.has_value()};
  }

  Device device_;
  const PairsLadderOptions& options_;
  std::uint64_t x_count_, y_count_;
  Data a_, b_;
  Problem problem_;
  all_pairs::HostElements a_elements_, b_elements_;
  std::optional<PairsReference> reference_;
  std::vector<Arithmetic> ceilings_;
  PairsLadder ladder_;
  double serial_pairs_per_second_ = 0;
};

}  // namespace

std::vector<std::string> pairs_rungs(const Device& device) {
  std::vector<std::string> names = {std::string(kSerial)};
  if (device.info().has(Capability::kernels)) {
    for (const std::string_view name : all_pairs::textbook_variants()) {
      names.emplace_back(name);
      if (name == "vec4") names.emplace_back(kBestVec4);
    }
  }
  names.emplace_back(kBest);
  names.emplace_back(name_of(PairAccuracy::compensated));
  names.emplace_back(name_of(PairAccuracy::exact));
  return names;
}

PairsLadder pairs_ladder(const Device& device, const PairsLadderOptions& options) {
  const core::DefaultFloatEnvironment environment;
  check_rungs(options.rungs, pairs_rungs(device), options.kernel_name, device.info());
  return PairsLadderRun(device, options).run();
}

}  // namespace samesum::bench
