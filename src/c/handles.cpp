// Errors, devices, arrays and options of the C interface.
#include "c/handles.hpp"

#include <samesum/selftest.hpp>
#include <samesum/settings.hpp>
#include <samesum/tune.hpp>
#include <samesum/version.hpp>

#include <algorithm>
#include <variant>

namespace samesum::c {
namespace {

thread_local std::string message;

std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text = "(";
  for (const std::uint64_t extent : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(extent);
  return text + ")";
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

DType type_of(samesum_type type) {
  if (static_cast<unsigned>(type) >= kDTypes.size()) refuse("there is no element type " + std::to_string(static_cast<int>(type)));
  return static_cast<DType>(type);
}
samesum_type type_of(DType type) { return static_cast<samesum_type>(type); }

Array array_of(const samesum_array* array, const char* name) {
  const samesum_array& given = need(array, name);
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
  if (given.device == nullptr && given.offset != 0) refuse("'offset' is for arrays in device memory: add it to 'data', or set it to 0");
  if (given.device == nullptr) return view;
  const std::uint64_t bytes = given.offset + reach(view);
  Buffer buffer = Buffer::wrap(given.device->device, const_cast<void*>(given.data), bytes);  // which is only read
  return {std::move(buffer), Shape(view.shape()), type, given.offset, Strides(view.strides())};
}

NanPolicy nan_of(int skip) { return skip != 0 ? NanPolicy::skip : NanPolicy::propagate; }

Options options_of(const samesum_options* options) {
  const samesum_options given = copy_of(options, "samesum_options");
  Options result;
  result.nan = nan_of(given.skip_nan);
  if (given.device != nullptr) result.device = given.device->device;
  result.tuning.threads = given.threads;
  if (given.progress != nullptr) {
    result.progress = [progress = given.progress, context = given.context](const Progress& now) {
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

void copy(const Array& results, const samesum_array* to) {
  const Array target = array_of(to, "to");
  if (target.type() != results.type()) {
    refuse("the results are " + std::string(name_of(results.type())) + ", the array for them is " + std::string(name_of(target.type())));
  }
  if (!std::ranges::equal(target.shape(), results.shape())) {
    refuse("the results are of shape " + text_of(results.shape()) + ", the array for them is of shape " + text_of(target.shape()));
  }
  if (!target.contiguous()) refuse("the results go to an array in C order, without gaps");
  if (results.size() == 0) return;
  if (target.on_device()) return target.buffer().write(results.data(), results.bytes(), target.offset());
  std::memcpy(const_cast<void*>(target.data()), results.data(), results.bytes());  // the caller's, to be written
}

}  // namespace samesum::c

using namespace samesum;
using namespace samesum::c;

extern "C" {

const char* samesum_message(void) { return message.c_str(); }
samesum_status samesum_fail(samesum_status status, const char* text) {
  try {
    message = text == nullptr ? "" : text;
  } catch (...) {
    message.clear();  // no memory for it
  }
  return status;
}
samesum_status samesum_configure(const char* name, const char* value) {
  return guard([&] { configure(&need(name, "name"), value == nullptr ? std::nullopt : std::optional<std::string>(value)); });
}
const char* samesum_version(void) { return version(); }

samesum_status samesum_device_open(const char* selector, samesum_device** device) {
  return give(device, [&] { return Device::open(&need(selector, "selector")); });
}
samesum_status samesum_device_on_cuda_stream(void* stream, uint32_t ordinal, samesum_device** device) {
  return give(device, [&] { return Device::on_cuda_stream(stream, ordinal); });
}
samesum_status samesum_device_on_opencl_queue(void* queue, samesum_device** device) {
  return give(device, [&] { return Device::on_opencl_queue(queue); });
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
samesum_status samesum_device_tune(const samesum_device* device, double seconds, const char* path, uint64_t* better) {
  return guard([&] {
    if (!(seconds > 0)) refuse("'seconds' is to be more than 0");
    TuneOptions options;
    options.seconds = seconds;
    if (path != nullptr) options.path = path;
    const TuneResult found = tune(need(device, "device").device, options);
    if (better != nullptr) *better = static_cast<uint64_t>(std::ranges::count_if(found.rows, &TuneRow::better));
  });
}
samesum_status samesum_device_list(char* text, size_t* size) {
  return guard([&] {
    std::string selectors;
    for (const DeviceInfo& device : list_devices().devices) selectors += device.selector + "\n";
    write(std::span<const char>(selectors.c_str(), selectors.size() + 1), text, size);
  });
}
int samesum_device_has(const samesum_device* device, const char* capability) {
  if (device == nullptr || capability == nullptr) return 0;
  for (int i = 0; i <= static_cast<int>(Capability::denormals); ++i) {
    const auto one = static_cast<Capability>(i);
    if (name_of(one) == capability) return device->device.info().has(one) ? 1 : 0;
  }
  return 0;
}
samesum_status samesum_device_wait_for(const samesum_device* device, void* event) {
  return guard([&] { need(device, "device").device.wait_for(event); });
}
samesum_status samesum_device_record(const samesum_device* device, void** event) {
  return guard([&] {
    void*& place = need(event, "event");
    place = need(device, "device").device.record(place);
  });
}
void samesum_device_free(samesum_device* device) { delete device; }

}  // extern "C"
