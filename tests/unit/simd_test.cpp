// Which instruction set is chosen, on processors that lack some of the instructions: the C library is told to hide them.
#include "core/simd.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace samesum::simd {
namespace {

// Each set needs all of its instructions, and those of the sets below.
TEST(SimdLevel, IsNotChosenWhereAnInstructionIsMissing) {
#if __has_include(<sys/platform/x86.h>) && !defined(__AVX2__)  // glibc tells which instructions are hidden
  if (const char* highest = std::getenv("SAMESUM_TEST_LEVEL"); test::in_child() && highest != nullptr) {
    EXPECT_EQ(static_cast<int>(detect()), std::stoi(highest));
    return;
  }
  const struct {
    const char* hidden;
    Level highest;  // that is left
  } kCases[] = {{"AVX512VL", Level::avx2},   {"AVX512DQ", Level::avx2}, {"AVX512BW", Level::avx2}, {"AVX2", Level::sse4},
                {"FMA", Level::sse4},        {"BMI1", Level::sse4},     {"BMI2", Level::sse4},     {"SSE4_2", Level::baseline},
                {"SSE4_1", Level::baseline}, {"SSSE3", Level::baseline}};
  for (const auto& [hidden, highest] : kCases) {
    SCOPED_TRACE(hidden);
    const int left = static_cast<int>(std::max(detect(), highest));  // the best is the least
    test::run_in_children({{"GLIBC_TUNABLES", std::string("glibc.cpu.hwcaps=-") + hidden}, {"SAMESUM_TEST_LEVEL", std::to_string(left)}});
  }
#else
  GTEST_SKIP() << "the program is for one instruction set, or glibc hides none here";
#endif
}

}  // namespace
}  // namespace samesum::simd
