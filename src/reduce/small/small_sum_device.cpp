#include "reduce/small/small_sum_device.hpp"

#include "reduce/device/walk.hpp"
#include "tuning/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::reduction {
namespace {

tuning::Operation operation_of(Terms terms) {
  if (terms == Terms::elements) return tuning::Operation::small_sum;
  return terms == Terms::products ? tuning::Operation::small_dot : tuning::Operation::small_squares;
}

constexpr std::uint32_t kMaxGroups = 1024;                        // and
constexpr std::uint64_t kGroupElements = std::uint64_t{1} << 19;  // the most elements of a group: no limb overflows
constexpr std::uint64_t kMaxIntegers = std::uint64_t{1} << 25;    // nor a sum of 32-bit pieces
// Words of all groups: of a slot, of two limbs for each digit, and the counters, which is more than integers take; and for fixed-point
// numbers the state that launches leave to the next, and counted words.
std::uint64_t words_of(SmallSumEntries entries, std::uint64_t groups) {
  const std::uint64_t slots = groups * (8 + 2 * entries.digits + 4);
  return entries.lower_bits != 0 ? 16 + 32 + slots : slots;
}

// What the kernel needs of local memory: columns of bins, entries, and some.
constexpr std::uint64_t local_bytes(SmallSumEntries entries) {
  return std::uint64_t{4} * 33 * (2 * entries.digits + 4) + std::uint64_t{8} * entries.words() + 2048;
}

bool can_run(const DeviceInfo& info, DType type, Terms terms) {
  if (terms == Terms::elements && (type == DType::float16 || type == DType::bfloat16)) return false;
  if (info.local_bytes < local_bytes(small_sum_entries(type, terms))) return false;
  return info.has(Capability::fp64) && info.has(Capability::subgroups) && info.has(Capability::int64_atomics) &&
         info.has(Capability::denormals);
}

// Up to the kernel's own, and these, before which the code of a formula stands.
struct Files {
  std::vector<std::string_view> before, after;
};

Files files_of(DType type, Terms terms, const statistics::TermCode* code) {
  std::vector<std::string_view> files{"exact/exact.h", "exact/exact_lanes.h", "reduce/layout.h", "reduce/device/meet.h",
                                      "reduce/small/columns.h"};
  const auto add = [&](std::initializer_list<std::string_view> more) { files.insert(files.end(), more); };
  if (is_integer(type)) {
    add({"reduce/small/elements_integer.cl", "device/cache_policy.h", "reduce/small/loads.h", "reduce/small/sum_record.h",
         "reduce/small/sum_finish.h", "reduce/small/sum_integers.cl"});
    return {std::move(files), {}};
  }
  if (terms == Terms::elements && type == DType::float32) {
    add({"reduce/small/fixed_point.h", "reduce/small/sums_float32.cl"});
  } else if (terms == Terms::elements) {
    add({"reduce/small/running_sum.h", "reduce/small/fixed_point.h", "reduce/small/anchored_sum.h", "reduce/small/sums_float64.cl"});
  } else if (type == DType::float64) {
    add({"reduce/small/running_sum.h", "reduce/small/fixed_point.h", "reduce/small/products_float64.cl"});
  } else {
    add({"reduce/small/running_sum.h", "reduce/small/fixed_point.h", "reduce/small/anchored_sum.h", "reduce/small/products_float32.cl"});
  }
  add({"device/cache_policy.h", "reduce/small/loads.h", "reduce/small/sum_record.h", "reduce/small/sum_finish.h"});
  Files all{std::move(files), {"reduce/small/limbs.h"}};
  if (code != nullptr) {
    all.before.emplace_back("reduce/small/term.h");
    all.before.insert(all.before.end(), code->files.begin(), code->files.end());
  }
  if (small_sum_entries(type, terms).lower_bits != 0) all.after.emplace_back("reduce/small/fixed_sum.h");
  all.after.emplace_back("reduce/small/small_sum.cl");
  return all;
}

std::string_view entry_of(DType type) { return is_integer(type) ? "sum_integers" : "small_sum"; }

}  // namespace

// As in sums_*.cl, products_*.cl and elements_integer.cl.
SmallSumEntries small_sum_entries(DType type, Terms terms) {
  const auto entries = [](int base, std::uint32_t bits, int lower_bits = 0, int first_bits = 0, std::uint32_t fixed_words = 2) {
    return SmallSumEntries{base, (bits + 31) / 32 + 2, lower_bits, std::max(first_bits, lower_bits), fixed_words};
  };
  if (is_integer(type)) return entries(1074, 8 * 16);
  if (terms == Terms::elements) return type == DType::float32 ? entries(1074 - 149, 34 * 8, 42) : entries(0, 133 * 16, 46);
  return type == DType::float64 ? entries(1074 - 2148, 263 * 16, 51, 61, 4) : entries(1074 - 350, 38 * 16, 46);
}

void SmallSumEntries::unfold(std::span<std::int64_t> words) const {
  const std::int64_t field = words[digits + 4];
  if (lower_bits == 0 || field == 0) return;
  const std::vector<std::int64_t> parts(words.begin(), words.begin() + fixed_words);
  const std::int64_t other = words[fixed_words];
  std::fill(words.begin(), words.end(), 0);
  words[digits + 3] = other;
  for (std::uint32_t i = 0; i < fixed_words; ++i) {
    const std::int64_t finer = i == 0 ? first_bits - lower_bits : 0;
    const std::int64_t position = field - 1 - std::int64_t{lower_bits} * (fixed_words - 1 - i) - finer - base;
    words[position / 32] += (parts[i] & 0xffffffff) << position % 32;
    words[position / 32 + 1] += (parts[i] >> 32) * (std::int64_t{1} << position % 32);
  }
}

device::Source small_sum_source(DType type, Terms terms, const tuning::Shape& shape, bool strided, const statistics::TermCode* code) {
  Files files = files_of(type, terms, code);
  device::Source source{std::move(files.before), element_defines(type)};
  if (code != nullptr) {
    source.text = code->text;
    source.after = std::move(files.after);
  } else {
    source.files.insert(source.files.end(), files.after.begin(), files.after.end());
  }
  add_defines(source, {{"PRODUCTS", terms != Terms::elements},
                       {"DOT", terms == Terms::products},
                       {"GROUP_SIZE", shape.group_size},
                       {"LOADS", shape.loads},
                       {"RESIDENT", shape.resident},
                       {"STREAM", shape.stream},
                       {"STRIDED", strided},
                       {"TERM", code != nullptr},
                       {"COLUMN_BITS", 5}});
  return source;
}

std::optional<DeviceSmallSum> DeviceSmallSum::prepare(device::Device& device, DType type, Terms terms, std::uint64_t elements,
                                                      const std::optional<statistics::TermCode>& code) {
  if (!can_run(device.info(), type, terms) || (code && (is_integer(type) || code->rows))) return {};
  return tuning::without_own_on_failure([&]() -> std::optional<DeviceSmallSum> {
    const std::vector<tuning::Found> found = tuning::find_shapes(device.info(), operation_of(terms), type, elements * size_of(type));
    if (found.empty() || found.front().shape.group_size == 0) return {};
    return make(device, type, terms, found.front().shape, code);
  });
}

std::optional<DeviceSmallSum> DeviceSmallSum::make(device::Device& device, DType type, Terms terms, const tuning::Shape& shape,
                                                   const std::optional<statistics::TermCode>& code) {
  if (shape.group_size > device.info().max_group_size) return {};
  DeviceSmallSum small(device, type, terms, shape);
  const auto source = [=](bool strided) { return small_sum_source(type, terms, shape, strided, code ? &*code : nullptr); };
  small.launcher_ = {device, source, entry_of(type), shape.group_size};
  const std::uint32_t resident = small.launcher_.resident_groups(0);
  if (resident < 2) return {};  // the last group waits for the others
  small.groups_ = shape.stream ? std::min({resident, shape.resident * device.info().compute_units, kMaxGroups}) : kMaxGroups;
  small.tile_elements_ = std::uint64_t{16} * shape.group_size * shape.loads / size_of(type);
  small.most_elements_ = (shape.stream ? kGroupElements : small.tile_elements_) * small.groups_;
  if (is_integer(type)) small.most_elements_ = std::min(small.most_elements_, kMaxIntegers);
  small.slots_ = allocate_zeros(device, 8 * words_of(small_sum_entries(type, terms), small.groups_));
  return small;
}

bool DeviceSmallSum::launch(const device::Run& a, const device::Run& b, bool skip_nans, const device::Memory& result,
                            const device::Place& to) {
  if (a.count > most_elements_ || a.rows() > 1 || b.rows() > 1) return false;
  const statistics::Walk walk = statistics::walk_of(*device_, a, b, type_, false);
  launch({a.memory, a.offset, a.stride, b.memory, b.offset, b.stride}, walk.strided || walk.head != 0, a.count, skip_nans, result, to);
  return true;
}

bool DeviceSmallSum::launch(const statistics::Term& term, bool skip_nans, const device::Memory& result, const device::Place& to) {
  if (term.count > most_elements_ || term.head != 0) return false;
  launch(term.arguments, false, term.count, skip_nans, result, to);
  return true;
}

void DeviceSmallSum::launch(std::vector<device::Argument> arguments, bool strided, std::uint64_t count, bool skip_nans,
                            const device::Memory& result, const device::Place& to) {
  const device::Argument more[] = {count, slots_, result, to.memory, to.offset, static_cast<std::int32_t>(skip_nans)};
  arguments.insert(arguments.end(), std::begin(more), std::end(more));
  launcher_.launch(strided, (count + tile_elements_ - 1) / tile_elements_, groups_, arguments);
}

std::string_view DeviceSmallSum::entry() const { return entry_of(type_); }

std::string DeviceSmallSum::text() const {
  return fmt::format("groups={} group_size={} loads={}", groups_, shape_.group_size, shape_.loads);
}

}  // namespace samesum::reduction
