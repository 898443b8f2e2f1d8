// Selection on a device: digits are counted there, and the keys of small buckets come to the host.
#include "device/kernels/program.hpp"
#include "quantile/ranks.hpp"
#include "quantile/select.hpp"
#include "reduce/device/launcher.hpp"
#include "reduce/device/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum::selection {
namespace {

constexpr std::uint32_t kGroupSize = 256, kCpuGroupSize = 16;
constexpr std::uint32_t kUnitSize = 1024;                       // work-items on a compute unit, where the device cannot tell
constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 16;      // gathered at once: fewer than of the host, which sorts them
constexpr std::uint64_t kMaxLaunched = std::uint64_t{1} << 31;  // elements of a launch: counters hold their number

// Elements of a launch, as walk.h reads them.
struct Part {
  const statistics::TermCode* term;  // or null
  std::vector<device::Argument> array;
  statistics::Walk walk;
  std::uint64_t count;
};
using Parts = std::function<void(const std::function<void(const Part&)>&)>;

// Keys that begin with `bits` bits, which are `prefix`, and the ranks that are wanted among them.
struct Bucket {
  std::uint64_t prefix = 0;
  int bits = 0;
  std::uint64_t size = 0;
  std::vector<Wanted> wanted = {};
};

struct Room {
  device::Memory found, keys;
};

class DeviceSelection {
 public:
  DeviceSelection(device::Device& device, DType type, const Parts& parts)
      : device_(device),
        type_(type),
        parts_(parts),
        key_bits_(8 * static_cast<int>(size_of(type))),
        group_size_(std::min(device.info().max_group_size, device.info().is_cpu ? kCpuGroupSize : kGroupSize)) {}

  Selected run(const Ranks& ranks) {
    std::uint64_t count = 0;
    const std::vector<std::uint64_t> counts = count_digits({}, &count);
    const std::uint64_t nans = counts.back();
    const std::vector<std::uint64_t> wanted = ranks(count - nans, nans);
    found_.resize(wanted.size());
    Bucket all{0, 0, count - nans, {}};
    for (std::size_t i = 0; i < wanted.size(); ++i) all.wanted.push_back({wanted[i], i});
    if (!wanted.empty()) split(all, counts);
    while (!open_.empty()) {
      const Bucket bucket = std::move(open_.back());
      open_.pop_back();
      if (bucket.size > kMaxKeys) {
        split(bucket, count_digits(bucket));
      } else {
        find_ranks(gather(bucket), bucket.wanted, found_);
      }
    }
    Selected selected{count, nans, {}};
    for (const std::uint64_t key : found_) selected.values.push_back(value_of(key, type_));
    return selected;
  }

  std::string text() const { return fmt::format("group_size={}", group_size_); }

 private:
  int digit_bits(const Bucket& bucket) const { return std::min(kDeviceDigitBits, key_bits_ - bucket.bits); }

  // Enqueues `most` = 0 to count digits, or to gather that many keys.
  void launch(const Part& part, const Bucket& bucket, std::uint32_t most, const Room& room) {
    const std::uint32_t loads_each = device_.info().is_cpu || part.term == nullptr ? kLoads : part.term->arrays > 1 ? 2 : kLoads;
    const device::Kernel kernel =
        device::build(device_, select_source(type_, group_size_, loads_each, part.walk.strided, part.term), "select_keys");
    const int rest = key_bits_ - bucket.bits, digit = digit_bits(bucket);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - key_bits_), mask = bucket.bits == 0 ? 0 : all >> rest << rest;
    std::vector<device::Argument> arguments = part.array;
    arguments.insert(arguments.end(),
                     {part.walk.row_length, part.walk.head, part.walk.row_loads, part.walk.loads, part.count,
                      bucket.bits == 0 ? std::uint64_t{0} : bucket.prefix << rest, mask, static_cast<std::uint32_t>(rest - digit),
                      (std::uint32_t{1} << digit) - 1, most, room.found, room.keys});
    const std::uint32_t resident = reduction::resident_groups(device_, kernel, group_size_, std::max(kUnitSize / group_size_, 1u));
    const std::uint64_t tiles = part.walk.loads / (std::uint64_t{group_size_} * loads_each) + 1;
    device_.launch(kernel, {reduction::groups_for(tiles, resident), group_size_}, arguments);
  }

  // The elements of `bucket` by their next digit, and the number of NaNs; in all, how many there are.
  std::vector<std::uint64_t> count_digits(const Bucket& bucket, std::uint64_t* size = nullptr) {
    std::vector<std::uint64_t> counts(kCounters);
    const std::vector<std::uint32_t> zeros(kCounters);
    std::vector<std::uint32_t> found(kCounters);
    parts_([&](const Part& part) {
      with_room([&](const Room& room) {
        device_.write(room.found, 0, zeros.data(), kCounters * sizeof zeros[0]);
        launch(part, bucket, 0, room);
        device_.read(room.found, 0, found.data(), kCounters * sizeof found[0]);
      });
      for (std::size_t i = 0; i < kCounters; ++i) counts[i] += found[i];
      if (size != nullptr) *size += part.count;
    });
    return counts;
  }

  std::vector<std::uint64_t> gather(const Bucket& bucket) {
    std::vector<std::uint64_t> keys;
    const std::uint32_t zero = 0;
    parts_([&](const Part& part) {
      std::uint32_t found = 0;
      std::vector<std::byte> bytes;
      with_room([&](const Room& room) {
        device_.write(room.found, 0, &zero, sizeof zero);
        launch(part, bucket, static_cast<std::uint32_t>(kMaxKeys), room);
        device_.read(room.found, 0, &found, sizeof found);
        if (found > kMaxKeys) changed();
        bytes.resize(found * size_of(type_));
        if (found != 0) device_.read(room.keys, 0, bytes.data(), bytes.size());
      });
      for (std::size_t i = 0; i < found; ++i) {
        std::uint64_t key = 0;
        std::memcpy(&key, &bytes[i * size_of(type_)], size_of(type_));
        keys.push_back(key);
      }
    });
    if (keys.size() != bucket.size) changed();
    return keys;
  }

  template <class Body>
  void with_room(const Body& body) {
    constexpr const char* kName = "selection";
    auto room = device_.plans().take_or<Room>(kName, [&] {
      return std::make_shared<Room>(
          Room{device_.allocate(kCounters * sizeof(std::uint32_t)), device_.allocate(kMaxKeys * sizeof(std::uint64_t))});
    });
    body(*room);
    device_.plans().give_back(kName, std::move(room));
  }

  void split(const Bucket& bucket, const std::vector<std::uint64_t>& counts) {
    const int digit = digit_bits(bucket);
    std::uint64_t before = 0;
    auto next = bucket.wanted.begin();
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
      const std::uint64_t end = before + counts[i];
      Bucket part{bucket.prefix << digit | i, bucket.bits + digit, counts[i], {}};
      for (; next != bucket.wanted.end() && next->rank < end; ++next) part.wanted.push_back({next->rank - before, next->index});
      before = end;
      if (part.wanted.empty()) continue;
      if (part.bits < key_bits_) {
        open_.push_back(std::move(part));
      } else {
        for (const Wanted& wanted : part.wanted) found_[wanted.index] = part.prefix;
      }
    }
    if (before != bucket.size) changed();
  }

  static constexpr std::uint32_t kLoads = 4;
  static constexpr std::size_t kCounters = (std::size_t{1} << kDeviceDigitBits) + 1;

  device::Device& device_;
  DType type_;
  const Parts& parts_;
  int key_bits_;
  std::uint32_t group_size_;
  std::vector<Bucket> open_;
  std::vector<std::uint64_t> found_;
};

}  // namespace

device::Source select_source(DType type, std::uint32_t group_size, std::uint32_t loads, bool strided, const statistics::TermCode* term) {
  device::Source source{{"device/cache_policy.h", "reduce/device/elements.h", "reduce/device/walk.h"}, reduction::element_defines(type)};
  reduction::add_defines(source, {{"GROUP_SIZE", group_size},
                                  {"LOADS", loads},
                                  {"DIGIT_BITS", kDeviceDigitBits},
                                  {"STRIDED", strided},
                                  {"CACHED", 0},
                                  {"TERM", term != nullptr}});
  if (term == nullptr) {
    source.files.emplace_back("quantile/select.cl");
    return source;
  }
  source.files.insert(source.files.end(), term->files.begin(), term->files.end());
  source.text = term->text;
  source.after = {"quantile/select.cl"};
  return source;
}

Selected select(statistics::Terms& terms, const Ranks& ranks, const Done& done, std::string& configuration) {
  device::Device& device = terms.device();
  const device::Lock lock(device.mutex());
  const std::uint64_t most = terms.part_size(kMaxLaunched), in_load = 16 / size_of(terms.type());
  const Parts parts = [&](const std::function<void(const Part&)>& body) {
    for (std::uint64_t first = 0; first < terms.size(); first += most) {
      const std::uint64_t count = std::min(most, terms.size() - first);
      const statistics::Term term = terms.part(first, count, std::nullopt, lock);
      const std::uint64_t loads = (count - term.head) / in_load;
      body({&term.code, term.arguments, {term.row_length, 0, loads, term.head, false}, count});
      terms.check(lock);
      const device::Unlocked unlocked(device.mutex());
      done(count);
    }
  };
  DeviceSelection selection(device, terms.type(), parts);
  configuration = selection.text();
  return selection.run(ranks);
}

Selected select(const Array& data, const Ranks& ranks, const Done& done, std::string& configuration) {
  device::Device& device = data.buffer().device().implementation();
  const Parts parts = [&](const std::function<void(const Part&)>& body) {
    device::for_runs(
        data, core::Order::memory,
        [&](const device::Run& run) {
          const std::uint64_t most = std::max<std::uint64_t>(run.part_size(kMaxLaunched), 1);
          for (std::uint64_t first = 0; first < run.count; first += most) {
            const device::Run part = run.part(first, std::min(most, run.count - first));
            {
              const device::Lock lock(device.mutex());
              body({nullptr,
                    {part.memory, part.offset, part.stride, part.row_stride},
                    statistics::walk_of(device, part, part, data.type(), false),
                    part.count});
            }
            done(part.count);
          }
        },
        true);
  };
  DeviceSelection selection(device, data.type(), parts);
  configuration = selection.text();
  return selection.run(ranks);
}

}  // namespace samesum::selection
