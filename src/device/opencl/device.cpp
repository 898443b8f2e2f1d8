// An open OpenCL device: a context, an in-order queue, and the programs loaded into it.
#include "device/in_driver.hpp"
#include "device/kernels/hash.hpp"
#include "device/kernels/kernel_cache.hpp"
#include "device/memory/room.hpp"
#include "device/opencl/build_log.hpp"
#include "device/opencl/opencl.hpp"
#include "device/opencl/query.hpp"
#include "device/opencl/resident_groups.hpp"
#include "device/opencl/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace samesum::device::opencl {
namespace {

// PoCL allocates 256 MiB for a program's binary, without checking for failure, and about half of that to compile.
constexpr std::uint64_t kCompilerBytes = std::uint64_t{384} << 20;

using ContextPtr = std::shared_ptr<std::remove_pointer_t<cl_context>>;
using QueuePtr = std::shared_ptr<std::remove_pointer_t<cl_command_queue>>;
using ProgramPtr = std::shared_ptr<std::remove_pointer_t<cl_program>>;

/// What a device::Kernel's handle points to.
struct LoadedKernel {
  ProgramPtr program;
  cl_kernel kernel = nullptr;
  std::uint32_t max_group_size = 0;
  std::uint32_t arguments = 0;

  LoadedKernel() = default;
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel() {
    if (kernel != nullptr) api().clReleaseKernel(kernel);
  }
};

void release_program(cl_program program) {
  const InDriver call("clReleaseProgram", "OpenCL");
  api().clReleaseProgram(program);
}

/// Programs whose builds ended in an exception thrown inside a driver, which left its locks held: any further use, even a release, would
/// deadlock. They are leaked, and their platforms build nothing more.
class Abandoned {
 public:
  static Abandoned& instance() {
    static auto* abandoned = new Abandoned;
    return *abandoned;
  }
  void add(const std::string& platform, const ProgramPtr& program) {
    const std::lock_guard lock(mutex_);
    programs_.emplace(platform, program);
  }
  bool has(const std::string& platform) {
    const std::lock_guard lock(mutex_);
    return programs_.count(platform) != 0;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::string, ProgramPtr> programs_;
};

class OpenClDevice final : public Device {
 public:
  explicit OpenClDevice(const Found& found)
      : id_(found.id),
        options_(found.options),
        compiler_(found.compiler),
        label_(label(found.info)),
        ptx_(found.ptx),
        local_bytes_(found.info.local_bytes) {
    info_ = found.info;
    cl_int code = CL_SUCCESS;
    const InDriver call("clCreateContext", label_);
    const cl_context created = api().clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
    check(code, "open the device", context());
    context_ = ContextPtr(created, api().clReleaseContext);
    create_queue(0);
  }

  /// On the caller's queue and in its context.
  OpenClDevice(const Found& found, cl_command_queue queue)
      : id_(found.id),
        options_(found.options),
        compiler_(found.compiler),
        label_(label(found.info)),
        ptx_(found.ptx),
        local_bytes_(found.info.local_bytes),
        own_queue_(false) {
    info_ = found.info;
    cl_context of_queue = nullptr;
    cl_command_queue_properties properties = 0;
    check(api().clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, nullptr), "ask about the queue", context());
    check(api().clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr), "ask about the queue",
          context());
    if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
      throw Error(ErrorKind::usage, "the queue runs its commands out of order; samesum takes an in-order queue", context());
    }
    check(api().clRetainContext(of_queue), "retain the queue's context", context());
    context_ = ContextPtr(of_queue, api().clReleaseContext);
    check(api().clRetainCommandQueue(queue), "retain the queue", context());
    queue_ = QueuePtr(queue, api().clReleaseCommandQueue);
    timed_ = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  }

  Memory allocate(std::uint64_t bytes) override {
    if (bytes > info_.max_allocation_bytes) {
      fail(fmt::format("cannot allocate {} bytes: a single allocation has at most {}", bytes, info_.max_allocation_bytes));
    }
    cl_int code = CL_SUCCESS;
    const cl_mem buffer = api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, std::max<std::size_t>(bytes, 1), nullptr, &code);
    check(code, fmt::format("allocate {} bytes", bytes), context());
    return {std::shared_ptr<void>(buffer, [](void* memory) { api().clReleaseMemObject(static_cast<cl_mem>(memory)); }), bytes};
  }

  Memory wrap(void* memory, std::uint64_t bytes) override {
    const auto buffer = static_cast<cl_mem>(memory);
    cl_context of_buffer = nullptr;
    std::size_t size = 0;
    if (!may_be_object(buffer) || api().clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof of_buffer, &of_buffer, nullptr) != CL_SUCCESS ||
        api().clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, nullptr) != CL_SUCCESS) {
      throw Error(ErrorKind::usage, "what was given as a buffer is no cl_mem", context());
    }
    if (of_buffer != context_.get()) {
      throw Error(ErrorKind::usage, "the buffer belongs to another context than this device: open the device on a queue of that context",
                  context());
    }
    if (bytes > size) throw Error(ErrorKind::usage, fmt::format("the buffer has {} bytes, not {}", size, bytes), context());
    check(api().clRetainMemObject(buffer), "retain the buffer", context());
    return {std::shared_ptr<void>(buffer, [](void* held) { api().clReleaseMemObject(static_cast<cl_mem>(held)); }), bytes};
  }

  Memory from(const Memory& memory, std::uint64_t offset) override {
    const cl_buffer_region region{offset, memory.bytes - std::min(offset, memory.bytes)};
    const cl_mem buffer = part(memory, offset, region.size);
    cl_uint bits = 0;
    check(api().clGetDeviceInfo(id_, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr), "ask about the device", context());
    if (const std::uint64_t aligned = std::max(bits / 8, 1u); offset % aligned != 0) {
      throw Error(
          ErrorKind::usage,
          fmt::format("an array at byte {} of its buffer cannot be an argument: this device takes multiples of {}; give the buffer, "
                      "and the offset as an argument of its own",
                      offset, aligned),
          context());
    }
    cl_int code = CL_SUCCESS;
    const cl_mem created = api().clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    check(code, fmt::format("make an argument of a buffer's part from byte {} on", offset), context());
    return {std::shared_ptr<void>(created, [](void* made) { api().clReleaseMemObject(static_cast<cl_mem>(made)); }), region.size};
  }

  void write(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) override {
    const cl_mem buffer = part(to, offset, bytes);
    if (bytes == 0) return;
    const InDriver call("clEnqueueWriteBuffer", label_);
    const cl_int code = staged(bytes) ? staging_.write(queue_.get(), buffer, offset, static_cast<const char*>(from), bytes)
                                      : api().clEnqueueWriteBuffer(queue_.get(), buffer, CL_TRUE, offset, bytes, from, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) check(code, "write to the device", context());
  }

  void read(const Memory& from, std::uint64_t offset, void* to, std::uint64_t bytes) override {
    const cl_mem buffer = part(from, offset, bytes);
    if (bytes == 0) return finish();
    const InDriver call("clEnqueueReadBuffer", label_);
    const cl_int code = staged(bytes) ? staging_.read(queue_.get(), buffer, offset, static_cast<char*>(to), bytes)
                                      : api().clEnqueueReadBuffer(queue_.get(), buffer, CL_TRUE, offset, bytes, to, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) check(code, "read from the device", context());
  }

  Language language() const override { return Language::opencl_c; }

  std::string compiler_identity() const override { return compiler_ + '\n' + options_; }

  Binary compile(const std::string& source) override {
    if (!has_room(kCompilerBytes)) {
      fail(fmt::format(
          "cannot build a program: this process can have no {} MiB of memory more, without which drivers' compilers crash; free "
          "memory, or raise its limit (ulimit -v)",
          kCompilerBytes >> 20));
    }
    const char* text = source.data();
    const std::size_t length = source.size();
    cl_int code = CL_SUCCESS;
    const cl_program created = api().clCreateProgramWithSource(context_.get(), 1, &text, &length, &code);
    check(code, "create a program", context());
    const ProgramPtr program(created, release_program);
    Binary result;
    result.log = make_executable(program, source);
    const std::uint32_t resident = ptx_ ? resident_groups_of(source) : 0;
    if (resident <= 1 && !binaries_ && !may_cache()) {
      // PoCL compiles all kernels of a program a second time for its binary, for groups of any size.
      result.bytes = source;
      programs_[hash_of({result.bytes})] = program;
      return result;
    }

    // One device, so one binary.
    std::size_t bytes = 0;
    check(api().clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr), "read a program's binary",
          context());
    result.bytes.resize(bytes);
    char* to = result.bytes.data();
    check(api().clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof to, &to, nullptr), "read a program's binary", context());
    if (bytes == 0) fail("the driver gives no binary of a program");
    if (resident > 1) {
      result.bytes = with_resident_groups(result.bytes, resident);
      const std::string log = build_binary(result).second;
      if (!log.empty()) result.log = log;
      return result;
    }
    programs_[hash_of({result.bytes})] = program;
    return result;
  }

  void want_binaries() override { binaries_ = true; }

  Kernel load(const Binary& binary, const std::string& name) override {
    auto loaded = std::make_shared<LoadedKernel>();
    loaded->program = program_of(binary);
    cl_int code = CL_SUCCESS;
    loaded->kernel = api().clCreateKernel(loaded->program.get(), name.c_str(), &code);
    check(code, "load the kernel", context(name));
    cl_uint arguments = 0;
    check(api().clGetKernelInfo(loaded->kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, nullptr), "ask about a kernel",
          context(name));
    loaded->arguments = arguments;
    const auto of_kernel = [&](cl_kernel_work_group_info what, auto value) {
      check(api().clGetKernelWorkGroupInfo(loaded->kernel, id_, what, sizeof value, &value, nullptr), "ask about a kernel", context(name));
      return value;
    };
    // NVIDIA's driver reports 256 even for a kernel that was compiled for a required group size.
    const auto fixed = of_kernel(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, std::array<std::size_t, 3>{});
    loaded->max_group_size = static_cast<std::uint32_t>(std::max(of_kernel(CL_KERNEL_WORK_GROUP_SIZE, std::size_t{}), fixed[0]));
    // The driver checks its own limit; this checks a mask's.
    const cl_ulong local = of_kernel(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong{});
    if (local > info_.local_bytes && info_.local_bytes < local_bytes_) {
      fail(fmt::format("the kernel needs {} bytes of local memory, a mask leaves a group {}", local, info_.local_bytes), name);
    }
    return {loaded, name};
  }

  void launch(const Kernel& kernel, Grid grid, std::span<const Argument> arguments) override {
    const auto& loaded = *static_cast<const LoadedKernel*>(kernel.handle.get());
    const std::uint32_t largest = std::min(info_.max_group_size, loaded.max_group_size);
    const std::array<std::size_t, 3> local = {grid.group_size, grid.more_items[0], grid.more_items[1]};
    const std::array<std::size_t, 3> global = {local[0] * grid.groups, local[1] * grid.more_groups[0], local[2] * grid.more_groups[1]};
    if (global[0] * global[1] * global[2] == 0 || grid.group_size > largest || local[1] * local[2] > largest / grid.group_size) {
      const bool no_group = std::uint64_t{grid.groups} * grid.more_groups[0] * grid.more_groups[1] == 0;
      fail(no_group ? "a launch of no groups: of each axis there is at least one"
                    : fmt::format("cannot run in groups of this size: this kernel takes 1 to {} work-items, over all axes", largest),
           kernel.name, grid);
    }
    const std::size_t given = arguments.size() + (grid.local_bytes != 0 ? 1 : 0);
    if (given != loaded.arguments) fail(fmt::format("the kernel takes {} arguments, not {}", loaded.arguments, given), kernel.name, grid);
    cl_uint index = 0;
    for (const Argument& argument : arguments) {
      const cl_int code = std::visit([&](const auto& value) { return set_argument(loaded.kernel, index, value); }, argument);
      if (code != CL_SUCCESS) check(code, fmt::format("set argument {}", index), context(kernel.name, grid));
      ++index;
    }
    if (grid.local_bytes != 0) {
      check(api().clSetKernelArg(loaded.kernel, index, grid.local_bytes, nullptr), "set the size of local memory",
            context(kernel.name, grid));
    }
    const cl_uint axes = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    const InDriver call("clEnqueueNDRangeKernel", label_);  // PoCL compiles in it
    const cl_int code =
        api().clEnqueueNDRangeKernel(queue_.get(), loaded.kernel, axes, nullptr, global.data(), local.data(), 0, nullptr, nullptr);
    if (code != CL_SUCCESS) check(code, "launch the kernel", context(kernel.name, grid));
  }

  bool knows_residency() const override { return info_.is_cpu; }

  std::optional<std::uint32_t> resident_groups(const Kernel&, std::uint32_t) override {
    if (info_.is_cpu) return info_.compute_units;  // one thread runs a group to its end
    return std::nullopt;
  }

  void wait_for(void* event) override {
    auto* const other = static_cast<cl_event>(event);
    check(api().clEnqueueBarrierWithWaitList(queue_.get(), 1, &other, nullptr), "wait for an event of another queue", context());
  }

  void* record(void* event) override {
    if (event != nullptr)
      throw Error(ErrorKind::usage, "OpenCL records no event of the caller's: give none, and take the new one", context());
    cl_event recorded = nullptr;
    check(api().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &recorded), "record an event", context());
    check(api().clFlush(queue_.get()), "send the work to the device", context());
    return recorded;
  }

  Mark mark() override {
    if (!timed_ && !own_queue_) {
      throw Error(ErrorKind::usage, "the queue keeps no times: create it with CL_QUEUE_PROFILING_ENABLE, or ask for no report", context());
    }
    if (!timed_) create_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_event event = nullptr;
    check(api().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &event), "mark a point in the queue", context());
    return {std::shared_ptr<void>(event, [](void* mark) { api().clReleaseEvent(static_cast<cl_event>(mark)); })};
  }

  double seconds_between(const Mark& from, const Mark& to) override {
    return 1e-9 * static_cast<double>(static_cast<std::int64_t>(nanoseconds(to) - nanoseconds(from)));
  }

  void finish() override {
    const InDriver call("clFinish", label_);
    check(api().clFinish(queue_.get()), "finish the work on the device", context());
  }

 private:
  Error::Context context(std::string kernel = {}) const {
    Error::Context result;
    result.device = label(info_);
    result.kernel = std::move(kernel);
    return result;
  }

  Error::Context context(std::string kernel, Grid grid) const {
    Error::Context result = context(std::move(kernel));
    result.configuration = fmt::format("groups={} group_size={}", grid.groups, grid.group_size);
    return result;
  }

  template <typename... Where>
  [[noreturn]] void fail(std::string message, Where... where) const {
    throw Error(ErrorKind::device, std::move(message), context(where...));
  }

  // The queue records times only from the first mark on, as that makes every command slower.
  void create_queue(cl_command_queue_properties properties) {
    if (queue_ != nullptr) finish();
    cl_int code = CL_SUCCESS;
    const cl_command_queue created = api().clCreateCommandQueue(context_.get(), id_, properties, &code);
    check(code, "create a queue", context());
    queue_ = QueuePtr(created, api().clReleaseCommandQueue);
    timed_ = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  }

  // A CPU device uses host memory: no staging.
  bool staged(std::uint64_t bytes) {
    return !info_.is_cpu && bytes >= Staging::kWorthwhileBytes && staging_.ready(context_.get(), queue_.get());
  }

  cl_mem part(const Memory& memory, std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > memory.bytes || bytes > memory.bytes - offset) {
      fail(fmt::format("{} bytes at offset {} lie outside an allocation of {} bytes", bytes, offset, memory.bytes));
    }
    return static_cast<cl_mem>(memory.handle.get());
  }

  static cl_int set_argument(cl_kernel kernel, cl_uint index, const Memory& memory) {
    const auto buffer = static_cast<cl_mem>(memory.handle.get());
    return api().clSetKernelArg(kernel, index, sizeof buffer, &buffer);
  }

  template <typename T>
  static cl_int set_argument(cl_kernel kernel, cl_uint index, const T& value) {
    return api().clSetKernelArg(kernel, index, sizeof value, &value);
  }

  // Compiles or links; returns the log in any case, with positions in `source` as the files that it was assembled from.
  std::string make_executable(const ProgramPtr& program, std::string_view source = {}) const {
    const cl_int code = build(program);
    std::string log;
    std::size_t bytes = 0;
    if (api().clGetProgramBuildInfo(program.get(), id_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) == CL_SUCCESS && bytes > 1) {
      log.resize(bytes);
      if (api().clGetProgramBuildInfo(program.get(), id_, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) != CL_SUCCESS) log.clear();
      log = with_files(log.substr(0, log.find('\0')), source);
    }
    Error::Context where = context();
    where.build_log = log;
    if (code != CL_SUCCESS && log.empty()) {
      const std::string trouble = pocl_trouble(info_.platform);
      if (!trouble.empty()) fail("cannot build a program" + trouble);
    }
    check(code, "build a program", std::move(where));
    return log;
  }

  cl_int build(const ProgramPtr& program) const {
    Abandoned& abandoned = Abandoned::instance();
    if (abandoned.has(info_.platform)) {
      fail("the driver's compiler broke off before, out of memory it may be, and builds nothing more in this process");
    }
    try {
      const InDriver call("clBuildProgram", label_);
      return api().clBuildProgram(program.get(), 1, &id_, options_.c_str(), nullptr, nullptr);
    } catch (const std::exception& error) {
      abandoned.add(info_.platform, program);
      fail(fmt::format("the driver's compiler broke off ({}): free memory, or take another device", error.what()));
    }
  }

  // One program for all kernels of a binary, or of a source where there is none.
  ProgramPtr program_of(const Binary& binary) {
    const ProgramPtr& known = programs_[hash_of({binary.bytes})];
    return known != nullptr ? known : build_binary(binary).first;
  }

  // The program of a binary, and the compiler's log.
  std::pair<ProgramPtr, std::string> build_binary(const Binary& binary) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.bytes.data());
    const std::size_t size = binary.bytes.size();
    cl_int code = CL_SUCCESS, status = CL_SUCCESS;
    const cl_program created = api().clCreateProgramWithBinary(context_.get(), 1, &id_, &size, &bytes, &status, &code);
    check(code, "load a program's binary", context());
    const ProgramPtr program(created, release_program);
    check(status, "load a program's binary", context());
    std::string log = make_executable(program);
    programs_[hash_of({binary.bytes})] = program;
    return {program, std::move(log)};
  }

  std::uint64_t nanoseconds(const Mark& mark) const {
    const auto event = static_cast<cl_event>(mark.handle.get());
    const InDriver call("clWaitForEvents", label_);
    check(api().clWaitForEvents(1, &event), "wait for a mark", context());
    cl_ulong time = 0;
    check(api().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr), "read a mark's time", context());
    return time;
  }

  cl_device_id id_;
  std::string options_;
  std::string compiler_;
  std::string label_;
  bool ptx_;  // the compiler gives PTX as a program's binary
  std::uint64_t local_bytes_;
  ContextPtr context_;
  QueuePtr queue_;
  bool timed_ = false;
  bool own_queue_ = true;
  Staging staging_;
  bool binaries_ = false;                       // are wanted even where there is no disk cache
  std::map<std::string, ProgramPtr> programs_;  // by hash of their binaries
};

}  // namespace

std::shared_ptr<Device> open(std::uint32_t index) {
  const std::string selector = fmt::format("opencl:{}", index);
  for (const Found& found : findings().devices) {
    if (found.info.selector == selector) return std::make_shared<OpenClDevice>(found);
  }
  throw Error(ErrorKind::usage, fmt::format("there is no device {}", selector));
}

std::shared_ptr<Device> open_on_queue(void* queue) {
  if (!why_absent().empty()) throw Error(ErrorKind::device, why_absent());
  const auto given = static_cast<cl_command_queue>(queue);
  cl_device_id id = nullptr;
  if (!may_be_object(given) || api().clGetCommandQueueInfo(given, CL_QUEUE_DEVICE, sizeof id, &id, nullptr) != CL_SUCCESS) {
    throw Error(ErrorKind::usage, "what was given as a queue is no cl_command_queue");
  }
  for (const Found& found : findings().devices) {
    if (found.id == id) return std::make_shared<OpenClDevice>(found, given);
  }
  throw Error(ErrorKind::usage, "the queue's device is none that samesum can use; see 'samesum devices'");
}

}  // namespace samesum::device::opencl
