#include "user_kernel.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace samesum::cli {

UserKernel load_user_kernel(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  UserKernel kernel{std::filesystem::path(path).filename().string(), {}};
  if (file) kernel.source.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || kernel.source.empty()) {
    const std::string why = errno != 0 ? std::generic_category().message(errno) : "nothing is in it";
    throw Error(ErrorKind::usage, fmt::format("{}: no kernel can be read from it: {}", path, why));
  }
  return kernel;
}

}  // namespace samesum::cli
