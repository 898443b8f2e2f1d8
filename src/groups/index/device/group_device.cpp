#include "groups/index/device/group_device.hpp"

#include "core/threads/chunks.hpp"
#include "device/memory/buffer.hpp"
#include "groups/device/axes_device.hpp"
#include "groups/index/device/group_digits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::groups {
namespace {

constexpr std::uint32_t kWindowBits = 57;  // of fields.h
// Where in the pair's upper digit the greatest element has its highest bit: there is room for somewhat greater ones, and most elements lie
// in that digit; with fields, in two of them.
constexpr std::uint32_t kPlace = 30, kPlaceOfFields = 20;
constexpr std::uint64_t kAdditions = std::uint64_t{1} << 28;  // for which a digit has room
constexpr std::uint64_t kLooked = std::uint64_t{1} << 24;     // elements of which a later sample is worth its time
constexpr std::uint64_t kFirstLooked = 1 << 20;               // and a first one, for runs
constexpr std::uint32_t kGroupSize = 512, kRunsGroupSize = 256, kCpuGroupSize = 16;
constexpr std::uint64_t kRunsGroups = 12;  // of a compute unit, which holds three at once: by measurement on an H100
// Of a group of work-items: as much as lets two of them be on a compute unit; and more, if sums of all groups find room then.
constexpr std::uint64_t kLocalBytes = 100 << 10, kMoreLocalBytes = 200 << 10, kCpuLocalBytes = 32 << 10, kReservedBytes = 4 << 10;
constexpr std::uint32_t kVectorsOfValues = 1, kVectorsOfIndices = 2;  // of loads.h
constexpr std::string_view kRoom = "sums by index";                   // the plan that keeps memory
constexpr std::uint64_t kMaxKept = std::uint64_t{1} << 28, kMaxKeptPart = 32, kLeastOthers = 1 << 16;

// Types whose numbers are added in the same way.
DType number_kind(DType type) {
  if (is_integer(type)) return size_of(type) == 8 ? DType::int64 : DType::int32;
  return type == DType::float64 ? DType::float64 : DType::float32;
}

// Digits for all numbers of a kind, at any phase; and for their squares.
std::uint32_t digits_of(DType kind) { return is_integer(kind) ? 3 : kind == DType::float64 ? 63 : 10; }
std::uint32_t square_digits_of(DType kind) {
  if (is_integer(kind)) return kind == DType::int64 ? 5 : 3;
  return kind == DType::float64 ? 125 : 18;
}

int mantissa_bits(DType kind) { return is_integer(kind) ? 8 * static_cast<int>(size_of(kind)) : kind == DType::float64 ? 53 : 24; }
// Of 1.0 the highest bit, in such units, plus one.
std::uint32_t one_of(DType kind) { return static_cast<std::uint32_t>(1 - unit_of(kind)); }

std::uint32_t group_size_on(const DeviceInfo& info) {
  return std::bit_floor(std::max(1u, std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize)));
}

// Digits that kernels hold of squares: SQUARE_DIGITS of shares.h.
std::uint32_t held_square_digits(DType kind) { return size_of(kind) == 8 ? 4 : 2; }

// Of a sum in local memory, with the number of its group.
std::uint64_t slot_bytes(bool squares, DType kind) { return 24 + (squares ? 8 * held_square_digits(kind) : 0); }

// Local memory for sums and extremes, of a group of work-items.
std::uint64_t local_budget(const device::Device& device, std::uint64_t most) {
  // NVIDIA's OpenCL launches no kernel that takes all of the 48 KiB that it reports.
  const std::uint64_t room = device.launch_local_bytes(), usable = room - std::min(room / 8, kReservedBytes);
  return std::min(usable, device.info().is_cpu ? kCpuLocalBytes : most);
}

}  // namespace

device::Source index_sums_source(const IndexSums& what, const Indexing* indexing) {
  const DType kind = number_kind(what.type);
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const std::string element = what.type == DType::float32   ? "uint"
                              : what.type == DType::float64 ? "ulong"
                                                            : std::string(element_name(what.type));
  const std::string bits = what.type == DType::float16    ? "as_uint(half_to_float(x))"
                           : what.type == DType::bfloat16 ? "((uint)(x) << 16)"
                                                          : "(x)";
  device::Source source{{"groups/index/device/digits.h", "groups/index/device/shares.h"},
                        {{"VALUE", element},
                         {"FLOATS", is_integer(kind)         ? "0"
                                    : kind == DType::float64 ? "64"
                                                             : "32"},
                         {"FLOAT_BITS(x)", bits},
                         {"SIGNED", flag(is_signed(what.type))},
                         {"VALUE_BITS", std::to_string(mantissa_bits(kind))},
                         {"INDEX", indexing != nullptr ? "Sample"
                                   : what.segments     ? "ulong"
                                                       : std::string(element_name(what.index))},
                         {"SEGMENTS", flag(what.segments)},
                         {"FIELDS", flag(what.fields)},
                         {"COUNTS", flag(what.counts)},
                         {"SQUARES", flag(what.squares)},
                         {"EXTREMA", flag(what.extrema)},
                         {"GROUP_SIZE", std::to_string(what.group_size)},
                         {"ITEMS", std::to_string(what.items)}}};
  if (indexing != nullptr) {
    source.files.insert(source.files.end(), indexing->files.begin(), indexing->files.end());
    source.defines.insert(source.defines.end(), indexing->defines.begin(), indexing->defines.end());
  }
  if (what.fields) source.files.emplace_back("groups/index/device/fields.h");
  source.files.emplace_back("groups/index/device/loads.h");
  if (what.runs) {
    source.files.insert(source.files.end(),
                        {"groups/index/device/runs.h", "groups/index/device/divided_tile.h", "groups/index/device/by_runs.cl"});
  } else {
    source.files.emplace_back("groups/index/device/by_index.cl");
  }
  return source;
}

device::Source samples_source(IndexSums what) {
  what.segments = what.runs = what.fields = what.counts = what.squares = what.extrema = false;
  device::Source source = index_sums_source(what);
  source.files.back() = "groups/index/device/samples.cl";
  return source;
}

device::Source digits_source(const IndexSums& what) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  return {{"exact/exact.h", "groups/index/device/digits.h", "groups/index/device/digits.cl"},
          {{"FLOATS", flag(!is_integer(what.type))}, {"COUNTS", flag(what.counts)}, {"GROUP_SIZE", std::to_string(what.group_size)}}};
}

// The elements of an array on a device as runs, part by part in the order of their indices.
class DeviceTable::Parts {
 public:
  explicit Parts(const Array& data) : size_(size_of(data.type())), run_(device::single_run(data, core::Order::index)) {
    if (run_ && run_->offset % size_ != 0) run_.reset();
    if (!run_) gather_.emplace(data, core::Order::index);
  }
  std::uint64_t most() const noexcept { return run_ ? kAdditions : (std::uint64_t{1} << 26) / size_; }
  device::Run part(std::uint64_t first, std::uint64_t count, const device::Lock& lock) {
    return run_ ? run_->part(first, count) : gather_->part(first, count, lock);
  }

 private:
  std::uint64_t size_;
  std::optional<device::Run> run_;
  std::optional<device::Gather> gather_;
};

std::unique_ptr<DeviceTable> DeviceTable::make(const samesum::Device& device, std::uint64_t groups, DType type,
                                               const GroupOptions& options) {
  const DeviceInfo& info = device.info();
  if (!info.has(Capability::kernels) || !info.has(Capability::int64_atomics) || groups == 0 || groups >= UINT32_MAX) return nullptr;
  std::unique_ptr<DeviceTable> table(new DeviceTable(device, groups, type, options));
  if (8 * groups * table->rows_ > std::min(info.max_allocation_bytes, info.memory_bytes / 4)) return nullptr;
  table->allocate();
  return table;
}

DeviceTable::DeviceTable(const samesum::Device& device, std::uint64_t groups, DType type, const GroupOptions& options)
    : handle_(device),
      device_(handle_.implementation()),
      groups_(groups),
      squares_(options.squares),
      counts_(options.counts),
      extrema_(options.extrema),
      kind_(number_kind(type)),
      signed_(is_signed(type)) {
  sums_.rows = digits_of(kind_);
  products_.rows = squares_ ? square_digits_of(kind_) : 0;
  rows_ = extrema_row() + (extrema_ ? 2 : 0);
  digits_source_ = digits_source(kernels_for(kind_, DType::int32, false));
  other_words_ = counts_ ? 1 : (groups + 63) / 64;
}

void DeviceTable::allocate() {
  used_ = {{0, rows_}};
  const device::Lock lock(device_.mutex());
  if (const auto room = device_.plans().take<Room>(kRoom)) {
    if (room->planes.bytes >= 8 * groups_ * rows_ && room->others.bytes >= 8 * other_words_) {
      planes_ = room->planes;
      others_ = room->others;
      words_ = room->words;
      if (room->groups == groups_ && room->rows == rows_) used_ = room->used;
      return;
    }
  }
  planes_ = device_.allocate(8 * groups_ * rows_);
  others_ = device_.allocate(std::max<std::uint64_t>(8 * other_words_, kLeastOthers));
  words_ = device_.allocate(4 * kWords);
}

// Memory that is not large, or a small part of the device's, is kept for the next table: to allocate and free 2 GB takes milliseconds.
DeviceTable::~DeviceTable() {
  const std::uint64_t most = std::max(kMaxKept, device_.info().memory_bytes / kMaxKeptPart);
  if (planes_.bytes == 0 || planes_.bytes > most || !device_.mutex().try_lock()) return;
  if (cleared_) used_ = launched_ ? std::vector<Rows>{{0, rows_}} : rows_used();
  device_.plans().give_back(std::string(kRoom), std::make_shared<Room>(Room{planes_, others_, words_, groups_, rows_, used_}));
  device_.mutex().unlock();
}

// Planes that are not zero; launches have been collected.
std::vector<DeviceTable::Rows> DeviceTable::rows_used() const {
  std::vector<Rows> used;
  const auto add = [&used](std::uint64_t first, std::uint64_t count) {
    if (count != 0) used.push_back({first, count});
  };
  const std::uint64_t specials = sums_.rows, counts = specials + kSpecials, squares = counts + (counts_ ? 1 : 0);
  if (sums_.lowest <= sums_.highest) add(sums_.lowest, sums_.last() - sums_.lowest + 1);
  if (specials_) add(specials, kSpecials);
  if (squares_ && products_.lowest <= products_.highest) add(squares + products_.lowest, products_.last() - products_.lowest + 1);
  add(counts, counts_ ? 1 : 0);
  add(extrema_row(), extrema_ ? 2 : 0);
  return used;
}

std::uint32_t DeviceTable::extrema_row() const noexcept { return sums_.rows + kSpecials + (counts_ ? 1 : 0) + products_.rows; }

bool DeviceTable::takes(const samesum::Device& device, DType type) const {
  return &device.implementation() == &device_ && number_kind(type) == kind_ && (!extrema_ || is_signed(type) == signed_);
}

IndexSums DeviceTable::kernels_for(DType type, DType index, bool segments) const {
  const DeviceInfo& info = device_.info();
  const bool runs = segments || runs_, fields = !runs && size_of(kind_) == 4 && groups_ <= most_slots();
  const std::uint32_t group_size = runs ? std::min(kRunsGroupSize, group_size_on(info)) : group_size_on(info);
  const std::uint32_t items = info.is_cpu ? 1 : size_of(type) == 8 ? 4 : 8;
  return {type, index, segments, runs, fields, counts_, squares_, extrema_, group_size, items};
}

device::Source DeviceTable::samples_for(DType type, DType index) const {
  IndexSums what = kernels_for(type, index, false);
  what.group_size = group_size_on(device_.info());
  return samples_source(what);
}

std::uint64_t DeviceTable::room() const noexcept {
  // A square of 64 bits is added as three numbers.
  const std::uint64_t most = squares_ && size_of(kind_) == 8 ? kAdditions / 4 : kAdditions;
  return most - pending_;
}

std::uint64_t DeviceTable::known_groups() const { return extrema_ && 16 * groups_ <= local_budget(device_, kLocalBytes) / 2 ? groups_ : 0; }

std::uint64_t DeviceTable::most_slots() const {
  return std::max<std::uint64_t>((local_budget(device_, kMoreLocalBytes) - 16 * known_groups()) / slot_bytes(squares_, kind_), 1);
}

DeviceTable::Geometry DeviceTable::geometry(std::uint64_t count, bool runs) const {
  const DeviceInfo& info = device_.info();
  Geometry shape;
  shape.group_size = runs ? std::min(kRunsGroupSize, group_size_on(info)) : group_size_on(info);
  const std::uint64_t most = most_slots();
  if (runs) {
    shape.slots = 1;  // of no use: the elements of a group are neighbours
  } else if (groups_ <= most) {
    // Several sums of each group where there are few groups, so that neighbouring work-items do not wait for each other.
    constexpr std::uint64_t kSlots = 1024, kCopies = 32;
    const std::uint64_t copies = info.is_cpu ? 1 : std::min(kSlots, most) / groups_;
    shape.copies = static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(copies, 1, kCopies)));
    shape.slots = static_cast<std::uint32_t>(groups_) * shape.copies;
  } else {
    // Not more: the rest of a unit's fast memory caches the bits of `others`, of which each element reads one. 2^20 unsorted keys took 1034
    // µs with 1000 slots and 1476 µs with 4266, with Zipf's law 872 and 979 (H100, 25 November 2026).
    constexpr std::uint64_t kFrequent = 1024;
    shape.slots = static_cast<std::uint32_t>(std::min(most, kFrequent));
  }
  shape.known = static_cast<std::uint32_t>(known_groups());
  shape.local_bytes =
      static_cast<std::uint32_t>((slot_bytes(squares_, kind_) * shape.slots + 15) / 16 * 16 + 16 * std::uint64_t{shape.known});
  const std::uint64_t tile = std::uint64_t{shape.group_size} * kernels_for(kind_, DType::int32, false).items;
  const std::uint64_t tiles = (count + tile - 1) / tile;
  const std::uint64_t resident = info.is_cpu ? 1
                                 : runs      ? kRunsGroups
                                             : std::clamp<std::uint64_t>(2 * kLocalBytes / shape.local_bytes, 1, 2);
  const std::uint64_t groups = std::clamp<std::uint64_t>(info.compute_units * resident, 1, tiles);
  shape.chunk = (tiles + groups - 1) / groups * tile;
  shape.groups = static_cast<std::uint32_t>((count + shape.chunk - 1) / shape.chunk);
  return shape;
}

// Launches a kernel whose work-items stride over `count`.
void DeviceTable::walk(const device::Kernel& kernel, std::uint64_t count, std::span<const device::Argument> arguments) {
  const DeviceInfo& info = device_.info();
  const std::uint32_t size = group_size_on(info);
  const std::uint64_t most = std::uint64_t{info.compute_units} * (info.is_cpu ? 4 : 8);
  const std::uint64_t groups = std::clamp<std::uint64_t>((count + size - 1) / size, 1, most);
  device_.launch(kernel, {static_cast<std::uint32_t>(groups), size}, arguments);
}

void DeviceTable::clear() {
  const device::Kernel kernel = device::build(device_, digits_source_, "clear_words");
  const auto zero = [&](const device::Memory& memory, std::uint64_t first, std::uint64_t count) {
    const device::Argument arguments[] = {memory, first, count};
    walk(kernel, count, arguments);
  };
  for (const Rows& rows : used_) zero(planes_, groups_ * rows.first, groups_ * rows.count);
  zero(others_, 0, other_words_);
  const std::array<std::uint32_t, kWords> zeros{};
  device_.write(words_, 0, zeros.data(), sizeof zeros);
  used_.clear();
  launched_ = seen_before_ = specials_ = false;
  fresh_ = cleared_ = true;
  pending_ = 0;
  for (Digits* digits : {&sums_, &products_}) {
    digits->lowest = ~0u;
    digits->highest = 0;
  }
}

// Chooses the pair for elements of which `greatest` is the highest bit's number, and the phase where none is chosen yet.
std::uint32_t DeviceTable::Digits::place_pair(std::uint64_t greatest, bool fresh, bool fields, std::uint32_t held) {
  const std::uint32_t place = fields ? kPlaceOfFields : kPlace;
  if (fresh) phase = static_cast<std::uint32_t>((kDigitBits + place - greatest % kDigitBits) % kDigitBits);
  // Fields do not reach as far up as the pair.
  const std::uint64_t highest_bit = greatest + phase, beyond = fields ? 2 * kDigitBits - kWindowBits : 0;
  const std::uint64_t digit = (highest_bit + beyond) / kDigitBits;
  pair = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(digit, held - 1, rows - 1) - (held - 1));
  lowest = std::min(lowest, pair);
  highest = std::max(highest, pair + held - 1);
  return pair;
}

// Clears the table where it is new; looks where the elements lie and, if `indices` are given, whether sums are best made run by run. With
// `read` the caller has launched what changes words, too.
DeviceTable::Seen DeviceTable::look(const device::Run& values, DType type, const device::Run* indices, DType index_type, bool segments,
                                    bool read) {
  if (!cleared_) clear();
  constexpr std::uint64_t kSample = std::uint64_t{1} << 14;
  const auto place = [](const device::Run& run, DType of) {
    const auto bytes = static_cast<std::int64_t>(size_of(of));
    return std::pair(run.offset / size_of(of), run.stride / bytes);
  };
  // A look at few elements would take longer than it saves.
  const bool for_runs = indices != nullptr && indices->count >= (fresh_ ? kFirstLooked : kLooked);
  const bool for_pair = !is_integer(kind_) && (fresh_ || values.count >= kLooked);
  if (is_integer(kind_)) {
    sums_.lowest = products_.lowest = 0;
    sums_.highest = 1;
    products_.highest = held_square_digits(kind_) - 1;
  }
  Seen seen{};
  static_assert(seen.size() == kWords - kGreatest);
  if (!for_runs && !for_pair && !read) return seen;
  if (seen_before_ && !read) clear_seen();
  const device::Source source = samples_for(type, index_type);
  if (for_runs) {
    const auto [from, stride] = place(*indices, index_type);
    const device::Argument arguments[] = {indices->memory, from, stride, indices->count, indices->count / kSample, words_};
    walk(device::build(device_, source, "index_changes"), kSample, arguments);
  }
  if (for_pair) {
    const std::uint64_t apart = std::max<std::uint64_t>(values.count / kSample, 1);
    const auto [from, stride] = place(values, type);
    const device::Argument arguments[] = {values.memory, from, stride, values.count, apart, words_};
    walk(device::build(device_, source, "greatest_bit"), values.count / apart, arguments);
  }
  device_.read(words_, 4 * kGreatest, seen.data(), sizeof seen);
  seen_before_ = true;
  if (for_runs) runs_ = seen[kChanges - kGreatest] < kSample / 8;
  if (!for_pair) return seen;
  const std::uint32_t greatest = seen[0] != 0 ? seen[0] : one_of(kind_);
  sums_.place_pair(greatest - 1, fresh_, kernels_for(type, index_type, segments).fields);
  if (squares_) products_.place_pair(2 * std::uint64_t{greatest - 1} + 1, fresh_, false, held_square_digits(kind_));
  return seen;
}

void DeviceTable::launch(const IndexSums& what, const device::Source& source, const device::Run& values, const device::Run& indices,
                         std::uint64_t first, const Indexing* indexing) {
  const Geometry shape = geometry(values.count, what.runs);
  const std::uint64_t element = size_of(what.type), index = what.segments ? 8 : size_of(what.index);
  std::vector<device::Argument> arguments = {values.memory,
                                             values.offset / element,
                                             values.stride / static_cast<std::int64_t>(element),
                                             indices.memory,
                                             indices.offset / index,
                                             indices.stride / static_cast<std::int64_t>(index),
                                             values.count,
                                             shape.chunk,
                                             groups_,
                                             planes_,
                                             others_,
                                             words_,
                                             sums_.rows,
                                             sums_.phase,
                                             sums_.pair,
                                             products_.rows,
                                             products_.phase,
                                             products_.pair};
  if (what.runs) {
    arguments.emplace_back(first);
  } else {
    arguments.insert(arguments.end(), {shape.slots, shape.copies});
  }
  const auto in_vectors = [&](const device::Run& run, std::uint64_t size) {
    return run.stride == static_cast<std::int64_t>(size) && what.items * size % 16 == 0 &&
           (device_.misalignment(run.memory) + run.offset) % 16 == 0;
  };
  arguments.emplace_back((in_vectors(values, element) ? kVectorsOfValues : 0) | (in_vectors(indices, index) ? kVectorsOfIndices : 0));
  if (extrema_) arguments.emplace_back(shape.known);
  if (indexing != nullptr) arguments.insert(arguments.end(), indexing->arguments.begin(), indexing->arguments.end());
  device_.launch(device::build(device_, source, what.runs ? "sums_by_runs" : "sums_by_index"),
                 {.groups = shape.groups, .group_size = shape.group_size, .local_bytes = shape.local_bytes}, arguments);
  fresh_ = false;
  launched_ = true;
  pending_ += values.count;
}

void DeviceTable::clear_seen() {
  const Seen none{};
  device_.write(words_, 4 * kGreatest, none.data(), sizeof none);
  seen_before_ = false;
}

void DeviceTable::add(const device::Run& values, DType type, const device::Run& indices, DType index_type, const Indexing* indexing) {
  const device::Lock lock(device_.mutex());
  runs_ = false;
  const IndexSums what = kernels_for(type, index_type, false);
  const device::Source source = index_sums_source(what, indexing);
  for (std::uint64_t first = 0; first < values.count;) {
    if (room() < (values.count - first) / 2) propagate();
    const std::uint64_t count = std::min(room(), values.count - first);
    if (count == 0) {
      propagate();
      continue;
    }
    const device::Run part = values.part(first, count);
    look(part, type, nullptr, DType::int32);
    launch(what, source, part, indices.part(first, count), 0, indexing);
    first += count;
  }
}

DeviceTable::Outside DeviceTable::add(const Array& values, const Array& indices, bool ignore_outside) {
  Parts elements(values), places(indices);
  const device::Lock lock(device_.mutex());
  const std::uint64_t most = std::min(elements.most(), places.most()), size = values.size();
  const auto outside_at = [&](std::uint64_t first) {
    Outside outside{1, first, 0};
    const device::Run run = places.part(first, 1, lock);
    std::uint64_t bits = 0;
    device_.read(run.memory, run.offset, &bits, size_of(indices.type()));
    const int spare = 64 - 8 * static_cast<int>(size_of(indices.type()));
    outside.index = bits << spare >> spare;
    if (is_signed(indices.type())) outside.index = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << spare) >> spare);
    return outside;
  };
  // What was added before cannot be told from what is added now: so indices are looked at first.
  if (!ignore_outside && !fresh_) {
    collect();
    const device::Kernel kernel = device::build(device_, samples_for(values.type(), indices.type()), "first_outside");
    const auto bytes = static_cast<std::int64_t>(size_of(indices.type()));
    for (std::uint64_t first = 0; first < size; first += most) {
      const std::uint64_t count = std::min(most, size - first);
      const device::Run run = places.part(first, count, lock);
      const device::Argument arguments[] = {run.memory, run.offset / size_of(indices.type()), run.stride / bytes, count, groups_, words_};
      walk(kernel, count, arguments);
      std::uint32_t found = 0;
      device_.read(words_, 4 * kFirstOutside, &found, sizeof found);
      if (found == 0) continue;
      const std::uint32_t none = 0;
      device_.write(words_, 4 * kFirstOutside, &none, sizeof none);
      return outside_at(first + count - found);
    }
  }
  const bool undo = !ignore_outside && fresh_;
  Outside all;
  IndexSums what;
  device::Source source;
  for (std::uint64_t first = 0; first < size;) {
    if (room() < std::min(most, size - first) / 2) propagate();
    const std::uint64_t count = std::min({most, room(), size - first});
    const device::Run run = elements.part(first, count, lock), place = places.part(first, count, lock);
    look(run, values.type(), first == 0 ? &place : nullptr, indices.type());
    if (first == 0) {
      what = kernels_for(values.type(), indices.type(), false);
      source = index_sums_source(what);
    }
    launch(what, source, run, place, first, nullptr);
    if (const Outside found = collect(); found.count != 0) {
      if (undo) {
        used_ = rows_used();
        clear();
        return outside_at(first + count - found.first);
      }
      all.count += found.count;
    }
    first += count;
  }
  return all;
}

// Elements `begin` … `end` - 1 have the first and the last offset.
void DeviceTable::add_segments(Parts& elements, DType type, const device::Run& offsets, std::uint64_t begin, std::uint64_t end,
                               const device::Lock& lock) {
  const IndexSums what = kernels_for(type, DType::uint64, true);
  const device::Source source = index_sums_source(what);
  for (std::uint64_t first = begin; first < end;) {
    if (room() == 0) propagate();
    const std::uint64_t count = std::min({elements.most(), room(), end - first});
    const device::Run part = elements.part(first, count, lock);
    if (!looked_) look(part, type, nullptr, DType::int32, true);
    looked_ = false;
    launch(what, source, part, offsets, first, nullptr);
    first += count;
  }
}

void DeviceTable::add_segments(const Array& values, std::span<const std::uint64_t> offsets) {
  Parts elements(values);
  const device::Lock lock(device_.mutex());
  const device::Memory there = device_.allocate(offsets.size_bytes());
  device_.write(there, 0, offsets.data(), offsets.size_bytes());
  add_segments(elements, values.type(), {there, offsets.size(), 8, 0}, offsets.front(), offsets.back(), lock);
}

bool DeviceTable::add_segments_there(const Array& values, const Array& offsets) {
  if (!is_integer(offsets.type()) || size_of(offsets.type()) != 8 || !takes(offsets.buffer().device(), kind_)) return false;
  const std::optional<device::Run> run = device::single_run(offsets, core::Order::index);
  if (!run || run->stride != 8 || run->offset % 8 != 0 || values.size() == 0) return false;
  Parts elements(values);
  const device::Lock lock(device_.mutex());
  if (!cleared_) clear();
  if (seen_before_) clear_seen();
  const device::Argument arguments[] = {run->memory, run->offset / 8, run->count, values.size(), words_};
  walk(device::build(device_, samples_for(values.type(), offsets.type()), "offsets_seen"), run->count, arguments);
  const Seen seen =
      look(elements.part(0, std::min(elements.most(), values.size()), lock), values.type(), nullptr, offsets.type(), true, true);
  if (seen[kWrongOffsets - kGreatest] != 0) return false;
  const auto offset_at = [&](std::size_t word) { return std::uint64_t{seen[word + 1 - kGreatest]} << 32 | seen[word - kGreatest]; };
  looked_ = true;
  add_segments(elements, values.type(), *run, offset_at(kFirstOffset), offset_at(kLastOffset), lock);
  return true;
}

}  // namespace samesum::groups
