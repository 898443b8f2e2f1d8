// A pipeline of blocks, which are filled in order, processed in parallel, and taken in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace samesum::io {

/// It has its own threads instead of oneTBB's tasks: filling a block may wait for a pipe, and a waiting worker of oneTBB would be missing
/// elsewhere. The number of blocks is the number of threads plus two; their memory is reused.
template <class Block>
class Pipeline {
 public:
  /// `fill` is called for one block at a time, and returns whether that was the last one (which may be empty); `work` is called in any
  /// thread, for several blocks at a time. `cancel` makes a call of `fill` in another thread return soon.
  Pipeline(std::uint32_t threads, std::function<bool(Block&)> fill, std::function<void(Block&)> work, std::function<void()> cancel)
      : thread_count_(threads), fill_(std::move(fill)), work_(std::move(work)), cancel_(std::move(cancel)), slots_(threads + 2) {}

  ~Pipeline() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (!threads_.empty()) cancel_();
    for (std::thread& thread : threads_) thread.join();
  }

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// The next block, valid until the next call; null after the last. Throws what `fill` or `work` threw for it, and so do all later calls.
  Block* next() {
    if (failed_) std::rethrow_exception(failed_);
    try {
      return threads_.empty() && filled_ == 0 ? first() : following();
    } catch (...) {
      failed_ = std::current_exception();
      throw;
    }
  }

 private:
  struct Slot {
    Block block;
    std::uint64_t number = 0;
    bool done = false;
    std::exception_ptr error;
  };

  Block* following() {
    std::unique_lock lock(mutex_);
    if (ended_ && taken_ == filled_) return nullptr;
    ++taken_;  // releases the block taken last
    changed_.notify_all();
    if (ended_ && taken_ == filled_) return nullptr;
    if (threads_.empty()) {
      for (std::uint32_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { run(); });
    }
    Slot& slot = slots_[taken_ % slots_.size()];
    changed_.wait(lock, [&] { return slot.done && slot.number == taken_; });
    if (slot.error) std::rethrow_exception(slot.error);
    return &slot.block;
  }

  // The calling thread processes the first block: if there is no other, no thread is started.
  Block* first() {
    Slot& slot = slots_[0];
    ended_ = fill_(slot.block);
    filled_ = 1;
    work_(slot.block);
    return &slot.block;
  }

  void run() {
    for (;;) {
      Slot* slot = nullptr;
      {
        const std::lock_guard one_at_a_time(fill_mutex_);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopped_ || ended_ || filled_ - taken_ < slots_.size(); });
        if (stopped_ || ended_) return;
        slot = &slots_[filled_ % slots_.size()];
        slot->done = false;
        lock.unlock();
        bool last = true;
        try {
          last = fill_(slot->block);
        } catch (...) {
          slot->error = std::current_exception();
        }
        lock.lock();
        slot->number = filled_++;
        ended_ = last;
      }
      if (!slot->error) {
        try {
          work_(slot->block);
        } catch (...) {
          slot->error = std::current_exception();
        }
      }
      {
        const std::lock_guard lock(mutex_);
        slot->done = true;
      }
      changed_.notify_all();
    }
  }

  std::exception_ptr failed_;  // what next() threw

  const std::uint32_t thread_count_;
  const std::function<bool(Block&)> fill_;
  const std::function<void(Block&)> work_;
  const std::function<void()> cancel_;

  std::mutex fill_mutex_;  // held while a block is filled; taken before mutex_
  std::mutex mutex_;       // for all below
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::uint64_t filled_ = 0;  // blocks
  std::uint64_t taken_ = 0;   // blocks that the caller has finished with
  bool ended_ = false;        // whether the last block is filled
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace samesum::io
