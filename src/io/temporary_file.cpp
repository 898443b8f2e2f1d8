#include "io/temporary_file.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace samesum::io {
namespace {

std::string folder() {
  const char* const given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

[[noreturn]] void fail(int code) {
  throw Error(ErrorKind::usage, fmt::format("a temporary file in {} cannot be written: {} (TMPDIR names another folder)", folder(),
                                            std::generic_category().message(code)));
}

}  // namespace

TemporaryFile::TemporaryFile() {
  std::string path = folder() + "/samesum-XXXXXX";
  descriptor_ = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  unlink(path.c_str());
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void TemporaryFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

int TemporaryFile::release() noexcept { return std::exchange(descriptor_, -1); }

}  // namespace samesum::io
