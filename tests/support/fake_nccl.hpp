// The interface by which tests control and inspect fake_nccl.cpp, the replacement for NCCL.
#pragma once

#include <vector>

namespace samesum::test {

/// The state; from the library's function `extern "C" FakeNccl* fake_nccl()`.
struct FakeNccl {
  struct Call {
    const void* from;
    void* to;
    unsigned long count;
    int type, operation;
    void* communicator;
    void* stream;
  };

  int result = 0;  ///< of ncclCommInitAll and ncclAllReduce
  int live = 0;    ///< communicators
  std::vector<Call> calls;
};

}  // namespace samesum::test
