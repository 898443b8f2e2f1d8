// Expansions (expansion.h) of neighbouring results along axes, on the CPU.
#pragma once

#include "core/float_environment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace samesum::groups {

/// Results whose expansions are added to at once: they stay in the first-level cache.
inline constexpr std::size_t kLanes = 1024;

/// Whether plain sums are worth a try, in which the processor watches whether it rounds (core::RoundingWatch): not for a while after it
/// did.
class Trying {
 public:
  bool now() {
    if (pause_ == 0) return works_;
    --pause_;
    return false;
  }
  /// Notes, and returns, whether an attempt succeeded.
  bool done(bool exact) {
    last_pause_ = exact ? last_pause_ / 2 : std::clamp(4 * last_pause_, 1, 256);
    pause_ = exact ? 0 : last_pause_;
    return exact;
  }

 private:
  bool works_ = core::RoundingWatch::works();
  int pause_ = 0, last_pause_ = 0;
};

/// Expansions of neighbouring results, by terms. Elements are float32, or float64 (`wide`); `skip` leaves NaNs out. `from` is aligned to
/// the element.
struct Terms {
  double *s, *e, *f;
  double* lost;  ///< not zero: inexact
  Trying* trying;

  /// Adds `steps` rows of `lanes` numbers, `apart` bytes from one row to the next and `lane_stride` bytes, of whole numbers, from one lane
  /// to the next, to the first `lanes` expansions.
  void add_rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::int64_t apart, std::size_t lanes,
                std::int64_t lane_stride) const;
  /// Adds a short row of `count` contiguous floats to each of `lanes` expansions.
  void add_short_rows(const std::byte* from, bool skip, std::uint64_t count, std::size_t lanes, std::int64_t lane_stride) const;
  /// Adds `count` contiguous numbers to the first expansion.
  void add_run(const std::byte* from, bool wide, bool skip, std::uint64_t count) const;
  /// The same as add_rows() and add_run() of the numbers' squares; rows whose lanes are neighbours.
  void add_square_rows(const std::byte* from, bool wide, bool skip, std::uint64_t steps, std::int64_t apart, std::size_t lanes) const;
  void add_square_run(const std::byte* from, bool wide, bool skip, std::uint64_t count) const;
};

/// Rounds a moment (near_moment.h) of each of `lanes` results, from `sums` and from those of the squares, `squares`, of which only what the
/// moment needs is there. Those of which this is not certain become NaNs. True if there are none of these.
bool round_moments(std::uint32_t what, const Terms& sums, const Terms& squares, std::size_t lanes, double count, double ddof, double* to);

}  // namespace samesum::groups
