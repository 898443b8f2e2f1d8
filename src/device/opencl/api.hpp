// The OpenCL functions, from the ICD loader that is loaded at run time, and the meaning of its error codes.
#pragma once

// The functions are those of OpenCL 1.2, which every platform has; the constants include 3.0, for queries to devices that support it.
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
  X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateBuffer) X(clCreateSubBuffer) X(clReleaseMemObject) X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer) \
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

/// Why OpenCL is not available; empty where it is. The loader is loaded at the first call: libOpenCL.so.1, or the library that the
/// environment variable SAMESUM_OPENCL_LIBRARY names.
const std::string& why_absent();

/// The functions. Requires that why_absent() is empty.
const Api& api();

/// "CL_OUT_OF_RESOURCES", or the number of an unknown code.
std::string name_of_code(cl_int code);

/// Whether `object` may be an OpenCL object. The loader calls through the table of functions that every object begins with, without a
/// check. False for null, for unreadable memory, and for memory that does not begin with a readable address.
bool may_be_object(const void* object) noexcept;

/// Throws unless `code` is CL_SUCCESS: `doing` names the action ("launch a kernel"); the likely cause is added.
void check(cl_int code, std::string_view doing, Error::Context context = {});

}  // namespace samesum::device::opencl
