#include "io/byte_stream.hpp"

#include "io/system_error.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace samesum::io {
namespace {

constexpr int kPipeBytes = 1 << 20;  // the limit for unprivileged processes; the default is 64 KiB

}  // namespace

FileStream::FileStream(const std::string& path) : ByteStream(path == "-" ? "standard input" : path) {
  descriptor_ = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail_with_errno(name(), "cannot be opened", errno);
  struct stat status {};
  const bool usable = fstat(descriptor_, &status) == 0 && (!S_ISDIR(status.st_mode) || (errno = EISDIR, false));
  wake_ = usable ? eventfd(0, EFD_CLOEXEC) : -1;
  if (wake_ < 0) {
    const int code = errno;
    close(descriptor_);
    fail_with_errno(name(), "cannot be read", code);
  }
  regular_ = S_ISREG(status.st_mode);
  if (regular_) size_ = static_cast<std::uint64_t>(status.st_size);
  modified_ = status.st_mtim;
  if (S_ISFIFO(status.st_mode)) fcntl(descriptor_, F_SETPIPE_SZ, kPipeBytes);  // fewer context switches, where allowed
}

FileStream::~FileStream() {
  close(descriptor_);
  close(wake_);
}

std::size_t FileStream::read_some(std::span<std::byte> into) {
  if (into.size() > left_) into = into.first(static_cast<std::size_t>(left_));
  if (into.empty()) return 0;
  for (;;) {
    if (!regular_) {
      pollfd waiting[] = {{descriptor_, POLLIN, 0}, {wake_, POLLIN, 0}};
      if (poll(waiting, 2, -1) < 0 && errno != EINTR) fail_with_errno(name(), "cannot be read", errno);
      if (waiting[1].revents != 0) return 0;
      if (waiting[0].revents == 0) continue;
    }
    const ssize_t count = ::read(descriptor_, into.data(), into.size());
    if (count >= 0) {
      left_ -= static_cast<std::uint64_t>(count);
      if (size_ == 0 && count != 0) gives_more_ = true;
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR && errno != EAGAIN) fail_with_errno(name(), "cannot be read", errno);
  }
}

void ByteStream::refuse(std::string_view message) const { throw Error(ErrorKind::usage, fmt::format("{}: {}", name_, message)); }

std::size_t ByteStream::read(std::span<std::byte> into) {
  std::size_t filled = std::min(peeked_.size(), into.size());
  std::copy_n(peeked_.begin(), filled, into.begin());
  peeked_.erase(peeked_.begin(), peeked_.begin() + static_cast<std::ptrdiff_t>(filled));
  while (filled < into.size()) {
    const std::size_t count = read_some(into.subspan(filled));
    if (count == 0) break;
    filled += count;
  }
  bytes_read_.fetch_add(filled, std::memory_order_relaxed);
  return filled;
}

std::span<const std::byte> ByteStream::peek(std::size_t count) {
  std::size_t filled = peeked_.size();
  if (filled < count) peeked_.resize(count);
  while (filled < count) {
    const std::size_t more = read_some(std::span(peeked_).subspan(filled));
    if (more == 0) break;
    filled += more;
  }
  peeked_.resize(filled);
  return std::span<const std::byte>(peeked_).first(std::min(filled, count));
}

void FileStream::cancel() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

bool FileStream::unchanged() const noexcept {
  if (!regular()) return true;
  struct stat now {};
  return fstat(descriptor_, &now) == 0 && static_cast<std::uint64_t>(now.st_size) == size_ && now.st_mtim.tv_sec == modified_.tv_sec &&
         now.st_mtim.tv_nsec == modified_.tv_nsec;
}

void FileStream::read_directly() noexcept { fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_DIRECT); }

std::size_t FileStream::read_at(std::uint64_t offset, std::span<std::byte> into, std::size_t least) const {
  std::size_t filled = 0;
  bool maybe_direct = true;
  while (filled < least) {
    const ssize_t count = pread(descriptor_, into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EINVAL && std::exchange(maybe_direct, false)) {  // a direct read that the file system does not take
      fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_DIRECT);
      continue;
    }
    if (count < 0) fail_with_errno(name(), "cannot be read", errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

void FileStream::select(std::uint64_t offset, std::uint64_t count) {
  if (lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) fail_with_errno(name(), "cannot be read", errno);
  left_ = count;
}

}  // namespace samesum::io
