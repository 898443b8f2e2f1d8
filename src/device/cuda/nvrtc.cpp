#include "device/cuda/nvrtc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>

namespace samesum::device::cuda {
namespace {

std::string path_of(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr || *map->l_name == '\0') return fallback;
  return map->l_name;
}

}  // namespace

Nvrtc::Nvrtc(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(ErrorKind::device, fmt::format("{} cannot be loaded: {}", library, dlerror()));
  const auto load = [&](auto& function, const char* symbol) {
    *reinterpret_cast<void**>(&function) = dlsym(handle, symbol);
    if (function == nullptr) {
      throw Error(ErrorKind::device, fmt::format("{} has no function {}: NVRTC 11.2 or newer is needed", library, symbol));
    }
  };
  load(call_.error_string, "nvrtcGetErrorString");
  load(call_.version, "nvrtcVersion");
  load(call_.arch_count, "nvrtcGetNumSupportedArchs");
  load(call_.archs, "nvrtcGetSupportedArchs");
  load(call_.create, "nvrtcCreateProgram");
  load(call_.destroy, "nvrtcDestroyProgram");
  load(call_.compile, "nvrtcCompileProgram");
  load(call_.log_size, "nvrtcGetProgramLogSize");
  load(call_.log, "nvrtcGetProgramLog");
  load(call_.ptx_size, "nvrtcGetPTXSize");
  load(call_.ptx, "nvrtcGetPTX");
  load(call_.cubin_size, "nvrtcGetCUBINSize");
  load(call_.cubin, "nvrtcGetCUBIN");

  check(call_.version(&major_, &minor_), "nvrtcVersion");
  int count = 0;
  check(call_.arch_count(&count), "nvrtcGetNumSupportedArchs");
  capabilities_.resize(static_cast<std::size_t>(count));
  check(call_.archs(capabilities_.data()), "nvrtcGetSupportedArchs");
  std::sort(capabilities_.begin(), capabilities_.end());

  // Updates of a release have the same version number, so the file's size distinguishes builds.
  path_ = path_of(handle, library);
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(path_, ignored);
  identity_ = fmt::format("NVRTC {}.{} ({}, {} bytes)", major_, minor_, path_, ignored ? 0 : bytes);
}

std::vector<std::string> Nvrtc::options(const std::string& arch) const {
  // The arithmetic options decide bits: the last three are the defaults, but stated, so that nothing can override them.
  std::vector<std::string> options{"-arch=" + arch, "-std=c++17", "-fmad=false", "-ftz=false", "-prec-div=true", "-prec-sqrt=true"};
  // Code that means something else in C++ than in OpenCL C must not pass with a warning: above all, a parenthesised list as a vector.
  if (major_ > 11 || minor_ >= 8) options.emplace_back("-diag-error=174,161,1097,2361");
  if (arch.starts_with("sm_")) options.emplace_back("--ptxas-options=-v");
  return options;
}

Binary Nvrtc::compile(const std::string& source, const std::string& arch, Error::Context context, bool with_ptx) const {
  void* created = nullptr;
  check(call_.create(&created, source.c_str(), "kernel", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const auto destroy = [this](void* program) { call_.destroy(&program); };
  std::unique_ptr<void, decltype(destroy)> program(created, destroy);

  const std::vector<std::string> texts = options(arch);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  int code = 0;
  try {
    code = call_.compile(program.get(), static_cast<int>(pointers.size()), pointers.data());
  } catch (const std::exception& error) {
    static_cast<void>(program.release());  // the compiler may still hold locks: the program is never touched again
    context.configuration = identity_;
    throw Error(ErrorKind::device, fmt::format("the compiler broke off ({}): free memory, or take another device", error.what()),
                std::move(context));
  }

  Binary binary;
  binary.log = output(program.get(), call_.log_size, call_.log, "nvrtcGetProgramLog");
  binary.log.erase(binary.log.find_last_not_of(std::string_view("\n\0", 2)) + 1);  // it may end in several NULs
  if (code != 0) {
    context.configuration = fmt::format("{}, {}", identity_, fmt::join(texts, " "));
    context.code = call_.error_string(code);
    context.build_log = binary.log;
    throw Error(ErrorKind::device, "the kernel does not compile", std::move(context));
  }
  const bool native = arch.starts_with("sm_");
  std::string ptx;
  if (!native || with_ptx) {
    ptx = output(program.get(), call_.ptx_size, call_.ptx, "nvrtcGetPTX");
    if (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  }
  binary.bytes = native ? output(program.get(), call_.cubin_size, call_.cubin, "nvrtcGetCUBIN") : ptx;
  if (with_ptx) binary.ptx = std::move(ptx);
  return binary;
}

void Nvrtc::check(int code, const char* call) const {
  if (code == 0) return;
  Error::Context context;
  context.configuration = identity_;
  context.code = call_.error_string(code);
  throw Error(ErrorKind::device, fmt::format("{} failed", call), std::move(context));
}

std::string Nvrtc::output(void* program, int (*size)(void*, std::size_t*), int (*get)(void*, char*), const char* call) const {
  std::size_t bytes = 0;
  check(size(program, &bytes), call);
  std::string text(bytes, '\0');
  if (bytes != 0) check(get(program, text.data()), call);
  return text;
}

}  // namespace samesum::device::cuda
