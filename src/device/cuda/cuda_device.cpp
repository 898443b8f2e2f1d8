#include "device/cuda/cuda_device.hpp"

#include "device/in_driver.hpp"
#include "device/kernels/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace samesum::device::cuda {
namespace {

/// What a Kernel's handle points to.
struct LoadedKernel {
  LoadedKernel(std::shared_ptr<const Context> owner, CUmodule loaded) : context(std::move(owner)), module(loaded) {}
  ~LoadedKernel() {
    quietly(*context, [this](const Driver& driver) {
      driver.cuCtxSynchronize();  // it may be running
      driver.cuModuleUnload(module);
    });
  }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  std::shared_ptr<const Context> context;
  CUmodule module;
  CUfunction function = nullptr;
  bool waits = false;  // where it has to: its code is for a device that can
};

const LoadedKernel& loaded(const Kernel& kernel) { return *static_cast<const LoadedKernel*>(kernel.handle.get()); }

// The device pointer is the handle's value; null without memory.
CUdeviceptr pointer(const Memory& memory) { return reinterpret_cast<CUdeviceptr>(memory.handle.get()); }

CUevent event(const Mark& mark) { return static_cast<CUevent>(mark.handle.get()); }

void check_range(const Context& context, const Memory& memory, std::uint64_t offset, std::uint64_t bytes) {
  if (offset <= memory.bytes && bytes <= memory.bytes - offset) return;
  Error::Context where;
  where.device = context.label();
  throw Error(ErrorKind::device,
              fmt::format("{} bytes from byte {} are not all within the {} bytes allocated", bytes, offset, memory.bytes),
              std::move(where));
}

// "42 registers and 0 bytes of stack and spills a work-item, 560 bytes of local memory, at most 1024 work-items a group".
std::string resources(const Driver& driver, CUfunction function) {
  const auto attribute = [&](int which) {
    int value = 0;
    return driver.cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS ? std::to_string(value) : std::string("?");
  };
  return fmt::format("{} registers and {} bytes of stack and spills a work-item, {} bytes of local memory, at most {} work-items a group",
                     attribute(kFunctionRegisters), attribute(kFunctionLocalBytes), attribute(kFunctionSharedBytes),
                     attribute(kFunctionMaxThreadsPerBlock));
}

// Whether kernels are compiled for compute capability 9.0 or newer ("sm_90", "compute_90"): grid_dependency_wait()
// of older ones does nothing.
bool is_for_hopper(const std::string& arch) { return !arch.empty() && std::stoi(arch.substr(arch.find('_') + 1)) >= kHopper; }

bool can_start_early(const Driver& driver) {
  int version = 0;
  return driver.cuDriverGetVersion(&version) == CUDA_SUCCESS && version >= kProgrammaticSerializationDriver;
}

// The maximum of local memory that a launch may request; 0 where the driver does not say.
std::uint64_t opt_in_local_bytes(const Driver& driver, CUdevice device) {
  int bytes = 0;
  const bool known = driver.cuDeviceGetAttribute(&bytes, kMaxSharedMemoryPerBlockOptIn, device) == CUDA_SUCCESS;
  return known && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

// Throws unless the caller's stream belongs to this context.
void check_owner(const Context& context, CUstream stream) {
  CUcontext owner = nullptr;
  context.check(context.driver().cuStreamGetCtx(stream, &owner), "cuStreamGetCtx");
  if (owner == context.handle()) return;
  Error::Context where;
  where.device = context.label();
  throw Error(ErrorKind::device, "the stream does not belong to this device's primary context, the one of CUDA's runtime",
              std::move(where));
}

}  // namespace

CudaDevice::CudaDevice(const Driver& driver, CUdevice device, DeviceInfo info, CompilerChoice compiler, ShippedChoice shipped,
                       std::optional<CUstream> stream)
    : context_(std::make_shared<Context>(driver, device, label(info))),
      compiler_(std::move(compiler)),
      shipped_(std::move(shipped)),
      starts_early_(can_start_early(driver)),
      static_local_bytes_(info.local_bytes),
      dynamic_local_bytes_(std::max(info.local_bytes, opt_in_local_bytes(driver, device))),
      own_stream_(!stream) {
  info_ = std::move(info);
  const Current current(*context_);
  if (stream) {
    stream_ = *stream;
    check_owner(*context_, stream_);
  } else {
    context_->check(driver.cuStreamCreate(&stream_, kStreamNonBlocking), "cuStreamCreate");
  }
  staging_.emplace(context_, stream_);
}

CudaDevice::~CudaDevice() {
  quietly(*context_, [this](const Driver& driver) {
    driver.cuStreamSynchronize(stream_);
    staging_.reset();
    if (own_stream_) driver.cuStreamDestroy(stream_);
  });
}

Memory CudaDevice::allocate(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const Current current(*context_);
  CUdeviceptr allocated = 0;
  context_->check(driver().cuMemAlloc(&allocated, bytes), fmt::format("cuMemAlloc of {} bytes", bytes));
  const auto free = [context = context_](void* memory) {
    quietly(*context, [=](const Driver& driver) { driver.cuMemFree(reinterpret_cast<CUdeviceptr>(memory)); });
  };
  return {std::shared_ptr<void>(reinterpret_cast<void*>(allocated), free), bytes};
}

Memory CudaDevice::allocate_result(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const Current current(*context_);
  void* pinned = nullptr;
  if (driver().cuMemHostAlloc(&pinned, bytes, kHostAllocDeviceMap) != CUDA_SUCCESS) return allocate(bytes);
  const auto free = [context = context_, pinned](void*) { quietly(*context, [=](const Driver& driver) { driver.cuMemFreeHost(pinned); }); };
  CUdeviceptr there = 0;  // the same address, as a rule
  const bool mapped = driver().cuPointerGetAttribute(&there, kPointerDevicePointer, reinterpret_cast<CUdeviceptr>(pinned)) == CUDA_SUCCESS;
  Memory memory{std::shared_ptr<void>(reinterpret_cast<void*>(there), free), bytes, pinned};
  return mapped ? memory : allocate(bytes);
}

Memory CudaDevice::wrap(void* memory, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const Current current(*context_);
  const auto given = reinterpret_cast<CUdeviceptr>(memory);
  const auto refuse = [&](const std::string& why) {
    Error::Context where;
    where.device = context_->label();
    throw Error(ErrorKind::usage, fmt::format("the address {} cannot be used on this device: {}", memory, why), std::move(where));
  };
  // Pinned memory may have another address on the device. The driver knows only memory that CUDA or its runtime allocated.
  CUdeviceptr address = 0;
  if (driver().cuPointerGetAttribute(&address, kPointerDevicePointer, given) != CUDA_SUCCESS) {
    refuse("it is no device, managed or pinned memory of CUDA's; an Array of ordinary host memory needs no Buffer");
  }
  CUdeviceptr base = 0;
  std::size_t size = 0;
  if (driver().cuMemGetAddressRange(&base, &size, address) == CUDA_SUCCESS && bytes > size - (address - base)) {
    refuse(fmt::format("{} bytes from there on exceed its allocation, which has {} more", bytes, size - (address - base)));
  }
  return {std::shared_ptr<void>(std::shared_ptr<void>(), reinterpret_cast<void*>(address)), bytes};
}

Memory CudaDevice::from(const Memory& memory, std::uint64_t offset) {
  check_range(*context_, memory, offset, 0);
  return {std::shared_ptr<void>(memory.handle, static_cast<char*>(memory.handle.get()) + offset), memory.bytes - offset};
}

std::uint32_t CudaDevice::misalignment(const Memory& memory) const { return static_cast<std::uint32_t>(pointer(memory) % 16); }

void CudaDevice::write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) {
  check_range(*context_, to, offset, bytes);
  if (bytes == 0) return;
  const Current current(*context_);
  const InDriver call("cuMemcpyHtoDAsync", context_->label());
  staging_->write(pointer(to) + offset, from, bytes);
}

void CudaDevice::read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) {
  check_range(*context_, from, offset, bytes);
  if (bytes == 0) return;
  const Current current(*context_);
  if (from.on_host != nullptr) {
    const InDriver call("cuStreamSynchronize", context_->label());
    context_->check(driver().cuStreamSynchronize(stream_), "cuStreamSynchronize");
    std::memcpy(to, static_cast<const char*>(from.on_host) + offset, bytes);
    return;
  }
  const InDriver call("cuMemcpyDtoHAsync", context_->label());
  staging_->read(pointer(from) + offset, to, bytes);
}

std::string CudaDevice::compiler_identity() const { return fmt::format("{}; driver {}", compiler_.identity, info_.driver); }

Binary CudaDevice::compile(const std::string& source) {
  Error::Context context;
  context.device = context_->label();
  if (compiler_.library.empty()) {
    throw Error(ErrorKind::device,
                fmt::format("{}; {}",
                            shipped(source).empty() ? "it is not among the kernels that ship with samesum"
                                                    : "the driver refuses the one that ships with samesum",
                            compiler_.reason),
                std::move(context));
  }
  const InDriver call("nvrtcCompileProgram", context_->label());
  return compiler_.nvrtc().compile(source, compiler_.arch, std::move(context), with_ptx_);
}

std::vector<Binary> CudaDevice::shipped(const std::string& source) {
  std::vector<Binary> all;
  const auto add = [&](const std::string& arch) {
    if (auto found = arch.empty() ? std::nullopt : find_shipped(source, arch)) all.push_back(std::move(*found));
  };
  add(shipped_.code);
  if (compiler_.library.empty()) add(shipped_.ptx);
  return all;
}

Kernel CudaDevice::load(const Binary& binary, const std::string& name) {
  const Current current(*context_);
  std::array<char, 8192> log{};
  std::array<int, 2> options{kJitErrorLog, kJitErrorLogBytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};  // the API passes numbers as pointers
  CUmodule module = nullptr;
  const InDriver call("cuModuleLoadDataEx", context_->label());
  const CUresult code =
      driver().cuModuleLoadDataEx(&module, binary.bytes.c_str(), static_cast<unsigned>(options.size()), options.data(), values.data());
  Error::Context where;
  where.device = context_->label();
  where.kernel = name;
  if (code != CUDA_SUCCESS) {
    where.configuration = compiler_identity();
    where.build_log.assign(log.data(), strnlen(log.data(), log.size()));
    driver().fail(code, "cuModuleLoadDataEx", std::move(where));
  }
  auto kernel = std::make_shared<LoadedKernel>(context_, module);
  kernel->waits = is_for_hopper(binary.arch.empty() ? compiler_.arch : binary.arch);
  if (const CUresult found = driver().cuModuleGetFunction(&kernel->function, module, name.c_str()); found != CUDA_SUCCESS) {
    driver().fail(found, "cuModuleGetFunction", std::move(where));
  }
  return {std::move(kernel), name};
}

void CudaDevice::launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) {
  constexpr std::size_t kMaxArguments = 512;  // of 8 bytes each: the 4096 bytes that a kernel may take
  std::array<std::uint64_t, kMaxArguments> values;
  std::array<void*, kMaxArguments> pointers;
  Error::Context where;
  if (arguments.size() > kMaxArguments) {
    where.kernel = kernel.name;
    throw Error(ErrorKind::device, fmt::format("a kernel takes at most {} arguments", kMaxArguments), std::move(where));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::visit(
        [&](const auto& argument) {
          if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Memory>) {
            values[i] = pointer(argument);
          } else {
            values[i] = 0;
            std::memcpy(&values[i], &argument, sizeof argument);
          }
        },
        arguments[i]);
    pointers[i] = &values[i];
  }
  const Current current(*context_);
  const CUfunction function = loaded(kernel).function;
  if (grid.local_bytes > static_local_bytes_) {
    context_->check(driver().cuFuncSetAttribute(function, kFunctionMaxDynamicSharedBytes, static_cast<int>(grid.local_bytes)),
                    fmt::format("cuFuncSetAttribute for {} bytes of local memory", grid.local_bytes));
  }
  CUlaunchAttribute attribute;
  attribute.id = grid.together ? kLaunchCooperative : kLaunchProgrammaticSerialization;
  attribute.value[0] = 1;
  CUlaunchConfig config;
  config.grid_x = grid.groups;
  config.grid_y = grid.more_groups[0];
  config.grid_z = grid.more_groups[1];
  config.block_x = grid.group_size;
  config.block_y = grid.more_items[0];
  config.block_z = grid.more_items[1];
  config.shared_bytes = grid.local_bytes;
  config.stream = stream_;
  config.attributes = &attribute;
  config.attribute_count = grid.together || (kernel.early && starts_early_ && loaded(kernel).waits) ? 1 : 0;
  const CUresult code = driver().cuLaunchKernelEx(&config, function, pointers.data(), nullptr);
  context_->note_launch(kernel.name);
  if (code == CUDA_SUCCESS) return;
  where.device = context_->label();
  where.kernel = kernel.name;
  where.configuration = fmt::format("{} groups of {}; {}", grid.groups, grid.group_size, resources(driver(), function));
  driver().fail(code, "cuLaunchKernelEx", std::move(where));
}

// A mask that restricts static local memory restricts this too.
std::uint64_t CudaDevice::launch_local_bytes() const {
  return info_.local_bytes < static_local_bytes_ ? info_.local_bytes : dynamic_local_bytes_;
}

std::optional<std::uint32_t> CudaDevice::resident_groups(const Kernel& kernel, std::uint32_t group_size) {
  const Current current(*context_);
  int groups = 0;
  context_->check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&groups, loaded(kernel).function, static_cast<int>(group_size), 0),
                  "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(groups) * info_.compute_units;
}

bool CudaDevice::begin_recording() {
  const Current current(*context_);
  context_->check(driver().cuStreamBeginCapture(stream_, kCaptureThreadLocal), "cuStreamBeginCapture");
  return true;
}

bool CudaDevice::is_recording() {
  const Current current(*context_);
  int status = 0;  // of an enumeration: 0 is "none"
  return driver().cuStreamIsCapturing(stream_, &status) == 0 && status != 0;
}

Recording CudaDevice::end_recording() {
  const Current current(*context_);
  CUgraph graph = nullptr;
  context_->check(driver().cuStreamEndCapture(stream_, &graph), "cuStreamEndCapture");
  CUgraphExec instance = nullptr;
  const CUresult code = driver().cuGraphInstantiateWithFlags(&instance, graph, 0);
  driver().cuGraphDestroy(graph);
  context_->check(code, "cuGraphInstantiateWithFlags");
  const auto destroy = [context = context_](void* handle) {
    quietly(*context, [=](const Driver& driver) { driver.cuGraphExecDestroy(static_cast<CUgraphExec>(handle)); });
  };
  return {std::shared_ptr<void>(instance, destroy)};
}

void CudaDevice::replay(const Recording& recording) {
  const Current current(*context_);
  context_->check(driver().cuGraphLaunch(static_cast<CUgraphExec>(recording.handle.get()), stream_), "cuGraphLaunch");
}

void CudaDevice::wait_for(void* event) {
  const Current current(*context_);
  context_->check(driver().cuStreamWaitEvent(stream_, static_cast<CUevent>(event), 0), "cuStreamWaitEvent");
}

void* CudaDevice::record(void* event) {
  const Current current(*context_);
  auto* recorded = static_cast<CUevent>(event);
  if (event == nullptr) context_->check(driver().cuEventCreate(&recorded, kEventDefault), "cuEventCreate");
  const CUresult code = driver().cuEventRecord(recorded, stream_);
  if (code != 0 && event == nullptr) driver().cuEventDestroy(recorded);
  context_->check(code, "cuEventRecord");
  return recorded;
}

Mark CudaDevice::mark() {
  const Current current(*context_);
  CUevent created = nullptr;
  context_->check(driver().cuEventCreate(&created, kEventDefault), "cuEventCreate");
  const auto destroy = [context = context_](void* handle) {
    quietly(*context, [=](const Driver& driver) { driver.cuEventDestroy(static_cast<CUevent>(handle)); });
  };
  Mark mark{std::shared_ptr<void>(created, destroy)};
  context_->check(driver().cuEventRecord(created, stream_), "cuEventRecord");
  return mark;
}

double CudaDevice::seconds_between(const Mark& from, const Mark& to) {
  const Current current(*context_);
  const InDriver call("cuEventSynchronize", context_->label());
  context_->check(driver().cuEventSynchronize(event(to)), "cuEventSynchronize");
  float milliseconds = 0;
  context_->check(driver().cuEventElapsedTime(&milliseconds, event(from), event(to)), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) / 1000;
}

void CudaDevice::finish() {
  const Current current(*context_);
  const InDriver call("cuStreamSynchronize", context_->label());
  context_->check(driver().cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

}  // namespace samesum::device::cuda
