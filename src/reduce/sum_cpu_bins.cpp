#include "reduce/sum_cpu_bins.hpp"

namespace samesum::reduce {
namespace {

void flush_tables(BinTables<float>& tables, Accumulator& total) noexcept {
  constexpr std::size_t kExponents = BinTables<float>::kBins / 2;
  const auto take = [&](std::size_t bin) -> std::int64_t {
    std::uint64_t sum = 0;
    for (auto& table : tables.sums) {
      sum += table[bin];
      table[bin] = 0;
    }
    if (sum == 0) return 0;
    const std::uint64_t each = BinTables<float>::kOne + (std::uint64_t{bin} << 23);
    const std::uint64_t count = sum / each;
    const std::uint64_t leading_ones = bin % kExponents != 0 ? count << 23 : 0;
    return static_cast<std::int64_t>(sum - count * each + leading_ones);
  };
  for (std::size_t exponent = 0; exponent < kExponents; ++exponent) {
    const std::int64_t difference = take(exponent) - take(exponent + kExponents);
    if (difference == 0 || exponent == kExponents - 1) continue;
    total.add_scaled(difference, 925 + static_cast<int>(exponent != 0 ? exponent - 1 : 0));  // 2^-149 = 2^(925 - 1074)
  }
}

__extension__ using int128 = __int128;

void flush_tables(BinTables<double>& tables, Accumulator& total) noexcept {
  constexpr std::size_t kExponents = BinTables<double>::kBins / 2;
  const auto take = [&](std::size_t index) -> int128 {
    auto& bin = tables.bins[index];
    if (bin.upper == 0) return 0;
    const std::uint64_t count = bin.upper / BinTables<double>::kOne;
    const std::uint64_t carries = bin.upper % BinTables<double>::kOne;
    const auto leading_ones = index % kExponents != 0 ? int128{1} << 52 : 0;
    const int128 sum = (int128{carries} << 64) + bin.sum - int128{count} * ((int128{index} << 52) - leading_ones);
    bin = {};
    return sum;
  };
  for (std::size_t exponent = 0; exponent < kExponents; ++exponent) {
    const int128 difference = take(exponent) - take(exponent + kExponents);
    if (difference == 0 || exponent == kExponents - 1) continue;
    const int position = static_cast<int>(exponent != 0 ? exponent - 1 : 0);
    total.add_scaled(static_cast<std::int64_t>(difference & 0xffffffff), position);
    total.add_scaled(static_cast<std::int64_t>(difference >> 32), position + 32);
  }
}

}  // namespace

template <class T>
BinTables<T>* Bins<T>::make_room(std::size_t count, Accumulator& total) {
  if (spared_ + count <= BinTables<T>::kFew) {
    spared_ += count;
    return nullptr;
  }
  if (tables_ == nullptr) tables_ = std::make_unique<BinTables<T>>();
  if (filled_ + count > BinTables<T>::kCapacity) flush(total);
  filled_ += count;
  return tables_.get();
}

template <class T>
void Bins<T>::flush(Accumulator& total) noexcept {
  if (filled_ != 0) flush_tables(*tables_, total);
  filled_ = 0;
}

template class Bins<float>;
template class Bins<double>;

}  // namespace samesum::reduce
