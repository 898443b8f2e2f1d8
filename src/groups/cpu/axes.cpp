// Reductions along axes on the CPU: which elements go to which results, and threads.
#include "groups/axes.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "groups/cpu/axes_extremes.hpp"
#include "groups/cpu/axes_moments.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace samesum::groups {
namespace {

constexpr std::uint64_t kNumbersAtOnce = std::uint64_t{1} << 16, kRowsAtOnce = 64;

// States of `size` neighbouring results.
std::unique_ptr<LaneStates> lane_states(const AxisWork& work, std::size_t size) {
  if (work.what == AxisReduction::count_nonzero) return std::make_unique<LaneCounts>(work, size);
  return core::visit(work.type, [&](auto element) -> std::unique_ptr<LaneStates> {
    using Element = decltype(element);
    if (!work.has_numbers() && !work.has_squares()) return std::make_unique<LaneExtremes<Element>>(work, size);
    if constexpr (std::is_integral_v<Element>) {
      return std::make_unique<IntegerMoments<Element>>(work, size);
    } else {
      return std::make_unique<FloatMoments>(work, size);
    }
  });
}

class Reducer {
 public:
  Reducer(const AxisProblem& problem, const AxisWork& work, std::uint32_t threads, void* results)
      : problem_(problem),
        work_(work),
        result_bytes_(size_of(result_type(work.what, work.type))),
        results_(static_cast<std::byte*>(results)),
        base_(static_cast<const std::byte*>(problem.data.data()) + problem.first),
        lanes_(problem.kept.back()),
        steps_(problem.reduced.empty() ? core::Axis{1, 0} : problem.reduced.back()),
        threads_(core::thread_count(problem.data.bytes(), threads)) {
    const std::unique_ptr<LaneStates> any = lane_states(work, 0);
    // Short runs are taken of many results at once too: vectors of them are filled with one element of each.
    const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
    const bool neighbours = size(lanes_.stride) < size(steps_.stride);
    by_rows_ = neighbours || (steps_.extent < any->short_run() && lanes_.extent >= kLanesApart);
    most_lanes_ = neighbours ? kLanes : kLanesApart;
    direct_ = problem.reduced.size() <= 1 && any->takes(problem.each, lanes_, steps_) &&
              reinterpret_cast<std::uintptr_t>(results) % sizeof(double) == 0;
  }

  std::vector<std::uint64_t> run() {
    if (direct_) {
      run_directly();
      return sorted_remaining();
    }
    const std::uint64_t inner = lanes_.extent, outer = problem_.results / inner;
    // Results of a block, all along the last axis that is kept: as many as fill the caches' lines and give each thread several blocks.
    const std::uint64_t work = std::max<std::uint64_t>(std::uint64_t{1} << 16, 1) / std::max<std::uint64_t>(problem_.each, 1);
    const std::uint64_t block = std::clamp<std::uint64_t>(by_rows_ ? most_lanes_ : work, 1, std::min<std::uint64_t>(kLanes, inner));
    const std::uint64_t before = before_first_block(block), blocks = (inner + before + block - 1) / block;
    const auto begin_of = [&](std::uint64_t i) { return i == 0 ? 0 : std::min(i * block - before, inner); };
    // Few blocks: each is cut along the outermost axis that is reduced.
    const core::Axis cut = problem_.reduced.empty() ? core::Axis{1, 0} : problem_.reduced.front();
    const std::uint64_t wanted = threads_ == 1 ? 1 : (8 * threads_ + outer * blocks - 1) / (outer * blocks);
    const std::uint64_t cuts = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(cut.extent / 64, 1));
    if (cuts == 1) {
      const States sums = states(threads_, block);
      const std::uint64_t chunk =
          std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / (block * problem_.each * size_of(problem_.data.type()) + 1));
      core::for_chunks(outer * blocks, threads_, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = first; i < first + count; ++i) {
          const std::uint64_t begin = begin_of(i % blocks), lanes = begin_of(i % blocks + 1) - begin;
          sums[task]->clear(lanes);
          add(*sums[task], i / blocks, begin, lanes, 0, cut.extent);
          finish(*sums[task], i / blocks * inner + begin, lanes);
        }
      });
    } else {
      const States sums = states(outer * blocks * cuts, block);
      core::for_chunks(sums.size(), threads_, 1, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = first; i < first + count; ++i) {
          const std::uint64_t of = i / cuts, begin = begin_of(of % blocks), part = i % cuts;
          const std::uint64_t from = cut.extent * part / cuts, until = cut.extent * (part + 1) / cuts;
          add(*sums[i], of / blocks, begin, begin_of(of % blocks + 1) - begin, from, until - from);
        }
      });
      for (std::uint64_t of = 0; of < outer * blocks; ++of) {
        const std::uint64_t begin = begin_of(of % blocks), lanes = begin_of(of % blocks + 1) - begin;
        for (std::uint64_t part = 1; part < cuts; ++part) sums[of * cuts]->merge(*sums[of * cuts + part], lanes);
        finish(*sums[of * cuts], of / blocks * inner + begin, lanes);
      }
    }
    return sorted_remaining();
  }

 private:
  using States = std::vector<std::unique_ptr<LaneStates>>;

  States states(std::uint64_t count, std::size_t size) const {
    States states(count);
    for (auto& each : states) each = lane_states(work_, size);
    return states;
  }
  std::vector<std::uint64_t> sorted_remaining() {
    std::ranges::sort(remaining_);
    return std::move(remaining_);
  }
  // How many results the first block has less than others, so that these begin with a page of memory, of each row. Processors fetch ahead
  // up to the end of a page. Where a block ends within one, what they fetch behind it is dropped before it is needed: a quarter of all.
  std::uint64_t before_first_block(std::uint64_t block) const {
    const std::uint64_t bytes = size_of(problem_.data.type());
    if (!by_rows_ || lanes_.stride != static_cast<std::int64_t>(bytes) || block != kLanes) return 0;
    return reinterpret_cast<std::uintptr_t>(base_ + problem_.offset_of(0)) % (block * bytes) / bytes;
  }
  // Results of few elements, which are rounded as they are found; by way of expansions where that is not enough.
  void run_directly() {
    constexpr std::uint64_t kBlock = 4096;                       // elements of which none may be rounded
    constexpr std::uint64_t kStreamed = std::uint64_t{1} << 22;  // bytes of results beyond the caches
    const std::uint64_t inner = lanes_.extent, each = problem_.each, bytes = size_of(problem_.data.type());
    const bool columns = lanes_.stride == static_cast<std::int64_t>(bytes), stream = 8 * problem_.results >= kStreamed;
    constexpr std::uint64_t kLine = 8;  // results of a cache line
    const std::uint64_t block = columns ? kLanes : std::clamp<std::uint64_t>(kBlock / each / kLine * kLine, kLine, kLanes);
    // The first block is shorter, so that others begin with a line, which is needed to write past the caches.
    const std::uint64_t before = reinterpret_cast<std::uintptr_t>(results_) / sizeof(double) % kLine;
    const std::uint64_t blocks = (inner + before + block - 1) / block;
    const States sums = states(threads_, std::min<std::uint64_t>(block, most_lanes_));
    const std::uint64_t chunk = std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / (std::min(block, inner) * (each * bytes + 8)));
    core::for_chunks(problem_.results / inner * blocks, threads_, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
      for (std::uint64_t i = first; i < first + count; ++i) {
        const std::uint64_t outer = i / blocks, end = std::min((i % blocks + 1) * block - before, inner);
        const std::uint64_t begin = i % blocks == 0 ? 0 : i % blocks * block - before, lanes = end - begin, at = outer * inner + begin;
        const FewElements elements{base_ + problem_.offset_of(at), bytes == 8, columns, each, steps_.stride, lanes, lanes_.stride};
        if (sums[task]->results(elements, stream, results_ + 8 * at)) continue;
        for (std::uint64_t lane = 0; lane < lanes; lane += most_lanes_) {
          const std::uint64_t some = std::min(most_lanes_, lanes - lane);
          sums[task]->clear(some);
          add(*sums[task], outer, begin + lane, some, 0, each);
          finish(*sums[task], at + lane, some);
        }
      }
      if (stream) hwy::FlushStream();
    });
  }
  // Adds the elements of results begin, begin + 1, … along the last kept axis, of these `count` indices of the outermost reduced one.
  void add(LaneStates& sums, std::uint64_t outer, std::uint64_t begin, std::uint64_t lanes, std::uint64_t from, std::uint64_t count) const {
    const std::byte* const base = base_ + problem_.offset_of(outer * lanes_.extent + begin);
    const std::size_t axes = problem_.reduced.size();
    if (axes <= 1) return add_steps(sums, base + static_cast<std::int64_t>(from) * steps_.stride, lanes, count, from);
    std::vector<std::uint64_t> index(axes - 1, 0);
    for (index[0] = from; index[0] < from + count;) {
      const std::byte* at = base;
      std::uint64_t position = 0;
      for (std::size_t i = 0; i < index.size(); ++i) {
        at += static_cast<std::int64_t>(index[i]) * problem_.reduced[i].stride;
        position = position * problem_.reduced[i].extent + index[i];
      }
      add_steps(sums, at, lanes, steps_.extent, position * steps_.extent);
      std::size_t axis = index.size() - 1;
      while (++index[axis] == problem_.reduced[axis].extent && axis != 0) index[axis--] = 0;
    }
  }
  void add_steps(LaneStates& sums, const std::byte* at, std::uint64_t lanes, std::uint64_t count, std::uint64_t position) const {
    if (!by_rows_) return sums.add_runs({at, count, steps_.stride, lanes, lanes_.stride}, position);
    const std::uint64_t at_once = std::max(kNumbersAtOnce / lanes, kRowsAtOnce);
    for (std::uint64_t step = 0; step < count; step += at_once) {
      sums.add_rows(
          {at + static_cast<std::int64_t>(step) * steps_.stride, std::min(at_once, count - step), steps_.stride, lanes, lanes_.stride},
          position + step);
    }
  }
  void finish(LaneStates& sums, std::uint64_t first, std::uint64_t lanes) {
    std::vector<std::size_t> undecided;
    sums.finish(lanes, problem_.each, results_ + result_bytes_ * first, result_bytes_, undecided);
    if (undecided.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const std::size_t lane : undecided) remaining_.push_back(first + lane);
  }

  const AxisProblem& problem_;
  AxisWork work_;
  std::size_t result_bytes_;
  std::byte* results_;
  const std::byte* base_;
  core::Axis lanes_, steps_;
  std::uint32_t threads_;
  bool by_rows_, direct_;
  std::uint64_t most_lanes_ = 1;
  std::mutex mutex_;
  std::vector<std::uint64_t> remaining_;
};

}  // namespace

bool reduces_on_cpu(AxisReduction what, DType type, std::uint64_t each) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // whose sums have room, and positions 32 bits
  const bool squares = AxisWork{what, type, false}.has_squares();
  return each < kMost && !(squares && is_integer(type) && size_of(type) == 8);
}

std::vector<std::uint64_t> reduce_cpu(const AxisProblem& problem, AxisReduction what, NanPolicy nan, std::uint32_t threads, void* results) {
  const AxisWork work{what, problem.data.type(), nan == NanPolicy::skip, problem.ddof};
  return Reducer(problem, work, threads, results).run();
}

}  // namespace samesum::groups
