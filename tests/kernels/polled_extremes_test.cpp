// extremes.cl and extremes_small.cl run on the host: a subset of the kernels that ship that covers all pairs of settings.
#include "reduce/collect.hpp"
#include "reduce/extremes/extremes_device.hpp"
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/kernel_rows.hpp"
#include "support/placed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace samesum::test {
namespace {

/// The hard cases, with so many groups that lanes take several slots, and with fewer; each twice, as slots are cleared.
void check(const ExtremesKernel& kernel) {
  constexpr std::uint64_t kMaxGroups = 302;
  const std::uint64_t tile = kernel.tile * kernel.elements_per_load;
  std::vector<unsigned long> slots(kMaxGroups * kernel.record_words);
  std::uint32_t schedule[2] = {0, 0};
  int turns = 0;
  for (const hard::Case& hard_case : hard::cases()) {
    const bool last = hard_case.name == hard::cases().back().name;
    if (is_integer(kernel.type) && !last && hard_case.name != "random_bits") continue;  // of floats
    for (const std::uint64_t length : {std::uint64_t{1}, std::uint64_t{255}, std::uint64_t{257}, 7 * tile + 5, std::uint64_t{4096},
                                       last && kernel.thorough ? 300 * tile + 77 : std::uint64_t{4999}}) {
      const auto data = hard::make(hard_case, kernel.type, length);
      const Array view = data.view();
      const ExtremaRecord expected =
          statistics::record_of(statistics::collect_cpu(view, {{true, false, false, false}}).contents(), view, kernel.ends);
      for (int turn = 0; turn < 2; ++turn) {
        const Placed place(view, anyhow(kernel.type, kernel.strided, turns++));
        const unsigned head = kernel.strided ? 0 : place.head();
        const std::uint64_t loads = (length - head) / kernel.elements_per_load;
        const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(loads / kernel.tile + 1, kMaxGroups));
        ExtremaRecord found{0, ExtremaRecord::kNowhere, 0, ExtremaRecord::kNowhere, 0, 0};
        const bool small = turn == 1 && kernel.small != nullptr && loads != 0;  // as it is used
        const auto small_groups = static_cast<std::uint32_t>((loads + kernel.tile - 1) / kernel.tile);
        if (dialect::ConcurrentGroups::leave_out(small ? small_groups : groups)) continue;
        dialect::emulation().run(small ? small_groups : groups, kernel.group_size, [&] {
          auto* const to = reinterpret_cast<unsigned char*>(&found);
          if (small) return kernel.small(place.base, place.offset, head, static_cast<std::uint32_t>(length), slots.data(), to, 0);
          kernel.search(place.base, place.offset, place.stride, 0, length, head, kernel.strided ? 0 : loads, loads,
                        static_cast<std::uint32_t>(length), slots.data(), schedule, to, 0, 0);
        });
        ASSERT_EQ(found, expected) << hard_case.name << ", " << length << " elements, turn " << turn;
        ASSERT_EQ(schedule[0] | schedule[1], 0u) << hard_case.name;
        ASSERT_TRUE(std::all_of(slots.begin(), slots.end(), [](unsigned long word) { return word == 0; })) << hard_case.name;
      }
    }
  }
}

bool is_any(const ExtremesKernel&) { return true; }
bool is_concurrent(const ExtremesKernel& kernel) {
  return kernel.name == "extremes_float32_both_indices_loads1_small" || kernel.name.find("ticket") != std::string_view::npos;
}

struct PolledExtremes : testing::TestWithParam<ExtremesKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, PolledExtremes, testing::ValuesIn(rows_where<ExtremesKernel>(is_any)), RowName());
TEST_P(PolledExtremes, AreThoseOfAllGroups) { check(GetParam()); }

struct ConcurrentExtremes : testing::TestWithParam<ExtremesKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentExtremes, testing::ValuesIn(rows_where<ExtremesKernel>(is_concurrent)), RowName());
TEST_P(ConcurrentExtremes, AreThoseOfAllGroups) {
  const dialect::ConcurrentGroups concurrent;
  check(GetParam());
}

}  // namespace
}  // namespace samesum::test
