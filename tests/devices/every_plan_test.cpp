// The guarantees of all plans: they compile and allocate when they are made, have no result before a launch, and run concurrently on the
// CPU.
#include <samesum/bench_reduce.hpp>
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/inspect.hpp>
#include <samesum/pairs.hpp>
#include <samesum/plan.hpp>
#include <samesum/sum.hpp>

#include "support/listing_device.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace samesum {
namespace {

const std::vector<Device>& devices() {
  static const auto all = open_devices("all", 0);
  return all;
}

constexpr Fields kExtremes{true, false, false, false}, kSum{false, true, false, false}, kSquares{false, false, true, false};

// A plan by name, and its properties.
struct NamedPlan {
  std::string name;
  bool takes_strides;
  bool leaves_record;
  Plan plan;

  void enqueue(const Array& data) { name == "dot" ? plan.enqueue(data, data) : plan.enqueue(data); }
  void enqueue(const Array& data, const Buffer& record) { name == "dot" ? plan.enqueue(data, data, record) : plan.enqueue(data, record); }
};

const Bins& some_bins() {
  static const Bins bins = Bins::even(0, 3, 100);
  return bins;
}

std::vector<NamedPlan> plans_for(const Device& device, DType type, std::uint64_t size, bool all = true) {
  std::vector<NamedPlan> plans{{"sum", false, true, Plan(device, ops::sum, type, size)},
                               {"extrema", false, true, Plan(device, ops::extrema, type, size)},
                               {"fields", true, true, Plan(device, Fields(), type, size)},
                               {"dot", true, true, Plan(device, ops::dot, type, size)},
                               {"histogram", false, true, Plan(device, some_bins(), type, size)}};
  if (!all) return plans;
  plans.push_back({"sum, strided", true, true, Plan(device, ops::sum, type, size, {}, Layout::strided)});
  plans.push_back({"extrema, strided", true, true, Plan(device, ops::extrema, type, size, {}, Layout::strided)});
  plans.push_back({"min", false, true, Plan(device, ops::Extrema{.max = false, .indices = false}, type, size)});
  for (const Fields fields : {kExtremes, kSum, kSquares}) plans.push_back({"field", true, true, Plan(device, fields, type, size)});
  return plans;
}

// The size of the largest record of any plan.
std::uint64_t record_bytes() { return 8 * (some_bins().count() + 3); }

ErrorKind kind_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::device;
}

TEST(EveryPlan, CompilesAndAllocatesWhenItIsMade) {
  for (const DType type : {DType::float32, DType::float64, DType::bfloat16, DType::int16, DType::uint64}) {
    const auto element = static_cast<std::int64_t>(size_of(type));
    for (const std::uint64_t size : {1000, 40'000, 10'000'000}) {
      const auto counted = std::make_shared<test::ListingDevice>();
      const Device device(counted);
      const Buffer buffer(device, (4 * size + 8) * size_of(type)), record(device, record_bytes());
      for (NamedPlan plan : plans_for(device, type, size)) {
        const test::Made made = counted->made;
        const int launches = counted->launches;
        for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{17}, size - 1, size, 4 * size}) {
          for (const std::uint64_t first : {0, 1}) {
            std::vector<Array> arrays{{buffer, count, type, first * size_of(type)}};
            if (plan.takes_strides) arrays.push_back({buffer, count / 4, type, first * size_of(type), 3 * element});
            for (const Array& array : arrays) {
              plan.enqueue(array);
              if (plan.leaves_record) plan.enqueue(array, record);
              static_cast<void>(plan.plan.result());
            }
          }
        }
        const std::string what = plan.name + " of " + std::to_string(size) + " " + std::string(name_of(type));
        EXPECT_GT(counted->launches, launches) << what;
        EXPECT_EQ(counted->made, made) << what;
      }
    }
  }
}

TEST(EveryPlan, RefusesStridesThatItWasNotMadeFor) {
  for (const Device& device : devices()) {
    const Buffer buffer(device, 80);
    const std::vector<float> values(20, 2);
    buffer.write(values.data(), 80);
    for (NamedPlan plan : plans_for(device, DType::float32, 10, false)) {
      const Array strided(buffer, 10, DType::float32, 0, 8);
      plan.enqueue({buffer, 1, DType::float32, 0, 8});  // the stride of one element is irrelevant
      if (plan.takes_strides) {
        EXPECT_NO_THROW(plan.enqueue(strided)) << plan.name;
        continue;
      }
      std::string message;
      EXPECT_EQ(kind_of([&] { plan.enqueue(strided); }, &message), ErrorKind::usage) << plan.name;
      EXPECT_NE(message.find("Layout::strided"), std::string::npos) << message;
      EXPECT_NO_THROW(static_cast<void>(plan.plan.result())) << "the launch before is still there";
    }
  }
}

TEST(EveryPlan, HasNoResultBeforeALaunch) {
  for (const Device& device : devices()) {
    const Buffer buffer(device, 80), record(device, record_bytes());
    const std::vector<float> values(20, 2);
    buffer.write(values.data(), 80);
    const Array data(buffer, 20, DType::float32);
    for (NamedPlan plan : plans_for(device, DType::float32, 20, false)) {
      std::string message;
      EXPECT_EQ(kind_of([&] { static_cast<void>(plan.plan.result()); }, &message), ErrorKind::usage)
          << device.info().selector << ", " << plan.name;
      EXPECT_NE(message.find("enqueue"), std::string::npos) << message;
      if (plan.name == "extrema") {  // writes only the record
        plan.plan.enqueue(data, record);
        EXPECT_EQ(kind_of([&] { static_cast<void>(plan.plan.result()); }), ErrorKind::usage) << device.info().selector;
      }
      plan.enqueue(data);
      EXPECT_NO_THROW(static_cast<void>(plan.plan.result())) << device.info().selector << ", " << plan.name;
    }
  }
}

// A page of memory whose first access blocks until it is released.
class HeldPage {
 public:
  HeldPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    begin_ = static_cast<char*>(mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (begin_ == MAP_FAILED || pipe(touched_) != 0 || pipe(released_) != 0) throw std::runtime_error("no page to hold");
    mprotect(begin_ + size_, size_, PROT_NONE);
    held = this;
    struct sigaction action {};
    action.sa_sigaction = wait_here;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
  }
  ~HeldPage() {
    sigaction(SIGSEGV, &before_, nullptr);
    for (const int end : {touched_[0], touched_[1], released_[0], released_[1]}) close(end);
    munmap(begin_, 2 * size_);
  }

  void* memory() const { return begin_; }  ///< a page of zeros, and the blocking one
  std::size_t bytes() const { return 2 * size_; }
  void wait_for_touch() const {
    char byte;
    EXPECT_EQ(read(touched_[0], &byte, 1), 1);
  }
  void release() const { EXPECT_EQ(write(released_[1], "", 1), 1); }

 private:
  static void wait_here(int, siginfo_t* what, void*) {
    const auto* address = static_cast<const char*>(what->si_addr);
    char byte = 0;
    const bool here = address >= held->begin_ + held->size_ && address < held->begin_ + held->bytes();
    if (!here || write(held->touched_[1], &byte, 1) != 1 || read(held->released_[0], &byte, 1) != 1) _exit(125);
    mprotect(held->begin_ + held->size_, held->size_, PROT_READ);
  }

  static inline HeldPage* held = nullptr;
  std::size_t size_;
  char* begin_;
  int touched_[2], released_[2];
  struct sigaction before_ {};
};

TEST(EveryPlan, OnTheCpuWorksWhileAnotherDoes) {
  const Device cpu = Device::open("cpu");
  const float values[] = {1, 2, 3};
  const Buffer few(cpu, sizeof values), record(cpu, record_bytes());
  few.write(values, sizeof values);
  const Array small(few, 3, DType::float32);
  const std::size_t kinds = plans_for(cpu, DType::float32, 3, false).size();
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    NamedPlan slow = plans_for(cpu, DType::float32, 2000, false)[kind];
    const HeldPage page;
    const Buffer buffer = Buffer::wrap(cpu, page.memory(), page.bytes());
    auto first = std::async(std::launch::async, [&] { slow.enqueue({buffer, page.bytes() / 4, DType::float32}); });
    page.wait_for_touch();
    auto second = std::async(std::launch::async, [&] {
      for (NamedPlan quick : plans_for(cpu, DType::float32, 3, false)) {
        quick.enqueue(small);
        if (quick.leaves_record) quick.enqueue(small, record);
        static_cast<void>(quick.plan.result());
      }
      slow.enqueue(small);  // another launch of the same plan
    });
    EXPECT_EQ(second.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "waits for another launch: " << slow.name;
    page.release();
    EXPECT_NO_THROW(first.get());
    EXPECT_NO_THROW(second.get());
  }
}

TEST(Callbacks, MayUseTheDeviceOfPairs) {
  const std::vector<float> values(2000, 1);
  const Array view(values.data(), values.size(), DType::float32);
  for (const Device& device : devices()) {
    int told = 0;
    Options options{.device = device};
    options.progress = [&](const Progress&) {
      const Buffer buffer(device, 12);
      const float few[] = {1, 2, 4};
      buffer.write(few, 12);
      EXPECT_EQ(accumulate(Array(buffer, 3, DType::float32)).round(), 7.0);
      ++told;
    };
    const auto sums = std::get<std::vector<float>>(pairs(view, view, {}, options));
    EXPECT_GT(told, 0) << device.info().selector;
    EXPECT_EQ(sums, std::vector<float>(2000, 2000.0f)) << device.info().selector;
  }
}

TEST(Callbacks, OfMeasurementsMayNotUseTheDevice) {
  const std::vector<float> values(1000, 1);
  for (const Device& device : devices()) {
    if (!device.info().has(Capability::kernels)) continue;
    bench::ReduceBenchOptions options;
    options.operations = {"extremes"};
    options.effort.progress = [&](std::string_view) { Buffer(device, 16); };
    std::string message;
    EXPECT_EQ(kind_of(
                  [&] {
                    bench::measure_reductions(device, {values.data(), values.size(), DType::float32}, options);
                  },
                  &message),
              ErrorKind::usage);
    EXPECT_NE(message.find(device.info().selector + " is in use"), std::string::npos) << message;
    EXPECT_NO_THROW(Buffer(device, 16)) << "the device is free again";
  }
}

TEST(Reports, NameWhatRan) {
  const std::vector<float> values(1000, 1);
  const Array few(values.data(), 1000, DType::float32), integers(values.data(), 1000, DType::int32);
  const Device all_capable(std::make_shared<test::ListingDevice>());
  Report report;
  const auto ran = [&](const auto& call) {
    report = {};
    call();
    return report.variant;
  };
  EXPECT_EQ(ran([&] { accumulate(few, {.device = all_capable, .report = &report}); }), "small_sum");
  EXPECT_EQ(ran([&] { accumulate(integers, {.device = all_capable, .report = &report}); }), "sum_integers");
  EXPECT_EQ(ran([&] { accumulate(few, {.device = all_capable, .report = &report, .tuning = {.group_size = 64}}); }), "exact_bins");
  EXPECT_EQ(ran([&] { collect(few, kExtremes, {.device = all_capable, .report = &report}); }), "extremes_small");
  EXPECT_EQ(ran([&] { collect(few, kExtremes, {.device = all_capable, .report = &report, .tuning = {.group_size = 64}}); }), "extremes");
  EXPECT_EQ(ran([&] { collect(few, kSquares, {.device = all_capable, .report = &report}); }), "small_sum");
  EXPECT_EQ(ran([&] { collect(few, {}, {.device = all_capable, .report = &report}); }), "statistics");
  EXPECT_EQ(ran([&] { dot(few, few, {.device = all_capable, .report = &report}); }), "small_sum");
  const Buffer buffer(all_capable, 4000);
  EXPECT_EQ(ran([&] { accumulate(Array(buffer, 1000, DType::float32), {.report = &report}); }), "small_sum");
  EXPECT_EQ(ran([&] { collect(Array(buffer, 1000, DType::float32), kExtremes, {.report = &report}); }), "extremes_small");
  EXPECT_EQ(ran([&] { collect(Array(buffer, 300, DType::float32, 0, 8), kExtremes, {.report = &report}); }), "extremes");
  const Device cpu = Device::open("cpu");
  EXPECT_EQ(ran([&] { accumulate(few, {.device = cpu, .report = &report}); }), "exact_blocks");
  EXPECT_EQ(ran([&] { collect(few, kExtremes, {.device = cpu, .report = &report}); }), "extremes");
  EXPECT_EQ(ran([&] { collect(few, {}, {.device = cpu, .report = &report}); }), "statistics");
  EXPECT_EQ(ran([&] { dot(few, few, {.device = cpu, .report = &report}); }), "dot");
  EXPECT_EQ(ran([&] { product(few, {.device = cpu, .report = &report}); }), "tree");
  EXPECT_EQ(ran([&] { product(integers.part(0, 1), {.device = cpu, .report = &report}); }), "integers");
}

TEST(Kernels, AreThoseOfTheSizeAskedFor) {
  const Device device(std::make_shared<test::ListingDevice>());
  const auto shows = [&](const char* pattern, const char* variant, std::uint64_t size, const char* file) {
    InspectOptions options;
    options.size = size;
    const std::string source = inspect_kernels(device, pattern, variant, options).front().source;
    return source.find(std::string("#line 1 \"") + file + "\"") != std::string::npos;
  };
  EXPECT_TRUE(shows("sum", "exact_bins", 1000, "reduce/small/small_sum.cl"));
  EXPECT_FALSE(shows("sum", "exact_bins", 0, "reduce/small/small_sum.cl"));
  EXPECT_TRUE(shows("sum", "exact_bins", 0, "reduce/device/statistics.cl"));
  EXPECT_TRUE(shows("reduce", "extremes", 1000, "reduce/extremes/extremes_small.cl"));
  EXPECT_FALSE(shows("reduce", "extremes", 0, "reduce/extremes/extremes_small.cl"));
  EXPECT_TRUE(shows("reduce", "dot", 1000, "reduce/small/small_sum.cl"));
  EXPECT_TRUE(shows("reduce", "dot", 0, "reduce/device/statistics.cl"));
}

}  // namespace
}  // namespace samesum
