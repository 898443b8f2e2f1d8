#include "device/memory/room.hpp"

#include <sys/mman.h>

namespace samesum::device {

bool has_room(std::uint64_t bytes) noexcept {
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

}  // namespace samesum::device
