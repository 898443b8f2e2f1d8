#include "ladder/vendor.hpp"

#include "ladder/timing.hpp"
#include "device/device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace samesum::bench {
namespace {

constexpr int kSide = 8192;
constexpr int kNotTransposed = 0;
constexpr int kPedantic = 2;  // no TensorFloat-32

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

void check(int code, const char* call) {
  if (code != 0) throw Error(ErrorKind::device, fmt::format("{} failed with code {}", call, code));
}

// A library that is never unloaded.
class Library {
 public:
  explicit Library(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (handle_ == nullptr) refuse(fmt::format("there is no {}: install the CUDA toolkit's", names.front()));
  }
  template <class... Parameters>
  void call(const char* symbol, Parameters... parameters) const {
    void* const function = dlsym(handle_, symbol);
    if (function == nullptr) refuse(fmt::format("the library has no {}", symbol));
    check(reinterpret_cast<int (*)(Parameters...)>(function)(parameters...), symbol);
  }

 private:
  void* handle_ = nullptr;
};

// cuBLAS works in the calling thread's current context.
class PrimaryContext {
 public:
  explicit PrimaryContext(int ordinal) : driver_({"libcuda.so.1"}) {
    driver_.call("cuDeviceGet", &device_, ordinal);
    void* context = nullptr;
    driver_.call("cuDevicePrimaryCtxRetain", &context, device_);
    driver_.call("cuCtxPushCurrent_v2", context);
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  ~PrimaryContext() {
    try {
      void* popped = nullptr;
      driver_.call("cuCtxPopCurrent_v2", &popped);
      driver_.call("cuDevicePrimaryCtxRelease_v2", device_);
    } catch (const Error&) {  // a context with one more reference is harmless
    }
  }

 private:
  Library driver_;
  int device_ = 0;
};

template <class Real>
Statistics measure_product(const Library& cublas, int ordinal, const char* symbol, const Effort& effort) {
  const Device device = Device::on_cuda_stream(nullptr, static_cast<std::uint32_t>(ordinal));  // cuBLAS's default stream
  device::Device& queue = device.implementation();
  const std::lock_guard lock(queue.mutex());
  const std::vector<Real> ones(std::size_t{kSide} * kSide, 1);
  const device::Memory a = queue.allocate(ones.size() * sizeof(Real)), c = queue.allocate(ones.size() * sizeof(Real));
  queue.write(a, 0, ones.data(), ones.size() * sizeof(Real));
  queue.finish();

  const PrimaryContext context(ordinal);
  void* handle = nullptr;
  cublas.call("cublasCreate_v2", &handle);
  cublas.call("cublasSetMathMode", handle, kPedantic);
  const Real one = 1, zero = 0;
  const auto multiply = [&] {
    const auto pointer = [](const device::Memory& memory) { return static_cast<Real*>(memory.handle.get()); };
    cublas.call(symbol, handle, kNotTransposed, kNotTransposed, kSide, kSide, kSide, &one, pointer(a), kSide, pointer(a), kSide, &zero,
                pointer(c), kSide);
  };
  const Statistics seconds = measure(device_timer(queue, multiply), effort);
  Real corner = 0;
  queue.read(c, c.bytes - sizeof(Real), &corner, sizeof(Real));
  cublas.call("cublasDestroy_v2", handle);
  if (corner != kSide) throw Error(ErrorKind::device, fmt::format("{} of ones gave {} instead of {}", symbol, corner, kSide));
  return seconds;
}

}  // namespace

ArithmeticRate vendor_matrix_product(const Device& device, DType type, const Effort& effort) {
  const std::string& selector = device.info().selector;
  constexpr std::string_view kCuda = "cuda:";
  if (!selector.starts_with(kCuda)) refuse(selector + " has no vendor's matrix product that is known here");
  std::vector<std::string> names;
  for (const char* major : {"13", "12", "11"}) {
    for (const char* folder : {"", "/usr/local/cuda/lib64/"}) names.push_back(fmt::format("{}libcublas.so.{}", folder, major));
  }
  const Library cublas(names);
  const int ordinal = std::atoi(selector.c_str() + kCuda.size());
  ArithmeticRate rate;
  rate.where = selector;
  rate.type = type;
  rate.configuration = fmt::format("cuBLAS, {0} x {0}", kSide);
  rate.seconds = type == DType::float32 ? measure_product<float>(cublas, ordinal, "cublasSgemm_v2", effort)
                                        : measure_product<double>(cublas, ordinal, "cublasDgemm_v2", effort);
  rate.operations_per_second = 2.0 * kSide * kSide * kSide / rate.seconds.median;
  return rate;
}

}  // namespace samesum::bench
