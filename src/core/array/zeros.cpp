// The memory of results.
#include <samesum/axes.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace samesum::detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

bool is_large(std::size_t bytes) { return bytes >= 2 * kHugePage; }
std::size_t rounded(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

// Large blocks are of huge pages: to get small ones takes several times as long as to fill them.
std::byte* allocate_zeros(std::size_t bytes) {
  if (!is_large(bytes)) {
    void* const memory = std::calloc(bytes, 1);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
  }
  if (bytes > SIZE_MAX - 2 * kHugePage) throw std::bad_alloc();
  const std::size_t size = rounded(bytes);
  void* const room = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  auto* const from = static_cast<std::byte*>(room);
  const std::size_t before = rounded(reinterpret_cast<std::uintptr_t>(from)) - reinterpret_cast<std::uintptr_t>(from);
  if (before != 0) munmap(from, before);
  if (before != kHugePage) munmap(from + before + size, kHugePage - before);
  madvise(from + before, size, MADV_HUGEPAGE);
  return from + before;
}

void free_zeros(std::byte* memory, std::size_t bytes) noexcept {
  if (is_large(bytes)) {
    munmap(memory, rounded(bytes));
  } else {
    std::free(memory);
  }
}

}  // namespace samesum::detail
