// NVIDIA's run-time compiler, loaded from the toolkit, a package or pip. It needs neither a GPU nor a driver.
#pragma once

#include "device/device.hpp"

#include <samesum/error.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace samesum::device::cuda {

/// One loaded libnvrtc; it is never unloaded.
class Nvrtc {
 public:
  /// @throws Error (device) where `library`, a path or a name for the loader, cannot be loaded or is older than NVRTC 11.2.
  explicit Nvrtc(const std::string& library);

  int major() const noexcept { return major_; }
  /// The path at which the loader found it.
  const std::string& path() const noexcept { return path_; }
  /// "NVRTC 13.0 (/usr/local/cuda/lib64/libnvrtc.so.13, 107412384 bytes)": the path is where the loader found it.
  const std::string& identity() const noexcept { return identity_; }
  /// The compute capabilities that it can generate code for, ascending: 75, 80, 90.
  const std::vector<int>& capabilities() const noexcept { return capabilities_; }
  /// All options of a compilation for `arch`: "sm_90" yields machine code, "compute_90" PTX.
  std::vector<std::string> options(const std::string& arch) const;

  /// `with_ptx`: PTX beside the machine code. @throws Error (device) with the compiler's log where `source` does not compile; `context` is
  /// added to the error.
  Binary compile(const std::string& source, const std::string& arch, Error::Context context = {}, bool with_ptx = false) const;

 private:
  struct Functions {
    const char* (*error_string)(int code);
    int (*version)(int* major, int* minor);
    int (*arch_count)(int* count);
    int (*archs)(int* archs);
    int (*create)(void** program, const char* source, const char* name, int headers, const char* const* texts, const char* const* names);
    int (*destroy)(void** program);
    int (*compile)(void* program, int count, const char* const* options);
    int (*log_size)(void* program, std::size_t* bytes);
    int (*log)(void* program, char* text);
    int (*ptx_size)(void* program, std::size_t* bytes);
    int (*ptx)(void* program, char* text);
    int (*cubin_size)(void* program, std::size_t* bytes);
    int (*cubin)(void* program, char* bytes);
  };

  void check(int code, const char* call) const;
  std::string output(void* program, int (*size)(void*, std::size_t*), int (*get)(void*, char*), const char* call) const;

  Functions call_{};
  int major_ = 0;
  int minor_ = 0;
  std::string path_;
  std::string identity_;
  std::vector<int> capabilities_;
};

/// The compiler for a device, and the target architecture; or why there is none.
struct CompilerChoice {
  std::string library;  // its path; empty where there is none
  std::string arch;
  std::string identity;  // Nvrtc::identity() and its options
  std::string reason;

  /// The compiler, loaded at the first call.
  const Nvrtc& nvrtc() const;
};

/// Finds a compiler whose output a driver of CUDA `driver_major` accepts, and that supports a GPU of compute capability `capability` (90
/// for 9.0) or at least an older one, whose PTX the driver translates. Searched in order: the file that the environment variable
/// SAMESUM_NVRTC_LIBRARY names (if set, nothing else), the loader's path, the toolkit's folders, pip's.
///
/// Where all kernels are cached, loading a compiler would take most of a process's time. So a choice is stored in the kernel cache; it is
/// valid while the library's file and the variables that direct the search are unchanged.
CompilerChoice choose_compiler(int capability, int driver_major);

/// Which of the kernels that ship with samesum suit a device: architectures, empty where there are none.
struct ShippedChoice {
  std::string code;  // machine code, taken rather than what a compiler makes
  std::string ptx;   // taken where there is no compiler: the driver makes machine code of it

  bool empty() const noexcept { return code.empty() && ptx.empty(); }
};

/// Machine code runs on its own generation, from its own capability on, with drivers of its CUDA release or a later one; PTX on all newer
/// devices, with drivers as new as its compiler.
ShippedChoice choose_shipped(int capability, int driver_version);

}  // namespace samesum::device::cuda
