#include "reduce/small/small_sum_device.hpp"

#include "reduce/device/walk.hpp"
#include "reduce/layout.hpp"
#include "tuning/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
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
constexpr std::uint64_t kGroupElements = std::uint64_t{1} << 19;  // the most elements of a group: no sum of pieces overflows
constexpr std::uint64_t kMaxIntegers = std::uint64_t{1} << 25;    // nor a sum of 32-bit pieces
constexpr std::uint32_t kColumnBits = 3;

RecordLayout layout_of(DType type, Terms terms) {
  return {type, terms == Terms::elements, terms != Terms::elements, terms == Terms::products};
}

// 64-bit words of all groups: of floats the state that launches leave to the next, and counted words.
std::uint64_t words_of(DType type, Terms terms) {
  if (is_integer(type)) return 32;
  return 16 + 32 + std::uint64_t{SPACING} * layout_of(type, terms).added_words();
}

// What the kernel needs of local memory: bins, their sums, words, and some.
std::uint64_t local_bytes(DType type, Terms terms) {
  if (is_integer(type)) return 4096;
  const RecordLayout layout = layout_of(type, terms);
  const std::uint64_t rows = layout.sum_rows + layout.product_rows;
  return (std::uint64_t{4} << kColumnBits) * rows + 8 * (rows + layout.added_words()) + 2048;
}

bool can_run(const DeviceInfo& info, DType type, Terms terms) {
  if (terms == Terms::elements && (type == DType::float16 || type == DType::bfloat16)) return false;
  if (info.local_bytes < local_bytes(type, terms)) return false;
  return info.has(Capability::fp64) && info.has(Capability::subgroups) && info.has(Capability::int64_atomics) &&
         info.has(Capability::denormals);
}

// The kernel's files: those before the code of a formula, and those after it.
std::vector<std::string_view> files_before(DType type) {
  if (is_integer(type)) {
    return {"reduce/layout.h", "reduce/device/meet.h", "reduce/small/elements_integer.cl", "device/cache_policy.h", "reduce/small/loads.h"};
  }
  return {"exact/exact.h", "exact/exact_lanes.h", "reduce/layout.h", "device/cache_policy.h", "reduce/device/elements.h"};
}
std::vector<std::string_view> files_after(DType type, Terms terms) {
  if (is_integer(type)) return {"reduce/small/sum_integers.cl"};
  const bool narrow = terms == Terms::elements && type == DType::float32;
  return {
      "reduce/device/meet.h",     "reduce/device/bins.h",       "reduce/device/exponent_window.h",
      "reduce/device/sums.h",     "reduce/small/sum_record.h",  "reduce/device/words.h",
      "reduce/small/tiles.h",     "reduce/small/fixed_point.h", narrow ? "reduce/small/sums_float32.cl" : "reduce/small/terms_float64.cl",
      "reduce/small/fixed_sum.h", "reduce/small/small_sum.cl"};
}

std::string_view entry_of(DType type) { return is_integer(type) ? "sum_integers" : "small_sum"; }

}  // namespace

// As in sums_float32.cl, terms_float64.cl and sum_integers.cl.
SmallSumEntries small_sum_entries(DType type, Terms terms) {
  if (is_integer(type)) return {.base = 1074, .digits = 6};
  const RecordLayout layout = layout_of(type, terms);
  if (terms == Terms::elements && type == DType::float32) return {layout.sum_base, layout.sum_digits, 42, 42, 2};
  if (terms == Terms::elements) return {layout.sum_base, layout.sum_digits, 51, 61, 4};
  return {2 * layout.sum_base - 1074, layout.product_digits, 51, 61, 4};
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
  device::Source source{files_before(type), element_defines(type)};
  std::vector<std::string_view> after = files_after(type, terms);
  if (code != nullptr) {
    source.files.emplace_back("reduce/small/term.h");
    source.files.insert(source.files.end(), code->files.begin(), code->files.end());
    source.text = code->text;
    source.after = std::move(after);
  } else {
    source.files.insert(source.files.end(), after.begin(), after.end());
  }
  add_defines(source, {{"SUM", terms == Terms::elements},
                       {"PRODUCTS", terms != Terms::elements},
                       {"DOT", terms == Terms::products},
                       {"GROUP_SIZE", shape.group_size},
                       {"LOADS", shape.loads},
                       {"RESIDENT", shape.resident},
                       {"STREAM", shape.stream},
                       {"STRIDED", strided},
                       {"TERM", code != nullptr},
                       {"EXTREMES", 0},
                       {"OWN_BINS", 0},
                       {"WINDOWS", shape.stream},
                       {"ROUND", 1},
                       {"COLUMN_BITS", kColumnBits}});
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
  small.slots_ = allocate_zeros(device, 8 * words_of(type, terms));
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
