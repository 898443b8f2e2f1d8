// samesum/device/exact_sum.h as a compiler of CUDA C++ sees it, run on the host: the sum of a group by way of its warps.
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace samesum::dialect {
namespace {

// CUDA C++, as far as the header uses it.
struct Extent {
  unsigned int x;
};
template <class Word>
Word shuffled_down(Word value, unsigned int distance) {
  const uint lane = local_id() % 32;
  return static_cast<Word>(emulation().meet_subgroup(static_cast<ulong>(value)).each[lane + distance < 32 ? lane + distance : lane]);
}
double __shfl_down_sync(unsigned int, double value, unsigned int distance) {
  return std::bit_cast<double>(shuffled_down(std::bit_cast<std::uint64_t>(value), distance));
}
unsigned int __shfl_down_sync(unsigned int, unsigned int value, unsigned int distance) { return shuffled_down(value, distance); }
bool __any_sync(unsigned int, bool condition) { return subgroup_ballot(condition) != 0; }
bool __all_sync(unsigned int, bool condition) { return subgroup_ballot(!condition) == 0; }
void __syncthreads() { barrier_local(); }
void __threadfence() { fence_device(); }
unsigned long long atomicAdd(unsigned long long* p, unsigned long long x) { return std::exchange(*p, *p + x); }
int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
float __uint_as_float(unsigned int x) { return std::bit_cast<float>(x); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#define __CUDACC__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define threadIdx \
  Extent { local_id() }
#define blockDim \
  Extent { emulation().size() }
#include <samesum/device/exact_sum.h>
#undef __CUDACC__
#undef __device__
#undef __forceinline__
#undef __noinline__
#undef threadIdx
#undef blockDim
#pragma GCC diagnostic pop

TEST(ExactSumOfWarps, SumsOfGroupsAreCorrectlyRounded) {
  std::size_t turn = 0;
  for (const hard::Case& hard_case : hard::cases()) {
    for (const DType type : {DType::float32, DType::float64}) {
      const int format = type == DType::float32 ? EXACT_SUM_FLOAT32 : EXACT_SUM_FLOAT64;
      const std::uint64_t size = turn++ % 2 == 0 ? 1000 : 37;
      const auto made = hard::make(hard_case, type, size);
      const test::Expected expected = test::gmp_oracle(made.view(), NanPolicy::propagate);
      for (const uint items : {32u, 96u, 256u}) {
        SCOPED_TRACE(std::string(hard_case.name) + ", " + std::string(name_of(type)) + " by " + std::to_string(items));
        std::vector<double> scratch(EXACT_SUM_SCRATCH(items));
        std::vector<exact_ulong> words(EXACT_SUM_WORDS(format));
        double sum = 0;
        emulation().run(1, items, [&] {
          ExactSum own = exact_sum_begin();
          for (std::uint64_t i = local_id(); i < size; i += items) {
            own = exact_sum_add(own, test::number_at(made.view(), i), words.data(), format);
          }
          own = exact_sum_group(own, scratch.data(), words.data(), format);
          if (local_id() == 0) sum = exact_sum_finish_float64(own, words.data(), format);
        });
        EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), expected.float64);
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace samesum::dialect
