// What the functions of the C interface (include/samesum/samesum.h) have in common: handles, arguments, and errors as a status.
#pragma once

#include <samesum/samesum.h>
#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/options.hpp>
#include <samesum/plan.hpp>
#include <samesum/statistics.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

struct samesum_device {
  samesum::Device device;
};
struct samesum_accumulator {
  samesum::Accumulator value;
};
struct samesum_statistics {
  samesum::Statistics value;
};
struct samesum_bins {
  samesum::Bins value;
};
struct samesum_histogram {
  samesum::Histogram value;
};
struct samesum_plan {
  samesum::Plan plan;
  samesum::Device device;
};

namespace samesum::c {

/// Thrown out of a long call whose progress function asked for it.
struct Cancelled {};

/// The status of the exception that is being handled; its message becomes samesum_message().
samesum_status status_of_exception() noexcept;

/// Runs `work`, and turns exceptions into a status.
template <class Work>
samesum_status guard(const Work& work) noexcept {
  try {
    work();
    return SAMESUM_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// @throws Error (usage) where a pointer that a function needs is null.
template <class T>
T& need(T* pointer, const char* name) {
  if (pointer == nullptr) throw Error(ErrorKind::usage, std::string("'") + name + "' is a null pointer");
  return *pointer;
}

DType type_of(samesum_type type);
samesum_type type_of(DType type);
Array array_of(const samesum_array* array);
Options options_of(const samesum_options* options);
NanPolicy nan_of(int skip);
samesum_value value_of(const Value& value);
Value value_of(const samesum_value& value);
samesum_extremum extremum_of(const Extremum& extremum);

/// Writes a serialized form as samesum_accumulator_serialize() has it.
void write(const std::vector<std::byte>& serialized, void* bytes, size_t* size);
inline std::span<const std::byte> bytes_of(const void* bytes, size_t size) {
  return {&need(static_cast<const std::byte*>(bytes), "bytes"), size};
}

}  // namespace samesum::c
