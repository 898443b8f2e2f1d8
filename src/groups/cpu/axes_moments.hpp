// Sums, means, variances and norms of neighbouring results along axes, on the CPU, for axes.cpp: sums of floats are expansions, those of
// integers integers; moments.h rounds what is computed from them.
#pragma once

#include "groups/axes_work.hpp"
#include "groups/cpu/axes_lanes.hpp"
#include "groups/cpu/axes_sums.hpp"
#include "groups/expansion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace samesum::groups {

// Whether the results of some lanes are found at once, as float64 numbers or NaNs.
inline bool takes_vectors(std::uint64_t count, const void* results) {
  return count != 0 && count >> 53 == 0 && reinterpret_cast<std::uintptr_t>(results) % sizeof(double) == 0;
}
inline bool is_number(const void* result) {
  double value;
  std::memcpy(&value, result, sizeof value);
  return value == value;
}

// Of floats.
class FloatMoments final : public LaneStatesOf<FloatMoments> {
 public:
  FloatMoments(const AxisWork& work, std::size_t size)
      : work_(work),
        numbers_(work.type, work.skip, work.has_numbers() ? size : 0),
        squares_(work.type, work.skip, work.has_squares() ? size : 0, true),
        nans_(work.skip && work.divides() ? size : 0) {}

  bool takes(std::uint64_t each, core::Axis lanes, core::Axis steps) const override {
    return !work_.has_squares() && FloatSums::takes(work_.type, work_.skip, each, lanes, steps);
  }
  bool results(const FewElements& of, bool stream, std::byte* to) override {
    return numbers_.results(of, work_.what == AxisReduction::mean, stream, to);
  }
  std::uint64_t short_run() const override { return work_.type == DType::float64 && !work_.has_squares() ? kShortRunOfDoubles : kShortRun; }

  void add_rows(const LaneElements& of, std::uint64_t) override {
    if (!work_.has_squares()) {
      numbers_.add_rows(of.from, of.steps, of.apart, of.lanes, of.lane_stride);
    } else {
      const auto add = [&](const std::byte* rows, bool wide, std::uint64_t steps, std::int64_t apart) {
        const std::int64_t lane_stride = wide ? sizeof(double) : sizeof(float);
        if (work_.has_numbers()) numbers_.terms(0).add_rows(rows, wide, work_.skip, steps, apart, of.lanes, lane_stride);
        squares_.terms(0).add_square_rows(rows, wide, work_.skip, steps, apart, of.lanes);
      };
      squares_.with_neighbours(of.from, of.steps, of.apart, of.lanes, of.lane_stride, add);
    }
    count_nans(of, 0);
  }
  void add_runs(const LaneElements& all, std::uint64_t) override {
    for (std::size_t lane = 0; lane < all.lanes; ++lane) add_run(all.of(lane), lane);
  }
  void add_run(const LaneElements& of, std::size_t lane) {
    if (work_.has_numbers()) numbers_.add_run(of.from, of.steps, of.apart, lane);
    if (work_.has_squares()) squares_.add_run(of.from, of.steps, of.apart, lane);
    count_nans(of, lane);
  }
  void merge_own(const FloatMoments& other, std::size_t lanes) {
    if (work_.has_numbers()) numbers_.merge(other.numbers_, lanes);
    if (work_.has_squares()) squares_.merge(other.squares_, lanes);
    for (std::size_t i = 0; i < nans_.size() && i < lanes; ++i) nans_[i] += other.nans_[i];
  }
  void clear(std::size_t lanes) override {
    if (work_.has_numbers()) numbers_.clear(lanes);
    if (work_.has_squares()) squares_.clear(lanes);
    std::fill_n(nans_.begin(), std::min(lanes, nans_.size()), std::uint64_t{0});
  }
  // The results of all lanes at once. False if some of them are left to finish_lane().
  bool finish_all(std::size_t lanes, std::uint64_t count, std::byte* results) {
    if (work_.skip || !takes_vectors(count, results)) return false;
    const Terms sums = work_.has_numbers() ? numbers_.terms(0) : Terms{}, squares = work_.has_squares() ? squares_.terms(0) : Terms{};
    return round_moments(work_.moment(), sums, squares, lanes, static_cast<double>(count), static_cast<double>(work_.ddof),
                         reinterpret_cast<double*>(results));
  }
  // False if the expansions are not enough for the result.
  bool finish_lane(std::size_t lane, std::uint64_t count, void* result) const {
    if (!work_.skip && takes_vectors(count, result) && is_number(result)) return true;
    if (!nans_.empty()) count -= nans_[lane];
    if (count <= work_.ddof || count >> 53 != 0) return false;
    const EXPANSION none = expansion_zero();
    const ROUNDED found = moment(work_.moment(), work_.has_numbers() ? numbers_.at(lane) : none,
                                 work_.has_squares() ? squares_.squares_at(lane) : squares_zero(), static_cast<double>(count),
                                 static_cast<double>(work_.ddof));
    if (found.certain == 0) return false;
    if (work_.skip && work_.what == AxisReduction::sum && found.value == 0) return false;  // were there numbers, and were they zeros?
    std::memcpy(result, &found.value, sizeof found.value);
    return true;
  }

 private:
  void count_nans(const LaneElements& of, std::size_t first) {
    if (nans_.empty()) return;
    core::visit(work_.type, [&](auto element) {
      for (std::size_t lane = 0; lane < of.lanes; ++lane) {
        const std::byte* at = of.from + static_cast<std::int64_t>(lane) * of.lane_stride;
        std::uint64_t found = 0;
        for (std::uint64_t step = 0; step < of.steps; ++step, at += of.apart) {
          std::memcpy(&element, at, sizeof element);
          const auto value = static_cast<double>(element);
          found += value != value;
        }
        nans_[first + lane] += found;
      }
    });
  }

  AxisWork work_;
  FloatSums numbers_, squares_;
  std::vector<std::uint64_t> nans_;
};

// Of integers. Sums of up to 32 bits do not overflow 64, of less than 2^32 elements, nor do their squares' 128.
template <class Element>
class IntegerMoments final : public LaneStatesOf<IntegerMoments<Element>> {
 public:
  __extension__ using Wide = __int128;
  __extension__ using WideSquares = unsigned __int128;
  using Sum = std::conditional_t<sizeof(Element) == 8, Wide, std::int64_t>;
  using Squares = std::conditional_t<(sizeof(Element) < 4), std::uint64_t, WideSquares>;

  IntegerMoments(const AxisWork& work, std::size_t size)
      : work_(work), sums_(work.has_numbers() ? size : 0), squares_(work.has_squares() ? size : 0) {}

  std::uint64_t short_run() const override { return kShortRun; }

  void add_rows(const LaneElements& of, std::uint64_t) override {
    const std::byte* from = of.from;
    for (std::uint64_t step = 0; step < of.steps; ++step, from += of.apart) {
      if (of.lane_stride == sizeof(Element)) {
        each_of(of.lanes, [&](std::size_t i) { return element(from + i * sizeof(Element)); });
      } else {
        each_of(of.lanes, [&](std::size_t i) { return element(from + static_cast<std::int64_t>(i) * of.lane_stride); });
      }
    }
  }
  void add_runs(const LaneElements& all, std::uint64_t) override {
    for (std::size_t lane = 0; lane < all.lanes; ++lane) add_run(all.of(lane), lane);
  }
  void add_run(const LaneElements& of, std::size_t lane) {
    if (of.apart == sizeof(Element)) {
      add_one(of.steps, lane, [&](std::uint64_t i) { return element(of.from + i * sizeof(Element)); });
    } else {
      add_one(of.steps, lane, [&](std::uint64_t i) { return element(of.from + static_cast<std::int64_t>(i) * of.apart); });
    }
  }
  void merge_own(const IntegerMoments& other, std::size_t lanes) {
    for (std::size_t i = 0; i < std::min(lanes, sums_.size()); ++i) sums_[i] += other.sums_[i];
    for (std::size_t i = 0; i < std::min(lanes, squares_.size()); ++i) squares_[i] += other.squares_[i];
  }
  void clear(std::size_t lanes) override {
    std::fill_n(sums_.begin(), std::min(lanes, sums_.size()), Sum{0});
    std::fill_n(squares_.begin(), std::min(lanes, squares_.size()), Squares{0});
  }
  bool finish_all(std::size_t lanes, std::uint64_t count, std::byte* results) {
    if (work_.what == AxisReduction::sum || may_overflow(count) || !takes_vectors(count, results)) return false;
    constexpr std::size_t kPart = 64;
    double terms[8][kPart] = {};
    const Terms sums{terms[0], terms[1], terms[2], terms[3], nullptr}, squares{terms[4], terms[5], terms[6], terms[7], nullptr};
    const auto put = [&](const Terms& to, std::size_t i, const EXPANSION& x) { to.s[i] = x.s, to.e[i] = x.e, to.f[i] = x.f; };
    bool all = true;
    for (std::size_t first = 0; first < lanes; first += kPart) {
      const std::size_t part = std::min(kPart, lanes - first);
      for (std::size_t i = 0; i < part && work_.has_numbers(); ++i) put(sums, i, expansion_of(sums_[first + i]));
      for (std::size_t i = 0; i < part && work_.has_squares(); ++i) put(squares, i, expansion_of(static_cast<Wide>(squares_[first + i])));
      all &= round_moments(work_.moment(), work_.has_numbers() ? sums : Terms{}, work_.has_squares() ? squares : Terms{}, part,
                           static_cast<double>(count), static_cast<double>(work_.ddof), reinterpret_cast<double*>(results) + first);
    }
    return all;
  }
  bool finish_lane(std::size_t lane, std::uint64_t count, void* result) const {
    if (may_overflow(count)) return false;
    if (work_.what == AxisReduction::sum) return finish_sum(sums_[lane], result);
    if (takes_vectors(count, result) && is_number(result)) return true;
    if (count <= work_.ddof || count >> 53 != 0) return false;
    const EXPANSION none = expansion_zero();
    const EXPANSION sum = work_.has_numbers() ? expansion_of(sums_[lane]) : none;
    SQUARES squares = squares_zero();
    if (work_.has_squares()) {
      const EXPANSION exact = expansion_of(static_cast<Wide>(squares_[lane]));
      squares = {exact.s, exact.e, exact.f, 0};
    }
    const ROUNDED found = moment(work_.moment(), sum, squares, static_cast<double>(count), static_cast<double>(work_.ddof));
    if (found.certain == 0) return false;
    std::memcpy(result, &found.value, sizeof found.value);
    return true;
  }

 private:
  static Element element(const std::byte* at) {
    Element value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static Squares square(Element x) {
    using Signed = std::conditional_t<sizeof(Element) < 4, std::int64_t, Wide>;
    return static_cast<Squares>(static_cast<Signed>(x) * static_cast<Signed>(x));
  }
  template <class At>
  void each_of(std::size_t lanes, const At& at) {
    if (work_.has_numbers()) {
      for (std::size_t i = 0; i < lanes; ++i) sums_[i] += at(i);
    }
    if (work_.has_squares()) {
      for (std::size_t i = 0; i < lanes; ++i) squares_[i] += square(at(i));
    }
  }
  template <class At>
  void add_one(std::uint64_t steps, std::size_t lane, const At& at) {
    if (work_.has_numbers()) {
      Sum sum = 0;
      for (std::uint64_t i = 0; i < steps; ++i) sum += at(i);
      sums_[lane] += sum;
    }
    if (work_.has_squares()) {
      Squares sum = 0;
      for (std::uint64_t i = 0; i < steps; ++i) sum += square(at(i));
      squares_[lane] += sum;
    }
  }
  static bool may_overflow(std::uint64_t count) { return sizeof(Element) < 8 && count >> 31 != 0; }
  static EXPANSION expansion_of(std::int64_t x) {
    const auto nearest = static_cast<double>(x);
    return {nearest, static_cast<double>(x - static_cast<std::int64_t>(nearest)), 0, 0};
  }
  static EXPANSION expansion_of(Wide x) {
    const auto upper = static_cast<double>(static_cast<std::int64_t>(x >> 64));
    const auto lower = static_cast<std::uint64_t>(x);
    return {upper * 0x1p64, static_cast<double>(lower >> 32) * 0x1p32, static_cast<double>(lower & 0xffffffff), 0};
  }
  bool finish_sum(Sum sum, void* result) const {
    using Result = std::conditional_t<std::is_signed_v<Element>, std::int64_t, std::uint64_t>;
    if (sum < Sum{std::numeric_limits<Result>::min()} ||
        (sizeof(Sum) == 16 && sum > static_cast<Sum>(std::numeric_limits<Result>::max()))) {
      return false;
    }
    const auto value = static_cast<Result>(sum);
    std::memcpy(result, &value, sizeof value);
    return true;
  }

  AxisWork work_;
  std::vector<Sum> sums_;
  std::vector<Squares> squares_;
};

}  // namespace samesum::groups
