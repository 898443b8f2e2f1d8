// A user's kernel in a file: an additional rung of a ladder.
#pragma once

#include <string>

namespace samesum::cli {

struct UserKernel {
  std::string name;  ///< the file's name, without folder
  std::string source;
};

/// @throws Error (usage) that names the file where it cannot be read or is empty.
UserKernel load_user_kernel(const std::string& path);

/// The pattern that a kernel is for: `named`, or "" for what the name of its function says. @throws Error (usage) for what is no pattern.
std::string pattern_of(const UserKernel& kernel, const std::string& named);

}  // namespace samesum::cli
