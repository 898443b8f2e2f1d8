#include "reduce/cpu/sum_cpu_bins.hpp"

#include <new>
#include <utility>

namespace samesum::reduction {
namespace {

// What a bin held: how many elements, where these are infinities and NaNs, and the sum of their fractions as integers, with the leading
// ones that encodings leave out.
template <class Integer>
struct Contents {
  std::uint64_t count;
  Integer fractions;
};

Contents<std::int64_t> take(BinTables<float>& tables, std::size_t bin) noexcept {
  std::uint64_t sum = 0;
  for (auto& table : tables.sums) {
    sum += table[bin];
    table[bin] = 0;
  }
  if (sum == 0) return {0, 0};
  const std::uint64_t each = BinTables<float>::kOne + (std::uint64_t{bin} << 23);
  const std::uint64_t count = sum / each;
  const std::uint64_t leading_ones = bin % (BinTables<float>::kBins / 2) != 0 ? count << 23 : 0;
  return {count, static_cast<std::int64_t>(sum - count * each + leading_ones)};
}

__extension__ using int128 = __int128;

Contents<int128> take(BinTables<double>& tables, std::size_t bin) noexcept {
  constexpr std::size_t kSign = BinTables<double>::kBins / 2;
  const std::uint64_t carries = std::exchange(tables.carries[bin], 0);
  if (bin % kSign == kSign - 1) return {carries, 0};
  if (bin % kSign == 0) return {carries, static_cast<int128>(std::exchange(tables.denormals[bin / kSign], 0))};
  return {carries, (int128{carries} << 64) + std::exchange(tables.sums[bin], 0)};
}

void add(Accumulator& total, std::int64_t fractions, int exponent, BinTables<float>&) noexcept {
  total.add_scaled(fractions, 925 + exponent);  // 2^-149 = 2^(925 - 1074)
}

void add(Accumulator& total, int128 fractions, int exponent, BinTables<double>&) noexcept {
  total.add_scaled(static_cast<std::int64_t>(fractions & 0xffffffff), exponent);
  total.add_scaled(static_cast<std::int64_t>(fractions >> 32), exponent + 32);
}

}  // namespace

void BinTables<double>::carry(std::size_t bin, std::uint64_t fraction) noexcept {
  ++carries[bin];
  const std::size_t exponent = bin % (kBins / 2);
  if (exponent == 0) denormals[bin / (kBins / 2)] += fraction - kLeadingOne;
  if (exponent == 0 || exponent == kBins / 2 - 1) sums[bin] = kFull;
}

template <class T>
BinTables<T>* Bins<T>::make_room(std::size_t count, Accumulator& total) noexcept {
  if (spared_ + count <= BinTables<T>::kFew) {
    spared_ += count;
    return nullptr;
  }
  if (tables_ == nullptr) tables_.reset(new (std::nothrow) BinTables<T>());
  if (tables_ == nullptr) return nullptr;
  if (filled_ + count > BinTables<T>::kCapacity) flush(total);
  filled_ += count;
  return tables_.get();
}

template <class T>
void Bins<T>::flush(Accumulator& total) noexcept {
  if (filled_ == 0) return;
  filled_ = 0;
  constexpr std::size_t kExponents = BinTables<T>::kBins / 2;
  for (std::size_t exponent = 0; exponent < kExponents; ++exponent) {
    const auto positive = take(*tables_, exponent), negative = take(*tables_, exponent + kExponents);
    if (exponent == kExponents - 1) {
      specials_ += positive.count + negative.count;
    } else if (positive.fractions != negative.fractions) {
      // Denormals have the place of the lowest binade.
      add(total, positive.fractions - negative.fractions, static_cast<int>(exponent != 0 ? exponent - 1 : 0), *tables_);
    }
  }
}

template class Bins<float>;
template class Bins<double>;

}  // namespace samesum::reduction
