// samesum/device/exact_sum.h: on the host, on every device that runs kernels, and compiled by the real NVRTC; beside big integers.
#include "device/cuda/nvrtc.hpp"
#include "device/kernels/program.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"

#include <samesum/barrier.hpp>
#include <samesum/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace samesum {
namespace {

// OpenCL C, as far as the header uses it, for groups of one work-item.
using uint = std::uint32_t;
using ulong = std::uint64_t;
[[maybe_unused]] uint clz(ulong x) { return static_cast<uint>(std::countl_zero(x)); }
[[maybe_unused]] ulong as_ulong(double x) { return std::bit_cast<ulong>(x); }
[[maybe_unused]] double as_double(ulong x) { return std::bit_cast<double>(x); }
[[maybe_unused]] uint as_uint(float x) { return std::bit_cast<uint>(x); }
[[maybe_unused]] float as_float(uint x) { return std::bit_cast<float>(x); }
[[maybe_unused]] std::size_t get_local_id(unsigned) { return 0; }
[[maybe_unused]] std::size_t get_local_size(unsigned) { return 1; }
enum Fence : unsigned { CLK_LOCAL_MEM_FENCE = 1, CLK_GLOBAL_MEM_FENCE = 2 };
[[maybe_unused]] void barrier(unsigned) {}
[[maybe_unused]] ulong atom_add(volatile ulong* p, ulong x) {
  const ulong old = *p;
  *p = old + x;
  return old;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#define __OPENCL_VERSION__ 300
#define __kernel
#define __global
#define __local
#include <samesum/device/exact_sum.h>
#undef __OPENCL_VERSION__
#pragma GCC diagnostic pop

template <class T>
void expect_bits(T found, const test::Expected& expected) {
  if constexpr (sizeof(T) == 8) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found), expected.float64);
  } else {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(found), expected.float32);
  }
}

TEST(ExactSumHeader, SumsOnTheHostAreCorrectlyRounded) {
  std::size_t turn = 0;
  for (const hard::Case& hard_case : hard::cases()) {
    for (const DType type : {DType::float32, DType::float64}) {
      const int format = type == DType::float32 ? EXACT_SUM_FLOAT32 : EXACT_SUM_FLOAT64;
      for (const std::uint64_t size : {0u, 1u, 2u, 37u, 500u}) {
        SCOPED_TRACE(std::string(hard_case.name) + ", " + std::string(name_of(type)) + ", " + std::to_string(size));
        const auto made = hard::make(hard_case, type, size);
        const test::Expected expected = test::gmp_oracle(made.view(), NanPolicy::propagate);
        std::vector<exact_ulong> words(EXACT_SUM_WORDS(format)), direct(EXACT_SUM_WORDS(format)), own(EXACT_SUM_WORDS(format));
        ExactSum parts[3] = {exact_sum_begin(), exact_sum_begin(), exact_sum_begin()};
        for (std::uint64_t i = 0; i < size; ++i) {
          const double x = test::number_at(made.view(), i);
          parts[i % 3] = exact_sum_add(parts[i % 3], x, words.data(), format);
          exact_sum_deposit(x, direct.data(), format);
        }
        const std::vector<exact_ulong> shared = words;
        ExactSum all = parts[0];
        for (const ExactSum& part : {parts[1], parts[2]}) all = exact_sum_merge(all, part, words.data(), format);
        expect_bits(exact_sum_round_float64(direct.data(), format), expected);
        expect_bits(exact_sum_round_float32(direct.data(), format), expected);
        // What is left in words, and what is in registers, in both formats of results.
        const std::vector<exact_ulong> left = words;
        expect_bits(exact_sum_finish_float64(all, words.data(), format), expected);
        words = left;
        expect_bits(exact_sum_finish_float32(all, words.data(), format), expected);
        // Words add up as integers, normalized or not.
        own = shared;
        for (const ExactSum& part : parts) {
          std::vector<exact_ulong> one(own.size());
          exact_sum_deposit_sum(part, one.data(), format);
          if (turn++ % 2 == 0) exact_sum_normalize(one.data(), format);
          for (std::size_t i = 0; i < own.size(); ++i) own[i] += one[i];
        }
        expect_bits(exact_sum_round_float64(own.data(), format), expected);
        if (HasFailure()) return;
      }
    }
  }
}

// Sums in the middle between two floats, or as near to it as a third of a double's last place and far less: the rest decides, not the even
// one.
TEST(ExactSumHeader, FloatsNearMiddlesAreCorrectlyRounded) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float low = std::bit_cast<float>(static_cast<std::uint32_t>(state >> 32) & 0xff7fffffu);  // below 2^127, denormals too
    const double middle = (static_cast<double>(low) + std::nextafter(low, i % 2 == 0 ? INFINITY : -INFINITY)) / 2;
    const int exponent = std::ilogb(middle) - 54 - i % 100;
    for (const double rest : {0.0, std::ldexp(1.0, exponent), -std::ldexp(1.0, exponent)}) {
      const std::vector<double> x{rest / 3, middle, rest};
      std::vector<exact_ulong> words(EXACT_SUM_WORDS(EXACT_SUM_FLOAT64));
      ExactSum sum = exact_sum_begin();
      for (const double value : x) sum = exact_sum_add(sum, value, words.data(), EXACT_SUM_FLOAT64);
      expect_bits(exact_sum_finish_float32(sum, words.data(), EXACT_SUM_FLOAT64), test::gmp_oracle(x, NanPolicy::propagate));
      if (HasFailure()) FAIL() << middle << " and " << rest;
    }
  }
}

// What is left after large terms have cancelled lies in the third of three doubles, and moves to the first: where that is the middle
// between two floats, nothing is left that would decide.
TEST(ExactSumHeader, AMiddleThatCancelledTermsLeaveGoesToTheEvenFloat) {
  for (const double middle : {1 + 0x1p-24, 1 + 0x1p-23 + 0x1p-24, -1 - 0x1p-24}) {
    const std::vector<double> x{0x1p120, 0x1p60, middle, -0x1p120, -0x1p60};
    std::vector<exact_ulong> words(EXACT_SUM_WORDS(EXACT_SUM_FLOAT64));
    ExactSum sum = exact_sum_begin();
    for (const double value : x) sum = exact_sum_add(sum, value, words.data(), EXACT_SUM_FLOAT64);
    expect_bits(exact_sum_finish_float32(sum, words.data(), EXACT_SUM_FLOAT64), test::gmp_oracle(x, NanPolicy::propagate));
  }
}

const std::string& header() {
  static const std::string text(device::kernel_file("samesum/device/exact_sum.h"));
  return text;
}

// Sums of groups, of all, and of cells; `ITEM` is the type of the elements, FORMAT that of the words.
constexpr const char* kKernels = R"(
#ifdef __CUDACC_RTC__
#define GROUP blockIdx.x
#define GROUPS gridDim.x
#else
#define GROUP (uint)get_group_id(0)
#define GROUPS (uint)get_num_groups(0)
#endif
EXACT_SUM_KERNEL void groups(EXACT_SUM_GLOBAL const ITEM* x, unsigned int n, EXACT_SUM_GLOBAL exact_ulong* words,
                             EXACT_SUM_GLOBAL double* sums, EXACT_SUM_GLOBAL float* narrow) {
  EXACT_SUM_LOCAL_VAR double scratch[EXACT_SUM_SCRATCH(256)];
  ExactSum sum = exact_sum_begin();
  const unsigned int each = (n + GROUPS - 1) / GROUPS, first = GROUP * each, end = first + each < n ? first + each : n;
  EXACT_SUM_GLOBAL exact_ulong* own = words + 2 * GROUP * EXACT_SUM_WORDS(FORMAT);
  for (unsigned int i = first + exact_sum_item(); i < end; i += exact_sum_items()) sum = exact_sum_add(sum, x[i], own, FORMAT);
  sum = exact_sum_group(sum, scratch, own, FORMAT);
  if (exact_sum_item() != 0) return;
  // Both results of the same sum: the second from words of its own, to which those of the first are added before it is finished.
  EXACT_SUM_GLOBAL exact_ulong* other = own + EXACT_SUM_WORDS(FORMAT);
  for (int i = 0; i < EXACT_SUM_WORDS(FORMAT); ++i) other[i] = exact_sum_atomic_add(&own[i], 0);
  sums[GROUP] = exact_sum_finish_float64(sum, own, FORMAT);
  narrow[GROUP] = exact_sum_finish_float32(sum, other, FORMAT);
}
EXACT_SUM_KERNEL void add_all(EXACT_SUM_GLOBAL const ITEM* x, unsigned int n, EXACT_SUM_GLOBAL exact_ulong* words) {
  EXACT_SUM_LOCAL_VAR double scratch[EXACT_SUM_SCRATCH(256)];
  ExactSum sum = exact_sum_begin();
  for (unsigned int i = GROUP * exact_sum_items() + exact_sum_item(); i < n; i += GROUPS * exact_sum_items())
    sum = exact_sum_add(sum, x[i], words, FORMAT);
  sum = exact_sum_group(sum, scratch, words, FORMAT);
  if (exact_sum_item() == 0) exact_sum_deposit_sum(sum, words, FORMAT);
}
EXACT_SUM_KERNEL void deposit(EXACT_SUM_GLOBAL const ITEM* x, EXACT_SUM_GLOBAL const unsigned int* cell, unsigned int n,
                              EXACT_SUM_GLOBAL exact_ulong* words) {
  for (unsigned int i = GROUP * exact_sum_items() + exact_sum_item(); i < n; i += GROUPS * exact_sum_items())
    exact_sum_deposit(x[i], words + cell[i] * EXACT_SUM_WORDS(FORMAT), FORMAT);
}
EXACT_SUM_KERNEL void round_all(EXACT_SUM_GLOBAL exact_ulong* words, unsigned int count, EXACT_SUM_GLOBAL double* sums,
                                EXACT_SUM_GLOBAL float* narrow) {
  for (unsigned int i = GROUP * exact_sum_items() + exact_sum_item(); i < count; i += GROUPS * exact_sum_items()) {
    exact_sum_normalize(words + i * EXACT_SUM_WORDS(FORMAT), FORMAT);
    sums[i] = exact_sum_round_float64(words + i * EXACT_SUM_WORDS(FORMAT), FORMAT);
    narrow[i] = exact_sum_round_float32(words + i * EXACT_SUM_WORDS(FORMAT), FORMAT);
  }
}
)";

std::string source_for(DType type) {
  const bool narrow = type == DType::float32;
  return std::string("#define ITEM ") + (narrow ? "float" : "double") + "\n#define FORMAT " +
         (narrow ? "EXACT_SUM_FLOAT32" : "EXACT_SUM_FLOAT64") + "\n" + header() + kKernels;
}

template <class T>
std::vector<T> read(const Buffer& buffer, std::size_t count) {
  std::vector<T> values(count);
  buffer.read(values.data(), count * sizeof(T));
  return values;
}

Buffer zeros(const Device& device, std::size_t bytes) {
  Buffer buffer(device, bytes);
  const std::vector<std::byte> nothing(bytes);
  buffer.write(nothing.data(), bytes);
  return buffer;
}

std::vector<Device> devices() {
  std::vector<Device> found;
  for (const Device& device : test::devices()) {
    const DeviceInfo& info = device.info();
    if (info.has(Capability::kernels) && info.has(Capability::int64_atomics) && info.has(Capability::fp64) &&
        info.has(Capability::device_fence)) {
      found.push_back(device);
    }
  }
  return found;
}

TEST(ExactSumHeader, SumsOfGroupsAndOfCellsOnDevices) {
  for (const Device& device : devices()) {
    for (const DType type : {DType::float32, DType::float64}) {
      const std::string source = source_for(type);
      const Kernel groups(device, source, "groups"), add_all(device, source, "add_all"), deposit(device, source, "deposit"),
          round_all(device, source, "round_all");
      const std::size_t words = 8 * EXACT_SUM_WORDS(type == DType::float32 ? EXACT_SUM_FLOAT32 : EXACT_SUM_FLOAT64);
      std::size_t turn = 0;
      for (const hard::Case& hard_case : hard::cases()) {
        const std::uint32_t size = static_cast<std::uint32_t>(turn % 3 == 0 ? 1000 : turn % 3 == 1 ? 37 : 3001);
        // PoCL compiles a kernel for each size anew.
        const std::uint32_t group_size = type == DType::float32 && turn % 2 == 0 ? 33 : 64;
        ++turn;
        SCOPED_TRACE(std::string(hard_case.name) + ", " + std::string(name_of(type)) + " on " + device.info().selector);
        const auto made = hard::make(hard_case, type, size);
        Buffer x(device, made.view().bytes());
        x.write(made.view().data(), made.view().bytes());
        constexpr std::uint32_t kGroups = 3, kCells = 5;
        Buffer own = zeros(device, 2 * kGroups * words), total = zeros(device, words), cells = zeros(device, kCells * words);
        Buffer sums(device, 8 * kCells), narrow(device, 4 * kCells);
        launch(device, groups, {x, size, own, sums, narrow}, kGroups, group_size);
        auto found = read<double>(sums, kGroups);
        auto found_narrow = read<float>(narrow, kGroups);
        const std::uint32_t each = (size + kGroups - 1) / kGroups;
        for (std::uint32_t k = 0; k < kGroups; ++k) {
          const Array part = Array(made.view()).part(k * each, std::min(each, size - k * each));
          const test::Expected expected = test::gmp_oracle(part, NanPolicy::propagate);
          expect_bits(found[k], expected);
          expect_bits(found_narrow[k], expected);
        }
        // All of them twice, in two launches.
        std::vector<std::uint32_t> cell(size);
        for (std::uint32_t i = 0; i < size; ++i) cell[i] = (i * 7) % 11 % (kCells - 1);  // one stays empty
        Buffer cell_of(device, 4 * size);
        cell_of.write(cell.data(), 4 * size);
        launch(device, add_all, {x, size, total}, kGroups, 64);
        launch(device, deposit, {x, cell_of, size, cells}, kGroups, 64);
        launch(device, round_all, {total, 1u, sums, narrow}, 1, 4);
        const test::Expected all = test::gmp_oracle(made.view(), NanPolicy::propagate);
        expect_bits(read<double>(sums, 1)[0], all);
        expect_bits(read<float>(narrow, 1)[0], all);
        launch(device, round_all, {cells, kCells, sums, narrow}, 1, 4);
        found = read<double>(sums, kCells);
        for (std::uint32_t k = 0; k < kCells; ++k) {
          std::vector<double> in_cell;
          for (std::uint32_t i = 0; i < size; ++i) {
            if (cell[i] == k) in_cell.push_back(test::number_at(made.view(), i));
          }
          expect_bits(found[k], test::gmp_oracle(in_cell, NanPolicy::propagate));
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ExactSumHeader, NvrtcCompilesItAlone) {
  constexpr int kAnyDriver = 13;
  const device::cuda::CompilerChoice choice = device::cuda::choose_compiler(90, kAnyDriver);
  if (choice.library.empty()) GTEST_SKIP() << choice.reason;
  const std::string code = choice.nvrtc().compile(source_for(DType::float32), "compute_80").bytes;
  for (const char* entry : {"groups", "add_all", "deposit", "round_all"}) {
    EXPECT_NE(code.find(std::string(".entry ") + entry), std::string::npos);
  }
  EXPECT_NE(code.find("shfl.sync.down"), std::string::npos);
}

}  // namespace
}  // namespace samesum
