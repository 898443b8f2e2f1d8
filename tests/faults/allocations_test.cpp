// Memory that runs out at every place: the n-th allocation of a call fails, for n = 1, 2, … until the call gets by, once alone and once
// with all that follow. Each call of the C interface ends with the right result or an error, the next one is right again, and nothing is
// left behind. Allocations are those of C++, of code that is linked here: the linker puts __wrap_* in place of the operators
// (CMakeLists.txt).
#include <samesum/samesum.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace {

std::atomic<std::int64_t> live{0};    // allocations that were not freed
std::atomic<std::int64_t> left{-1};   // until the one that fails; negative: none will
std::atomic<std::int64_t> failed{0};  // that failed
std::atomic<bool> all_that_follow{false};

bool fails() {
  if (left.load(std::memory_order_relaxed) < 0) return false;
  const std::int64_t now = left.fetch_sub(1);
  if (now > 0 || (now < 0 && !all_that_follow)) return false;
  if (all_that_follow) left = 0;
  ++failed;
  return true;
}

template <class Real>
void* allocate(const Real& real) {
  if (fails()) throw std::bad_alloc();
  ++live;
  return real();
}
template <class Real>
void release(void* memory, const Real& real) {
  if (memory != nullptr) --live;
  real();
}

}  // namespace

// NOLINTBEGIN: the names of the operators in object files. Those of arrays, those that do not throw and those with a size call these.
extern "C" {
using Size = std::size_t;
void* __real__Znwm(Size);
void* __real__ZnwmSt11align_val_t(Size, Size);
void __real__ZdlPv(void*);
void __real__ZdlPvSt11align_val_t(void*, Size);

void* __wrap__Znwm(Size n) {
  return allocate([&] { return __real__Znwm(n); });
}
void* __wrap__ZnwmSt11align_val_t(Size n, Size a) {
  return allocate([&] { return __real__ZnwmSt11align_val_t(n, a); });
}
void __wrap__ZdlPv(void* p) {
  release(p, [&] { __real__ZdlPv(p); });
}
void __wrap__ZdlPvSt11align_val_t(void* p, Size a) {
  release(p, [&] { __real__ZdlPvSt11align_val_t(p, a); });
}
}
// NOLINTEND

namespace {

// What calls compute with: made before memory runs out. The numbers cancel, and what is left of them is not what a plain sum gives.
constexpr std::uint64_t kCount = 30000;
const std::vector<double>& numbers() {
  static const std::vector<double> made = [] {
    std::vector<double> x(kCount);
    for (std::uint64_t i = 0; i < kCount; ++i) x[i] = std::ldexp(static_cast<double>(i % 97) - 31, static_cast<int>(i * 7 % 200) - 100);
    for (std::uint64_t i = 0; i < kCount / 2; ++i) x[kCount - 1 - i] = -x[i];
    x[5] += 3;
    return x;
  }();
  return made;
}

samesum_array array_of(const void* data, samesum_type type, const std::uint64_t* shape, std::uint32_t rank = 1) {
  samesum_array array{};
  array.data = const_cast<void*>(data);
  array.type = type;
  array.rank = rank;
  array.shape = shape;
  return array;
}
samesum_array all_numbers() { return array_of(numbers().data(), SAMESUM_FLOAT64, &kCount); }

// A handle that is freed.
template <class T>
struct Handle {
  explicit Handle(void (*how)(T*)) : free(how) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { free(handle); }
  T** operator&() { return &handle; }
  operator T*() const { return handle; }
  T* handle = nullptr;
  void (*free)(T*);
};

// Goes on while calls succeed.
struct Status {
  samesum_status value = SAMESUM_OK;
  template <class Call>
  Status& then(const Call& call) {
    if (value == SAMESUM_OK) value = call();
    return *this;
  }
};

// The results of a call, as bytes, are those of the call in enough memory.
using Results = std::array<unsigned char, 4096>;
struct Call {
  const char* name;
  std::function<samesum_status(const samesum_options*, void*)> make;
  bool here_only = false;  // not on devices with kernels
};

const std::string& folder() {
  static const std::string made = [] {
    const std::string path = (std::filesystem::temp_directory_path() / ("samesum_faults_" + std::to_string(getpid()))).string();
    std::filesystem::create_directories(path);
    std::ofstream table(path + "/t.csv");
    table << "city,price\n";
    for (int i = 0; i < 60000; ++i) table << (i % 3 == 0 ? "Rome" : i % 3 == 1 ? "Oslo" : "Bern") << ',' << i % 89 << ".25\n";
    std::ofstream raw(path + "/x.raw", std::ios::binary);
    for (int i = 0; i < 30; ++i) raw.write(reinterpret_cast<const char*>(numbers().data()), static_cast<std::streamsize>(8 * kCount));
    return path;
  }();
  return made;
}

samesum_status statistics_of_file(const samesum_options* how, void* to) {
  static const std::string path = folder() + "/x.raw";
  Handle<samesum_source> source(samesum_source_free);
  Handle<samesum_statistics> all(samesum_statistics_free);
  samesum_input_options options{};
  options.size = sizeof options;
  options.raw = "float64";
  return Status{}
      .then([&] { return samesum_source_open(path.c_str(), &options, &source); })
      .then([&] { return samesum_statistics_collect_source(source, how, &all); })
      .then([&] { return samesum_statistics_sum(all, 0, static_cast<double*>(to)); })
      .value;
}

std::vector<Call> calls() {
  static const std::uint64_t rows[] = {300, 100}, few = 64, three = 3;
  static std::vector<std::int64_t> keys;
  if (keys.empty()) {
    for (std::uint64_t i = 0; i < kCount; ++i) keys.push_back(static_cast<std::int64_t>(i * i % 101));
  }
  return {
      {"sum",
       [](const samesum_options* how, void* to) {
         const samesum_array x = all_numbers();
         return samesum_sum(&x, how, static_cast<double*>(to));
       }},
      {"dot",
       [](const samesum_options* how, void* to) {
         const samesum_array x = all_numbers();
         return samesum_dot(&x, &x, how, static_cast<double*>(to));
       }},
      {"statistics",
       [](const samesum_options* how, void* to) {
         const samesum_array x = all_numbers();
         Handle<samesum_statistics> all(samesum_statistics_free);
         return Status{}
             .then([&] { return samesum_statistics_collect(&x, how, &all); })
             .then([&] { return samesum_statistics_variance(all, 0, 0, static_cast<double*>(to)); })
             .value;
       }},
      {"histogram",
       [](const samesum_options* how, void* to) {
         const samesum_array x = all_numbers();
         Handle<samesum_bins> bins(samesum_bins_free);
         Handle<samesum_histogram> histogram(samesum_histogram_free);
         return Status{}
             .then([&] { return samesum_bins_even(-8, 8, 16, &bins); })
             .then([&] { return samesum_histogram_of(&x, bins, how, &histogram); })
             .then([&] {
               std::memcpy(to, samesum_histogram_counts(histogram, nullptr), 16 * 8);
               return SAMESUM_OK;
             })
             .value;
       }},
      {"product",
       [](const samesum_options* how, void* to) {
         const samesum_array x = array_of(numbers().data(), SAMESUM_FLOAT64, &few);
         return samesum_product(&x, how, static_cast<samesum_value*>(to));
       }},
      {"axes",
       [](const samesum_options* how, void* to) {
         const samesum_array x = array_of(numbers().data(), SAMESUM_FLOAT64, rows, 2), results = array_of(to, SAMESUM_FLOAT64, &rows[1]);
         const std::int64_t axis = 0;
         return samesum_reduce_axes(&x, SAMESUM_REDUCE_SUM, &axis, 1, 0, how, &results);
       }},
      {"scan",
       [](const samesum_options* how, void* to) {
         std::vector<double> all;
         try {
           all.resize(kCount);
         } catch (const std::bad_alloc&) {
           return SAMESUM_NO_MEMORY;
         }
         const samesum_array x = all_numbers(), results = array_of(all.data(), SAMESUM_FLOAT64, &kCount);
         const samesum_status status = samesum_scan(&x, nullptr, how, &results);
         std::memcpy(to, all.data() + kCount / 2, 100 * 8);
         return status;
       }},
      {"sum of a formula",
       [](const samesum_options* how, void* to) {
         const samesum_input inputs[] = {{"x", all_numbers()}};
         return samesum_sum_map("(x - 1)^2 + abs(x)", inputs, 1, how, static_cast<double*>(to));
       }},
      {"own operator",
       [](const samesum_options* how, void* to) {
         const samesum_array x = array_of(keys.data(), SAMESUM_INT64, &kCount);
         return samesum_reduce_by(&x, "max(a, b)", nullptr, how, static_cast<samesum_value*>(to));
       }},
      {"pairs",
       [](const samesum_options* how, void* to) {
         const samesum_array x = array_of(numbers().data(), SAMESUM_FLOAT64, &few), results = array_of(to, SAMESUM_FLOAT64, &few);
         samesum_pairs_problem problem{};
         problem.size = sizeof problem;
         problem.f = "absdiff";
         problem.accuracy = "exact";
         return samesum_pairs(&x, &x, &problem, how, &results);
       }},
      {"by key",
       [](const samesum_options* how, void* to) {
         const samesum_array x = all_numbers(), of_keys = array_of(keys.data(), SAMESUM_INT64, &kCount);
         Handle<samesum_groups> by(samesum_groups_free);
         Handle<samesum_group_sums> sums(samesum_group_sums_free);
         return Status{}
             .then([&] { return samesum_groups_by_key(&of_keys, 0, &by); })
             .then([&] { return samesum_groups_sums(by, &x, SAMESUM_KEEP_SQUARES, how, &sums); })
             .then([&] {
               const std::uint64_t count = samesum_groups_count(by);
               const samesum_array results = array_of(to, SAMESUM_FLOAT64, &count);
               return samesum_group_sums_results(sums, SAMESUM_GROUP_VARIANCE, 0, 0, &results);
             })
             .value;
       }},
      {"quantile",
       [](const samesum_options*, void* to) {
         const samesum_array x = all_numbers();
         return samesum_quantile(&x, 0.25, nullptr, static_cast<double*>(to));
       },
       true},
      {"accumulator",
       [](const samesum_options* how, void* to) {
         const samesum_array x = all_numbers();
         Handle<samesum_accumulator> sum(samesum_accumulator_free), again(samesum_accumulator_free);
         unsigned char bytes[2000];
         std::size_t size = sizeof bytes;
         return Status{}
             .then([&] { return samesum_accumulator_new(&sum); })
             .then([&] { return samesum_accumulator_add(sum, &x, how); })
             .then([&] { return samesum_accumulator_serialize(sum, bytes, &size); })
             .then([&] { return samesum_accumulator_deserialize(bytes, size, &again); })
             .then([&] { return samesum_accumulator_merge(sum, again); })
             .then([&] { return samesum_accumulator_round(sum, static_cast<double*>(to)); })
             .value;
       }},
      {"plan",
       [](const samesum_options* how, void* to) {
         samesum_array x = all_numbers();
         x.device = how->device;
         Handle<samesum_plan> plan(samesum_plan_free);
         Handle<samesum_accumulator> sum(samesum_accumulator_free);
         return Status{}
             .then([&] { return samesum_plan_new(how->device, SAMESUM_PLAN_SUM, SAMESUM_FLOAT64, kCount, 0, nullptr, &plan); })
             .then([&] { return samesum_plan_enqueue(plan, &x, nullptr, nullptr, 0); })
             .then([&] { return samesum_plan_sum(plan, &sum); })
             .then([&] { return samesum_accumulator_round(sum, static_cast<double*>(to)); })
             .value;
       },
       true},
      {"file", statistics_of_file, true},
      {"file read ahead",
       [](const samesum_options* how, void* to) {
         setenv("SAMESUM_MEMORY", "1", 1);
         const samesum_status status = statistics_of_file(how, to);
         unsetenv("SAMESUM_MEMORY");
         return status;
       },
       true},
      {"device",
       [](const samesum_options* how, void* to) {
         Handle<samesum_device> device(samesum_device_free);
         samesum_options own{};
         own.size = sizeof own;
         const samesum_array x = all_numbers();
         return Status{}
             .then([&] { return samesum_device_open(samesum_device_selector(how->device), &device); })
             .then([&] {
               own.device = device;
               return samesum_sum(&x, &own, static_cast<double*>(to));
             })
             .value;
       }},
      {"table by key",
       [](const samesum_options*, void* to) {
         Handle<samesum_source> source(samesum_source_free);
         Handle<samesum_group_sums> sums(samesum_group_sums_free);
         const char *const price = "price", *const city = "city";
         samesum_input_options options{};
         options.size = sizeof options;
         options.columns = &price;
         options.keys = &city;
         options.column_count = options.key_count = 1;
         static const std::string path = folder() + "/t.csv";
         Status status;
         status.then([&] { return samesum_source_open(path.c_str(), &options, &source); }).then([&] {
           return samesum_group_sums_new(0, 0, nullptr, &sums);
         });
         samesum_array chunk;
         for (int there = 1; status.value == SAMESUM_OK && there != 0;) {
           status.then([&] { return samesum_source_next(source, &chunk, &there); });
           if (there == 0 || status.value != SAMESUM_OK) break;
           std::uint64_t groups = 0;
           const samesum_array of_indices = array_of(samesum_source_groups(source, &groups), SAMESUM_UINT64, chunk.shape);
           status.then([&] { return samesum_group_sums_grow(sums, groups); }).then([&] {
             return samesum_group_sums_add(sums, &chunk, &of_indices);
           });
         }
         return status
             .then([&] {
               const samesum_array results = array_of(to, SAMESUM_FLOAT64, &three);
               return samesum_group_sums_results(sums, SAMESUM_GROUP_SUM, 0, 0, &results);
             })
             .value;
       },
       true},
  };
}

// A call that does not return is ended, with its name.
char hanging[200] = "";
void watch(const char* device, const char* name) {
  std::snprintf(hanging, sizeof hanging, "%s on %s does not return\n", name, device);
  std::signal(SIGALRM, [](int) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, hanging, std::strlen(hanging));
    std::_Exit(3);
  });
  alarm(300);
}

// The call whose n-th allocation fails.
samesum_status make_failing(const Call& call, const samesum_options& how, Results& found, std::int64_t n, bool all) {
  all_that_follow = all;
  failed = 0;
  left = n - 1;
  const samesum_status status = call.make(&how, found.data());
  left = -1;
  return status;
}

class Allocations : public testing::TestWithParam<std::size_t> {
 protected:
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  static void try_every_place(const char* selector);
};

void Allocations::try_every_place(const char* selector) {
  const Call call = calls()[GetParam()];
  const bool here = std::string_view(selector) == "cpu";
  if (!here && call.here_only) GTEST_SKIP() << "on the CPU alone";
  Handle<samesum_device> device(samesum_device_free);
  if (samesum_device_open(selector, &device) != SAMESUM_OK) GTEST_SKIP() << samesum_message();
  samesum_options how{};
  how.size = sizeof how;
  how.device = device;
  how.threads = 4;
  folder();
  watch(selector, call.name);
  Results right{}, found{};
  ASSERT_EQ(call.make(&how, right.data()), SAMESUM_OK) << samesum_message();
  ASSERT_EQ(call.make(&how, found.data()), SAMESUM_OK) << samesum_message();
  ASSERT_EQ(found, right);
  std::int64_t after_first = 0, places = 0;
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (std::int64_t n = 1; n < 20000; n += 1 + n / 100) {
      const std::int64_t before = live;
      found = {};
      const samesum_status status = make_failing(call, how, found, n, sweep == 2);
      if (status == SAMESUM_OK) {
        ASSERT_EQ(found, right) << "allocation " << n;
      } else {
        ASSERT_TRUE(status == SAMESUM_NO_MEMORY || (status == SAMESUM_DEVICE && !here)) << "allocation " << n << ": " << samesum_message();
        ASSERT_TRUE(sweep == 2 || samesum_message()[0] != '\0');
      }
      if (failed == 0) {
        places = n;
        break;
      }
      if (n % 16 == 1) {
        found = {};
        ASSERT_EQ(call.make(&how, found.data()), SAMESUM_OK) << "after allocation " << n << ": " << samesum_message();
        ASSERT_EQ(found, right) << "after allocation " << n;
      }
      if (std::getenv("SAMESUM_FAULTS_LEAKS") != nullptr && live != before) {
        std::printf("%s: %lld after allocation %lld\n", call.name, static_cast<long long>(live - before), static_cast<long long>(n));
      }
    }
    ASSERT_EQ(call.make(&how, found.data()), SAMESUM_OK) << samesum_message();
    if (sweep == 0) after_first = live;
  }
  EXPECT_GT(places, 1) << "none of its allocations failed";
  EXPECT_LE(live - after_first, 8) << "are left behind by two sweeps over " << places << " places";
  if (std::getenv("SAMESUM_FAULTS_LEAKS") != nullptr) std::printf("%s: %lld places\n", call.name, static_cast<long long>(places));
  alarm(0);
}

TEST_P(Allocations, FailOnTheCpu) { try_every_place("cpu"); }
TEST_P(Allocations, FailOnOpenCl) { try_every_place("opencl:0"); }

INSTANTIATE_TEST_SUITE_P(Calls, Allocations, testing::Range<std::size_t>(0, calls().size()), [](const auto& one) {
  std::string name = calls()[one.param].name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

}  // namespace
