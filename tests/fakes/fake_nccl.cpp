// Replaces libnccl.so.2 where there is no GPU: it records the calls.
#include "support/fake_nccl.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using samesum::test::FakeNccl;

EXPORT FakeNccl* fake_nccl() {
  static FakeNccl state;
  return &state;
}

EXPORT int ncclCommInitAll(void** communicators, int count, const int* ordinals) {
  if (fake_nccl()->result != 0) return fake_nccl()->result;
  for (int i = 0; i < count; ++i) {
    communicators[i] = new int(ordinals[i]);
    ++fake_nccl()->live;
  }
  return 0;
}

EXPORT int ncclCommDestroy(void* communicator) {
  delete static_cast<int*>(communicator);
  --fake_nccl()->live;
  return 0;
}

EXPORT int ncclAllReduce(const void* from, void* to, unsigned long count, int type, int operation, void* communicator, void* stream) {
  fake_nccl()->calls.push_back({from, to, count, type, operation, communicator, stream});
  return fake_nccl()->result;
}

EXPORT const char* ncclGetErrorString(int result) { return result == 5 ? "invalid usage" : "internal error"; }
EXPORT const char* ncclGetLastError(void*) { return "what happened"; }
