// What extremes.cl finds where its last group waits for the others, run on the host: for a file of its own for each type, which defines
// BITS, FRACTION_BITS and EXPONENT_BITS before, and may define the rest of what the host does.
#pragma once

#include "selftest/cases.hpp"
#include "statistics/collect.hpp"
#include "statistics/extremes_device.hpp"
#include "support/emulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#define FLOATS 1
#define SIGNED 1
#ifndef PLACES
#define LEAST 1
#define GREATEST 1
#define PLACES 1
#endif
#define KEEP_LOADS 1
#define COUNT_NANS 1
#define POLLED 1
#define DRAWN 0
#define STRIDED 0
#ifndef GROUP_SIZE
#define LOADS 1
#define GROUP_SIZE 64
#endif
#define GROUP_ROUNDED GROUP_SIZE
#define RESIDENT 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
namespace samesum::dialect {
namespace {  // another kernel in each file
// clang-format off
#include "device/kept.h"
#include "statistics/elements.h"
#include "statistics/extremes.h"
#include "statistics/extremes.cl"
#include "statistics/extremes_little.cl"
// clang-format on
}  // namespace
}  // namespace samesum::dialect
#pragma GCC diagnostic pop

namespace samesum::test {
namespace {

/// The hard cases, by so many groups that lanes take several slots, and fewer; each twice, as slots are cleared.
void check_polled_extremes(DType type) {
  constexpr std::uint64_t kTile = TILE * ELEMENTS_PER_LOAD, kMostGroups = 302;
  constexpr Ends kEnds{LEAST != 0, GREATEST != 0, PLACES != 0};
  std::vector<unsigned long> slots(kMostGroups * EXTREMES_WORDS);
  std::uint32_t schedule[2] = {0, 0};
  for (const hard::Case& hard_case : hard::cases()) {
    for (const std::uint64_t length :
         {1, 255, 257, 4096, hard_case.name == hard::cases().back().name ? 300 * TILE * ELEMENTS_PER_LOAD + 77 : 4999}) {
      const auto data = hard::make(hard_case, type, length);
      const Array view = data.view();
      const ExtremesRecord expected =
          statistics::record_of(statistics::collect_cpu(view, {{true, false, false, false}}).contents(), view, kEnds);
      std::vector<dialect::uint4> memory(view.bytes() / 16 + 2);
      auto* const first = reinterpret_cast<unsigned char*>(memory.data());
      std::memcpy(first, view.data(), view.bytes());
      const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(length / kTile + 1, kMostGroups));
      for (int turn = 0; turn < 2; ++turn) {
        ExtremesRecord found{0, ExtremesRecord::kNowhere, 0, ExtremesRecord::kNowhere, 0, 0};
        const bool little = turn == 1 && length > 4;
        dialect::emulation().run(little ? static_cast<std::uint32_t>((length + kTile - 1) / kTile) : groups, GROUP_SIZE, [&] {
          if (little) {
            return dialect::extremes_little(first, 0, 0, static_cast<std::uint32_t>(length), slots.data(),
                                            reinterpret_cast<unsigned char*>(&found), 0);
          }
          dialect::extremes(first, 0, static_cast<long>(size_of(type)), 0, static_cast<std::uint32_t>(length), slots.data(), schedule,
                            reinterpret_cast<unsigned char*>(&found), 0, 0);
        });
        ASSERT_EQ(found, expected) << hard_case.name << ", " << length << " elements, turn " << turn;
        ASSERT_TRUE(std::all_of(slots.begin(), slots.end(), [](unsigned long word) { return word == 0; })) << hard_case.name;
      }
    }
  }
}

}  // namespace
}  // namespace samesum::test
