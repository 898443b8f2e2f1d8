// What records in device memory are expected to hold: the bits of Statistics, Accumulator and ProductAccumulator.
#pragma once

#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/reduce.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

namespace samesum::test {

inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

// What `value` gives; the canonical NaN where there is no answer.
template <class Function>
double or_nan(const Function& value) {
  try {
    return value();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_answer);
    return std::bit_cast<double>(0x7ff8000000000000);
  }
}

// Of an Accumulator or a ProductAccumulator.
template <class Sum>
void expect_sum(const SumRecord& record, const Sum& sum, DType type, NanPolicy nan, const std::string& what) {
  EXPECT_EQ(bits_of(record.value), bits_of(sum.round(nan))) << what << ": " << record.value << ", not " << sum.round(nan);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(record.value32), std::bit_cast<std::uint32_t>(sum.round_to_float(nan))) << what;
  if (!is_integer(type)) {
    EXPECT_EQ(record.integer, 0) << what;
    EXPECT_EQ(record.overflow, 0u) << what;
    return;
  }
  try {
    const std::int64_t integer = is_signed(type) ? sum.to_int64() : static_cast<std::int64_t>(sum.to_uint64());
    EXPECT_EQ(record.integer, integer) << what;
    EXPECT_EQ(record.overflow, 0u) << what;
  } catch (const Error&) {
    EXPECT_EQ(record.integer, 0) << what;
    EXPECT_EQ(record.overflow, 1u) << what;
  }
}

inline void expect_record(const StatisticsRecord& record, const Statistics& found, DType type, NanPolicy nan, const std::string& what) {
  const Fields& fields = found.contents().fields;
  const double none = std::bit_cast<double>(0x7ff8000000000000);
  EXPECT_EQ(record.count, found.count()) << what;
  EXPECT_EQ(record.nonzeros, fields.nonzeros ? found.nonzero_count(nan) : 0) << what;
  EXPECT_EQ(record.extrema.nan_count, found.nan_count()) << what;
  if (fields.sum) {
    expect_sum(record.sum, found.sum(), type, nan, what + ", sum");
  } else {
    EXPECT_EQ(bits_of(record.sum.value), bits_of(none)) << what;
  }
  const auto expect = [&](double number, bool asked, const char* name, const auto& value) {
    const double expected = asked ? or_nan(value) : none;
    EXPECT_EQ(bits_of(number), bits_of(expected)) << what << ", " << name << ": " << number << ", not " << expected;
  };
  const bool both = fields.sum && fields.squares;
  expect(record.mean, fields.sum, "mean", [&] { return found.mean(nan); });
  expect(record.variance, both, "variance", [&] { return found.variance(0, nan); });
  expect(record.standard_deviation, both, "standard deviation", [&] { return found.standard_deviation(0, nan); });
  expect(record.squared_norm, fields.squares, "squared norm", [&] { return found.squared_norm(nan); });
  expect(record.norm, fields.squares, "norm", [&] { return found.norm(nan); });
}

}  // namespace samesum::test
