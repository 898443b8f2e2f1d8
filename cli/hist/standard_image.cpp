#include "hist/standard_image.hpp"

#include "output/write.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

namespace samesum::cli {
namespace {

constexpr std::size_t kStart = 16;  // bytes, enough to recognize images

// Waits until a pipe has that many bytes, or has no more writers.
void wait_for_start() {
  for (int there = 0; ioctl(STDIN_FILENO, FIONREAD, &there) == 0 && static_cast<std::size_t>(there) < kStart;) {
    pollfd end{STDIN_FILENO, POLLIN, 0};
    if (poll(&end, 1, -1) > 0 && (end.revents & POLLHUP) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The first bytes of a pipe, which stay in the pipe.
std::vector<std::byte> start_of_pipe() {
  wait_for_start();
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  std::vector<std::byte> start(kStart);
  const ssize_t there = tee(STDIN_FILENO, ends[1], kStart, 0);
  const ssize_t read_back = there > 0 ? read(ends[0], start.data(), static_cast<std::size_t>(there)) : 0;
  for (const int end : ends) close(end);
  start.resize(read_back > 0 ? static_cast<std::size_t>(read_back) : 0);
  return start;
}

[[noreturn]] void not_kept(int code) {
  throw Error(ErrorKind::usage,
              fmt::format("standard input: cannot be kept in memory: {}; give the image as a file", std::generic_category().message(code)));
}

}  // namespace

std::string image_from_standard_input() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) return "";
  const std::string own = "/dev/stdin";
  if (S_ISREG(status.st_mode)) return lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 && is_image(own) ? own : "";
  if (!S_ISFIFO(status.st_mode)) return "";
  const std::vector<std::byte> start = start_of_pipe();
  if (start.empty()) return "";
  const int copy = memfd_create("samesum", MFD_CLOEXEC);  // stays open until the program ends
  if (copy < 0) return "";
  const std::string path = fmt::format("/proc/self/fd/{}", copy);
  if (write_all(copy, start) != 0 || !is_image(path)) {
    close(copy);
    return "";
  }
  if (lseek(copy, 0, SEEK_SET) != 0) not_kept(errno);
  std::vector<std::byte> block(std::size_t{1} << 16);
  for (;;) {
    const ssize_t size = read(STDIN_FILENO, block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) not_kept(errno);
    if (size == 0) return path;
    if (const int code = write_all(copy, std::span(block).first(static_cast<std::size_t>(size))); code != 0) not_kept(code);
  }
}

}  // namespace samesum::cli
