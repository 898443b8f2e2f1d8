// Formulas as kernels: on every device of this machine the same bits as on the CPU, wherever that is promised, and the same errors; their
// source through NVRTC.
#include "device/cuda/nvrtc.hpp"
#include "device/kernels/program.hpp"
#include "formula/bound.hpp"
#include "formula/map/map_device.hpp"
#include "formula/print.hpp"
#include "selftest/cases.hpp"
#include "support/devices.hpp"
#include "support/random_formula.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <regex>
#include <string>
#include <vector>

namespace samesum {
namespace {

constexpr std::size_t kSize = 4099;

// Ugly data; integers are small now and then, so that operations on them do not always fail.
struct Data {
  std::vector<float> x;
  std::vector<double> y;
  std::vector<std::int32_t> n;
  std::vector<std::int64_t> m;
  std::vector<std::uint64_t> u;

  explicit Data(std::uint64_t seed, bool tame = false) {
    hard::Random random(seed);
    for (std::size_t k = 0; k < kSize; ++k) {
      const auto some = [&](int most) {
        return random.bits(1 + static_cast<int>(random.below(static_cast<std::uint64_t>(tame ? 4 : most))));
      };
      constexpr float kUgly[] = {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, 1.0f, 0x1p-149f, -0x1p-130f, 0x1.fffffep127f, 2.5f, -3.5f};
      x.push_back(tame                   ? static_cast<float>(random.below(100))
                  : random.below(3) == 0 ? kUgly[random.below(std::size(kUgly))]
                                         : std::bit_cast<float>(static_cast<std::uint32_t>(random.bits())));
      y.push_back(random.below(3) == 0 ? static_cast<double>(x.back()) : std::bit_cast<double>(random.bits()));
      n.push_back(static_cast<std::int32_t>(some(32)));
      m.push_back(static_cast<std::int64_t>(some(64)) - 8);
      u.push_back(some(64));
    }
  }
  std::vector<FormulaInput> inputs() const { return {{"x", x}, {"y", y}, {"n", n}, {"m", m}, {"u", u}}; }
  std::vector<FormulaInput> inputs_on(const Device& device) const {
    return {{"x", on(device, x)}, {"y", on(device, y)}, {"n", on(device, n)}, {"m", on(device, m)}, {"u", on(device, u)}};
  }
  template <class T>
  static Array on(const Device& device, const std::vector<T>& values) {
    const Buffer buffer(device, values.size() * sizeof(T));
    buffer.write(values.data(), values.size() * sizeof(T));
    return Array(buffer, values.size(), dtype_of<T>());
  }
};

const std::vector<FormulaParameter>& parameters() {
  static const std::vector<FormulaParameter> all{{"h", 0.375}, {"k", 3}};
  return all;
}

// What map() writes, or the message of its error.
struct Outcome {
  std::vector<std::vector<std::uint64_t>> words;  // 8 bytes and fewer
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome(const Formula& formula, const std::vector<FormulaInput>& inputs, const Device* device) {
  const FormulaDescription described = formula.describe(inputs, parameters());
  std::vector<std::vector<std::uint64_t>> memory;
  std::vector<Array> results;
  for (const DType type : described.results) {
    memory.emplace_back(kSize);
    if (device == nullptr) {
      results.emplace_back(memory.back().data(), kSize, type);
    } else {
      results.emplace_back(Buffer(*device, kSize * size_of(type)), kSize, type);
    }
  }
  try {
    map(formula, inputs, parameters(), results);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_answer) throw;
    return {{}, error.what()};
  }
  for (std::size_t k = 0; device != nullptr && k < results.size(); ++k) results[k].buffer().read(memory[k].data(), results[k].bytes());
  return {memory, {}};
}

bool has_all(const Device& device, const std::vector<Capability>& needs) {
  return std::all_of(needs.begin(), needs.end(), [&](Capability capability) { return device.info().has(capability); });
}

std::string tuple_of(test::RandomFormula& make, int count, int depth) {
  std::string text = "(";
  for (int k = 0; k < count; ++k)
    text += (k == 0 ? "" : ", ") + (k % 4 == 3 ? make.safe_integer(depth) : k % 8 == 6 ? make.condition(depth) : make.floating(depth));
  return text + ")";
}

void expect_same(const Formula& formula, const Data& data, const Device& device) {
  const Outcome host = outcome(formula, data.inputs(), nullptr);
  if (!has_all(device, formula.describe(data.inputs(), parameters()).needs)) return;
  const Outcome found = outcome(formula, data.inputs_on(device), &device);
  ASSERT_EQ(found.error, host.error) << device.info().selector << "\n" << formula.to_string();
  for (std::size_t r = 0; r < host.words.size(); ++r) {
    const auto [a, b] = std::mismatch(host.words[r].begin(), host.words[r].end(), found.words[r].begin());
    ASSERT_TRUE(a == host.words[r].end()) << device.info().selector << ", result " << r << ", word " << a - host.words[r].begin()
                                          << std::hex << ": " << *a << ", not " << *b << "\n"
                                          << formula.to_string();
  }
}

// SAMESUM_TREES says how many formulas (default 96), 24 of them in a kernel, and SAMESUM_SEED which.
TEST(FormulaKernel, SameBitsAsTheCpu) {
  const Data data(1);
  const auto given = [](const char* name, std::uint64_t otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
  };
  for (const Device& device : test::devices()) {
    hard::Random random(given("SAMESUM_SEED", 20));
    test::RandomFormula make(random, true);
    for (std::uint64_t k = 0; k < given("SAMESUM_TREES", 96) / 24; ++k) {
      expect_same(Formula(tuple_of(make, 24, 2 + static_cast<int>(k % 2))), data, device);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Every operator and function that is the same everywhere.
TEST(FormulaKernel, EveryOperation) {
  const Data data(2);
  const Formula all(
      "(x + 1, x - y, x*x, x/3, x % 0.7, -x, abs(x), floor(x), ceil(x), trunc(x), round(x), sqrt(x), rsqrt(x), min(x, 2), max(x, -1), "
      "fma(x, x, 1), x^5, x^-2,"
      " y + 1, y*y, y/3, y % 0.7, -y, abs(y), floor(y), ceil(y), trunc(y), round(y), sqrt(y), min(y, 2), max(y, -1), fma(y, y, 1),"
      " float32(y), float64(x), float32(m), float64(m), float32(u), float64(u), x < 1, x <= y, m == 3, u != 4, isnan(y), !(x > 0) && y > 0 "
      "|| n > 3,"
      " xor(m, n), ~m, m | n, m & n, clz(u), popcount(u), gcd(n, 360), mulmod(m, m, 1000003), mulmod(u, u, 18446744073709551557), m % 7, "
      "m/3,"
      " n << 3, n >> 2, u >> 60, n*n - n, abs(n), -n, (x > 0)*x, select(x > 0, m, n), i*0)");
  // Small integers and divisors in the text have instructions of their own.
  const Formula narrow(
      "((m % 2251799813685248) % 1000003, (m % 2251799813685248)/1000003, (u % 2305843009213693952) % 1073741823, (u % 8589934592)/3, "
      "n % 7, n/11, n % -7, (m % 2147483648)*(n % 65536), gcd(m % 4294967296, n), gcd(u % 4294967296, u % 720720), "
      "mulmod(n, n, 1000003), mulmod(n, m, 9223372036854775783), mulmod(u % 65536, u % 65536, 12345))");
  for (const Device& device : test::devices()) {
    expect_same(all, data, device);
    expect_same(narrow, data, device);
  }
}

TEST(FormulaKernel, FunctionsHaveTheSameBits) {
  const Data data(8), tame(9, true);
  // Of float32, of float64, and with what brings more numbers into the range of each.
  const std::string functions =
      "exp(v), exp2(v), expm1(v), sinh(v), cosh(v), tanh(v), log(v), log1p(v), log2(v), log10(v), sin(v), cos(v), tan(v), asin(v), "
      "acos(v), "
      "atan(v), erf(v), erfc(v), cbrt(v), pow(v, w), pow(abs(v), w), pow(1 + v*0.0001, w*100), hypot(v, w), atan2(v, w), sin(v*0.1), "
      "tan(v*0.1)";
  for (const char* names : {"let v = x; let w = x*0.75; ", "let v = y; let w = y*0.75; ", "let v = x*0.001; let w = 3 - x; ",
                            "let v = y*0.001; let w = 3 - y; "}) {
    const Formula all(std::string(names) + "(" + functions + ")");
    EXPECT_TRUE(all.describe(data.inputs()).reproducible);
    for (const Device& device : test::devices()) {
      expect_same(all, data, device);
      expect_same(all, tame, device);
    }
  }
}

TEST(FormulaKernel, SameErrorsAsTheCpu) {
  const Data data(3), tame(4, true);
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    hard::Random random(6);
    test::RandomFormula make(random);
    for (int k = 0; k < 8; ++k) {
      const Formula formula(make.integer(2));
      expect_same(formula, data, device);
      expect_same(formula, tame, device);
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_same(Formula("i > 4000 ? m/(i - 4001) : m"), tame, device);
    expect_same(Formula("i > 4000 && 5 % (i - 4001) == 0 ? 1 : 0"), tame, device);
    expect_same(Formula("i < 4000 || 5 % (i - 4001) == 0 ? 1 : 0"), tame, device);
  }
}

template <class T>
bool close(T a, T b, double ulps) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b))
    return std::abs(std::isinf(a) ? b : a) > std::numeric_limits<T>::max() * (1 - 32 * std::numeric_limits<T>::epsilon());
  const T most = std::max(std::abs(a), std::abs(b));
  const double unit = std::max<double>(most - std::nextafter(most, T(0)), std::numeric_limits<T>::denorm_min());
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= ulps * unit * 2;
}

TEST(FormulaKernel, NativeFunctionsWithinTheirBounds) {
  const Data data(5, true);
  constexpr std::pair<std::string_view, double> kRows[] = {
      {"exp(z)", 4},     {"log(z)", 4},   {"log1p(z)", 4},    {"expm1(z)", 4},     {"sin(z)", 4},      {"cos(z)", 4},
      {"tan(z)", 5},     {"tanh(z)", 5},  {"atan2(z, 3)", 6}, {"pow(z, 1.5)", 16}, {"hypot(z, 5)", 4}, {"exp2(z)", 4},
      {"log2(z)", 4},    {"log10(z)", 4}, {"cbrt(z)", 4},     {"sinh(z)", 4},      {"cosh(z)", 4},     {"asin(z/64)", 4},
      {"acos(z/64)", 4}, {"atan(z)", 5},  {"erf(z)", 16},     {"erfc(z)", 16}};
  for (const std::string_view of : {"x*0.25", "float64(x)*0.25"}) {
    std::string text;
    for (const auto& row : kRows) text += (text.empty() ? "let z = " + std::string(of) + "; (" : ", ") + std::string(row.first);
    const Formula formula(text + ")", FormulaMath::native);
    const Outcome host = outcome(formula, data.inputs(), nullptr);
    const bool narrow = formula.describe(data.inputs(), parameters()).results[0] == DType::float32;
    for (const Device& device : test::devices()) {
      if (!has_all(device, formula.describe(data.inputs(), parameters()).needs)) continue;
      const Outcome found = outcome(formula, data.inputs_on(device), &device);
      for (std::size_t r = 0; r < host.words.size(); ++r) {
        const auto compare = [&](auto type) {
          for (std::size_t k = 0; k < kSize; ++k) {
            decltype(type) a, b;
            std::memcpy(&a, reinterpret_cast<const char*>(host.words[r].data()) + k * sizeof a, sizeof a);
            std::memcpy(&b, reinterpret_cast<const char*>(found.words[r].data()) + k * sizeof b, sizeof b);
            ASSERT_TRUE(close(a, b, kRows[r].second + 2))
                << device.info().selector << " " << kRows[r].first << " of " << data.x[k] * 0.25f << ": " << b << ", not " << a;
          }
        };
        narrow ? compare(0.0f) : compare(0.0);
      }
    }
  }
}

TEST(FormulaKernel, TakesArraysOfAnyLayout) {
  std::vector<float> values(60);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k) + 0.5f;
  const std::vector<std::int16_t> row{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<std::uint16_t> halves(6, 0x3e00);  // 1.5
  const Formula formula("x*r + c + i");
  for (const Device& device : test::devices()) {
    const auto on = [&](const void* data, std::size_t bytes) {
      const Buffer buffer(device, bytes);
      buffer.write(data, bytes);
      return buffer;
    };
    const auto inputs = [&](auto&& place) -> std::vector<FormulaInput> {
      const Array x = Array(place(values.data(), 240), {6, 10}, DType::float32).slice(0, 5, 6, -1);
      return {{"x", x},
              {"r", Array(place(row.data(), 20), {10}, DType::int16)},
              {"c", Array(place(halves.data(), 12), {6, 1}, DType::float16)}};
    };
    if (!device.info().has(Capability::fp64)) continue;
    const std::vector<double> expected = evaluate<double>(formula, inputs([](const void* data, std::size_t) { return data; }));
    const Buffer to(device, 60 * 8 + 8);
    map(formula, inputs(on), {}, {Array(to, {6, 10}, DType::float64, 8)});
    std::vector<double> found(60);
    to.read(found.data(), 480, 8);
    EXPECT_EQ(found, expected) << device.info().selector;
    EXPECT_THROW(map(formula, inputs([](const void* data, std::size_t) { return data; }), {}, {Array(to, {6, 10}, DType::float64, 8)}),
                 Error);
    const Array a(on(values.data(), 240), {20, 3}, DType::float32);
    map(Formula("float64(dot(a, a))"), {{"a", a, true}}, {}, {Array(to, 20, DType::float64)});
    to.read(found.data(), 160);
    EXPECT_EQ(found[1], 3.5 * 3.5 + 4.5 * 4.5 + 5.5 * 5.5);
  }
}

// Every launch of a map has few positions; here there are several of them.
TEST(FormulaKernel, ManyPositions) {
  if (test::on_own_queues()) GTEST_SKIP() << "runs on the devices' other queues alone: it takes long";
  constexpr std::size_t kMany = (std::size_t{1} << 24) + 777;
  for (const Device& device : test::devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    const Buffer to(device, kMany * 8);
    map(Formula("i*3"), {}, {}, {Array(to, kMany, DType::int64)});
    std::vector<std::int64_t> last(2);
    to.read(last.data(), 16, (kMany - 2) * 8);
    EXPECT_EQ(last[1], static_cast<std::int64_t>(kMany - 1) * 3);
    try {
      map(Formula("i == 16777300 ? 1/(i - 16777300) : i"), {}, {}, {Array(to, kMany, DType::int64)});
      FAIL();
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with("division by zero at index 16777300")) << error.what();
    }
  }
}

TEST(FormulaKernel, NvrtcTakesItsSource) {
  const device::cuda::CompilerChoice choice = device::cuda::choose_compiler(90, 13);
  if (choice.library.empty()) GTEST_SKIP() << choice.reason;
  const Data data(1);
  hard::Random random(9);
  test::RandomFormula make(random);
  std::vector<std::string> texts{
      "(exp(x), log(y), log1p(x), expm1(y), sin(x), cos(y), tan(x), tanh(y), atan2(x, y), pow(y, h), hypot(x, x), pow(x, 2.5), "
      "exp2(x), log2(y), log10(x), cbrt(y), sinh(x), cosh(y), asin(x), acos(y), atan(x), erf(y), erfc(x), sign(y))"};
  for (int k = 0; k < 6; ++k) texts.push_back(tuple_of(make, 16, 2));
  for (int k = 0; k < 6; ++k) texts.push_back(make.integer(2));
  for (std::size_t k = 0; k <= texts.size(); ++k) {  // the first by both kinds of functions
    const std::string& text = texts[k % texts.size()];
    const Formula formula(text, k == texts.size() ? FormulaMath::fixed : FormulaMath::native);
    const formula::Program program = formula::resolve(formula.tree(), data.inputs(), parameters());
    std::vector<DType> types;
    for (const formula::InputComponent& input : program.inputs) types.push_back(data.inputs()[input.input].array.type());
    const std::string source = device::assemble(device::Language::cuda, formula::map_source(program, types));
    const device::Binary binary = choice.nvrtc().compile(source, "sm_90");
    EXPECT_FALSE(std::regex_search(binary.log, std::regex("\\): warning #(?!177)|ptxas warning"))) << binary.log << text;
    EXPECT_NE(binary.bytes.find(".text.map"), std::string::npos);
  }
}

// No word of a user's reaches a compiler.
TEST(FormulaKernel, PrintsNoNames) {
  const std::vector<float> x(3);
  const Formula formula("let system = evil*2; system + reboot");
  const formula::Program program = formula::resolve(formula.tree(), {{"evil", x}}, {{"reboot", 2.0}});
  const std::string text = formula::print(program, "formula");
  for (const char* word : {"evil", "system", "reboot"}) EXPECT_EQ(text.find(word), std::string::npos) << text;
  EXPECT_NE(text.find("FN formula_result formula(float x0, float p0, uint* error)"), std::string::npos) << text;
}

}  // namespace
}  // namespace samesum
