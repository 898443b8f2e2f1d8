#include "kernel/user_kernel.hpp"

#include "input/user_file.hpp"

#include <samesum/error.hpp>
#include <samesum/inspect.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace samesum::cli {

UserKernel load_user_kernel(const std::string& path) {
  UserKernel kernel{std::filesystem::path(path).filename().string(), read_file(path)};
  if (kernel.source.empty()) throw Error(ErrorKind::usage, fmt::format("{}: no kernel is in it: the file is empty", path));
  return kernel;
}

std::string pattern_of(const UserKernel& kernel, const std::string& named) {
  if (!named.empty()) {
    kernel_variants(named);  // throws for what is no pattern
    return named;
  }
  try {
    return kernel_pattern_of(kernel.source);
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", kernel.name, error.what()));
  }
}

}  // namespace samesum::cli
