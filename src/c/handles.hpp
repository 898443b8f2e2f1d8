// What the functions of the C interface (include/samesum/samesum.h) have in common: handles, arguments, and errors as a status.
#pragma once

#include <samesum/samesum.h>
#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/axes.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/options.hpp>
#include <samesum/plan.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/quantile.hpp>
#include <samesum/source.hpp>
#include <samesum/statistics.hpp>

#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct samesum_device {
  samesum::Device device;
};
struct samesum_accumulator {
  samesum::Accumulator value;
};
struct samesum_products {
  samesum::ProductAccumulator value;
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
struct samesum_source {
  std::unique_ptr<samesum::Source> value;
  std::optional<samesum::Array> chunk = {};  // the latest one, whose shape the caller sees
};
struct samesum_plan {
  samesum::Plan plan;
  samesum::Device device;
};

namespace samesum::c {

/// Thrown out of a long call whose progress function asked for it.
struct Cancelled {};
/// Thrown where a function of the caller's failed.
struct Failed {
  samesum_status status;
  std::string message;
};

/// The status of the exception that is being handled; its message becomes samesum_message(). In terms of public functions alone, so that
/// the library of images has it too.
inline samesum_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    const samesum_status status = error.kind() == ErrorKind::usage       ? SAMESUM_USAGE
                                  : error.kind() == ErrorKind::no_answer ? SAMESUM_NO_ANSWER
                                                                         : SAMESUM_DEVICE;
    return samesum_fail(status, error.what());
  } catch (const Cancelled&) {
    return samesum_fail(SAMESUM_CANCELLED, "cancelled by the progress function");
  } catch (const Failed& failed) {
    return samesum_fail(failed.status, failed.message.c_str());
  } catch (const std::bad_alloc&) {
    return samesum_fail(SAMESUM_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return samesum_fail(SAMESUM_DEVICE, error.what());
  } catch (...) {
    return samesum_fail(SAMESUM_DEVICE, "an unknown failure");
  }
}

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

[[noreturn]] inline void refuse(std::string text) { throw Error(ErrorKind::usage, std::move(text)); }

/// @throws Error (usage) where a pointer that a function needs is null.
template <class T>
T& need(T* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string("'") + name + "' is a null pointer");
  return *pointer;
}
/// `count` of them; where there are none the pointer may be null.
template <class T>
std::span<T> need(T* pointer, std::size_t count, const char* name) {
  if (count != 0) need(pointer, name);
  return {pointer, count};
}

/// A handle of what `make` returns. The place for it is looked at first: nothing is made in vain.
template <class Handle, class Make>
samesum_status give(Handle** to, const Make& make) noexcept {
  return guard([&] {
    Handle*& place = need(to, "result");
    place = new Handle{make()};
  });
}

/// A number of what a handle holds.
template <class Handle, class T, class Get>
samesum_status get(const Handle* handle, T* result, const Get& number) noexcept {
  return guard([&] {
    T& place = need(result, "result");
    place = number(need(handle, "handle").value);
  });
}

/// Adds what another handle holds.
template <class Handle>
samesum_status merge(Handle* handle, const Handle* other) noexcept {
  return guard([&] { need(handle, "handle").value.merge(need(other, "other").value); });
}

/// A struct of the caller's that begins with its size, or null; `name`: of its type. @throws Error (usage) for another size.
template <class Struct>
Struct copy_of(const Struct* given, const char* name) {
  const Struct none = {};
  if (given == nullptr) return none;
  if (given->size == 0 && std::memcmp(given, &none, sizeof none) == 0) return none;
  if (given->size != sizeof none) {
    refuse(std::string("the member 'size' is ") + std::to_string(given->size) + ": set it to sizeof(" + name + ")");
  }
  return *given;
}

DType type_of(samesum_type type);
samesum_type type_of(DType type);
Array array_of(const samesum_array* array, const char* name = "array");
Options options_of(const samesum_options* options);
NanPolicy nan_of(int skip);
samesum_value value_of(const Value& value);
Value value_of(const samesum_value& value);
samesum_extremum extremum_of(const Extremum& extremum);
Axes axes_of(const int64_t* axes, std::size_t count, int keep);
AxisReduction reduction_of(samesum_reduction reduction);

/// The rule of a method's name; of null the default.
inline QuantileRule rule_of(const char* method) {
  QuantileRule rule;
  if (method != nullptr) rule.method = parse_quantile_method(method);
  return rule;
}

/// Copies results to memory of the caller's. @throws Error (usage) unless it is of their type and shape, and in C order without gaps.
void copy(const Array& results, const samesum_array* to);

/// All fields of statistics.
inline constexpr Fields kAllFields{.extrema = true, .sum = true, .squares = true, .nonzeros = true};

/// Writes units of some size to memory of the caller's with room for `*count` of them; their number alone where `to` is null.
template <class T>
void write(std::span<const T> units, void* to, size_t* count) {
  size_t& room = need(count, "size");
  if (to != nullptr) {
    if (room < units.size())
      refuse("there is room for " + std::to_string(room) + " units of the result: it has " + std::to_string(units.size()));
    std::memcpy(to, units.data(), units.size_bytes());
  }
  room = units.size();
}
template <class Handle>
samesum_status serialize(const Handle* handle, void* bytes, size_t* size) noexcept {
  return guard([&] { write(std::span<const std::byte>(need(handle, "handle").value.serialize()), bytes, size); });
}
template <class Handle>
samesum_status deserialize(const void* bytes, size_t size, Handle** to) noexcept {
  return give(to, [&] {
    using Value = decltype(Handle::value);
    return Value::deserialize({&need(static_cast<const std::byte*>(bytes), "bytes"), size});
  });
}

/// Words that merge by addition, of which there are as many as the value needs.
template <class Handle>
samesum_status write_words(const Handle* handle, int64_t* words, size_t* count) noexcept {
  return guard([&] { write(std::span<const std::int64_t>(need(handle, "handle").value.words()), words, count); });
}

}  // namespace samesum::c
