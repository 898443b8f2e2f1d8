#include "statistics/collect_device.hpp"

#include "core/view.hpp"
#include "statistics/collect.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace samesum::statistics {
namespace {

// Words of a record, as in extremes.h and statistics.cl.
enum Word { kGreatest, kLeast, kPlaces, kFoundNans, kNans, kPositiveInfinities, kNegativeInfinities, kOthers, kNonzeros, kRows };
constexpr std::uint32_t kSpacing = 16;
constexpr std::uint32_t kNowhere = ~std::uint32_t{0};  // among places
constexpr std::uint32_t kEndBytes = 40;                // local memory of a work-item, at most, after the bins
constexpr std::uint32_t kCounterBytes = 128;           // for what is neither, rounded up

struct Format {
  int exponent_bits, fraction_bits;
  int lowest_bit;  // 2^-lowest_bit is the least positive number
};

constexpr Format format_of(DType type) {
  switch (type) {
    case DType::float16:
      return {5, 10, 24};
    case DType::bfloat16:
      return {8, 7, 133};
    case DType::float32:
      return {8, 23, 149};
    case DType::float64:
      return {11, 52, 1074};
    default:
      return {0, 0, 0};
  }
}

// As in bins.h.
struct Rows {
  std::uint32_t sum, products;
  std::uint32_t sum_bits, product_bits;  // from one row to the next
};

constexpr Rows rows_of(const KernelShape& shape) {
  Rows rows{8, 12, 16, 16};
  if (!is_integer(shape.type)) {
    const std::uint32_t most = (1u << format_of(shape.type).exponent_bits) - 3;
    rows.sum_bits = 8;
    rows.product_bits = shape.dot ? 8 : 16;
    rows.sum = most / rows.sum_bits + 16;
    rows.products = 2 * most / rows.product_bits + (shape.dot ? 32 : 16);
  }
  if (!shape.fields.sum) rows.sum = 0;
  if (!shape.fields.squares) rows.products = 0;
  return rows;
}

std::uint32_t record_words(const KernelShape& shape) { return kRows + rows_of(shape).sum + rows_of(shape).products; }

std::uint64_t local_bytes(const KernelShape& shape) {
  const std::uint64_t rows = std::max(rows_of(shape).sum + rows_of(shape).products, 1u);
  return std::max(rows * 4 * shape.columns, std::uint64_t{kEndBytes} * shape.group_size) + rows * 8 + kCounterBytes;
}

// On an H100: large groups, but for sums and squares that no windows take.
constexpr std::uint32_t kGroupSize = 512;
constexpr std::uint32_t kMomentsGroupSize = 256;
constexpr std::uint32_t kCpuGroupSize = 64;
constexpr std::uint32_t kColumns = 32;
constexpr std::uint32_t kFewColumns = 8;
constexpr std::uint32_t kMaxGroupSize = 1024;
constexpr std::uint32_t kUnitSize = 2048;  // work-items of a compute unit, where it cannot be asked
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;

// On an H100 several steps to a tile pay where the arithmetic of a step takes long, and there is enough for all groups to draw often.
std::uint32_t choose_steps(const DeviceInfo& info, const KernelShape& shape, std::uint64_t elements) {
  constexpr std::uint64_t kOften = 32;
  const std::uint64_t step = std::uint64_t{16} * shape.group_size * shape.loads;
  const std::uint64_t share = elements * size_of(shape.type) / step / (std::uint64_t{info.compute_units} * 2 + 1);
  if (info.is_cpu || shape.dot || !shape.windows || share < kOften) return 1;
  return shape.type == DType::float64 ? 8 : 2;
}

// Of little data more is shared out, in smaller tiles, as these were the fastest on an H100; with fewer bins to clear and to collect, as
// most of it goes past them.
KernelShape with_little(KernelShape shape, std::uint64_t bytes) {
  const auto set = [&](std::uint32_t group_size, std::uint32_t loads) {
    shape.group_size = std::min(shape.group_size, group_size);
    shape.loads = loads;
    shape.columns = kFewColumns;
    return shape;
  };
  if (bytes <= 4 << 10) return set(256, 1);
  if (bytes <= 8 << 10) return set(256, 2);
  if (bytes <= 16 << 10) return set(256, 4);
  const bool wide = size_of(shape.type) == 8;
  if (bytes <= 32 << 10 && wide) return set(512, 4);
  if (bytes <= 256 << 10) return wide ? set(256, 1) : set(128, 1);
  if (bytes <= 1 << 20) return set(256, 2);
  if (bytes <= 2 << 20 && wide) return set(256, 4);
  return shape;
}

KernelShape choose_shape(const DeviceInfo& info, DType type, const CollectOptions& options, bool dot, std::uint64_t elements) {
  KernelShape shape{type, options.fields, dot};
  shape.windows = !is_integer(type) && (options.fields.sum || options.fields.squares) && info.has(Capability::fp64);
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  device::check_group_size(info, options.group_size, most);
  const bool packed = is_integer(type) && size_of(type) <= 2;
  const bool moments = !dot && !shape.windows && !packed && (options.fields.sum || options.fields.squares);
  shape.group_size = options.group_size != 0 ? options.group_size
                                             : std::min(most, info.is_cpu ? kCpuGroupSize
                                                              : moments   ? kMomentsGroupSize
                                                                          : kGroupSize);
  shape.loads = info.is_cpu ? 1 : dot ? 2 : 4;  // what is unrolled costs a compiler time, and gains nothing on a CPU
  shape.columns = kColumns;
  if (shape.windows && !info.is_cpu && options.group_size == 0) shape = with_little(shape, elements * size_of(type));
  shape.steps = choose_steps(info, shape, elements);
  for (; local_bytes(shape) > info.local_bytes || shape.group_size / shape.columns > 256; shape.columns /= 2) {
    if (shape.columns > 4) continue;
    throw Error(ErrorKind::device, fmt::format("this needs {} bytes of local memory a work-group; {} has {}", local_bytes(shape),
                                               info.selector, info.local_bytes));
  }
  return shape;
}

}  // namespace

std::string KernelShape::text() const { return fmt::format("groups={} group_size={} columns={}", groups, group_size, columns); }

device::Source pass_source(const KernelShape& shape) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const Format format = format_of(shape.type);
  return {{"statistics/elements.h", "statistics/extremes.h", "statistics/bins.h", "statistics/window.h", "statistics/sums.h",
           "statistics/statistics.cl"},
          {{"BITS", std::to_string(8 * size_of(shape.type))},
           {"FLOATS", flag(!is_integer(shape.type))},
           {"SIGNED", flag(is_signed(shape.type))},
           {"EXPONENT_BITS", std::to_string(format.exponent_bits)},
           {"FRACTION_BITS", std::to_string(format.fraction_bits)},
           {"LEAST", "1"},
           {"GREATEST", "1"},
           {"PLACES", "1"},
           {"POLLED", "0"},
           {"KEEP_LOADS", "0"},
           {"COUNT_NANS", flag(!shape.fields.sum && !shape.fields.squares)},
           {"EXTREMES", flag(shape.fields.extremes)},
           {"SUM", flag(shape.fields.sum)},
           {"PRODUCTS", flag(shape.fields.squares)},
           {"NONZEROS", flag(shape.fields.nonzeros)},
           {"DOT", flag(shape.dot)},
           {"GROUP_SIZE", std::to_string(shape.group_size)},
           {"GROUP_ROUNDED", std::to_string(std::bit_ceil(shape.group_size))},
           {"RESIDENT", std::to_string(std::max(kUnitSize / 2 / shape.group_size, 1u))},
           {"WINDOWS", flag(shape.windows)},
           {"LOADS", std::to_string(shape.loads)},
           {"STEPS", std::to_string(shape.steps)},
           {"COLUMN_BITS", std::to_string(std::countr_zero(shape.columns))}}};
}

DevicePass::DevicePass(device::Device& device, DType type, const CollectOptions& options, bool dot, std::uint64_t elements)
    : device_(device), shape_(choose_shape(device.info(), type, options, dot, elements)), groups_(options.groups) {
  if (options.fields == Fields{true, false, false, false}) {
    extremes_.emplace(device, type, Tuning{.group_size = options.group_size, .groups = options.groups}, elements);
    return;
  }
  const bool one_sum = options.fields == Fields{false, true, false, false} || options.fields == Fields{false, false, true, false};
  if (one_sum && options.group_size == 0 && options.groups == 0) {
    window_ = reduce::DeviceWindow::prepare(device, type, terms(), elements);
  }
  in_window_ = window_.has_value();
  if (window_) {
    window_result_ = device.allocate(std::uint64_t{8} * reduce::window_entries(type, terms()).words() + sizeof(SumRecord));
  } else {
    prepare();
  }
}

void DevicePass::prepare() {
  const device::Source source = pass_source(shape_);
  kernel_ = device::build(device_, source, kEntry);
  const DeviceInfo& info = device_.info();
  const bool merged = info.has(Capability::device_fence) && info.has(Capability::int64_atomics);
  if (!merged) combine_ = device::build(device_, source, "statistics_combine");
  const std::uint32_t resident =
      device_.resident_groups(kernel_, shape_.group_size).value_or(info.compute_units * std::max(kUnitSize / 2 / shape_.group_size, 1u));
  shape_.groups = std::max(groups_ != 0 ? groups_ : resident, 1u);
  records_ = device_.allocate(std::uint64_t{8} * (merged ? std::uint32_t{kNans} : record_words(shape_)) * shape_.groups);
  const std::vector<std::uint64_t> zeros(merged ? kSpacing * (record_words(shape_) - kNans) : 1);
  merged_ = device_.allocate(8 * zeros.size());
  device_.write(merged_, 0, zeros.data(), 8 * zeros.size());
  result_ = device_.allocate(std::uint64_t{8} * record_words(shape_));
  schedule_ = device_.allocate(sizeof(std::uint64_t));
  device_.write(schedule_, 0, zeros.data(), sizeof zeros[0]);
}

void DevicePass::prepare_all() {
  if (extremes_) return extremes_->prepare_all(true);
  if (window_) window_->prepare_strided();
  if (kernel_.handle == nullptr) prepare();
}

void DevicePass::launch(const device::Run& a, const device::Run& b) {
  count_ = a.count;
  if (extremes_) return extremes_->launch(a);
  const std::uint64_t beyond_entries = window_ ? window_result_.bytes - sizeof(SumRecord) : 0;
  in_window_ = window_ && window_->launch(a, shape_.dot ? b : a, false, window_result_, window_result_, beyond_entries);
  if (in_window_) return;
  if (kernel_.handle == nullptr) prepare();
  const std::uint64_t element = size_of(shape_.type);
  const auto beyond = [&](const device::Run& array) { return (device_.misalignment(array.memory) + array.offset) % 16; };
  const auto is_plain = [&](const device::Run& array) { return array.stride == static_cast<std::int64_t>(element); };
  const bool in_loads = is_plain(a) && (!shape_.dot || (is_plain(b) && beyond(a) == beyond(b)));
  // Elements before the first whole 16 bytes.
  const auto head = static_cast<std::uint32_t>(in_loads ? std::min<std::uint64_t>((16 - beyond(a)) % 16 / element, count_) : 0);
  const auto loads = static_cast<std::uint32_t>(in_loads ? (count_ - head) * element / 16 : 0);
  const std::uint64_t tile = std::uint64_t{shape_.group_size} * shape_.loads * shape_.steps;
  const std::uint64_t work = in_loads ? loads : count_ / shape_.loads;
  const auto groups = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((work + tile - 1) / tile, 1, shape_.groups));
  const device::Argument arguments[] = {
      a.memory, a.offset, a.stride,  b.memory, b.offset, b.stride, head, loads, static_cast<std::uint32_t>(count_),
      records_, merged_,  schedule_, result_};
  device_.launch(kernel_, {groups, shape_.group_size}, arguments);
  if (combine_.handle == nullptr || groups == 1) return;
  const device::Argument combine_arguments[] = {records_, groups, schedule_, result_};
  device_.launch(combine_, {1, shape_.group_size}, combine_arguments);
}

Statistics::Contents DevicePass::result() {
  if (extremes_) return contents_of(extremes_->result(), count_, shape_.type);
  if (in_window_) return sum_of_window();
  std::vector<std::uint64_t> words(record_words(shape_));
  device_.read(result_, 0, words.data(), 8 * words.size());
  const Rows rows = rows_of(shape_);
  Statistics::Contents contents;
  contents.fields = shape_.fields;
  contents.count = count_;
  contents.nans = shape_.fields.sum || shape_.fields.squares ? words[kNans] : words[kFoundNans] >> 32;
  contents.nonzeros = words[kNonzeros];
  const int shift = is_integer(shape_.type) ? 1074 : 1074 - format_of(shape_.type).lowest_bit;
  if (shape_.fields.extremes) {
    const auto extreme = [&](std::uint64_t key, std::uint64_t place) -> std::optional<Extreme> {
      place &= kNowhere;
      // Where all integers have the worst of keys, none of them was better than nothing.
      if (place == kNowhere && is_integer(shape_.type) && count_ != 0) place = 0;
      if (place == kNowhere) return std::nullopt;
      // Keys of uint32 are offset as those of uint64 are, so that 32 bits compare as signed.
      const auto number = static_cast<std::int64_t>(key) + (shape_.type == DType::uint32 ? std::int64_t{1} << 31 : 0);
      return Extreme{value_of(number, shape_.type), place};
    };
    contents.least = extreme(~words[kLeast], words[kPlaces]);
    contents.greatest = extreme(words[kGreatest], words[kPlaces] >> 32);
    const std::uint64_t first_nan = words[kFoundNans] & kNowhere;
    if (first_nan != kNowhere) contents.first_nan = first_nan;
  }
  const std::uint64_t* row = words.data() + kRows;
  for (std::uint32_t i = 0; i < rows.sum; ++i)
    contents.sum.add_scaled(static_cast<std::int64_t>(*row++), shift + static_cast<int>(rows.sum_bits * i));
  for (std::uint32_t i = 0; i < rows.products; ++i) {
    contents.squares.add_scaled(static_cast<std::int64_t>(*row++), 2 * shift + static_cast<int>(rows.product_bits * i));
  }
  const std::uint64_t positive = words[kPositiveInfinities], negative = words[kNegativeInfinities];
  if (shape_.fields.sum) {
    if (is_integer(shape_.type)) {
      contents.sum.add_integer_count(count_, is_signed(shape_.type));
    } else {
      contents.sum.add_counts(count_, contents.nans, positive, negative, words[kOthers] == 0);
    }
  }
  if (shape_.fields.squares) {
    if (shape_.dot) {
      contents.squares.add_counts(count_, contents.nans, positive, negative,
                                  count_ == 0 || (!is_integer(shape_.type) && words[kOthers] == 0));
    } else {
      contents.squares.add_counts(count_, contents.nans, positive + negative, 0, count_ == contents.nans);
    }
  }
  return contents;
}

reduce::Terms DevicePass::terms() const {
  return shape_.fields.sum ? reduce::Terms::elements : shape_.dot ? reduce::Terms::products : reduce::Terms::squares;
}

Statistics::Contents DevicePass::sum_of_window() {
  const reduce::WindowEntries entries = reduce::window_entries(shape_.type, terms());
  std::vector<std::int64_t> words(entries.words());
  device_.read(window_result_, 0, words.data(), 8 * words.size());
  entries.unfold(words);
  const auto counters = std::span(words).subspan(entries.digits, 4);
  const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(counters[i]); };
  Statistics::Contents contents;
  contents.fields = shape_.fields;
  contents.count = count_;
  contents.nans = count(0);
  for (std::uint32_t i = 0; i < entries.digits; ++i) {
    const int position = entries.base + static_cast<int>(32 * i);
    if (words[i] == 0) continue;
    shape_.fields.sum ? contents.sum.add_scaled(words[i], position) : contents.squares.add_scaled(words[i], position + 1074);
  }
  const bool only_negative_zeros = shape_.fields.sum || shape_.dot ? counters[3] == 0 : count_ == contents.nans;
  if (!shape_.fields.sum) {
    contents.squares.add_counts(count_, count(0), count(1), count(2), only_negative_zeros);
  } else if (is_integer(shape_.type)) {
    contents.sum.add_integer_count(count_, is_signed(shape_.type));
  } else {
    contents.sum.add_counts(count_, count(0), count(1), count(2), only_negative_zeros);
  }
  return contents;
}

namespace {

// Adds the times of a chunk.
void add_times(device::Device& device, Report* report, const device::Mark& start, const device::Mark& uploaded, const device::Mark& done) {
  if (report == nullptr) return;
  report->upload_seconds += device.seconds_between(start, uploaded);
  report->seconds += device.seconds_between(uploaded, done);
}

void tell(Report& report, const DevicePass& pass) {
  report.variant = pass.entry();
  report.configuration = pass.configuration();
}

// Runs `pass` over host data chunk by chunk, and hands each result to `take`.
template <class Take>
void for_chunks(View a, View b, bool two, device::Device& device, const CollectOptions& options, Report* report, const Take& take) {
  const std::uint64_t most = std::min(kChunkBytes, device.info().max_allocation_bytes) / size_of(a.type());
  const std::uint64_t chunk = std::max<std::uint64_t>(std::min(most, a.size()), 1);
  const auto mark = [&] { return report != nullptr ? device.mark() : device::Mark{}; };
  DevicePass pass(device, a.type(), options, two, chunk);
  const auto stride = static_cast<std::int64_t>(size_of(a.type()));
  const device::Memory first_memory = device.allocate(chunk * size_of(a.type()));
  const device::Memory second_memory = two ? device.allocate(chunk * size_of(a.type())) : first_memory;
  for (std::uint64_t first = 0; first == 0 || first < a.size(); first += chunk) {
    const std::uint64_t count = std::min(chunk, a.size() - first);
    const device::Mark start = mark();
    if (count != 0) device.write(first_memory, 0, a.part(first, count).data(), a.part(first, count).bytes());
    if (count != 0 && two) device.write(second_memory, 0, b.part(first, count).data(), b.part(first, count).bytes());
    const device::Mark uploaded = mark();
    pass.launch({first_memory, count, stride, 0}, {second_memory, count, stride, 0});
    const device::Mark done = mark();
    take(pass.result());
    add_times(device, report, start, uploaded, done);
  }
  if (report != nullptr) tell(*report, pass);
}

// The same of arrays that lie on the device.
template <class Take>
void for_parts(const device::Run& a, const device::Run& b, DType type, bool two, device::Device& device, const CollectOptions& options,
               Report* report, const Take& take) {
  const Fields& fields = options.fields;
  const std::uint64_t size = device::Plans::size_for(a.count);
  const std::string name = fmt::format("pass {} {} {} {} {} {} {} {} {}", name_of(type), size, fields.extremes, fields.sum, fields.squares,
                                       fields.nonzeros, two, options.group_size, options.groups);
  auto pass = device.plans().take<DevicePass>(name);
  if (!pass) pass = std::make_shared<DevicePass>(device, type, options, two, size);
  const auto mark = [&] { return report != nullptr ? device.mark() : device::Mark{}; };
  const auto part = [](device::Run array, std::uint64_t first, std::uint64_t count) {
    array.offset += first * static_cast<std::uint64_t>(array.stride);
    array.count = count;
    return array;
  };
  for (std::uint64_t first = 0; first == 0 || first < a.count; first += DevicePass::kMostElements) {
    const std::uint64_t count = std::min(DevicePass::kMostElements, a.count - first);
    const device::Mark start = mark();
    pass->launch(part(a, first, count), part(b, first, count));
    const device::Mark done = mark();
    take(pass->result());
    add_times(device, report, start, start, done);
  }
  if (report != nullptr) tell(*report, *pass);
  device.plans().give_back(name, std::move(pass));
}

class Merged {
 public:
  void operator()(Statistics::Contents contents) {
    Statistics part(std::move(contents));
    first_ ? static_cast<void>(all = std::move(part)) : all.merge(part);
    first_ = false;
  }
  Statistics all;

 private:
  bool first_ = true;
};

}  // namespace

Statistics collect_on_device(View data, device::Device& device, const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  Merged merged;
  for_chunks(data, data, false, device, options, report, [&](Statistics::Contents contents) { merged(std::move(contents)); });
  return std::move(merged.all);
}

Statistics collect_on_device(const device::Run& data, DType type, device::Device& device, const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  Merged merged;
  for_parts(data, data, type, false, device, options, report, [&](Statistics::Contents contents) { merged(std::move(contents)); });
  return std::move(merged.all);
}

ProductAccumulator dot_on_device(View a, View b, device::Device& device, const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  ProductAccumulator all;
  for_chunks(a, b, true, device, options, report, [&](const Statistics::Contents& contents) { all.merge(contents.squares); });
  return all;
}

ProductAccumulator dot_on_device(const device::Run& a, const device::Run& b, DType type, device::Device& device,
                                 const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  ProductAccumulator all;
  for_parts(a, b, type, true, device, options, report, [&](const Statistics::Contents& contents) { all.merge(contents.squares); });
  return all;
}

}  // namespace samesum::statistics
