// The part of NVIDIA's driver API that the backend calls, declared here so that no CUDA header is needed to build, and loaded from
// libcuda.so.1 at run time. Names, values and signatures are the vendor's; the _v2 symbols are those of every driver since CUDA 11.
#pragma once

#include <samesum/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace samesum::device::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;

constexpr CUresult CUDA_SUCCESS = 0;
constexpr CUresult kNoDevice = 100;

// CUdevice_attribute
constexpr int kMaxThreadsPerBlock = 1;
constexpr int kMaxSharedMemoryPerBlock = 8;
constexpr int kMaxSharedMemoryPerBlockOptIn = 97;
constexpr int kMultiprocessorCount = 16;
constexpr int kComputeMode = 20;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kComputeModeProhibited = 2;

// CUfunction_attribute
constexpr int kFunctionMaxThreadsPerBlock = 0;
constexpr int kFunctionSharedBytes = 1;
constexpr int kFunctionLocalBytes = 3;
constexpr int kFunctionRegisters = 4;
constexpr int kFunctionMaxDynamicSharedBytes = 8;

// CUjit_option
constexpr int kJitErrorLog = 5;
constexpr int kJitErrorLogBytes = 6;

// CUpointer_attribute
constexpr int kPointerDevicePointer = 3;

constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureThreadLocal = 1;
constexpr unsigned kEventDefault = 0;

// CUlaunchAttributeID
constexpr int kLaunchCooperative = 2;
constexpr unsigned kHostAllocDeviceMap = 2;
constexpr int kLaunchProgrammaticSerialization = 6;
constexpr int kProgrammaticSerializationDriver = 12030;  // from this cuDriverGetVersion() on it works in a capture too
constexpr int kHopper = 90;                              // the first compute capability with this

struct CUlaunchAttribute {
  int id = 0;
  int padding = 0;
  std::array<int, 16> value{};  // a flag
};

struct CUlaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// name, symbol, parameters
#define SAMESUM_CUDA_DRIVER(X)                                                                                                     \
  X(cuInit, "cuInit", (unsigned flags))                                                                                            \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int* version))                                                                      \
  X(cuGetErrorName, "cuGetErrorName", (CUresult code, const char** name))                                                          \
  X(cuGetErrorString, "cuGetErrorString", (CUresult code, const char** text))                                                      \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int* count))                                                                            \
  X(cuDeviceGet, "cuDeviceGet", (CUdevice * device, int ordinal))                                                                  \
  X(cuDeviceGetName, "cuDeviceGetName", (char* name, int bytes, CUdevice device))                                                  \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, CUdevice device))                                    \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (std::size_t * bytes, CUdevice device))                                               \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))                                  \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                                                  \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext context))                                                                  \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext * context))                                                                  \
  X(cuCtxSynchronize, "cuCtxSynchronize", ())                                                                                      \
  X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr * pointer, std::size_t bytes))                                                       \
  X(cuMemFree, "cuMemFree_v2", (CUdeviceptr pointer))                                                                              \
  X(cuPointerGetAttribute, "cuPointerGetAttribute", (void* value, int attribute, CUdeviceptr pointer))                             \
  X(cuMemGetAddressRange, "cuMemGetAddressRange_v2", (CUdeviceptr * base, std::size_t * bytes, CUdeviceptr pointer))               \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void** pointer, std::size_t bytes, unsigned flags))                                         \
  X(cuMemFreeHost, "cuMemFreeHost", (void* pointer))                                                                               \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream))             \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream))                   \
  X(cuStreamCreate, "cuStreamCreate", (CUstream * stream, unsigned flags))                                                         \
  X(cuStreamGetCtx, "cuStreamGetCtx", (CUstream stream, CUcontext * context))                                                      \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream stream))                                                                      \
  X(cuStreamSynchronize, "cuStreamSynchronize", (CUstream stream))                                                                 \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))                                      \
  X(cuEventCreate, "cuEventCreate", (CUevent * event, unsigned flags))                                                             \
  X(cuEventDestroy, "cuEventDestroy_v2", (CUevent event))                                                                          \
  X(cuEventRecord, "cuEventRecord", (CUevent event, CUstream stream))                                                              \
  X(cuEventSynchronize, "cuEventSynchronize", (CUevent event))                                                                     \
  X(cuEventElapsedTime, "cuEventElapsedTime", (float* milliseconds, CUevent from, CUevent to))                                     \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx", (CUmodule * module, const void* image, unsigned count, int* options, void** values)) \
  X(cuModuleUnload, "cuModuleUnload", (CUmodule module))                                                                           \
  X(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char* name))                        \
  X(cuFuncGetAttribute, "cuFuncGetAttribute", (int* value, int attribute, CUfunction function))                                    \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))                                     \
  X(cuLaunchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra))     \
  X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream stream, int mode))                                                  \
  X(cuStreamIsCapturing, "cuStreamIsCapturing", (CUstream stream, int* status))                                                    \
  X(cuStreamEndCapture, "cuStreamEndCapture", (CUstream stream, CUgraph * graph))                                                  \
  X(cuGraphDestroy, "cuGraphDestroy", (CUgraph graph))                                                                             \
  X(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", (CUgraphExec * instance, CUgraph graph, unsigned long long flags)) \
  X(cuGraphLaunch, "cuGraphLaunch", (CUgraphExec instance, CUstream stream))                                                       \
  X(cuGraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec instance))                                                              \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                    \
    (int* blocks, CUfunction function, int block_size, std::size_t dynamic_bytes))

/// The loaded driver: a pointer to each of the functions above.
struct Driver {
#define SAMESUM_CUDA_MEMBER(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  SAMESUM_CUDA_DRIVER(SAMESUM_CUDA_MEMBER)
#undef SAMESUM_CUDA_MEMBER

  /// "CUDA_ERROR_OUT_OF_MEMORY".
  std::string name_of(CUresult code) const;
  /// The driver's description of `code`, then a likely cause and what to do where one is known.
  std::string explain(CUresult code) const;
  [[noreturn]] void fail(CUresult code, std::string_view call, Error::Context context) const;
};

/// The driver of this machine, or why it cannot be loaded. SAMESUM_CUDA_LIBRARY replaces libcuda.so.1.
struct DriverOrReason {
  const Driver* driver = nullptr;
  std::string reason;
};

/// Loads the driver at the first call, without initialising it. It is never unloaded.
const DriverOrReason& load_driver();

}  // namespace samesum::device::cuda
