#include "selftest/cases.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace samesum::hard {
namespace {

using Patterns = std::span<std::uint64_t>;

void shuffle(Random& random, Patterns out) {
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[random.below(i)]);
}

std::uint64_t random_sign(Random& random, const Format& format) { return random.bits(1) != 0 ? format.sign() : 0; }

std::uint64_t any_pattern(Random& random, const Format& format) { return random.bits(1 + format.exponent_bits + format.fraction_bits); }

std::uint64_t any_finite(Random& random, const Format& format) {
  for (;;) {
    const std::uint64_t bits = any_pattern(random, format);
    if ((bits & format.infinity()) != format.infinity()) return bits;
  }
}

std::uint64_t any_nan(Random& random, const Format& format) {
  return random_sign(random, format) | format.infinity() | (1 + random.below(format.min_normal() - 1));
}

std::uint64_t uniform(Random& random, const Format& format) {
  const int bits = format.fraction_bits + 1;
  return format.encode(random.bits(bits), -bits);
}

// Approximately normal, in units of 2^-32: twelve uniform numbers less their mean have variance 1.
std::int64_t normal_fixed(Random& random) {
  std::int64_t sum = -(std::int64_t{6} << 32);
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t two = random.bits();
    sum += static_cast<std::int64_t>((two >> 32) + (two & 0xffffffff));
  }
  return sum;
}

std::uint64_t normal(Random& random, const Format& format) {
  const std::int64_t value = normal_fixed(random);
  return (value < 0 ? format.sign() : 0) | format.encode(static_cast<std::uint64_t>(value < 0 ? -value : value), -32);
}

// 2^t with t normal of deviation 3 / log 2, interpolated linearly between integer powers.
std::uint64_t lognormal(Random& random, const Format& format) {
  const std::int64_t t = normal_fixed(random) / 1000 * 4328;
  const auto fraction = static_cast<std::uint64_t>(t & 0xffffffff);
  return format.encode(fraction | std::uint64_t{1} << 32, static_cast<int>(t >> 32) - 32);
}

void each(Random& random, const Format& format, Patterns out, std::uint64_t (*draw)(Random&, const Format&)) {
  for (auto& bits : out) bits = draw(random, format);
}

// Pairs of any x and -x; a last one without a partner is +0.
void cancelling(Random& random, const Format& format, Patterns out) {
  std::fill(out.begin(), out.end(), 0);
  for (std::size_t i = 0; i + 1 < out.size(); i += 2) {
    out[i] = any_finite(random, format);
    out[i + 1] = out[i] ^ format.sign();
  }
  shuffle(random, out);
}

// `rest`, or as many of it as fit, among elements that cancel.
void cancelling_but(Random& random, const Format& format, Patterns out, std::initializer_list<std::uint64_t> rest) {
  const std::size_t kept = std::min(rest.size(), out.size());
  std::copy_n(rest.begin(), kept, out.begin());
  cancelling(random, format, out.subspan(kept));
  shuffle(random, out);
}

// A sum that lies on one `side` (-1, 0, 1) of the midpoint between two neighbours of a format with `precision` bits, the lower of which is
// odd or even; the side is decided by the smallest number of the format.
void near_tie(Random& random, const Format& format, Patterns out, int precision, bool odd, int side) {
  const Format range = precision == 24 ? format_of(DType::float32) : format;
  const int top = random.between(std::min(range.min_exponent() + 60, range.max_exponent()), range.max_exponent());
  const std::uint64_t sign = random_sign(random, format);
  const std::uint64_t tiny = side == 0 ? 0 : side > 0 ? sign | 1 : (sign ^ format.sign()) | 1;
  cancelling_but(
      random, format, out,
      {sign | format.power(top), sign | format.power(top - precision), odd ? sign | format.power(top - precision + 1) : 0, tiny});
}

template <int precision, bool odd, int side>
void tie(Random& random, const Format& format, Patterns out) {
  near_tie(random, format, out, precision, odd, side);
}

// The largest finite value and half its last place, moved to `side` by the smallest number of the format.
template <int side>
void edge_of_overflow(Random& random, const Format& format, Patterns out) {
  const std::uint64_t sign = random_sign(random, format);
  const std::uint64_t half = format.power(format.max_exponent() - format.fraction_bits - 1);
  cancelling_but(random, format, out, {sign | format.max(), sign | half, side == 0 ? 0 : side > 0 ? sign | 1 : (sign ^ format.sign()) | 1});
}

// Normal data, of which on average one in `period` is drawn otherwise.
template <class Draw>
void normal_with(Random& random, const Format& format, Patterns out, std::uint64_t period, Draw draw) {
  for (auto& bits : out) bits = random.below(period) == 0 ? draw() : normal(random, format);
  if (!out.empty()) out[random.below(out.size())] = draw();
}

constexpr Case kCases[] = {
    {"uniform", [](Random& r, const Format& f, Patterns out) { each(r, f, out, uniform); }},
    {"normal", [](Random& r, const Format& f, Patterns out) { each(r, f, out, normal); }},
    {"lognormal", [](Random& r, const Format& f, Patterns out) { each(r, f, out, lognormal); }},
    {"random_bits", [](Random& r, const Format& f, Patterns out) { each(r, f, out, any_pattern); }},
    {"random_finite", [](Random& r, const Format& f, Patterns out) { each(r, f, out, any_finite); }},
    {"half_zeros",
     [](Random& r, const Format& f, Patterns out) {
       for (auto& bits : out) bits = r.bits(1) != 0 ? 0 : normal(r, f);
     }},
    {"positive_zeros", [](Random&, const Format&, Patterns out) { std::fill(out.begin(), out.end(), 0); }},
    {"negative_zeros", [](Random&, const Format& f, Patterns out) { std::fill(out.begin(), out.end(), f.sign()); }},
    {"mixed_zeros", [](Random& r, const Format& f, Patterns out) { each(r, f, out, random_sign); }},
    {"one_positive_zero",
     [](Random& r, const Format& f, Patterns out) {
       std::fill(out.begin(), out.end(), f.sign());
       if (!out.empty()) out[r.below(out.size())] = 0;
     }},
    {"negative_zeros_and_nan",
     [](Random& r, const Format& f, Patterns out) {
       std::fill(out.begin(), out.end(), f.sign());
       if (!out.empty()) out[r.below(out.size())] = any_nan(r, f);
     }},
    {"ones", [](Random&, const Format& f, Patterns out) { std::fill(out.begin(), out.end(), f.power(0)); }},
    {"tenths", [](Random&, const Format& f, Patterns out) { std::fill(out.begin(), out.end(), f.encode(0x1999999999999999, -64)); }},
    {"cancelling", cancelling},
    {"cancelling_but_smallest", [](Random& r, const Format& f, Patterns out) { cancelling_but(r, f, out, {1}); }},
    {"cancelling_but_one_ulp",
     [](Random& r, const Format& f, Patterns out) {
       cancelling_but(r, f, out, {f.power(0) + 1, f.power(0) | f.sign()});
     }},
    {"cancelling_sorted",
     [](Random& r, const Format& f, Patterns out) {
       cancelling(r, f, out);
       std::sort(out.begin(), out.end());  // all positive ones first, ascending, then all negative ones
     }},
    {"maxima", [](Random&, const Format& f, Patterns out) { std::fill(out.begin(), out.end(), f.max()); }},
    {"negative_maxima", [](Random&, const Format& f, Patterns out) { std::fill(out.begin(), out.end(), f.max() | f.sign()); }},
    {"overflow_on_the_way",
     [](Random&, const Format& f, Patterns out) {
       for (std::size_t i = 0; i < out.size(); ++i) out[i] = i < out.size() / 2 ? f.max() : f.max() | f.sign();
       if (!out.empty()) out.back() = f.power(0);
     }},
    {"just_overflow", edge_of_overflow<0>},
    {"just_no_overflow", edge_of_overflow<-1>},
    {"float64_tie_down", tie<53, false, 0>},
    {"float64_tie_up", tie<53, true, 0>},
    {"float64_above_tie", tie<53, false, 1>},
    {"float64_below_tie", tie<53, true, -1>},
    {"float32_tie_down", tie<24, false, 0>},
    {"float32_tie_up", tie<24, true, 0>},
    {"float32_above_tie", tie<24, false, 1>},
    {"float32_below_tie", tie<24, true, -1>},
    {"denormals",
     [](Random& r, const Format& f, Patterns out) {
       for (auto& bits : out) bits = r.bits(f.fraction_bits) | random_sign(r, f);
     }},
    {"positive_denormals",
     [](Random& r, const Format& f, Patterns out) {
       for (auto& bits : out) bits = r.bits(f.fraction_bits);
     }},
    {"around_min_normal",
     [](Random& r, const Format& f, Patterns out) {
       for (auto& bits : out) bits = (f.min_normal() + r.below(8) - 4) | random_sign(r, f);
     }},
    {"every_binade",
     [](Random& r, const Format& f, Patterns out) {
       const std::uint64_t binades = (std::uint64_t{1} << f.exponent_bits) - 1;
       for (std::size_t i = 0; i < out.size(); ++i) out[i] = (i % binades) << f.fraction_bits | r.bits(f.fraction_bits) | random_sign(r, f);
     }},
    {"full_mantissas",  // every addition propagates a carry
     [](Random&, const Format& f, Patterns out) { std::fill(out.begin(), out.end(), f.power(0) - 1); }},
    {"full_mantissas_far_apart",
     [](Random& r, const Format& f, Patterns out) {
       for (auto& bits : out) bits = (any_finite(r, f) | (f.min_normal() - 1)) & ~f.sign();
     }},
    {"falling_then_rising",  // exponents that change every 1000 elements
     [](Random& r, const Format& f, Patterns out) {
       const int range = f.max_exponent();
       for (std::size_t i = 0; i < out.size(); ++i) {
         const int step = static_cast<int>(i / 1000 * 7 % static_cast<std::size_t>(2 * range));
         out[i] = f.encode(r.bits(f.fraction_bits + 1), (step < range ? -step : step - 2 * range) + range / 2 - f.fraction_bits) |
                  random_sign(r, f);
       }
     }},
    {"rare_giants",
     [](Random& r, const Format& f, Patterns out) { normal_with(r, f, out, 5000, [&] { return f.max() - r.bits(f.fraction_bits); }); }},
    {"rare_dwarfs", [](Random& r, const Format& f, Patterns out) { normal_with(r, f, out, 5000, [&] { return 1 + r.below(99); }); }},
    {"positive_infinity", [](Random& r, const Format& f, Patterns out) { normal_with(r, f, out, 5000, [&] { return f.infinity(); }); }},
    {"negative_infinity",
     [](Random& r, const Format& f, Patterns out) { normal_with(r, f, out, 5000, [&] { return f.infinity() | f.sign(); }); }},
    {"both_infinities",
     [](Random& r, const Format& f, Patterns out) {
       normal_with(r, f, out, 500, [&] { return f.infinity() | random_sign(r, f); });
       if (out.size() > 1) out.front() = f.infinity(), out.back() = f.infinity() | f.sign();
     }},
    {"quiet_nan",
     [](Random& r, const Format& f, Patterns out) { normal_with(r, f, out, 5000, [&] { return any_nan(r, f) | (f.min_normal() >> 1); }); }},
    {"signalling_nan", [](Random& r, const Format& f,
                          Patterns out) { normal_with(r, f, out, 5000, [&] { return ((any_nan(r, f) | 1) & ~(f.min_normal() >> 1)); }); }},
    {"only_nan", [](Random& r, const Format& f, Patterns out) { each(r, f, out, any_nan); }},
    {"nan_and_infinity", [](Random& r, const Format& f,
                            Patterns out) { normal_with(r, f, out, 100, [&] { return r.bits(1) != 0 ? any_nan(r, f) : f.infinity(); }); }},
};

constexpr std::uint64_t kLengths[] = {0,  1,   2,   3,   7,   8,   9,    15,   16,   17,   31,   32,   33,   63,    64,
                                      65, 127, 129, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8193, 65537, (1u << 20) + 7};

}  // namespace

std::uint64_t Format::encode(std::uint64_t mantissa, int exponent) const noexcept {
  if (mantissa == 0) return 0;
  const int excess = static_cast<int>(std::bit_width(mantissa)) - (fraction_bits + 1);
  const int drop = std::max(excess, min_exponent() - exponent);  // a denormal has fewer bits
  if (drop > 63) return 0;
  mantissa = drop >= 0 ? mantissa >> drop : mantissa << -drop;
  // The leading bit of a normal number adds one to the exponent field; a denormal has no such bit.
  const int field = exponent + drop - min_exponent();
  if (field >= 2 * max_exponent()) return max();
  return (static_cast<std::uint64_t>(field) << fraction_bits) + mantissa;
}

Format format_of(DType type) noexcept {
  switch (type) {
    case DType::float16:
      return {10, 5};
    case DType::bfloat16:
      return {7, 8};
    case DType::float32:
      return {23, 8};
    default:
      return {52, 11};
  }
}

std::span<const Case> cases() { return kCases; }

std::span<const std::uint64_t> lengths() { return kLengths; }

Data::Data(std::span<const std::uint64_t> patterns, DType type, std::size_t offset)
    : storage_(patterns.size() * size_of(type) + 64 + offset), size_(patterns.size()), type_(type) {
  offset_ = (64 - reinterpret_cast<std::uintptr_t>(storage_.data()) % 64) % 64 + offset;
  const std::size_t bytes = size_of(type);
  std::byte* to = storage_.data() + offset_;
  for (const std::uint64_t& bits : patterns) {
    std::memcpy(to, &bits, bytes);  // little-endian: the low bytes come first
    to += bytes;
  }
}

Data make(const Case& hard_case, DType type, std::uint64_t size, std::size_t offset) {
  std::uint64_t seed = 0xcbf29ce484222325;  // FNV-1a over the name: the order of the table does not matter
  for (const char c : hard_case.name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  Random random(seed + 2 * size + (type == DType::float64));
  std::vector<std::uint64_t> patterns(size);
  hard_case.fill(random, format_of(type), patterns);
  return {patterns, type, offset};
}

}  // namespace samesum::hard
