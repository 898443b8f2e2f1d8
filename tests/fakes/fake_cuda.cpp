// Replaces libcuda.so.1 where there is no GPU: memory is the host's, streams run their work when something waits for it, and where a
// driver's behaviour is undefined a complaint is recorded. A program is its source: each line "kernel NAME TYPES" is an entry, with a
// letter for each argument (p pointer, i 32 bits, l 64 bits); or it is a kernel file of samesum's, whose entries' arguments are not
// recorded.
#include "support/fake_cuda_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

EXPORT int cuInit(unsigned flags) {
  ENTER(kNothing);
  if (flags != 0) return kInvalidValue;
  initialized = true;
  return kOk;
}

EXPORT int cuDriverGetVersion(int* version) {
  ENTER(kNothing);
  *version = fake().driver_version;
  return kOk;
}

EXPORT int cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},     {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {100, "CUDA_ERROR_NO_DEVICE"},       {101, "CUDA_ERROR_INVALID_DEVICE"},
                                                {200, "CUDA_ERROR_INVALID_IMAGE"},   {500, "CUDA_ERROR_NOT_FOUND"},
                                                {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  const auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? kInvalidValue : kOk;
}

EXPORT int cuGetErrorString(int code, const char** text) {
  *text = code == 2 ? "out of memory" : nullptr;
  return *text == nullptr ? kInvalidValue : kOk;
}

EXPORT int cuDeviceGetCount(int* count) {
  ENTER(kInit);
  *count = fake().device_count;
  return kOk;
}

EXPORT int cuDeviceGet(int* device, int ordinal) {
  ENTER(kInit);
  if (ordinal < 0 || ordinal >= fake().device_count) return kInvalidDevice;
  *device = ordinal;
  return kOk;
}

EXPORT int cuDeviceGetName(char* name, int bytes, int) {
  ENTER(kInit);
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
  return kOk;
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  ENTER(kInit);
  const std::map<int, int> values{{1, 1024},
                                  {8, 49152},
                                  {16, 132},
                                  {20, fake().compute_mode},
                                  {97, 232448},
                                  {75, fake().capability / 10},
                                  {76, fake().capability % 10}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  *value = found->second;
  return kOk;
}

EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  ENTER(kInit);
  *bytes = std::size_t{80} << 30;
  return kOk;
}

EXPORT int cuDevicePrimaryCtxRetain(CUcontext* result, int) {
  ENTER(kInit);
  *result = &context;
  ++fake().live["context"];
  return kOk;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  ENTER(kInit);
  --fake().live["context"];
  return kOk;
}

EXPORT int cuCtxPushCurrent_v2(CUcontext pushed) {
  ENTER(kInit);
  if (pushed != &context || fake().live["context"] == 0) return kInvalidContext;
  current().push_back(pushed);
  ++fake().current_contexts;
  return kOk;
}

EXPORT int cuCtxPopCurrent_v2(CUcontext* popped) {
  ENTER(kContext);
  *popped = current().back();
  current().pop_back();
  --fake().current_contexts;
  return kOk;
}

EXPORT int cuCtxSynchronize() {
  ENTER(kContext);
  return kOk;
}

EXPORT int cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  ENTER(kContext);
  if (bytes == 0) return kInvalidValue;
  *pointer = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));  // zeros, for reproducible contents
  allocations[*pointer] = bytes;
  ++fake().live["memory"];
  return kOk;
}

// Waits for all work that may use the memory, as the driver does.
EXPORT int cuMemFree_v2(CUdeviceptr pointer) {
  ENTER(kContext);
  for (const auto& [stream, owner] : living<CUstream_st>) run_until(stream, stream->submitted);
  if (allocations.erase(pointer) == 0) return complain(__func__, "not an allocation"), kInvalidValue;
  std::free(reinterpret_cast<void*>(pointer));
  --fake().live["memory"];
  return kOk;
}

EXPORT int cuPointerGetAttribute(void* value, int attribute, CUdeviceptr pointer) {
  ENTER(kContext);
  constexpr int kDevicePointer = 3;
  if (attribute != kDevicePointer) return complain(__func__, "an attribute that it does not know"), kInvalidValue;
  if (!within(pointer, 1) && !is_pinned(reinterpret_cast<void*>(pointer))) return kInvalidValue;
  std::memcpy(value, &pointer, sizeof pointer);
  return kOk;
}

EXPORT int cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  ENTER(kContext);
  for (const auto& [first, size] : allocations) {
    if (pointer < first || pointer >= first + size) continue;
    *base = first;
    *bytes = size;
    return kOk;
  }
  return kInvalidValue;
}

EXPORT int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  ENTER(kContext);
  *pointer = std::calloc(bytes, 1);
  pinned[static_cast<char*>(*pointer)] = bytes;
  ++fake().live["pinned memory"];
  return kOk;
}

EXPORT int cuMemFreeHost(void* pointer) {
  ENTER(kContext);
  if (pinned.erase(static_cast<char*>(pointer)) == 0) return complain(__func__, "not an allocation"), kInvalidValue;
  std::free(pointer);
  --fake().live["pinned memory"];
  return kOk;
}

// Pinned memory is read when the copy runs; pageable memory is staged by the driver at once.
EXPORT int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  ENTER(kContext);
  if (!within(to, bytes)) return kInvalidValue;
  auto* target = reinterpret_cast<void*>(to);
  if (is_pinned(from)) {
    submit(stream, [=] { std::memcpy(target, from, bytes); });
  } else {
    fake().largest_pageable_copy = std::max<std::uint64_t>(fake().largest_pageable_copy, bytes);
    auto staged = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
    submit(stream, [=] { std::memcpy(target, staged->data(), bytes); });
  }
  return kOk;
}

EXPORT int cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  ENTER(kContext);
  if (!within(from, bytes)) return kInvalidValue;
  submit(stream, [=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
  if (!is_pinned(to)) run_until(stream, stream->submitted);
  return kOk;
}

EXPORT int cuStreamCreate(CUstream* stream, unsigned flags) {
  ENTER(kContext);
  if (flags != kStreamNonBlocking) complain(__func__, "a stream that waits for the default one");
  *stream = make<CUstream_st>("stream");
  return kOk;
}

EXPORT int cuStreamGetCtx(CUstream, CUcontext* result) {
  ENTER(kContext);
  *result = &context;
  return kOk;
}

EXPORT int cuStreamDestroy_v2(CUstream stream) {
  ENTER(kContext);
  if (stream->done != stream->submitted) complain(__func__, "work is left");
  return destroy("stream", stream);
}

EXPORT int cuStreamSynchronize(CUstream stream) {
  ENTER(kContext);
  run_until(stream, stream->submitted);
  return kOk;
}

EXPORT int cuEventCreate(CUevent* event, unsigned) {
  ENTER(kContext);
  *event = make<CUevent_st>("event");
  return kOk;
}

EXPORT int cuEventDestroy_v2(CUevent event) {
  ENTER(kContext);
  return destroy("event", event);
}

EXPORT int cuEventRecord(CUevent event, CUstream stream) {
  ENTER(kContext);
  ++fake().enqueued[stream];
  *event = {stream, stream->submitted};
  return kOk;
}

EXPORT int cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  ENTER(kContext);
  ++fake().enqueued[stream];
  if (event->stream != nullptr) run_until(event->stream, event->position);  // streams run sequentially here
  return kOk;
}

EXPORT int cuEventSynchronize(CUevent event) {
  ENTER(kContext);
  if (event->stream != nullptr) run_until(event->stream, event->position);
  return kOk;
}

// One millisecond for each operation between two events.
EXPORT int cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  ENTER(kContext);
  if (from->stream == nullptr || to->stream == nullptr) return kInvalidValue;
  if (to->stream->done < to->position) complain(__func__, "the event has not happened");
  *milliseconds = static_cast<float>(to->position - from->position);
  return kOk;
}

EXPORT int cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options, void** values) {
  const std::lock_guard lock(mutex);
  if (const int code = enter(__func__, kContext); code != kOk) {
    std::size_t bytes = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == kJitErrorLogBytes) bytes = reinterpret_cast<std::size_t>(values[i]);
    }
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == kJitErrorLog && bytes != 0) std::strncpy(static_cast<char*>(values[i]), "the loader's log", bytes - 1);
    }
    return code;
  }
  CUmod_st loaded;
  std::istringstream lines(static_cast<const char*>(image));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    CUfunc_st function;
    if (words >> word >> function.name && word == "kernel") {
      words >> function.types;
      loaded.functions.push_back(function);
    }
  }
  loaded.text = static_cast<const char*>(image);
  if (loaded.functions.empty() && loaded.text.find("KERNEL") == std::string::npos) return kInvalidImage;
  *module = make("module", std::move(loaded));
  return kOk;
}

EXPORT int cuModuleUnload(CUmodule module) {
  ENTER(kContext);
  return destroy("module", module);
}

EXPORT int cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER(kContext);
  for (CUfunc_st& candidate : module->functions) {
    if (candidate.name == name) return *function = &candidate, kOk;
  }
  if (module->text.find("void " + std::string(name) + "(") != std::string::npos) {
    return *function = &module->functions.emplace_back(CUfunc_st{name, ""}), kOk;
  }
  return kNotFound;
}

EXPORT int cuFuncGetAttribute(int* value, int attribute, CUfunction) {
  ENTER(kContext);
  *value = attribute == kFunctionRegisters ? 42 : 0;
  return kOk;
}

EXPORT int cuFuncSetAttribute(CUfunction, int attribute, int value) {
  ENTER(kContext);
  constexpr int kMaxDynamicSharedBytes = 8;
  return attribute == kMaxDynamicSharedBytes && value <= 232448 ? kOk : kInvalidValue;
}

// As in cuda.h.
struct LaunchAttribute {
  int id;
  char padding[4];
  int value;
  char rest[60];
};
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CUstream stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

EXPORT int cuLaunchKernelEx(const LaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  ENTER(kContext);
  constexpr int kTooManyGroups = 720, kCooperative = 2, kProgrammatic = 6;
  if (config->grid_x == 0 || config->block_x == 0 || config->block_x > 1024) return kInvalidValue;
  if (extra != nullptr) complain(__func__, "arguments in two ways");
  samesum::test::FakeLaunch launch{function->name, config->grid_x, config->block_x, config->shared_bytes, {}};
  launch.more = {config->grid_y, config->grid_z, config->block_y, config->block_z};
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kCooperative) launch.together = attribute.value != 0;
    if (attribute.id == kProgrammatic) launch.early = attribute.value != 0;
    if (attribute.id != kCooperative && attribute.id != kProgrammatic) complain(__func__, "an attribute of another kind");
  }
  if (launch.together && config->grid_x > 132 * (2048 / config->block_x)) return kTooManyGroups;
  for (std::size_t i = 0; i < function->types.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
    launch.arguments.emplace_back(bytes, bytes + (function->types[i] == 'h' ? 2 : function->types[i] == 'i' ? 4 : 8));
  }
  fake().launches.push_back(launch);
  submit(config->stream, [] {});
  return kOk;
}

// Captures: operations on the stream between begin and end are recorded, and run with every launch of the graph.
EXPORT int cuStreamBeginCapture_v2(CUstream, int mode) {
  ENTER(kContext);
  if (mode != kCaptureThreadLocal) complain(__func__, "other threads' calls would be refused");
  recorded_from = fake().launches.size();
  is_capturing = true;
  return kOk;
}

EXPORT int cuStreamIsCapturing(CUstream, int* status) {
  ENTER(kContext);
  *status = is_capturing ? 1 : 0;
  return kOk;
}

EXPORT int cuStreamEndCapture(CUstream, CUgraph* graph) {
  ENTER(kContext);
  const auto& launches = fake().launches;
  is_capturing = false;
  *graph = make("graph", CUgraph_st{{launches.begin() + static_cast<std::ptrdiff_t>(recorded_from), launches.end()}});
  fake().launches.resize(recorded_from);
  return kOk;
}

EXPORT int cuGraphDestroy(CUgraph graph) {
  ENTER(kContext);
  return destroy("graph", graph);
}

EXPORT int cuGraphInstantiateWithFlags(CUgraphExec* instance, CUgraph graph, unsigned long long) {
  ENTER(kContext);
  *instance = make("graph instance", CUgraphExec_st{graph->launches});
  return kOk;
}

EXPORT int cuGraphLaunch(CUgraphExec instance, CUstream stream) {
  ENTER(kContext);
  ++fake().enqueued[stream];
  for (const auto& launch : instance->launches) fake().launches.push_back(launch);
  return kOk;
}

EXPORT int cuGraphExecDestroy(CUgraphExec instance) {
  ENTER(kContext);
  return destroy("graph instance", instance);
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int block_size, std::size_t dynamic_bytes) {
  ENTER(kContext);
  if (dynamic_bytes != 0) complain(__func__, "dynamic local memory");
  *blocks = 2048 / block_size;
  return kOk;
}
