#include "ladder/tune/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace samesum::tuning {
namespace {

constexpr std::uint32_t kGroupSizes[] = {64, 128, 256, 512, 1024};
constexpr std::uint64_t kMaxSmallBytes = std::uint64_t{128} << 20;  // for the small_* families

class Space {
 public:
  Space(const DeviceInfo& info, DType type, std::uint64_t bytes) : info_(info), type_(type), bytes_(bytes) {}

  // Shapes of the one launch for small arrays: a group for each tile, and groups that stream.
  void add_small(Operation operation) {
    if (!info_.has(Capability::subgroups) || bytes_ > kMaxSmallBytes) return;
    for (const std::uint32_t group_size : kGroupSizes) {
      for (const std::uint32_t loads : {1, 2, 4, 8}) {
        for (const std::uint32_t items : {1024, 2048}) {
          Shape shape{.group_size = group_size, .loads = loads, .resident = std::max(items / group_size / loads, 1u)};
          add({record(operation, shape)});
          shape.stream = true;
          add({record(operation, shape)});
        }
      }
    }
  }

  void add_passes(Operation operation, Operation small) {
    const bool windows = operation == Operation::sum || operation == Operation::dot;
    for (const std::uint32_t group_size : kGroupSizes) {
      for (const std::uint32_t loads : {1, 2, 4}) {
        for (const std::uint32_t columns : {8, 32}) {
          for (const std::uint32_t steps : {1, 2, 8}) {
            if (steps > 1 && (!windows || bytes_ < std::uint64_t{1} << 24)) continue;
            const Shape shape{.group_size = group_size, .loads = loads, .columns = columns, .steps = steps};
            add({record(small, Shape{}), record(operation, shape)});
          }
        }
      }
    }
  }

  void add_extrema() {
    const bool polls = info_.has(Capability::subgroups) && info_.has(Capability::int64_atomics) && info_.max_group_size >= 1024;
    for (const std::uint32_t group_size : kGroupSizes) {
      for (const std::uint32_t loads : {1, 2, 4, 8}) {
        Shape shape{.group_size = group_size, .loads = loads, .resident = loads == 8 ? 1 : std::max(1024 / group_size, 1u)};
        shape.drawn = true;
        add({record(Operation::extrema, shape)});
        shape.drawn = false;
        shape.groups = 1;
        if (bytes_ > std::uint64_t{1} << 16) shape.per_unit = true;
        add({record(Operation::extrema, shape)});
        if (!polls) continue;
        shape.polled = true;
        add({record(Operation::extrema, shape)});
        shape.groups = 256;
        shape.per_unit = false;
        shape.single_tiles = true;
        if (bytes_ <= std::uint64_t{16} * group_size * loads * shape.groups) add({record(Operation::extrema, shape)});
      }
    }
  }

  // Steps of a size without a common factor with the number visit all.
  std::vector<Candidate> spread() {
    const std::size_t size = all_.size();
    std::size_t step = size * 5 / 13 + 1;
    while (std::gcd(step, size) != 1) ++step;
    std::vector<Candidate> spread;
    for (std::size_t i = 0, at = 0; i < size; ++i, at = (at + step) % size) spread.push_back(all_[at]);
    return spread;
  }

 private:
  Record record(Operation operation, const Shape& shape) const {
    Record record;
    record.operation = operation;
    record.above_bytes = bytes_ / 4;
    record.max_bytes = bytes_;
    record.shape = shape;
    record.types.set(static_cast<std::size_t>(type_));
    return record;
  }
  void add(std::vector<Record> records) {
    const Record& last = records.back();
    if (last.shape.group_size > info_.max_group_size || !why_invalid(last.operation, last.shape).empty()) return;
    Candidate candidate{std::move(records)};
    if (std::ranges::find(all_, candidate.records, &Candidate::records) == all_.end()) all_.push_back(std::move(candidate));
  }

  const DeviceInfo& info_;
  DType type_;
  std::uint64_t bytes_;
  std::vector<Candidate> all_;
};

}  // namespace

const std::vector<Tunable>& tunables() {
  static const std::vector<Tunable> all{{"sum", ops::sum, false}, {"dot", ops::dot, true}, {"extrema", ops::extrema, false}};
  return all;
}

bool Candidate::is_used(const std::string& configuration) const {
  const Record& last = records.back();
  const bool passes = records.size() > 1;
  const bool is_pass = configuration.find("columns=") != std::string::npos;
  return is_pass == passes && (configuration + " ").find(fmt::format("group_size={} ", last.shape.group_size)) != std::string::npos;
}

std::vector<Candidate> candidates(const DeviceInfo& info, std::string_view operation, DType type, std::uint64_t bytes) {
  Space space(info, type, bytes);
  const bool windows = !is_integer(type) && info.has(Capability::fp64);
  if (operation == "sum") {
    space.add_small(Operation::small_sum);
    space.add_passes(windows ? Operation::sum : Operation::sum_in_bins, Operation::small_sum);
  } else if (operation == "dot") {
    space.add_small(Operation::small_dot);
    space.add_passes(windows ? Operation::dot : Operation::dot_in_bins, Operation::small_dot);
  } else {
    space.add_extrema();
  }
  return space.spread();
}

}  // namespace samesum::tuning
