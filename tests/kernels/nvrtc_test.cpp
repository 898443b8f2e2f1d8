// What NVRTC makes of kernels as built for CUDA devices: of a few of each file (of all of them: nvrtc_generations_test.cpp), and of the
// preludes.
#include "device/kernels/program.hpp"
#include "reduce/sum_device.hpp"
#include "support/compiling_device.hpp"
#include "support/every_kernel.hpp"

#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <string_view>

namespace samesum::device {
namespace {

class Nvrtc : public WithNvrtc {
 protected:
  std::string ptx(const std::string& body) const {
    const std::string kernel = "KERNEL void k(GLOBAL float* x, GLOBAL double* y, GLOBAL uint* z) {\n" + body + "\n}\n";
    return nvrtc_->compile(assemble(Language::cuda, {}) + kernel, "compute_80").bytes;
  }
};

TEST_F(Nvrtc, CompilesAFewKernelsOfEachFile) {
  std::cout << nvrtc_->identity() << "\n";
  CompilingDevice device(*nvrtc_, 80);
  test::build_every_kernel(device, test::Kernels::few);
  device.expect_every_file();
}

TEST_F(Nvrtc, CompilesForCrippledDevices) {
  CompilingDevice device(*nvrtc_, 90);
  DeviceInfo info = device.info();
  info.local_bytes = 24 << 10;
  for (const Capability capability : {Capability::device_fence, Capability::int64_atomics, Capability::subgroups}) {
    info.missing.push_back({capability, "masked"});
  }
  device.restrict_to(info);
  for (const DType type : {DType::float32, DType::float64}) reduction::DeviceSum(device, type, {}, 1 << 20);
}

TEST_F(Nvrtc, KeepsEveryRounding) {
  const std::string code = ptx("x[0] = x[1] * x[2] + x[3]; x[4] = x[5] / x[6]; x[7] = sqrt(x[8]); y[0] = y[1] * y[2] + y[3];");
  EXPECT_EQ(code.find("fma.rn"), std::string::npos) << code;
  EXPECT_NE(code.find("div.rn.f32"), std::string::npos) << code;
  EXPECT_NE(code.find("sqrt.rn.f32"), std::string::npos) << code;
  EXPECT_EQ(code.find(".ftz"), std::string::npos) << code;
  EXPECT_NE(ptx("x[0] = fma(x[1], x[2], x[3]);").find("fma.rn.f32"), std::string::npos);
}

TEST_F(Nvrtc, GivesPtxBesideMachineCode) {
  const std::string kernel = assemble(Language::cuda, {}) + "KERNEL void k(GLOBAL float* x) { x[0] = fma(x[1], x[2], x[3]); }\n";
  const Binary both = nvrtc_->compile(kernel, "sm_90", {}, true), alone = nvrtc_->compile(kernel, "sm_90");
  EXPECT_EQ(both.bytes.substr(1, 3), "ELF");
  EXPECT_EQ(alone.bytes.substr(1, 3), "ELF");
  EXPECT_NE(both.ptx.find("fma.rn.f32"), std::string::npos) << both.ptx;
  EXPECT_EQ(alone.ptx, "");
}

// A processor of this family orders memory more strictly than requested, so no run here would detect a missing order.
TEST_F(Nvrtc, KeepsEveryMemoryOrder) {
  const std::string barrier(kernel_file("samesum/device/grid_barrier.h"));
  const auto of = [&](const std::string& body, const std::string& before = "") {
    return nvrtc_->compile(before + barrier + "\nGRID_KERNEL void k(GRID_GLOBAL unsigned int* p) {\n" + body + "\n}\n", "compute_80").bytes;
  };
  const auto has = [](const std::string& code, std::string_view instruction) { return code.find(instruction) != std::string::npos; };
  EXPECT_TRUE(has(of("grid_store_release(p, 1);"), "st.release.gpu"));
  EXPECT_TRUE(has(of("p[1] = grid_load_acquire(p);"), "ld.acquire.gpu"));
  EXPECT_TRUE(has(of("p[1] = grid_add(p, 1);"), "atom.acq_rel.gpu"));
  EXPECT_TRUE(has(of("grid_add_release(p, 1);"), "red.release.gpu"));
  const std::string poll = "p[1] = grid_poll(p); grid_polled();";
  EXPECT_TRUE(has(of(poll), "fence.acquire.gpu"));
  EXPECT_TRUE(has(of(poll, "#define GRID_BARRIER_ACQUIRE_FENCE 0\n"), "ld.acquire.gpu")) << "as before CUDA 12.8";
  EXPECT_TRUE(has(ptx("fence_device();"), "fence.acq_rel.gpu"));
  EXPECT_TRUE(has(ptx("z[1] = atomic_add_ordered_global32(z, 1);"), "atom.acq_rel.gpu"));
  EXPECT_TRUE(has(ptx("atomic_merge_global64((GLOBAL ulong*)y, 1);"), "red.relaxed.gpu")) << "counted words need no order";
}

TEST_F(Nvrtc, RefusesWhatOpenclReadsOtherwise) {
  for (const char* body : {"float4 v; v = (float4)(1.0f, 2.0f, 3.0f, 4.0f); x[0] = v.x;", "float v = (1.0f, 2.0f); x[0] = v;"}) {
    try {
      ptx(body);
      ADD_FAILURE() << body;
    } catch (const Error& error) {
      EXPECT_FALSE(error.context().build_log.empty());
      EXPECT_EQ(error.context().code, "NVRTC_ERROR_COMPILATION");
    }
  }
}

}  // namespace
}  // namespace samesum::device
