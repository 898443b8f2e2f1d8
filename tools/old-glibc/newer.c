/* What g++ 12 and glibc's headers of Debian 12 ask glibc for and 2.28 does not have. Part of the linker's libc.so that prepare.sh makes, so that
   whatever is linked with it finds these where glibc's own are missing. Hidden: nobody else's calls come here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* libstdc++ leaves atomic operations out where this is set (glibc 2.32). */
char __libc_single_threaded = 0;

/* Waits until a time of `clock` (glibc 2.30): of condition variables that wait by the system's time, as libstdc++'s do. A spurious return where
   that one is set meanwhile is what callers of a condition variable expect anyway. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += until->tv_sec - now.tv_sec;
  wall.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) wall.tv_nsec += 1000000000, --wall.tv_sec;
  if (wall.tv_nsec >= 1000000000) wall.tv_nsec -= 1000000000, ++wall.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &wall);
}

/* Random bits for std::random_device (glibc 2.36). */
uint32_t arc4random(void) {
  uint32_t bits;
  if (getentropy(&bits, sizeof bits) != 0) abort();
  return bits;
}

/* The object that an address of code lies in, for exceptions on their way (glibc 2.35). */
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* search = data;
  const ElfW(Phdr)* frames = NULL;
  uintptr_t begin = 0, end = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD && search->address - start < header->p_memsz) begin = start, end = start + header->p_memsz;
    if (header->p_type == PT_GNU_EH_FRAME) frames = header;
  }
  if (end == 0) return 0;
  if (frames == NULL) return -1;
  search->found->dlfo_flags = 0;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_link_map = NULL;  /* which libgcc does not look at */
  search->found->dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

#pragma GCC visibility pop
