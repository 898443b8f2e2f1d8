#include "user_kernel.hpp"

#include "user_file.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace samesum::cli {

UserKernel load_user_kernel(const std::string& path) {
  UserKernel kernel{std::filesystem::path(path).filename().string(), read_file(path)};
  if (kernel.source.empty()) throw Error(ErrorKind::usage, fmt::format("{}: no kernel is in it: the file is empty", path));
  return kernel;
}

}  // namespace samesum::cli
