// Exact sums into groups: the distribution of elements over threads, and results.
#include "core/array_blocks.hpp"
#include "core/chunks.hpp"
#include "core/float_environment.hpp"
#include "core/visit.hpp"
#include "groups/axes.hpp"
#include "groups/group_table.hpp"

#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum {
namespace groups {
namespace {

constexpr std::uint64_t kMostGroups = std::uint64_t{1} << 40;
constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::size_t kBatch = 1024;                               // elements that are converted at once
constexpr std::uint64_t kPrivateGroups = std::uint64_t{1} << 17;   // up to which each thread has a table of its own
constexpr std::uint64_t kSortedElements = std::uint64_t{1} << 22;  // at once

std::uint64_t require_few(std::uint64_t groups) {
  if (groups >= kMostGroups) throw Error(ErrorKind::usage, fmt::format("{} groups are too many: there may be up to 2^40 - 1", groups));
  return groups;
}

// What an element is added as: a double, or a 64-bit integer.
template <class Element>
using NumberOf = std::conditional_t<std::is_same_v<Element, std::int64_t> || std::is_same_v<Element, std::uint64_t>, Element, double>;

template <class To, class Element>
void convert(const std::byte* from, std::int64_t stride, std::size_t count, To* to, Element element) {
  if (stride == sizeof element) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&element, from + i * sizeof element, sizeof element);
      to[i] = static_cast<To>(element);
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&element, from + static_cast<std::int64_t>(i) * stride, sizeof element);
      to[i] = static_cast<To>(element);
    }
  }
}

// Elements and their groups, side by side. A negative index becomes one beyond all groups.
struct Pairs {
  View values, indices;

  std::uint64_t size() const noexcept { return values.size(); }
  Pairs part(std::uint64_t first, std::uint64_t count) const noexcept { return {values.part(first, count), indices.part(first, count)}; }
  void load_groups(std::uint64_t first, std::size_t count, std::uint64_t* to) const {
    const auto* const from = static_cast<const std::byte*>(indices.data()) + static_cast<std::int64_t>(first) * indices.stride();
    core::visit(indices.type(), [&](auto element) {
      using Index = decltype(element);
      if constexpr (std::is_integral_v<Index>) convert(from, indices.stride(), count, to, element);
    });
  }
  template <class Number>
  void load_values(std::uint64_t first, std::size_t count, Number* to) const {
    const auto* const from = static_cast<const std::byte*>(values.data()) + static_cast<std::int64_t>(first) * values.stride();
    core::visit(values.type(), [&](auto element) {
      if constexpr (std::is_same_v<NumberOf<decltype(element)>, Number>) convert(from, values.stride(), count, to, element);
    });
  }
};

// Calls body(numbers, groups, count) for batches of converted elements. Those of no group are left out: `outside` counts them, `first`
// becomes the place of the first.
template <class Number, class Body>
void for_batches(const Pairs& pairs, std::uint64_t groups, std::uint64_t& outside, std::uint64_t& first, const Body& body) {
  alignas(64) Number numbers[kBatch];
  alignas(64) std::uint64_t indices[kBatch];
  for (std::uint64_t done = 0; done < pairs.size(); done += kBatch) {
    std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, pairs.size() - done));
    pairs.load_groups(done, count, indices);
    pairs.load_values(done, count, numbers);
    std::uint64_t beyond = 0;
    for (std::size_t i = 0; i < count; ++i) beyond += indices[i] >= groups;
    if (beyond != 0) {
      outside += beyond;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (indices[i] >= groups) {
          first = std::min(first, done + i);
          continue;
        }
        numbers[kept] = numbers[i];
        indices[kept++] = indices[i];
      }
      count = kept;
    }
    body(numbers, indices, count);
  }
}

// The place of the first element of no group; kNone where there is none.
std::uint64_t first_outside(const Pairs& pairs, std::uint64_t groups, std::uint32_t threads) {
  std::atomic<std::uint64_t> found{kNone};
  core::for_chunks(pairs.size(), threads, std::uint64_t{1} << 16, [&](std::uint32_t, std::uint64_t begin, std::uint64_t size) {
    alignas(64) std::uint64_t indices[kBatch];
    for (std::uint64_t done = begin; done < begin + size; done += kBatch) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, begin + size - done));
      pairs.load_groups(done, count, indices);
      std::uint64_t greatest = 0;
      for (std::size_t i = 0; i < count; ++i) greatest = std::max(greatest, indices[i]);
      if (groups != 0 && greatest < groups) continue;
      const auto* const at = std::find_if(indices, indices + count, [&](std::uint64_t index) { return index >= groups; });
      const std::uint64_t place = done + static_cast<std::uint64_t>(at - indices);
      std::uint64_t known = found.load();
      while (place < known && !found.compare_exchange_weak(known, place)) {
      }
      return;
    }
  });
  return found;
}

// Gives the elements of two arrays of one shape side by side, in parts.
template <class Body>
void for_pairs(const Array& values, const Array& indices, const Body& body) {
  core::ArrayBlocks value_blocks(values, core::Order::index), index_blocks(indices, core::Order::index);
  View a(nullptr, 0, values.type()), b(nullptr, 0, indices.type());
  for (std::uint64_t left = values.size(); left != 0;) {
    if (a.size() == 0) a = *value_blocks.next();
    if (b.size() == 0) b = *index_blocks.next();
    const std::uint64_t count = std::min(a.size(), b.size());
    body(Pairs{a.part(0, count), b.part(0, count)});
    a = a.part(count, a.size() - count);
    b = b.part(count, b.size() - count);
    left -= count;
  }
}

// Each thread adds to a table of its own; these are merged into `to`, by all threads.
template <class Number>
void add_with_tables(Table& to, const Pairs& pairs, std::uint32_t threads, std::uint64_t& outside) {
  std::vector<std::optional<Table>> tables(threads);
  std::vector<std::uint64_t> left_out(threads, 0);
  const std::uint64_t chunk =
      core::chunk_size(pairs.values.bytes() + pairs.indices.bytes(), size_of(pairs.values.type()) + size_of(pairs.indices.type()), threads);
  core::for_chunks(pairs.size(), threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
    std::optional<Table>& table = tables[task];
    if (!table) table.emplace(to.groups(), to.has_squares(), to.has_extrema());
    std::uint64_t unused = kNone;
    for_batches<Number>(pairs.part(first, count), to.groups(), left_out[task], unused,
                        [&](const Number* numbers, const std::uint64_t* groups, std::size_t size) { table->add(numbers, groups, size); });
  });
  outside += std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0});
  const std::uint64_t range = std::uint64_t{1} << to.range_bits();
  core::for_chunks(to.groups(), to.ranges() > 1 ? threads : 1, range, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    for (const std::optional<Table>& table : tables) {
      if (!table) continue;
      for (std::uint64_t group = first; group < first + count; ++group) to.merge(group, *table, group);
    }
  });
}

// Elements are sorted by ranges of groups, and each range is added up by one thread.
template <class Number>
class Sorter {
 public:
  Sorter(Table& to, std::uint32_t threads) : to_(to), threads_(threads) {}

  void add(const Pairs& pairs, std::uint64_t& outside) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
    const std::uint64_t pieces = (pairs.size() + kPiece - 1) / kPiece, ranges = to_.ranges();
    const std::uint32_t bits = to_.range_bits();
    std::vector<std::uint64_t> places(pieces * ranges, 0), left_out(pieces, 0);
    const auto walk = [&](std::uint64_t piece, std::uint64_t& beyond, const auto& body) {
      const std::uint64_t first = piece * kPiece;
      std::uint64_t unused = kNone;
      for_batches<Number>(pairs.part(first, std::min(kPiece, pairs.size() - first)), to_.groups(), beyond, unused, body);
    };
    core::for_chunks(pieces, threads_, 1, [&](std::uint32_t, std::uint64_t piece, std::uint64_t) {
      std::uint64_t* const counts = places.data() + piece * ranges;
      walk(piece, left_out[piece], [&](const Number*, const std::uint64_t* groups, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) ++counts[groups[i] >> bits];
      });
    });
    std::vector<std::uint64_t> begins(ranges + 1);
    std::uint64_t total = 0;
    for (std::uint64_t range = 0; range < ranges; ++range) {
      begins[range] = total;
      for (std::uint64_t piece = 0; piece < pieces; ++piece) total += std::exchange(places[piece * ranges + range], total);
    }
    begins[ranges] = total;
    numbers_.resize(std::max<std::size_t>(numbers_.size(), total));
    groups_.resize(numbers_.size());
    core::for_chunks(pieces, threads_, 1, [&](std::uint32_t, std::uint64_t piece, std::uint64_t) {
      std::uint64_t* const next = places.data() + piece * ranges;
      std::uint64_t unused = 0;
      walk(piece, unused, [&](const Number* numbers, const std::uint64_t* groups, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
          const std::uint64_t place = next[groups[i] >> bits]++;
          numbers_[place] = numbers[i];
          groups_[place] = groups[i];
        }
      });
    });
    core::for_chunks(ranges, threads_, 1, [&](std::uint32_t, std::uint64_t range, std::uint64_t) {
      to_.add(numbers_.data() + begins[range], groups_.data() + begins[range], begins[range + 1] - begins[range]);
    });
    outside += std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0});
  }

 private:
  Table& to_;
  std::uint32_t threads_;
  std::vector<Number> numbers_;
  std::vector<std::uint64_t> groups_;
};

template <class Number>
void add_pairs(Table& to, const Pairs& pairs, std::uint32_t threads, std::uint64_t& outside) {
  if (threads > 1 && to.groups() <= kPrivateGroups && pairs.size() >= 4 * to.groups()) {
    return add_with_tables<Number>(to, pairs, threads, outside);
  }
  if (threads > 1 && to.ranges() > 1 && pairs.size() >= 16 * to.ranges()) {
    Sorter<Number> sorter(to, threads);
    for (std::uint64_t first = 0; first < pairs.size(); first += kSortedElements) {
      sorter.add(pairs.part(first, std::min(kSortedElements, pairs.size() - first)), outside);
    }
    return;
  }
  std::uint64_t unused = kNone;
  for_batches<Number>(pairs, to.groups(), outside, unused,
                      [&](const Number* numbers, const std::uint64_t* groups, std::size_t size) { to.add(numbers, groups, size); });
}

Kind kind_of(DType type) { return !is_integer(type) ? Kind::floats : is_signed(type) ? Kind::integers : Kind::unsigned_integers; }

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
    std::uint64_t failed = groups::kNone;
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
  if (!std::ranges::equal(values.shape(), indices.shape())) {
    throw Error(ErrorKind::usage, fmt::format("values of shape ({}) and indices of shape ({}): each value needs one index",
                                              fmt::join(values.shape(), ", "), fmt::join(indices.shape(), ", ")));
  }
  if (!is_integer(indices.type())) {
    throw Error(ErrorKind::usage, fmt::format("groups are numbered by integers, and these indices are {}", name_of(indices.type())));
  }
  if (values.size() == 0) return;
  if (values.on_device()) return add(groups::copied_to_host(values).array(), indices);
  if (indices.on_device()) return add(values, groups::copied_to_host(indices).array());

  State& state = *state_;
  const std::uint32_t threads = core::thread_count(values.bytes() + indices.bytes(), state.options.threads);
  if (!state.options.ignore_outside) {  // before anything is added
    std::uint64_t before = 0;
    groups::for_pairs(values, indices, [&](const groups::Pairs& pairs) {
      if (const std::uint64_t place = groups::first_outside(pairs, groups(), threads); place != groups::kNone) {
        std::uint64_t group = 0;
        pairs.load_groups(place, 1, &group);
        const std::string shown = is_signed(indices.type()) ? std::to_string(static_cast<std::int64_t>(group)) : std::to_string(group);
        throw Error(ErrorKind::usage,
                    fmt::format("element {} has the index {}, and there {}", before + place, shown,
                                groups() == 1 ? "is one group, 0" : fmt::format("are {} groups, numbered from 0", groups())));
      }
      before += pairs.size();
    });
  }
  groups::for_pairs(values, indices, [&](const groups::Pairs& pairs) {
    core::visit(values.type(),
                [&](auto element) { groups::add_pairs<groups::NumberOf<decltype(element)>>(state.table, pairs, threads, state.outside); });
  });
  state.kind = std::max(state.kind, groups::kind_of(values.type()));
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

DType GroupSums::type() const noexcept {
  switch (state_->kind) {
    case groups::Kind::unsigned_integers:
      return DType::uint64;
    case groups::Kind::integers:
      return DType::int64;
    default:
      return DType::float64;
  }
}

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

namespace groups {
namespace {

Value extremum(const Table& table, std::uint64_t group, bool extrema, NanPolicy nan, DType type, Table::Bound Table::Extrema::*which) {
  if (!extrema) {
    throw Error(ErrorKind::usage,
                "the extrema of these groups were not looked for: ask for them when the sums are made (GroupOptions::extrema)");
  }
  const std::uint64_t count = table.count(group), nans = table.nans(group);
  if (count == 0) throw Error(ErrorKind::no_answer, fmt::format("group {} has no elements", group));
  if (nans != 0 && nan == NanPolicy::propagate) return {std::numeric_limits<double>::quiet_NaN(), DType::float64};
  if (count == nans) throw Error(ErrorKind::no_answer, fmt::format("group {} has only NaNs", group));
  const Table::Bound& bound = table.extrema(group).*which;
  __extension__ using Wide = __int128;
  if (type == DType::float64) return {bound.high, DType::float64};
  const Wide value = static_cast<Wide>(bound.high) + bound.low;
  if (type == DType::int64) return {static_cast<std::int64_t>(value), DType::int64};
  return {static_cast<std::uint64_t>(value), DType::uint64};
}

}  // namespace
}  // namespace groups

Value GroupSums::min(std::uint64_t group, NanPolicy nan) const {
  state_->require(group);
  return groups::extremum(state_->table, group, state_->options.extrema, nan, type(), &groups::Table::Extrema::min);
}
Value GroupSums::max(std::uint64_t group, NanPolicy nan) const {
  state_->require(group);
  return groups::extremum(state_->table, group, state_->options.extrema, nan, type(), &groups::Table::Extrema::max);
}

}  // namespace samesum
