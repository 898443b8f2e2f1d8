// One pass over an array on all cores: each block is looked at by one loop after the other while it lies in the first-level cache.
#include "core/chunks.hpp"
#include "core/half.hpp"
#include "reduce/sum_cpu_integers.hpp"
#include "reduce/sum_cpu_partial.hpp"
#include "statistics/collect.hpp"
#include "statistics/extremes.hpp"
#include "statistics/products.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace samesum::statistics {
namespace {

constexpr std::uint64_t kBlockBytes = 16384;

const std::byte* at(View data, std::uint64_t index) { return static_cast<const std::byte*>(data.data()) + index * size_of(data.type()); }

// What one thread collects.
class Partial {
 public:
  Partial(DType type, Fields fields) : type_(type), fields_(fields) {
    if (!fields.sum) return;
    if (is_integer(type)) {
      sum_.emplace<reduce::IntegerSum>();
    } else if (type == DType::float64) {
      sum_.emplace<reduce::PartialSum<double>>();
    } else {
      sum_.emplace<reduce::PartialSum<float>>();
    }
  }

  void add(View data, std::uint64_t first, std::uint64_t count) {
    const bool fused = type_ == DType::float32 && fields_.sum && fields_.squares && !fields_.nonzeros &&
                       reinterpret_cast<std::uintptr_t>(data.data()) % alignof(float) == 0;
    if (!fused) return add_apart(data, first, count);
    for (; count >= kProductBlock; first += kProductBlock, count -= kProductBlock) {
      const auto* const block = reinterpret_cast<const float*>(at(data, first));
      float least, greatest;
      if (!add_fused_block(block, fused_, least, greatest)) {
        add_apart(data, first, kProductBlock);
      } else if (fields_.extremes && !note_extremes(least, greatest, first)) {
        add_extremes(at(data, first), kProductBlock, type_, first, extremes_);
      }
    }
    add_apart(data, first, count);
  }

  /// Adds this to `contents`; `extremes` are merged by key first.
  void finish(Statistics::Contents& contents, Extremes& extremes) {
    std::visit([&](auto& sum) { merge(sum, contents.sum); }, sum_);
    if (fields_.squares) contents.squares.merge(squares_.finish());
    if (fused_.elements != 0) {
      fused_.flush();
      fused_.sum.add_counts(fused_.elements, 0, 0, 0, false);
      fused_.squares.add_counts(fused_.elements, 0, 0, 0, false);
      contents.sum.merge(fused_.sum);
      contents.squares.merge(fused_.squares);
    }
    contents.nonzeros += nonzeros_;
    extremes.merge(extremes_);
  }

 private:
  using None = std::monostate;

  // One loop after the other over a block that lies in the first-level cache.
  void add_apart(View data, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t block = kBlockBytes / size_of(type_);
    for (const std::uint64_t end = first + count; first < end; first += block) {
      const std::byte* const elements = at(data, first);
      const std::uint64_t taken = std::min(block, end - first);
      std::visit([&](auto& sum) { add_to(sum, elements, taken); }, sum_);
      if (fields_.squares) add_products(elements, elements, taken, type_, squares_);
      if (fields_.extremes) add_extremes(elements, taken, type_, first, extremes_);
      if (fields_.nonzeros) nonzeros_ += count_nonzeros(elements, taken, type_);
    }
  }

  // Whether the extremes of a block without NaNs change nothing; zeros of both signs are equal here, so these are looked at.
  bool note_extremes(float least, float greatest, std::uint64_t first) {
    const auto key = [](float x) {
      const auto bits = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(x));
      return std::int64_t{bits ^ ((bits >> 31) & 0x7fffffff)};
    };
    if (!extremes_.at_least || !extremes_.at_greatest || least == 0 || greatest == 0) return false;
    const bool below = key(least) < extremes_.least || (key(least) == extremes_.least && first < *extremes_.at_least);
    const bool above = key(greatest) > extremes_.greatest || (key(greatest) == extremes_.greatest && first < *extremes_.at_greatest);
    if (below || above) return false;
    extremes_.count += kProductBlock;
    return true;
  }

  void add_to(None&, const std::byte*, std::uint64_t) {}
  template <class Sum>
  void add_to(Sum& sum, const std::byte* elements, std::uint64_t count) {
    add_elements(elements, count, type_, sum);
  }
  static void merge(None&, Accumulator&) {}
  template <class Sum>
  static void merge(Sum& sum, Accumulator& total) {
    total.merge(sum.finish());
  }

  DType type_;
  Fields fields_;
  std::variant<None, reduce::IntegerSum, reduce::PartialSum<float>, reduce::PartialSum<double>> sum_;
  PartialProducts squares_;
  FusedSums fused_;
  Extremes extremes_;
  std::uint64_t nonzeros_ = 0;
};

}  // namespace

Value value_of(std::int64_t key, DType type) {
  const auto unmapped = [key](std::int64_t most) { return key < 0 ? key ^ most : key; };
  switch (type) {
    case DType::float16:
      return {core::Float16{static_cast<std::uint16_t>(unmapped(0x7fff))}, type};
    case DType::bfloat16:
      return {core::BFloat16{static_cast<std::uint16_t>(unmapped(0x7fff))}, type};
    case DType::float32:
      return {double{std::bit_cast<float>(static_cast<std::uint32_t>(unmapped(0x7fffffff)))}, type};
    case DType::float64:
      return {std::bit_cast<double>(unmapped(0x7fffffffffffffff)), type};
    case DType::uint64:
      return {static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63, type};
    default:
      return is_signed(type) ? Value{key, type} : Value{static_cast<std::uint64_t>(key), type};
  }
}

Statistics collect_cpu(View data, const CollectOptions& options, std::uint32_t* threads_used) {
  const std::uint32_t threads = core::thread_count(data.bytes(), options.threads);
  if (threads_used != nullptr) *threads_used = threads;
  std::vector<Partial> partials;
  partials.reserve(threads);
  for (std::uint32_t i = 0; i < threads; ++i) partials.emplace_back(data.type(), options.fields);
  // A single thread takes all of it in one go: sums are faster in long pieces.
  const std::uint64_t chunk = core::chunk_size(data.bytes(), size_of(data.type()), threads);
  core::for_chunks(data.size(), threads, chunk,
                   [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) { partials[task].add(data, first, count); });
  Statistics::Contents contents;
  contents.fields = options.fields;
  contents.count = data.size();
  Extremes extremes;
  for (Partial& partial : partials) partial.finish(contents, extremes);
  if (extremes.at_least) contents.least = Extreme{value_of(extremes.least, data.type()), *extremes.at_least};
  if (extremes.at_greatest) contents.greatest = Extreme{value_of(extremes.greatest, data.type()), *extremes.at_greatest};
  contents.first_nan = extremes.first_nan;
  contents.nans = options.fields.extremes  ? extremes.nans
                  : options.fields.squares ? contents.squares.nan_count()
                                           : contents.sum.nan_count();
  return Statistics(contents);
}

ProductAccumulator dot_cpu(View a, View b, std::uint32_t threads, std::uint32_t* threads_used) {
  const std::uint32_t used = core::thread_count(a.bytes(), threads);
  if (threads_used != nullptr) *threads_used = used;
  std::vector<PartialProducts> partials(used);
  core::for_chunks(a.size(), used, core::chunk_size(a.bytes(), size_of(a.type()), used),
                   [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
                     add_products(at(a, first), at(b, first), count, a.type(), partials[task]);
                   });
  ProductAccumulator total;
  for (PartialProducts& partial : partials) total.merge(partial.finish());
  return total;
}

}  // namespace samesum::statistics
