#include "dlpack.hpp"

#include <nanobind/ndarray.h>
#include <samesum/error.hpp>

#include <memory>

namespace samesum::python {
namespace {

// The structures of DLPack, as its header lays them out.
struct DLDevice {
  std::int32_t type;
  std::int32_t id;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t rank;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: in C order
  std::uint64_t byte_offset;
};

struct Managed {
  DLTensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  DLTensor tensor;
};

constexpr std::int32_t kCpu = 1, kCuda = 2, kCudaHost = 3, kRocmHost = 11, kCudaManaged = 13;
enum Code : std::uint8_t { signed_integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, complex_number = 5, boolean = 6 };
constexpr const char* kCapsule = "dltensor";
constexpr const char* kVersioned = "dltensor_versioned";

template <class Structure>
void release(void* managed) {
  auto* each = static_cast<Structure*>(managed);
  if (each->deleter != nullptr) each->deleter(each);
}

std::string format_of(const DLTensor& tensor) {
  const auto is = [&tensor](Code code, int bits) { return tensor.code == code && tensor.bits == bits && tensor.lanes == 1; };
  if (is(bfloat, 16)) return "bfloat16";
  if (is(boolean, 8)) return "?";
  if (is(floating, 16)) return "e";
  if (is(floating, 32)) return "f";
  if (is(floating, 64)) return "d";
  if (is(complex_number, 64)) return "Zf";
  if (is(complex_number, 128)) return "Zd";
  for (const int bits : {8, 16, 32, 64}) {
    if (is(signed_integer, bits)) return "q";  // the size says which
    if (is(unsigned_integer, bits)) return "Q";
  }
  const std::string message = "samesum: DLPack's elements of code " + std::to_string(tensor.code) + ", " + std::to_string(tensor.bits) +
                              " bits and " + std::to_string(tensor.lanes) +
                              " lanes are no numbers that it knows; convert them to float64 first";
  throw nb::type_error(message.c_str());
}

bool has_only_dlpack(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__") || !nb::hasattr(object, "__dlpack__")) return false;
  for (const char* name : {"__array__", "__array_interface__", "__arrow_c_array__", "__arrow_c_stream__"}) {
    if (nb::hasattr(object, name)) return false;
  }
  return true;
}

std::int32_t device_type(nb::handle object) {
  return nb::cast<std::int32_t>(nb::int_(nb::object(object.attr("__dlpack_device__")()[0])));  // an enumerator of some frameworks
}

/// The capsule: of the protocol's version 1 where the producer knows it.
nb::object exported(nb::handle object, nb::handle stream) {
  nb::dict named, versioned;
  versioned["max_version"] = nb::make_tuple(1, 0);
  if (!stream.is_none()) named["stream"] = versioned["stream"] = stream;
  try {
    return object.attr("__dlpack__")(**versioned);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return object.attr("__dlpack__")(**named);
}

}  // namespace

Tensor::Tensor(nb::handle object, nb::handle stream) {
  const nb::object capsule = exported(object, stream);
  const bool versioned = PyCapsule_IsValid(capsule.ptr(), kVersioned) != 0;
  void* const managed = PyCapsule_GetPointer(capsule.ptr(), versioned ? kVersioned : kCapsule);
  if (managed == nullptr) throw nb::python_error();
  if (versioned && static_cast<ManagedVersioned*>(managed)->major != 1) {
    throw nb::type_error(
        "samesum: DLPack's tensor is of a version that is not 1, and its producer was told to");  // the capsule gives it back
  }
  const DLTensor& tensor = versioned ? static_cast<ManagedVersioned*>(managed)->tensor : static_cast<Managed*>(managed)->tensor;
  const std::string format = format_of(tensor);
  const auto rank = static_cast<std::size_t>(tensor.rank);
  shown_.shape.assign(tensor.shape, tensor.shape + rank);
  shown_.strides.resize(rank);
  shown_.format = format;
  shown_.code = tensor.code;
  shown_.size = tensor.bits / 8;
  std::int64_t next = 1;
  for (std::size_t i = rank; i-- > 0; next *= tensor.shape[i]) {
    shown_.strides[i] = (tensor.strides == nullptr ? next : tensor.strides[i]) * shown_.size;
  }
  shown_.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  shown_.host = tensor.device.type == kCpu || tensor.device.type == kCudaHost || tensor.device.type == kRocmHost;
  // From here on it is this object that gives the tensor back, not the capsule.
  if (PyCapsule_SetName(capsule.ptr(), versioned ? "used_dltensor_versioned" : "used_dltensor") != 0) throw nb::python_error();
  managed_ = managed;
  release_ = versioned ? &release<ManagedVersioned> : &release<Managed>;
}

Tensor::~Tensor() {
  if (managed_ != nullptr) release_(managed_);
}

bool is_dlpack_of_cuda(nb::handle object) {
  if (!has_only_dlpack(object)) return false;
  const std::int32_t type = device_type(object);
  return type == kCuda || type == kCudaManaged;
}

nb::tuple read_dlpack(nb::handle object) {
  const std::int32_t type = device_type(object);
  if (type != kCpu && type != kCudaHost && type != kRocmHost) {
    throw Error(ErrorKind::usage,
                "elements on DLPack's device of type " + std::to_string(type) + " have to be copied to host memory for this");
  }
  auto tensor = std::make_unique<Tensor>(object, nb::none());
  const Tensor::Shown& shown = tensor->shown();
  if (!shown.host) throw Error(ErrorKind::usage, "DLPack's tensor does not lie where __dlpack_device__ says");
  std::vector<std::size_t> shape(shown.shape.begin(), shown.shape.end());
  std::vector<std::int64_t> strides;
  for (const std::int64_t stride : shown.strides) strides.push_back(stride / shown.size);
  const bool bfloat16 = shown.code == bfloat;
  const nb::dlpack::dtype dtype{bfloat16 ? static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt) : shown.code,
                                static_cast<std::uint8_t>(8 * shown.size), 1};
  static std::uint64_t nothing[2];  // numpy takes no null
  const void* data = shown.data == nullptr ? nothing : shown.data;
  const nb::capsule owner(tensor.get(), [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  (void)tensor.release();
  return nb::make_tuple(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), owner, strides.data(), dtype), bfloat16);
}

}  // namespace samesum::python
