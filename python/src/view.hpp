// What lies behind a Python object: a view of its elements, without a copy, for as long as the object of this class lives.
#pragma once

#include "dlpack.hpp"

#include <nanobind/nanobind.h>
#include <samesum/array.hpp>
#include <samesum/device.hpp>
#include <samesum/options.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::python {

namespace nb = nanobind;

/// What the module calls once, before the first View.
void prepare_views();

class View {
 public:
  /// Takes the buffer protocol, __cuda_array_interface__ and DLPack's tensors on CUDA; other objects first go through
  /// samesum._arrays.as_buffer.
  /// @throws nb::type_error where the elements are of a type that samesum has not.
  /// `written`: results go there, so nothing may be copied, and the memory must be writable.
  explicit View(nb::handle object, bool written = false);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// The elements; of complex numbers their parts, along a last axis of two.
  const Array& array() const { return *array_; }
  /// The same memory as elements of another type of the same size.
  Array as(DType type) const;
  bool complex() const noexcept { return complex_; }
  /// Whether elements were left out that are masked, or missing (null).
  bool missing() const noexcept { return missing_; }
  std::uint64_t bytes() const { return array_->bytes(); }

 private:
  bool take_buffer(nb::handle object, bool bfloat16, bool written = false);
  /// A list or tuple of floats alone, which numpy would take several times as long to read.
  bool take_floats(nb::handle object);
  /// A tensor of torch on a GPU, without its interface, which takes torch microseconds.
  bool take_torch(nb::handle object);
  bool take_cuda(nb::handle object, bool written);
  bool take_dlpack(nb::handle object);
  /// Elements on a GPU, the first of which is at `address`; `place_of`: what samesum._arrays.cuda_place gives, asked for where there are
  /// any.
  void take_memory(std::uintptr_t address, std::vector<std::uint64_t> shape, std::vector<std::int64_t> strides,
                   const std::function<nb::object()>& place_of);
  void set_type(const char* format, std::size_t size);

  /// What the buffer protocol gave: also given back where the constructor throws.
  struct HeldBuffer {
    Py_buffer buffer{};
    bool held = false;
    ~HeldBuffer() { release(); }
    void release();
  };

  nb::object keep_;
  std::unique_ptr<Tensor> tensor_;
  HeldBuffer buffer_;
  std::unique_ptr<double[]> floats_;
  bool complex_ = false;
  bool missing_ = false;
  DType type_ = DType::float64;
  std::optional<Array> array_;
};

/// A stream of CUDA.
struct Stream {
  std::uintptr_t handle;
  std::uint32_t ordinal;  ///< of the GPU
  bool operator==(const Stream&) const = default;
};
/// The device of a stream. Those of the last streams are kept, so that two arrays lie on one device, and kernels and memory of a call serve
/// the next. `owner` keeps the stream alive; a stream that has none and is no default one may end, and with it the device.
Device device_on(const Stream& stream, nb::handle owner);

/// A device: samesum.Device, or its selector.
Device device_of(nb::handle device);
/// The options of a call: the name of the policy on NaNs, and a device or None for the choice by size.
Options options_of(nb::handle nan, nb::handle device);

/// Called between two parts of long work: Ctrl-C and the function that watch() was given, if any. False: an exception of Python is set.
bool keep_on(const Progress& progress);
/// Whether the work of this thread is watched.
bool is_watched();
/// function(**named); long work that it does in this thread calls `progress` with what is done and the whole.
nb::object watch(nb::handle progress, nb::handle function, const nb::dict& named);

/// Runs `work` without the interpreter's lock where it is long, so that other threads of Python run, and Ctrl-C ends it: from `to_watch`
/// bytes on.
template <class Work>
auto run(std::uint64_t bytes, Options& options, const Work& work, std::uint64_t to_watch = 0) {
  constexpr std::uint64_t kLong = 1 << 15;  // below, giving the lock back costs more than the work
  if (!options.device && !is_watched() && bytes < std::max(kLong, to_watch)) {
    if (bytes < kLong) return work();
    const nb::gil_scoped_release release;
    return work();
  }
  struct Interrupted {};
  options.progress = [](const Progress& progress) {
    nb::gil_scoped_acquire acquire;
    if (!keep_on(progress)) throw Interrupted();  // the exception stays set in this thread
  };
  try {
    nb::gil_scoped_release release;
    return work();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

/// The same of work that passes over the elements once, and so takes milliseconds up to some size: less if nothing watches it.
template <class Work>
auto run_pass(std::uint64_t bytes, Options& options, const Work& work) {
  return run(bytes, options, work, std::uint64_t{1} << 25);
}

}  // namespace samesum::python
