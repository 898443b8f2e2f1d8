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

}  // namespace samesum::cli
