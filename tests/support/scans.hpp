// What tests of scans share.
#pragma once

#include <samesum/array.hpp>
#include <samesum/buffer.hpp>
#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace samesum::test {

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return std::bit_cast<std::uint32_t>(value);
  }
}

/// An array in a device's memory.
struct There {
  There(const Device& device, const Array& host) {
    buffer.emplace(device, std::max<std::uint64_t>(host.bytes(), 8));
    if (host.bytes() != 0) buffer->write(host.data(), host.bytes(), 0);
    array.emplace(*buffer, Shape(host.shape()), host.type());
  }
  std::optional<Buffer> buffer;
  std::optional<Array> array;
};

/// The message of the Error that `call` throws.
inline std::string message_of(const std::function<void()>& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace samesum::test
