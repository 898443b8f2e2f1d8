// What is gathered of neighbouring results along axes, on the CPU, while their elements are read.
#pragma once

#include "core/array/array_blocks.hpp"
#include "groups/cpu/axes_direct.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace samesum::groups {

/// Elements of neighbouring results: `steps` of each, `apart` bytes from one to the next, and `lane_stride` bytes between two results'.
struct LaneElements {
  const std::byte* from;
  std::uint64_t steps;
  std::int64_t apart;
  std::size_t lanes;
  std::int64_t lane_stride;

  /// Those of one result.
  LaneElements of(std::size_t lane) const { return {from + static_cast<std::int64_t>(lane) * lane_stride, steps, apart, 1, 0}; }
};

/// The states of neighbouring results, a class for each kind of them. Calls are for many elements or many results at once.
class LaneStates {
 public:
  virtual ~LaneStates() = default;

  /// Whether results() takes results of `each` elements which lie like this.
  virtual bool takes(std::uint64_t, core::Axis, core::Axis) const { return false; }
  /// Runs of fewer elements of one result are added for many results at once.
  virtual std::uint64_t short_run() const { return 0; }
  /// Results straight from their elements. False if that is not possible.
  virtual bool results(const FewElements&, bool, std::byte*) { return false; }

  /// Adds elements of which the first ones have position `first` in their results: one of each lane after the other, or lane by lane.
  virtual void add_rows(const LaneElements& elements, std::uint64_t first) = 0;
  virtual void add_runs(const LaneElements& elements, std::uint64_t first) = 0;
  /// Adds another's states, which is of the same class, behind these.
  virtual void merge(const LaneStates& other, std::size_t lanes) = 0;
  virtual void clear(std::size_t lanes) = 0;
  /// Writes the results, `bytes` each, of `count` elements. Appends the lanes whose states are not enough for that.
  virtual void finish(std::size_t lanes, std::uint64_t count, std::byte* results, std::size_t bytes,
                      std::vector<std::size_t>& undecided) = 0;
};

/// Of class `Own`, which has merge_own(), finish_all(), for all lanes at once, and finish_lane().
template <class Own>
class LaneStatesOf : public LaneStates {
 public:
  void merge(const LaneStates& other, std::size_t lanes) final { own().merge_own(static_cast<const Own&>(other), lanes); }
  void finish(std::size_t lanes, std::uint64_t count, std::byte* results, std::size_t bytes, std::vector<std::size_t>& undecided) final {
    if (own().finish_all(lanes, count, results)) return;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!own().finish_lane(lane, count, results + lane * bytes)) undecided.push_back(lane);
    }
  }
  bool finish_all(std::size_t, std::uint64_t, std::byte*) { return false; }

 private:
  Own& own() { return static_cast<Own&>(*this); }
};

}  // namespace samesum::groups
