// Arrays from DLPack (https://dmlc.github.io/dlpack): the tensors of numpy, PyTorch, CuPy, JAX and others, without a copy. Of its header
// only the layout of the structs is needed, of which a user's own dlpack.h may be any version.
#include "c/handles.hpp"

#include <memory>
#include <optional>

using namespace samesum;
using namespace samesum::c;

// The layouts of DLPack's binary interface, of all versions since 0.2.
struct DLManagedTensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t rank;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: C order
  std::uint64_t byte_offset;
  void* manager_context;
  void (*deleter)(DLManagedTensor*);
};
static_assert(offsetof(DLManagedTensor, code) == 20 && offsetof(DLManagedTensor, deleter) == 56 && sizeof(DLManagedTensor) == 64);

namespace {

enum : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kOpenCl = 4, kCudaManaged = 13 };
enum : std::uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

DType element_type(const DLManagedTensor& tensor) {
  const auto is = [&](std::uint8_t code, int bits) { return tensor.code == code && tensor.bits == bits; };
  if (tensor.lanes == 1) {
    if (is(kFloat, 64)) return DType::float64;
    if (is(kFloat, 32)) return DType::float32;
    if (is(kFloat, 16)) return DType::float16;
    if (is(kBfloat, 16)) return DType::bfloat16;
    if (is(kInt, 8)) return DType::int8;
    if (is(kInt, 16)) return DType::int16;
    if (is(kInt, 32)) return DType::int32;
    if (is(kInt, 64)) return DType::int64;
    if (is(kUint, 8) || is(kBool, 8)) return DType::uint8;
    if (is(kUint, 16)) return DType::uint16;
    if (is(kUint, 32)) return DType::uint32;
    if (is(kUint, 64)) return DType::uint64;
  }
  if (tensor.code == kComplex) refuse("a tensor of complex numbers: give it as one of floats, with a last axis of their two parts");
  refuse("a tensor of DLPack's type code " + std::to_string(tensor.code) + " with " + std::to_string(tensor.bits) + " bits and " +
         std::to_string(tensor.lanes) + " lanes: samesum has no such element type");
}

}  // namespace

struct samesum_tensor {
  std::vector<std::uint64_t> shape;
  std::vector<std::int64_t> strides;  // in bytes
  std::optional<samesum_device> device;
  DLManagedTensor* tensor = nullptr;

  samesum_tensor() = default;
  samesum_tensor(const samesum_tensor&) = delete;
  samesum_tensor& operator=(const samesum_tensor&) = delete;
  ~samesum_tensor() {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};

extern "C" {

samesum_status samesum_array_from_dlpack(DLManagedTensor* tensor, samesum_device* device, samesum_array* array, samesum_tensor** owner) {
  return guard([&] {
    const DLManagedTensor& given = need(tensor, "tensor");
    samesum_array& place = need(array, "array");
    samesum_tensor*& handle = need(owner, "owner");
    if (given.rank < 0 || given.rank > static_cast<int>(Array::kMaxRank)) {
      refuse("a tensor of " + std::to_string(given.rank) + " axes: there can be up to 64");
    }
    samesum_array made = {};
    made.type = c::type_of(element_type(given));
    made.rank = static_cast<uint32_t>(given.rank);
    auto kept = std::make_unique<samesum_tensor>();
    const auto bytes = static_cast<std::int64_t>(given.bits / 8);
    for (const std::int64_t extent : need(given.shape, made.rank, "shape")) {
      if (extent < 0) refuse("a tensor with an axis of " + std::to_string(extent) + " elements");
      kept->shape.push_back(static_cast<std::uint64_t>(extent));
    }
    if (given.strides != nullptr) {
      for (const std::int64_t stride : std::span(given.strides, made.rank)) {
        std::int64_t scaled = 0;
        if (__builtin_mul_overflow(stride, bytes, &scaled)) refuse("a tensor with a stride of " + std::to_string(stride) + " elements");
        kept->strides.push_back(scaled);
      }
      made.strides = kept->strides.data();
    }
    made.shape = kept->shape.data();
    switch (given.device_type) {
      case kCpu:
      case kCudaHost:
        made.data = given.data == nullptr ? nullptr : static_cast<const std::byte*>(given.data) + given.byte_offset;
        break;
      case kCuda:
      case kCudaManaged:
        if (device == nullptr) {
          kept->device.emplace(Device::on_cuda_stream(nullptr, static_cast<std::uint32_t>(given.device_id)));
          device = &*kept->device;
        }
        [[fallthrough]];
      case kOpenCl:
        made.device = &need(device, "device");
        made.data = given.data;
        made.offset = given.byte_offset;
        break;
      default:
        refuse("a tensor on a device of DLPack's type " + std::to_string(given.device_type) +
               ": samesum reads those in host memory, on CUDA and on OpenCL devices");
    }
    c::array_of(&made);  // which checks it
    place = made;
    kept->tensor = tensor;
    handle = kept.release();
  });
}
void samesum_tensor_free(samesum_tensor* owner) { delete owner; }

}  // extern "C"
