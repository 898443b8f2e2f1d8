// NCCL, loaded at run time: the few functions that are used, declared here as its header has them (nccl.h, BSD-3).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samesum::nccl {

using Result = int;               // ncclResult_t; 0: success
inline constexpr int kInt64 = 4;  // ncclInt64
inline constexpr int kSum = 0;    // ncclSum

struct Library {
  Result (*init_all)(void** communicators, int count, const int* ordinals) = nullptr;
  Result (*destroy)(void* communicator) = nullptr;
  Result (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation, void* communicator, void* stream) = nullptr;
  const char* (*error_string)(Result) = nullptr;
  const char* (*last_error)(void* communicator) = nullptr;  // since 2.13; null where it is older

  /// Throws Error (device) unless `result` is success.
  void check(Result result, std::string_view call) const;
};

/// Loads it at the first call. @throws Error (device) where it is not there.
const Library& library();

}  // namespace samesum::nccl
