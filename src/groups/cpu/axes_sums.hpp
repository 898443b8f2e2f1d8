// The sums of floats of neighbouring results along axes, on the CPU, and those of their squares, as expansions.
#pragma once

#include "core/float_environment.hpp"
#include "core/visit.hpp"
#include "groups/cpu/axes_direct.hpp"
#include "groups/expansion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace samesum::groups {

inline constexpr std::size_t kLanesApart = 32;              ///< at once of lanes whose elements are each in a cache line of its own
inline constexpr std::uint64_t kShortRun = kDirectRow + 1;  ///< of floats: shorter runs are added for many results at once
inline constexpr std::uint64_t kShortRunOfDoubles = 64;     ///< the same of doubles

// Sums of floats, or of their squares, as expansions.
class FloatSums {
 public:
  FloatSums(DType type, bool skip, std::size_t size, bool squares = false)
      : type_(type), skip_(skip), squares_(squares), terms_(3 * size, zero()), lost_(size, 0.0), size_(size) {}

  // Whether results() takes results whose elements lie like this.
  static bool takes(DType type, bool skip, std::uint64_t each, core::Axis lanes, core::Axis steps) {
    const auto element = static_cast<std::int64_t>(size_of(type));
    if (skip || (type != DType::float32 && type != DType::float64) || !core::RoundingWatch::works()) return false;
    return (lanes.stride == element && each <= kDirectColumn) || (steps.stride == element && each <= kDirectRow);
  }
  // Straight from the elements. False if that rounds, for a while also if it did before.
  bool results(const FewElements& of, bool mean, bool stream, std::byte* to) {
    if (!trying_.now()) return false;
    if (work_.empty()) work_.resize(2 * kLanes);
    return trying_.done(of.sums(mean, stream, work_.data(), reinterpret_cast<double*>(to)));
  }

  // Rows of numbers, lane by lane.
  void add_rows(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, std::int64_t lane_stride) {
    const auto element = static_cast<std::int64_t>(size_of(type_));
    constexpr std::int64_t kReach = std::int64_t{1} << 24;  // of lanes that one vector gathers from, by indices of 32 bits
    if (type_ == DType::float32 && apart == element && lane_stride != element && steps < kShortRun) {
      return terms(0).add_short_rows(from, skip_, steps, lanes, lane_stride);
    }
    if (type_ == DType::float64 && apart == element && lane_stride != element && lanes <= kLanesApart) {
      return add_transposed(from, steps, lanes, lane_stride);
    }
    if (is_native() && (lane_stride == element || (lane_stride % element == 0 && lane_stride < kReach && lane_stride > -kReach))) {
      return terms(0).add_rows(from, type_ == DType::float64, skip_, steps, apart, lanes, lane_stride);
    }
    with_copy([&](auto* copy) {
      for (std::uint64_t step = 0; step < steps; ++step) {
        gather(from + static_cast<std::int64_t>(step) * apart, lanes, lane_stride, copy);
        terms(0).add_rows(reinterpret_cast<const std::byte*>(copy), sizeof *copy == 8, skip_, 1, 0, lanes, sizeof *copy);
      }
    });
  }
  // A run of the elements of one result.
  void add_run(const std::byte* from, std::uint64_t count, std::int64_t stride, std::size_t lane) {
    const auto add = [&](const std::byte* run, bool wide, std::uint64_t size) {
      squares_ ? terms(lane).add_square_run(run, wide, skip_, size) : terms(lane).add_run(run, wide, skip_, size);
    };
    if (is_native() && stride == static_cast<std::int64_t>(size_of(type_))) return add(from, type_ == DType::float64, count);
    with_copy([&](auto* copy) {
      for (std::uint64_t first = 0; first < count; first += kLanes) {
        const std::size_t part = std::min<std::uint64_t>(kLanes, count - first);
        gather(from + static_cast<std::int64_t>(first) * stride, part, stride, copy);
        add(reinterpret_cast<const std::byte*>(copy), sizeof *copy == 8, part);
      }
    });
  }
  // Calls body(rows, wide, steps, apart) with rows in which lanes are neighbours, and float32 or float64: those there are, or copies of
  // some elements of each lane at once.
  template <class Body>
  void with_neighbours(const std::byte* from, std::uint64_t steps, std::int64_t apart, std::size_t lanes, std::int64_t lane_stride,
                       const Body& body) const {
    if (is_native() && lane_stride == static_cast<std::int64_t>(size_of(type_))) return body(from, type_ == DType::float64, steps, apart);
    with_copy([&](auto* copy) {
      const std::uint64_t at_once = std::clamp<std::uint64_t>(kLanes / lanes, 1, sizeof *copy == 8 ? kTransposed : kLanes);
      for (std::uint64_t first = 0; first < steps; first += at_once) {
        const std::uint64_t part = std::min(at_once, steps - first);
        core::visit(type_, [&](auto element) {
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::byte* const at = from + static_cast<std::int64_t>(lane) * lane_stride + static_cast<std::int64_t>(first) * apart;
            for (std::uint64_t i = 0; i < part; ++i) {
              std::memcpy(&element, at + static_cast<std::int64_t>(i) * apart, sizeof element);
              copy[i * lanes + lane] = static_cast<std::remove_reference_t<decltype(*copy)>>(element);
            }
          }
        });
        body(reinterpret_cast<const std::byte*>(copy), sizeof *copy == 8, part, static_cast<std::int64_t>(lanes * sizeof *copy));
      }
    });
  }
  void merge(const FloatSums& other, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      if (squares_) {
        const SQUARES sum = squares_merge(squares_at(i), other.squares_at(i));
        terms_[i] = sum.s, terms_[size_ + i] = sum.e, terms_[2 * size_ + i] = sum.f, lost_[i] = sum.lost;
      } else {
        set(i, expansion_merge(at(i), other.at(i)));
      }
    }
  }
  void clear(std::size_t lanes) {
    for (std::size_t term = 0; term < 3; ++term) std::fill_n(terms_.begin() + static_cast<std::ptrdiff_t>(term * size_), lanes, zero());
    std::fill_n(lost_.begin(), lanes, 0.0);
  }
  Terms terms(std::size_t lane) {
    return {terms_.data() + lane, terms_.data() + size_ + lane, terms_.data() + 2 * size_ + lane, lost_.data() + lane, &trying_};
  }
  SQUARES squares_at(std::size_t i) const { return {terms_[i], terms_[size_ + i], terms_[2 * size_ + i], lost_[i]}; }
  EXPANSION at(std::size_t i) const { return {terms_[i], terms_[size_ + i], terms_[2 * size_ + i], lost_[i] != 0}; }

 private:
  static constexpr std::uint64_t kTransposed = 16;  // doubles of each lane at once: plain sums of more are more likely to be rounded

  double zero() const { return squares_ ? 0.0 : -0.0; }  // sums of zeros of one sign keep it
  bool is_native() const { return type_ == DType::float32 || type_ == DType::float64; }
  void set(std::size_t i, const EXPANSION& x) {
    terms_[i] = x.s;
    terms_[size_ + i] = x.e;
    terms_[2 * size_ + i] = x.f;
    lost_[i] = x.inexact;
  }
  // Short rows of doubles, by way of their transpose: processors gather no faster, and many of them slower.
  void add_transposed(const std::byte* from, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride) {
    alignas(64) double copy[kTransposed * kLanesApart];
    for (std::uint64_t first = 0; first < count; first += kTransposed) {
      const std::uint64_t part = std::min(kTransposed, count - first);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::byte* const row = from + static_cast<std::int64_t>(lane) * lane_stride + first * sizeof(double);
        for (std::uint64_t i = 0; i < part; ++i) std::memcpy(copy + i * lanes + lane, row + i * sizeof(double), sizeof(double));
      }
      const auto apart = static_cast<std::int64_t>(lanes * sizeof(double));
      terms(0).add_rows(reinterpret_cast<const std::byte*>(copy), true, skip_, part, apart, lanes, sizeof(double));
    }
  }
  template <class Body>
  void with_copy(const Body& body) const {
    if (type_ == DType::float64) {
      alignas(64) double copy[kLanes];
      body(copy);
    } else {
      alignas(64) float copy[kLanes];
      body(copy);
    }
  }
  template <class Real>
  void gather(const std::byte* from, std::size_t count, std::int64_t stride, Real* to) const {
    core::visit(type_, [&](auto element) {
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(&element, from + static_cast<std::int64_t>(i) * stride, sizeof element);
        to[i] = static_cast<Real>(element);
      }
    });
  }

  DType type_;
  bool skip_, squares_;
  std::vector<double> terms_, lost_, work_;
  std::size_t size_;
  Trying trying_;
};

}  // namespace samesum::groups
