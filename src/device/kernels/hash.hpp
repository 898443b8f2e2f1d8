// Cache keys made of several fields.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace samesum::device {

/// 32 hexadecimal digits: the XXH3 128-bit hash of `fields`, each with its length, so that ("ab", "c") and ("a", "bc") differ.
std::string hash_of(std::initializer_list<std::string_view> fields);

}  // namespace samesum::device
