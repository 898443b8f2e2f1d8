// Results that have to have the same bits.
#pragma once

#include <samesum/array.hpp>
#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace samesum::test {

/// Of arrays in host memory, contiguous.
inline void expect_same_bits(const Array& found, const Array& expected, const std::string& what) {
  ASSERT_EQ(found.type(), expected.type()) << what;
  ASSERT_EQ(found.size(), expected.size()) << what;
  const std::size_t each = size_of(found.type());
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::memcmp(static_cast<const char*>(found.data()) + i * each, static_cast<const char*>(expected.data()) + i * each, each), 0)
        << what << ", number " << i;
  }
}

/// That body() throws an Error of this kind, whose message has `words`.
template <class Body>
void expect_error(ErrorKind kind, const std::string& words, const Body& body) {
  try {
    body();
    ADD_FAILURE() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

}  // namespace samesum::test
