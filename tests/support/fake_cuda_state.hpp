// The state of the fake of CUDA's driver (included only by fake_cuda.cpp): objects, contexts, memory, and checks of calls.
#pragma once

#include "fake_cuda.hpp"

#include "device/cuda/driver_api.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuda = samesum::device::cuda;
using namespace samesum::device::cuda;
using samesum::test::FakeCuda;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace samesum::device::cuda {

struct CUctx_st {
  int device;
};
struct CUfunc_st {
  std::string name;
  std::string types;
};
struct CUmod_st {
  std::list<CUfunc_st> functions;
  std::string text;
};
struct CUstream_st {
  std::vector<std::function<void()>> work;
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
};
struct CUevent_st {
  CUstream stream = nullptr;
  std::uint64_t position = 0;
};
struct CUgraph_st {
  std::vector<samesum::test::FakeLaunch> launches;
};
struct CUgraphExec_st {
  std::vector<samesum::test::FakeLaunch> launches;
};

}  // namespace samesum::device::cuda

namespace {

enum Code {
  kOk = 0,
  kInvalidValue = 1,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNotFound = 500
};

std::recursive_mutex mutex;
bool initialized = false;
std::size_t recorded_from = 0;
bool is_capturing = false;
CUctx_st context{0};

// This thread's stack of contexts; not thread_local, as that crashes gcc 12's leak checker in a library loaded at run time.
std::vector<CUcontext>& current() {
  static auto& stacks = *new std::map<std::thread::id, std::vector<CUcontext>>;
  return stacks[std::this_thread::get_id()];
}

// Never destroyed, as in a driver: callers may leak allocations.
auto& allocations = *new std::map<CUdeviceptr, std::size_t>;
auto& pinned = *new std::map<const char*, std::size_t>;
template <typename T>
auto& living = *new std::map<T*, std::unique_ptr<T>>;

EXPORT FakeCuda* fake_cuda() {
  static auto* fake = new FakeCuda;
  return fake;
}

FakeCuda& fake() { return *fake_cuda(); }

template <typename T>
T* make(const char* kind, T object = {}) {
  auto made = std::make_unique<T>(std::move(object));
  T* const result = made.get();
  living<T>[result] = std::move(made);
  ++fake().live[kind];
  return result;
}

void complain(const char* function, const char* what) { fake().complaints.push_back(std::string(function) + ": " + what); }

template <typename T>
int destroy(const char* kind, T* object) {
  if (living<T>.erase(object) == 0) return complain(kind, "destroyed twice, or never made"), 400;
  --fake().live[kind];
  return 0;
}

// Device memory, or pinned memory, which has the same addresses on the device.
bool within(CUdeviceptr pointer, std::size_t bytes) {
  const auto inside = [&](const auto& blocks, auto address) {
    auto after = blocks.upper_bound(address);
    if (after == blocks.begin()) return false;
    --after;
    return address + bytes <= after->first + after->second;
  };
  return inside(allocations, pointer) || inside(pinned, reinterpret_cast<char*>(pointer));
}

bool is_pinned(const void* memory) {
  const auto* address = static_cast<const char*>(memory);
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin()) return false;
  --after;
  return address < after->first + after->second;
}

void run_until(CUstream stream, std::uint64_t position) {
  while (stream->done < position) stream->work[stream->done++]();
}

void submit(CUstream stream, std::function<void()> work) {
  ++fake().enqueued[stream];
  stream->work.push_back(std::move(work));
  ++stream->submitted;
}

enum Needs { kNothing, kInit, kContext };

/// Called first in every function: returns the failure that the test requested, and checks what a driver requires.
int enter(const char* function, Needs needs) {
  if (const auto failure = fake().failures.find(function); failure != fake().failures.end()) return failure->second;
  if (needs >= kInit && !initialized) return kNotInitialized;
  if (needs == kContext && current().empty()) return kInvalidContext;
  return kOk;
}

}  // namespace

#define ENTER(needs)                 \
  const std::lock_guard lock(mutex); \
  if (const int code = enter(__func__, needs); code != kOk) return code
