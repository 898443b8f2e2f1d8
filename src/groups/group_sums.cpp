// Exact sums into groups: the public class.
#include "core/chunks.hpp"
#include "core/float_environment.hpp"
#include "groups/group_table.hpp"
#include "groups/scatter.hpp"

#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace samesum {
namespace groups {
namespace {

constexpr std::uint64_t kMostGroups = std::uint64_t{1} << 40;

std::uint64_t require_few(std::uint64_t groups) {
  if (groups >= kMostGroups) throw Error(ErrorKind::usage, fmt::format("{} groups are too many: there may be up to 2^40 - 1", groups));
  return groups;
}

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
  if (type == DType::int64) return {static_cast<std::int64_t>(value), DType::int64};
  return {static_cast<std::uint64_t>(value), DType::uint64};
}

}  // namespace
}  // namespace groups

struct GroupSums::State {
  State(std::uint64_t groups, const GroupOptions& how) : options(how), table(groups, how.squares, how.extrema) {}

  GroupOptions options;
  groups::Table table;
  groups::Kind kind = groups::Kind::none;
  std::uint64_t outside = 0;

  void require(std::uint64_t group) const {
    if (group < table.groups()) return;
    throw Error(ErrorKind::usage, fmt::format("there is no group {}: there are {}, numbered from 0", group, table.groups()));
  }
  void require_squares() const {
    if (options.squares) return;
    throw Error(ErrorKind::usage,
                "the squares of these groups were not added up: ask for them when the sums are made (GroupOptions::squares)");
  }
  // A result for each group, on all cores.
  template <class T, class Body>
  Values each(const Body& body) const {
    Values values(dtype_of<T>(), {table.groups()});
    auto* const to = static_cast<T*>(values.data());
    const std::uint32_t threads = core::thread_count(table.groups() * 512, options.threads);
    std::mutex mutex;
    std::uint64_t failed = ~std::uint64_t{0};
    std::exception_ptr error;
    core::for_chunks(table.groups(), threads, 1024, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
      std::uint64_t group = first;
      try {
        for (; group < first + count; ++group) to[group] = body(group);
      } catch (const Error& problem) {
        const std::lock_guard lock(mutex);
        if (group >= failed) return;
        failed = group;
        error = std::make_exception_ptr(Error(problem.kind(), fmt::format("group {}: {}", group, problem.what())));
      }
    });
    if (error) std::rethrow_exception(error);
    return values;
  }
  DType type() const {
    return kind == groups::Kind::unsigned_integers ? DType::uint64 : kind == groups::Kind::integers ? DType::int64 : DType::float64;
  }
  Values extrema(NanPolicy nan, groups::Table::Bound groups::Table::Extrema::*which) const {
    const core::DefaultFloatEnvironment environment;
    const auto value = [&](std::uint64_t group) { return groups::extremum(table, group, options.extrema, nan, type(), which); };
    if (type() == DType::int64) return each<std::int64_t>([&](std::uint64_t group) { return std::get<std::int64_t>(value(group).number); });
    if (type() == DType::uint64)
      return each<std::uint64_t>([&](std::uint64_t group) { return std::get<std::uint64_t>(value(group).number); });
    return each<double>([&](std::uint64_t group) {
      const std::uint64_t skipped = nan == NanPolicy::skip ? table.nans(group) : 0;
      if (options.extrema && table.count(group) == skipped) return std::numeric_limits<double>::quiet_NaN();
      return std::get<double>(value(group).number);
    });
  }
  Statistics statistics(std::uint64_t group) const {
    Statistics::Contents contents;
    contents.fields = {false, true, options.squares, false};
    contents.count = table.count(group);
    contents.nan_count = table.nans(group);
    contents.sum = table.sum(group, kind);
    if (options.squares) contents.squares = table.squares(group);
    return Statistics(std::move(contents));
  }
};

GroupSums::GroupSums(std::uint64_t groups, const GroupOptions& options)
    : state_(std::make_unique<State>(groups::require_few(groups), options)) {}
GroupSums::~GroupSums() = default;
GroupSums::GroupSums(const GroupSums& other) : state_(std::make_unique<State>(*other.state_)) {}
GroupSums& GroupSums::operator=(const GroupSums& other) { return *this = GroupSums(other); }
GroupSums::GroupSums(GroupSums&& other) noexcept = default;
GroupSums& GroupSums::operator=(GroupSums&& other) noexcept = default;

std::uint64_t GroupSums::groups() const noexcept { return state_->table.groups(); }
const GroupOptions& GroupSums::options() const noexcept { return state_->options; }
std::uint64_t GroupSums::outside() const noexcept { return state_->outside; }

void GroupSums::grow(std::uint64_t groups) {
  if (groups < this->groups()) {
    throw Error(ErrorKind::usage, fmt::format("{} groups cannot become {}", this->groups(), groups));
  }
  if (groups != this->groups()) state_->table.grow(groups::require_few(groups));
}

void GroupSums::add(const Array& values, const Array& indices) {
  const core::DefaultFloatEnvironment environment;
  State& state = *state_;
  groups::scatter(state.table, values, indices, state.options, state.outside);
  if (values.size() != 0) state.kind = std::max(state.kind, groups::kind_of(values.type()));
}

void GroupSums::add_segments(const Array& values, const Array& offsets) {
  const core::DefaultFloatEnvironment environment;
  if (groups::add_segments(state_->table, values, offsets, state_->options.threads)) {
    state_->kind = std::max(state_->kind, groups::kind_of(values.type()));
  }
}

void GroupSums::add(double value, std::uint64_t group) {
  const core::DefaultFloatEnvironment environment;
  if (state_->options.ignore_outside && group >= groups()) {
    ++state_->outside;
    return;
  }
  state_->require(group);
  state_->table.add(value, group);
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
  const State& more = *other.state_;
  state.options.squares &= more.options.squares;
  state.options.extrema &= more.options.extrema;
  state.table.keep(state.options.squares, state.options.extrema);
  for (std::uint64_t group = 0; group < to.size(); ++group) state.table.merge(to[group], more.table, group);
  state.kind = std::max(state.kind, more.kind);
  state.outside += more.outside;
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
  if (type() == DType::int64) return state.each<std::int64_t>([&](std::uint64_t group) { return sum(group).to_int64(); });
  if (type() == DType::uint64) return state.each<std::uint64_t>([&](std::uint64_t group) { return sum(group).to_uint64(); });
  return state.each<double>([&](std::uint64_t group) {
    double rounded = 0;
    return state.table.rounded(group, rounded) ? rounded : state.table.sum(group, state.kind).round(nan);
  });
}

Values GroupSums::squares(NanPolicy nan) const {
  state_->require_squares();
  const core::DefaultFloatEnvironment environment;
  return state_->each<double>([&](std::uint64_t group) { return state_->table.squares(group).round(nan); });
}

Values GroupSums::means(NanPolicy nan) const {
  const core::DefaultFloatEnvironment environment;
  const State& state = *state_;
  return state.each<double>([&](std::uint64_t group) {
    double mean = 0;
    if (state.table.mean(group, mean)) return mean;
    const std::uint64_t skipped = nan == NanPolicy::skip ? state.table.nans(group) : 0;
    return state.table.count(group) == skipped ? std::numeric_limits<double>::quiet_NaN() : state.statistics(group).mean(nan);
  });
}

Values GroupSums::variances(std::uint64_t ddof, NanPolicy nan) const {
  state_->require_squares();
  const core::DefaultFloatEnvironment environment;
  const State& state = *state_;
  return state.each<double>([&](std::uint64_t group) {
    const std::uint64_t skipped = nan == NanPolicy::skip ? state.table.nans(group) : 0;
    return state.table.count(group) - skipped <= ddof ? std::numeric_limits<double>::quiet_NaN()
                                                      : state.statistics(group).variance(ddof, nan);
  });
}

Values GroupSums::counts() const {
  return state_->each<std::uint64_t>([&](std::uint64_t group) { return state_->table.count(group); });
}

Accumulator GroupSums::sum(std::uint64_t group) const {
  const core::DefaultFloatEnvironment environment;
  state_->require(group);
  return state_->table.sum(group, state_->kind);
}
std::uint64_t GroupSums::count(std::uint64_t group) const {
  state_->require(group);
  return state_->table.count(group);
}
std::uint64_t GroupSums::nan_count(std::uint64_t group) const {
  state_->require(group);
  return state_->table.nans(group);
}
Statistics GroupSums::statistics(std::uint64_t group) const {
  const core::DefaultFloatEnvironment environment;
  state_->require(group);
  return state_->statistics(group);
}

Values GroupSums::minima(NanPolicy nan) const { return state_->extrema(nan, &groups::Table::Extrema::min); }
Values GroupSums::maxima(NanPolicy nan) const { return state_->extrema(nan, &groups::Table::Extrema::max); }

Value GroupSums::min(std::uint64_t group, NanPolicy nan) const {
  state_->require(group);
  return groups::extremum(state_->table, group, state_->options.extrema, nan, type(), &groups::Table::Extrema::min);
}
Value GroupSums::max(std::uint64_t group, NanPolicy nan) const {
  state_->require(group);
  return groups::extremum(state_->table, group, state_->options.extrema, nan, type(), &groups::Table::Extrema::max);
}

}  // namespace samesum
