// statistics.cl for sums, squares and products, run on the host: of the kernels that ship, so many that any two settings come together.
#include "reduce/collect.hpp"
#include "reduce/layout.hpp"
#include "selftest/cases.hpp"
#include "support/emulation.hpp"
#include "support/kernel_rows.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/product_accumulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {
namespace {

/// How an array is walked: as rows of `length` elements, with `apart` bytes between them.
struct Rows {
  std::uint64_t length;
  long apart;
  bool by_loads;  ///< what follows one another within a row
};

/// A copy of an array in rows.
struct InRows {
  InRows(Array data, Rows rows, long offset_)
      : offset(static_cast<unsigned long>(offset_)),
        stride(static_cast<long>(size_of(data.type()))),
        row_stride(stride * static_cast<long>(rows.length) + rows.apart) {
    const auto row_bytes = rows.length * size_of(data.type());
    const std::uint64_t count = data.size() / rows.length;
    memory.resize(count * static_cast<std::uint64_t>(row_stride) + offset + 64);
    base = memory.data() + 16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16;
    for (std::uint64_t row = 0; row < count; ++row) {
      std::memcpy(base + offset + row * static_cast<std::uint64_t>(row_stride),
                  static_cast<const unsigned char*>(data.data()) + row * row_bytes, row_bytes);
    }
  }
  std::vector<unsigned char> memory;
  unsigned char* base;
  unsigned long offset;
  long stride, row_stride;
};

/// A launch, its exact sums against accumulators that add one after the other, and the memory that it shares with the next, which it leaves
/// clean.
class Moments {
 public:
  explicit Moments(const StatisticsKernel& kernel)
      : kernel_(kernel), layout_(kernel.type, kernel.sum, kernel.products, kernel.dot), merged_(layout_.added_words() * SPACING) {}

  void check(Array view, std::uint32_t groups, const std::string& what) {
    // Contiguous arrays go in loads, where two lie alike.
    const bool in_loads = !kernel_.strided;
    const Placed a(view, anyhow(kernel_.type, !in_loads, launches_)),
        b(view, anyhow(kernel_.type, !in_loads, in_loads ? launches_ : launches_ + 1));
    ++launches_;
    const std::uint64_t count = view.size();
    const std::uint32_t head = in_loads ? a.head() : 0;
    const std::uint64_t loads = (count - head) / kernel_.elements_per_load;
    launch(groups, [&](auto... results) {
      kernel_.collect(a.base, a.offset, a.stride, 0, b.base, b.offset, b.stride, 0, std::max<std::uint64_t>(count, 1), head,
                      in_loads ? loads : 0, loads, count, results...);
    });
    expect_right(view, what);
  }

  /// So many tiles that groups draw half of them from a counter, which is zero again after the last group has drawn.
  void check_drawn_tiles() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(6);
    std::vector<std::uint64_t> patterns(200'000 * kernel_.elements_per_load);
    for (std::uint64_t& pattern : patterns) pattern = format.power(random.between(0, 3)) | random.bits(format.fraction_bits);
    const hard::Data data(patterns, kernel_.type);
    for (int round = 0; round < 2; ++round) {
      check(data.view(), 3, "round " + std::to_string(round));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// The same of rows.
  void check_rows(Array view, Rows rows, std::uint32_t groups, const std::string& what) {
    const long offset = rows.by_loads ? static_cast<long>(size_of(kernel_.type)) * (launches_++ % 3) : 0;
    const InRows a(view, rows, offset), b(view, rows, offset);
    const auto head = static_cast<std::uint32_t>(rows.by_loads ? (16 - offset) % 16 / size_of(kernel_.type) : 0);
    const std::uint64_t row_loads = rows.by_loads ? (rows.length - head) / kernel_.elements_per_load : 0;
    const std::uint64_t loads = rows.by_loads ? view.size() / rows.length * row_loads : view.size() / kernel_.elements_per_load;
    launch(groups, [&](auto... results) {
      kernel_.collect(a.base, a.offset, a.stride, a.row_stride, b.base, b.offset, b.stride, b.row_stride, rows.length, head, row_loads,
                      loads, view.size(), results...);
    });
    expect_right(view, what, !rows.by_loads || row_loads * kernel_.elements_per_load == rows.length);
  }

  void check_hard_cases() {
    unsigned turn = 0;
    for (const hard::Case& hard_case : hard::cases()) {
      if (is_integer(kernel_.type) && hard_case.name != "random_bits") continue;  // the others are of floats
      for (const std::uint64_t length : {1, 2, 127, 128, 1023, 4999}) {
        const auto data = hard::make(hard_case, kernel_.type, length);
        for (const std::uint32_t groups : {1u, 3u}) {
          if ((!kernel_.thorough && ++turn % 5 != 0) || dialect::ConcurrentGroups::leave_out(groups)) continue;
          check(data.view(), groups,
                std::string(hard_case.name) + ", " + std::to_string(length) + " elements, groups: " + std::to_string(groups));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  /// Rows that are longer than a group's step and shorter, of which loads leave something or nothing.
  void check_rows_of_hard_cases() {
    const auto element = static_cast<long>(size_of(kernel_.type));
    for (const hard::Case& hard_case : hard::cases()) {
      if (is_integer(kernel_.type) && hard_case.name != "random_bits") continue;
      if (!kernel_.thorough && !is_integer(kernel_.type) && ++rows_turn_ % 9 != 0) continue;
      for (const auto& [rows, length] : {std::pair{300ul, 7ul}, {17ul, 96ul}, {3ul, 1111ul}, {50ul, 99ul}, {2ul, 2ul}}) {
        const auto data = hard::make(hard_case, kernel_.type, rows * length);
        const long row_bytes = static_cast<long>(length) * element, apart = (row_bytes + 15) / 16 * 16 - row_bytes + 32;
        const std::string what = std::string(hard_case.name) + ", rows of " + std::to_string(length);
        check_rows(data.view(), {length, 3 * element, false}, 3, what);
        if (length >= 96) check_rows(data.view(), {length, apart, true}, 2, what + " by loads");
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  /// Exponents that drift: windows of the work-items of a sub-group are alike, or not, or some hold nothing.
  void check_windows() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(3);
    for (int round = 0; round < (kernel_.thorough ? 60 : 8); ++round) {
      const int middle = random.between(-60, 60), wide = random.between(0, 12), apart = random.between(0, 40);
      std::vector<std::uint64_t> patterns(static_cast<std::size_t>(random.between(1, 3000)));
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const int exponent = middle + random.between(0, wide) + (i % 7 == 0 ? apart : 0) - static_cast<int>(i / 512) * (round % 3);
        const bool zero = round % 4 == 0 && i / 64 % 2 == 0;
        patterns[i] = zero ? 0 : format.encode(random.bits(format.fraction_bits + 1), exponent) | (random.bits(1) != 0 ? format.sign() : 0);
      }
      const hard::Data data(patterns, kernel_.type);
      check(data.view(), 2, "round " + std::to_string(round));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// Numbers of two magnitudes whose lowest bits are set, so many exponents apart: those which a window just holds, and those which it does
  /// not.
  void check_spans() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(5);
    for (int apart = kernel_.thorough ? 0 : 2; apart < 70; apart += kernel_.thorough ? 1 : 3) {
      std::vector<std::uint64_t> patterns(1600);
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const std::uint64_t mantissa = std::uint64_t{1} << format.fraction_bits | random.bits(format.fraction_bits) | 1;
        const int exponent = 10 - static_cast<int>(format.fraction_bits) - (i % 3 == 0 ? apart : 0);
        patterns[i] = format.encode(mantissa, exponent) | (random.bits(1) != 0 ? format.sign() : 0);
      }
      const hard::Data data(patterns, kernel_.type);
      check(data.view(), 1, std::to_string(apart) + " exponents apart");
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// Neighbouring numbers of both signs, which fall up to two thirds and rise from there, or the reverse: each is an extreme, and float64
  /// differ in their lower halves alone.
  void check_neighbours() {
    const hard::Format format = hard::format_of(kernel_.type);
    constexpr std::size_t kTurn = 4000, kCount = 6000;
    for (const bool rising : {false, true}) {
      for (const std::uint64_t sign : {std::uint64_t{0}, format.sign()}) {
        std::vector<std::uint64_t> patterns(kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
          const std::size_t from_turn = i < kTurn ? kTurn - i : i - kTurn;
          patterns[i] = sign | (format.power(3) + (rising ? kTurn - from_turn : from_turn));
        }
        patterns[0] = sign | format.power(rising ? -3 : 12);  // so that only one extreme changes
        const hard::Data data(patterns, kernel_.type);
        check(data.view(), 1, std::string(rising ? "rising" : "falling") + (sign != 0 ? ", negative" : ""));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  /// Numbers of one magnitude after zeros, of which no window can be guessed: one that is closed takes none of them.
  void check_closed_windows() {
    const hard::Format format = hard::format_of(kernel_.type);
    hard::Random random(4);
    for (const std::uint64_t exponent : {2, 12, 24, 33, 40, 60}) {
      if (exponent << format.fraction_bits >= format.infinity()) break;
      std::vector<std::uint64_t> patterns(6000);
      for (std::size_t i = 2500; i < patterns.size(); ++i)
        patterns[i] = exponent << format.fraction_bits | random.bits(format.fraction_bits);
      const hard::Data data(patterns, kernel_.type);
      check(data.view(), 1, "exponent field " + std::to_string(exponent));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  template <class Call>
  void launch(std::uint32_t groups, const Call& call) {
    result_.assign(layout_.words(), ~0ul);
    records_.assign(groups * RECORD_EXTREMES, 0);
    std::fill(std::begin(record_), std::end(record_), ~0ul);
    dialect::emulation().run(groups, kernel_.group_size, [&] {
      call(records_.data(), merged_.data(), schedule_, result_.data(), reinterpret_cast<unsigned char*>(record_), 0ul, 0);
    });
  }

  /// `ordered`: elements are read in the order of their indices, as they are where extremes are wanted.
  void expect_right(Array view, const std::string& what, bool ordered = true) {
    const std::uint64_t count = view.size();
    const bool integers = is_integer(kernel_.type);
    Accumulator sum;
    ProductAccumulator products, expected_products;
    const unsigned long* word = &result_[RECORD_EXTREMES];
    for (std::uint32_t i = 0; i < layout_.sum_digits; ++i)
      sum.add_scaled(static_cast<std::int64_t>(*word++), layout_.sum_base + static_cast<int>(32 * i));
    for (std::uint32_t i = 0; i < layout_.product_digits; ++i) {
      products.add_scaled(static_cast<std::int64_t>(*word++), 2 * layout_.sum_base + static_cast<int>(32 * i));
    }
    const unsigned long nans = word[COUNTER_NANS], positive = word[COUNTER_POSITIVE_INFINITIES],
                        negative = word[COUNTER_NEGATIVE_INFINITIES];
    const bool no_others = word[COUNTER_OTHERS] == 0;
    integers ? sum.add_integer_count(count, is_signed(kernel_.type)) : sum.add_counts(count, nans, positive, negative, no_others);
    if (kernel_.sum) {
      ASSERT_EQ(sum, add_each(view)) << what;
    }
    if (kernel_.products) {
      kernel_.dot ? products.add_counts(count, nans, positive, negative, no_others)
                  : products.add_counts(count, nans, positive + negative, 0, count == nans);
      for (std::uint64_t i = 0; i < count; ++i) expected_products.add(number_at(view, i), number_at(view, i));
      ASSERT_EQ(products, expected_products) << what;
    }
    if (kernel_.rounds) {
      ASSERT_EQ(record_[0], std::bit_cast<std::uint64_t>(kernel_.dot ? products.round() : sum.round())) << what;
      ASSERT_EQ(static_cast<std::uint32_t>(record_[2]),
                std::bit_cast<std::uint32_t>(kernel_.dot ? products.round_to_float() : sum.round_to_float()))
          << what;
    }
    if (kernel_.extremes && ordered) expect_right_extremes(view, what);
    ASSERT_TRUE(std::all_of(merged_.begin(), merged_.end(), [](unsigned long left) { return left == 0; })) << what;
    ASSERT_TRUE(std::all_of(records_.begin(), records_.end(), [](unsigned long left) { return left == 0; })) << what;
    ASSERT_EQ(schedule_[0] | schedule_[1], 0u) << what;
  }

  void expect_right_extremes(Array view, const std::string& what) {
    const Statistics::Contents expected = statistics::collect_cpu(view, {{true, false, false, true}}).contents();
    const auto expect = [&](const std::optional<Extremum>& extremum, std::int64_t key, std::uint32_t index) {
      ASSERT_EQ(extremum.has_value(), index != ~0u) << what;
      if (!extremum) return;
      ASSERT_EQ(extremum->index, index) << what;
      ASSERT_EQ(extremum->value, statistics::value_of(key, kernel_.type)) << what;
    };
    const unsigned long indices = result_[RECORD_INDICES];
    expect(expected.max, static_cast<std::int64_t>(result_[RECORD_MAX_KEY]), static_cast<std::uint32_t>(indices >> 32));
    expect(expected.min, ~static_cast<std::int64_t>(result_[RECORD_MIN_KEY]), static_cast<std::uint32_t>(indices));
    ASSERT_EQ(expected.first_nan.value_or(~0u), static_cast<std::uint32_t>(result_[RECORD_NANS])) << what;
    if (kernel_.nonzeros) {
      ASSERT_EQ(expected.nonzeros, result_[RECORD_EXTREMES + layout_.added_words() - RECORD_COUNTERS + COUNTER_NONZEROS]) << what;
    }
  }

  StatisticsKernel kernel_;
  reduction::RecordLayout layout_;
  std::vector<unsigned long> merged_, result_, records_;
  unsigned long record_[3];
  std::uint32_t schedule_[2] = {0, 0};
  int launches_ = 0;
  unsigned rows_turn_ = 0;
};

bool is_any(const StatisticsKernel&) { return true; }
bool is_concurrent(const StatisticsKernel& kernel) { return kernel.thorough && kernel.type == DType::float32; }

struct MomentsOf : testing::TestWithParam<StatisticsKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, MomentsOf, testing::ValuesIn(rows_where<StatisticsKernel>(is_any)), RowName());
TEST_P(MomentsOf, HardCasesAreRight) { Moments(GetParam()).check_hard_cases(); }
TEST_P(MomentsOf, AnyWindowsAreRight) {
  if (is_integer(GetParam().type)) return;
  Moments(GetParam()).check_windows();
  Moments(GetParam()).check_spans();
  Moments(GetParam()).check_closed_windows();
  Moments(GetParam()).check_neighbours();
}

bool is_strided(const StatisticsKernel& kernel) { return kernel.strided; }
struct MomentsOfRows : testing::TestWithParam<StatisticsKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, MomentsOfRows, testing::ValuesIn(rows_where<StatisticsKernel>(is_strided)), RowName());
TEST_P(MomentsOfRows, AreRight) { Moments(GetParam()).check_rows_of_hard_cases(); }

struct ConcurrentMoments : testing::TestWithParam<StatisticsKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentMoments, testing::ValuesIn(rows_where<StatisticsKernel>(is_concurrent)), RowName());
TEST_P(ConcurrentMoments, AreRight) {
  const dialect::ConcurrentGroups concurrent;
  Moments(GetParam()).check_hard_cases();
}

bool draws_tiles(const StatisticsKernel& kernel) { return is_concurrent(kernel) || kernel.extremes; }
struct ConcurrentTiles : testing::TestWithParam<StatisticsKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, ConcurrentTiles, testing::ValuesIn(rows_where<StatisticsKernel>(draws_tiles)), RowName());
TEST_P(ConcurrentTiles, AreDrawnOnce) {
  const dialect::ConcurrentGroups concurrent(true);
  Moments(GetParam()).check_drawn_tiles();
}

}  // namespace
}  // namespace samesum::test
