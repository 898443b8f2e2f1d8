// Memory that runs out in a program that is started with LD_PRELOAD: behind the start of main(), the allocation of C++ whose number
// SAMESUM_FAKE_MEMORY names fails, and with "+" behind the number all that follow, too. How many there were goes to the file
// SAMESUM_FAKE_MEMORY_COUNT when the program exits.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<bool> started{false};
std::atomic<long> count{0};
long failing = 0;
bool all_that_follow = false;

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

void tell() {
  const char* const path = std::getenv("SAMESUM_FAKE_MEMORY_COUNT");
  std::FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%ld\n", count.load());
  std::fclose(file);
}

int main_with_little_memory(int count_of_arguments, char** arguments, char** environment) {
  if (const char* const number = std::getenv("SAMESUM_FAKE_MEMORY")) {
    failing = std::atol(number);
    all_that_follow = std::strchr(number, '+') != nullptr;
  }
  std::atexit(tell);
  started = true;
  const int code = real_main(count_of_arguments, arguments, environment);
  started = false;
  return code;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (started) {
    const long number = ++count;
    if (failing != 0 && (number == failing || (all_that_follow && number > failing))) throw std::bad_alloc();
  }
  void* const memory =
      alignment == 0 ? std::malloc(size == 0 ? 1 : size) : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" EXPORT int __libc_start_main(Main program, int count_of_arguments, char** arguments, int (*begin)(), void (*end)(), void (*unload)(),
                                        void* stack) {
  real_main = program;
  const auto real = reinterpret_cast<int (*)(Main, int, char**, int (*)(), void (*)(), void (*)(), void*)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(main_with_little_memory, count_of_arguments, arguments, begin, end, unload, stack);
}

EXPORT void* operator new(std::size_t size) { return allocate(size, 0); }
EXPORT void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, static_cast<std::size_t>(alignment)); }
EXPORT void operator delete(void* memory) noexcept { std::free(memory); }
EXPORT void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
EXPORT void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
EXPORT void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
