// Sums of arrays on a device: at any offset of any buffer, with any stride, by plans, on the caller's own queues and memory; and one array
// on several devices.
#include <samesum/barrier.hpp>
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>
#include <samesum/plan.hpp>
#include <samesum/sum.hpp>

#include "device/cuda/driver_api.hpp"
#include "device/opencl/api.hpp"
#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/same_bits.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace samesum {
namespace {

using test::devices;

// Random bytes: elements of any type are finite or not by chance.
std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Checks the record of a launch over elements whose sum is `sum`.
void expect_record(const Buffer& buffer, std::uint64_t offset, const Accumulator& sum, DType type) {
  SumRecord record;
  buffer.read(&record, sizeof record, offset);
  const double value = sum.round();
  const float value32 = sum.round_to_float();
  EXPECT_EQ(std::memcmp(&record.value, &value, sizeof value), 0) << record.value << ", not " << value;
  EXPECT_EQ(std::memcmp(&record.value32, &value32, sizeof value32), 0) << record.value32 << ", not " << value32;
  if (!is_integer(type)) {
    EXPECT_EQ(record.integer, 0);
    EXPECT_EQ(record.overflow, 0u);
  }
}

TEST(Plan, SumsAnyArrayInABuffer) {
  constexpr std::uint64_t kBytes = 100000;
  const std::vector<std::byte> bytes = random_bytes(kBytes);
  for (const Device& device : devices()) {
    const Buffer buffer(device, kBytes);
    const Buffer records(device, 2 * sizeof(SumRecord));
    buffer.write(bytes.data(), kBytes);
    for (const DType type : kDTypes) {
      const auto element = static_cast<std::int64_t>(size_of(type));
      // A kernel for strides per type takes seconds where the compiler is slow.
      const bool strides = !device.info().is_cpu || !device.info().has(Capability::kernels) || type == DType::uint8 ||
                           type == DType::float16 || type == DType::float32 || type == DType::float64;
      Plan plan(device, ops::sum, type, 1000, {}, strides ? Layout::strided : Layout::contiguous);
      for (const std::int64_t stride : {element, 2 * element, 7 * element, std::int64_t{0}, -element, -3 * element}) {
        if (stride != element && !strides) continue;
        for (const std::uint64_t size : {0, 1, 2, 5, 255, 1031, 1785}) {
          for (const std::uint64_t offset : {0, 1, 3, 8}) {
            const std::uint64_t first = (stride < 0 ? kBytes / 2 : 0) + offset * element;
            const Array host(bytes.data() + first, size, type, stride);
            const Accumulator expected = test::add_each(host);
            const Array view(buffer, size, type, first, stride);
            plan.enqueue(view, records, sizeof(SumRecord));
            const std::string what = device.info().selector + ", " + std::string(name_of(type)) + ", " + std::to_string(size) +
                                     " elements every " + std::to_string(stride) + " bytes from " + std::to_string(first);
            ASSERT_EQ(plan.result<Accumulator>(), expected) << what;
            expect_record(records, sizeof(SumRecord), expected, type);
            ASSERT_FALSE(testing::Test::HasFailure()) << what;
            if (size == 255) {
              ASSERT_EQ(accumulate(view), expected) << what;
              ASSERT_EQ(accumulate(host, {.device = device}), expected) << what;
            }
          }
        }
      }
    }
  }
}

TEST(Plan, SumsLongStridedArrays) {
  constexpr std::uint64_t kSize = 3'000'017;
  const std::vector<std::byte> bytes = random_bytes(kSize * 8);
  for (const Device& device : devices()) {
    for (const DType type : {DType::float32, DType::int16}) {
      const Array host(bytes.data(), kSize, type, 8);
      EXPECT_EQ(accumulate(host, {.device = device}), test::add_each(host)) << device.info().selector;
    }
  }
}

TEST(Plan, CanBeLaunchedAgainAndAgain) {
  const std::vector<std::byte> bytes = random_bytes(80000);
  for (const Device& device : devices()) {
    const Buffer buffer(device, bytes.size());
    const Buffer records(device, 100 * sizeof(SumRecord));
    buffer.write(bytes.data(), bytes.size());
    Plan plan(device, ops::sum, DType::float32, 20000);
    for (std::uint64_t i = 0; i < 100; ++i) {
      plan.enqueue({buffer, 20000 - 7 * i, DType::float32, 4 * i}, records, i * sizeof(SumRecord));
    }
    for (std::uint64_t i = 0; i < 100; ++i) {
      expect_record(records, i * sizeof(SumRecord), test::add_each({bytes.data() + 4 * i, 20000 - 7 * i, DType::float32}), DType::float32);
    }
  }
}

// Each launch reads what the preceding one wrote, also where a device may start it earlier: a sum becomes the last element, which then is
// the greatest.
TEST(Plan, ReadsWhatLaunchesAheadOfItWrote) {
  for (const Device& device : devices()) {
    for (const std::uint64_t count : {100, 2000, 5000, 40000, 300000}) {
      std::vector<double> values(count);
      std::mt19937_64 random(count);
      for (double& value : values) value = std::ldexp(static_cast<double>(random() >> 11), -53);
      const std::uint64_t last = 8 * (count - 1), behind = last + sizeof(SumRecord);
      const Buffer buffer(device, behind + sizeof(ExtremaRecord));
      buffer.write(values.data(), 8 * count);
      const Array data(buffer, count, DType::float64);
      Plan sum(device, ops::sum, DType::float64, count);
      Plan extremes(device, ops::extrema, DType::float64, count);
      for (int i = 0; i < 50; ++i) {
        sum.enqueue(data, buffer, last);
        if (i % 3 == 0) extremes.enqueue(data, buffer, behind);
        values.back() = test::add_each({values.data(), count, DType::float64}).round();
      }
      extremes.enqueue(data);
      double found = 0;
      buffer.read(&found, sizeof found, last);
      ASSERT_EQ(found, values.back()) << device.info().selector << ", " << count << " elements";
      ASSERT_EQ(extremes.result<Statistics>().max().value.as_double(), values.back())
          << device.info().selector << ", " << count << " elements";
    }
  }
}

TEST(Plan, IsRecorded) {
  const std::vector<std::byte> bytes = random_bytes(4000);
  for (const Device& device : devices()) {
    const Buffer buffer(device, bytes.size());
    const Buffer records(device, sizeof(SumRecord));
    Plan plan(device, ops::sum, DType::float32, 1000);
    const auto recording = record(device, [&] { plan.enqueue({buffer, 1000, DType::float32}, records); });
    if (!recording) continue;
    for (const int shift : {0, 1}) {
      buffer.write(bytes.data() + 4 * shift, bytes.size() - 4);
      recording->replay();
      std::vector<std::byte> now(bytes.size());
      buffer.read(now.data(), now.size());
      expect_record(records, 0, test::add_each({now.data(), 1000, DType::float32}), DType::float32);
    }
  }
}

TEST(Plan, RefusesWhatDoesNotFit) {
  for (const Device& device : devices()) {
    const Buffer buffer(device, 1000);
    const auto refused = [&](std::uint64_t size, std::uint64_t offset, std::int64_t stride) {
      EXPECT_THROW(Array(buffer, size, DType::float32, offset, stride), Error) << size << " " << offset << " " << stride;
    };
    refused(251, 0, 4);
    refused(250, 4, 4);
    refused(2, 0, -4);
    refused(10, 0, 6);
    refused(10, 2, 4);
    refused(1, 1000, 4);
    refused(~std::uint64_t{0}, 0, std::int64_t{1} << 62);
    refused(2, ~std::uint64_t{3}, 4);
    EXPECT_NO_THROW(Array(buffer, std::uint64_t{1} << 60, DType::float32, 996, 0));
    Plan plan(device, ops::sum, DType::float32, 250);
    EXPECT_THROW(plan.enqueue({buffer, 125, DType::float64}), Error);
    EXPECT_THROW(plan.enqueue({buffer, 250, DType::float32}, buffer, 980), Error);
    EXPECT_THROW(plan.enqueue({buffer, 250, DType::float32}, buffer, 4), Error);
    Tuning unknown;
    unknown.variant = "none such";
    EXPECT_THROW(Plan(device, ops::sum, DType::float32, 1, {.tuning = unknown}), Error);
  }
  for (const Device& other : devices()) {
    if (&other.implementation() == &devices().front().implementation()) continue;
    Plan plan(devices().front(), ops::sum, DType::float32, 1);
    EXPECT_THROW(plan.enqueue({Buffer(other, 4), 1, DType::float32}), Error);
  }
  EXPECT_THROW(Buffer::wrap(devices().front(), nullptr, 1), Error);
  EXPECT_THROW(Device::on_opencl_queue(nullptr), Error);
}

TEST(Plan, NamesTheTypeOfItsResult) {
  const std::vector<float> x = {1, 2, 3};
  const Device device = Device::open("cpu");
  const Buffer memory(device, 12);
  memory.write(x.data(), 12);
  const Array array(memory, 3, DType::float32);
  Plan plan(device, ops::dot, DType::float32, 3);
  plan.enqueue(array, array);
  test::expect_error(ErrorKind::usage, "call result<ProductAccumulator>()", [&] { plan.result<Accumulator>(); });
  EXPECT_EQ(plan.result<ProductAccumulator>().round(), 14);
  Plan values(device, AlongAxes{.like = array, .axes = {0}});
  values.enqueue(array);
  test::expect_error(ErrorKind::usage, "call result<Values>()", [&] { values.result<std::vector<Value>>(); });
}

TEST(Plan, SharesAnArrayOut) {
  const std::vector<std::byte> bytes = random_bytes(70'000'000);
  const Array view(bytes.data() + 4, bytes.size() / 4 - 1, DType::float32);
  const Accumulator expected = accumulate(view, {.device = Device::open("cpu")});
  std::vector<Report> reports;
  EXPECT_EQ(accumulate(view, devices(), {}, &reports), expected);
  ASSERT_EQ(reports.size(), devices().size());
  std::uint64_t shared = 0;
  for (const Report& report : reports) shared += report.bytes;
  EXPECT_EQ(shared, view.bytes());
  EXPECT_EQ(accumulate(view.part(0, 0), devices()), Accumulator());
  EXPECT_THROW(accumulate(view, std::span<const Device>()), Error);
  Options impossible;
  impossible.tuning.variant = "none such";
  EXPECT_THROW(accumulate(view, devices(), impossible), Error);
}

// An OpenCL context and queue as another library may own them.
class OpenclQueue {
 public:
  OpenclQueue(cl_device_id device, cl_command_queue_properties properties) {
    const auto& api = device::opencl::api();
    context = api.clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = api.clCreateCommandQueue(context, device, properties, nullptr);
  }
  ~OpenclQueue() {
    device::opencl::api().clReleaseCommandQueue(queue);
    device::opencl::api().clReleaseContext(context);
  }
  OpenclQueue(const OpenclQueue&) = delete;
  OpenclQueue& operator=(const OpenclQueue&) = delete;

  cl_context context;
  cl_command_queue queue;
};

std::vector<cl_device_id> opencl_devices() {
  std::vector<cl_device_id> found;
  if (!device::opencl::why_absent().empty()) return found;
  const auto& api = device::opencl::api();
  cl_uint count = 0;
  if (api.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return found;
  std::vector<cl_platform_id> platforms(count);
  api.clGetPlatformIDs(count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) found.push_back(device);
  }
  return found;
}

TEST(Plan, WorksInAnOpenclQueueOfTheCallers) {
  const auto& api = device::opencl::api();
  const std::vector<std::byte> bytes = random_bytes(40000);
  const Accumulator expected = test::add_each({bytes.data() + 400, 9900, DType::float32});
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  for (const cl_device_id id : opencl_devices()) {
    const OpenclQueue own(id, 0);
    auto host = bytes;
    cl_mem data = api.clCreateBuffer(own.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, host.size(), host.data(), nullptr);
    cl_mem place = api.clCreateBuffer(own.context, CL_MEM_READ_WRITE, sizeof(SumRecord), nullptr, nullptr);
    {
      const Device device = Device::on_opencl_queue(own.queue);
      const Buffer buffer = Buffer::wrap(device, data, host.size());
      Plan plan(device, ops::sum, DType::float32, 10000);
      plan.enqueue({buffer, 9900, DType::float32, 400}, Buffer::wrap(device, place, sizeof(SumRecord)));
      EXPECT_EQ(accumulate(Array(buffer, 9900, DType::float32, 400)), expected);
      EXPECT_THROW(Buffer::wrap(device, data, host.size() + 1), Error);
      EXPECT_THROW(Buffer::wrap(device, nullptr, 4), Error);
      const OpenclQueue stranger(id, 0);
      EXPECT_THROW(Buffer::wrap(Device::on_opencl_queue(stranger.queue), data, 4), Error);
      Report report;
      EXPECT_THROW(accumulate(Array(buffer, 9900, DType::float32, 400), {.report = &report}), Error);  // the queue records no times
    }
    // The caller reads the result in its own queue: no finish() in between.
    SumRecord record;
    ASSERT_EQ(api.clEnqueueReadBuffer(own.queue, place, CL_TRUE, 0, sizeof record, &record, 0, nullptr, nullptr), CL_SUCCESS);
    const double value = expected.round();
    EXPECT_EQ(std::memcmp(&record.value, &value, sizeof value), 0);
    const OpenclQueue disorderly(id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (disorderly.queue != nullptr) {
      EXPECT_THROW(Device::on_opencl_queue(disorderly.queue), Error);
    }
    // samesum has released everything that it retained: the only reference is the caller's. An implementation may release those of commands
    // a moment after they have ended, as PoCL's threads do.
    cl_uint references = 0;
    for (int wait = 0; wait < 2000 && references != 1; ++wait) {
      api.clGetMemObjectInfo(data, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr);
      if (references != 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(references, 1u);
    api.clReleaseMemObject(data);
    api.clReleaseMemObject(place);
  }
}

// Work of one queue waits for another's, in both directions, without a wait of the host.
TEST(Plan, WaitsForEventsOfOtherOpenclQueues) {
  const auto& api = device::opencl::api();
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto create_event = reinterpret_cast<decltype(&clCreateUserEvent)>(dlsym(library, "clCreateUserEvent"));
  const auto set_status = reinterpret_cast<decltype(&clSetUserEventStatus)>(dlsym(library, "clSetUserEventStatus"));
  for (const cl_device_id id : opencl_devices()) {
    const OpenclQueue own(id, 0);
    const Device device = Device::on_opencl_queue(own.queue);
    const std::vector<float> zeros(1000), ones(1000, 1);
    const Buffer buffer(device, 4000), record(device, sizeof(SumRecord));
    buffer.write(zeros.data(), 4000);
    Plan plan(device, ops::sum, DType::float32, 1000);
    cl_event gate = create_event != nullptr && set_status != nullptr ? create_event(own.context, nullptr) : nullptr;
    if (gate != nullptr) device.wait_for(gate);
    plan.enqueue({buffer, 1000, DType::float32}, record);
    auto* const done = static_cast<cl_event>(device.record());
    ASSERT_NE(done, nullptr);
    EXPECT_THROW(device.record(done), Error) << "OpenCL records no event of the caller's";
    if (gate != nullptr) {
      cl_int status = CL_COMPLETE;
      const auto info = reinterpret_cast<decltype(&clGetEventInfo)>(dlsym(library, "clGetEventInfo"));
      ASSERT_EQ(info(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
      EXPECT_NE(status, CL_COMPLETE) << "the sum did not wait for the event";
      ASSERT_EQ(set_status(gate, CL_COMPLETE), CL_SUCCESS);
    }
    const OpenclQueue other(id, 0);
    ASSERT_EQ(api.clWaitForEvents(1, &done), CL_SUCCESS);
    EXPECT_EQ(plan.result<Accumulator>().count(), 1000u);
    EXPECT_THROW(device.wait_for(nullptr), Error);
    if (gate != nullptr) api.clReleaseEvent(gate);
    api.clReleaseEvent(done);
  }
  int event = 0;
  EXPECT_THROW(Device::open("cpu").wait_for(&event), Error) << "the CPU has no queue";
  EXPECT_THROW(Device::open("cpu").record(), Error);
}

TEST(Plan, WorksOnACudaStreamOfTheCallers) {
  const device::cuda::Driver* const driver = device::cuda::load_driver().driver;
  const auto is_cuda = [](const Device& device) { return device.info().selector == "cuda:0"; };
  if (driver == nullptr || std::none_of(devices().begin(), devices().end(), is_cuda)) GTEST_SKIP() << "no CUDA device";
  const std::vector<std::byte> bytes = random_bytes(4'000'004);
  const Accumulator expected = test::add_each({bytes.data() + 4, 1'000'000, DType::float32});
  device::cuda::CUcontext context = nullptr;
  ASSERT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(driver->cuCtxPushCurrent(context), 0);
  using Managed = int (*)(device::cuda::CUdeviceptr*, std::size_t, unsigned);
  const auto managed = reinterpret_cast<Managed>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAllocManaged"));
  ASSERT_NE(managed, nullptr);
  device::cuda::CUdeviceptr on_device = 0, shared = 0;
  void* pinned = nullptr;
  ASSERT_EQ(driver->cuMemAlloc(&on_device, bytes.size() + 64), 0);
  ASSERT_EQ(managed(&shared, bytes.size(), 1), 0);
  ASSERT_EQ(driver->cuMemHostAlloc(&pinned, bytes.size(), 0), 0);
  std::memcpy(pinned, bytes.data(), bytes.size());
  std::memcpy(reinterpret_cast<void*>(shared), bytes.data(), bytes.size());

  for (const bool default_stream : {false, true}) {
    device::cuda::CUstream stream = nullptr;
    if (!default_stream) {
      ASSERT_EQ(driver->cuStreamCreate(&stream, 1), 0);
    }
    ASSERT_EQ(driver->cuMemcpyHtoDAsync(on_device, bytes.data(), bytes.size(), stream), 0);
    {
      const Device device = Device::on_cuda_stream(stream);
      const Buffer place(device, 3 * sizeof(SumRecord));
      Plan plan(device, ops::sum, DType::float32, 1'000'000);
      // At a misaligned address too: the first element is not at a multiple of 16 bytes.
      void* const addresses[] = {reinterpret_cast<void*>(on_device + 4), reinterpret_cast<void*>(shared + 4),
                                 static_cast<char*>(pinned) + 4};
      for (void* const address : addresses) {
        const Buffer buffer = Buffer::wrap(device, address, 4'000'000);
        plan.enqueue({buffer, 1'000'000, DType::float32}, place);
        EXPECT_EQ(plan.result<Accumulator>(), expected);
        expect_record(place, 0, expected, DType::float32);
        EXPECT_EQ(accumulate(Array(buffer, 1'000'000, DType::float32)), expected);
      }
      EXPECT_THROW(Buffer::wrap(device, const_cast<std::byte*>(bytes.data()), 4), Error);
      EXPECT_THROW(Buffer::wrap(device, reinterpret_cast<void*>(on_device), std::uint64_t{1} << 40), Error);
      EXPECT_THROW(Array(Buffer::wrap(device, reinterpret_cast<void*>(on_device + 1), 4), 1, DType::float32), Error);

      // Another stream's work waits for the plan's, and the reverse.
      device::cuda::CUevent given = nullptr;
      ASSERT_EQ(driver->cuEventCreate(&given, 0), 0);
      EXPECT_EQ(device.record(given), given);
      device.wait_for(given);
      auto* const fresh = static_cast<device::cuda::CUevent>(device.record());
      EXPECT_EQ(driver->cuEventSynchronize(fresh), 0);
      EXPECT_EQ(driver->cuEventDestroy(fresh), 0);
      EXPECT_EQ(driver->cuEventDestroy(given), 0);
      if (!default_stream) {  // the legacy default stream cannot be captured
        device::cuda::CUgraph graph = nullptr;
        device::cuda::CUgraphExec executable = nullptr;
        const Buffer buffer = Buffer::wrap(device, addresses[0], 4'000'000);
        ASSERT_EQ(driver->cuStreamBeginCapture(stream, 0), 0);
        plan.enqueue({buffer, 1'000'000, DType::float32}, place, sizeof(SumRecord));
        plan.enqueue({buffer, 999'999, DType::float32, 4}, place, 2 * sizeof(SumRecord));
        ASSERT_EQ(driver->cuStreamEndCapture(stream, &graph), 0);
        ASSERT_EQ(driver->cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(driver->cuGraphLaunch(executable, stream), 0);
        expect_record(place, sizeof(SumRecord), expected, DType::float32);
        expect_record(place, 2 * sizeof(SumRecord), test::add_each({bytes.data() + 8, 999'999, DType::float32}), DType::float32);
        driver->cuGraphExecDestroy(executable);
        driver->cuGraphDestroy(graph);

        // A graph of one histogram, launched again and again, between calls outside of it.
        const Bins bins = Bins::even(-4, 4, 64);
        const Array data(buffer, 1'000'000, DType::float32);
        const Histogram counted = histogram({bytes.data() + 4, 1'000'000, DType::float32}, bins);
        Plan counting(device, bins, DType::float32, 1'000'000);
        const Buffer counts(device, 8 * (bins.count() + 3));
        const auto expect_counts = [&] {
          std::vector<std::uint64_t> found(bins.count() + 3);
          counts.read(found.data(), 8 * found.size());
          EXPECT_TRUE(std::ranges::equal(std::span(found).subspan(1, bins.count()), counted.counts()));
        };
        counting.enqueue(data, counts);
        expect_counts();
        ASSERT_EQ(driver->cuStreamBeginCapture(stream, 0), 0);
        counting.enqueue(data, counts);
        ASSERT_EQ(driver->cuStreamEndCapture(stream, &graph), 0);
        ASSERT_EQ(driver->cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
        for (int i = 0; i < 3; ++i) {
          ASSERT_EQ(driver->cuGraphLaunch(executable, stream), 0);
          expect_counts();
          if (i == 1) counting.enqueue(data, counts);
          expect_counts();
        }
        driver->cuGraphExecDestroy(executable);
        driver->cuGraphDestroy(graph);
      }
    }
    if (!default_stream) {
      EXPECT_EQ(driver->cuStreamDestroy(stream), 0);
    }
  }
  driver->cuMemFree(on_device);
  driver->cuMemFree(shared);
  driver->cuMemFreeHost(pinned);
  device::cuda::CUcontext popped = nullptr;
  driver->cuCtxPopCurrent(&popped);
  driver->cuDevicePrimaryCtxRelease(0);
}

}  // namespace
}  // namespace samesum
