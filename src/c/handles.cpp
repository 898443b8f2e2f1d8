// Errors, devices, arrays and options of the C interface.
#include "c/handles.hpp"

#include <samesum/selftest.hpp>
#include <samesum/version.hpp>

#include <new>
#include <variant>

namespace samesum::c {
namespace {

thread_local std::string message;

[[noreturn]] void refuse(std::string text) { throw Error(ErrorKind::usage, std::move(text)); }

void set_message(const char* text) noexcept {
  try {
    message = text;
  } catch (...) {
    message.clear();  // no memory for it
  }
}

// The bytes that an array reaches beyond its first element's place, with that element.
std::uint64_t reach(const Array& array) {
  std::uint64_t bytes = size_of(array.type());
  for (std::size_t axis = 0; axis < array.rank(); ++axis) {
    const std::int64_t stride = array.strides()[axis];
    if (array.shape()[axis] == 0) return 0;
    if (stride > 0) bytes += (array.shape()[axis] - 1) * static_cast<std::uint64_t>(stride);
  }
  return bytes;
}

}  // namespace

samesum_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_message(error.what());
    switch (error.kind()) {
      case ErrorKind::usage:
        return SAMESUM_USAGE;
      case ErrorKind::no_answer:
        return SAMESUM_NO_ANSWER;
      default:
        return SAMESUM_DEVICE;
    }
  } catch (const Cancelled&) {
    set_message("cancelled by the progress function");
    return SAMESUM_CANCELLED;
  } catch (const std::bad_alloc&) {
    set_message("out of memory");
    return SAMESUM_NO_MEMORY;
  } catch (const std::exception& error) {
    set_message(error.what());
    return SAMESUM_DEVICE;
  } catch (...) {
    set_message("an unknown failure");
    return SAMESUM_DEVICE;
  }
}

DType type_of(samesum_type type) {
  if (static_cast<unsigned>(type) >= kDTypes.size()) refuse("there is no element type " + std::to_string(static_cast<int>(type)));
  return static_cast<DType>(type);
}
samesum_type type_of(DType type) { return static_cast<samesum_type>(type); }

Array array_of(const samesum_array* array) {
  const samesum_array& given = need(array, "array");
  const DType type = type_of(given.type);
  if (given.rank > Array::kMaxRank) refuse("an array of " + std::to_string(given.rank) + " axes: there can be up to 64");
  if (given.rank != 0) need(given.shape, "shape");
  const std::span<const std::uint64_t> extents(given.shape, given.rank);
  const Shape shape(extents);
  const auto host = [&](const void* data) {
    return given.strides == nullptr ? Array(data, shape, type)
                                    : Array(data, shape, type, Strides(std::span<const std::int64_t>(given.strides, given.rank)));
  };
  const Array view = host(given.data);
  if (given.data == nullptr && view.size() != 0) refuse("'data' is a null pointer");
  if (given.device == nullptr) return view;
  const std::uint64_t bytes = given.offset + reach(view);
  Buffer buffer = Buffer::wrap(given.device->device, const_cast<void*>(given.data), bytes);  // which is only read
  return {std::move(buffer), Shape(view.shape()), type, given.offset, Strides(view.strides())};
}

NanPolicy nan_of(int skip) { return skip != 0 ? NanPolicy::skip : NanPolicy::propagate; }

Options options_of(const samesum_options* options) {
  Options result;
  if (options == nullptr || options->size == 0) {
    const samesum_options none = {};
    if (options != nullptr && std::memcmp(options, &none, sizeof none) != 0)
      refuse("'options.size' is 0: set it to sizeof(samesum_options)");
    return result;
  }
  if (options->size != sizeof(samesum_options))
    refuse("'options.size' is " + std::to_string(options->size) + ", not sizeof(samesum_options)");
  result.nan = nan_of(options->skip_nan);
  if (options->device != nullptr) result.device = options->device->device;
  result.tuning.threads = options->threads;
  if (options->progress != nullptr) {
    result.progress = [progress = options->progress, context = options->context](const Progress& now) {
      if (progress(context, now.done, now.total) != 0) throw Cancelled{};
    };
  }
  return result;
}

samesum_value value_of(const Value& value) {
  samesum_value result{};
  if (const auto* integer = std::get_if<std::int64_t>(&value.number)) {
    result.type = SAMESUM_INT64;
    result.integer = *integer;
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value.number)) {
    result.type = SAMESUM_UINT64;
    result.natural = *natural;
  } else {
    result.type = SAMESUM_FLOAT64;
    result.real = std::get<double>(value.number);
  }
  return result;
}
Value value_of(const samesum_value& value) {
  switch (value.type) {
    case SAMESUM_INT64:
      return {value.integer, DType::int64};
    case SAMESUM_UINT64:
      return {value.natural, DType::uint64};
    case SAMESUM_FLOAT64:
      return {value.real, DType::float64};
    default:
      refuse("a value is SAMESUM_INT64, SAMESUM_UINT64 or SAMESUM_FLOAT64");
  }
}
samesum_extremum extremum_of(const Extremum& extremum) { return {value_of(extremum.value), extremum.index}; }

void write(const std::vector<std::byte>& serialized, void* bytes, size_t* size) {
  size_t& room = need(size, "size");
  if (bytes != nullptr) {
    if (room < serialized.size()) {
      refuse("there are " + std::to_string(room) + " bytes for a serialized form of " + std::to_string(serialized.size()));
    }
    std::memcpy(bytes, serialized.data(), serialized.size());
  }
  room = serialized.size();
}

}  // namespace samesum::c

using namespace samesum;
using namespace samesum::c;

extern "C" {

const char* samesum_message(void) { return message.c_str(); }
const char* samesum_version(void) { return version(); }

samesum_status samesum_device_open(const char* selector, samesum_device** device) {
  return guard([&] { need(device, "device") = new samesum_device{Device::open(&need(selector, "selector"))}; });
}
samesum_status samesum_device_on_cuda_stream(void* stream, uint32_t ordinal, samesum_device** device) {
  return guard([&] { need(device, "device") = new samesum_device{Device::on_cuda_stream(stream, ordinal)}; });
}
samesum_status samesum_device_on_opencl_queue(void* queue, samesum_device** device) {
  return guard([&] { need(device, "device") = new samesum_device{Device::on_opencl_queue(queue)}; });
}
const char* samesum_device_selector(const samesum_device* device) {
  return device == nullptr ? "" : device->device.info().selector.c_str();
}
const char* samesum_device_name(const samesum_device* device) { return device == nullptr ? "" : device->device.info().name.c_str(); }
samesum_status samesum_device_selftest(const samesum_device* device) {
  return guard([&] {
    const SelftestResult found = selftest(need(device, "device").device);
    if (found.passed()) return;
    std::string failures = "the self-test of " + found.device.selector + " failed";
    for (const std::string& failure : found.failures) failures += "; " + failure;
    throw Error(ErrorKind::device, std::move(failures));
  });
}
void samesum_device_free(samesum_device* device) { delete device; }

}  // extern "C"
