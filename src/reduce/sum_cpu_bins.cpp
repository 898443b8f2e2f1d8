#include "reduce/sum_cpu_bins.hpp"

#include <array>
#include <cstring>

namespace samesum::reduce {
namespace {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

template <class Bits>
Bits load(const std::byte* from) noexcept {
  Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

// What a bin counts its elements with: it is added to the bin with every element, and lies above all that the elements add up to.
// float32: the sum of 2^20 elements, less sign and exponent, stays under 2^43, and 2^20 times (2^43 + an element) under 2^64.
constexpr std::uint64_t kOne32 = std::uint64_t{1} << 43;
// float64: there are under 2^20 carries out of the lower 64 bits.
constexpr std::uint64_t kOne64 = std::uint64_t{1} << 20;

}  // namespace

// Copies of the tables, taken in turn: where all elements have one exponent, additions wait for stores to the same bin.
template <>
struct Bins<float>::Tables {
  static constexpr int kRows = 512;
  std::array<std::array<std::uint64_t, kRows>, 4> sums{};

  void add(const std::byte* elements, std::size_t count) noexcept;
  void flush(Accumulator& total) noexcept;
};

template <>
struct Bins<double>::Tables {
  static constexpr int kRows = 4096;
  std::array<std::array<uint128, kRows>, 2> sums{};

  void add(const std::byte* elements, std::size_t count) noexcept;
  void flush(Accumulator& total) noexcept;
};

void Bins<float>::Tables::add(const std::byte* elements, std::size_t count) noexcept {
  const auto add_one = [&](auto& table, std::size_t i) {
    const std::uint32_t bits = load<std::uint32_t>(elements + 4 * i);
    table[bits >> 23] += kOne32 + bits;
  };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    add_one(sums[0], i);
    add_one(sums[1], i + 1);
    add_one(sums[2], i + 2);
    add_one(sums[3], i + 3);
  }
  for (; i < count; ++i) add_one(sums[0], i);
}

void Bins<double>::Tables::add(const std::byte* elements, std::size_t count) noexcept {
  const auto add_one = [&](auto& table, std::size_t i) {
    const std::uint64_t bits = load<std::uint64_t>(elements + 8 * i);
    table[bits >> 52] += (uint128{kOne64} << 64) + bits;
  };
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    add_one(sums[0], i);
    add_one(sums[1], i + 1);
  }
  for (; i < count; ++i) add_one(sums[0], i);
}

void Bins<float>::Tables::flush(Accumulator& total) noexcept {
  constexpr std::uint32_t kExponents = 256;
  const auto take = [&](std::uint32_t row) {
    std::uint64_t sum = 0;
    for (auto& table : sums) {
      sum += table[row];
      table[row] = 0;
    }
    const std::uint64_t each = kOne32 + (std::uint64_t{row} << 23);
    const std::uint64_t count = sum / each;
    const std::uint64_t hidden_bit = row % kExponents != 0 ? std::uint64_t{1} << 23 : 0;
    return static_cast<std::int64_t>(sum - count * (each - hidden_bit));
  };
  for (std::uint32_t exponent = 0; exponent < kExponents; ++exponent) {
    const std::int64_t mantissas = take(exponent) - take(exponent + kExponents);
    if (mantissas != 0) total.add_scaled(mantissas, 925 + static_cast<int>(exponent != 0 ? exponent - 1 : 0));
  }
}

void Bins<double>::Tables::flush(Accumulator& total) noexcept {
  constexpr std::uint32_t kExponents = 2048;
  const auto take = [&](std::uint32_t row) {
    uint128 sum = 0;
    for (auto& table : sums) {
      sum += table[row];
      table[row] = 0;
    }
    const std::uint64_t count = static_cast<std::uint64_t>(sum >> 64) / kOne64;
    const std::uint64_t hidden_bit = row % kExponents != 0 ? std::uint64_t{1} << 52 : 0;
    const uint128 each = (uint128{kOne64} << 64) + (std::uint64_t{row} << 52);
    return static_cast<int128>(sum - count * (each - hidden_bit));
  };
  for (std::uint32_t exponent = 0; exponent < kExponents; ++exponent) {
    const int128 mantissas = take(exponent) - take(exponent + kExponents);
    if (mantissas == 0) continue;
    const int position = static_cast<int>(exponent != 0 ? exponent - 1 : 0);
    total.add_scaled(static_cast<std::int64_t>(mantissas & 0xffffffff), position);
    total.add_scaled(static_cast<std::int64_t>(mantissas >> 32), position + 32);
  }
}

template <class T>
Bins<T>::Bins() noexcept = default;
template <class T>
Bins<T>::~Bins() = default;

template <class T>
void Bins<T>::add(const std::byte* elements, std::size_t count, Accumulator& total) {
  if (tables_ == nullptr) tables_ = std::make_unique<Tables>();
  if (filled_ + count > kCapacity) flush(total);
  tables_->add(elements, count);
  filled_ += count;
}

template <class T>
void Bins<T>::flush(Accumulator& total) noexcept {
  if (filled_ != 0) tables_->flush(total);
  filled_ = 0;
}

template class Bins<float>;
template class Bins<double>;

}  // namespace samesum::reduce
