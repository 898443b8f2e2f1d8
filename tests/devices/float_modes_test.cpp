// With any floating-point modes and traps of the caller, every public function gives the same bits as in the default modes, traps nothing,
// and leaves modes, traps and exception flags as they were. A function is added by a row in entry_points().
#include <samesum/barrier.hpp>
#include <samesum/bench_histogram.hpp>
#include <samesum/bench_reduce.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plain_sum.hpp>
#include <samesum/samesum.hpp>

#include "support/histograms.hpp"
#include "support/image_files.hpp"

#include <gtest/gtest.h>

#if defined(__SSE2__)
#include <unistd.h>
#include <xmmintrin.h>

#include <bit>
#include <cfenv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum {
namespace {

namespace fs = std::filesystem;

// Results as bytes: nothing here computes in floating point.
class Bits {
 public:
  // The result of `work`, or the message of its error: sums of integers may exceed 64 bits.
  template <class Work>
  void take(const Work& work) {
    try {
      *this << work();
    } catch (const Error& error) {
      *this << std::string(error.what());
    }
  }

  template <class T>
  Bits& operator<<(const T& value) {
    if constexpr (std::is_same_v<T, Value>) {
      std::visit([&](auto number) { *this << number; }, value.number);
    } else if constexpr (std::is_same_v<T, Extremum>) {
      *this << value.value << value.index;
    } else if constexpr (std::is_same_v<T, Accumulator>) {
      for (const std::byte byte : value.serialize()) bytes_ += static_cast<char>(byte);
    } else if constexpr (std::is_same_v<T, ProductAccumulator>) {
      for (const std::int64_t digit : value.canonical_digits()) *this << digit;
      *this << value.count() << value.nan_count() << value.infinities();
    } else if constexpr (std::is_same_v<T, Statistics>) {
      const Statistics::Contents& all = value.contents();
      *this << all.count << all.nan_count << all.nonzeros << all.sum << all.squares;
      if (all.min) *this << *all.min << *all.max;
      if (all.first_nan) *this << *all.first_nan;
    } else if constexpr (std::is_same_v<T, Histogram>) {
      *this << value.under() << value.over() << value.nan_count();
      for (const std::uint64_t count : value.counts()) *this << count;
    } else if constexpr (std::is_same_v<T, Bins>) {
      for (const double edge : value.edges()) *this << edge;
    } else if constexpr (std::is_same_v<T, std::string>) {
      bytes_ += value;
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      const char* from = reinterpret_cast<const char*>(&value);
      bytes_.append(from, sizeof value);
    }
    return *this;
  }
  template <class T>
  Bits& operator<<(const std::vector<T>& values) {
    for (const T& value : values) *this << value;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// A floating-point mode of the processor, and the rest of the caller's state.
struct Mode {
  int rounding = FE_TONEAREST;
  bool denormals_are_zeros = false, flush_to_zero = false;

  std::string text() const {
    const char* name = rounding == FE_TONEAREST ? "nearest" : rounding == FE_UPWARD ? "up" : rounding == FE_DOWNWARD ? "down" : "zero";
    return std::string("rounding ") + name + (denormals_are_zeros ? ", denormals are zeros" : "") +
           (flush_to_zero ? ", flush to zero" : "");
  }
};

constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZeros = 0x0040;
constexpr unsigned kSeen = 0x30;  // inexact and underflow: the usual flags of a caller

struct State {
  unsigned mxcsr;
  unsigned x87_modes, x87_exceptions;

  static State now() {
    std::fenv_t environment;
    std::fegetenv(&environment);
    return {_mm_getcsr(), environment.__control_word, environment.__status_word & 0x3fu};
  }
  friend bool operator==(const State&, const State&) = default;
};

// Enters a mode with every trap enabled, and restores the default.
class Entered {
 public:
  explicit Entered(const Mode& mode) {
    std::fegetenv(&saved_);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(mode.rounding);
    feenableexcept(FE_ALL_EXCEPT);
    _mm_setcsr(_mm_getcsr() | (mode.denormals_are_zeros ? kDenormalsAreZeros : 0) | (mode.flush_to_zero ? kFlushToZero : 0) | kSeen);
  }
  ~Entered() { std::fesetenv(&saved_); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  std::fenv_t saved_;
};

// Data that modes affect: denormals, numbers that round in sums and products, and zeros of both signs.
template <class T>
std::vector<T> floats(std::size_t size) {
  hard::Random random(size);
  std::vector<T> values(size);
  constexpr double kTiny = sizeof(T) == 4 ? 0x1p-149 : 0x1p-1074;
  for (std::size_t i = 0; i < size; ++i) {
    const double unit = static_cast<double>(random.bits(53)) * 0x1p-53;
    values[i] = static_cast<T>(i % 5 == 0   ? static_cast<double>(random.bits(12)) * kTiny
                               : i % 7 == 0 ? (random.bits(1) != 0 ? -0.0 : 0.0)
                               : i % 3 == 0 ? -unit
                                            : unit * 3);
  }
  return values;
}

template <class T>
std::vector<T> near_one(std::size_t size) {
  hard::Random random(size);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(1 + (static_cast<double>(random.bits(30)) - 0x1p29) * 0x1p-31);
  return values;
}

struct Everything {
  static constexpr std::size_t kSize = 40'003;  // enough for two threads
  std::vector<float> x = floats<float>(kSize), products = near_one<float>(kSize);
  std::vector<double> y = floats<double>(kSize), double_products = near_one<double>(kSize);
  std::vector<std::uint16_t> halves;
  std::vector<std::int64_t> integers;
  std::string text, image;
  fs::path folder;

  Everything() {
    hard::Random random(3);
    for (std::size_t i = 0; i < kSize; ++i) {
      halves.push_back(static_cast<std::uint16_t>(random.bits(16) & 0xbbff));  // half of float16's denormals, no infinity
      integers.push_back(static_cast<std::int64_t>(random.bits(64)));
    }
    std::string name = (fs::temp_directory_path() / "samesum.XXXXXX").string();
    folder = mkdtemp(name.data());
    text = folder / "numbers.txt";
    std::ofstream(text) << "0.1 4.9406564584124654e-324 1e-310 17976931348623157e292 0.30000000000000004 1e23 123456789012345678901 "
                           "0x1.8p-1074 2.2250738585072011e-308 3 -0 9007199254740993.5\n";
    for (const test::ImageFile& file : test::image_files()) {
      if (!file.exact && image.empty()) {
        image = folder / "image";
        std::ofstream(image, std::ios::binary)
            .write(reinterpret_cast<const char*>(file.bytes.data()), static_cast<std::streamsize>(file.bytes.size()));
      }
    }
  }
  ~Everything() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Everything(const Everything&) = delete;
  Everything& operator=(const Everything&) = delete;

  Array f32() const { return std::span<const float>(x); }
  Array f64() const { return std::span<const double>(y); }
  Array f16() const { return {halves.data(), halves.size(), DType::float16}; }
  Array bf16() const { return {halves.data(), halves.size(), DType::bfloat16}; }
  Array i64() const { return std::span<const std::int64_t>(integers); }
  // Arrays of several types; of fewer where each needs its own kernels.
  std::vector<Array> all(const Device& device) const {
    if (device.info().has(Capability::kernels)) return {f32(), f64()};
    return {f32(), f64(), f16(), bf16(), i64()};
  }
};

Buffer uploaded(const Device& device, Array data) {
  Buffer buffer(device, data.bytes());
  buffer.write(data.data(), data.bytes());
  return buffer;
}
Array in_memory(const Device& device, Array data) { return {uploaded(device, data), data.size(), data.type()}; }

// Whether this device can sum, or multiply, the type.
bool has(const Device& device, Capability capability) { return !device.info().has(Capability::kernels) || device.info().has(capability); }

enum Where { on_host, on_devices, once };  // once: too slow for more than one mode

struct EntryPoint {
  std::string_view name;
  Where where;
  std::function<void(const Everything&, const Device&, Bits&)> run;
};

const std::vector<EntryPoint>& entry_points() {
  static const std::vector<EntryPoint> all = {
      {"Accumulator", on_host,
       [](const Everything& e, const Device&, Bits& bits) {
         Accumulator sum, other;
         for (std::size_t i = 0; i < 1000; ++i) {
           sum.add(e.x[i]);
           sum.add(e.y[i]);
           other.add(e.integers[i]);
         }
         other.add(~std::uint64_t{0});
         bits << sum << sum.round() << sum.round_to_float() << other;
         Accumulator few;
         few.add(~std::uint64_t{0});
         bits << few.to_uint64();
         sum.merge(other);
         bits << Accumulator::deserialize(sum.serialize()) << (sum == other);
         try {
           bits << sum.to_int64();
         } catch (const Error& error) {
           bits << std::string(error.what());
         }
       }},
      {"ProductAccumulator", on_host,
       [](const Everything& e, const Device&, Bits& bits) {
         ProductAccumulator sum;
         for (std::size_t i = 0; i < 1000; ++i) {
           sum.add(e.y[i], e.y[999 - i]);
           sum.add(e.integers[i], e.integers[i]);
           sum.add(1e300, 1e300);
           sum.add(5e-324, 5e-324);
         }
         sum.merge(sum);
         bits << sum << sum.round() << sum.round_root() << sum.round_to_float() << sum.round_root_to_float();
         ProductAccumulator odd;
         odd.add(5e-324, std::numeric_limits<double>::infinity());  // no NaN
         bits << odd;
         ProductAccumulator mixed;
         const Value odd_integer{(std::int64_t{1} << 53) + 1, DType::int64};
         for (const double number : {5e-324, -1e-310, -5e-324, std::numeric_limits<double>::signaling_NaN()}) {
           mixed.add(Value{number, DType::float64}, odd_integer);
           mixed.add(Value{-7, DType::int64}, Value{number, DType::float64});
         }
         bits << mixed;
         try {
           bits << sum.to_int64();
         } catch (const Error& error) {
           bits << std::string(error.what());
         }
       }},
      {"results as bytes and as words", on_host,
       [](const Everything& e, const Device& device, Bits& bits) {
         const Bins bins = Bins::between({-1e308, -5e-324, 5e-324, 1e-310, 1, 1e308});
         for (const Array& data : e.all(device)) {
           const Array part = data.part(0, 1000);
           const Statistics found = collect(part, {true, true, true, true}, {.device = device});
           bits << Statistics::deserialize(found.serialize()) << Statistics::from_words(found.without_extrema().words());
           bits << ProductAccumulator::deserialize(found.squares().serialize()) << Accumulator::from_words(found.sum().words());
           const Histogram counted = histogram(part, bins, {.device = device});
           const Histogram back = Histogram::deserialize(counted.serialize());
           bits << back << (back == counted) << Histogram::from_words(bins, counted.words());
         }
       }},
      {"Value", on_host,
       [](const Everything& e, const Device&, Bits& bits) {
         bits << Value{e.integers[0], DType::int64}.as_double() << Value{~std::uint64_t{0}, DType::uint64}.as_double()
              << Value{5e-324, DType::float64}.as_double();
       }},
      {"sum", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         for (const Array& data : e.all(device)) {
           for (const SumVariant& variant : sum_variants(device)) {
             Report report;
             const Tuning options{.variant = std::string(variant.name), .threads = 2};
             bits << accumulate(data, {.device = device, .report = &report, .tuning = options});
             bits.take([&] { return sum(data, {.device = device, .tuning = options}); });
             report += report;
           }
           bits.take([&] { return sum(data); });
           bits.take([&] { return sum(data.part(0, 100)); });
         }
       }},
      {"operators, products and formulas along axes", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         const Options options{.device = device};
         const Array rows = e.f32().part(0, 6000).reshaped({60, 100}), others(e.products.data(), {60, 100}, DType::float32);
         const Values results[] = {
             reduce(rows, Operator(Formula("a*0.3 + b")), Axes{0}, options)[0],
             reduce(Formula("x*y"), {{"x", rows}, {"y", others}}, {}, Operator(Formula("a - b/3")), Axes{1}, options)[0],
             product(others, Axes{0}, options)};
         for (const Values& found : results) {
           for (const float number : found.as<float>()) bits << number;
         }
         const Values norms = axis_reduction(Formula("x*y"), {{"x", rows}, {"y", others}}, {}, AxisReduction::norm, Axes{1}, options);
         for (const double number : norms.as<double>()) bits << number;
       }},
      {"variance and norm beside infinities and NaNs", on_host,
       [](const Everything& e, const Device&, Bits& bits) {
         for (const double odd : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 0x1p-1070, 0.0}) {
           std::vector<double> numbers = e.double_products;
           numbers.push_back(odd);
           const Array data(numbers);
           bits << variance(data) << standard_deviation(data, 1) << norm(data) << squared_norm(data) << mean(data);
         }
       }},
      {"a formula as a source", on_host,
       [](const Everything& e, const Device&, Bits& bits) {
         bits << accumulate(*map("x*0.7 + 0.1", {{"x", e.f64()}})) << collect(*map("x/0.3", {{"x", e.f32()}}));
         std::vector<SourceInput> inputs;
         inputs.push_back({"x", open_source(e.text)});
         bits << accumulate(*map(Formula("x*0.7 + 0.1"), std::move(inputs)));
       }},
      {"sum of a column", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         bits << sum(Array(e.x.data(), e.x.size() / 2, DType::float32, 8), {.device = device})
              << sum(Array(e.halves.data(), 9000, DType::float16, 6), {.device = device});
       }},
      {"sum of a buffer, plans", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         for (const Array& data : {e.f32(), e.f64()}) {
           const Array there = in_memory(device, data);
           Report report;
           bits << accumulate(there, {.report = &report}) << sum(there) << collect(there) << dot(there, there) << min(there).index;
           Plan plan(device, ops::sum, data.type(), data.size());
           const Buffer record(device, sizeof(SumRecord));
           plan.enqueue(there);
           bits << plan.result<Accumulator>();
           plan.enqueue(there, record);
           SumRecord got{};
           record.read(&got, sizeof got);
           bits << got.value << got.value32;
           Plan extrema(device, ops::extrema, data.type(), data.size());
           extrema.enqueue(there);
           bits << extrema.result<Statistics>().min() << extrema.result<Statistics>().max();
           Plan collecting(device, Fields(), data.type(), data.size());
           collecting.enqueue(there);
           bits << collecting.result<Statistics>();
           Plan dots(device, ops::dot, data.type(), data.size());
           dots.enqueue(there, there);
           bits << dots.result<ProductAccumulator>().round();
           const Bins bins = Bins::even(0, 1, 10);
           Plan counting(device, bins, data.type(), data.size());
           counting.enqueue(there);
           bits << counting.result<Histogram>();
         }
       }},
      {"sum on several devices", on_host,
       [](const Everything& e, const Device& device, Bits& bits) {
         const std::vector<Device> twice = {device, device};
         std::vector<Report> reports;
         bits << accumulate(e.f32(), twice, {}, &reports);
       }},
      {"plain sums", on_host,
       [](const Everything& e, const Device&, Bits& bits) {
         bits << plain_sum_forward(e.f32()) << plain_sum_backward(e.f32()) << plain_sum_forward(e.f64()) << plain_sum_backward(e.f64());
       }},
      {"statistics", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         for (const Array& data : e.all(device)) {
           Report report;
           Statistics found = collect(data, {true, true, true, true}, {.device = device, .report = &report, .tuning = {.threads = 2}});
           bits << found << found.mean() << found.variance(1) << found.standard_deviation() << found.norm() << found.squared_norm();
           bits << found.mean_to_float() << found.variance_to_float(1) << found.standard_deviation_to_float() << found.norm_to_float();
           found.merge(collect(data.part(0, 1000), {true, true, true, true}, {.device = device}));
           bits << found;
           const auto [least, greatest] = minmax(data, {.device = device});
           bits << least << greatest << min(data, {.device = device}) << max(data, {.device = device}) << least.value.as_double()
                << count_nonzero(data, {.device = device}) << any(data, {.device = device}) << samesum::all(data, {.device = device})
                << mean(data, {.device = device}) << variance(data, 0, {.device = device})
                << standard_deviation(data, 0, {.device = device}) << squared_norm(data, {.device = device})
                << norm(data, {.device = device});
         }
       }},
      {"dot", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         for (const Array& data : e.all(device)) {
           Report report;
           bits << dot(data.part(0, 20'000), data.part(20'000, 20'000), {.device = device, .report = &report, .tuning = {.threads = 2}});
         }
       }},
      {"product", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         Report report;
         if (has(device, Capability::denormals)) {
           bits << product(std::span<const float>(e.products), {.device = device, .report = &report, .tuning = {.threads = 2}})
                << product(e.f32(), {.device = device});
           bits << product(e.f16().part(0, 5), {.device = device});
         }
         if (has(device, Capability::fp64))
           bits << product(std::span<const double>(e.double_products), {.device = device, .tuning = {.threads = 2}});
         Product running({.device = device});
         running.append(e.i64().part(0, 3));
         bits << running.digits();
         running.append(std::span<const double>(e.double_products).first(3));
         bits << running.value();
       }},
      {"Bins", on_host,
       [](const Everything&, const Device&, Bits& bits) {
         bits << Bins::even(0.1, 0.7, 7) << Bins::even(0, 1e-310, 9) << Bins::even(-1.7e308, 1.7e308, 5) << Bins::spanning(0.1, 0.1, 3)
              << Bins::spanning(5e-324, 5e-324, 3) << Bins::spanning(1e300, 1e300, 2) << Bins::logarithmic(1e-310, 7, 20)
              << Bins::each_value(-3, 300) << Bins::each_value(DType::int8) << Bins::between({-5e-324, 5e-324, 1.0 / 3});
         try {
           Bins::even(0.3, 0.1, 2);
         } catch (const Error& error) {
           bits << std::string(error.what());
         }
       }},
      {"Histogram", on_host,
       [](const Everything&, const Device&, Bits& bits) {
         const std::vector<std::uint64_t> slots = {3, 1'000'000'007, 5, 7, 11, 13};
         Histogram h(Bins::between({0, 1e-320, 0.1, 0.7}), slots);
         h += h;
         bits << h << h.density() << h.cumulative();
         for (const double p : {0.0, 5e-324, 0.1, 0.3, 0.5, 0.9999999999, 1.0}) {
           const Quantile quantile = h.quantile(p);
           bits << quantile.value << quantile.low << quantile.high << quantile.error();
         }
         Report report{"", "", "", 1, 0.1, 0.3};
         report += report;
       }},
      {"histogram", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         const Bins even = Bins::even(0, 3, 100), tiny = Bins::even(-1e-40, 1e-40, 30),
                    edges = Bins::between({-0.0, 1e-310, 1e-45, 0.1, 1});
         for (const Array& data : e.all(device)) {
           for (const Bins& bins : {even, tiny, edges}) {
             Report report;
             bits << histogram(data, bins, {.device = device, .report = &report, .tuning = {.threads = 2}}) << histogram(data, bins);
           }
           bits << histogram(in_memory(device, data), edges);
         }
       }},
      {"range_of", on_host,
       [](const Everything& e, const Device& device, Bits& bits) {
         for (const Array& data : e.all(device)) bits << range_of(data)->min << range_of(data)->max;
         const Array denormals(e.y.data(), e.y.size() / 5, DType::float64, 5 * 8);
         bits << range_of(denormals)->max;
       }},
      {"characters", on_devices,
       [](const Everything&, const Device& device, Bits& bits) {
         bits << count_characters("Pack my box with five dozen liquor jugs.", CharacterMap::letters(4), {.device = device}).counts;
       }},
      {"images", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         const Image image = load_image(e.image);
         const auto* pixels = static_cast<const char*>(image.pixels.get());
         bits << std::string(pixels, image.view().bytes()) << is_image(e.image);
         for (const ImagePart& part : histogram(image, Bins::even(0, 200, 30), {}, {.device = device})) bits << part.channels;
       }},
      {"text", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         bits << accumulate(*open_source(e.text), {.device = device}) << collect(*open_source(e.text), {}, {.device = device})
              << histogram(*open_source(e.text), Bins::even(0, 1, 3), {.device = device}) << range_of(*open_source(e.text))->min;
         if (has(device, Capability::fp64)) bits << product(*open_source(e.text), {.device = device});
         bits << dot(*open_source(e.text), *open_source(e.text), {.device = device}).round();
       }},
      {"pairs", on_devices,
       [](const Everything& e, const Device& device, Bits& bits) {
         const Array a = e.f32().part(0, 60), b = e.f32().part(100, 300), weights = e.f32().part(900, 100);
         for (const PairAccuracy accuracy : {PairAccuracy::fast, PairAccuracy::compensated, PairAccuracy::exact}) {
           if (accuracy == PairAccuracy::exact && !has(device, Capability::denormals)) continue;
           PairsProblem options;
           options.accuracy = accuracy;
           options.components = 3;
           options.weights = weights;
           const PairsResult sums = pairs(a, b, options, {.device = device});
           bits << std::get<std::vector<float>>(sums);
         }
         if (device.info().has(Capability::kernels)) return;  // the rest would only be compiled
         PairsProblem options;
         options.f = PairFunction::gaussian;
         options.h = 0.3;
         bits << std::get<std::vector<double>>(pairs(e.f64().part(0, 60), e.f64().part(100, 300), options, {.device = device}));
         options.f = PairFunction::invdist;
         options.softening = 0.1;
         bits << std::get<std::vector<double>>(pairs(e.f64().part(0, 60), e.f64().part(100, 300), options, {.device = device}));
       }},
      {"devices", on_devices,
       [](const Everything&, const Device& device, Bits& bits) {
         bits << list_devices().devices.size() << choose_device(device.info().selector, 1000).info().selector
              << open_devices("cpu", std::uint64_t{1} << 40).size() << choose_device("auto", 12'345'678'901).info().name;
         finish(device);
       }},
      {"kernels of the user's own", on_devices,
       [](const Everything&, const Device& device, Bits& bits) {
         if (!device.info().has(Capability::kernels) || !device.info().is_cpu) return;
         const Kernel kernel(
             device, "__kernel void third(__global float* x) { x[get_global_id(0)] = (float)(get_global_id(0) + 1) / 3.0f; }", "third");
         const Buffer numbers(device, 64);
         launch(device, kernel, {numbers}, 1, 16);
         finish(device);
         std::vector<float> got(16);
         numbers.read(got.data(), 64);
         bits << got;
       }},
      {"data to measure with", on_host,
       [](const Everything&, const Device&, Bits& bits) {
         for (const bench::DataKind kind : {bench::DataKind::uniform, bench::DataKind::normal, bench::DataKind::lognormal}) {
           const bench::Data data(kind, DType::float32, 1000, 1);
           const char* from = static_cast<const char*>(data.view().data());
           bits << std::string(from, from + data.view().bytes());
         }
         bits << bench::histogram_data("sorted", 1000);
       }},
      {"bench", once,
       [](const Everything& e, const Device& device, Bits& bits) {
         if (device.info().has(Capability::kernels)) return;
         bench::ReduceBenchOptions options;
         options.operations = {"product"};
         options.effort.runs = options.effort.least_runs = 1;
         for (const auto& row : bench::measure_reductions(device, e.f32(), options).rows) bits << row.verdict;
         bench::HistogramLadderOptions counting;
         counting.effort = options.effort;
         const std::vector<std::uint8_t> bytes = bench::histogram_data("text", 10'000);
         for (const auto& row : bench::histogram_ladder(device, bytes, counting).rungs) bits << row.verdict;
       }},
  };
  return all;
}

TEST(FloatModes, DoNotMatter) {
  const Everything everything;
  std::vector<Mode> modes;
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const bool denormals_are_zeros : {false, true}) {
      for (const bool flush_to_zero : {false, true}) modes.push_back({rounding, denormals_are_zeros, flush_to_zero});
    }
  }
  for (const Device& device : test::devices()) {
    const bool host = !device.info().has(Capability::kernels);
    for (const EntryPoint& entry : entry_points()) {
      if (entry.where != on_devices && !host) continue;
      Bits right;
      entry.run(everything, device, right);
      const std::string expected = right.take();
      for (const Mode& mode : modes) {
        // On devices the code is the same in all modes.
        if ((entry.where == once || !host) && !(mode.rounding == FE_UPWARD && mode.denormals_are_zeros && mode.flush_to_zero)) continue;
        Bits bits;
        State before{}, after{};
        std::string failure;
        {
          const Entered entered(mode);
          before = State::now();
          try {
            entry.run(everything, device, bits);
          } catch (const std::exception& error) {
            failure = error.what();
          }
          after = State::now();
        }
        const auto what = [&] { return std::string(entry.name) + " on " + device.info().selector + ", " + mode.text(); };
        EXPECT_EQ(failure, "") << what();
        EXPECT_EQ(after, before) << what() << ": " << std::hex << before.mxcsr << " became " << after.mxcsr << ", x87's "
                                 << before.x87_modes << " " << after.x87_modes << ", its exceptions " << after.x87_exceptions;
        EXPECT_TRUE(bits.take() == expected) << what() << ": other bits";
      }
    }
  }
}

}  // namespace
}  // namespace samesum
#else
TEST(FloatModes, DoNotMatter) { GTEST_SKIP() << "sets the modes of SSE2"; }
#endif
