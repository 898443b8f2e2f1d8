// Long arrays without the memory for them: one block of pages, mapped repeatedly, end to end.
#pragma once

#include <samesum/array.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace samesum::test {

/// `content`, whose size is a multiple of the page size, repeated `times` times.
class Repeated {
 public:
  Repeated(Array content, std::uint64_t times) : bytes_(content.bytes() * times), type_(content.type()) {
    const int file = memfd_create("samesum", MFD_CLOEXEC);
    bool mapped = file >= 0 && ftruncate(file, static_cast<off_t>(content.bytes())) == 0;
    if (mapped) address_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mapped = mapped && address_ != MAP_FAILED;
    for (std::uint64_t at = 0; at < bytes_ && mapped; at += content.bytes()) {
      mapped = mmap(static_cast<std::byte*>(address_) + at, content.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
               MAP_FAILED;
    }
    if (!mapped) why_not_ = "no address space for " + std::to_string(bytes_) + " bytes: " + std::strerror(errno);
    if (file >= 0) close(file);
    if (mapped) std::memcpy(address_, content.data(), content.bytes());
  }
  ~Repeated() {
    if (address_ != MAP_FAILED) munmap(address_, bytes_);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  /// Why the array could not be created; empty if it was.
  const std::string& why_not() const { return why_not_; }
  Array view() const { return {address_, bytes_ / size_of(type_), type_}; }

 private:
  void* address_ = MAP_FAILED;
  std::uint64_t bytes_;
  DType type_;
  std::string why_not_;
};

}  // namespace samesum::test
