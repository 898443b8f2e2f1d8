// Settings by function: they go before environment variables; and the CPU's work in an arena of the caller's.
#include "core/setting.hpp"

#include <samesum/samesum.h>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/settings.hpp>
#include <samesum/sum.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tbb/task_arena.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace samesum {
namespace {

TEST(Settings, GoBeforeTheEnvironment) {
  for (const std::string_view name : settings()) {
    const std::string variable(name);
    const char* const before = std::getenv(variable.c_str());
    const std::string environment = before == nullptr ? "" : before;
    configure(name, "one");
    EXPECT_EQ(core::setting(variable.c_str()), "one");
    configure(name, "");
    EXPECT_EQ(core::setting(variable.c_str()), "");
    configure(name, std::nullopt);
    EXPECT_EQ(core::setting(variable.c_str()), environment);
  }
}

TEST(Settings, OthersAreRefused) {
  EXPECT_THROW(configure("SAMESUM_CACHES", "0"), Error);
  EXPECT_THROW(configure("", "0"), Error);
  EXPECT_EQ(samesum_configure("HOME", "/"), SAMESUM_USAGE);
  EXPECT_EQ(samesum_configure(nullptr, "/"), SAMESUM_USAGE);
}

TEST(Settings, NameTheDevice) {
  EXPECT_EQ(samesum_configure("SAMESUM_DEVICE", "no such device"), SAMESUM_OK);
  EXPECT_THROW(Device::open("auto"), Error);
  EXPECT_THROW(sum(std::vector<double>{1.0}), Error);
  EXPECT_EQ(samesum_configure("SAMESUM_DEVICE", "cpu"), SAMESUM_OK);
  EXPECT_EQ(Device::open("auto").info().selector, "cpu");
  EXPECT_EQ(samesum_configure("SAMESUM_DEVICE", nullptr), SAMESUM_OK);
}

double seconds_of(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// In an arena of one thread, this thread alone works: no other has time of the processor.
TEST(Settings, AnArenaOfTheCallersBoundsTheThreads) {
  std::vector<float> data(std::size_t{1} << 25, 0.5f);
  tbb::task_arena arena(1);
  const Device cpu = Device::open("cpu");
  arena.execute([&] {
    const double thread = seconds_of(CLOCK_THREAD_CPUTIME_ID), process = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int round = 0; round < 8; ++round) {
      EXPECT_EQ(sum(data, {.device = cpu}), 0x1p24);
      EXPECT_EQ(histogram(data, Bins::even(0, 1, 4), {.device = cpu}).total(), data.size());
    }
    const double by_this = seconds_of(CLOCK_THREAD_CPUTIME_ID) - thread, by_all = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - process;
    EXPECT_LT(by_all, 1.2 * by_this);
  });
}

}  // namespace
}  // namespace samesum
