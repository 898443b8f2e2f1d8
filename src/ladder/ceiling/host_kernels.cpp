#include "ladder/ceiling/host_kernels.hpp"

#include "core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladder/ceiling/host_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace samesum::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `length` words of each of kStreams streams, `stride` words apart.
template <std::uint32_t kStreams>
std::uint64_t read_streams(const std::uint64_t* words, std::uint64_t length, std::uint64_t stride, std::uint32_t prefetch) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t step = 8 / kStreams * lanes;  // per stream: eight loads in flight in total
  const std::size_t ahead = prefetch / sizeof(std::uint64_t);
  auto b0 = hn::Zero(d), b1 = b0, b2 = b0, b3 = b0, b4 = b0, b5 = b0, b6 = b0, b7 = b0;
  std::uint64_t i = 0;
  for (; i + step <= length; i += step) {
    const auto load = [&](std::size_t k) HWY_ATTR {
      const std::uint64_t* from = words + k / (8 / kStreams) * stride + i + k % (8 / kStreams) * lanes;
      if (ahead != 0 && k % 2 == 0) hwy::Prefetch(from + ahead);
      return hn::LoadU(d, from);
    };
    b0 = hn::Xor(b0, load(0));
    b1 = hn::Xor(b1, load(1));
    b2 = hn::Xor(b2, load(2));
    b3 = hn::Xor(b3, load(3));
    b4 = hn::Xor(b4, load(4));
    b5 = hn::Xor(b5, load(5));
    b6 = hn::Xor(b6, load(6));
    b7 = hn::Xor(b7, load(7));
  }
  const auto bits = hn::Xor(hn::Xor(hn::Xor(b0, b1), hn::Xor(b2, b3)), hn::Xor(hn::Xor(b4, b5), hn::Xor(b6, b7)));
  HWY_ALIGN std::uint64_t all[HWY_MAX_BYTES / sizeof(std::uint64_t)];
  hn::Store(bits, d, all);
  std::uint64_t folded = 0;
  for (std::size_t k = 0; k < lanes; ++k) folded ^= all[k];
  for (std::uint32_t s = 0; s < kStreams; ++s) {
    for (std::uint64_t k = i; k < length; ++k) {
      std::uint64_t word;
      std::memcpy(&word, words + s * stride + k, sizeof(word));
      folded ^= word;
    }
  }
  return folded;
}

std::uint64_t read_bits(const void* data, std::uint64_t bytes, ReadShape shape) {
  // Only ever loaded from unaligned: the address of a word may be any.
  const auto* words = reinterpret_cast<const std::uint64_t*>(data);
  const std::uint64_t stream = bytes / sizeof(std::uint64_t) / shape.streams;
  std::uint64_t folded = shape.streams == 4   ? read_streams<4>(words, stream, stream, shape.prefetch)
                         : shape.streams == 2 ? read_streams<2>(words, stream, stream, shape.prefetch)
                                              : read_streams<1>(words, stream, stream, shape.prefetch);
  for (std::uint64_t done = stream * shape.streams * sizeof(std::uint64_t); done < bytes; done += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(data) + done, bytes - done < sizeof(word) ? bytes - done : sizeof(word));
    folded ^= word;
  }
  return folded;
}

template <class Real>
Real multiply_add(Real factor, Real term, std::uint32_t rounds, std::uint64_t* operations) {
  const hn::ScalableTag<Real> d;
  const auto f = hn::Set(d, factor);
  const auto t = hn::Set(d, term);
  auto c0 = hn::Set(d, Real{0}), c1 = hn::Set(d, Real{1}), c2 = hn::Set(d, Real{2}), c3 = hn::Set(d, Real{3});
  auto c4 = hn::Set(d, Real{4}), c5 = hn::Set(d, Real{5}), c6 = hn::Set(d, Real{6}), c7 = hn::Set(d, Real{7});
  auto c8 = hn::Set(d, Real{8}), c9 = hn::Set(d, Real{9}), c10 = hn::Set(d, Real{10}), c11 = hn::Set(d, Real{11});
  for (std::uint32_t i = 0; i < 16 * rounds; ++i) {
    c0 = hn::MulAdd(c0, f, t);
    c1 = hn::MulAdd(c1, f, t);
    c2 = hn::MulAdd(c2, f, t);
    c3 = hn::MulAdd(c3, f, t);
    c4 = hn::MulAdd(c4, f, t);
    c5 = hn::MulAdd(c5, f, t);
    c6 = hn::MulAdd(c6, f, t);
    c7 = hn::MulAdd(c7, f, t);
    c8 = hn::MulAdd(c8, f, t);
    c9 = hn::MulAdd(c9, f, t);
    c10 = hn::MulAdd(c10, f, t);
    c11 = hn::MulAdd(c11, f, t);
  }
  const auto low = hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)), hn::Add(c4, c5));
  const auto high = hn::Add(hn::Add(hn::Add(c6, c7), hn::Add(c8, c9)), hn::Add(c10, c11));
  *operations = std::uint64_t{2} * kChains * 16 * rounds * hn::Lanes(d);
  return hn::GetLane(hn::Add(low, high));
}

float multiply_add_f32(float f, float t, std::uint32_t rounds, std::uint64_t* operations) { return multiply_add(f, t, rounds, operations); }
double multiply_add_f64(double f, double t, std::uint32_t rounds, std::uint64_t* operations) {
  return multiply_add(f, t, rounds, operations);
}

}  // namespace samesum::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace samesum::bench {

SIMD_EXPORT(read_bits);
SIMD_EXPORT(multiply_add_f32);
SIMD_EXPORT(multiply_add_f64);

std::uint64_t read_bits(const void* data, std::uint64_t bytes, ReadShape shape) noexcept {
  return SIMD_CALL(read_bits)(data, bytes, shape);
}

template <>
float multiply_add(float factor, float term, std::uint32_t rounds, std::uint64_t* operations) noexcept {
  return SIMD_CALL(multiply_add_f32)(factor, term, rounds, operations);
}

template <>
double multiply_add(double factor, double term, std::uint32_t rounds, std::uint64_t* operations) noexcept {
  return SIMD_CALL(multiply_add_f64)(factor, term, rounds, operations);
}

}  // namespace samesum::bench
#endif
