#include "statistics/collect_device.hpp"

#include "statistics/collect.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <vector>

namespace samesum::statistics {
namespace {

// Words of a record, as in statistics.cl.
enum Word {
  kLeast,
  kAtLeast,
  kGreatest,
  kAtGreatest,
  kFirstNan,
  kNans,
  kPositiveInfinities,
  kNegativeInfinities,
  kOthers,
  kNonzeros,
  kRows
};
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
constexpr int kRowBits = 16;
constexpr std::uint32_t kCounterBytes = 128;  // local memory for what is neither bins nor candidates, rounded up

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

struct Rows {
  std::uint32_t sum, products;
};

constexpr Rows rows_of(const KernelShape& shape) {
  Rows rows{8, 12};
  if (shape.type == DType::float64) rows = {132, 263};
  if (!is_integer(shape.type) && shape.type != DType::float64) {
    const Format format = format_of(shape.type);
    const std::uint32_t most = (1u << format.exponent_bits) - 3;
    rows = {(most >> 4) + (format.fraction_bits + 16 + 15) / 16 + 2, (2 * most >> 4) + (2 * format.fraction_bits + 2 + 15 + 15) / 16 + 2};
  }
  return {shape.fields.sum ? rows.sum : 0, shape.fields.squares ? rows.products : 0};
}

std::uint32_t record_words(const KernelShape& shape) { return kRows + rows_of(shape).sum + rows_of(shape).products; }

std::uint64_t local_bytes(const KernelShape& shape) {
  const std::uint64_t rows = std::max(rows_of(shape).sum + rows_of(shape).products, 1u);
  return rows * (4 * shape.columns + 8) + std::uint64_t{16} * shape.group_size + kCounterBytes;
}

// On an H100: for sums and squares together small groups were the fastest, for anything else larger ones.
constexpr std::uint32_t kGroupSize = 512;
constexpr std::uint32_t kMomentsGroupSize = 256;
constexpr std::uint32_t kCpuGroupSize = 64;
constexpr std::uint32_t kMaxGroupSize = 1024;
constexpr std::uint32_t kUnitSize = 2048;  // work-items of a compute unit, where it cannot be asked
constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 20;

KernelShape choose_shape(const DeviceInfo& info, DType type, const CollectOptions& options, bool dot) {
  KernelShape shape{type, options.fields, dot};
  shape.windows = type == DType::float32 && (options.fields.sum || options.fields.squares) && info.has(Capability::fp64);
  const std::uint32_t most = std::min(info.max_group_size, kMaxGroupSize);
  device::check_group_size(info, options.group_size, most);
  const bool moments = !dot && (options.fields.sum || options.fields.squares);
  shape.group_size = options.group_size != 0 ? options.group_size
                                             : std::min(most, info.is_cpu ? kCpuGroupSize
                                                              : moments   ? kMomentsGroupSize
                                                                          : kGroupSize);
  shape.loads = info.is_cpu ? 1 : dot || size_of(type) == 1 ? 2 : 4;  // what is unrolled costs a compiler time, and gains nothing on a CPU
  for (shape.columns = 32; local_bytes(shape) > info.local_bytes || shape.group_size / shape.columns > 256; shape.columns /= 2) {
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
  return {{"statistics/elements.h", "statistics/bins.h", "statistics/window.h", "statistics/statistics.cl"},
          {{"BITS", std::to_string(8 * size_of(shape.type))},
           {"FLOATS", flag(!is_integer(shape.type))},
           {"SIGNED", flag(is_signed(shape.type))},
           {"EXPONENT_BITS", std::to_string(format.exponent_bits)},
           {"FRACTION_BITS", std::to_string(format.fraction_bits)},
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
           {"COLUMN_BITS", std::to_string(std::countr_zero(shape.columns))}}};
}

DevicePass::DevicePass(device::Device& device, DType type, const CollectOptions& options, bool dot)
    : device_(device), shape_(choose_shape(device.info(), type, options, dot)) {
  const device::Source source = pass_source(shape_);
  kernel_ = device::build(device, source, "statistics");
  combine_ = device::build(device, source, "statistics_combine");
  const std::uint32_t resident = device.resident_groups(kernel_, shape_.group_size)
                                     .value_or(device.info().compute_units * std::max(kUnitSize / 2 / shape_.group_size, 1u));
  shape_.groups = std::max(options.groups != 0 ? options.groups : resident, 1u);
  records_ = device.allocate(std::uint64_t{8} * record_words(shape_) * shape_.groups);
  result_ = device.allocate(std::uint64_t{8} * record_words(shape_));
  schedule_ = device.allocate(sizeof(std::uint32_t));
  const std::uint32_t zero = 0;
  device.write(schedule_, 0, &zero, sizeof zero);
}

void DevicePass::launch(const device::Memory& a, const device::Memory& b, std::uint64_t count) {
  count_ = count;
  const std::uint64_t tile = std::uint64_t{shape_.group_size} * shape_.loads * 16 / size_of(shape_.type);
  const auto groups = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((count + tile - 1) / tile, 1, shape_.groups));
  const device::Argument arguments[] = {a, b, count, records_, schedule_};
  device_.launch(kernel_, {groups, shape_.group_size}, arguments);
  const device::Argument combine_arguments[] = {records_, groups, result_, schedule_};
  device_.launch(combine_, {1, shape_.group_size}, combine_arguments);
}

Statistics::Contents DevicePass::result() {
  std::vector<std::uint64_t> words(record_words(shape_));
  device_.read(result_, 0, words.data(), 8 * words.size());
  const Rows rows = rows_of(shape_);
  Statistics::Contents contents;
  contents.fields = shape_.fields;
  contents.count = count_;
  contents.nans = words[kNans];
  contents.nonzeros = words[kNonzeros];
  const int shift = is_integer(shape_.type) ? 1074 : 1074 - format_of(shape_.type).lowest_bit;
  if (shape_.fields.extremes) {
    // Keys of uint32 are offset as those of uint64 are, so that 32 bits compare as signed.
    const auto extreme = [&](std::size_t word) -> std::optional<Extreme> {
      if (words[word + 1] == kNowhere) return std::nullopt;
      const auto key = static_cast<std::int64_t>(words[word]) + (shape_.type == DType::uint32 ? std::int64_t{1} << 31 : 0);
      return Extreme{value_of(key, shape_.type), words[word + 1]};
    };
    contents.least = extreme(kLeast);
    contents.greatest = extreme(kGreatest);
    if (words[kFirstNan] != kNowhere) contents.first_nan = words[kFirstNan];
  }
  const std::uint64_t* row = words.data() + kRows;
  for (std::uint32_t i = 0; i < rows.sum; ++i) contents.sum.add_scaled(static_cast<std::int64_t>(*row++), shift + kRowBits * i);
  for (std::uint32_t i = 0; i < rows.products; ++i) {
    contents.squares.add_scaled(static_cast<std::int64_t>(*row++), 2 * shift + kRowBits * static_cast<int>(i));
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

namespace {

// Runs `pass` over host data chunk by chunk, and hands each result to `take`.
template <class Take>
void for_chunks(View a, View b, device::Device& device, DevicePass& pass, SumReport* report, const Take& take) {
  const bool two = pass.shape().dot;
  const std::uint64_t most = std::min(kChunkBytes, device.info().max_allocation_bytes) / size_of(a.type());
  const std::uint64_t chunk = std::max<std::uint64_t>(std::min(most, a.size()), 1);
  const device::Memory first_memory = device.allocate(chunk * size_of(a.type()));
  const device::Memory second_memory = two ? device.allocate(chunk * size_of(a.type())) : first_memory;
  for (std::uint64_t first = 0; first == 0 || first < a.size(); first += chunk) {
    const std::uint64_t count = std::min(chunk, a.size() - first);
    const device::Mark start = device.mark();
    if (count != 0) device.write(first_memory, 0, a.part(first, count).data(), a.part(first, count).bytes());
    if (count != 0 && two) device.write(second_memory, 0, b.part(first, count).data(), b.part(first, count).bytes());
    const device::Mark uploaded = device.mark();
    pass.launch(first_memory, second_memory, count);
    const device::Mark done = device.mark();
    take(pass.result());
    if (report != nullptr) {
      report->upload_seconds += device.seconds_between(start, uploaded);
      report->seconds += device.seconds_between(uploaded, done);
    }
  }
  if (report != nullptr) report->configuration = pass.shape().text();
}

}  // namespace

Statistics collect_on_device(View data, device::Device& device, const CollectOptions& options, SumReport* report) {
  const std::lock_guard lock(device.mutex());
  DevicePass pass(device, data.type(), options, false);
  Statistics all;
  for_chunks(data, data, device, pass, report, [&](Statistics::Contents contents) {
    Statistics part(std::move(contents));
    part.count() == 0 ? static_cast<void>(all = part) : all.merge(part);
  });
  return all;
}

ProductAccumulator dot_on_device(View a, View b, device::Device& device, const CollectOptions& options, SumReport* report) {
  const std::lock_guard lock(device.mutex());
  DevicePass pass(device, a.type(), options, true);
  ProductAccumulator all;
  for_chunks(a, b, device, pass, report, [&](const Statistics::Contents& contents) { all.merge(contents.squares); });
  return all;
}

}  // namespace samesum::statistics
