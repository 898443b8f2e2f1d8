// Wraps the machine's OpenCL: calls are forwarded to the real loader, except as the environment variable FAKE_OPENCL says, words separated
// by spaces:
//   claims     the devices report every extension and feature that samesum queries, whether they have it or not
//   gpu        and report to be GPUs with 16 compute units
//   bad_alloc  a compilation fails as when memory runs out inside it; any later use of the program ends the process
//   slow       a compilation takes 0.7 seconds more
#include <CL/cl.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

bool asked(const char* word) {
  const char* words = std::getenv("FAKE_OPENCL");
  return words != nullptr && (' ' + std::string(words) + ' ').find(' ' + std::string(word) + ' ') != std::string::npos;
}

template <class Function>
Function* real(const char* name) {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define REAL(function) real<decltype(function)>(#function)

std::set<cl_program>& broken() {
  static auto& programs = *new std::set<cl_program>;
  return programs;
}

void check_whole(cl_program program, const char* call) {
  if (broken().count(program) == 0) return;
  std::fprintf(stderr, "%s of a program whose build an exception has ended: here a driver waits for ever\n", call);
  std::abort();
}

cl_int answer(const void* from, std::size_t size, std::size_t room, void* to, std::size_t* needed) {
  if (needed != nullptr) *needed = size;
  if (to != nullptr && room < size) return CL_INVALID_VALUE;
  if (to != nullptr) std::memcpy(to, from, size);
  return CL_SUCCESS;
}

std::string whole(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  REAL(clGetDeviceInfo)(device, what, 0, nullptr, &size);
  std::string text(size, '\0');
  REAL(clGetDeviceInfo)(device, what, size, text.data(), nullptr);
  return text;
}

}  // namespace

EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t room, void* to, std::size_t* needed) {
  if (asked("claims") && what == CL_DEVICE_EXTENSIONS) {
    std::string text = whole(device, what).c_str();
    for (const char* name : {"cl_khr_fp64", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", "cl_khr_subgroups",
                             "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroup_ballot",
                             "cl_khr_subgroup_non_uniform_arithmetic", "cl_intel_required_subgroup_size", "cl_khr_il_program"}) {
      if (text.find(name) == std::string::npos) text.append(" ").append(name);
    }
    return answer(text.c_str(), text.size() + 1, room, to, needed);
  }
  if (asked("claims") && what == CL_DEVICE_OPENCL_C_FEATURES) {
    std::string features = whole(device, what);
    cl_name_version subgroups{CL_MAKE_VERSION(3, 0, 0), "__opencl_c_subgroups"};
    features.append(reinterpret_cast<const char*>(&subgroups), sizeof subgroups);
    return answer(features.data(), features.size(), room, to, needed);
  }
  if (asked("gpu") && what == CL_DEVICE_TYPE) {
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    return answer(&type, sizeof type, room, to, needed);
  }
  if (asked("gpu") && what == CL_DEVICE_MAX_COMPUTE_UNITS) {
    const cl_uint units = 16;
    return answer(&units, sizeof units, room, to, needed);
  }
  return REAL(clGetDeviceInfo)(device, what, room, to, needed);
}

EXPORT cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                             void(CL_CALLBACK* told)(cl_program, void*), void* data) {
  if (asked("bad_alloc")) {
    broken().insert(program);
    throw std::bad_alloc();
  }
  if (asked("slow")) usleep(700'000);
  return REAL(clBuildProgram)(program, count, devices, options, told, data);
}

EXPORT cl_int clReleaseProgram(cl_program program) {
  check_whole(program, __func__);
  return REAL(clReleaseProgram)(program);
}

EXPORT cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, std::size_t room, void* to,
                                    std::size_t* needed) {
  check_whole(program, __func__);
  return REAL(clGetProgramBuildInfo)(program, device, what, room, to, needed);
}
