// Fuzzer of results as bytes and as words: every result is restored equal, and anything else is refused, with a right or a wrong checksum.
//   fuzz_serialize [--seconds N] [--seed S]
// With clang: -DSAMESUM_LIBFUZZER -fsanitize=fuzzer,address for coverage-guided inputs.
#include "support/fuzz.hpp"
#include "support/parts.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

using Bytes = std::vector<std::byte>;

// Further invariants of results.
void check_value(const Accumulator& sum) {
  const auto count = static_cast<double>(sum.count());
  if (sum.result_type() == DType::uint64 && !(sum.round() >= 0 && sum.round() <= count * 0x1p64)) {
    throw test::Mismatch("unsigned integers with a sum that is none of theirs was accepted");
  }
  if (sum.result_type() == DType::int64 && !(std::abs(sum.round()) <= count * 0x1p64)) {
    throw test::Mismatch("integers with a sum that is none of theirs was accepted");
  }
  sum.round_to_float();
  if (!(Accumulator::from_words(sum.words()) == sum)) throw test::Mismatch("a sum's words are not the same sum");
}
void check_value(const ProductAccumulator& sum) {
  sum.round();
  sum.round_root();
  if (!(ProductAccumulator::from_words(sum.words()) == sum)) throw test::Mismatch("the words of products are not the same sum");
}
void check_value(const Statistics& found) {
  const Fields& fields = found.contents().fields;
  if (fields.sum && fields.squares && found.count() > found.nan_count() && !(found.variance(0, NanPolicy::skip) >= 0)) {
    if (found.squares().infinities() == 0) throw test::Mismatch("statistics with a negative variance were accepted");
  }
  const Statistics rest = found.count() != 0 ? found.without_extrema() : found;
  if (!(Statistics::from_words(rest.words()) == rest)) throw test::Mismatch("the words of statistics are not the same statistics");
}
void check_value(const Histogram& histogram) {
  if (histogram.total() != histogram.nan_count()) histogram.quantile(0.5);
  if (!(Histogram::from_words(histogram.bins(), histogram.words()) == histogram))
    throw test::Mismatch("a histogram's words are not the same");
}

void check_value(const HistogramNd& histogram) {
  if (!(HistogramNd::from_words(histogram.axes(), histogram.words()) == histogram))
    throw test::Mismatch("a histogram's words are not the same");
}
void check_value(const GroupSums& sums) {
  sums.means();
  if (!sums.options().extrema && !(GroupSums::from_words(sums.groups(), sums.options(), sums.words()) == sums)) {
    throw test::Mismatch("the words of groups are not the same groups");
  }
}
void check_value(const WeightedHistogram& histogram) { histogram.means(); }

template <class Result>
void check_round_trip(const Result& result) {
  if (!(Result::deserialize(result.serialize()) == result)) throw test::Mismatch("a result does not come back equal");
}

template <class Result>
constexpr bool kOfBins =
    !std::is_same_v<Result, Accumulator> && !std::is_same_v<Result, ProductAccumulator> && !std::is_same_v<Result, Statistics>;

// Throws where `bytes` are accepted although they are not the serialized form of the result, or where that result cannot be merged.
template <class Result>
void check(const Bytes& bytes, const Result& other) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  Result result = test::nothing<Result>();
  try {
    result = Result::deserialize({copy.get(), bytes.size()});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw test::Mismatch("an odd refusal");
    return;
  }
  if (result.serialize() != bytes) throw test::Mismatch("another form of the same result was accepted");
  check_value(result);
  for (const Result& more : {Result(result), other}) {  // must not overflow, for any contents of the file
    Result merged = result;
    try {
      merged += more;
      check_round_trip(merged);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage && kOfBins<Result>) continue;  // other bins, or groups
      if (error.kind() != ErrorKind::no_answer) throw;
      if (!(merged == result)) throw test::Mismatch("a result of too many elements was changed");
    }
  }
}

template <class Result>
void check_kind(hard::Random& random) {
  const auto result = test::random_part<Result>(random), other = test::random_part<Result>(random);
  check_round_trip(result);
  Bytes bytes = result.serialize();
  check(bytes, other);
  for (std::uint64_t i = random.below(4) + 1; i-- > 0;) bytes[random.below(bytes.size())] = static_cast<std::byte>(random.bits(8));
  if (random.below(4) == 0) bytes.resize(random.below(bytes.size() + 9));
  check(bytes, other);
  check(test::forged(bytes, 0, {}), other);
}

using Kinds = std::tuple<Accumulator, ProductAccumulator, Statistics, Histogram, HistogramNd, GroupSums, WeightedHistogram>;

void check_one(hard::Random& random) {
  const auto check_some = [&]<class... Result>(std::tuple<Result...>*) {
    constexpr void (*kKinds[])(hard::Random&) = {check_kind<Result>...};
    kKinds[random.below(std::size(kKinds))](random);
  };
  check_some(static_cast<Kinds*>(nullptr));
}

}  // namespace
}  // namespace samesum

// As bytes of every kind, as they are and with the checksum that they should have.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const samesum::Bytes bytes(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size);
  const auto check = [&]<class... Result>(std::tuple<Result...>*) {
    (samesum::check(bytes, samesum::test::nothing<Result>()), ...);
    if (size >= 8) (samesum::check(samesum::test::forged(bytes, 0, {}), samesum::test::nothing<Result>()), ...);
  };
  check(static_cast<samesum::Kinds*>(nullptr));
  return 0;
}

#ifndef SAMESUM_LIBFUZZER
int main(int argc, char** argv) { return samesum::test::fuzz("fuzz_serialize", argc, argv, samesum::check_one); }
#endif
