#include "view.hpp"

#include <nanobind/stl/string.h>
#include <samesum/error.hpp>
#include <samesum/types.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace samesum::python {

namespace {

PyObject* ndarray = nullptr;       // numpy's class
PyObject* single_times = nullptr;  // those of single dates and durations, as a tuple

/// A function of samesum._arrays, which is kept, as an import takes half a microsecond. Not loaded before: it imports this module.
nb::object of_arrays(const char* name) {
  static std::atomic<PyObject*> known = nullptr;
  PyObject* module = known;
  if (module == nullptr) known = module = nb::module_::import_("samesum._arrays").release().ptr();
  return nb::handle(module).attr(name);
}

/// Whether the object is an array of numpy itself, no masked one or other subclass.
bool is_ndarray(nb::handle object) { return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == ndarray; }

}  // namespace

// Not where it is first used: that thread might lose the interpreter's lock within the import, while others wait for it with the lock.
void prepare_views() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  ndarray = nb::object(numpy.attr("ndarray")).release().ptr();
  single_times = nb::make_tuple(numpy.attr("datetime64"), numpy.attr("timedelta64")).release().ptr();
}

Device device_on(const Stream& stream, nb::handle owner) {
  struct Kept {
    Stream stream;
    Device device;
    nb::object owner;
  };
  constexpr std::size_t kMax = 16;
  static auto* const mutex = new std::mutex;        // never destroyed: at the end of the process CUDA may be gone before
  static auto* const kept = new std::vector<Kept>;  // the last used one last
  const auto open = [&] { return Device::on_cuda_stream(reinterpret_cast<void*>(stream.handle), stream.ordinal); };  // NOLINT: a number
  if (owner.is_none() && stream.handle > 2) return open();
  std::optional<Kept> dropped;  // after the mutex is free: the end of an owner may run Python, and wait for other threads
  const std::lock_guard lock(*mutex);
  const auto found = std::ranges::find(*kept, stream, &Kept::stream);
  if (found != kept->end()) {
    std::rotate(found, found + 1, kept->end());
  } else {
    if (kept->size() == kMax) {
      dropped = std::move(kept->front());
      kept->erase(kept->begin());
    }
    kept->push_back({stream, open(), nb::borrow(owner)});
  }
  return kept->back().device;
}

View::View(nb::handle object, bool written) {
  if (take_buffer(object, false, written) || (!written && take_floats(object)) || take_torch(object) || take_cuda(object, written)) return;
  if (!written && take_dlpack(object)) return;
  if (written) throw nb::type_error("samesum: out has to be a writable array of numpy, or one on a GPU");
  const nb::object found = of_arrays("as_buffer")(object);
  missing_ = nb::cast<bool>(found[2]);
  if (!take_buffer(found[0], nb::cast<bool>(found[1])) && !take_cuda(found[0], written)) {
    throw nb::type_error("samesum: these elements are no numbers that samesum knows");
  }
}

Array View::as(DType type) const {
  const Array& a = *array_;
  if (a.on_device()) return {a.buffer(), Shape(a.shape()), type, a.offset(), Strides(a.strides())};
  return {a.data(), Shape(a.shape()), type, Strides(a.strides())};
}

void View::HeldBuffer::release() {
  if (held) PyBuffer_Release(&buffer);
  held = false;
}

bool View::take_buffer(nb::handle object, bool bfloat16, bool written) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  if (!is_ndarray(object) && (nb::hasattr(object, "mask") || nb::hasattr(object, "null_count"))) {
    return false;  // the buffer would show what is masked or missing
  }
  if (!is_ndarray(object) && PyObject_IsInstance(object.ptr(), single_times) == 1) return false;  // which show their bytes
  Py_buffer& buffer = buffer_.buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, written ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();  // of a type that the protocol cannot describe
    return false;
  }
  buffer_.held = true;
  if (buffer.ndim > 0 && (buffer.shape == nullptr || buffer.strides == nullptr)) {  // which the protocol excludes
    buffer_.release();
    return false;
  }
  const char* format = buffer.format == nullptr ? "B" : buffer.format;
  if (*format == '>' || *format == '!') {  // as_buffer swaps the bytes
    buffer_.release();
    return false;
  }
  set_type(format, static_cast<std::size_t>(buffer.itemsize));
  if (bfloat16) type_ = DType::bfloat16;
  const auto rank = static_cast<std::size_t>(buffer.ndim);
  if (rank == 1 && !complex_) {
    array_.emplace(buffer.buf, static_cast<std::uint64_t>(buffer.shape[0]), type_, buffer.strides[0]);
    return true;
  }
  std::vector<std::uint64_t> shape(rank);
  std::vector<std::int64_t> strides(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = static_cast<std::uint64_t>(buffer.shape[i]);
    strides[i] = buffer.strides[i];
  }
  if (complex_) {
    shape.push_back(2);
    strides.push_back(static_cast<std::int64_t>(size_of(type_)));
  }
  array_.emplace(buffer.buf, Shape(shape), type_, Strides(strides));
  return true;
}

namespace {

// Without a call for each element where Python's own structures may be read.
PyObject* item_of(PyObject* sequence, bool list, Py_ssize_t i) {
#ifdef Py_LIMITED_API
  return list ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
#else
  return list ? PyList_GET_ITEM(sequence, i) : PyTuple_GET_ITEM(sequence, i);
#endif
}

double float_of(PyObject* number) {
#ifdef Py_LIMITED_API
  return PyFloat_AsDouble(number);
#else
  return PyFloat_AS_DOUBLE(number);
#endif
}

}  // namespace

bool View::take_floats(nb::handle object) {
  const bool list = PyList_CheckExact(object.ptr()) != 0;
  if (!list && PyTuple_CheckExact(object.ptr()) == 0) return false;
  const nb::ft_object_guard guard(object);  // nobody else changes the list meanwhile
  const Py_ssize_t size = list ? PyList_Size(object.ptr()) : PyTuple_Size(object.ptr());
  if (size == 0) return false;
  auto numbers = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(size));
  const PyTypeObject* type = &PyFloat_Type;  // the latest one that is a float, such as numpy.float64
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* const each = item_of(object.ptr(), list, i);
    if (Py_TYPE(each) != type) {
      if (PyFloat_Check(each) == 0) return false;
      type = Py_TYPE(each);
    }
    numbers[static_cast<std::size_t>(i)] = float_of(each);
  }
  floats_ = std::move(numbers);
  array_.emplace(floats_.get(), static_cast<std::uint64_t>(size), DType::float64, static_cast<std::int64_t>(sizeof(double)));
  return true;
}

void View::set_type(const char* format, std::size_t size) {
  if (*format == '<' || *format == '=' || *format == '@') ++format;
  if (*format == 'Z') {
    complex_ = true;
    ++format;
    size /= 2;
  }
  const char code = *format;
  if (code == '\0' || format[1] != '\0') throw nb::type_error("samesum: records and strings are no numbers");
  if (code == 'e' && size == 2) {
    type_ = DType::float16;
  } else if (code == 'f' && size == 4) {
    type_ = DType::float32;
  } else if (code == 'd' && size == 8) {
    type_ = DType::float64;
  } else if (std::strchr("bhilqn", code) != nullptr && size <= 8) {
    type_ = kDTypes[2 * static_cast<std::size_t>(std::countr_zero(size))];
  } else if (std::strchr("BHILQN?", code) != nullptr && size <= 8) {
    type_ = kDTypes[2 * static_cast<std::size_t>(std::countr_zero(size)) + 1];
  } else {
    const std::string message = std::string("samesum: elements of the format '") + code + "' and " + std::to_string(size) +
                                " bytes are no numbers that it knows; convert them to float64 first";
    throw nb::type_error(message.c_str());
  }
}

bool View::take_torch(nb::handle object) {
  static std::atomic<PyObject*> known = nullptr;  // torch.Tensor, from the first call after torch was imported
  PyObject* type = known;
  if (type == nullptr) {
    PyObject* const torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
    if (torch == nullptr || !nb::hasattr(torch, "Tensor")) return false;
    known = type = nb::object(nb::handle(torch).attr("Tensor")).release().ptr();
  }
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) != type || !nb::cast<bool>(object.attr("is_cuda"))) return false;
  const nb::object memory = of_arrays("torch_memory")(object);
  if (memory.is_none()) return false;
  const std::string name = nb::cast<std::string>(memory[1]);
  complex_ = name == "complex64" || name == "complex128";
  const std::string part = name == "bool" ? "uint8" : name == "complex64" ? "float32" : name == "complex128" ? "float64" : name;
  const auto found = std::ranges::find_if(kDTypes, [&](DType each) { return name_of(each) == part; });
  if (found == kDTypes.end()) {
    complex_ = false;
    return false;
  }
  type_ = *found;
  std::vector<std::uint64_t> shape;
  std::vector<std::int64_t> strides;
  const auto size = static_cast<std::int64_t>(size_of(type_)) * (complex_ ? 2 : 1);
  for (nb::handle extent : memory[2]) shape.push_back(nb::cast<std::uint64_t>(extent));
  for (nb::handle stride : memory[3]) strides.push_back(nb::cast<std::int64_t>(stride) * size);
  keep_ = nb::borrow(object);
  take_memory(nb::cast<std::uintptr_t>(memory[0]), std::move(shape), std::move(strides), [&] { return nb::object(memory[4]); });
  return true;
}

// torch conjugates and negates tensors when they are read: their memory has other numbers.
static nb::object as_in_memory(nb::handle array, bool written) {
  if (!nb::hasattr(array, "resolve_neg")) return nb::borrow(array);
  if (!nb::cast<bool>(array.attr("is_neg")()) && !nb::cast<bool>(array.attr("is_conj")())) return nb::borrow(array);
  if (written)
    throw nb::type_error("samesum: out is a tensor whose memory has the conjugates or negatives of its elements: resolve them first");
  return array.attr("resolve_conj")().attr("resolve_neg")();
}

bool View::take_cuda(nb::handle given, bool written) {
  if (!nb::hasattr(given, "__cuda_array_interface__")) return false;
  const nb::object object = as_in_memory(given, written);
  const nb::dict interface = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const std::string text = nb::cast<std::string>(interface["typestr"]);
  if (text.size() < 3 || text[0] == '>') throw nb::type_error("samesum: elements on a GPU have to be little-endian numbers");
  const std::size_t size = static_cast<std::size_t>(std::stoul(text.substr(2)));
  if (text[1] == 'f') {
    set_type(size == 2 ? "e" : size == 4 ? "f" : "d", size);
  } else if (text[1] == 'i' || text[1] == 'u' || text[1] == 'b') {
    set_type(text[1] == 'i' ? "q" : "Q", size);
  } else if (text[1] == 'c') {
    set_type(size == 8 ? "Zf" : "Zd", size);
  } else if (text == "<V2") {  // as torch and ml_dtypes name it
    type_ = DType::bfloat16;
  } else {
    throw nb::type_error("samesum: elements on a GPU have to be numbers");
  }
  std::vector<std::uint64_t> shape;
  std::vector<std::int64_t> strides;
  for (nb::handle extent : interface["shape"]) shape.push_back(nb::cast<std::uint64_t>(extent));
  if (interface.contains("strides") && !interface["strides"].is_none()) {
    for (nb::handle stride : interface["strides"]) strides.push_back(nb::cast<std::int64_t>(stride));
  } else {
    strides.resize(shape.size());
    std::int64_t next = static_cast<std::int64_t>(size);
    for (std::size_t i = shape.size(); i-- > 0; next *= static_cast<std::int64_t>(shape[i])) strides[i] = next;
  }
  const auto address = nb::cast<std::uintptr_t>(interface["data"][0]);
  keep_ = object;
  const nb::object stream = nb::borrow(interface.get("stream", nb::none()));
  take_memory(address, std::move(shape), std::move(strides), [&] { return nb::object(of_arrays("cuda_place")(object, stream)); });
  return true;
}

bool View::take_dlpack(nb::handle object) {
  if (!is_dlpack_of_cuda(object)) return false;
  nb::object place = of_arrays("cuda_place")(object, nb::none());
  const std::uintptr_t stream = nb::cast<std::uintptr_t>(place[0]);
  tensor_ = std::make_unique<Tensor>(object, nb::int_(stream == 0 ? 1 : stream));  // the protocol's number of the default stream
  const Tensor::Shown& shown = tensor_->shown();
  if (shown.format == "bfloat16") {
    type_ = DType::bfloat16;
  } else {
    set_type(shown.format.c_str(), static_cast<std::size_t>(shown.size));
  }
  place = nb::make_tuple(place[0], object.attr("__dlpack_device__")()[1], place[2]);
  take_memory(reinterpret_cast<std::uintptr_t>(shown.data), shown.shape, shown.strides,
              [&] { return place; });  // NOLINT: an address of a GPU
  return true;
}

void View::take_memory(std::uintptr_t address, std::vector<std::uint64_t> shape, std::vector<std::int64_t> strides,
                       const std::function<nb::object()>& place_of) {
  if (complex_) {
    shape.push_back(2);
    strides.push_back(static_cast<std::int64_t>(size_of(type_)));
  }
  // The bytes from the first element's lowest address to the end of the last one.
  std::int64_t low = 0, high = static_cast<std::int64_t>(size_of(type_));
  bool empty = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) {
      empty = true;
      break;
    }
    const std::int64_t reach = strides[i] * static_cast<std::int64_t>(shape[i] - 1);
    (reach < 0 ? low : high) += reach;
  }
  if (empty) {
    array_.emplace(static_cast<const void*>(nullptr), Shape(shape), type_);
    return;
  }
  const nb::object place = place_of();
  const Device device = device_on({nb::cast<std::uintptr_t>(place[0]), nb::cast<std::uint32_t>(place[1])}, place[2]);
  void* first = reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(low));  // NOLINT
  array_.emplace(Buffer::wrap(device, first, static_cast<std::uint64_t>(high - low)), Shape(shape), type_, static_cast<std::uint64_t>(-low),
                 Strides(strides));
}

namespace {

thread_local PyObject* watching = nullptr;  // borrowed from watch()

/// What watches the work of this thread, for as long as this object lives.
class Watching {
 public:
  explicit Watching(PyObject* progress) : before_(std::exchange(watching, progress)) {}
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  ~Watching() { watching = before_; }

 private:
  PyObject* before_;
};

}  // namespace

bool is_watched() { return watching != nullptr; }

bool keep_on(const Progress& progress) {
  if (PyErr_CheckSignals() != 0) return false;
  if (watching == nullptr) return true;
  PyObject* const called = watching;
  const Watching unwatched(nullptr);  // the function may use samesum
  const nb::object answer = nb::steal(
      PyObject_CallFunction(called, "KK", static_cast<unsigned long long>(progress.done), static_cast<unsigned long long>(progress.total)));
  return answer.is_valid();
}

nb::object watch(nb::handle progress, nb::handle function, const nb::dict& named) {
  const Watching watched(progress.ptr());
  return function(**named);
}

Options options_of(nb::handle nan, nb::handle device) {
  Options options;
  if (!nan.is_none()) {
    if (!nb::isinstance<nb::str>(nan)) throw nb::type_error("samesum: nan has to be 'propagate' or 'skip'");
    const char* name = nb::cast<const char*>(nan);
    if (std::strcmp(name, "skip") == 0) {
      options.nan = NanPolicy::skip;
    } else if (std::strcmp(name, "propagate") != 0) {
      throw Error(ErrorKind::usage, std::string("nan has to be 'propagate' or 'skip', not '") + name + "'");
    }
  }
  if (!device.is_none()) options.device = device_of(device);
  return options;
}

Device device_of(nb::handle device) {
  if (nb::isinstance<Device>(device)) return nb::cast<Device>(device);
  if (!nb::isinstance<nb::str>(device))
    throw nb::type_error("samesum: device has to be a samesum.Device, a selector such as 'cuda:0', or None");
  return Device::open(nb::cast<std::string>(device));
}

}  // namespace samesum::python
