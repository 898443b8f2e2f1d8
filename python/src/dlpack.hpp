// Tensors of DLPack's protocol (__dlpack__): of frameworks that have nothing else, and of GPUs.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::python {

namespace nb = nanobind;

/// A tensor that was taken from its producer, which gets it back at the end.
class Tensor {
 public:
  /// `stream`: of CUDA, where the elements have to be ready: 1 for the default one, as the protocol numbers them; none for host memory.
  /// @throws nb::type_error where the elements are no numbers that samesum knows.
  Tensor(nb::handle object, nb::handle stream);
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor();

  struct Shown {
    void* data = nullptr;
    std::vector<std::uint64_t> shape;
    std::vector<std::int64_t> strides;  ///< in bytes
    std::string format;                 ///< as the buffer protocol names types; "bfloat16"
    std::int64_t size = 0;              ///< of an element, in bytes
    std::uint8_t code = 0;              ///< the type's, as DLPack numbers them
    bool host = true;
  };
  const Shown& shown() const noexcept { return shown_; }

 private:
  void* managed_ = nullptr;
  void (*release_)(void*) = nullptr;
  Shown shown_;
};

/// Whether the object's elements lie in a GPU's memory and DLPack is its only protocol for that.
bool is_dlpack_of_cuda(nb::handle object);
/// An array of numpy over a tensor in host memory, without a copy, and whether its uint16 stand for bfloat16.
nb::tuple read_dlpack(nb::handle object);

}  // namespace samesum::python
