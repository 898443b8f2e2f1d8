// The implementation of emulation.hpp: work-items as fibers, groups as threads, and a memory with delayed effects.
#pragma once

#include <gtest/gtest.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace samesum::dialect {

using uchar = unsigned char;
using uint = std::uint32_t;
using ulong = unsigned long;

/// A meeting point of the members of a group or sub-group: each passes a value and gets those of all.
class Meeting {
 public:
  struct Values {
    std::vector<ulong> each;
    ulong any = 0;  ///< the bits of all: a group of 1024 that looked at each one would take a million steps
  };

  const Values& meet(uint member, uint members, ulong value, const std::function<void()>& wait) {
    const uint turn = turn_;
    Values& values = values_[turn & 1];
    if (arrived_ == 0) values.any = 0;
    values.each.resize(members);
    values.each[member] = value;
    values.any |= value;
    if (++arrived_ == members) {
      arrived_ = 0;
      ++turn_;
    }
    while (turn_ == turn) wait();
    return values;
  }
  /// How often all have met.
  uint turn() const { return turn_; }

 private:
  Values values_[2];
  uint arrived_ = 0;
  uint turn_ = 0;
};

/// A guard: in its scope, each group of a run with up to kMax groups has its own thread.
struct ConcurrentGroups {
  static constexpr uint kMax = 12;
  static inline bool wanted = false;
  static inline bool first_is_late = false;  ///< by more than most runs take
  /// Whether so many groups run one after the other in this scope, too: a case that others have checked without it.
  static bool leave_out(uint groups) { return wanted && !have_threads(groups); }
  static bool have_threads(uint groups) { return wanted && groups > 1 && groups <= kMax; }
  explicit ConcurrentGroups(bool late = false) {
    wanted = true;
    first_is_late = late;
  }
  ~ConcurrentGroups() { wanted = first_is_late = false; }
  ConcurrentGroups(const ConcurrentGroups&) = delete;
  ConcurrentGroups& operator=(const ConcurrentGroups&) = delete;
};

/// Aborts the process, with a message, if a wait takes longer than in any correct kernel.
class Watchdog {
 public:
  void check(const char* what) {
    if (++polls_ % 4096 != 0) return;
    if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(120)) return;
    std::fprintf(stderr, "emulation: %s: waited for two minutes; the kernel hangs\n", what);
    std::_Exit(1);
  }

 private:
  std::uint64_t polls_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A pending change of global memory.
struct Effect {
  enum Kind { add32, add64, max32, store64 };
  void* place;
  ulong value;
  Kind kind;
  uint item = 0, epoch = 0;  ///< the work-item, and how many barriers it had passed

  void happen() const {
    switch (kind) {
      case add32:
        std::atomic_ref(*static_cast<uint*>(place)).fetch_add(static_cast<uint>(value), std::memory_order_relaxed);
        return;
      case add64:
        std::atomic_ref(*static_cast<ulong*>(place)).fetch_add(value, std::memory_order_relaxed);
        return;
      case max32: {
        std::atomic_ref word(*static_cast<uint*>(place));
        uint before = word.load(std::memory_order_relaxed);
        while (before < value && !word.compare_exchange_weak(before, static_cast<uint>(value), std::memory_order_relaxed)) {
        }
        return;
      }
      case store64:
        std::atomic_ref(*static_cast<ulong*>(place)).store(value, std::memory_order_relaxed);
    }
  }
};

/// The state shared by the groups of one run.
struct Launch {
  explicit Launch(uint groups) : bases(groups) {}
  std::atomic<ulong> fences{0};
  std::vector<std::atomic<char*>> bases;  ///< address of each group's local memory
};

inline thread_local char local_memory;  // its address in each thread locates that thread's LOCAL_VARs

/// The device, as seen by the group that runs on this thread.
class Emulation {
 public:
  void run(uint groups, uint size, const std::function<void()>& kernel) {
    Launch launch(groups);
    if (!ConcurrentGroups::have_threads(groups)) {
      begin(launch, groups, size, kernel, false);
      for (group_ = 0; group_ < groups; ++group_) run_group();
      ++runs_;
      return;
    }
    std::vector<std::thread> threads;
    for (uint group = 0; group < groups; ++group) {
      threads.emplace_back([&, group] {
        Emulation& own = *current();
        own.random_ = 0x9e3779b97f4a7c15 * (runs_ * ConcurrentGroups::kMax + group + 1);
        own.begin(launch, groups, size, kernel, true);
        own.group_ = group;
        launch.bases[group] = &local_memory;
        own.run_group();
        while (!own.late_.empty()) own.happen(own.late_.size() - 1);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ++runs_;
  }

  uint item() const { return current_; }
  uint size() const { return static_cast<uint>(items_.size()); }
  uint group() const { return group_; }
  uint groups() const { return groups_; }

  /// The bits of all values.
  ulong meet_group(ulong value) {
    Item& item = items_[current_];
    const bool late = concurrent_ && ConcurrentGroups::first_is_late && group_ == 0;
    if (late && current_ == 0 && item.barriers == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    item.turn = group_meeting_.turn();
    item.at_barrier = true;
    const ulong any = group_meeting_.meet(current_, size(), value, wait_).any;
    item.at_barrier = false;
    item.epoch = ++item.barriers;
    return any;
  }
  const Meeting::Values& meet_subgroup(ulong value) { return meetings_[current_ / 32].meet(current_ % 32, 32, value, wait_); }

  /// Takes effect now, later, or with the next fence of the work-item, or of one that has synchronized with it at a barrier.
  void later(Effect effect) {
    if (!concurrent_) return effect.happen();
    effect.item = current_;
    effect.epoch = items_[current_].epoch;
    late_.push_back(effect);
    if (chance(3) == 0) happen(chance(late_.size()));
  }
  /// An addition whose result is used takes effect at once; earlier ones may still be pending.
  template <class Word>
  Word now(Word* place, Word value) {
    happen_at(place);
    return std::atomic_ref(*place).fetch_add(value, std::memory_order_relaxed);
  }
  ulong load(ulong* place) {
    if (concurrent_) {
      happen_at(place);
      if (!late_.empty() && chance(2) == 0) happen(chance(late_.size()));
      if (chance(8) == 0) std::this_thread::yield();
      watchdog_.check("a load of global memory");
    }
    return std::atomic_ref(*place).load(std::memory_order_relaxed);
  }
  void fence() {
    if (!concurrent_) return;
    for (std::size_t i = 0; i < late_.size();) {
      late_[i].item == current_ || late_[i].epoch < items_[current_].epoch ? happen(i) : void(++i);
    }
    launch_->fences.fetch_add(1, std::memory_order_acq_rel);  // ThreadSanitizer does not support fences
  }

  static Emulation* current();

 private:
  static constexpr std::size_t kStackBytes = 64 << 10;

  struct Item {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;  // its pages cost nothing until they are used
    bool done = false, at_barrier = false;
    uint barriers = 0, epoch = 0, turn = 0;
    void* fiber = nullptr;
    jmp_buf jump{};
    bool started = false;
  };

  static void start();

  void begin(Launch& launch, uint groups, uint size, const std::function<void()>& kernel, bool concurrent) {
    launch_ = &launch;
    kernel_ = &kernel;
    groups_ = groups;
    concurrent_ = concurrent;
    items_.resize(size);
    for (Item& item : items_) {
      if (item.stack == nullptr) item.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    }
    wait_ = [this] { leave(); };
  }

  void run_group() {
    watchdog_ = {};
    group_meeting_ = {};
    meetings_.assign(items_.size() / 32, {});
    enter_scheduler();
    for (Item& item : items_) {
      item.done = item.at_barrier = false;
      item.barriers = item.epoch = 0;
      make_fiber(item);
    }
    // Each sub-group goes on as far as it can before the next one, in one run the first ahead, in the next the last: a barrier that is
    // missing shows.
    const uint count = (size() + 31) / 32;
    for (bool working = true; working;) {
      for (uint i = 0; i < count; ++i) run_subgroup(runs_ % 2 == 0 ? i : count - 1 - i);
      working = std::ranges::any_of(items_, [](const Item& item) { return !item.done; });
      watchdog_.check("work-items at barriers");
    }
    for (Item& item : items_) end_fiber(item);
  }
  void run_subgroup(uint number) {
    for (bool working = true; working;) {
      working = false;
      for (current_ = 32 * number; current_ < std::min(32 * number + 32, size()); ++current_) {
        Item& item = items_[current_];
        if (item.done || (item.at_barrier && item.turn == group_meeting_.turn())) continue;
        enter(item);
        working = true;
      }
      watchdog_.check("work-items of a sub-group");
    }
  }

  static void make_context(Item& item) {
    getcontext(&item.context);
    item.context.uc_stack.ss_sp = item.stack.get();
    item.context.uc_stack.ss_size = kStackBytes;
    item.context.uc_link = nullptr;  // start() switches back itself
    makecontext(&item.context, &Emulation::start, 0);
  }

  // A thread sees its own changes of a word.
  void happen_at(const void* place) {
    for (std::size_t i = 0; i < late_.size();) late_[i].place == place ? happen(i) : void(++i);
  }
  void happen(std::size_t i) {
    late_[i].happen();
    late_[i] = late_.back();
    late_.pop_back();
  }
  void pause(const char* what) {
    watchdog_.check(what);
    std::this_thread::yield();
    leave();
  }
  std::uint64_t chance(std::uint64_t bound) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_ % bound;
  }
  ulong* elsewhere(ulong* place, uint group) const {
    return reinterpret_cast<ulong*>(launch_->bases[group].load() + (reinterpret_cast<char*>(place) - &local_memory));
  }

#if defined(__SANITIZE_THREAD__)
  void* scheduler_fiber_ = nullptr;
  void enter_scheduler() { scheduler_fiber_ = __tsan_get_current_fiber(); }
  // Creating one is slow under ThreadSanitizer: each group reuses its own in later runs, until their call stacks, which never return, are
  // long.
  struct Fiber {
    void* handle = nullptr;
    int uses = 0;
  };
  static inline std::vector<Fiber> fibers_[ConcurrentGroups::kMax + 1];
  void make_fiber(Item& item) {
    make_context(item);
    std::vector<Fiber>& own = fibers_[concurrent_ ? group_ : ConcurrentGroups::kMax];
    const auto i = static_cast<std::size_t>(&item - items_.data());
    if (own.size() <= i) own.resize(items_.size());
    if (own[i].handle != nullptr && ++own[i].uses > 2000) {
      __tsan_destroy_fiber(own[i].handle);
      own[i] = {};
    }
    if (own[i].handle == nullptr) own[i].handle = __tsan_create_fiber(0);
    item.fiber = own[i].handle;
  }
  static void end_fiber(Item&) {}
  void enter(Item& item) {
    __tsan_switch_to_fiber(item.fiber, 0);
    swapcontext(&scheduler_, &item.context);
  }
  void leave() {
    __tsan_switch_to_fiber(scheduler_fiber_, 0);
    swapcontext(&items_[current_].context, &scheduler_);
  }
#elif defined(__SANITIZE_ADDRESS__)
  static void enter_scheduler() {}
  static void make_fiber(Item& item) { make_context(item); }
  static void end_fiber(Item&) {}
  void enter(Item& item) { swapcontext(&scheduler_, &item.context); }
  void leave() { swapcontext(&items_[current_].context, &scheduler_); }
#else
  // A fiber is entered once by its context, then by longjmp, which makes no system call; swapcontext() does, for signals. It stays for the
  // groups and the runs that follow.
  static void enter_scheduler() {}
  static void make_fiber(Item& item) {
    if (!item.started) make_context(item);
  }
  static void end_fiber(Item&) {}
  void enter(Item& item) {
    if (_setjmp(scheduler_jump_) != 0) return;
    if (std::exchange(item.started, true)) _longjmp(item.jump, 1);
    setcontext(&item.context);
  }
  void leave() {
    if (_setjmp(items_[current_].jump) == 0) _longjmp(scheduler_jump_, 1);
  }
  jmp_buf scheduler_jump_{};
#endif

  static inline std::uint64_t runs_ = 0;
  Launch* launch_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  std::vector<Item> items_;
  std::vector<Meeting> meetings_;
  Meeting group_meeting_;
  std::function<void()> wait_;
  ucontext_t scheduler_{};
  std::vector<Effect> late_;
  std::uint64_t random_ = 1;
  Watchdog watchdog_;
  uint group_ = 0;
  uint groups_ = 0;
  uint current_ = 0;
  bool concurrent_ = false;
};

inline thread_local Emulation own_emulation;
inline Emulation* Emulation::current() { return &own_emulation; }
inline Emulation& emulation() { return own_emulation; }

inline void Emulation::start() {
  Emulation& self = emulation();
  for (;;) {  // the next group's kernel, where the fiber is entered again
    (*self.kernel_)();
    self.items_[self.current_].done = true;
    self.leave();
  }
}

/// The result of an atomic addition: if it is unused, the time at which the addition takes effect is arbitrary.
template <class Word>
class Late {
 public:
  Late(Word* place, Word value) : place_(place), value_(value) {}
  ~Late() {
    if (!done_) emulation().later({place_, value_, sizeof(Word) == 4 ? Effect::add32 : Effect::add64});
  }
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;
  operator Word() {
    done_ = true;
    return emulation().now(place_, value_);
  }

 private:
  Word* place_;
  Word value_;
  bool done_ = false;
};

}  // namespace samesum::dialect
