// Every kernel, as built for CUDA devices, through NVRTC; and a few of each file for every generation but that of nvrtc_test.cpp.
#include "support/compiling_device.hpp"
#include "support/every_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace samesum::device {
namespace {

class NvrtcGenerations : public WithNvrtc {};

TEST_F(NvrtcGenerations, CompileEveryKernel) {
  CompilingDevice device(*nvrtc_, 90);
  test::build_every_kernel(device);
  device.expect_every_file();
}

// Generations differ in the prelude and in the assembler, which a few kernels of each file show.
TEST_F(NvrtcGenerations, CompileAFewKernelsOfEachFile) {
  const std::vector<int>& known = nvrtc_->capabilities();
  std::set<int> generations{std::max(60, known.front()), known.back()};
  if (std::find(known.begin(), known.end(), 70) != known.end()) generations.insert(70);
  for (const int capability : generations) {
    CompilingDevice device(*nvrtc_, capability);
    test::build_every_kernel(device, test::Kernels::few);
  }
}

}  // namespace
}  // namespace samesum::device
