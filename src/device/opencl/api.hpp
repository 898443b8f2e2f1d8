// The OpenCL functions, from the ICD loader that is opened at run time, and what its error codes mean.
#pragma once

// The functions are those of OpenCL 1.2, which every platform has; the constants reach to 3.0, for questions to devices that know them.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <samesum/error.hpp>

#include <string>
#include <string_view>

namespace samesum::device::opencl {

#define SAMESUM_OPENCL_FUNCTIONS(X)                                                                                                       \
  X(clGetPlatformIDs)                                                                                                                     \
  X(clGetPlatformInfo)                                                                                                                    \
  X(clGetDeviceIDs)                                                                                                                       \
  X(clGetDeviceInfo)                                                                                                                      \
  X(clCreateContext)                                                                                                                      \
  X(clReleaseContext)                                                                                                                     \
  X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateBuffer) X(clReleaseMemObject) X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer) \
      X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clReleaseProgram) X(clGetProgramInfo)                 \
          X(clGetProgramBuildInfo) X(clCreateKernel) X(clReleaseKernel) X(clGetKernelInfo) X(clGetKernelWorkGroupInfo) X(clSetKernelArg)  \
              X(clEnqueueNDRangeKernel) X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList) X(clFinish) X(clFlush)             \
                  X(clEnqueueMapBuffer) X(clWaitForEvents) X(clReleaseEvent) X(clGetEventProfilingInfo) X(clGetCommandQueueInfo)          \
                      X(clRetainCommandQueue) X(clRetainContext) X(clRetainMemObject) X(clGetMemObjectInfo)

struct Api {
#define SAMESUM_DECLARE(function) decltype(&::function) function = nullptr;
  SAMESUM_OPENCL_FUNCTIONS(SAMESUM_DECLARE)
#undef SAMESUM_DECLARE
};

/// Why there is no OpenCL here; empty where there is. The loader is opened at the first call: libOpenCL.so.1, or what the environment
/// variable SAMESUM_OPENCL_LIBRARY names.
const std::string& why_absent();

/// The functions. Only where why_absent() is empty.
const Api& api();

/// "CL_OUT_OF_RESOURCES", or the number where the code is none of OpenCL's.
std::string name_of_code(cl_int code);

/// Whether `object` may be an OpenCL object: the loader calls whatever the function table is that each of them begins with, unseen. False
/// for null, for what cannot be read, and for what does not begin with the address of something that can be.
bool may_be_object(const void* object) noexcept;

/// Throws unless `code` is CL_SUCCESS: `doing` says what was tried ("launch a kernel"), the likely cause is added.
void check(cl_int code, std::string_view doing, Error::Context context = {});

}  // namespace samesum::device::opencl
