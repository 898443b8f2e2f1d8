// record.cl run on the host, by sub-groups: from the words of exact sums, the bits of Statistics.
#include "reduce/layout.hpp"
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/kernel_rows.hpp"
#include "support/placed.hpp"
#include "support/statistics_record.hpp"

#include <samesum/reduce.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace samesum::test {
namespace {

/// Words of which word i weighs 2^(base + 32 i) in the units of canonical digits; in any of their forms, as groups leave them.
void append_words(std::vector<unsigned long>& words, std::span<const std::int64_t> digits, int base, std::uint32_t count,
                  hard::Random& random) {
  const std::size_t from = static_cast<std::size_t>(base / 32), first = words.size();
  const auto digit = [&](std::size_t i) { return i < digits.size() ? digits[i] : digits.back() < 0 ? 0xffffffff : 0; };
  for (std::size_t i = from; i < from + count; ++i) {
    const auto two = static_cast<unsigned long>(digit(i) & 0xffffffff) | static_cast<unsigned long>(digit(i + 1)) << 32;
    words.push_back(two >> base % 32 & 0xffffffff);
  }
  if (digits.back() < 0) words.back() -= 1ul << 32;
  for (std::size_t i = first; i + 1 < words.size(); ++i) {
    if (words[i] == 0 && words[i + 1] == 0) continue;  // words that nothing was added to
    const unsigned long moved = random.bits(16) - (1ul << 15);
    words[i] += moved << 32;
    words[i + 1] -= moved;
  }
}

class Records : public testing::TestWithParam<RecordKernel> {};

TEST_P(Records, HaveTheBitsOfStatistics) {
  const RecordKernel& kernel = GetParam();
  const reduction::RecordLayout layout(kernel.type, kernel.fields.sum, kernel.fields.squares, false);
  hard::Random random(1);
  for (const hard::Case& one : hard::cases()) {
    for (const std::uint64_t size : {0, 1, 2, 17, 1000}) {
      const auto data = hard::make(one, kernel.type, size);
      const Array view = data.view();
      const Statistics found = collect(view, {true, true, true, true}, {.device = Device::open("cpu")});
      std::vector<unsigned long> words(RECORD_EXTREMES);
      const unsigned long nans = found.nan_count();
      words[RECORD_NANS] = nans << 32 | (found.contents().first_nan ? *found.contents().first_nan : 0xffffffff);
      words[RECORD_INDICES] = ~0ul;  // extremes are a few words that the kernel copies: tests on devices look at them
      if (kernel.fields.sum) append_words(words, found.sum().canonical_digits(), layout.sum_base, layout.sum_digits, random);
      if (kernel.fields.squares)
        append_words(words, found.squares().canonical_digits(), 2 * layout.sum_base, layout.product_digits, random);
      unsigned long counters[RECORD_COUNTERS] = {nans};
      counters[COUNTER_NONZEROS] = found.nonzero_count();
      for (std::uint64_t i = 0; i < (is_integer(kernel.type) ? 0 : size); ++i) {
        const double x = number_at(view, i);
        if (std::isinf(x)) ++counters[std::signbit(x) && kernel.fields.sum ? COUNTER_NEGATIVE_INFINITIES : COUNTER_POSITIVE_INFINITIES];
        counters[COUNTER_OTHERS] += !std::isnan(x) && !(x == 0 && std::signbit(x));
      }
      words.insert(words.end(), std::begin(counters), std::end(counters));
      ASSERT_EQ(words.size(), layout.words());
      Statistics::Contents contents = found.contents();
      contents.fields = kernel.fields;
      const Statistics expected(contents);
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        StatisticsRecord record;
        std::memset(static_cast<void*>(&record), 0xff, sizeof record);
        dialect::emulation().run(1, static_cast<dialect::uint>(kernel.group_size), [&] {
          kernel.write(words.data(), reinterpret_cast<unsigned char*>(&record), 0, size, nan == NanPolicy::skip);
        });
        expect_record(record, expected, kernel.type, nan,
                      std::string(one.name) + ", " + std::to_string(size) + (nan == NanPolicy::skip ? ", NaNs skipped" : ""));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Records, testing::ValuesIn(rows_where<RecordKernel>([](const RecordKernel&) { return true; })),
                         RowName());

}  // namespace
}  // namespace samesum::test
