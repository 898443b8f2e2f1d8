// Simulates a faulty disk for a program that is started with LD_PRELOAD: fsync() fails as on a full disk, or never returns
// (SAMESUM_FAKE_DISK).
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

extern "C" __attribute__((visibility("default"))) int fsync(int) {
  const char* const kind = std::getenv("SAMESUM_FAKE_DISK");
  while (kind != nullptr && std::string_view(kind) == "slow") pause();
  errno = ENOSPC;
  return -1;
}
