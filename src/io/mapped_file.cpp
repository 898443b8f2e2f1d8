#include "io/mapped_file.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace samesum::io {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what, int code) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}: {}", path, what, std::generic_category().message(code)));
}

std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // Without O_NONBLOCK a named pipe would wait for a writer; for regular files it means nothing.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(path, "cannot be opened", errno);
  try {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail(path, "cannot be examined", errno);
    if (!S_ISREG(status.st_mode)) {
      throw Error(ErrorKind::usage, fmt::format("{}: is {}; samesum maps regular files into memory", path, kind_of(status.st_mode)));
    }
    size_ = static_cast<std::size_t>(status.st_size);
    modified_ = status.st_mtim;
    if (size_ == 0) return;  // nothing to map; mmap refuses a length of zero
    void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (data == MAP_FAILED) fail(path, "cannot be mapped into memory", errno);
    data_ = data;
    // A file system that can keeps what it reads for us in large pages from now on. Measured on ext4: 1 GiB from the page cache in
    // 35 instead of 45 ms, also in later processes; populating the mapping in advance, or advising sequential access, gains nothing.
    madvise(data_, size_, MADV_HUGEPAGE);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
  close(descriptor_);
}

bool MappedFile::unchanged() const noexcept {
  struct stat now {};
  return fstat(descriptor_, &now) == 0 && static_cast<std::size_t>(now.st_size) == size_ && now.st_mtim.tv_sec == modified_.tv_sec &&
         now.st_mtim.tv_nsec == modified_.tv_nsec;
}

}  // namespace samesum::io
