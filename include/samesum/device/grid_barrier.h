// A barrier over all work-groups of a running kernel, for user kernels in OpenCL C and in CUDA C++. Usable without samesum's library.
//
//   GRID_KERNEL void k(GRID_GLOBAL unsigned int* state, …) {
//     GRID_LOCAL_VAR unsigned int scratch[GRID_BARRIER_LOCAL_WORDS];
//     GridBarrier grid;
//     if (!grid_barrier_begin(&grid, state, scratch)) return;
//     …                                   // use grid.group and grid.groups here, not get_group_id() or blockIdx
//     if (!grid_barrier(&grid)) return;   // what any work-item wrote before it, every work-item reads after it
//     …
//   }
//
// All work-items of a group call each of these functions, and all groups call them equally often. Groups and grids are one-dimensional.
//
// Memory ordering: every write of any work-item to global memory before a barrier happens before everything that any work-item does after
// that barrier has returned true. Plain loads and stores suffice: the caller needs no fence, volatile or atomic.
//
// All groups must be resident at once. samesum::launch_grid() ensures it; docs/barrier.md says how to ensure it without the library. If
// they are not, or a group does not arrive, a watchdog fires: from then on grid_barrier() returns false, to all work-items of a group
// alike, so that the kernel can return; the words below tell the host, and the kernel's results are invalid. It never traps. (A group that
// arrives while the others are timing out may still return true once: all had arrived there.)
//
// `state` is global memory of GRID_BARRIER_STATE_WORDS words, used by one launch at a time. All words are 0 before the first launch, except
// those that the caller sets. Later launches with the same number of groups may reuse it without clearing, until one fails; with
// GRID_BARRIER_DISCOVER the words must be cleared before each launch.
#ifndef SAMESUM_DEVICE_GRID_BARRIER_H
#define SAMESUM_DEVICE_GRID_BARRIER_H

// Words that the caller may set before a launch.
#define GRID_BARRIER_TIME_LIMIT 0  // of the watchdog, in units of 1024 ns; 0: 10 s
#define GRID_BARRIER_POLL_LIMIT 1  // the same for devices without a clock, in units of 1024 polls; 0: about 10 s on a CPU
#define GRID_BARRIER_NO_LIMIT 0xffffffffu
#define GRID_BARRIER_DISCOVER 2  // not 0: each launch finds its resident groups; the others return at once
#define GRID_BARRIER_WANTED 3    // with that: the launch fails if fewer groups are found; 0: any number

// Words to read after a launch. GROUPS is the number of groups that took part; the next three are valid if FAILED is not 0.
#define GRID_BARRIER_GROUPS 8
#define GRID_BARRIER_FAILED 9    // GRID_BARRIER_TIMEOUT or GRID_BARRIER_TOO_FEW
#define GRID_BARRIER_NUMBER 10   // the barrier that failed, counted from 1 in each launch
#define GRID_BARRIER_ARRIVED 11  // how many groups had arrived there
#define GRID_BARRIER_TIMEOUT 1u
#define GRID_BARRIER_TOO_FEW 2u  // fewer groups than WANTED are resident

// How it works. Each group arrives by an atomic addition with release to a counter, and polls it. A counter's first group adds 2^30 less
// the number of the other groups, each of which adds 1: when all have arrived the two top bits have advanced by one and the lower bits are
// zero. So counters are never cleared, may wrap, and one word is both the count and the flag that is polled. Many groups share two
// counters, and wait for both. Polls delay arrivals at a counter, so a group pauses before its first poll for as long as the additions of
// all groups take if they come at once. (Two top bits are needed: one counter can be a barrier ahead of what a slow group is still waiting
// for in the other.) The includer may define the two numbers below, the same for all groups; docs/barrier.md has the measurements behind
// the defaults. OpenCL programs may define GRID_BARRIER_ACQUIRE_FENCE as 1 for NVIDIA's drivers from 570 on: they know an instruction for
// which there is no test in OpenCL C, and with which barriers take 5% less time (samesum's own kernels have it defined).
#ifndef GRID_BARRIER_MANY
#define GRID_BARRIER_MANY 200  // two counters from this number of groups on
#endif
#ifndef GRID_BARRIER_PAUSE
#define GRID_BARRIER_PAUSE 3  // half cycles for each group at a counter, on NVIDIA GPUs
#endif

#define GRID_BARRIER_JOIN 32   // discovery: the number of groups that have joined, and whether joining is closed
#define GRID_BARRIER_FOUND 64  // discovery: how many joined in time
#define GRID_BARRIER_COUNTERS 96
#define GRID_BARRIER_STATE_WORDS 160  // each of these in a cache line of its own
#define GRID_BARRIER_LOCAL_WORDS 5

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__OPENCL_VERSION__)  // hosts need only the words above

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define GRID_KERNEL extern "C" __global__
#if __cplusplus < 201703L
#define GRID_UNUSED __attribute__((unused))
#else
#define GRID_UNUSED [[maybe_unused]]
#endif
#define GRID_FN GRID_UNUSED static __device__ __forceinline__
#define GRID_GLOBAL
#define GRID_LOCAL
#define GRID_LOCAL_VAR __shared__
#define GRID_PTX 1
typedef unsigned long long grid_ulong;
GRID_FN unsigned int grid_local_address(const void* p) { return (unsigned int)__cvta_generic_to_shared(p); }

GRID_FN unsigned int grid_item(void) { return threadIdx.x; }
GRID_FN unsigned int grid_items(void) { return blockDim.x; }
GRID_FN unsigned int grid_launched_group(void) { return blockIdx.x; }
GRID_FN unsigned int grid_launched_groups(void) { return gridDim.x; }
GRID_FN void grid_group_barrier(void) { __syncthreads(); }
#else
#define GRID_KERNEL __kernel
#define GRID_FN static inline __attribute__((always_inline))
#define GRID_GLOBAL __global
#define GRID_LOCAL __local
#define GRID_LOCAL_VAR __local
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_pragma_unroll) || SAMESUM_PTX
#define GRID_PTX 1
#endif
typedef ulong grid_ulong;
GRID_FN unsigned int grid_local_address(const __local void* p) { return (unsigned int)(size_t)p; }

GRID_FN unsigned int grid_item(void) { return (unsigned int)get_local_id(0); }
GRID_FN unsigned int grid_items(void) { return (unsigned int)get_local_size(0); }
GRID_FN unsigned int grid_launched_group(void) { return (unsigned int)get_group_id(0); }
GRID_FN unsigned int grid_launched_groups(void) { return (unsigned int)get_num_groups(0); }
GRID_FN void grid_group_barrier(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
#endif

// --- memory, in the scope of the device -------------------------------------------------------------------------------------------------

#if GRID_PTX && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)
GRID_FN unsigned int grid_load(GRID_GLOBAL unsigned int* p) {
  unsigned int value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
GRID_FN unsigned int grid_load_acquire(GRID_GLOBAL unsigned int* p) {
  unsigned int value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
GRID_FN void grid_store_release(GRID_GLOBAL unsigned int* p, unsigned int value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}
GRID_FN unsigned int grid_add(GRID_GLOBAL unsigned int* p, unsigned int value) {
  unsigned int old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(value) : "memory");
  return old;
}
GRID_FN void grid_add_release(GRID_GLOBAL unsigned int* p, unsigned int value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}
#if defined(__CUDACC_VER_MAJOR__) && !defined(GRID_BARRIER_ACQUIRE_FENCE)
#define GRID_BARRIER_ACQUIRE_FENCE (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208)
#endif
#elif GRID_PTX  // GPUs before Volta have no acquire and release, but volatile accesses bypass the caches
GRID_FN unsigned int grid_load(unsigned int* p) { return *(volatile unsigned int*)p; }
GRID_FN unsigned int grid_load_acquire(unsigned int* p) {
  unsigned int value = *(volatile unsigned int*)p;
  __threadfence();
  return value;
}
GRID_FN void grid_store_release(unsigned int* p, unsigned int value) {
  __threadfence();
  *(volatile unsigned int*)p = value;
}
GRID_FN unsigned int grid_add(unsigned int* p, unsigned int value) {
  __threadfence();
  unsigned int old = atomicAdd(p, value);
  __threadfence();
  return old;
}
GRID_FN void grid_add_release(unsigned int* p, unsigned int value) {
  __threadfence();
  atomicAdd(p, value);
}
#elif __OPENCL_C_VERSION__ >= 200 && \
    (__OPENCL_C_VERSION__ < 300 || (defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device)))
GRID_FN unsigned int grid_load(GRID_GLOBAL unsigned int* p) {
  return atomic_load_explicit((volatile GRID_GLOBAL atomic_uint*)p, memory_order_relaxed, memory_scope_device);
}
GRID_FN unsigned int grid_load_acquire(GRID_GLOBAL unsigned int* p) {
  return atomic_load_explicit((volatile GRID_GLOBAL atomic_uint*)p, memory_order_acquire, memory_scope_device);
}
GRID_FN void grid_store_release(GRID_GLOBAL unsigned int* p, unsigned int value) {
  atomic_store_explicit((volatile GRID_GLOBAL atomic_uint*)p, value, memory_order_release, memory_scope_device);
}
GRID_FN unsigned int grid_add(GRID_GLOBAL unsigned int* p, unsigned int value) {
  return atomic_fetch_add_explicit((volatile GRID_GLOBAL atomic_uint*)p, value, memory_order_acq_rel, memory_scope_device);
}
GRID_FN void grid_add_release(GRID_GLOBAL unsigned int* p, unsigned int value) {
  atomic_fetch_add_explicit((volatile GRID_GLOBAL atomic_uint*)p, value, memory_order_release, memory_scope_device);
}
#else
#error \
    "grid_barrier.h needs atomics that order memory for the whole device: OpenCL C 3.0 with acq_rel and device scope (-cl-std=CL3.0), or PTX"
#endif

// A load that is repeated until a word has the value waited for, and what follows the last of them: together they acquire. A fence that
// acquires is faster than loads that do, each of which empties the first-level cache. PTX has it since version 8.6.
#if GRID_BARRIER_ACQUIRE_FENCE
GRID_FN unsigned int grid_poll(GRID_GLOBAL unsigned int* p) { return grid_load(p); }
GRID_FN void grid_polled(void) { asm volatile("fence.acquire.gpu;" : : : "memory"); }
#else
GRID_FN unsigned int grid_poll(GRID_GLOBAL unsigned int* p) { return grid_load_acquire(p); }
GRID_FN void grid_polled(void) {}
#endif

// --- the barrier ------------------------------------------------------------------------------------------------------------------------

typedef struct GridBarrier {
  unsigned int group;   // the index of this group among those that take part
  unsigned int groups;  // how many take part
  unsigned int number;  // barriers begun in this launch
  // private to the barrier
  unsigned int target;    // the counters' value when all have arrived at the current barrier
  unsigned int waits;     // whether this work-item polls a counter
  unsigned int pause;     // before its first poll, in clock cycles
  unsigned int share;     // what the group adds to its counter
  unsigned int failed;
  unsigned int poison;                // address of scratch in shared memory, on NVIDIA GPUs
  GRID_GLOBAL unsigned int* watched;  // counter polled by this work-item: the first polls the group's own counter, the second the other
  GRID_GLOBAL unsigned int* state;
  GRID_LOCAL unsigned int* scratch;
} GridBarrier;

// The device's clock in units of 1024 ns, wrapping; `counted` on devices without a clock.
GRID_FN unsigned int grid_clock(unsigned int counted) {
#if GRID_PTX
  grid_ulong now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return (unsigned int)(now >> 10);
#else
  return counted;
#endif
}

GRID_FN unsigned int grid_limit(GRID_GLOBAL unsigned int* state) {
#if GRID_PTX
  unsigned int limit = grid_load(&state[GRID_BARRIER_TIME_LIMIT]);
  return limit == 0 ? 9765625u : limit;
#else
  unsigned int limit = grid_load(&state[GRID_BARRIER_POLL_LIMIT]);
  return limit == 0 ? 4000000u : limit;
#endif
}

// Whether a word has reached `target`, wrapping.
GRID_FN bool grid_reached(unsigned int value, unsigned int target) { return (int)(value - target) >= 0; }

GRID_FN GRID_GLOBAL unsigned int* grid_counter_in(GRID_GLOBAL unsigned int* state, unsigned int counter) {
  return &state[GRID_BARRIER_COUNTERS + 32 * counter];
}
GRID_FN GRID_GLOBAL unsigned int* grid_counter(const GridBarrier* grid, unsigned int counter) {
  return grid_counter_in(grid->state, counter);
}

// The number of counters that this many groups share: each needs a work-item to poll it.
GRID_FN unsigned int grid_counters(unsigned int groups) { return groups < GRID_BARRIER_MANY || grid_items() == 1 ? 1 : 2; }

// The number of groups that arrive at a counter.
GRID_FN unsigned int grid_members(unsigned int groups, unsigned int counter) {
  const unsigned int counters = grid_counters(groups);
  return (groups + counters - 1 - counter) >> (counters - 1);
}

// How many of a counter's groups have not arrived, given the `target` that it must reach.
GRID_FN unsigned int grid_missing(GRID_GLOBAL unsigned int* state, unsigned int groups, unsigned int counter, unsigned int target) {
  const unsigned int value = grid_load(grid_counter_in(state, counter));
  if (grid_reached(value, target)) return 0;
  const unsigned int missing = target - value;  // once the first group has added its share; before that 2^30 less the number of arrivals
  const unsigned int others = missing - 0x40000000u + grid_members(groups, counter);
  return missing < others ? missing : others;
}

// How many groups have arrived; all of them where `target` is not a value of the counters, as in a user's own barrier.
GRID_FN unsigned int grid_arrived(GRID_GLOBAL unsigned int* state, unsigned int groups, unsigned int target) {
  unsigned int missing = grid_missing(state, groups, 0, target);
  if (grid_counters(groups) == 2) missing += grid_missing(state, groups, 1, target);
  return missing <= groups ? groups - missing : groups;
}

// Goes on with a wait that has taken 1024 polls, until `*word` has reached `target`. False if the group gives up, because another group has
// failed or the time limit has passed at barrier `number`. (Inlined, as a call would take registers from the kernel.)
GRID_FN bool grid_watch(GRID_GLOBAL unsigned int* word, unsigned int target, GRID_GLOBAL unsigned int* state, unsigned int groups,
                           unsigned int number) {
  const unsigned int limit = grid_limit(state);
  const unsigned int start = grid_clock(0);
  for (unsigned int polls = 1; !grid_reached(grid_poll(word), target); ++polls) {
    if ((polls & 1023) != 0) continue;
    if (grid_load(&state[GRID_BARRIER_FAILED]) != 0) return false;
    if (limit == GRID_BARRIER_NO_LIMIT || grid_clock(polls >> 10) - start < limit) continue;
    grid_store_release(&state[GRID_BARRIER_NUMBER], number);  // atomic: several groups may write it
    grid_store_release(&state[GRID_BARRIER_ARRIVED], grid_arrived(state, groups, target));
    grid_store_release(&state[GRID_BARRIER_FAILED], GRID_BARRIER_TIMEOUT);
    return false;
  }
  return true;
}

// Waits until `*word` has reached `target`. Any instruction more between polls shows in a barrier's time, hence a loop for the watchdog apart.
GRID_FN void grid_wait(const GridBarrier* grid, GRID_GLOBAL unsigned int* word, unsigned int target) {
  unsigned int polls = 0;
  while (!grid_reached(grid_poll(word), target) && ++polls < 1024) {}
  if (polls == 1024 && !grid_watch(word, target, grid->state, grid->groups, grid->number)) grid->scratch[0] = 1;
  grid_polled();
}

// Waits for the given number of clock cycles, if there is such a clock.
GRID_FN void grid_pause(unsigned int cycles) {
#if GRID_PTX
  unsigned int start, now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(start));
  do {
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  } while (now - start < cycles);
#endif
}

// Arrives, and waits for all other groups. It is on the critical path of every work-item: so the addition comes first, its operands are
// computed beforehand, and work-items other than the two that wait execute one instruction. The addition stands under `grid_item() == 0`,
// from which a compiler sees that one work-item executes it.
GRID_FN void grid_meet(const GridBarrier* grid) {
  if (!grid->waits) return;
  if (grid_item() == 0) grid_add_release(grid->watched, grid->share);
  grid_pause(grid->pause);
  grid_wait(grid, grid->watched, grid->target);
}

// Whether a work-item of this group has given up. Inline PTX, as a compiler that knows the address computes it after the group barrier.
GRID_FN unsigned int grid_poisoned(const GridBarrier* grid) {
#if GRID_PTX
  unsigned int poison;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(poison) : "r"(grid->poison) : "memory");
  return poison;
#else
  return grid->scratch[0];
#endif
}

// The barrier for all groups.
GRID_FN bool grid_barrier(GridBarrier* grid) {
  grid->number += 1;
  grid->target += 0x40000000u;
#if GRID_PTX  // keeps the compiler from computing it after the addition
  asm volatile("" : "+r"(grid->target));
#endif
  grid_group_barrier();
  if (!grid->failed) grid_meet(grid);
  grid_group_barrier();
  grid->failed = grid_poisoned(grid);
  return grid->failed == 0;
}

// --- who takes part ---------------------------------------------------------------------------------------------------------------------

#define GRID_CLOSED 0x80000000u

// Finds the resident groups: each joins by an addition to one word. The first group closes joining when all launched groups have joined, or
// when none has joined for a while; groups that come later return, and no other group waits for them. Returns this group's index.
GRID_FN unsigned int grid_discover(GRID_GLOBAL unsigned int* state, unsigned int* groups) {
  const unsigned int launched = grid_launched_groups();
  const unsigned int place = grid_add(&state[GRID_BARRIER_JOIN], 1);
  *groups = 0;
  if (place & GRID_CLOSED) return 0;
  if (place != 0) {
    while (*groups == 0) *groups = grid_load_acquire(&state[GRID_BARRIER_FOUND]);
    *groups &= ~GRID_CLOSED;
    return place;
  }
  unsigned int seen = 0;
  unsigned int since = 0;
  for (unsigned int polls = 1;; ++polls) {
    const unsigned int come = grid_load(&state[GRID_BARRIER_JOIN]);
    const unsigned int now = grid_clock(polls >> 4);  // in 1024 ns, or 16 polls
    if (come == launched) break;
    if (come != seen) {
      seen = come;
      since = now;
    } else if (now - since > 8) {
      break;
    }
  }
  unsigned int found = grid_add(&state[GRID_BARRIER_JOIN], GRID_CLOSED);
  const unsigned int wanted = grid_load(&state[GRID_BARRIER_WANTED]);
  state[GRID_BARRIER_GROUPS] = found;
  if (found < wanted) {
    state[GRID_BARRIER_FAILED] = GRID_BARRIER_TOO_FEW;
    found = 0;
  }
  grid_store_release(&state[GRID_BARRIER_FOUND], found | GRID_CLOSED);
  *groups = found;
  return 0;
}

// Must be called first, once. Returns false if this group does not take part: then all its work-items must return.
GRID_FN bool grid_barrier_begin(GridBarrier* grid, GRID_GLOBAL unsigned int* state, GRID_LOCAL unsigned int* scratch) {
  grid->state = state;
  grid->scratch = scratch;
  grid->number = 0;
  grid->failed = 0;
  if (grid_item() == 0) {
    unsigned int groups = grid_launched_groups();
    unsigned int group = grid_launched_group();
    if (grid_load(&state[GRID_BARRIER_DISCOVER]) != 0) {
      group = grid_discover(state, &groups);
    } else if (group == 0) {
      state[GRID_BARRIER_GROUPS] = groups;
    }
    scratch[0] = grid_load(&state[GRID_BARRIER_FAILED]);
    scratch[1] = group;
    scratch[2] = groups;
    // No barrier can be completed before this group has arrived: its counter's upper bits do not change until then.
    scratch[3] = grid_load(grid_counter_in(state, group & (grid_counters(groups) - 1))) & 0xc0000000u;
    scratch[4] = grid_local_address(scratch);
  }
  grid_group_barrier();
  grid->group = scratch[1];
  grid->groups = scratch[2];
  grid->target = scratch[3];
  grid->poison = scratch[4];
  const unsigned int counters = grid_counters(grid->groups), own = grid->group & (counters - 1);
  grid->waits = grid_item() < counters;
  grid->pause = grid_members(grid->groups, own) * GRID_BARRIER_PAUSE / 2;
  grid->watched = grid_counter(grid, grid_item() == 0 ? own : own ^ 1);
  grid->share = grid->group < counters ? 0x40000001u - grid_members(grid->groups, own) : 1;
#if GRID_PTX  // keeps the compiler from computing them again at each barrier
  asm volatile("" : "+l"(grid->watched), "+r"(grid->share), "+r"(grid->waits), "+r"(grid->pause));
#endif
  const bool takes_part = scratch[0] == 0 && grid->groups != 0;
  grid_group_barrier();
  return takes_part;
}

#endif  // for devices
#endif
