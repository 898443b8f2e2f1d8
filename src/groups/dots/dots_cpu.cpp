// Dot products along axes on the CPU: which products are added together, as doubles, and threads.
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "groups/cpu/axes_expansions.hpp"
#include "groups/dots/dots.hpp"
#include "groups/dots/products.hpp"
#include "groups/expansion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

__extension__ typedef __int128 WideDot;

constexpr std::uint64_t kSteps = 256;    // products of a sum at once: a panel and some rows of so many stay in the first-level cache
constexpr std::uint64_t kMostTile = 64;  // rows and columns of results: packed blocks of them stay in the second-level one

bool has_wide_products(DType type) { return type == DType::float64 || type == DType::int32 || type == DType::uint32; }

// The elements that a packed block has: element (i, k) lies at a distance of at[i] + along[k] bytes.
struct Block {
  const std::byte* base;
  DType type;
  std::vector<std::int64_t> at, along;
};

// The distance between neighbours, if it is that of all.
bool are_neighbours(const std::vector<std::int64_t>& at, std::uint64_t count, std::int64_t bytes) {
  return count > 1 && at[1] - at[0] == bytes && at[count - 1] - at[0] == static_cast<std::int64_t>(count - 1) * bytes;
}

template <class Element>
void widen_all(const std::byte* from, std::uint64_t count, double* to) {
  if constexpr (std::is_same_v<Element, double>) {
    std::memcpy(to, from, count * sizeof(double));
  } else if constexpr (std::is_same_v<Element, float>) {
    widen(reinterpret_cast<const float*>(from), count, to);
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      Element element;
      std::memcpy(&element, from + i * sizeof element, sizeof element);
      to[i] = static_cast<double>(element);
    }
  }
}

// Elements as doubles: (i, k) at to[i * i_apart + k * k_apart].
void pack_block(const Block& block, std::uint64_t count, std::uint64_t steps, double* to, std::uint64_t i_apart, std::uint64_t k_apart) {
  core::visit(block.type, [&](auto element) {
    using Element = decltype(element);
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Element));
    if (k_apart == 1 && are_neighbours(block.along, steps, kBytes)) {
      for (std::uint64_t i = 0; i < count; ++i) widen_all<Element>(block.base + block.at[i] + block.along[0], steps, to + i * i_apart);
    } else if (i_apart == 1 && are_neighbours(block.at, count, kBytes)) {
      for (std::uint64_t k = 0; k < steps; ++k) widen_all<Element>(block.base + block.at[0] + block.along[k], count, to + k * k_apart);
    } else {
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::byte* const from = block.base + block.at[i];
        double* const row = to + i * i_apart;
        for (std::uint64_t k = 0; k < steps; ++k) {
          std::memcpy(&element, from + block.along[k], sizeof element);
          row[k * k_apart] = static_cast<double>(element);
        }
      }
    }
  });
}

// Sums of products of some results.
class DotStates {
 public:
  explicit DotStates(std::size_t size) : terms_(4 * size), size_(size) {}
  DotSums at(std::size_t i) { return {&terms_[i], &terms_[size_ + i], &terms_[2 * size_ + i], &terms_[3 * size_ + i]}; }
  void clear() {
    std::fill_n(terms_.begin(), size_, -0.0);
    std::fill(terms_.begin() + static_cast<std::ptrdiff_t>(size_), terms_.end(), 0.0);
  }

 private:
  std::vector<double> terms_;
  std::size_t size_;
};

class Dots {
 public:
  Dots(const DotProblem& problem, std::uint32_t threads, std::byte* results)
      : problem_(problem),
        results_(results),
        wide_(has_wide_products(problem.a.type())),
        threads_(core::thread_count(static_cast<std::uint64_t>(std::min(
                                        8 * static_cast<double>(problem.results) * static_cast<double>(problem.summed.size()), 1e18)),
                                    threads)),
        width_(panel_columns()) {}

  std::vector<std::uint64_t> run() {
    constexpr std::uint64_t kReuse = 4, kMany = 16, kLongRow = 32;
    const auto [fewer, more] = std::minmax({problem_.rows.size(), problem_.columns.size()});
    if (fewer < kReuse && rows_are_contiguous() && problem_.summed.size() >= kLongRow) {
      rows();
    } else if (fewer >= kReuse || more >= kMany) {
      tiles();
    } else {
      columns();
    }
    std::ranges::sort(pending_);
    return std::move(pending_);
  }

 private:
  bool rows_are_contiguous() const {
    const auto bytes = static_cast<std::int64_t>(size_of(problem_.a.type()));
    const std::vector<DotAxis>& axes = problem_.summed.axes();
    return axes.size() == 1 && axes[0].a == bytes && axes[0].b == bytes;
  }

  // Of the elements that differ along some axes; `step_places` are those of the axes that are summed.
  static void fill(std::vector<std::int64_t>& to, const std::vector<DotAxes::Place>& places, std::int64_t first, bool of_a) {
    to.resize(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) to[i] = first + (of_a ? places[i].a : places[i].b);
  }
  static std::vector<DotAxes::Place> places_of(const DotAxes& axes, std::uint64_t first, std::uint64_t count) {
    std::vector<DotAxes::Place> places(count);
    axes.places(first, count, places.data());
    return places;
  }
  Block block_of(bool of_a) const {
    const Array& array = of_a ? problem_.a : problem_.b;
    return {static_cast<const std::byte*>(array.data()), array.type(), {}, {}};
  }

  // Tiles of results, all of them for one index of the axes that both arrays have. Vectors go along the longer side.
  void tiles() {
    const bool turned = problem_.columns.size() < problem_.rows.size();
    const DotAxes &down = turned ? problem_.columns : problem_.rows, &across = turned ? problem_.rows : problem_.columns;
    std::uint64_t tall = std::min(kMostTile, down.size()), broad = std::min(kMostTile, across.size());
    const auto tiles_of = [](const DotAxes& axes, std::uint64_t size) { return (axes.size() + size - 1) / size; };
    const auto count = [&] { return problem_.both.size() * tiles_of(down, tall) * tiles_of(across, broad); };
    while (count() < 4 * threads_ && (tall > 8 || broad > 2 * width_)) {  // each thread gets several
      if (broad >= tall && broad > 2 * width_) {
        broad /= 2;
      } else if (tall > 8) {
        tall /= 2;
      } else {
        break;
      }
    }
    const std::uint64_t panels = (broad + width_ - 1) / width_, apart = panels * width_;
    struct Scratch {
      std::vector<double> a, b;
      DotStates sums;
    };
    std::vector<Scratch> scratch;
    for (std::uint32_t i = 0; i < threads_; ++i)
      scratch.push_back({std::vector<double>(tall * kSteps), std::vector<double>(apart * kSteps), DotStates(tall * apart)});
    const std::uint64_t across_tiles = tiles_of(across, broad), down_tiles = tiles_of(down, tall);
    core::for_chunks(count(), threads_, 1, [&](std::uint32_t task, std::uint64_t first, std::uint64_t some) {
      Scratch& own = scratch[task];
      for (std::uint64_t tile = first; tile < first + some; ++tile) {
        const std::uint64_t left = tile % across_tiles * broad, top = tile / across_tiles % down_tiles * tall;
        const DotAxes::Place corner = problem_.both.at(tile / across_tiles / down_tiles);
        const auto down_places = places_of(down, top, std::min(tall, down.size() - top));
        const auto across_places = places_of(across, left, std::min(broad, across.size() - left));
        Block a = block_of(!turned), b = block_of(turned);
        fill(a.at, down_places, turned ? corner.b : corner.a, !turned);
        fill(b.at, across_places, turned ? corner.a : corner.b, turned);
        own.sums.clear();
        std::fill(own.b.begin(), own.b.end(), -0.0);  // of columns that there are not
        Units units;
        for (std::uint64_t step = 0; step < problem_.summed.size(); step += kSteps) {
          const std::uint64_t steps = std::min(kSteps, problem_.summed.size() - step);
          const auto step_places = places_of(problem_.summed, step, steps);
          fill(a.along, step_places, 0, !turned);
          fill(b.along, step_places, 0, turned);
          pack_block(a, a.at.size(), steps, own.a.data(), kSteps, 1);
          for (std::uint64_t i = 0; i < a.at.size(); ++i) units.of_a(own.a.data() + i * kSteps, steps);
          pack_panels(b, steps, own.b.data());
          for (std::uint64_t panel = 0; panel * width_ < b.at.size(); ++panel) {
            const double* const of_panel = own.b.data() + panel * width_ * kSteps;
            units.of_b(of_panel, steps * width_);
            add_panel(own.a.data(), kSteps, of_panel, steps, a.at.size(), !wide_, own.sums.at(panel * width_), apart);
          }
        }
        for (std::size_t i = 0; i < down_places.size(); ++i)
          finish(own.sums.at(i * apart), across_places, corner.to + down_places[i].to, units, false);
      }
    });
  }

  // Vectors of results that have little in common, of few products each or such that do not lie one after the other.
  void columns() {
    struct Scratch {
      std::vector<double> a, b;
      DotStates sums;
    };
    std::vector<Scratch> scratch;
    for (std::uint32_t i = 0; i < threads_; ++i)
      scratch.push_back({std::vector<double>(width_ * kSteps, -0.0), std::vector<double>(width_ * kSteps, -0.0), DotStates(width_)});
    each_group(width_, [&](std::uint32_t task, const std::vector<DotAxes::Place>& places) {
      Scratch& own = scratch[task];
      Block a = block_of(true), b = block_of(false);
      fill(a.at, places, 0, true);
      fill(b.at, places, 0, false);
      own.sums.clear();
      Units units;
      for (std::uint64_t step = 0; step < problem_.summed.size(); step += kSteps) {
        const std::uint64_t steps = std::min(kSteps, problem_.summed.size() - step);
        const auto step_places = places_of(problem_.summed, step, steps);
        fill(a.along, step_places, 0, true);
        fill(b.along, step_places, 0, false);
        pack_block(a, places.size(), steps, own.a.data(), 1, width_);
        pack_block(b, places.size(), steps, own.b.data(), 1, width_);
        units.of_a(own.a.data(), steps * width_);
        units.of_b(own.b.data(), steps * width_);
        add_columns(own.a.data(), own.b.data(), steps, !wide_, own.sums.at(0));
      }
      finish(own.sums.at(0), places, 0, units, false);
    });
  }

  // Results one by one, of contiguous elements: those that are float32 or float64 are read where they lie.
  void rows() {
    const DType type = problem_.a.type();
    const bool in_place = (type == DType::float64 || type == DType::float32) && is_aligned(problem_.a) && is_aligned(problem_.b);
    const std::uint64_t bytes = size_of(type), at_once = in_place ? 16 * kSteps : kSteps;
    std::vector<std::vector<double>> packed(threads_, std::vector<double>(in_place ? 0 : 2 * kSteps));
    std::vector<DotStates> sums(threads_, DotStates(width_));
    const auto* const a_base = static_cast<const std::byte*>(problem_.a.data());
    const auto* const b_base = static_cast<const std::byte*>(problem_.b.data());
    each_group(width_, [&](std::uint32_t task, const std::vector<DotAxes::Place>& places) {
      sums[task].clear();
      Units units;
      for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::uint64_t step = 0; step < problem_.summed.size(); step += at_once) {
          const std::uint64_t steps = std::min(at_once, problem_.summed.size() - step);
          const void* a = a_base + places[i].a + step * bytes;
          const void* b = b_base + places[i].b + step * bytes;
          if (!in_place) {
            double* const to = packed[task].data();
            core::visit(type, [&](auto element) {
              widen_all<decltype(element)>(static_cast<const std::byte*>(a), steps, to);
              widen_all<decltype(element)>(static_cast<const std::byte*>(b), steps, to + kSteps);
            });
            a = to;
            b = to + kSteps;
          }
          if (wide_) {
            units.of_a(static_cast<const double*>(a), steps);
            units.of_b(static_cast<const double*>(b), steps);
          }
          add_row(a, b, !in_place || type == DType::float64, steps, !wide_, sums[task].at(i));
        }
      }
      finish(sums[task].at(0), places, 0, units, true);
    });
  }

  static bool is_aligned(const Array& array) {
    const std::size_t bytes = size_of(array.type());
    const auto whole = [&](std::int64_t stride) { return stride % static_cast<std::int64_t>(bytes) == 0; };
    return reinterpret_cast<std::uintptr_t>(array.data()) % bytes == 0 && std::ranges::all_of(array.strides(), whole);
  }

  // Calls body(task, places) for groups of `size` results.
  template <class Body>
  void each_group(std::uint64_t size, const Body& body) {
    const std::uint64_t groups = (problem_.results + size - 1) / size;
    const std::uint64_t chunk = std::clamp<std::uint64_t>((std::uint64_t{1} << 14) / (size * problem_.summed.size() + 1), 1, 256);
    core::for_chunks(groups, threads_, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      std::vector<DotAxes::Place> places;
      for (std::uint64_t group = first; group < first + count; ++group) {
        places.resize(std::min(size, problem_.results - group * size));
        problem_.kept().places(group * size, places.size(), places.data());
        body(task, places);
      }
    });
  }

  // Of which the elements of both arrays are multiples.
  struct Units {
    double a = std::numeric_limits<double>::infinity(), b = a;
    void of_a(const double* numbers, std::uint64_t count) { a = std::min(a, unit_of(numbers, count)); }
    void of_b(const double* numbers, std::uint64_t count) { b = std::min(b, unit_of(numbers, count)); }
    // Of the products; 0 if these, or their errors, may be no doubles.
    double of_products() const { return a * b; }
  };

  // Packs each panel's columns side by side, a panel behind the other.
  void pack_panels(Block& block, std::uint64_t steps, double* to) const {
    Block panel{block.base, block.type, {}, std::move(block.along)};
    for (std::uint64_t first = 0; first < block.at.size(); first += width_, to += width_ * kSteps) {
      const std::uint64_t count = std::min<std::uint64_t>(width_, block.at.size() - first);
      panel.at.assign(block.at.begin() + static_cast<std::ptrdiff_t>(first), block.at.begin() + static_cast<std::ptrdiff_t>(first + count));
      pack_block(panel, count, steps, to, 1, width_);
    }
    block.along = std::move(panel.along);
  }

  // Rounds neighbouring sums; those of which this is not certain are left to others. `noted`: they have a bound of what they lack.
  void finish(const DotSums& sums, const std::vector<DotAxes::Place>& places, std::int64_t first, const Units& units, bool noted) {
    std::vector<double> found(places.size());
    const double unit = units.of_products(), products = static_cast<double>(problem_.summed.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      sums.lost[i] = noted ? sums.lost[i] + lost_of(0, unit, products) : lost_of(sums.lost[i], unit, products);
    const bool is_float = problem_.type() == DType::float64;
    if (is_float) round_moments(OF_SQUARED_NORM, {}, {sums.s, sums.e, sums.f, sums.lost, nullptr}, places.size(), 1, 0, found.data());
    std::vector<std::uint64_t> left;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto result = static_cast<std::uint64_t>(first + places[i].to);
      std::byte* const to = results_ + 8 * result;
      const SQUARES sum{sums.s[i], sums.e[i], sums.f[i], sums.lost[i]};
      if (is_float ? put_float(found[i], sum, to) : put_integer(sum, to)) continue;
      left.push_back(result);
    }
    if (left.empty()) return;
    const std::lock_guard lock(mutex_);
    pending_.insert(pending_.end(), left.begin(), left.end());
  }
  static bool put_float(double found, const SQUARES& sum, std::byte* to) {
    if (found != found) {
      const ROUNDED sure = moment(OF_SQUARED_NORM, expansion_zero(), sum, 1, 0);
      if (sure.certain == 0) return false;
      found = sure.value;
    }
    std::memcpy(to, &found, sizeof found);
    return true;
  }
  // Sums of integers lack nothing, or are not taken.
  bool put_integer(const SQUARES& sum, std::byte* to) const {
    constexpr double kMost = 0x1p100;
    if (sum.lost != 0 || !(std::abs(sum.s) < kMost)) return false;
    const WideDot value = static_cast<WideDot>(sum.s) + static_cast<WideDot>(sum.e) + static_cast<WideDot>(sum.f);
    const auto bits = static_cast<std::uint64_t>(value);
    if (problem_.type() == DType::int64 ? value != static_cast<std::int64_t>(bits) : value != static_cast<WideDot>(bits)) return false;
    std::memcpy(to, &bits, sizeof bits);
    return true;
  }

  const DotProblem& problem_;
  std::byte* results_;
  bool wide_;  // products have errors
  std::uint32_t threads_;
  std::uint64_t width_;
  std::mutex mutex_;
  std::vector<std::uint64_t> pending_;
};

}  // namespace

bool has_dots_on_cpu(const DotProblem& problem) noexcept {
  constexpr std::uint64_t kFewest = 16;  // results: others are computed by all threads, one after the other
  const DType type = problem.a.type();
  return problem.results >= kFewest && problem.summed.size() < std::uint64_t{1} << 32 && !(is_integer(type) && size_of(type) == 8);
}

std::vector<std::uint64_t> dots_on_cpu(const DotProblem& problem, std::uint32_t threads, std::byte* results) {
  return Dots(problem, threads, results).run();
}

}  // namespace samesum::groups
