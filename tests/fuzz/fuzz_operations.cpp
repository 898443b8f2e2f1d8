// Differential fuzzer of whole operations, and the soak of docs/reliability.md: a random call of the public interface on hard data, made on
// every device and compared by bits with the CPU's; some calls are cancelled first, some arrays lie in the device's memory. What a call
// says of data that have no answer is compared too. At the end it prints how much memory the process holds.
//   fuzz_operations [--seconds N] [--seed S]
#include <samesum/axes.hpp>
#include <samesum/buffer.hpp>
#include <samesum/by.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/map_source.hpp>
#include <samesum/pairs.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>

#include "selftest/cases.hpp"
#include "support/fuzz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samesum {
namespace {

using hard::Random;

// What an operation gives: its bits as text, or its error.
using Operation = std::function<std::string(const Array&, const Options&)>;
struct Cancelled {};

std::string bits_of(double value) { return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value)); }
std::string bits_of(const Value& value) {
  return std::visit([&](auto number) { return fmt::format("{} {:016x}", name_of(value.type), std::bit_cast<std::uint64_t>(number)); },
                    value.number);
}
std::string bits_of(const void* data, std::size_t bytes) { return {static_cast<const char*>(data), bytes}; }
std::string bits_of(const std::vector<std::byte>& bytes) { return bits_of(bytes.data(), bytes.size()); }
std::string bits_of(const Values& values) { return bits_of(values.data(), values.size() * size_of(values.type())); }
std::string bits_of(const Extremum& extremum) { return fmt::format("{} at {}", bits_of(extremum.value), extremum.index); }

std::string outcome_of(const Operation& operation, const Array& data, const Options& options) {
  try {
    return operation(data, options);
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

template <class T>
T one_of(Random& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

// The array cut in two; the first part's value takes the second's.
template <class Whole>
auto in_two(std::uint64_t cut, Whole whole) {
  return [cut, whole](const Array& data, const Options& options) {
    auto first = whole(data.slice(0, 0, cut), options);
    first.merge(whole(data.slice(0, cut, data.size() - cut), options));
    return bits_of(first.serialize());
  };
}

std::pair<std::string_view, Operation> random_operation(Random& random, std::uint64_t length) {
  const std::uint64_t cut = random.below(length + 1);
  switch (random.below(17)) {
    case 0:
      return {"sum", [](const Array& x, const Options& options) { return bits_of(sum(x, options)); }};
    case 1:
      return {"accumulate in two parts", in_two(cut, [](const Array& x, const Options& options) { return accumulate(x, options); })};
    case 2:
      return {"statistics", [](const Array& x, const Options& options) { return bits_of(collect(x, {}, options).serialize()); }};
    case 3:
      return {"extremes", [least = random.bits(1)](const Array& x, const Options& options) {
                return bits_of(least ? min(x, options) : max(x, options));
              }};
    case 4:
      return {"mean", [](const Array& x, const Options& options) { return bits_of(mean(x, options)); }};
    case 5:
      return {"variance", [ddof = random.bits(1)](const Array& x, const Options& options) { return bits_of(variance(x, ddof, options)); }};
    case 6:
      return {"dot", [](const Array& x, const Options& options) { return bits_of(dot(x, x, options).serialize()); }};
    case 7:
      return {"product", [](const Array& x, const Options& options) { return bits_of(product(x, options)); }};
    case 8: {
      const double low = random.bits(1) ? -1.0 : -1e30, high = random.bits(1) ? 3.0 : 1e30;
      const Bins bins =
          random.bits(1) ? Bins::even(low, high, 1 + random.below(300)) : Bins::logarithmic(1e-30, high, 1 + random.below(3000));
      return {"histogram in two parts",
              in_two(cut, [bins](const Array& x, const Options& options) { return histogram(x, bins, options); })};
    }
    case 9: {
      Scan what{.operation = one_of(random, {ScanOperation::sum, ScanOperation::min, ScanOperation::max, ScanOperation::count_nonzero})};
      what.exclusive = what.operation == ScanOperation::sum && random.bits(1);
      what.float32 = random.bits(1);
      if (random.bits(1)) what.offsets = {0, cut};
      return {"scan", [what](const Array& x, const Options& options) { return bits_of(scan(x, what, options)); }};
    }
    case 10: {
      const std::uint64_t columns = 1 + random.below(40), axis = random.bits(1);
      const auto reduction =
          one_of(random, {AxisReduction::sum, AxisReduction::mean, AxisReduction::max, AxisReduction::argmin, AxisReduction::variance});
      return {"along an axis", [=](const Array& x, const Options& options) {
                const Array whole = x.slice(0, 0, x.size() / columns * columns);
                return bits_of(axis_reduction(whole.reshaped({x.size() / columns, columns}), reduction,
                                              Axes{static_cast<std::int64_t>(axis)}, options));
              }};
    }
    case 11: {
      const std::uint64_t b = 1 + random.below(9), c = 1 + random.below(30);
      const auto reduction =
          one_of(random, {AxisReduction::standard_deviation, AxisReduction::norm, AxisReduction::squared_norm, AxisReduction::min,
                          AxisReduction::argmax, AxisReduction::count_nonzero, AxisReduction::product});
      const Axes axes = one_of<Axes>(random, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}});
      return {"along axes of three", [=](const Array& x, const Options& options) {
                const std::uint64_t a = x.size() / (b * c);
                return bits_of(axis_reduction(x.slice(0, 0, a * b * c).reshaped({a, b, c}), reduction, axes, options));
              }};
    }
    case 12: {
      std::vector<std::uint32_t> keys(length);
      const std::uint32_t groups = 1 + static_cast<std::uint32_t>(random.below(random.bits(1) ? 8 : 3000));
      const bool skewed = random.bits(1) != 0;
      for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random.below(skewed && random.below(4) != 0 ? 1 : groups));
      return {"by key", [keys = std::move(keys), groups, what = random.below(3)](const Array& x, const Options& options) {
                const By grouped = by(keys, groups);
                return bits_of(what == 0 ? sum(x, grouped, options) : what == 1 ? mean(x, grouped, options) : max(x, grouped, options));
              }};
    }
    case 13: {
      std::vector<std::uint64_t> offsets{0};
      while (offsets.back() < length) offsets.push_back(std::min(length, offsets.back() + random.below(random.below(9) == 0 ? 2000 : 40)));
      return {"by offset", [offsets = std::move(offsets)](const Array& x, const Options& options) {
                return bits_of(sum(x, by_offsets(offsets), options));
              }};
    }
    case 14:
      return {"median", [](const Array& x, const Options& options) { return bits_of(median(x, options)); }};
    case 15: {
      const std::string_view text = one_of<std::string_view>(random, {"x*x", "(x-3)^2", "abs(x)+1", "x/7"});
      return {"sum of a formula", [text](const Array& x, const Options& options) {
                const auto source = map(text, {{"x", x}});
                return bits_of(accumulate(*source, options).serialize());
              }};
    }
    default: {
      const PairsProblem problem{.f = one_of(random, {PairFunction::product, PairFunction::absdiff, PairFunction::sqdist}),
                                 .reduction = one_of(random, {PairReduction::sum, PairReduction::argmin, PairReduction::max}),
                                 .accuracy = PairAccuracy::exact};
      return {"pairs", [problem](const Array& x, const Options& options) {
                const std::uint64_t few = std::min<std::uint64_t>(x.size(), 60);
                const PairsResult result = pairs(x.slice(0, 0, few), x, problem, options);
                return std::visit([](const auto& values) { return bits_of(values.data(), values.size() * sizeof values[0]); }, result);
              }};
    }
  }
}

struct Done {
  std::map<std::string_view, std::uint64_t> operations;
  std::uint64_t calls = 0, cancelled = 0, errors = 0;
};

// Throws what is wrong with one operation.
void check(Random& random, const std::vector<Device>& devices, Done& done) {
  const DType type = random.bits(1) != 0 ? DType::float32 : DType::float64;
  const std::uint64_t length = random.below(std::uint64_t{1} << random.between(0, random.below(50) == 0 ? 20 : 14));
  std::vector<std::uint64_t> patterns(length);
  const auto& hard_cases = hard::cases();
  hard_cases[random.below(hard_cases.size())].fill(random, hard::format_of(type), patterns);
  const hard::Data data(patterns, type, random.below(65));
  const Array host = data.view();
  const auto [name, operation] = random_operation(random, length);
  const NanPolicy nan = random.bits(1) != 0 ? NanPolicy::skip : NanPolicy::propagate;
  ++done.operations[name];
  std::optional<std::string> expected;
  for (const Device& device : devices) {
    Options options{.nan = nan, .device = device};
    if (random.below(8) == 0) {
      Options stopped = options;
      stopped.progress = [](const Progress&) { throw Cancelled(); };
      try {
        outcome_of(operation, host, stopped);
      } catch (const Cancelled&) {
        ++done.cancelled;
      }
    }
    if (device.info().has(Capability::kernels) && random.below(16) == 0)
      options.tuning.groups = static_cast<std::uint32_t>(1 + random.below(4));
    if (!device.info().has(Capability::kernels)) options.tuning.threads = static_cast<std::uint32_t>(random.below(4));
    std::string outcome;
    if (const std::uint64_t bytes = length * size_of(type); bytes > 0 && random.bits(1) != 0) {
      const Buffer buffer(device, bytes);
      buffer.write(host.data(), bytes);
      outcome = outcome_of(operation, Array(buffer, length, type), options);
    } else {
      outcome = outcome_of(operation, host, options);
    }
    ++done.calls;
    done.errors += outcome.starts_with("error: ");
    if (!expected) expected = outcome;
    if (outcome != *expected) {
      const auto shown = [](const std::string& text) {
        if (text.size() >= 200) return fmt::format("{} bytes", text.size());
        const bool readable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
        return readable ? text
                        : fmt::format("{:02x}", fmt::join(std::span(reinterpret_cast<const unsigned char*>(text.data()), text.size()), ""));
      };
      throw test::Mismatch(fmt::format("{} of {} {} on {}: {}, not {}", name, length, name_of(type), device.info().selector, shown(outcome),
                                       shown(*expected)));
    }
  }
}

double resident_megabytes() {
  unsigned long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu %lu", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace
}  // namespace samesum

int main(int argc, char** argv) {
  using namespace samesum;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a log that can be read while it runs
  Done done;
  std::uint64_t next = 1000;  // memory is printed after 1000 operations, 2000, 4000, …
  const int code = test::fuzz("fuzz_operations", argc, argv, [&, devices = open_devices("all", 0)](hard::Random& random) {
    check(random, devices, done);
    std::uint64_t operations = 0;
    for (const auto& [name, count] : done.operations) operations += count;
    if (operations == next) {
      std::printf("%llu operations: %.0f MB resident\n", static_cast<unsigned long long>(operations), resident_megabytes());
      next *= 2;
    }
  });
  for (const auto& [name, count] : done.operations) fmt::print("{}: {}\n", name, count);
  fmt::print("{} calls, {} cancelled before, {} without an answer, {:.0f} MB resident\n", done.calls, done.cancelled, done.errors,
             resident_megabytes());
  return code;
}
