// Exact sums into groups: the public class.
#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "device/memory/buffer.hpp"
#include "exact/counted.hpp"
#include "groups/index/group_state.hpp"
#include "groups/index/scatter.hpp"

#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace samesum {
namespace groups {
namespace {

Kind kind_of(DType type) { return !is_integer(type) ? Kind::floats : is_signed(type) ? Kind::integers : Kind::unsigned_integers; }

Value extremum(const Table& table, std::uint64_t group, bool extrema, NanPolicy nan, DType type, Table::Bound Table::Extrema::*which) {
  if (!extrema) {
    throw Error(ErrorKind::usage,
                "the extrema of these groups were not looked for: ask for them when the sums are made (GroupOptions::extrema)");
  }
  const std::uint64_t count = table.count(group), nans = table.nans(group);
  if (count == 0) throw Error(ErrorKind::no_answer, "a group without elements has no extrema");
  if (nans != 0 && nan == NanPolicy::propagate) return {std::numeric_limits<double>::quiet_NaN(), DType::float64};
  if (count == nans) throw Error(ErrorKind::no_answer, "a group of NaNs alone has no extrema once they are skipped");
  const Table::Bound& bound = table.extrema(group).*which;
  __extension__ using Wide = __int128;
  if (type == DType::float64) return {bound.high, DType::float64};
  const Wide value = static_cast<Wide>(bound.high) + bound.low;
  if (type == DType::int64 && value <= std::numeric_limits<std::int64_t>::max()) return {static_cast<std::int64_t>(value), DType::int64};
  return {static_cast<std::uint64_t>(value), DType::uint64};
}

// @throws Error (no_answer) where a group would have more than 2^64 - 1 elements: before any is merged.
void require_countable(const Table& table, const Table& more, std::span<const std::uint64_t> to) {
  constexpr std::uint64_t kSafe = std::uint64_t{1} << 62;
  std::uint64_t greatest = 0, all = 0;
  for (std::uint64_t group = 0; group < table.groups(); ++group) greatest = std::max(greatest, table.count(group));
  for (std::uint64_t group = 0; group < to.size() && all < kSafe; ++group) all += std::min(more.count(group), kSafe);
  if (greatest < kSafe && all < kSafe) return;
  std::vector<std::uint64_t> counts(table.groups());
  for (std::uint64_t group = 0; group < table.groups(); ++group) counts[group] = table.count(group);
  for (std::uint64_t group = 0; group < to.size(); ++group) counts[to[group]] = exact::counted(counts[to[group]], more.count(group));
}

}  // namespace

std::uint64_t require_few(std::uint64_t groups) {
  constexpr std::uint64_t kMaxGroups = std::uint64_t{1} << 40;
  if (groups >= kMaxGroups) throw Error(ErrorKind::usage, fmt::format("{} groups are too many: there may be up to 2^40 - 1", groups));
  return groups;
}

}  // namespace groups

Values GroupSums::State::extrema(NanPolicy nan, samesum::groups::Table::Bound samesum::groups::Table::Extrema::*which) const {
  const core::DefaultFloatEnvironment environment;
  host();
  const auto value = [&](std::uint64_t group) { return samesum::groups::extremum(table, group, options.extrema, nan, type(), which); };
  if (type() == DType::int64) {
    return each<std::int64_t>([&](std::uint64_t group) {
      const Value found = value(group);
      if (const auto* const number = std::get_if<std::int64_t>(&found.number)) return *number;
      throw Error(ErrorKind::no_answer,
                  fmt::format("its extremum {} does not fit into int64, which the sums of all groups have, as there are "
                              "negative elements",
                              std::get<std::uint64_t>(found.number)));
    });
  }
  if (type() == DType::uint64)
    return each<std::uint64_t>([&](std::uint64_t group) { return std::get<std::uint64_t>(value(group).number); });
  return each<double>([&](std::uint64_t group) {
    const std::uint64_t skipped = nan == NanPolicy::skip ? table.nans(group) : 0;
    if (options.extrema && table.count(group) == skipped) return std::numeric_limits<double>::quiet_NaN();
    return std::get<double>(value(group).number);
  });
}

GroupSums::GroupSums(std::uint64_t groups, const GroupOptions& options)
    : state_(std::make_unique<State>(groups::require_few(groups), options)) {}
GroupSums::~GroupSums() = default;
GroupSums::GroupSums(const GroupSums& other) : state_(std::make_unique<State>(*other.state_)) {}
GroupSums& GroupSums::operator=(const GroupSums& other) { return *this = GroupSums(other); }
GroupSums::GroupSums(GroupSums&& other) noexcept = default;
GroupSums& GroupSums::operator=(GroupSums&& other) noexcept = default;

std::uint64_t GroupSums::groups() const noexcept { return state_->groups; }
const GroupOptions& GroupSums::options() const noexcept { return state_->options; }
std::uint64_t GroupSums::outside() const noexcept { return state_->outside; }

void GroupSums::grow(std::uint64_t groups) {
  if (groups < this->groups()) {
    throw Error(ErrorKind::usage, fmt::format("{} groups cannot become {}", this->groups(), groups));
  }
  if (groups == this->groups()) return;
  state_->host();
  state_->groups = groups::require_few(groups);
}

void GroupSums::add(const Array& values, const Array& indices) {
  const core::DefaultFloatEnvironment environment;
  State& state = *state_;
  groups::require_pairs(values, indices);
  if (values.size() == 0) return;
  groups::DeviceTable* const there = groups::on_one_device(values, indices) ? state.on(values.buffer().device(), values.type()) : nullptr;
  if (there != nullptr) {
    const groups::DeviceTable::Outside outside = there->add(values, indices, state.options.ignore_outside);
    if (outside.count != 0 && !state.options.ignore_outside) groups::refuse_index(outside.first, outside.index, indices.type(), groups());
    state.outside += outside.count;
  } else {
    groups::scatter(state.change(), values, indices, state.options, state.outside);
  }
  state.kind = std::max(state.kind, groups::kind_of(values.type()));
}

void GroupSums::add(const Array& values, const groups::FoundGroups& found, std::uint32_t threads) {
  State& state = *state_;
  groups::scatter(state.change(), values, found, threads);
  state.kind = std::max(state.kind, groups::kind_of(values.type()));
}

void GroupSums::add(const device::Run& values, DType type, const device::Run& indices, DType index_type, const Device& device,
                    const groups::Indexing* indexing) {
  State& state = *state_;
  state.on(device, type)->add(values, type, indices, index_type, indexing);
  state.kind = std::max(state.kind, groups::kind_of(type));
}

bool GroupSums::can_add(const Device& device, DType type) { return state_->on(device, type) != nullptr; }

void GroupSums::add_segments(const Array& values, const Array& offsets) {
  const core::DefaultFloatEnvironment environment;
  State& state = *state_;
  groups::DeviceTable* const there = values.on_device() ? state.on(values.buffer().device(), values.type()) : nullptr;
  const bool both = there != nullptr && offsets.on_device() && values.rank() == 1 && offsets.rank() == 1 && offsets.size() == groups() + 1;
  if (!both || !there->add_segments_there(values, offsets)) {
    const std::vector<std::uint64_t> places = groups::checked_offsets(values, offsets, groups());
    if (places.front() == places.back()) return;
    if (there != nullptr) {
      there->add_segments(values, places);
    } else {
      groups::add_segments(state.change(), values, places, state.options.threads);
    }
  }
  state.kind = std::max(state.kind, groups::kind_of(values.type()));
}

void GroupSums::add(double value, std::uint64_t group) {
  const core::DefaultFloatEnvironment environment;
  if (state_->options.ignore_outside && group >= groups()) {
    ++state_->outside;
    return;
  }
  state_->require(group);
  state_->change().add(value, group);
  state_->kind = groups::Kind::floats;
}

void GroupSums::merge(const GroupSums& other, std::span<const std::uint64_t> to) {
  const core::DefaultFloatEnvironment environment;
  if (to.size() != other.groups()) {
    throw Error(ErrorKind::usage, fmt::format("{} groups, and where {} of them go", other.groups(), to.size()));
  }
  for (const std::uint64_t group : to) state_->require(group);
  if (&other == this) return merge(GroupSums(other), to);
  State& state = *state_;
  const groups::Table& more = other.state_->host();
  groups::require_countable(state.host(), more, to);
  const std::uint64_t outside = exact::counted(state.outside, other.outside());
  groups::Table& table = state.change();
  state.options.squares &= other.state_->options.squares;
  state.options.extrema &= other.state_->options.extrema;
  state.options.counts &= other.state_->options.counts;
  table.keep(state.options.squares, state.options.extrema);
  for (std::uint64_t group = 0; group < to.size(); ++group) table.merge(to[group], more, group);
  state.kind = std::max(state.kind, other.state_->kind);
  state.outside = outside;
}

void GroupSums::merge(const GroupSums& other) {
  if (groups() != other.groups()) {
    throw Error(ErrorKind::usage, fmt::format("sums of {} groups and of {}: they cannot be added", groups(), other.groups()));
  }
  std::vector<std::uint64_t> same(groups());
  std::iota(same.begin(), same.end(), std::uint64_t{0});
  merge(other, same);
}

DType GroupSums::type() const noexcept { return state_->type(); }

Values GroupSums::sums(NanPolicy nan) const {
  const core::DefaultFloatEnvironment environment;
  const State& state = *state_;
  if (Values values(type(), {groups()}); state.round_there(nan, values.data(), nullptr)) return values;
  const groups::Table& table = state.host();
  if (type() == DType::int64) return state.each<std::int64_t>([&](std::uint64_t group) { return table.sum(group, state.kind).to_int64(); });
  if (type() == DType::uint64) {
    return state.each<std::uint64_t>([&](std::uint64_t group) { return table.sum(group, state.kind).to_uint64(); });
  }
  return state.each<double>([&](std::uint64_t group) {
    double rounded = 0;
    return table.rounded(group, rounded) ? rounded : table.sum(group, state.kind).round(nan);
  });
}

void GroupSums::sums(const Array& to, NanPolicy nan) const {
  const std::uint64_t shape[] = {groups()};
  if (to.type() != type() || !std::ranges::equal(to.shape(), shape) || !to.contiguous()) {
    throw Error(ErrorKind::usage,
                fmt::format("sums of {} groups go to as many neighbouring elements of type {}, along one axis", groups(), name_of(type())));
  }
  if (groups() == 0 || (to.on_device() && state_->round_there(nan, nullptr, &to))) return;
  const Values values = sums(nan);
  if (to.on_device()) {
    to.buffer().write(values.data(), to.bytes(), to.offset());
  } else {
    std::memcpy(const_cast<void*>(to.data()), values.data(), to.bytes());
  }
}

Values GroupSums::squares(NanPolicy nan) const {
  state_->require_squares();
  const core::DefaultFloatEnvironment environment;
  const groups::Table& table = state_->host();
  return state_->each<double>([&](std::uint64_t group) {
    double square = 0;
    return table.moment(group, OF_SQUARED_NORM, 0, square) ? square : table.squares(group).round(nan);
  });
}

Values GroupSums::means(NanPolicy nan) const {
  state_->require_counts();
  const core::DefaultFloatEnvironment environment;
  const State& state = *state_;
  const groups::Table& table = state.host();
  return state.each<double>([&](std::uint64_t group) {
    double mean = 0;
    if (table.mean(group, mean)) return mean;
    const std::uint64_t skipped = nan == NanPolicy::skip ? table.nans(group) : 0;
    return table.count(group) == skipped ? std::numeric_limits<double>::quiet_NaN() : state.statistics(group).mean(nan);
  });
}

Values GroupSums::variances(std::uint64_t ddof, NanPolicy nan) const {
  return state_->moments(OF_VARIANCE, ddof, nan, [&](const Statistics& group) { return group.variance(ddof, nan); });
}

Values GroupSums::standard_deviations(std::uint64_t ddof, NanPolicy nan) const {
  return state_->moments(OF_DEVIATION, ddof, nan, [&](const Statistics& group) { return group.standard_deviation(ddof, nan); });
}

Values GroupSums::norms(NanPolicy nan) const {
  return state_->moments(OF_NORM, 0, nan, [&](const Statistics& group) { return group.norm(nan); });
}

Values GroupSums::counts(NanPolicy nan) const {
  state_->require_counts();
  const groups::Table& table = state_->host();
  return state_->each<std::uint64_t>(
      [&](std::uint64_t group) { return table.count(group) - (nan == NanPolicy::skip ? table.nans(group) : 0); });
}

Accumulator GroupSums::sum(std::uint64_t group) const {
  const core::DefaultFloatEnvironment environment;
  state_->require(group);
  state_->require_counts();
  return state_->host().sum(group, state_->kind);
}
std::uint64_t GroupSums::count(std::uint64_t group) const {
  state_->require(group);
  state_->require_counts();
  return state_->host().count(group);
}
std::uint64_t GroupSums::nan_count(std::uint64_t group) const {
  state_->require(group);
  return state_->host().nans(group);
}
Statistics GroupSums::statistics(std::uint64_t group) const {
  const core::DefaultFloatEnvironment environment;
  state_->require(group);
  state_->require_counts();
  state_->host();
  return state_->statistics(group);
}

Values GroupSums::minima(NanPolicy nan) const { return state_->extrema(nan, &groups::Table::Extrema::min); }
Values GroupSums::maxima(NanPolicy nan) const { return state_->extrema(nan, &groups::Table::Extrema::max); }

Value GroupSums::min(std::uint64_t group, NanPolicy nan) const {
  state_->require(group);
  return groups::extremum(state_->host(), group, state_->options.extrema, nan, type(), &groups::Table::Extrema::min);
}
Value GroupSums::max(std::uint64_t group, NanPolicy nan) const {
  state_->require(group);
  return groups::extremum(state_->host(), group, state_->options.extrema, nan, type(), &groups::Table::Extrema::max);
}

}  // namespace samesum
