// Memory that must not be read beyond its end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

namespace samesum::test {

/// A copy of an array that ends where a page begins that nobody may read: reading one element more ends the process.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::span<const T> content) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t used = (content.size_bytes() + page - 1) / page * page;
    bytes_ = used + page;
    pages_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    auto* const end = static_cast<std::byte*>(pages_) + used;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::bad_alloc();
    T* const first = reinterpret_cast<T*>(end - content.size_bytes());
    if (!content.empty()) std::memcpy(first, content.data(), content.size_bytes());
    values_ = {first, content.size()};
  }
  ~Guarded() { munmap(pages_, bytes_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::span<const T> values() const { return values_; }

 private:
  void* pages_;
  std::size_t bytes_;
  std::span<const T> values_;
};

}  // namespace samesum::test
