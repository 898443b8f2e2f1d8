#include "input/user_file.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace samesum::cli {

std::string read_file(const std::string& path) {
  const auto fail = [&](const char* what, int code) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}: {}", path, what, std::generic_category().message(code)));
  };
  const int descriptor = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot be opened", errno);
  std::string text;
  std::array<char, 1 << 16> block;
  int code = 0;
  for (ssize_t got = 1; got != 0 && code == 0;) {
    got = read(descriptor, block.data(), block.size());
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) code = errno;
  }
  close(descriptor);
  if (code != 0) fail("cannot be read", code);
  return text;
}

}  // namespace samesum::cli
