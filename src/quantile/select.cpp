#include "quantile/select.hpp"

#include "core/float_environment.hpp"
#include "core/threads/chunks.hpp"
#include "core/view.hpp"
#include "core/visit.hpp"
#include "quantile/ranks.hpp"
#include "reduce/cpu/term_blocks.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace samesum::selection {
namespace {

constexpr std::size_t kMaxCounters = 16;  // buckets whose next digit is counted in one pass

using Counts = std::vector<std::uint64_t>;

// Calls body(key) for the elements of `part` that are not NaN; returns how many are NaN. Ignores types whose size is not the key's.
template <class Key, class Body>
std::uint64_t for_each_key(View part, const Body& body) {
  return core::visit(part.type(), [&](auto element) {
    using Element = decltype(element);
    std::uint64_t nan_count = 0;
    if constexpr (std::is_same_v<Key, WideKey> || sizeof(Element) == sizeof(Key)) {
      const auto* const from = static_cast<const std::byte*>(part.data());
      for (std::uint64_t i = 0; i < part.size(); ++i) {
        std::memcpy(&element, from + i * sizeof element, sizeof element);
        if (is_nan(element)) {
          ++nan_count;
        } else {
          body(key_of<Key>(element));
        }
      }
    }
    return nan_count;
  });
}

template <class Key>
class Selection {
 public:
  Selection(const Pass& pass, std::optional<DType> type, std::uint32_t threads) : pass_(pass), type_(type), threads_(threads) {}

  Selected run(const Ranks& ranks) {
    count_first_digits();
    const std::vector<std::uint64_t> wanted = ranks(count_ - nans_, nans_);
    found_.resize(wanted.size());
    Bucket all{0, 0, count_ - nans_, {}};
    for (std::size_t i = 0; i < wanted.size(); ++i) all.wanted.push_back({wanted[i], i});
    if (gathering_) {
      finish(all, std::move(gathered_));
    } else if (!wanted.empty()) {
      split(all, first_digits_);
    }
    while (!open_.empty()) refine();
    Selected selected{count_, nans_, {}};
    for (const Key key : found_) selected.values.push_back(value(key));
    return selected;
  }

 private:
  static constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits<Key>;

  // The elements whose keys have the same leading digits.
  struct Bucket {
    Key prefix;
    int digits;
    std::uint64_t size;
    std::vector<Wanted> wanted;  // ascending

    int shift() const noexcept { return kKeyBits<Key> - digits * kDigitBits<Key>; }
  };

  static std::size_t digit(Key key, int index) noexcept {
    return static_cast<std::size_t>(key >> (kKeyBits<Key> - (index + 1) * kDigitBits<Key>)) & (kBuckets - 1);
  }

  Value value(Key key) const {
    if constexpr (std::is_same_v<Key, WideKey>) {
      return value_of(key, integers_);
    } else {
      return value_of(std::uint64_t{key}, *type_);
    }
  }

  using OfPart = core::FunctionRef<void(std::uint32_t, View)>;

  // Calls body(task, part) in parallel for parts of a piece.
  static void for_parts(const Piece& piece, std::uint32_t threads, OfPart body) {
    if (piece.terms == nullptr) {
      core::for_chunks(piece.size(), threads, core::chunk_size(piece.bytes(), size_of(piece.type()), threads),
                       [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) { body(task, piece.view.part(first, count)); });
      return;
    }
    piece.terms->prepare(threads);
    statistics::for_term_blocks(*piece.terms, threads,
                                [&](std::uint32_t task, const std::byte* values, std::uint64_t, std::uint64_t count) {
                                  body(task, View(values, count, piece.type()));
                                });
  }

  // The same by all threads, after make_tasks(their number).
  void in_parallel(const Piece& piece, core::FunctionRef<void(std::uint32_t)> make_tasks, OfPart body) const {
    const std::uint32_t threads = core::thread_count(piece.bytes(), threads_);
    make_tasks(threads);
    for_parts(piece, threads, body);
  }

  void check(const Piece& piece) const {
    if (type_ && piece.type() != *type_) {
      throw Error(ErrorKind::usage, fmt::format("elements of {} among those of {}", name_of(piece.type()), name_of(*type_)));
    }
  }

  // Stores all keys while they are few; then counts their digits.
  void count_first_digits() {
    struct Task {
      Counts counts = Counts(kBuckets);
      std::uint64_t nan_count = 0;
    };
    std::vector<Task> tasks;
    const auto make_tasks = [&](std::uint32_t threads) { tasks.resize(std::max<std::size_t>(tasks.size(), threads)); };
    pass_([&](const Piece& piece) {
      check(piece);
      count_ += piece.size();
      integers_ = integers_ && is_integer(piece.type());
      if (gathering_ && count_ <= kMaxGathered) {
        for_parts(piece, 1,
                  [&](std::uint32_t, View part) { nans_ += for_each_key<Key>(part, [&](Key key) { gathered_.push_back(key); }); });
        return;
      }
      in_parallel(piece, make_tasks, [&](std::uint32_t index, View part) {
        std::uint64_t* const counts = tasks[index].counts.data();
        tasks[index].nan_count += for_each_key<Key>(part, [&](Key key) { ++counts[digit(key, 0)]; });
      });
      if (std::exchange(gathering_, false)) {
        for (const Key key : std::exchange(gathered_, {})) ++tasks[0].counts[digit(key, 0)];
      }
    });
    if (gathering_) return;
    first_digits_.assign(kBuckets, 0);
    for (const Task& task : tasks) {
      nans_ += task.nan_count;
      for (std::size_t i = 0; i < kBuckets; ++i) first_digits_[i] += task.counts[i];
    }
  }

  // The parts of `bucket` that contain ranks, by the counts of its next digit.
  void split(const Bucket& bucket, const Counts& counts) {
    std::uint64_t before = 0;
    auto next = bucket.wanted.begin();
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const std::uint64_t end = before + counts[i];
      Bucket part{static_cast<Key>(bucket.prefix << (bucket.digits == 0 ? 0 : kDigitBits<Key>) | i), bucket.digits + 1, counts[i], {}};
      for (; next != bucket.wanted.end() && next->rank < end; ++next) part.wanted.push_back({next->rank - before, next->index});
      before = end;
      if (part.wanted.empty()) continue;
      if (part.digits < kDigits<Key>) {
        open_.push_back(std::move(part));
      } else {
        for (const Wanted& wanted : part.wanted) found_[wanted.index] = part.prefix;
      }
    }
    if (before != bucket.size) changed();
  }

  // Finds the ranks in `bucket`, given all its keys.
  void finish(const Bucket& bucket, std::vector<Key> keys) {
    if (keys.size() != bucket.size) changed();
    find_ranks(std::move(keys), bucket.wanted, found_);
  }

  // The buckets processed in one pass: small ones are gathered, and for some others the next digit is counted.
  struct Work {
    std::vector<Bucket> gathered, counted;
    // By the first digit of keys: 1 + the first bucket that begins with it, 0 for none. `next` links further ones.
    std::vector<std::uint32_t> first = std::vector<std::uint32_t>(kBuckets);
    std::vector<std::uint32_t> next = {};

    const Bucket& operator[](std::size_t i) const { return i < gathered.size() ? gathered[i] : counted[i - gathered.size()]; }
  };

  Work take_work() {
    Work work;
    std::vector<Bucket> later;
    std::uint64_t room = kMaxGathered;
    for (Bucket& bucket : open_) {
      if (bucket.size <= room) {
        room -= bucket.size;
        work.gathered.push_back(std::move(bucket));
      } else if (work.counted.size() < kMaxCounters) {
        work.counted.push_back(std::move(bucket));
      } else {
        later.push_back(std::move(bucket));
      }
    }
    open_ = std::move(later);
    const std::size_t count = work.gathered.size() + work.counted.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto top = static_cast<std::size_t>(work[i].prefix >> ((work[i].digits - 1) * kDigitBits<Key>));
      work.next.push_back(std::exchange(work.first[top], static_cast<std::uint32_t>(i + 1)));
    }
    return work;
  }

  void refine() {
    const Work work = take_work();
    struct Task {
      std::vector<std::vector<Key>> gathered;
      std::vector<Counts> counts;
      std::uint64_t nan_count = 0;
    };
    std::vector<Task> tasks;
    const auto make_tasks = [&](std::uint32_t threads) {
      while (tasks.size() < threads) {
        tasks.push_back({std::vector<std::vector<Key>>(work.gathered.size()), {}, 0});
        tasks.back().counts.assign(work.counted.size(), Counts(kBuckets));
      }
    };
    make_tasks(1);
    std::uint64_t count = 0, nan_count = 0;
    pass_([&](const Piece& piece) {
      check(piece);
      count += piece.size();
      in_parallel(piece, make_tasks, [&](std::uint32_t index, View part) {
        Task& task = tasks[index];
        task.nan_count += for_each_key<Key>(part, [&](Key key) {
          for (std::uint32_t i = work.first[digit(key, 0)]; i != 0; i = work.next[i - 1]) {
            const Bucket& bucket = work[i - 1];
            if (key >> bucket.shift() != bucket.prefix) continue;
            if (i <= work.gathered.size()) {
              // One more than expected proves that the data have changed; memory stays bounded.
              if (task.gathered[i - 1].size() <= bucket.size) task.gathered[i - 1].push_back(key);
            } else {
              ++task.counts[i - 1 - work.gathered.size()][digit(key, bucket.digits)];
            }
            break;
          }
        });
      });
    });
    for (const Task& task : tasks) nan_count += task.nan_count;
    if (count != count_ || nan_count != nans_) changed();

    for (std::size_t i = 0; i < work.gathered.size(); ++i) {
      std::vector<Key> keys;
      for (Task& task : tasks) {
        keys.insert(keys.end(), task.gathered[i].begin(), task.gathered[i].end());
        task.gathered[i] = {};
      }
      finish(work.gathered[i], std::move(keys));
    }
    for (std::size_t i = 0; i < work.counted.size(); ++i) {
      Counts counts = std::move(tasks[0].counts[i]);
      for (std::size_t task = 1; task < tasks.size(); ++task) {
        for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) counts[bucket] += tasks[task].counts[i][bucket];
      }
      split(work.counted[i], counts);
    }
  }

  const Pass& pass_;
  const std::optional<DType> type_;
  const std::uint32_t threads_;

  std::uint64_t count_ = 0, nans_ = 0;
  bool integers_ = true;   // whether all elements are
  bool gathering_ = true;  // whether all keys are in `gathered_`,
  std::vector<Key> gathered_;
  Counts first_digits_;  // or the counts of their first digits are here
  std::vector<Bucket> open_;
  std::vector<Key> found_;
};

}  // namespace

void changed() {
  throw Error(ErrorKind::usage, "two passes over the data did not find the same elements: were they changed meanwhile? Run again");
}

Selected select(const Pass& pass, std::optional<DType> type, std::uint32_t threads, const Ranks& ranks) {
  const core::DefaultFloatEnvironment environment;
  switch (type ? size_of(*type) : 0) {
    case 1:
      return Selection<std::uint8_t>(pass, type, threads).run(ranks);
    case 2:
      return Selection<std::uint16_t>(pass, type, threads).run(ranks);
    case 4:
      return Selection<std::uint32_t>(pass, type, threads).run(ranks);
    case 8:
      return Selection<std::uint64_t>(pass, type, threads).run(ranks);
    default:
      return Selection<WideKey>(pass, type, threads).run(ranks);
  }
}

}  // namespace samesum::selection
