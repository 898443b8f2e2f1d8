// The interface by which tests control and inspect fake_cuda.cpp and fake_nvrtc.cpp, the replacements for NVIDIA's driver and compiler.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace samesum::test {

/// A cuLaunchKernelEx call, with the arguments' bytes as a GPU would get them.
struct FakeLaunch {
  std::string kernel;
  unsigned groups = 0;
  unsigned group_size = 0;
  unsigned shared_bytes = 0;
  std::vector<std::vector<unsigned char>> arguments;
  bool together = false;  ///< a cooperative launch
  bool early = false;     ///< one that may start before preceding ones have ended
  std::array<unsigned, 4> more = {1, 1, 1, 1};  ///< groups along y and z, work-items of a group along y and z

  friend bool operator==(const FakeLaunch&, const FakeLaunch&) = default;
};

/// The driver's state; from its function `extern "C" FakeCuda* fake_cuda()`.
struct FakeCuda {
  // to control
  std::map<std::string, int> failures;  ///< a function's symbol: the code that it returns until it is removed
  int device_count = 1;
  int driver_version = 13000;
  int capability = 90;
  int compute_mode = 0;

  // to inspect
  std::map<std::string, int> live;  ///< objects created and not yet destroyed, by kind
  std::vector<FakeLaunch> launches;
  std::map<const void*, std::uint64_t> enqueued;  ///< by stream: launches, copies, events recorded or waited for
  std::vector<std::string> complaints;            ///< misuse for which a driver's behaviour is undefined
  std::uint64_t largest_pageable_copy = 0;
  int current_contexts = 0;  ///< pushed and not popped, by all threads
};

/// The compiler's state; from its function `extern "C" FakeNvrtc* fake_nvrtc()`.
struct FakeNvrtc {
  // to control
  std::map<std::string, int> failures;
  int major = 13;
  int minor = 0;
  std::vector<int> capabilities{90, 80, 75};

  // to inspect
  std::vector<std::string> options;  ///< of the last compilation
  int live_programs = 0;
};

}  // namespace samesum::test
