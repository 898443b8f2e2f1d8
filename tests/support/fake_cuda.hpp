// What a test can see and turn of fake_cuda.cpp and fake_nvrtc.cpp, the stand-ins for NVIDIA's driver and its run-time compiler.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace samesum::test {

/// A cuLaunchKernelEx call. The arguments' bytes are what a GPU would have been given.
struct FakeLaunch {
  std::string kernel;
  unsigned groups = 0;
  unsigned group_size = 0;
  unsigned shared_bytes = 0;
  std::vector<std::vector<unsigned char>> arguments;
  bool together = false;  ///< a cooperative launch
  bool early = false;     ///< one that may start before those ahead of it have ended
};

/// Of the driver; from its function `extern "C" FakeCuda* fake_cuda()`.
struct FakeCuda {
  // to turn
  std::map<std::string, int> failures;  ///< a function's symbol: the code that it returns until it is removed
  int device_count = 1;
  int driver_version = 13000;
  int capability = 90;
  int compute_mode = 0;

  // to see
  std::map<std::string, int> live;  ///< what has been made and not yet been destroyed, by kind
  std::vector<FakeLaunch> launches;
  std::vector<std::string> complaints;  ///< misuse that a driver would answer with undefined behaviour
  std::uint64_t largest_pageable_copy = 0;
  int current_contexts = 0;  ///< pushed and not popped, over all threads
};

/// Of the compiler; from its function `extern "C" FakeNvrtc* fake_nvrtc()`.
struct FakeNvrtc {
  // to turn
  std::map<std::string, int> failures;
  int major = 13;
  int minor = 0;
  std::vector<int> capabilities{90, 80, 75};

  // to see
  std::vector<std::string> options;  ///< of the last compilation
  int live_programs = 0;
};

}  // namespace samesum::test
