// Replaces libnvrtc: its output is the source; "#error" does not compile.
#include "support/fake_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

using samesum::test::FakeNvrtc;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT FakeNvrtc* fake_nvrtc() {
  static auto* fake = new FakeNvrtc;
  return fake;
}

namespace {

constexpr int kOk = 0;
constexpr int kCompilationError = 6;

FakeNvrtc& fake() { return *fake_nvrtc(); }

struct FakeProgram {
  std::string source;
  std::string output;
  std::string log;
};

FakeProgram* program_of(void* program) { return static_cast<FakeProgram*>(program); }

}  // namespace

#define ENTER() \
  if (const auto failure = fake().failures.find(__func__); failure != fake().failures.end()) return failure->second

EXPORT const char* nvrtcGetErrorString(int code) {
  return code == kCompilationError ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_INTERNAL_ERROR";
}

EXPORT int nvrtcVersion(int* major, int* minor) {
  ENTER();
  *major = fake().major;
  *minor = fake().minor;
  return kOk;
}

EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  ENTER();
  *count = static_cast<int>(fake().capabilities.size());
  return kOk;
}

EXPORT int nvrtcGetSupportedArchs(int* archs) {
  ENTER();
  std::copy(fake().capabilities.begin(), fake().capabilities.end(), archs);
  return kOk;
}

EXPORT int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*) {
  ENTER();
  *program = new FakeProgram{source, {}, {}};
  ++fake().live_programs;
  return kOk;
}

EXPORT int nvrtcDestroyProgram(void** program) {
  ENTER();
  delete program_of(*program);
  *program = nullptr;
  --fake().live_programs;
  return kOk;
}

EXPORT int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  ENTER();
  fake().options.assign(options, options + count);
  FakeProgram& compiled = *program_of(program);
  if (compiled.source.starts_with("#error")) {
    compiled.log = "kernel(1): error: #error";
    return kCompilationError;
  }
  compiled.log = "compiled";
  compiled.output = compiled.source;
  return kOk;
}

EXPORT int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
  ENTER();
  *bytes = program_of(program)->log.size() + 1;
  return kOk;
}

EXPORT int nvrtcGetProgramLog(void* program, char* log) {
  ENTER();
  std::strcpy(log, program_of(program)->log.c_str());
  return kOk;
}

EXPORT int nvrtcGetPTXSize(void* program, std::size_t* bytes) {
  ENTER();
  *bytes = program_of(program)->output.size() + 5;
  return kOk;
}

EXPORT int nvrtcGetPTX(void* program, char* ptx) {
  ENTER();
  std::strcpy(ptx, ("PTX\n" + program_of(program)->output).c_str());
  return kOk;
}

EXPORT int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  ENTER();
  *bytes = program_of(program)->output.size();
  return kOk;
}

EXPORT int nvrtcGetCUBIN(void* program, char* cubin) {
  ENTER();
  std::memcpy(cubin, program_of(program)->output.data(), program_of(program)->output.size());
  return kOk;
}
