// A prelude of the kernel dialect that compiles kernel files for the host, with sub-groups of 32. The work-items of a group are fibers that
// switch at barriers. Groups run sequentially; or, in the scope of a ConcurrentGroups, each on its own thread, where atomic operations
// without an order take effect late and in any order, as on a device. For kernels that run only on GPUs, on test machines without one.
#pragma once

#include "core/half.hpp"
#include "support/emulated_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace samesum::dialect {

#define KERNEL inline
#define FN [[maybe_unused]] static inline
#define GLOBAL
#define LOCAL
#define LOCAL_VAR static thread_local  // a group has a thread to itself while it runs
#define FIXED_GROUP(size, groups)
#define DYNLOCAL_PARAMETER(name)
#define DYNLOCAL(name) alignas(16) LOCAL_VAR uint name[1 << 14]

FN uint local_id() { return emulation().item(); }
FN uint group_id() { return emulation().group(); }
FN uint group_count() { return emulation().groups(); }
FN ulong global_id() { return static_cast<ulong>(emulation().group()) * emulation().size() + emulation().item(); }
FN ulong global_size() { return static_cast<ulong>(emulation().groups()) * emulation().size(); }

FN uint barrier_or(uint v) { return emulation().meet_group(v) != 0; }
FN void grid_dependency_wait() {}
FN void launch_dependents() {}
FN void barrier_local() { barrier_or(0); }
FN void barrier_all() { barrier_or(0); }

FN uint atomic_add_local32(uint* p, uint v) { return std::exchange(*p, *p + v); }  // a group's fibers share a thread
FN uint atomic_exchange_local32(uint* p, uint v) { return std::exchange(*p, v); }
using LOCAL_PLACE = uint*;
FN LOCAL_PLACE local_place(uint* p) { return p; }
FN LOCAL_PLACE local_place_behind(LOCAL_PLACE place, uint words) { return place + words; }
FN void add_to_place(LOCAL_PLACE place, uint v) { *place += v; }
FN void store_to_place(LOCAL_PLACE place, uint v) { *place = v; }
FN uint atomic_or_global32(uint* p, uint v) { return std::atomic_ref(*p).fetch_or(v, std::memory_order_relaxed); }
FN Late<uint> atomic_add_global32(uint* p, uint v) { return {p, v}; }
FN Late<ulong> atomic_add_global64(ulong* p, ulong v) { return {p, v}; }
FN void atomic_merge_global64(ulong* p, ulong v) { Late<ulong>(p, v); }
FN void atomic_max_global64(ulong* p, ulong v) {
  std::atomic_ref word(*p);
  for (ulong before = word.load(std::memory_order_relaxed);
       before < v && !word.compare_exchange_weak(before, v, std::memory_order_relaxed);) {
  }
}
FN void atomic_max_global32(uint* p, uint v) { emulation().later({p, v, Effect::max32}); }
FN void atomic_store_global64(ulong* p, ulong v) { emulation().later({p, v, Effect::store64}); }
FN ulong atomic_load_global64(const ulong* p) { return emulation().load(const_cast<ulong*>(p)); }
FN void atomic_load_pair_global64(const ulong* p, ulong* first, ulong* second) {
  *first = emulation().load(const_cast<ulong*>(p));
  *second = emulation().load(const_cast<ulong*>(p) + 1);
}
FN void store_settled_global32(uint* p, uint v) { std::atomic_ref(*p).store(v, std::memory_order_relaxed); }
FN void store_settled_global64(ulong* p, ulong v) { std::atomic_ref(*p).store(v, std::memory_order_relaxed); }
FN void clear_settled_global128(ulong* p) {
  store_settled_global64(p, 0);
  store_settled_global64(p + 1, 0);
}
FN void fence_device() { emulation().fence(); }
FN uint atomic_add_ordered_global32(uint* p, uint v) {
  emulation().fence();
  const uint before = std::atomic_ref(*p).fetch_add(v, std::memory_order_acq_rel);
  emulation().fence();
  return before;
}

FN float sqrt_f32(float x) { return std::sqrt(x); }
FN float add_rn_f32(float a, float b) { return a + b; }
FN float mul_rn_f32(float a, float b) { return a * b; }
FN double add_rn_f64(double a, double b) { return a + b; }
// Rounded down: the error of rounding to the nearest shows whether that rounded up.
FN double add_down_f64(double a, double b) {
  const double sum = a + b;
  if (std::isinf(sum) && std::isfinite(a) && std::isfinite(b)) return sum < 0 ? sum : std::numeric_limits<double>::max();
  if (!std::isfinite(sum)) return sum;
  if (sum == 0) return a == 0 && b == 0 && !std::signbit(a) && !std::signbit(b) ? 0.0 : -0.0;
  const double added = sum - a;
  const double lost = (a - (sum - added)) + (b - added);
  return lost < 0 ? std::nextafter(sum, -std::numeric_limits<double>::infinity()) : sum;
}
// The same of floats whose sums do not overflow.
FN float fma_down_f32(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c, added = sum - product;
  const double lost = (product - (sum - added)) + (c - added);
  const float nearest = static_cast<float>(sum);
  return nearest > sum || (nearest == sum && lost < 0) ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}
FN float add_down_f32(float a, float b) { return fma_down_f32(a, 1, b); }
FN double add_up_f64(double a, double b) { return -add_down_f64(-a, -b); }
FN float fma_rn_f32(float a, float b, float c) { return std::fma(a, b, c); }
FN float min_magnitude_f32(float a, float b) { return std::fmin(std::fabs(a), std::fabs(b)); }
FN float max_magnitude_f32(float a, float b) { return std::fmax(std::fabs(a), std::fabs(b)); }
FN double mul_rn_f64(double a, double b) { return a * b; }
FN double fma_rn_f64(double a, double b, double c) { return std::fma(a, b, c); }
// Rounded down, where the result is exact: only the sign of a zero is affected.
FN double fma_down_f64(double a, double b, double c) {
  const double sum = std::fma(a, b, c);
  return sum == 0 ? -0.0 : sum;
}
FN uint as_uint(float x) { return std::bit_cast<uint>(x); }
FN float as_float(uint x) { return std::bit_cast<float>(x); }
FN ulong as_ulong(double x) { return std::bit_cast<ulong>(x); }
FN double as_double(ulong x) { return std::bit_cast<double>(x); }
FN float half_to_float(std::uint16_t bits) { return core::Float16{bits}; }
FN double half_to_double(std::uint16_t bits) { return half_to_float(bits); }
FN double bfloat16_to_double(std::uint16_t bits) { return as_float(static_cast<uint>(bits) << 16); }
FN uint count_bits32(uint x) { return static_cast<uint>(std::popcount(x)); }
FN uint clz32(uint x) { return static_cast<uint>(std::countl_zero(x)); }
FN uint clz64(ulong x) { return static_cast<uint>(std::countl_zero(x)); }
FN uint lowest_bit(uint x) { return static_cast<uint>(std::countr_zero(x)); }
FN ulong mul_hi64(ulong a, ulong b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<ulong>(static_cast<Wide>(a) * b >> 64);
}
FN void add96(uint* sum, ulong number) {
  const ulong low = (number & 0xffffffffu) + sum[0], middle = (number >> 32) + sum[1] + (low >> 32);
  sum[0] = static_cast<uint>(low);
  sum[1] = static_cast<uint>(middle);
  sum[2] += static_cast<uint>(middle >> 32);
}
FN void add_product96(uint* sum, uint a, uint b) { add96(sum, static_cast<ulong>(a) * b); }
FN void add_square96(uint* sum, int a) { add96(sum, static_cast<ulong>(static_cast<long>(a) * a)); }
FN uint opaque(uint x) { return x; }
FN uint funnel_left(uint low, uint high, uint shift) { return static_cast<uint>((((ulong)high << 32) | low) << shift >> 32); }
FN uint is_finite_f32(uint bits) { return std::isfinite(as_float(bits)); }
// For both halves of a word.
FN uint signs2_s16(uint x) { return (x >> 15 & 0x00010001u) * 0xffffu; }
FN uint max2_u16(uint a, uint b) { return std::max(a >> 16, b >> 16) << 16 | std::max(a & 0xffffu, b & 0xffffu); }
FN uint min2_u16(uint a, uint b) { return std::min(a >> 16, b >> 16) << 16 | std::min(a & 0xffffu, b & 0xffffu); }
FN uint min2_s16(uint a, uint b) { return min2_u16(a ^ 0x80008000u, b ^ 0x80008000u) ^ 0x80008000u; }
FN uint dot4_u8(uint a, uint b, uint c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
  return c;
}
FN int dot4_s8(uint a, uint b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
  return c;
}
FN uint materialize(uint x) { return x; }
FN ulong* materialize_address(ulong* p) { return p; }
FN uint min_u32(uint a, uint b) { return std::min(a, b); }
FN uint max_u32(uint a, uint b) { return std::max(a, b); }
#define NAN_EXTREMES 1
FN uint max_nan_f32(uint a, uint b) {
  if (std::isnan(as_float(a)) || std::isnan(as_float(b))) return 0x7fffffffu;
  const auto key = [](uint x) { return static_cast<int>(x) < 0 ? static_cast<int>(x ^ 0x7fffffffu) : static_cast<int>(x); };
  return key(a) > key(b) ? a : b;
}
FN uint min_nan_f32(uint a, uint b) {
  const uint high = max_nan_f32(a, b);
  return high == 0x7fffffffu ? high : high == a ? b : a;
}
// The same of both halves of words, by floats that have them as their upper bits: `infinite` is the infinity.
FN uint extremes2_nan(uint a, uint b, uint infinite, bool is_max) {
  uint both = 0;
  for (int at = 0; at < 32; at += 16) {
    const uint x = a >> at & 0xffffu, y = b >> at & 0xffffu;
    const bool nan = (x & 0x7fffu) > infinite || (y & 0x7fffu) > infinite;
    const auto key = [](uint half) { return half & 0x8000u ? -1 - static_cast<int>(half & 0x7fffu) : static_cast<int>(half); };
    both |= (nan ? 0x7fffu : (key(x) > key(y)) == is_max ? x : y) << at;
  }
  return both;
}
FN uint max2_nan_f16(uint a, uint b) { return extremes2_nan(a, b, 0x7c00u, true); }
FN uint min2_nan_f16(uint a, uint b) { return extremes2_nan(a, b, 0x7c00u, false); }
FN uint max2_nan_bf16(uint a, uint b) { return extremes2_nan(a, b, 0x7f80u, true); }
FN uint min2_nan_bf16(uint a, uint b) { return extremes2_nan(a, b, 0x7f80u, false); }

struct uint4 {
  uint x, y, z, w;
};
FN uint4 make_uint4(uint x, uint y, uint z, uint w) { return {x, y, z, w}; }
FN uint4 load_streaming(const uint4* p) {
  uint4 loaded;
  std::memcpy(&loaded, p, sizeof loaded);
  return loaded;
}

FN void copy_to_local(uint4* to, const uint4* from) { *to = load_streaming(from); }
FN void wait_for_copies() {}

#define RARELY(condition) (condition)

#define SUBGROUP 32
FN uint subgroup_shuffle(uint value, uint lane) { return static_cast<uint>(emulation().meet_subgroup(value).each[lane % SUBGROUP]); }
FN long subgroup_shuffle64(long value, uint lane) {
  return static_cast<long>(emulation().meet_subgroup(static_cast<ulong>(value)).each[lane % SUBGROUP]);
}
FN uint subgroup_ballot(int condition) {
  return static_cast<uint>(emulation().meet_subgroup(static_cast<ulong>(condition != 0) << emulation().item() % SUBGROUP).any);
}
FN void subgroup_sync() { subgroup_ballot(0); }
FN uint subgroup_max_u32(uint value) {
  const auto& values = emulation().meet_subgroup(value).each;
  return static_cast<uint>(*std::max_element(values.begin(), values.end()));
}
FN uint subgroup_min_u32(uint value) { return ~subgroup_max_u32(~value); }
FN int subgroup_max_s32(int value) { return static_cast<int>(subgroup_max_u32(static_cast<uint>(value) ^ 0x80000000u) ^ 0x80000000u); }
FN uint subgroup_add_u32(uint value) {
  uint sum = 0;
  for (const ulong one : emulation().meet_subgroup(value).each) sum += static_cast<uint>(one);
  return sum;
}
// A sum that exceeds 32 bits is an error.
FN int subgroup_add_s32(int value) {
  long sum = 0;
  for (const ulong one : emulation().meet_subgroup(static_cast<uint>(value)).each) sum += static_cast<int>(one);
  EXPECT_EQ(sum, static_cast<int>(sum)) << "overflow";
  return static_cast<int>(sum);
}
// The same for 64 bits, whose sum must be less than 2^57.
FN long subgroup_add_s64(long value) {
  const long low = subgroup_add_s32((int)value & 0x3ffffff), high = subgroup_add_s32((int)(value >> 26));
  return low + (long)((ulong)high << 26);
}

}  // namespace samesum::dialect
