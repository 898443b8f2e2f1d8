#include "reduce/cpu/products/products.hpp"

#include "core/half.hpp"
#include "core/visit.hpp"
#include "reduce/cpu/halves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace samesum::statistics {
namespace {

__extension__ typedef unsigned __int128 Uint128;

// Adds value · 2^position, in units of the total's.
template <class Total>
void add_wide(Total& total, Int128 value, int position) noexcept {
  const bool negative = value < 0;
  const Uint128 magnitude = negative ? 0 - static_cast<Uint128>(value) : static_cast<Uint128>(value);
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 62) - 1;
  for (int shift = 0; shift < 128; shift += 62) {
    const auto piece = static_cast<std::int64_t>(static_cast<std::uint64_t>(magnitude >> shift) & kMask);
    if (piece != 0) total.add_scaled(negative ? -piece : piece, position + shift);
  }
}

// How a type of floats is laid out, and its bins. A bin's index is the sum of two exponents, each of them less one but for denormals, so
// that its weight is that of the index.
template <class T>
struct Layout;
template <>
struct Layout<float> {
  using Bits = std::uint32_t;
  using Sum = std::int64_t;  // of products of 48 bits
  static constexpr int kFractionBits = 23, kMaxExponent = 255;
  static constexpr std::size_t kBins = 2 * kMaxExponent;
  static constexpr std::uint64_t kCapacity = 1 << 14;
  static constexpr int kPosition = ProductAccumulator::kUnit - 2 * 149;
  static std::vector<Sum>& bins(PartialProducts& partial) { return partial.bins; }
};
template <>
struct Layout<double> {
  using Bits = std::uint64_t;
  using Sum = Int128;  // of products of 106 bits
  static constexpr int kFractionBits = 52, kMaxExponent = 2047;
  static constexpr std::size_t kBins = 2 * kMaxExponent;
  static constexpr std::uint64_t kCapacity = 1 << 20;
  static constexpr int kPosition = ProductAccumulator::kUnit - 2 * 1074;
  static std::vector<Sum>& bins(PartialProducts& partial) { return partial.wide_bins; }
};

template <class T>
void flush(PartialProducts& partial) noexcept {
  auto& bins = Layout<T>::bins(partial);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] != 0) add_wide(partial.total, bins[i], static_cast<int>(i) + Layout<T>::kPosition);
    bins[i] = 0;
  }
}

template <class T>
void count_special(T a, T b, ProductAccumulator& total) noexcept {
  const bool nan = std::isnan(a * b);
  const bool negative = std::signbit(a) != std::signbit(b);
  total.add_counts(0, nan, !nan && !negative, !nan && negative, nan);
}

constexpr std::size_t kFew = 64;  // products for which bins do not pay

// No branch depends on the data, unless numbers are not finite.
template <class T, bool kSquares>
void add_to_bins(const T* a, const T* b, std::size_t count, PartialProducts& partial) {
  using L = Layout<T>;
  using Bits = typename L::Bits;
  using Signed = std::make_signed_t<Bits>;
  const bool few = count <= kFew && L::bins(partial).empty();
  if (!few && L::bins(partial).empty()) L::bins(partial).resize(L::kBins);
  auto* const bins = L::bins(partial).data();
  const auto exponent = [](Bits bits) { return static_cast<std::size_t>(bits >> L::kFractionBits) & L::kMaxExponent; };
  const auto mantissa = [](Bits bits, bool normal) {
    return static_cast<Signed>((bits & ((Bits{1} << L::kFractionBits) - 1)) + (Bits{normal} << L::kFractionBits));
  };
  while (count != 0) {
    const std::size_t taken = std::min<std::uint64_t>(count, L::kCapacity - partial.in_bins);
    partial.note_any(a, b, taken);
    for (std::size_t i = 0; i < taken; ++i) {
      const auto left = std::bit_cast<Bits>(a[i]), right = kSquares ? left : std::bit_cast<Bits>(b[i]);
      const std::size_t left_exponent = exponent(left), right_exponent = exponent(right);
      if (left_exponent == L::kMaxExponent || right_exponent == L::kMaxExponent) [[unlikely]] {
        count_special(a[i], b[i], partial.total);
        continue;
      }
      const bool left_normal = left_exponent != 0, right_normal = right_exponent != 0;
      const Signed sign = static_cast<Signed>(left ^ right) >> (8 * sizeof(Bits) - 1);  // 0 or -1
      const Signed m = (mantissa(left, left_normal) ^ sign) - sign, n = mantissa(right, right_normal);
      const auto product = static_cast<typename L::Sum>(m) * n;
      const std::size_t bin = left_exponent - left_normal + right_exponent - right_normal;
      if (few) {
        add_wide(partial.total, product, static_cast<int>(bin) + L::kPosition);
      } else {
        bins[bin] += product;
      }
    }
    a += taken;
    b += taken;
    count -= taken;
    partial.in_bins += taken;
    if (partial.in_bins == L::kCapacity) partial.flush_bins();
  }
}

// Copies elements as T: for types that are converted, and for addresses that are not aligned. Whether `from` will do as it is, is told by
// the result.
template <class Element, class T>
const T* as_floats(const std::byte* from, std::size_t count, [[maybe_unused]] DType type, T* buffer) {
  if constexpr (std::is_same_v<Element, T>) {
    if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0) return reinterpret_cast<const T*>(from);
  }
  if constexpr (sizeof(Element) == 2) {
    reduction::halves_to_floats(from, count, type, buffer);
  } else {
    std::memcpy(buffer, from, count * sizeof(T));
  }
  return buffer;
}

template <class Element>
void add_floats(const std::byte* a, const std::byte* b, std::uint64_t count, DType type, PartialProducts& partial) {
  using T = std::conditional_t<std::is_same_v<Element, double>, double, float>;
  if constexpr (std::is_same_v<Element, T>) {
    if ((reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) % alignof(T) == 0) {
      return add_products_simd(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), count, partial);
    }
  }
  T a_buffer[kProductBlock], b_buffer[kProductBlock];
  for (std::uint64_t i = 0; i < count; i += kProductBlock) {
    const std::size_t taken = std::min<std::uint64_t>(kProductBlock, count - i);
    const T* left = as_floats<Element>(a + i * sizeof(Element), taken, type, a_buffer);
    const T* right = a == b ? left : as_floats<Element>(b + i * sizeof(Element), taken, type, b_buffer);
    add_products_simd(left, right, taken, partial);
  }
}

void add_halves(const std::byte* a, const std::byte* b, std::uint64_t count, DType type, PartialProducts& partial) {
  for (std::uint64_t i = 0; i < count; i += kHalfProducts) {
    const std::uint64_t taken = std::min<std::uint64_t>(kHalfProducts, count - i);
    const std::byte* const x = a + 2 * i;
    const std::byte* const y = b + 2 * i;
    if (taken == kHalfProducts && add_half_products(x, y, type, partial)) continue;
    type == DType::float16 ? add_floats<core::Float16>(x, y, taken, type, partial) : add_floats<core::BFloat16>(x, y, taken, type, partial);
    partial.rounded.watching.pass(kHalfProducts / reduction::kBlock);
  }
}

// Products of integers, whose parts are added up.
template <class Element>
void add_integers(const std::byte* a, const std::byte* b, std::uint64_t count, PartialProducts& partial) {
  constexpr std::uint64_t kCapacity = std::uint64_t{1} << 30;
  for (std::uint64_t first = 0; first < count; first += kCapacity) {
    const std::uint64_t taken = std::min(count - first, kCapacity);
    const IntegerProducts sum = sum_of_products(a + first * sizeof(Element), b + first * sizeof(Element), taken, dtype_of<Element>());
    add_sum_of_products(sum, 0, partial);
  }
}

}  // namespace

void add_sum(ProductAccumulator& total, const Accumulator& sum) noexcept {
  constexpr int kPosition = ProductAccumulator::kUnit - 1074;
  const auto digits = sum.canonical_digits();
  for (int i = 0; i < Accumulator::kDigits; ++i) {
    if (digits[i] != 0) total.add_scaled(digits[i], kPosition + 32 * i);
  }
}

template <class T>
void PartialProducts::note_any(const T* a, const T* b, std::size_t count) {
  if (any) return;
  for (std::size_t i = 0; i < count && !any; ++i) {
    const T product = a[i] * b[i];
    const bool zero = a[i] == 0 || b[i] == 0;
    any = !std::isnan(product) && !(zero && std::signbit(product));
  }
  if (any) total.add_counts(0, 0, 0, 0, false);
}
template void PartialProducts::note_any(const float* a, const float* b, std::size_t count);
template void PartialProducts::note_any(const double* a, const double* b, std::size_t count);

void ProductWindow::set_anchors(int slices_wanted, int exponent, int distance, int unit) noexcept {
  slices = slices_wanted;
  for (int slice = 0; slice < slices; ++slice, exponent -= distance) {
    anchors[slice] = std::ldexp(1.5, exponent);
    positions[slice] = exponent - 52 + unit;
  }
}

template <class Total>
void ProductWindow::flush(Total& total) noexcept {
  for (int slice = 0; slice < slices; ++slice) {
    Int128 sum = 0;
    for (std::int64_t& lane : lanes[slice]) {
      sum += lane;
      lane = 0;
    }
    if (sum != 0) add_wide(total, sum, positions[slice]);
  }
  blocks = 0;
}

template void ProductWindow::flush(Accumulator& total) noexcept;
template void ProductWindow::flush(ProductAccumulator& total) noexcept;

bool ProductWindow::Tries::done(bool success) noexcept {
  last_skip = success ? 0 : std::clamp(2 * last_skip, 1, 512);
  to_skip = success ? 0 : last_skip - 1;
  return success;
}

void PartialProducts::flush_bins() noexcept {
  flush<float>(*this);
  flush<double>(*this);
  in_bins = 0;
}

Int128* PartialProducts::room_in_wide_bins(std::size_t count) {
  using L = Layout<double>;
  if (wide_bins.empty()) wide_bins.resize(L::kBins);
  if (in_bins + count > L::kCapacity) flush_bins();
  in_bins += count;
  return wide_bins.data();
}

const ProductAccumulator& PartialProducts::finish() noexcept {
  narrow.flush(total);
  wide.flush(total);
  flush_bins();
  add_sum(total, rounded.finish());
  return total;
}

void add_products_to_bins(const float* a, const float* b, std::size_t count, PartialProducts& partial) {
  a == b ? add_to_bins<float, true>(a, b, count, partial) : add_to_bins<float, false>(a, b, count, partial);
}
void add_products_to_bins(const double* a, const double* b, std::size_t count, PartialProducts& partial) {
  a == b ? add_to_bins<double, true>(a, b, count, partial) : add_to_bins<double, false>(a, b, count, partial);
}

void add_sum_of_products(const IntegerProducts& sum, std::uint64_t count, PartialProducts& partial) noexcept {
  partial.total.add_counts(count, 0, 0, 0, false);
  add_wide(partial.total, sum.low, ProductAccumulator::kUnit);
  add_wide(partial.total, sum.high, ProductAccumulator::kUnit + 64);
}

void add_products(const std::byte* a, const std::byte* b, std::uint64_t count, DType type, PartialProducts& partial) {
  partial.total.add_counts(count, 0, 0, 0, true);
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<Element>) {
      add_integers<Element>(a, b, count, partial);
    } else if constexpr (sizeof(Element) == 2) {
      add_halves(a, b, count, type, partial);
    } else {
      add_floats<Element>(a, b, count, type, partial);
    }
  });
}

}  // namespace samesum::statistics
