#include "output/write.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace samesum::cli {

int write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return ENOSPC;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {  // another program may have set O_NONBLOCK on the shared descriptor
      pollfd room{descriptor, POLLOUT, 0};
      if (poll(&room, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace samesum::cli
