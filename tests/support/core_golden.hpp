// Sums and sums of products of hard elements as one hash, with the accumulators of the library or those of samesum_core.hpp: the same on
// all machines, whatever the order of bytes and the size of long.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace samesum::test {

inline constexpr std::uint64_t kCoreGolden = 0x77638d6e07e0a312;

class CoreGolden {
 public:
  template <class Accumulator, class ProductAccumulator, class NanPolicy>
  std::uint64_t hash() {
    for (int round = 0; round < 400; ++round) {
      const std::uint64_t size = below(round % 7 == 0 ? 3 : 60);
      const int kind = static_cast<int>(below(6));
      Accumulator sum, parts[3];
      ProductAccumulator products, some[3];
      for (std::uint64_t i = 0; i < size; ++i) {
        const double a = element(kind), b = element(kind);
        const float single = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
        const auto integer = static_cast<std::int64_t>(bits());
        for (Accumulator* to : {&sum, &parts[below(3)]}) {
          to->add(a);
          if (kind == 1) to->add(single);
          if (kind == 2) to->add(integer);
        }
        for (ProductAccumulator* to : {&products, &some[i % 3]}) {
          to->add(a, b);
          if (kind == 2) to->add(integer, ~integer);
        }
      }
      put(sum);
      put(products);
      Accumulator merged = parts[2];
      merged.merge(parts[0]);
      merged += parts[1];
      put(merged);
      some[0].merge(some[1]);
      some[0] += some[2];
      put(some[0]);
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        put(std::bit_cast<std::uint64_t>(sum.round(nan)));
        put(std::bit_cast<std::uint32_t>(sum.round_to_float(nan)));
        put(std::bit_cast<std::uint64_t>(products.round(nan)));
        put(std::bit_cast<std::uint32_t>(products.round_to_float(nan)));
        put(std::bit_cast<std::uint64_t>(products.round_root(nan)));
        put(std::bit_cast<std::uint32_t>(products.round_root_to_float(nan)));
      }
      put(Accumulator::from_words(sum.words()) == merged);
      put(ProductAccumulator::from_words(products.words()) == some[0]);
    }
    return hash_;
  }

 private:
  static constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

  std::uint64_t bits() {  // splitmix64
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
  std::uint64_t below(std::uint64_t bound) { return bits() % bound; }

  // Made of bits, whatever the compiler's modes. Of a kind: near 1; of all sizes, with NaNs and infinities; integers; denormals; pairs that
  // cancel; zeros.
  double element(int kind) {
    const std::uint64_t random = bits();
    if (kind == 1) return std::bit_cast<double>(random);
    if (kind == 2) return static_cast<double>(static_cast<std::int32_t>(random));
    if (kind == 3) return std::bit_cast<double>(random & 0x800fffffffffffff);
    if (kind == 4) {
      last_ = random % 4 != 0 ? last_ ^ kSign : (random & ~(std::uint64_t{0x7ff} << 52)) | (random % 2047) << 52;
      return std::bit_cast<double>(last_);
    }
    if (kind == 5) return std::bit_cast<double>(random % 8 != 0 ? kSign : std::uint64_t{random % 16 == 0});
    return std::bit_cast<double>((random & 0x800fffffffffffff) | 0x3fe0000000000000);
  }

  void put(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3 ^ hash_ >> 29; }
  template <class Sum>
  requires requires(const Sum& sum) { sum.words(); }
  void put(const Sum& sum) {
    for (const std::int64_t word : sum.words()) put(static_cast<std::uint64_t>(word));
  }

  std::uint64_t state_ = 1, hash_ = 0xcbf29ce484222325;
  std::uint64_t last_ = 0x3ff0000000000000;
};

}  // namespace samesum::test
