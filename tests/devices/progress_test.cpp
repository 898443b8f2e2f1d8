// Progress and cancellation of long calls: the answers do not depend on the callback.
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/map_source.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/source.hpp>
#include <samesum/sum.hpp>

#include "core/progress.hpp"
#include "support/devices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace samesum {
namespace {

using test::devices;
using test::on;

constexpr std::uint64_t kSize = 2 * core::ProgressParts::kPartBytes / 4 + 12345;  // float32: two parts of the CPU, and some more

const std::vector<float>& values() {
  static const std::vector<float> all = [] {
    std::vector<float> made(kSize);
    for (std::uint64_t i = 0; i < kSize; ++i)
      made[i] = std::ldexp(static_cast<float>(i * 2654435761u % 1000 + 1), static_cast<int>(i % 40) - 20);
    made[kSize - 7] = 1e30f;
    made[kSize / 2] = -1e29f;
    return made;
  }();
  return all;
}

class OneArray final : public Source {
 public:
  std::optional<Array> next() override { return std::exchange(done_, true) ? std::nullopt : std::optional<Array>(values()); }
  std::string_view format() const noexcept override { return "test"; }
  std::optional<DType> type() const noexcept override { return DType::float32; }
  std::uint64_t resident_bytes() const noexcept override { return 4 * kSize; }

 private:
  bool done_ = false;
};

// Values of a formula, one for each of these.
std::unique_ptr<Source> formula() { return map("x + 1", {{"x", values()}}); }

// A long call, as a function whose results can be compared.
struct Call {
  std::string name;
  std::function<std::vector<std::byte>(const Options&)> run;
  std::uint64_t total;  // bytes; 0: unknown
};

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  return {begin, begin + sizeof value};
}

std::vector<Call> calls() {
  const Array data = values();
  static const Bins bins = Bins::even(-1, 1000, 100);
  return {{"accumulate", [data](const Options& o) { return accumulate(data, o).serialize(); }, 4 * kSize},
          {"sum", [data](const Options& o) { return bytes_of(std::get<double>(sum(data, o).number)); }, 4 * kSize},
          {"source",
           [](const Options& o) {
             OneArray source;
             return accumulate(source, o).serialize();
           },
           4 * kSize},
          {"collect", [data](const Options& o) { return collect(data, {}, o).serialize(); }, 4 * kSize},
          {"collect a source",
           [](const Options& o) {
             OneArray source;
             return collect(source, {}, o).serialize();
           },
           4 * kSize},
          {"dot", [data](const Options& o) { return dot(data, data, o).serialize(); }, 8 * kSize},
          {"histogram", [data](const Options& o) { return histogram(data, bins, o).serialize(); }, 4 * kSize},
          {"histogram of a source",
           [](const Options& o) {
             OneArray source;
             return histogram(source, bins, o).serialize();
           },
           4 * kSize},
          {"product", [data](const Options& o) { return bytes_of(std::get<double>(product(data, o).number)); }, 4 * kSize},
          {"characters",
           [](const Options& o) {
             const std::string_view text(reinterpret_cast<const char*>(values().data()), 4 * kSize);
             return bytes_of(count_characters(text, CharacterMap::bytes(), o).counts[17]);
           },
           4 * kSize},
          {"median", [data](const Options& o) { return bytes_of(median(data, o).as_double()); }, 0},
          {"sum of a formula", [](const Options& o) { return accumulate(*formula(), o).serialize(); }, 4 * kSize},
          {"collect of a formula", [](const Options& o) { return collect(*formula(), {}, o).serialize(); }, 4 * kSize},
          {"histogram of a formula", [](const Options& o) { return histogram(*formula(), bins, o).serialize(); }, 4 * kSize},
          {"product of a formula", [](const Options& o) { return bytes_of(product(*formula(), o).as_double()); }, 4 * kSize},
          {"median of a formula", [](const Options& o) { return bytes_of(quantiles(formula, {{0.5}}, {}, o).values[0].as_double()); }, 0}};
}

TEST(Progress, IsToldAndChangesNothing) {
  for (const Device& device : devices()) {
    for (const Call& call : calls()) {
      const std::string what = call.name + " on " + device.info().selector;
      if (call.name.starts_with("product") && !device.info().has(Capability::denormals)) continue;
      std::vector<Progress> told;
      Options options{.device = device};
      const auto quiet = call.run(options);
      options.progress = [&](const Progress& progress) {
        told.push_back(progress);
        if (device.info().has(Capability::kernels)) Buffer(device, 16).write("it may be used", 15);
      };
      EXPECT_EQ(call.run(options), quiet) << what;
      ASSERT_FALSE(told.empty()) << what;
      if (!device.info().has(Capability::kernels)) {
        EXPECT_GE(told.size(), 3u) << what;
      }
      for (std::size_t i = 1; i < told.size() && call.total != 0; ++i) EXPECT_GT(told[i].done, told[i - 1].done) << what;
      EXPECT_EQ(told.back().total, call.total) << what;
      if (call.total != 0) {
        EXPECT_EQ(told.back().done, call.total) << what;
        EXPECT_EQ(told.back().fraction(), 1.0) << what;
      }
    }
  }
}

TEST(Progress, EndsTheWorkWhereItThrows) {
  for (const Device& device : devices()) {
    for (const Call& call : calls()) {
      if (call.name.starts_with("product") && !device.info().has(Capability::denormals)) continue;
      int told = 0;
      Options options{.device = device};
      options.progress = [&](const Progress&) {
        ++told;
        throw std::runtime_error("enough");
      };
      EXPECT_THROW(call.run(options), std::runtime_error) << call.name << " on " << device.info().selector;
      EXPECT_EQ(told, 1) << call.name << " on " << device.info().selector;
    }
  }
  // The device still works.
  for (const Device& device : devices()) EXPECT_EQ(sum(std::vector{1.0, 2.0}, {.device = device}), 3.0);
}

TEST(Progress, OfSeveralDevicesIsToldByTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  std::uint64_t last = 0;
  Options options;
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(progress.done, last);
    last = progress.done;
  };
  const Device cpu = Device::open("cpu");
  const std::vector<Device> twice = {cpu, cpu};
  EXPECT_EQ(accumulate(values(), twice, options), accumulate(values(), {.device = cpu}));
  EXPECT_EQ(last, 4 * kSize);
  options.progress = [](const Progress&) { throw std::runtime_error("enough"); };
  EXPECT_THROW(accumulate(values(), twice, options), std::runtime_error);
}

}  // namespace
}  // namespace samesum
