// The instruction sets that this processor has, for tests of code that is compiled once for each of them.
#pragma once

#include "core/simd.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace samesum::test {

/// The widest first.
inline std::vector<simd::Level> simd_levels() {
  std::vector<simd::Level> all;
  for (const simd::Level level : {simd::Level::avx512, simd::Level::avx2, simd::Level::sse4, simd::Level::baseline}) {
    if (level >= simd::detect()) all.push_back(level);
  }
  return all;
}

/// Tests that run with one of them.
class AtSimdLevel : public testing::TestWithParam<simd::Level> {
 public:
  static std::string name(const testing::TestParamInfo<simd::Level>& info) {
    constexpr const char* kNames[] = {"avx512", "avx2", "sse4", "baseline"};
    return kNames[static_cast<int>(info.param)];
  }

 protected:
  void SetUp() override { simd::restrict_to(GetParam()); }
  void TearDown() override { simd::restrict_to(simd::detect()); }
};

}  // namespace samesum::test
