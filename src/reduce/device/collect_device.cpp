#include "reduce/device/collect_device.hpp"

#include "core/float_format.hpp"
#include "core/view.hpp"
#include "reduce/collect.hpp"
#include "reduce/device/walk.hpp"
#include "tuning/tables.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

namespace samesum::statistics {
namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};  // among indices
constexpr std::uint32_t kEndBytes = 40;                // local memory of a work-item, at most, after the bins
constexpr std::uint32_t kRoundBytes = 640;             // and of the rounding
constexpr std::uint32_t kCounterBytes = 128;           // for what is neither, rounded up

std::uint64_t local_bytes(const KernelShape& shape) {
  const reduction::RecordLayout layout = shape.layout();
  const std::uint64_t rows = layout.sum_rows + layout.product_rows;
  const std::uint64_t words = layout.bins + layout.added_words() + (shape.own_bins ? rows + RECORD_COUNTERS : 0);
  return std::max(
             {std::uint64_t{4} * layout.bins * shape.columns, std::uint64_t{kEndBytes} * shape.group_size, std::uint64_t{kRoundBytes}}) +
         words * 8 + kCounterBytes;
}

constexpr std::uint32_t kUnitSize = 2048;                         // work-items of a compute unit, where it cannot be asked
constexpr std::uint64_t kOwnBinsBytes = std::uint64_t{16} << 20;  // up to there, more bins take longer to collect than they save
constexpr std::uint64_t kCachedBytes = std::uint64_t{128} << 20;  // beyond, little of the array stays in the cache (cache_policy.h)

// Several steps a tile pay only if each group draws many tiles.
std::uint32_t choose_steps(const DeviceInfo& info, const KernelShape& shape, std::uint32_t steps, std::uint64_t elements) {
  constexpr std::uint64_t kOften = 64;
  const std::uint64_t step = std::uint64_t{16} * shape.group_size * shape.loads;
  const std::uint64_t share = elements * size_of(shape.type) / step / (std::uint64_t{info.compute_units} * 2 + 1);
  if (info.is_cpu || share < kOften) return 1;
  return is_integer(shape.type) ? (shape.rounds() ? 4 : 1) : steps;
}

tuning::Operation operation_of(const KernelShape& shape) {
  if (shape.windows) return shape.dot ? tuning::Operation::dot : tuning::Operation::sum;
  if (!shape.fields.sum && !shape.fields.squares) return tuning::Operation::count;
  return shape.dot ? tuning::Operation::dot_in_bins : tuning::Operation::sum_in_bins;
}

KernelShape choose_shape(const DeviceInfo& info, DType type, const CollectOptions& options, bool dot, std::uint64_t elements) {
  KernelShape shape{type, options.fields, dot};
  shape.windows = !is_integer(type) && (options.fields.sum || options.fields.squares) && info.has(Capability::fp64);
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  device::check_group_size(info, options.group_size, most);
  // Records for small arrays have small groups: where the caller has chosen the group size, the record is that for large arrays.
  const std::uint64_t bytes = options.group_size != 0 ? ~std::uint64_t{0} : elements * size_of(type);
  const std::vector<tuning::Found> found = tuning::find_shapes(info, operation_of(shape), type, bytes);
  const tuning::Shape chosen = found.empty() ? tuning::Shape{.group_size = 64} : found.front().shape;
  shape.group_size = options.group_size != 0 ? options.group_size : std::min(most, chosen.group_size);
  shape.loads = chosen.loads;
  shape.columns = chosen.columns;
  shape.resident = std::max(kUnitSize / 2 / shape.group_size, 1u);
  shape.steps = choose_steps(info, shape, chosen.steps, elements);
  shape.polled = options.groups == 0 && reduction::can_poll(info);
  const bool can_own = core::float_format(type).exponent_bits == 8 && options.fields.squares && !dot;
  shape.own_bins = can_own && bytes > kOwnBinsBytes;
  shape.cached = !info.is_cpu && elements * size_of(type) <= kCachedBytes;
  for (; local_bytes(shape) > info.local_bytes || shape.group_size / shape.columns > 256; shape.columns /= 2) {
    if (shape.columns > 4) continue;
    throw Error(ErrorKind::device, fmt::format("this needs {} bytes of local memory a work-group; {} has {}", local_bytes(shape),
                                               info.selector, info.local_bytes));
  }
  return shape;
}

// The place of the SumRecord, after the other words of a result.
device::Place at_end(const device::Memory& result) { return {result, result.bytes - sizeof(SumRecord)}; }

}  // namespace

std::string KernelShape::text() const { return fmt::format("groups={} group_size={} columns={}", groups, group_size, columns); }

device::Source pass_source(const KernelShape& shape, bool strided, const TermCode* term) {
  std::vector<std::string_view> files, after;
  const auto add = [](std::vector<std::string_view>& to, std::initializer_list<std::string_view> more) {
    for (const std::string_view file : more) to.emplace_back(file);
  };
  if (shape.rounds()) add(files, {"exact/exact.h", "exact/exact_lanes.h"});
  add(files, {"reduce/layout.h", "device/cache_policy.h", "reduce/device/elements.h", "reduce/device/walk.h"});
  if (term != nullptr) files.insert(files.end(), term->files.begin(), term->files.end());
  std::vector<std::string_view>& rest = term != nullptr ? after : files;
  add(rest, {"reduce/device/meet.h", "reduce/extremes/extremes.h", "reduce/extremes/limits.h", "reduce/device/bins.h",
             "reduce/device/exponent_window.h", "reduce/device/sums.h"});
  if (shape.rounds()) add(rest, {"reduce/small/sum_record.h"});
  add(rest, {"reduce/device/words.h", "reduce/device/statistics.cl"});
  device::Source source{std::move(files), reduction::element_defines(shape.type)};
  reduction::add_defines(source, {{"FIND_MIN", 1},
                                  {"FIND_MAX", 1},
                                  {"INDICES", 1},
                                  {"POLLED", shape.polled},
                                  {"KEEP_LOADS", 0},
                                  {"COUNT_NANS", !shape.fields.sum && !shape.fields.squares},
                                  {"EXTREMES", shape.fields.extrema},
                                  {"SUM", shape.fields.sum},
                                  {"PRODUCTS", shape.fields.squares},
                                  {"NONZEROS", shape.fields.nonzeros},
                                  {"DOT", shape.dot},
                                  {"ROUND", shape.rounds()},
                                  {"OWN_BINS", shape.own_bins},
                                  {"STRIDED", strided},
                                  {"CACHED", shape.cached && !strided},
                                  {"GROUP_SIZE", shape.group_size},
                                  {"GROUP_ROUNDED", std::bit_ceil(shape.group_size)},
                                  {"RESIDENT", shape.resident},
                                  {"WINDOWS", shape.windows},
                                  {"LOADS", shape.loads},
                                  {"STEPS", shape.steps},
                                  {"COLUMN_BITS", std::countr_zero(shape.columns)},
                                  {"TERM", term != nullptr}});
  if (term != nullptr) {
    reduction::add_defines(source, {{"ARRAYS", term->arrays}});
    source.text = term->text;
    source.after = std::move(after);
  }
  return source;
}

DevicePass::DevicePass(device::Device& device, const TermCode& code, const CollectOptions& options, std::uint64_t elements)
    : device_(device), options_(options), elements_(elements), term_(code) {
  shape_ = choose(code.type, false);
  if (shape_.rounds() && chooses_kernel()) window_ = reduction::DeviceSmallSum::prepare(device, code, elements);
  prepare_first();
}

DevicePass::DevicePass(device::Device& device, DType type, const CollectOptions& options, bool dot, std::uint64_t elements)
    : device_(device), options_(options), elements_(elements) {
  shape_ = choose(type, dot);
  if (options.fields == Fields{true, false, false, false} && !options.records) {
    extremes_.emplace(device, type, Tuning{.group_size = options.group_size, .groups = options.groups}, elements);
    return;
  }
  const bool one_sum = options.fields == Fields{false, true, false, false} || options.fields == Fields{false, false, true, false};
  if (one_sum && chooses_kernel()) window_ = reduction::DeviceSmallSum::prepare(device, type, terms(), elements);
  prepare_first();
}

device::Memory DevicePass::allocate_result(std::uint64_t bytes) {
  return options_.resident ? device_.allocate(bytes) : device_.allocate_result(bytes);
}

void DevicePass::prepare_first() {
  in_window_ = window_.has_value();
  if (window_) {
    const std::uint64_t words = reduction::small_sum_entries(shape_.type, terms()).words();
    window_result_ = allocate_result(std::uint64_t{8} * words + sizeof(SumRecord));
  } else {
    prepare();
  }
}

KernelShape DevicePass::choose(DType type, bool dot) const {
  KernelShape shape = choose_shape(device_.info(), type, options_, dot, elements_);
  if (!term_) return shape;
  // As many loads in flight, of all arrays together.
  if (!device_.info().is_cpu) shape.loads = std::min(shape.loads, term_->arrays == 1 ? 4u : term_->arrays <= 3 ? 2u : 1u);
  if (term_->long_code) shape.resident = std::min(shape.resident, std::max(kUnitSize / 2 / shape.group_size, 1u));
  return shape;
}

void DevicePass::prepare() {
  if (launcher_) return;
  const bool counted = device_.info().has(Capability::int64_atomics);
  reduction::Launcher launcher;
  tuning::without_own_on_failure([&] {
    shape_ = choose(shape_.type, shape_.dot);
    const auto source = [shape = shape_, term = term_](bool strided) { return pass_source(shape, strided, term ? &*term : nullptr); };
    launcher = {device_, source, kEntry, shape_.group_size, counted ? "" : "statistics_combine"};
    launcher.prepare(false);
  });
  const std::uint32_t resident = launcher.resident_groups(std::max(kUnitSize / 2 / shape_.group_size, 1u));
  shape_.groups = std::clamp(options_.groups != 0 ? options_.groups : resident, 1u, std::uint32_t{MAX_GROUPS});
  const reduction::RecordLayout layout = shape_.layout();
  slots_ = reduction::allocate_zeros(device_, std::uint64_t{8} * (counted ? RECORD_EXTREMES : layout.words()) * shape_.groups);
  merged_ = reduction::allocate_zeros(device_, counted ? std::uint64_t{8} * SPACING * layout.added_words() : 8);
  schedule_ = reduction::allocate_zeros(device_, sizeof(std::uint64_t));
  result_ = allocate_result(std::uint64_t{8} * layout.words() + sizeof(SumRecord));
  launcher_ = std::move(launcher);
}

void DevicePass::prepare_all(bool strided) {
  if (extremes_) return extremes_->prepare_all(strided);
  if (window_ && !term_) window_->prepare_strided();  // which takes misaligned arrays as well
  prepare();
  if (strided) launcher_.prepare(true);
}

void DevicePass::launch(const device::Run& a, const device::Run& b, NanPolicy nan, const device::Place* record) {
  count_ = a.count;
  if (extremes_) return extremes_->launch(a);
  const std::int32_t skip = nan == NanPolicy::skip;
  if (window_) {
    in_window_ = window_->launch(a, shape_.dot ? b : a, skip != 0, window_result_, record != nullptr ? *record : at_end(window_result_));
    if (in_window_) return;
  }
  const Walk walk = walk_of(device_, a, shape_.dot ? b : a, shape_.type, shape_.fields.extrema);
  prepare();
  launch({a.memory, a.offset, a.stride, a.row_stride, b.memory, b.offset, b.stride, b.row_stride}, walk, skip, record);
}

void DevicePass::launch(const Term& term, NanPolicy nan, const device::Place* record) {
  count_ = term.count;
  const bool skip = nan == NanPolicy::skip;
  if (window_) {
    in_window_ = window_->launch(term, skip, window_result_, record != nullptr ? *record : at_end(window_result_));
    if (in_window_) return;
  }
  prepare();
  const std::uint64_t loads = (term.count - term.head) / (16 / size_of(shape_.type));
  launch(term.arguments, {term.row_length, loads, loads, term.head, false}, skip ? 1 : 0, record);
}

void DevicePass::launch(std::vector<device::Argument> arguments, const Walk& walk, std::int32_t skip, const device::Place* record) {
  const std::uint64_t step = std::uint64_t{shape_.group_size} * shape_.loads, tile = step * shape_.steps;
  if (walk.loads / step + shape_.groups > UINT32_MAX) {
    throw Error(ErrorKind::usage,
                fmt::format("{} elements are too many for groups of {} work-items: take larger groups", count_, shape_.group_size));
  }
  const device::Place to = record != nullptr ? *record : at_end(result_);
  const device::Argument more[] = {walk.row_length, walk.head, walk.row_loads, walk.loads, count_,    slots_,
                                   merged_,         schedule_, result_,        to.memory,  to.offset, skip};
  arguments.insert(arguments.end(), std::begin(more), std::end(more));
  const std::uint32_t groups = launcher_.launch(walk.strided, (walk.loads + tile - 1) / tile, shape_.groups, arguments);
  if (!launcher_.finishes(groups)) return;
  const device::Argument combine_arguments[] = {slots_, groups, schedule_, result_, to.memory, to.offset, count_, skip};
  launcher_.finish(walk.strided, combine_arguments);
}

DevicePass::Digits DevicePass::digits() const {
  if (in_window_) return {window_result_, 0, reduction::small_sum_entries(shape_.type, terms())};
  const reduction::RecordLayout layout = shape_.layout();
  if (shape_.fields.sum) return {result_, RECORD_EXTREMES, {layout.sum_base, layout.sum_digits}};
  return {result_, RECORD_EXTREMES, {2 * layout.sum_base - 1074, layout.product_digits}};
}

// Waits for the words that a launch has stored, and the SumRecord after them.
std::vector<std::int64_t> DevicePass::read(const device::Memory& result) {
  std::vector<std::int64_t> words(result.bytes / 8);
  device_.read(result, 0, words.data(), result.bytes);
  std::memcpy(&record_, &words[at_end(result).offset / 8], sizeof record_);
  return words;
}

// For integers the counters say nothing about the sums.
void DevicePass::set_sums(Statistics::Contents& contents, std::span<const std::int64_t> sum, int sum_base,
                          std::span<const std::int64_t> products, int product_base, std::span<const std::int64_t> counters) const {
  const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(counters[i]); };
  const std::uint64_t nans = count(COUNTER_NANS), positive = count(COUNTER_POSITIVE_INFINITIES),
                      negative = count(COUNTER_NEGATIVE_INFINITIES);
  const bool integers = is_integer(shape_.type), only_negative_zeros = count(COUNTER_OTHERS) == 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (sum[i] != 0) contents.sum.add_scaled(sum[i], sum_base + static_cast<int>(32 * i));
  }
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (products[i] != 0) contents.squares.add_scaled(products[i], product_base + static_cast<int>(32 * i));
  }
  if (shape_.fields.sum) {
    integers ? contents.sum.add_integer_count(count_, is_signed(shape_.type))
             : contents.sum.add_counts(count_, nans, positive, negative, only_negative_zeros);
  }
  if (shape_.fields.squares && shape_.dot) {
    contents.squares.add_counts(count_, nans, positive, negative, count_ == 0 || (!integers && only_negative_zeros));
  } else if (shape_.fields.squares) {
    contents.squares.add_counts(count_, nans, positive + negative, 0, count_ == nans);
  }
}

Statistics::Contents DevicePass::result() {
  if (extremes_) return contents_of(extremes_->result(), count_, shape_.type);
  if (in_window_) return sum_of_window();
  const std::vector<std::int64_t> words = read(result_);
  const reduction::RecordLayout layout = shape_.layout();
  const std::span<const std::int64_t> sums = std::span(words).subspan(RECORD_EXTREMES),
                                      counters = sums.subspan(layout.sum_digits + layout.product_digits);
  const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(words[i]); };
  Statistics::Contents contents;
  contents.fields = shape_.fields;
  contents.count = count_;
  contents.nan_count =
      shape_.fields.sum || shape_.fields.squares ? static_cast<std::uint64_t>(counters[COUNTER_NANS]) : word(RECORD_NANS) >> 32;
  contents.nonzeros = static_cast<std::uint64_t>(counters[COUNTER_NONZEROS]);
  if (shape_.fields.extrema) {
    const auto extreme = [&](std::uint64_t key, std::uint64_t place) -> std::optional<Extremum> {
      place &= kNowhere;
      // If all integers have the initial key, none replaced it: the first one is the extreme.
      if (place == kNowhere && is_integer(shape_.type) && count_ != 0) place = 0;
      if (place == kNowhere) return std::nullopt;
      // Keys of uint32 are offset as those of uint64 are, so that 32 bits compare as signed.
      const auto number = static_cast<std::int64_t>(key) + (shape_.type == DType::uint32 ? std::int64_t{1} << 31 : 0);
      return Extremum{value_of(number, shape_.type), place};
    };
    contents.min = extreme(~word(RECORD_MIN_KEY), word(RECORD_INDICES));
    contents.max = extreme(word(RECORD_MAX_KEY), word(RECORD_INDICES) >> 32);
    const std::uint64_t first_nan = word(RECORD_NANS) & kNowhere;
    if (first_nan != kNowhere) contents.first_nan = first_nan;
  }
  set_sums(contents, sums.first(layout.sum_digits), layout.sum_base, sums.subspan(layout.sum_digits, layout.product_digits),
           2 * layout.sum_base, counters);
  return contents;
}

reduction::Terms DevicePass::terms() const {
  return shape_.fields.sum ? reduction::Terms::elements : shape_.dot ? reduction::Terms::products : reduction::Terms::squares;
}

Statistics::Contents DevicePass::sum_of_window() {
  const reduction::SmallSumEntries entries = reduction::small_sum_entries(shape_.type, terms());
  std::vector<std::int64_t> words = read(window_result_);
  entries.unfold(std::span(words).first(entries.words()));
  const std::span<const std::int64_t> digits = std::span(words).first(entries.digits), counters = std::span(words).subspan(entries.digits);
  Statistics::Contents contents;
  contents.fields = shape_.fields;
  contents.count = count_;
  contents.nan_count = static_cast<std::uint64_t>(counters[COUNTER_NANS]);
  const std::span<const std::int64_t> none;
  shape_.fields.sum ? set_sums(contents, digits, entries.base, none, 0, counters)
                    : set_sums(contents, none, 0, digits, entries.base + 1074, counters);
  return contents;
}

}  // namespace samesum::statistics
