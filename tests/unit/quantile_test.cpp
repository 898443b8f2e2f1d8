// Quantiles compared with sorted arrays and GMP's rationals: all types, ties, NaNs, infinities, denormals, every size; passes that differ.
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include "core/visit.hpp"

#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace samesum {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr QuantileMethod kMethods[] = {QuantileMethod::linear, QuantileMethod::lower, QuantileMethod::higher, QuantileMethod::nearest,
                                       QuantileMethod::midpoint};

// A value as text, by its bits.
std::string text_of(const Value& value) {
  const std::string type(name_of(value.type));
  if (const auto* real = std::get_if<double>(&value.number)) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", *real);
    return std::isnan(*real) ? "nan" : type + " " + text;
  }
  return type + " " + std::visit([](auto number) { return std::to_string(number); }, value.number);
}

std::vector<Value> elements(Array data) {
  std::vector<Value> values;
  core::visit(data.type(), [&](auto element) {
    using Element = decltype(element);
    for (std::uint64_t i = 0; i < data.size(); ++i) {
      std::memcpy(&element, data.part(i, 1).data(), sizeof element);
      if constexpr (std::is_same_v<Element, double>) {
        values.push_back({element, data.type()});
      } else if constexpr (!std::is_integral_v<Element> || std::is_floating_point_v<Element>) {
        values.push_back({double{static_cast<float>(element)}, data.type()});
      } else if constexpr (std::is_signed_v<Element>) {
        values.push_back({std::int64_t{element}, data.type()});
      } else {
        values.push_back({std::uint64_t{element}, data.type()});
      }
    }
  });
  return values;
}

bool not_a_number(const Value& value) { return std::isnan(value.as_double()); }

// -0.0 < +0.0; long double holds all doubles and 64-bit integers.
bool precedes(const Value& a, const Value& b) {
  const auto exact = [](const Value& value) { return std::visit([](auto number) -> long double { return number; }, value.number); };
  const long double left = exact(a), right = exact(b);
  return left != right ? left < right : std::signbit(left) && !std::signbit(right);
}

class Rational {
 public:
  Rational() { mpq_init(value_); }
  explicit Rational(const Value& value) : Rational() {
    if (const auto* real = std::get_if<double>(&value.number)) {
      mpq_set_d(value_, *real);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value.number)) {
      mpq_set_si(value_, *integer, 1);
    } else {
      mpq_set_ui(value_, std::get<std::uint64_t>(value.number), 1);
    }
  }
  Rational(const Rational&) = delete;
  Rational& operator=(const Rational&) = delete;
  ~Rational() { mpq_clear(value_); }
  mpq_ptr get() { return value_; }

  // The nearest double, ties to even.
  double rounded() {
    mpfr_t exact, result;
    mpfr_init2(exact, 4000);  // a quotient by a power of ten is not a tie
    mpfr_init2(result, 53);
    mpfr_set_q(exact, value_, MPFR_RNDZ);
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(-1073);
    mpfr_set_emax(1024);
    int ternary = mpfr_set(result, exact, MPFR_RNDN);
    ternary = mpfr_check_range(result, ternary, MPFR_RNDN);
    mpfr_subnormalize(result, ternary, MPFR_RNDN);
    const double value = mpfr_get_d(result, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(exact);
    mpfr_clear(result);
    return value;
  }

 private:
  mpq_t value_;
};

struct Case {
  double q;
  unsigned long numerator, denominator;  // the decimal number that q stands for
};
constexpr Case kQuantiles[] = {{0, 0, 1},
                               {1, 1, 1},
                               {0.5, 1, 2},
                               {0.25, 1, 4},
                               {0.9, 9, 10},
                               {0.1, 1, 10},
                               {1.0 / 3, 3333333333333333, 10000000000000000},
                               {1e-18, 1, 1000000000000000000},
                               {0.999, 999, 1000}};

// The reference: the elements except NaNs, sorted.
struct Sorted {
  explicit Sorted(Array data) : values(elements(data)), type(data.type()) {
    nan_count = std::erase_if(values, not_a_number);
    std::sort(values.begin(), values.end(), precedes);
  }
  std::vector<Value> values;
  std::size_t nan_count;
  DType type;
};

std::string expected(const Sorted& data, const Case& wanted, NanPolicy nan, QuantileMethod method) {
  const std::vector<Value>& values = data.values;
  if (data.nan_count != 0 && nan == NanPolicy::propagate) return "nan";
  if (values.empty()) return "no answer";
  Rational index;
  mpq_set_ui(index.get(), wanted.numerator, wanted.denominator);
  mpq_canonicalize(index.get());
  Rational last(Value{std::uint64_t{values.size() - 1}, DType::uint64});
  mpq_mul(index.get(), index.get(), last.get());
  mpz_t floor;
  mpz_init(floor);
  mpz_fdiv_q(floor, mpq_numref(index.get()), mpq_denref(index.get()));
  const std::size_t below = mpz_get_ui(floor);
  mpz_clear(floor);
  Rational weight, whole(Value{std::uint64_t{below}, DType::uint64});
  mpq_sub(weight.get(), index.get(), whole.get());
  const int half = mpq_cmp_ui(weight.get(), 1, 2);
  if (mpq_sgn(weight.get()) == 0 || method == QuantileMethod::lower) return text_of(values[below]);
  if (method == QuantileMethod::higher) return text_of(values[below + 1]);
  if (method == QuantileMethod::nearest) return text_of(values[below + (half > 0 || (half == 0 && below % 2 == 1) ? 1 : 0)]);
  if (method == QuantileMethod::midpoint) mpq_set_ui(weight.get(), 1, 2);
  const Value &low = values[below], &high = values[below + 1];
  const double from = low.as_double(), to = high.as_double();
  if (text_of(low) == text_of(high)) return text_of(low);
  if (std::isinf(from) || std::isinf(to)) {
    const double value = std::isinf(from) && std::isinf(to) ? std::nan("") : std::isinf(from) ? from : to;
    return text_of({value, DType::float64});
  }
  Rational a(low), b(high);
  mpq_sub(b.get(), b.get(), a.get());
  mpq_mul(b.get(), b.get(), weight.get());
  mpq_add(a.get(), a.get(), b.get());
  if (is_integer(data.type) && mpz_cmp_ui(mpq_denref(a.get()), 1) == 0) {
    char digits[64];
    return std::string(name_of(data.type)) + " " + mpz_get_str(digits, 10, mpq_numref(a.get()));
  }
  return text_of({a.rounded(), DType::float64});
}

// The rule of quantiles and the options.
struct Asked {
  NanPolicy nan = NanPolicy::propagate;
  QuantileMethod method = QuantileMethod::linear;
  std::uint32_t threads = 0;

  QuantileRule rule() const { return {.method = method}; }
  Options options() const { return {.nan = nan, .tuning = {.threads = threads}}; }
};

void compare(Array data, const Sorted& sorted, const Asked& options, const std::string& what) {
  std::vector<double> wanted;
  for (const Case& one : kQuantiles) wanted.push_back(one.q);
  const auto answer = [&](const Case& one) { return expected(sorted, one, options.nan, options.method); };
  if (answer(kQuantiles[0]) == "no answer") {
    try {
      quantiles(data, wanted, options.rule(), options.options());
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_answer) << error.what();
    }
    return;
  }
  const Quantiles found = quantiles(data, wanted, options.rule(), options.options());
  ASSERT_EQ(found.values.size(), wanted.size());
  EXPECT_EQ(found.count, data.size());
  EXPECT_EQ(found.nan_count, sorted.nan_count);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(text_of(found.values[i]), answer(kQuantiles[i])) << what << " q=" << wanted[i] << " " << name_of(options.method);
  }
}

void compare(Array data, const Asked& options, const std::string& what) { compare(data, Sorted(data), options, what); }

// Random bytes: one in `ties` elements is new; NaNs become infinities if `nan_count` is false.
std::vector<std::byte> random_elements(DType type, std::size_t count, unsigned ties, bool nan_count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count * size_of(type));
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 0 || random() % ties == 0) {
        const std::uint64_t bits = random();
        std::memcpy(&element, &bits, sizeof element);
        if constexpr (!std::is_integral_v<Element>) {
          const auto value = static_cast<double>(static_cast<std::conditional_t<std::is_same_v<Element, double>, double, float>>(element));
          const std::uint64_t infinity[] = {type == DType::float16    ? 0x7c00u
                                            : type == DType::bfloat16 ? 0x7f80u
                                            : type == DType::float32  ? 0x7f800000u
                                                                      : 0x7ff0000000000000u};
          if (std::isnan(value) && !nan_count) std::memcpy(&element, infinity, sizeof element);
        }
      }
      std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
    }
  });
  return bytes;
}

TEST(Quantile, OfEveryTypeAndSize) {
  for (const DType type : kDTypes) {
    for (std::size_t size = 0; size <= 100; size += size < 12 ? 1 : 11) {
      for (const bool nan_count : {false, true}) {
        const auto bytes = random_elements(type, size, static_cast<unsigned>(size) % 3 + 1, nan_count, static_cast<unsigned>(size));
        const Array view(bytes.data(), size, type);
        const Sorted sorted(view);
        for (const QuantileMethod method : kMethods) {
          for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip}) {
            compare(view, sorted, {nan, method, 0}, std::string(name_of(type)) + " " + std::to_string(size));
          }
        }
      }
    }
  }
}

// More elements than are gathered at once: digits are counted, in several passes.
TEST(Quantile, OfManyElements) {
  constexpr std::size_t kSize = (std::size_t{1} << 20) + 12345;
  for (const DType type : {DType::float16, DType::float32, DType::int64}) {
    for (const unsigned ties : {1u, 1000u}) {
      const auto bytes = random_elements(type, kSize, ties, false, 7);
      const Array view(bytes.data(), kSize, type);
      const Sorted sorted(view);
      for (const std::uint32_t threads : {1u, 3u}) {
        compare(view, sorted, {NanPolicy::skip, QuantileMethod::linear, threads}, std::string(name_of(type)));
      }
    }
  }
}

// All elements are in one bucket until the last digit: no bucket is small enough to be gathered.
TEST(Quantile, OfElementsThatDifferInTheLastDigit) {
  constexpr std::size_t kSize = (std::size_t{1} << 20) * 2 + 101;
  std::vector<double> values(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    values[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(-1.5) + (i * 7919 + 3) % 2);
  }
  compare(std::span<const double>(values), {}, "two values");
  std::fill(values.begin(), values.end(), 5e-324);
  values[17] = -5e-324;
  values[18] = kInfinity;
  compare(std::span<const double>(values), {}, "three values");
}

// Buckets of the first digit that are neither all gathered at once nor counted in one pass.
TEST(Quantile, ManyAtOnce) {
  constexpr std::size_t kSize = 2'200'000;
  std::vector<std::uint32_t> values(kSize);
  for (std::size_t i = 0; i < kSize; ++i) values[i] = static_cast<std::uint32_t>(i % 40 << 16 | (i * 2654435761u >> 7 & 0xffff));
  std::vector<double> wanted;
  for (int i = 0; i <= 100; ++i) wanted.push_back(i / 100.0);
  const Quantiles found = quantiles(std::span<const std::uint32_t>(values), wanted, {QuantileMethod::lower});
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i <= 100; ++i) {
    EXPECT_EQ(found.values[i], (Value{std::uint64_t{values[(kSize - 1) * i / 100]}, DType::uint32})) << i;
  }
}

TEST(Quantile, SpecialNumbers) {
  const std::vector<std::vector<double>> sets = {{-0.0, 0.0},
                                                 {0.0, -0.0, 0.0},
                                                 {kInfinity, -kInfinity},
                                                 {-kInfinity, -kInfinity, 1},
                                                 {1, kInfinity},
                                                 {5e-324, 0},
                                                 {5e-324, 1e-323},
                                                 {-5e-324, 5e-324},
                                                 {1.7976931348623157e308, 1.7976931348623155e308},
                                                 {-1.7976931348623157e308, 1.7976931348623157e308},
                                                 {1e308, 5e-324},
                                                 {1, 1 + 0x1p-52},
                                                 {-1, -1 - 0x1p-52, std::nan("")}};
  for (const auto& set : sets) {
    for (const QuantileMethod method : kMethods) {
      for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::skip})
        compare(std::span<const double>(set), {nan, method, 0}, "special");
    }
  }
  const Value none = median(std::span<const double>(sets.back()));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(std::get<double>(none.number)), 0x7ff8000000000000u);
}

TEST(Quantile, IntegersStayExact) {
  const std::vector<std::int64_t> odd = {std::numeric_limits<std::int64_t>::max(), (std::int64_t{1} << 53) + 1, -5};
  EXPECT_EQ(text_of(median(std::span<const std::int64_t>(odd))), "int64 9007199254740993");
  const std::vector<std::int64_t> even = {(std::int64_t{1} << 62) + 1, (std::int64_t{1} << 62) + 5};
  EXPECT_EQ(text_of(median(std::span<const std::int64_t>(even))), "int64 4611686018427387907");
  const std::vector<std::uint64_t> large = {~std::uint64_t{0}, ~std::uint64_t{0} - 4};
  EXPECT_EQ(text_of(median(std::span<const std::uint64_t>(large))), "uint64 18446744073709551613");
  const std::vector<std::int64_t> ends = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(text_of(median(std::span<const std::int64_t>(ends))), "float64 -0x1p-1");
}

// 0.9 means nine tenths: in doubles, 10 · 0.9 is greater than 9.
TEST(Quantile, IndexIsThatOfTheDecimal) {
  std::vector<double> values = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(text_of(quantile(std::span<const double>(values), 0.9)), "float64 0x0p+0");
  EXPECT_EQ(text_of(quantile(std::span<const double>(values), 0.9, {QuantileMethod::higher})), "float64 0x0p+0");
  for (const double bad : {-0.1, 1.1, 1e-30, std::nan(""), kInfinity}) {
    EXPECT_THROW(quantile(std::span<const double>(values), bad), Error) << bad;
  }
  EXPECT_EQ(parse_quantile_method("nearest"), QuantileMethod::nearest);
  EXPECT_THROW(parse_quantile_method("hazen"), Error);
}

// The caller's rounding mode and flushing of denormals change no bit, and are preserved.
TEST(Quantile, InAnyFloatingPointEnvironment) {
  const auto bytes = random_elements(DType::float32, 1000, 1, false, 9);
  std::vector<double> small = {5e-324, 1e-323, -1e-310, 3e-310, 0.1, 0.2};
  const std::vector<double> wanted = {0.1, 0.3, 0.5, 0.9};
  const Array views[] = {Array(bytes.data(), 1000, DType::float32), Array(bytes.data(), 1000, DType::bfloat16),
                         std::span<const double>(small)};
  for (const Array& view : views) {
    std::vector<std::string> before, after;
    for (const Value& value : quantiles(view, wanted, {}, {.nan = NanPolicy::skip}).values) before.push_back(text_of(value));
    const int rounding = std::fegetround();
    std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
    const unsigned modes = _mm_getcsr();
    _mm_setcsr(modes | 0x8040);  // flush to zero, denormals are zeros
#endif
    const Quantiles found = quantiles(view, wanted, {}, {.nan = NanPolicy::skip});
#if defined(__SSE2__)
    EXPECT_EQ(_mm_getcsr() & 0xffc0, (modes & 0xffc0) | 0x8040);
    _mm_setcsr(modes);
#endif
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetround(rounding);
    for (const Value& value : found.values) after.push_back(text_of(value));
    EXPECT_EQ(after, before) << name_of(view.type());
  }
}

TEST(Quantile, Strided) {
  const auto bytes = random_elements(DType::float32, 3000, 1, false, 3);
  compare(Array(bytes.data() + 4, 999, DType::float32, 12), {}, "column");
  compare(Array(bytes.data() + 4 * 2999, 3000, DType::float32, -4), {}, "backwards");
  compare(Array(bytes.data() + 1, 2999, DType::float32), {}, "odd address");
  compare(Array(bytes.data(), 50, DType::float32, 0), {}, "one element again and again");
}

TEST(Quantile, OfBuffers) {
  std::vector<float> values;
  for (int i = 0; i < 5000; ++i) values.push_back(static_cast<float>(i * 7919 % 5000) - 2500.25f);
  for (const DeviceInfo& info : list_devices().devices) {
    const Device device = Device::open(info.selector);
    const Buffer buffer(device, values.size() * 4);
    buffer.write(values.data(), values.size() * 4);
    const double q[] = {0.25, 0.5};
    for (const auto& [count, offset, stride] : {std::tuple{5000u, 0u, 4}, {1000u, 8u, 20}, {2000u, 19996u, -8}, {3u, 0u, 0}}) {
      const Array host(reinterpret_cast<const std::byte*>(values.data()) + offset, count, DType::float32, stride);
      EXPECT_EQ(quantiles(Array(buffer, count, DType::float32, offset, stride), q).values, quantiles(host, q).values) << info.selector;
    }
  }
}

// A source of given arrays, of any types.
class Chunks final : public Source {
 public:
  explicit Chunks(std::vector<Array> views) : views_(std::move(views)) {}
  std::optional<Array> next() override { return at_ < views_.size() ? std::optional(views_[at_++]) : std::nullopt; }
  std::string_view format() const noexcept override { return "chunks"; }

 private:
  std::vector<Array> views_;
  std::size_t at_ = 0;
};

TEST(Quantile, OfTypesAmongOneAnother) {
  std::mt19937_64 random(5);
  for (const std::size_t size : {3u, 50u, 600'000u}) {
    std::vector<std::int64_t> integers;
    std::vector<std::uint64_t> large;
    std::vector<double> reals;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t bits = random();
      const std::uint64_t near = (std::uint64_t{1} << 63) - 3000 + bits % 6000;  // where doubles are 2^10 and 2^11 apart
      integers.push_back(static_cast<std::int64_t>(size == 3 ? bits : near));
      large.push_back(near);
      reals.push_back(size == 50 ? -static_cast<double>(near) : static_cast<double>(near));
    }
    const std::vector<Array> views = {std::span<const std::int64_t>(integers), std::span<const std::uint64_t>(large),
                                      std::span<const double>(reals)};
    std::vector<Value> values;
    for (const Array& view : views) {
      for (const Value& value : elements(view)) values.push_back(value);
    }
    std::stable_sort(values.begin(), values.end(), precedes);
    std::vector<double> wanted = {0, 0.1, 0.3, 0.5, 0.77, 1};
    const auto open = [&] { return std::make_unique<Chunks>(views); };
    const Quantiles found = quantiles(open, wanted, {QuantileMethod::lower});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto rank = static_cast<std::size_t>(wanted[i] * 100 + 0.5) * (values.size() - 1) / 100;
      EXPECT_FALSE(precedes(found.values[i], values[rank]) || precedes(values[rank], found.values[i]))
          << text_of(found.values[i]) << " " << text_of(values[rank]);
    }
    // Of integers only, the result is one.
    const auto open_integers = [&] { return std::make_unique<Chunks>(std::vector<Array>{views[0], views[1]}); };
    for (const Value& value : quantiles(open_integers, wanted, {QuantileMethod::lower}).values) {
      EXPECT_TRUE(is_integer(value.type));
    }
  }
}

TEST(Quantile, PassesThatDifferAreAnError) {
  std::vector<double> values(2'000'000, 1.0);
  int passes = 0;
  const auto open = [&] {
    if (++passes == 2) values[3] = 2;
    return std::make_unique<Chunks>(std::vector<Array>{std::span<const double>(values)});
  };
  const double q[] = {0.5};
  try {
    quantiles(open, q);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("changed"), std::string::npos);
  }
}

}  // namespace
}  // namespace samesum
