#include "device/opencl/api.hpp"
#include "core/setting.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace samesum::device::opencl {
namespace {

struct Library {
  Api api;
  std::string absent;
};

Library open_library() {
  Library library;
  const std::string chosen = core::setting("SAMESUM_OPENCL_LIBRARY");
  const bool own = !chosen.empty();
  const char* const name = own ? chosen.c_str() : "libOpenCL.so.1";
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    library.absent = fmt::format("cannot load the OpenCL loader: {}{}", error == nullptr ? name : error,
                                 own ? " (named by SAMESUM_OPENCL_LIBRARY)" : "; a package such as ocl-icd-libopencl1 has it");
    return library;
  }
#define SAMESUM_RESOLVE(function)                                                           \
  library.api.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  if (library.api.function == nullptr) library.absent = fmt::format("{} has no function {}: it is older than OpenCL 1.2", name, #function);
  SAMESUM_OPENCL_FUNCTIONS(SAMESUM_RESOLVE)
#undef SAMESUM_RESOLVE
  return library;  // never unloaded: platforms run their own threads until the process ends
}

const Library& library() {
  static const auto* loaded = new Library(open_library());
  return *loaded;
}

struct Code {
  cl_int value;
  const char* name;
  const char* cause;
};

#define SAMESUM_CODE(name, cause) \
  { name, #name, cause }
constexpr Code kCodes[] = {
    SAMESUM_CODE(CL_DEVICE_NOT_FOUND, ""),
    SAMESUM_CODE(CL_DEVICE_NOT_AVAILABLE, "another process may hold the device exclusively"),
    SAMESUM_CODE(CL_COMPILER_NOT_AVAILABLE, "the platform was installed without its compiler"),
    SAMESUM_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device's memory is full"),
    SAMESUM_CODE(CL_OUT_OF_RESOURCES, "a kernel went outside its memory, or needs more registers or local memory than a group has"),
    SAMESUM_CODE(CL_OUT_OF_HOST_MEMORY, "the host's memory is full"),
    SAMESUM_CODE(CL_PROFILING_INFO_NOT_AVAILABLE, "the device does not time its commands"),
    SAMESUM_CODE(CL_MEM_COPY_OVERLAP, ""),
    SAMESUM_CODE(CL_IMAGE_FORMAT_MISMATCH, ""),
    SAMESUM_CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED, ""),
    SAMESUM_CODE(CL_BUILD_PROGRAM_FAILURE, "the compiler rejected the program"),
    SAMESUM_CODE(CL_MAP_FAILURE, "the buffer cannot be mapped into the host's memory"),
    SAMESUM_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET, ""),
    SAMESUM_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "an earlier command failed"),
    SAMESUM_CODE(CL_COMPILE_PROGRAM_FAILURE, "the compiler rejected the program"),
    SAMESUM_CODE(CL_LINKER_NOT_AVAILABLE, "the platform was installed without its linker"),
    SAMESUM_CODE(CL_LINK_PROGRAM_FAILURE, "the linker rejected the program"),
    SAMESUM_CODE(CL_DEVICE_PARTITION_FAILED, ""),
    SAMESUM_CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ""),
    SAMESUM_CODE(CL_INVALID_VALUE, ""),
    SAMESUM_CODE(CL_INVALID_DEVICE_TYPE, ""),
    SAMESUM_CODE(CL_INVALID_PLATFORM, ""),
    SAMESUM_CODE(CL_INVALID_DEVICE, ""),
    SAMESUM_CODE(CL_INVALID_CONTEXT, ""),
    SAMESUM_CODE(CL_INVALID_QUEUE_PROPERTIES, ""),
    SAMESUM_CODE(CL_INVALID_COMMAND_QUEUE, "an earlier kernel may have brought the device down"),
    SAMESUM_CODE(CL_INVALID_HOST_PTR, ""),
    SAMESUM_CODE(CL_INVALID_MEM_OBJECT, ""),
    SAMESUM_CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, ""),
    SAMESUM_CODE(CL_INVALID_IMAGE_SIZE, ""),
    SAMESUM_CODE(CL_INVALID_SAMPLER, ""),
    SAMESUM_CODE(CL_INVALID_BINARY, "the binary was made by another driver or for another device"),
    SAMESUM_CODE(CL_INVALID_BUILD_OPTIONS, ""),
    SAMESUM_CODE(CL_INVALID_PROGRAM, ""),
    SAMESUM_CODE(CL_INVALID_PROGRAM_EXECUTABLE, ""),
    SAMESUM_CODE(CL_INVALID_KERNEL_NAME, "the program has no kernel of that name"),
    SAMESUM_CODE(CL_INVALID_KERNEL_DEFINITION, ""),
    SAMESUM_CODE(CL_INVALID_KERNEL, ""),
    SAMESUM_CODE(CL_INVALID_ARG_INDEX, "the kernel takes fewer arguments"),
    SAMESUM_CODE(CL_INVALID_ARG_VALUE, ""),
    SAMESUM_CODE(CL_INVALID_ARG_SIZE, "an argument has another type than the kernel's parameter"),
    SAMESUM_CODE(CL_INVALID_KERNEL_ARGS, "the kernel takes more arguments"),
    SAMESUM_CODE(CL_INVALID_WORK_DIMENSION, ""),
    SAMESUM_CODE(CL_INVALID_WORK_GROUP_SIZE, "the kernel cannot run in groups of this size"),
    SAMESUM_CODE(CL_INVALID_WORK_ITEM_SIZE, "the group is larger than the device allows"),
    SAMESUM_CODE(CL_INVALID_GLOBAL_OFFSET, ""),
    SAMESUM_CODE(CL_INVALID_EVENT_WAIT_LIST, ""),
    SAMESUM_CODE(CL_INVALID_EVENT, ""),
    SAMESUM_CODE(CL_INVALID_OPERATION, ""),
    SAMESUM_CODE(CL_INVALID_GL_OBJECT, ""),
    SAMESUM_CODE(CL_INVALID_BUFFER_SIZE, "the buffer is larger than a single allocation may be"),
    SAMESUM_CODE(CL_INVALID_MIP_LEVEL, ""),
    SAMESUM_CODE(CL_INVALID_GLOBAL_WORK_SIZE, ""),
    SAMESUM_CODE(CL_INVALID_PROPERTY, "the driver does not have a property that was asked for"),
    SAMESUM_CODE(CL_INVALID_IMAGE_DESCRIPTOR, ""),
    SAMESUM_CODE(CL_INVALID_COMPILER_OPTIONS, ""),
    SAMESUM_CODE(CL_INVALID_LINKER_OPTIONS, ""),
    SAMESUM_CODE(CL_INVALID_DEVICE_PARTITION_COUNT, ""),
    SAMESUM_CODE(CL_INVALID_PIPE_SIZE, ""),
    SAMESUM_CODE(CL_INVALID_DEVICE_QUEUE, ""),
    SAMESUM_CODE(CL_INVALID_SPEC_ID, ""),
    SAMESUM_CODE(CL_MAX_SIZE_RESTRICTION_EXCEEDED, ""),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "no OpenCL platform is installed"},
    {-9999, "-9999 (NVIDIA: illegal read or write)", "a kernel went outside its memory"},
};
#undef SAMESUM_CODE

const Code* find_code(cl_int value) {
  for (const Code& code : kCodes) {
    if (code.value == value) return &code;
  }
  return nullptr;
}

/// Reads memory through the system, which returns an error for unreadable addresses.
class MemoryProbe {
 public:
  MemoryProbe() noexcept : open_(pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0) {}
  ~MemoryProbe() {
    if (open_) close(ends_[0]), close(ends_[1]);
  }
  MemoryProbe(const MemoryProbe&) = delete;
  MemoryProbe& operator=(const MemoryProbe&) = delete;

  /// False where no pipe could be created: then nothing can be checked.
  bool is_open() const noexcept { return open_; }
  /// Whether a pointer can be read from `address`; stores it.
  bool read_pointer(const void* address, const void*& found) const noexcept {
    return write(ends_[1], address, sizeof found) == sizeof found && read(ends_[0], &found, sizeof found) == sizeof found;
  }

 private:
  int ends_[2];
  bool open_;
};

}  // namespace

bool may_be_object(const void* object) noexcept {
  if (object == nullptr) return false;
  const MemoryProbe probe;
  const void *table = nullptr, *function = nullptr;
  return !probe.is_open() || (probe.read_pointer(object, table) && probe.read_pointer(table, function));
}

const std::string& why_absent() { return library().absent; }

const Api& api() { return library().api; }

std::string name_of_code(cl_int code) {
  const Code* known = find_code(code);
  return known == nullptr ? fmt::format("OpenCL error {}", code) : known->name;
}

void check(cl_int code, std::string_view doing, Error::Context context) {
  if (code == CL_SUCCESS) return;
  const Code* known = find_code(code);
  const std::string cause = known == nullptr || *known->cause == '\0' ? "the OpenCL driver failed" : known->cause;
  context.code = name_of_code(code);
  throw Error(ErrorKind::device, fmt::format("cannot {}: {}", doing, cause), std::move(context));
}

}  // namespace samesum::device::opencl
