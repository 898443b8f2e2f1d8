// Pairs on the CPU: blocks of x against blocks of y. A task processes some blocks of x, and all y or, where there are few x, a part of
// them; the parts are reduced in their order.
#include "pairs/cpu/pairs_cpu.hpp"

#include "core/float_environment.hpp"
#include "core/threads/parallel.hpp"
#include "pairs/cpu/pairs_cpu_formula.hpp"
#include "pairs/cpu/pairs_cpu_loops.hpp"
#include "pairs/tree/smallest_cpu.hpp"
#include "pairs/tree/tree_cpu.hpp"

#include <samesum/sum.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace samesum::all_pairs {
namespace {

constexpr std::uint64_t kBlocksOfTask = 8;        // of x (of exact sums, x): how often a block of y is used while it is in the cache
constexpr std::uint64_t kElementsOfBlock = 4096;  // of B: 16 or 32 KiB
constexpr std::uint64_t kEnoughTasks = 64;
constexpr std::uint64_t kMinPart = 1024;  // of y

// The partial result for one x and one part of the y.
template <class Real>
struct Partial {
  Real sum = 0, compensation = 0;
  Key<Real> best = KeyOf<Real>::kSign;  // above every key of a number
  std::int64_t place = 0;
  void take(Key<Real> key, std::int64_t where) noexcept {
    if (key >= best) return;
    best = key;
    place = where;
  }
};

template <class Real>
Key<Real> key_of(Real value, bool greatest) noexcept {
  const auto bits = std::bit_cast<Key<Real>>(value);
  const Key<Real> key = bits ^ ((bits >> (8 * sizeof(Real) - 1)) & KeyOf<Real>::kSign) ^ -Key<Real>{greatest};
  return value == value ? key : -KeyOf<Real>::kSign - 1;
}

template <class Real>
class Run {
 public:
  Run(const Problem& problem, Target c, std::uint32_t threads) : problem_(problem), c_(c), lanes_(block_lanes(problem.type)) {
    const std::uint64_t components = problem.components;
    y_block_ = std::max<std::uint64_t>(kElementsOfBlock / components, 1);
    x_task_ = exact() ? kBlocksOfTask : lanes_ * kBlocksOfTask;
    const std::uint64_t tasks = ceil_div(problem.x_count, x_task_);
    const std::uint64_t most = std::max<std::uint64_t>(problem.y_count / std::max(kMinPart, y_block_), 1);
    parts_ = std::clamp<std::uint64_t>(kEnoughTasks / std::max<std::uint64_t>(tasks, 1), 1, most);
    y_part_ = ceil_div(ceil_div(problem.y_count, parts_), y_block_) * y_block_;
    if (exact()) {
      sums_.resize(problem.x_count * parts_);
    } else {
      partials_.resize(problem.x_count * parts_);
    }
    core::with_threads(threads, [&] {
      core::parallel_for(tasks * parts_, [&](std::uint64_t task) {
        const std::uint64_t first = task / parts_ * x_task_;
        run_task(first, std::min(x_task_, problem_.x_count - first), task % parts_);
      });
    });
  }

  void finish() {
    const core::DefaultFloatEnvironment environment;
    for (std::uint64_t x = 0; x < problem_.x_count; ++x) {
      if (exact()) {
        Accumulator total;
        for (std::uint64_t part = 0; part < parts_; ++part) total.merge(sums_[part * problem_.x_count + x]);
        if constexpr (sizeof(Real) == 4) {
          store(x, total.round_to_float());
        } else {
          store(x, total.round());
        }
        continue;
      }
      Partial<Real> total = partials_[x];
      for (std::uint64_t part = 1; part < parts_; ++part) merge(total, partials_[part * problem_.x_count + x]);
      finish(x, total);
    }
  }

 private:
  static constexpr std::size_t kChains = 32;

  static const Options& one_thread() {
    static const Options alone = [] {
      Options options{.device = Device::open("cpu")};
      options.tuning.threads = 1;
      return options;
    }();
    return alone;
  }
  bool summing() const { return problem_.reduction == PairReduction::sum; }
  bool exact() const { return summing() && problem_.accuracy == PairAccuracy::exact; }
  bool compensated() const { return problem_.accuracy == PairAccuracy::compensated; }
  const Real* a() const { return static_cast<const Real*>(problem_.a); }
  const Real* b() const { return static_cast<const Real*>(problem_.b); }
  const Real* weights() const { return static_cast<const Real*>(problem_.of_y); }

  Block<Real> block(const Real* a, std::uint64_t y, std::uint64_t count) const {
    return {a,
            b() + y * problem_.components,
            problem_.weighted() ? weights() + y : nullptr,
            count,
            problem_.components,
            static_cast<Real>(problem_.factor),
            static_cast<Real>(problem_.softening)};
  }

  void run_task(std::uint64_t first, std::uint64_t count, std::uint64_t part) {
    const std::uint64_t begin = std::min(part * y_part_, problem_.y_count);
    const std::uint64_t end = std::min(begin + y_part_, problem_.y_count);
    if (problem_.formula != nullptr) return run_formula(first, count, begin, end, part * problem_.x_count + first);
    if (exact()) return add_exactly(first, count, begin, end, &sums_[part * problem_.x_count + first]);
    const std::uint64_t components = problem_.components;
    const std::uint64_t blocks = ceil_div(count, lanes_);
    std::vector<Real> a_lanes(blocks * lanes_ * components);
    for (std::uint64_t i = 0; i < blocks * lanes_; ++i) {
      const std::uint64_t x = first + std::min(i, count - 1);  // the last block is padded
      for (std::uint64_t d = 0; d < components; ++d) {
        a_lanes[(i / lanes_ * components + d) * lanes_ + i % lanes_] = a()[x * components + d];
      }
    }
    for (std::uint64_t y = begin; y < end; y += y_block_) {
      for (std::uint64_t i = 0; i < blocks; ++i) {
        run_block(block(a_lanes.data() + i * lanes_ * components, y, std::min(y_block_, end - y)), static_cast<std::int64_t>(y),
                  partials_.data() + part * problem_.x_count + first + i * lanes_, std::min(lanes_, count - i * lanes_));
      }
    }
  }

  void run_block(const Block<Real>& block, std::int64_t y, Partial<Real>* to, std::uint64_t count) const {
    Lanes<Real> lanes;
    if (!summing()) {
      least(problem_.f, problem_.greatest(), block, lanes);
      for (std::uint64_t i = 0; i < count; ++i) to[i].take(lanes.best[i], y + lanes.place[i]);
    } else if (compensated()) {
      for (std::uint64_t i = 0; i < lanes_; ++i) {
        lanes.sum[i] = i < count ? to[i].sum : 0;
        lanes.compensation[i] = i < count ? to[i].compensation : 0;
      }
      compensated_sum(problem_.f, block, lanes);
      for (std::uint64_t i = 0; i < count; ++i) {
        to[i].sum = lanes.sum[i];
        to[i].compensation = lanes.compensation[i];
      }
    } else {
      std::fill_n(lanes.sum, lanes_, Real{0});
      fast_sum(problem_.f, block, lanes);
      for (std::uint64_t i = 0; i < count; ++i) to[i].sum += lanes.sum[i];
    }
  }

  // Pieces of y, transposed for vectors of y. The values of one x are stored, and summed as an array.
  void add_exactly(std::uint64_t x, std::uint64_t count, std::uint64_t begin, std::uint64_t end, Accumulator* sums) const {
    constexpr std::uint64_t kMaxTurned = std::uint64_t{1} << 16;
    const std::uint64_t components = problem_.components;
    const std::uint64_t most = std::clamp<std::uint64_t>(kMaxTurned / components, 1, 4096);
    std::vector<Real> values(most), turned(components == 1 ? 0 : most * components);
    for (std::uint64_t y = begin; y < end; y += most) {
      Block<Real> piece = block(nullptr, y, std::min(most, end - y));
      if (components > 1) {
        for (std::uint64_t i = 0; i < piece.count; ++i) {
          for (std::uint64_t d = 0; d < components; ++d) turned[d * most + i] = piece.b[i * components + d];
        }
        piece.b = turned.data();
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        evaluate(problem_.f, a() + (x + i) * components, piece, most, values.data());
        sums[i].merge(accumulate({values.data(), piece.count, problem_.type}, one_thread()));
      }
    }
  }

  // The results of `count` x from number `first` on go to those from number `to` on.
  void run_formula(std::uint64_t first, std::uint64_t count, std::uint64_t begin, std::uint64_t end, std::uint64_t to) {
    constexpr std::uint64_t kBlock = FormulaValues<Real>::kBlock, kMax = FormulaValues<Real>::kMax;
    FormulaValues<Real> formula(problem_);
    std::vector<Real> all(exact() ? kMax : 0);
    for (std::uint64_t y = begin; y < end; y += kMax) {
      const std::uint64_t there = std::min(kMax, end - y);
      formula.load_y(y, there);
      for (std::uint64_t i = 0; i < count; ++i) {
        formula.load_x(a() + (first + i) * problem_.components);
        for (std::uint64_t k = 0; k < there; k += kBlock) {
          const std::size_t length = std::min(kBlock, there - k);
          const Real* const values = formula.run(k, length);
          if (exact()) {
            std::copy_n(values, length, all.begin() + static_cast<std::ptrdiff_t>(k));
          } else {
            take(partials_[to + i], values, length, static_cast<std::int64_t>(y + k));
          }
        }
        if (exact()) sums_[to + i].merge(accumulate({all.data(), there, problem_.type}, one_thread()));
      }
    }
  }

  void take(Partial<Real>& to, const Real* values, std::size_t count, std::int64_t y) const {
    if (!summing()) {
      if (!may_improve(to, values, count)) return;
      for (std::size_t k = 0; k < count; ++k) to.take(key_of(values[k], problem_.greatest()), y + static_cast<std::int64_t>(k));
    } else if (compensated()) {
      take_compensated(to, values, count);
    } else {
      to.sum += sum_by_chains(values, count);
    }
  }
  // Whether a value may be better than the best one; soon it is rare.
  bool may_improve(const Partial<Real>& best, const Real* values, std::size_t count) const {
    if (best.best == KeyOf<Real>::kSign) return true;
    const Real bound = value_of_key<Real>(best.best, problem_.greatest());
    if (std::isnan(bound)) return false;
    if (bound == 0) return true;  // -0.0 and +0.0 are equal in comparisons
    int worse = 1;
    if (problem_.greatest()) {
      for (std::size_t k = 0; k < count; ++k) worse &= values[k] <= bound;
    } else {
      for (std::size_t k = 0; k < count; ++k) worse &= values[k] >= bound;
    }
    return worse == 0;
  }
  void take_compensated(Partial<Real>& to, const Real* values, std::size_t count) const {
    Real sums[kChains] = {}, errors[kChains] = {};
    const auto add = [&](std::size_t c, Real value) {
      const Real sum = sums[c] + value;
      const Real back = sum - sums[c];
      errors[c] += (sums[c] - (sum - back)) + (value - back);
      sums[c] = sum;
    };
    std::size_t k = 0;
    for (; k + kChains <= count; k += kChains) {
      for (std::size_t c = 0; c < kChains; ++c) add(c, values[k + c]);
    }
    for (std::size_t c = 0; k + c < count; ++c) add(c, values[k + c]);
    for (std::size_t c = 0; c < kChains; ++c) merge(to, {sums[c], errors[c]});
  }

  void merge(Partial<Real>& total, const Partial<Real>& next) const {
    if (!summing()) return total.take(next.best, next.place);
    if (!compensated()) {
      total.sum += next.sum;
      return;
    }
    const Real sum = total.sum + next.sum;
    const Real back = sum - total.sum;
    total.compensation += next.compensation + ((total.sum - (sum - back)) + (next.sum - back));
    total.sum = sum;
  }

  void finish(std::uint64_t x, const Partial<Real>& total) {
    if (problem_.indices()) {
      static_cast<std::int64_t*>(c_.data)[x] = total.place;
    } else if (!summing()) {
      store(x, value_of_key<Real>(total.best, problem_.greatest()));
    } else {
      // Where the sum is not finite, the compensation is not a number.
      store(x, compensated() && std::isfinite(total.sum) ? total.sum + total.compensation : total.sum);
    }
  }

  void store(std::uint64_t x, Real value) {
    static_cast<Real*>(c_.data)[x] = std::isnan(value) ? std::numeric_limits<Real>::quiet_NaN() : value;
  }

  const Problem& problem_;
  Target c_;
  std::uint64_t lanes_;
  std::uint64_t y_block_, x_task_, y_part_, parts_;
  std::vector<Partial<Real>> partials_;  // part by part
  std::vector<Accumulator> sums_;        // for exact sums, part by part
};

}  // namespace

template <class Real>
Real value_of_key(Key<Real> key, bool max) noexcept {
  if (key == -KeyOf<Real>::kSign - 1) return std::numeric_limits<Real>::quiet_NaN();
  if (max) key = ~key;
  return std::bit_cast<Real>(key ^ (key < 0 ? KeyOf<Real>::kSign : Key<Real>{0}));
}
template float value_of_key<float>(std::int32_t, bool) noexcept;
template double value_of_key<double>(std::int64_t, bool) noexcept;

void pairs_on_cpu(const Problem& problem, Target c, std::uint32_t threads) {
  if (problem.nodes != nullptr) {
    tree_on_cpu(problem, c, threads);
  } else if (problem.smallest()) {
    smallest_on_cpu(problem, c, threads);
  } else if (problem.type == DType::float32) {
    Run<float>(problem, c, threads).finish();
  } else {
    Run<double>(problem, c, threads).finish();
  }
}

namespace {

template <class Real>
void serial(const Problem& problem, Real* c) {
  const Real* const a = static_cast<const Real*>(problem.a);
  const Real* const b = static_cast<const Real*>(problem.b);
  for (std::uint64_t x = 0; x < problem.x_count; ++x) {
    Real sum = 0;
    for (std::uint64_t y = 0; y < problem.y_count; ++y) sum += a[x] * b[y];
    c[x] = sum;
  }
}

}  // namespace

void serial_products(const Problem& problem, Target c) {
  const core::DefaultFloatEnvironment environment;
  if (problem.type == DType::float32) {
    serial(problem, static_cast<float*>(c.data));
  } else {
    serial(problem, static_cast<double*>(c.data));
  }
}

}  // namespace samesum::all_pairs
