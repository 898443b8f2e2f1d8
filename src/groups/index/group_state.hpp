// What GroupSums hold.
#pragma once

#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "groups/index/device/group_device.hpp"
#include "groups/index/group_table.hpp"

#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace samesum {

struct GroupSums::State {
  State(std::uint64_t count, const GroupOptions& how) : groups(count), options(how), table(0, how.squares, how.extrema) {}
  State(const State& other)
      : groups(other.groups), options(other.options), table(other.host()), kind(other.kind), outside(other.outside), empty(other.empty) {}

  std::uint64_t groups;
  GroupOptions options;
  // What was added in host memory, where it has no groups before; and what was on a device, which reading brings here.
  mutable samesum::groups::Table table;
  mutable std::unique_ptr<samesum::groups::DeviceTable> there;
  samesum::groups::Kind kind = samesum::groups::Kind::none;
  std::uint64_t outside = 0;
  mutable bool empty = true;  // is nothing in `table`?
  mutable std::mutex reading;

  // All sums, in host memory.
  const samesum::groups::Table& host() const {
    const std::lock_guard lock(reading);
    if (table.groups() != groups) table.grow(groups);
    if (there) {
      there->merge_into(table, core::thread_count(groups * 512, options.threads));
      there.reset();
      empty = false;
    }
    return table;
  }
  // The same, to be changed.
  samesum::groups::Table& change() {
    host();
    empty = false;
    return table;
  }
  // The sums of elements of this type on a device, to which these are added; none where they cannot be.
  samesum::groups::DeviceTable* on(const Device& device, DType type) {
    if (there && there->takes(device, type)) return &*there;
    if (there) host();
    there = samesum::groups::DeviceTable::make(device, groups, type, options);
    return there.get();
  }
  void require_counts() const {
    if (options.counts) return;
    throw Error(ErrorKind::usage,
                "the elements of these groups were not counted: ask for that when the sums are made (GroupOptions::counts)");
  }
  // The sums of all groups, where all of them are on a device, and can be had there.
  bool round_there(NanPolicy nan, void* to, const Array* on_device) const {
    const std::lock_guard lock(reading);
    if (!there || !empty) return false;
    return there->round(nan, kind == samesum::groups::Kind::integers, to, on_device);
  }

  void require(std::uint64_t group) const {
    if (group < groups) return;
    throw Error(ErrorKind::usage, fmt::format("there is no group {}: there are {}, numbered from 0", group, groups));
  }
  void require_squares() const {
    if (options.squares) return;
    throw Error(ErrorKind::usage,
                "the squares of these groups were not added up: ask for them when the sums are made, by the option squares");
  }
  // A result for each group, on all cores.
  template <class T, class Body>
  Values each(const Body& body) const {
    Values values(dtype_of<T>(), {groups});
    auto* const to = static_cast<T*>(values.data());
    const std::uint32_t threads = core::thread_count(groups * 512, options.threads);
    std::mutex mutex;
    std::uint64_t failed = ~std::uint64_t{0};
    std::exception_ptr error;
    core::for_chunks(groups, threads, 1024, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
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
  // A moment of each group: where its doubles do not tell it, what `of` makes of it. Variances of no more than `ddof` elements are NaN.
  template <class Of>
  Values moments(std::uint32_t what, std::uint64_t ddof, NanPolicy nan, const Of& of) const {
    require_squares();
    require_counts();
    const core::DefaultFloatEnvironment environment;
    host();
    return each<double>([&](std::uint64_t group) {
      double moment = 0;
      if (table.moment(group, what, ddof, moment)) return moment;
      const std::uint64_t skipped = nan == NanPolicy::skip ? table.nans(group) : 0;
      const bool none = what != OF_NORM && table.count(group) - skipped <= ddof;
      return none ? std::numeric_limits<double>::quiet_NaN() : of(statistics(group));
    });
  }
  DType type() const {
    return kind == samesum::groups::Kind::unsigned_integers ? DType::uint64
           : kind == samesum::groups::Kind::integers        ? DType::int64
                                                            : DType::float64;
  }
  Values extrema(NanPolicy nan, samesum::groups::Table::Bound samesum::groups::Table::Extrema::*which) const;
  // Of sums that are in host memory.
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

}  // namespace samesum
