// Sums into groups of arrays in a device's memory: the bits of the same in host memory.
#include "support/devices.hpp"

#include <samesum/by.hpp>
#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/weighted_histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Device> with_kernels() {
  std::vector<Device> devices;
  for (const Device& device : test::devices()) {
    if (device.info().has(Capability::kernels)) devices.push_back(device);
  }
  return devices;
}

class OnDevice {
 public:
  OnDevice(const Device& device, const Array& host) : buffer_(device, host.bytes()), array_(buffer_, host.size(), host.type()) {
    buffer_.write(host.data(), host.bytes());
  }
  const Array& array() const { return array_; }

 private:
  Buffer buffer_;
  Array array_;
};

enum class Data { plain, wide, denormal, cancelling, zeros, special, shifted };
constexpr Data kData[] = {Data::plain, Data::wide, Data::denormal, Data::cancelling, Data::zeros, Data::special, Data::shifted};

// Numbers that floats and doubles have, as doubles.
double number(Data data, bool wide, std::mt19937_64& random) {
  const double unit = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
  switch (data) {
    case Data::plain:
      return unit;
    case Data::wide:
      return std::ldexp(unit, static_cast<int>(random() % (wide ? 2096 : 276)) - (wide ? 1073 : 148));
    case Data::denormal:
      return static_cast<double>(random() % 1000) * (wide ? 0x1p-1074 : 0x1p-149) * (random() % 2 == 0 ? 1 : -1);
    case Data::cancelling:
      return (random() % 2 == 0 ? 1 : -1) * std::ldexp(1.0, static_cast<int>(random() % 3) * 50);
    case Data::zeros:
      return random() % 64 == 0 ? 0.0 : -0.0;
    case Data::special:
      return random() % 150 == 0 ? kNan : random() % 150 == 0 ? kInf : random() % 190 == 0 ? -kInf : random() % 30 == 0 ? -0.0 : unit;
    case Data::shifted:  // the sample does not see most of the magnitude
      return random() % 500 == 0 ? std::ldexp(unit, wide ? 900 : 120) : std::ldexp(unit, -90);
  }
  return 0;
}

template <class T>
std::vector<T> numbers(Data data, std::size_t size, std::mt19937_64& random) {
  std::vector<T> values(size);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      const int shift = data == Data::plain ? 18 : 64 - 4 * static_cast<int>(sizeof(T));
      value = data == Data::zeros ? T{0} : static_cast<T>(static_cast<Wide>(random()) >> shift);
    } else {
      value = static_cast<T>(number(data, sizeof(T) == 8, random));
    }
  }
  return values;
}

// Indices as keys often are: of one group, of all, sorted, or of few groups above all.
template <class Index>
std::vector<Index> indices(std::size_t size, std::uint64_t groups, unsigned how, std::mt19937_64& random) {
  std::vector<Index> all(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t any = random() % groups;
    const std::uint64_t skewed = any % (1 + random() % (1 + random() % groups));
    const std::uint64_t index = how == 0 ? any : how == 1 ? groups * i / size : how == 2 ? skewed : groups - 1;
    all[i] = static_cast<Index>(index);
  }
  return all;
}

// Bit for bit.
testing::AssertionResult same(const Values& a, const Values& b) {
  if (a.type() != b.type() || a.size() != b.size()) return testing::AssertionFailure() << "other types or sizes";
  const auto* const x = static_cast<const std::uint64_t*>(a.data());
  const auto* const y = static_cast<const std::uint64_t*>(b.data());
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    if (x[i] != y[i]) return testing::AssertionFailure() << std::hex << x[i] << " instead of " << y[i] << " in group " << std::dec << i;
  }
  return testing::AssertionSuccess();
}

std::uint64_t bits(const Value& value) {
  return std::visit(
      [](auto number) {
        std::uint64_t word = 0;
        static_assert(sizeof number == sizeof word);
        std::memcpy(&word, &number, sizeof word);
        return word;
      },
      value.number);
}

// All that is told of each group.
void expect_equal(const GroupSums& there, const GroupSums& here) {
  for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) ASSERT_TRUE(same(there.sums(nan), here.sums(nan)));
  if (here.options().extrema) {
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
      for (std::uint64_t group = 0; group < here.groups(); ++group) {
        if (here.count(group) == (nan == NanPolicy::skip ? here.nan_count(group) : 0)) continue;  // an error, of integers
        ASSERT_EQ(bits(there.min(group, nan)), bits(here.min(group, nan))) << group;
        ASSERT_EQ(bits(there.max(group, nan)), bits(here.max(group, nan))) << group;
      }
    }
  }
  if (!here.options().counts) return;
  ASSERT_TRUE(same(there.counts(), here.counts()));
  for (std::uint64_t group = 0; group < here.groups(); group += 1 + here.groups() / 500) {
    ASSERT_EQ(there.sum(group), here.sum(group)) << group;
    ASSERT_EQ(there.nan_count(group), here.nan_count(group)) << group;
  }
  ASSERT_TRUE(same(there.means(), here.means()));
  if (!here.options().squares) return;
  ASSERT_TRUE(same(there.squares(), here.squares()));
  ASSERT_TRUE(same(there.variances(), here.variances()));
}

template <class T, class Index>
void check(const GroupOptions& options, unsigned seed) {
  std::mt19937_64 random(seed);
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    unsigned turn = seed;
    for (const Data data : kData) {
      for (const std::uint64_t groups : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{9000}}) {
        if (groups > std::numeric_limits<Index>::max()) continue;
        for (const std::size_t size : {1u, 333u, 20'000u}) {
          if (groups > 100 && size < 1000) continue;
          SCOPED_TRACE(std::to_string(static_cast<int>(data)) + " " + std::to_string(groups) + " " + std::to_string(size));
          const std::vector<T> values = numbers<T>(data, size, random);
          const std::vector<Index> of = indices<Index>(size, groups, turn++ % 4, random);
          GroupSums here(groups, options), there(groups, options);
          here.add(values, of);
          const OnDevice a(device, values), b(device, of);
          there.add(a.array(), b.array());
          expect_equal(there, here);
        }
      }
    }
  }
}

TEST(SumsByIndexOnDevices, OfFloat32) {
  check<float, std::int32_t>({.squares = true, .extrema = true}, 1);
  check<float, std::uint32_t>({.counts = false}, 2);
}
TEST(SumsByIndexOnDevices, OfFloat64) {
  check<double, std::int64_t>({.squares = true, .extrema = true}, 3);
  check<double, std::uint8_t>({.counts = false}, 4);
}
TEST(SumsByIndexOnDevices, OfIntegers) {
  check<std::int32_t, std::int16_t>({.squares = true}, 5);
  check<std::uint64_t, std::uint64_t>({.squares = true, .extrema = true}, 6);
  check<std::int16_t, std::int32_t>({.extrema = true}, 8);
  check<std::int8_t, std::int32_t>({.counts = false}, 7);
}

TEST(SumsByIndexOnDevices, InPartsFromAnywhere) {
  std::mt19937_64 random(8);
  for (const Device& device : with_kernels()) {
    const std::vector<float> values = numbers<float>(Data::wide, 6000, random);
    const std::vector<std::int32_t> of = indices<std::int32_t>(6000, 50, 0, random);
    const std::vector<double> doubles = numbers<double>(Data::plain, 6000, random);
    GroupSums here(50), there(50), other(50);
    here.add(values, of);
    here.add(values, of);
    here.add(doubles, of);
    here.add(2.5, 7);
    const OnDevice a(device, values), b(device, of), c(device, doubles);
    const Array x = a.array(), y = b.array();
    // Strided, in two axes, and in parts; of another type; from the host in between; merged.
    there.add(x.slice(0, 0, 3000, 2), y.slice(0, 0, 3000, 2));
    EXPECT_EQ(there.count(0), there.sum(0).count());
    there.add(x.slice(0, 1, 3000, 2), y.slice(0, 1, 3000, 2));
    there.add(2.5, 7);
    other.add(x.reshaped({60, 100}).transposed(), y.reshaped({60, 100}).transposed());
    other.add(c.array(), of);
    there += other;
    expect_equal(there, here);
    // Values apart and indices together, and the other way round.
    const Array values_here(values), of_here(of);
    GroupSums unlike_here(50), unlike_there(50);
    unlike_here.add(values_here.slice(0, 1, 2000, 3), of_here.slice(0, 8, 2000));
    unlike_there.add(x.slice(0, 1, 2000, 3), y.slice(0, 8, 2000));
    unlike_here.add(values_here.slice(0, 8, 2000), of_here.slice(0, 1, 2000, 3));
    unlike_there.add(x.slice(0, 8, 2000), y.slice(0, 1, 2000, 3));
    expect_equal(unlike_there, unlike_here);
    const GroupSums copy = other;
    EXPECT_TRUE(same(copy.sums(), other.sums()));
    // Twice the same way, and to the device.
    GroupSums twice(50), expected(50);
    for (int i = 0; i < 2; ++i) {
      twice.add(x, y);
      expected.add(values, of);
    }
    const Buffer results(device, 8 * 51);
    const Array to(results, 50, DType::float64, 8);
    twice.sums(to);
    std::vector<double> read(50);
    results.read(read.data(), 8 * 50, 8);
    EXPECT_EQ(std::memcmp(read.data(), expected.sums().data(), 8 * 50), 0);
    expected.sums(Array(read));
    EXPECT_TRUE(same(twice.sums(), expected.sums()));
    EXPECT_THROW(twice.sums(Array(results, 49, DType::float64)), Error);
    EXPECT_THROW(twice.sums(Array(results, 50, DType::int64)), Error);
  }
}

TEST(SumsByIndexOnDevices, IndicesOutsideAreErrorsThatAddNothingOrAreLeftOut) {
  for (const Device& device : with_kernels()) {
    std::vector<float> values(5000, 1);
    std::vector<std::int64_t> of(5000, 1);
    of[3000] = -4;
    of[4000] = 2;
    const OnDevice a(device, values), b(device, of), good(device, std::vector<std::int64_t>(5000, 1));
    GroupSums sums(2), ignoring(2, {.ignore_outside = true});
    for (int i = 0; i < 2; ++i) {  // of an empty table, and of one that has sums
      try {
        sums.add(a.array(), b.array());
        FAIL();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("element 3000 has the index -4, and there are 2 groups"), std::string::npos)
            << error.what();
      }
      sums.add(a.array(), good.array());
      ignoring.add(a.array(), b.array());
    }
    EXPECT_EQ(sums.sums().as<double>()[1], 10000);
    EXPECT_EQ(sums.count(0), 0u);
    EXPECT_EQ(ignoring.outside(), 4u);
    EXPECT_EQ(ignoring.count(1), 9996u);
  }
}

TEST(SumsByIndexOnDevices, IntegersThatDoNotFitNameTheGroup) {
  for (const Device& device : with_kernels()) {
    const OnDevice a(device, std::vector<std::int64_t>{INT64_MAX, INT64_MIN, -1, INT64_MAX, INT64_MIN, 0}),
        b(device, std::vector<std::uint32_t>{0, 1, 2, 2, 3, 3}), c(device, std::vector<std::uint32_t>{0, 1, 2, 2, 1, 0});
    GroupSums fit(4), unfit(4);
    fit.add(a.array(), b.array());
    const Values sums = fit.sums();
    EXPECT_EQ(std::vector<std::int64_t>(sums.as<std::int64_t>().begin(), sums.as<std::int64_t>().end()),
              (std::vector<std::int64_t>{INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN}));
    unfit.add(a.array(), c.array());
    try {
      static_cast<void>(unfit.sums());
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
      EXPECT_NE(std::string(error.what()).find("group 1"), std::string::npos) << error.what();
    }
  }
}

// Enough elements that the device looks whether indices are sorted.
template <class T>
void check_sorted(const GroupOptions& options) {
  std::mt19937_64 random(11);
  const std::size_t size = (std::size_t{1} << 20) + 77;
  for (const Data data : {Data::plain, Data::special, Data::shifted}) {
    const std::vector<T> values = numbers<T>(data, size, random);
    std::vector<std::int32_t> of(size);
    for (std::int32_t& index : of) index = static_cast<std::int32_t>(random() % 5000 * (random() % 2));
    std::ranges::sort(of);
    GroupSums here(5000, options);
    here.add(values, of);
    for (const Device& device : with_kernels()) {
      SCOPED_TRACE(device.info().selector + " " + std::to_string(static_cast<int>(data)));
      GroupSums there(5000, options);
      const OnDevice a(device, values), b(device, of);
      there.add(a.array(), b.array());
      expect_equal(there, here);
    }
  }
}
TEST(SumsByIndexOnDevices, OfSortedIndices) {
  check_sorted<float>({});
  check_sorted<std::int32_t>({.counts = false});
}

// A table clears only what the one before it has used.
TEST(SumsByIndexOnDevices, TablesOfOneShapeAfterEachOther) {
  constexpr std::uint64_t kGroups = 100;
  constexpr std::size_t kSize = 3000;
  std::mt19937_64 random(11);
  for (const Device& device : with_kernels()) {
    for (const GroupOptions& options : {GroupOptions{.squares = true, .extrema = true}, GroupOptions{.counts = false}}) {
      for (const Data data : {Data::wide, Data::plain, Data::special, Data::denormal, Data::shifted, Data::zeros, Data::cancelling}) {
        SCOPED_TRACE(device.info().selector + " " + std::to_string(static_cast<int>(data)));
        const std::vector<float> values = numbers<float>(data, kSize, random);
        const std::vector<std::int32_t> of = indices<std::int32_t>(kSize, kGroups / 2, 0, random);  // others stay empty
        GroupSums here(kGroups, options), there(kGroups, options);
        here.add(values, of);
        const OnDevice a(device, values), b(device, of);
        there.add(a.array(), b.array());
        expect_equal(there, here);
      }
    }
  }
}

TEST(SumsByIndexOnDevices, SegmentsAndKeys) {
  std::mt19937_64 random(9);
  for (const Device& device : with_kernels()) {
    for (const Data data : {Data::plain, Data::special, Data::zeros}) {
      std::vector<std::uint64_t> lengths(3000);
      for (std::uint64_t& length : lengths) length = random() % 4;
      lengths[1] = 0;
      lengths[700] = 7000;
      std::uint64_t total = 5;
      std::vector<std::uint64_t> offsets = {total};
      for (const std::uint64_t length : lengths) offsets.push_back(total += length);
      const std::vector<float> values = numbers<float>(data, total + 3, random);
      const OnDevice a(device, values);
      const By segments = by_offsets(offsets);
      EXPECT_TRUE(same(sum(a.array(), segments), sum(values, segments)));
      EXPECT_TRUE(same(max(a.array(), segments), max(values, segments)));
      EXPECT_TRUE(same(min(a.array(), segments, {.nan = NanPolicy::skip}), min(values, segments, {.nan = NanPolicy::skip})));
      EXPECT_TRUE(same(sum(a.array(), by_offsets(OnDevice(device, offsets).array())), sum(values, segments)));
      std::vector<std::int32_t> keys(values.size());
      for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() % 90) * 77 - 1000;
      const OnDevice b(device, keys);
      const By here = by(keys), there = by(b.array());
      ASSERT_EQ(there.groups(), here.groups());
      EXPECT_TRUE(same(sum(a.array(), there), sum(values, here)));
      EXPECT_TRUE(same(sum(values, there), sum(values, here)));
      EXPECT_TRUE(same(variance(a.array(), there), variance(values, here)));
    }
  }
}

// Offsets in a device's memory are looked at there; errors are those of offsets in host memory, and add nothing.
TEST(SumsByIndexOnDevices, SegmentsByOffsetsOnTheDevice) {
  std::mt19937_64 random(11);
  for (const Device& device : with_kernels()) {
    const std::vector<double> values = numbers<double>(Data::wide, 4000, random);
    const OnDevice a(device, values);
    const Array every_third(a.array().buffer(), 1300, DType::float64, 8, 24);
    std::vector<double> thirds;
    for (std::size_t i = 0; i < 1300; ++i) thirds.push_back(values[1 + 3 * i]);
    std::vector<std::int64_t> offsets = {3, 3, 10, 900, 900, 1290};
    const std::vector<std::int16_t> narrow(offsets.begin(), offsets.end());
    GroupSums here(5), there(5), strided_here(5), strided_there(5);
    here.add_segments(values, offsets);
    here.add_segments(values, narrow);
    there.add_segments(a.array(), OnDevice(device, offsets).array());
    there.add_segments(a.array(), OnDevice(device, narrow).array());
    strided_here.add_segments(thirds, offsets);
    strided_there.add_segments(every_third, OnDevice(device, offsets).array());
    for (const auto& [place, wrong] : {std::pair(1, 2), std::pair(5, 4001), std::pair(0, -1)}) {
      SCOPED_TRACE(wrong);
      std::vector<std::int64_t> others = offsets;
      others[static_cast<std::size_t>(place)] = wrong;
      const auto message = [&](GroupSums& sums, const Array& data, const Array& at) -> std::string {
        try {
          sums.add_segments(data, at);
        } catch (const Error& error) {
          return error.what();
        }
        return "none";
      };
      const std::string found = message(there, a.array(), OnDevice(device, others).array());
      EXPECT_EQ(found, message(here, values, others));
      EXPECT_NE(found, "none");
    }
    expect_equal(there, here);
    expect_equal(strided_there, strided_here);
  }
}

template <class T>
void check_many_segments(unsigned seed) {
  std::mt19937_64 random(seed);
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    unsigned turn = seed;
    for (const Data data : kData) {
      const unsigned most = turn % 3 == 0 ? 3 : turn % 3 == 1 ? 40 : 300;
      ++turn;
      std::vector<std::uint64_t> offsets = {random() % 3};  // empty ones, too, and one that is long
      for (int i = 0; i < 1100; ++i) offsets.push_back(offsets.back() + (i == 77 ? 9000 : random() % most));
      SCOPED_TRACE(std::to_string(static_cast<int>(data)) + " " + std::to_string(most));
      const std::vector<T> values = numbers<T>(data, offsets.back() + random() % 3, random);
      const OnDevice a(device, values);
      std::vector<std::uint64_t> lengths = offsets;
      std::adjacent_difference(offsets.begin(), offsets.end(), lengths.begin());  // the first one: elements before the first segment
      const By here = turn % 4 < 2 ? by_lengths(lengths) : by_offsets(offsets);
      const By there = turn % 4 < 2 ? by_lengths(OnDevice(device, lengths).array()) : by_offsets(OnDevice(device, offsets).array());
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
        const Values right = sum(values, here, {.nan = nan});
        if (turn % 2 == 0) {
          EXPECT_TRUE(same(sum(a.array(), there, {.nan = nan}), right));
          continue;
        }
        const Buffer to(device, 8 * there.groups());
        sum(a.array(), there, Array(to, there.groups(), right.type()), {.nan = nan});
        Values found(right.type(), {there.groups()});
        to.read(found.data(), 8 * there.groups());
        EXPECT_TRUE(same(found, right));
      }
    }
  }
}

TEST(SumsByIndexOnDevices, ManySegments) {
  check_many_segments<float>(16);
  check_many_segments<double>(17);
  check_many_segments<std::int32_t>(18);
}

// So many that the kernel does not note which.
TEST(SumsByIndexOnDevices, ManySegmentsThatNeedIntegers) {
  std::vector<std::uint64_t> offsets(70'001);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = 2 * i - (i > 5 ? 2 : 0);  // one of them is empty
  std::vector<float> values(offsets.back());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 2 == 0 ? static_cast<float>(kInf) : i % 6 == 1 ? static_cast<float>(-kInf) : 1;
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    EXPECT_TRUE(
        same(sum(OnDevice(device, values).array(), by_offsets(OnDevice(device, offsets).array())), sum(values, by_offsets(offsets))));
  }
}

TEST(SumsByIndexOnDevices, SumsOfSegmentsThatDoNotFitNameTheSegment) {
  const std::vector<std::int64_t> values(4000, std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> offsets(2001);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i + (i > 1234 ? 1 : 0));
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    try {
      sum(OnDevice(device, values).array(), by_offsets(OnDevice(device, offsets).array()));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer);
      EXPECT_NE(std::string(error.what()).find("1234"), std::string::npos) << error.what();
    }
  }
}

TEST(SumsByIndexOnDevices, WeightedHistograms) {
  std::mt19937_64 random(10);
  for (const Device& device : with_kernels()) {
    const std::vector<Bins> axes = {Bins::even(0, 1, 20), Bins::each_value(0, 3)};
    const std::vector<float> x = numbers<float>(Data::special, 5000, random), w = numbers<float>(Data::wide, 5000, random);
    const std::vector<std::uint8_t> y = indices<std::uint8_t>(5000, 5, 0, random);
    const OnDevice a(device, x), b(device, y), c(device, w);
    WeightedHistogram here(axes), there(axes);
    for (int i = 0; i < 2; ++i) {
      here.add({x, y}, w);
      there.add({a.array(), b.array()}, c.array());
    }
    EXPECT_TRUE(same(there.sums(), here.sums()));
    EXPECT_EQ(there.histogram(), here.histogram());
    EXPECT_TRUE(same(there.squares(), here.squares()));
    EXPECT_TRUE(same(there.variances(1), here.variances(1)));
    EXPECT_EQ(there.sum({Bins::kUnder, 2}), here.sum({Bins::kUnder, 2}));
    // Over one axis, where the bins are found by the same kernel; of runs of any strides, and of bins of all kinds.
    const std::vector<double> z(x.begin(), x.end());
    const OnDevice d(device, z);
    for (const Bins& bins : {Bins::even(-1, 1, 300), Bins::between({-0.5, 0, 1e-3, 0.75})}) {
      WeightedHistogram one({bins}, false), other({bins}, false);
      one.add({x}, w);
      one.add({y}, w);
      one.add({z}, w);
      one.add({Array(x).slice(0, 1, 2000, 2)}, Array(w).slice(0, 4000, 2000, -2));
      other.add({a.array()}, c.array());
      other.add({b.array()}, c.array());
      other.add({d.array()}, c.array());
      other.add({a.array().slice(0, 1, 2000, 2)}, c.array().slice(0, 4000, 2000, -2));
      EXPECT_TRUE(same(other.sums(), one.sums()));
      EXPECT_EQ(other.histogram(), one.histogram());
      EXPECT_EQ(other.sum({Bins::kNan}), one.sum({Bins::kNan}));
    }
  }
}

}  // namespace
}  // namespace samesum
