#include "histogram/nd/along_axis.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum::binning {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

}  // namespace

void require_axis(std::size_t axis, std::size_t rank) {
  if (axis >= rank) refuse(fmt::format("there is no axis {}: the histogram has {}, numbered from 0", axis, rank));
}

std::uint64_t cell_count(std::span<const Bins> axes, std::uint64_t most) {
  if (axes.empty()) refuse("a histogram of several axes has one or more of them");
  std::uint64_t cells = 1;
  for (const Bins& bins : axes) {
    if (places(bins) > most / cells) {
      refuse(
          fmt::format("too many cells: there can be {} of them, and each axis takes three more than it has bins; take fewer bins", most));
    }
    cells *= places(bins);
  }
  return cells;
}

std::uint64_t place_of(const Bins& bins, std::int64_t index) {
  if (index == Bins::kUnder) return 0;
  if (index == Bins::kOver) return bins.count() + 1;
  if (index == Bins::kNan) return bins.count() + 2;
  if (index < 0 || static_cast<std::uint64_t>(index) >= bins.count()) {
    refuse(fmt::format("there is no bin {}: the axis has {}", index, bins.count()));
  }
  return static_cast<std::uint64_t>(index) + 1;
}

Moves only(const Bins& bins, std::uint64_t place) {
  Moves moves{std::vector<std::uint32_t>(places(bins), Moves::kDropped), 1};
  moves.to[place] = 0;
  return moves;
}

OtherBins sliced(const Bins& bins, std::uint64_t first, std::uint64_t count) {
  if (count == 0 || first >= bins.count() || count > bins.count() - first) {
    refuse(fmt::format("bins {} to {} of {}: there must be one or more, and all of them there", first, first + count, bins.count()));
  }
  Moves moves{std::vector<std::uint32_t>(places(bins)), count + 3};
  for (std::uint64_t place = 0; place < moves.to.size() - 1; ++place) {
    moves.to[place] = static_cast<std::uint32_t>(place <= first ? 0 : std::min(place - first, count + 1));
  }
  moves.to.back() = static_cast<std::uint32_t>(count + 2);
  if (count == bins.count()) return {bins, std::move(moves)};
  const auto edges = bins.edges().subspan(first, count + 1);
  return {Bins::between({edges.begin(), edges.end()}), std::move(moves)};
}

OtherBins rebinned(const Bins& bins, std::uint64_t factor) {
  if (factor == 0) refuse("0 bins to one: it takes one or more");
  const std::uint64_t count = (bins.count() - 1) / factor + 1;
  Moves moves{std::vector<std::uint32_t>(places(bins)), count + 3};
  for (std::uint64_t i = 0; i < bins.count(); ++i) moves.to[i + 1] = static_cast<std::uint32_t>(i / factor + 1);
  moves.to[bins.count() + 1] = static_cast<std::uint32_t>(count + 1);
  moves.to[bins.count() + 2] = static_cast<std::uint32_t>(count + 2);
  if (factor == 1) return {bins, std::move(moves)};
  std::vector<double> edges;
  for (std::uint64_t i = 0; i < count; ++i) edges.push_back(bins.edges()[i * factor]);
  edges.push_back(bins.high());
  return {Bins::between(std::move(edges)), std::move(moves)};
}

Projection::Projection(std::span<const Bins> all, const std::vector<std::size_t>& chosen) : strides(all.size(), 0) {
  if (chosen.empty()) refuse("a projection to no axis: name one or more of them");
  for (const Bins& bins : all) extents.push_back(places(bins));
  for (std::size_t i = chosen.size(); i-- > 0;) {
    const std::size_t axis = chosen[i];
    if (axis >= all.size()) refuse(fmt::format("there is no axis {}: the histogram has {}, numbered from 0", axis, all.size()));
    if (strides[axis] != 0) refuse(fmt::format("axis {} is named twice", axis));
    strides[axis] = cells;
    cells *= extents[axis];
  }
  for (const std::size_t axis : chosen) axes.push_back(all[axis]);
}

}  // namespace samesum::binning
