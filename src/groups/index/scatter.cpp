#include "groups/index/scatter.hpp"

#include "core/array/array_blocks.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "groups/axes.hpp"
#include "groups/index/fixed_sums.hpp"
#include "groups/index/split.hpp"

#include <samesum/error.hpp>
#include <samesum/statistics.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace samesum::groups {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::size_t kBatch = 1024, kBatchesAhead = 2;            // elements that are converted at once; whose memory is fetched
constexpr std::uint64_t kPrivateGroups = std::uint64_t{1} << 17;   // up to which each thread has a table of its own
constexpr std::uint64_t kSortedElements = std::uint64_t{1} << 22;  // at once

// What an element is added as: a double, or a 64-bit integer.
template <class Element>
using NumberOf = std::conditional_t<std::is_same_v<Element, std::int64_t> || std::is_same_v<Element, std::uint64_t>, Element, double>;

template <class To, class Element>
void convert(const std::byte* from, std::int64_t stride, std::size_t count, To* to, Element element) {
  if constexpr (std::is_same_v<Element, float> && std::is_same_v<To, double>) {
    if (stride == sizeof element) return to_doubles(reinterpret_cast<const float*>(from), count, to);
  }
  if (stride == sizeof element) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&element, from + i * sizeof element, sizeof element);
      to[i] = static_cast<To>(element);
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&element, from + static_cast<std::int64_t>(i) * stride, sizeof element);
      to[i] = static_cast<To>(element);
    }
  }
}

// Elements and their groups, side by side: as indices, of which a negative one becomes one beyond all groups, or found by the elements'
// numbers, the first of which is `number`.
struct Pairs {
  View values, indices;
  const FoundGroups* found = nullptr;
  std::uint64_t number = 0;

  std::uint64_t size() const noexcept { return values.size(); }
  Pairs part(std::uint64_t first, std::uint64_t count) const noexcept {
    return {values.part(first, count), found != nullptr ? indices : indices.part(first, count), found, number + first};
  }
  // Bytes of memory for each element.
  std::uint64_t bytes() const noexcept {
    std::uint64_t bytes = size_of(values.type());
    if (found == nullptr) return bytes + size_of(indices.type());
    for (const View& view : found->from) bytes += size_of(view.type());
    return bytes;
  }
  // What is read for the elements from number `first` on.
  Ahead ahead(std::uint64_t first) const noexcept {
    Ahead ahead;
    const auto add = [&](const View& view, std::uint64_t at) {
      if (view.contiguous() && at < view.size()) {
        ahead.add(static_cast<const std::byte*>(view.data()) + at * size_of(view.type()), size_of(view.type()));
      }
    };
    add(values, first);
    if (found == nullptr) {
      add(indices, first);
    } else {
      for (const View& view : found->from) add(view, number + first);
    }
    return ahead;
  }
  void load_groups(std::uint64_t first, std::size_t count, std::uint64_t* to) const {
    if (found != nullptr) return found->find(number + first, count, to);
    const auto* const from = static_cast<const std::byte*>(indices.data()) + static_cast<std::int64_t>(first) * indices.stride();
    core::visit(indices.type(), [&](auto element) {
      using Index = decltype(element);
      if constexpr (std::is_integral_v<Index>) convert(from, indices.stride(), count, to, element);
    });
  }
  template <class Number>
  void load_values(std::uint64_t first, std::size_t count, Number* to) const {
    const auto* const from = static_cast<const std::byte*>(values.data()) + static_cast<std::int64_t>(first) * values.stride();
    core::visit(values.type(), [&](auto element) {
      if constexpr (std::is_same_v<NumberOf<decltype(element)>, Number>) convert(from, values.stride(), count, to, element);
    });
  }
};

// Calls body(numbers, groups, count, ahead) for batches of converted elements. Those of no group are left out: `outside` counts them,
// `first` becomes the place of the first.
template <class Number, class Body>
void for_batches(const Pairs& pairs, std::uint64_t groups, std::uint64_t& outside, std::uint64_t& first, const Body& body) {
  alignas(64) Number numbers[kBatch];
  alignas(64) std::uint64_t indices[kBatch];
  for (std::uint64_t done = 0; done < pairs.size(); done += kBatch) {
    std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, pairs.size() - done));
    pairs.load_groups(done, count, indices);
    pairs.load_values(done, count, numbers);
    std::uint64_t beyond = 0;
    if (pairs.found == nullptr) {
      for (std::size_t i = 0; i < count; ++i) beyond += indices[i] >= groups;
    }
    if (beyond != 0) {
      outside += beyond;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (indices[i] >= groups) {
          first = std::min(first, done + i);
          continue;
        }
        numbers[kept] = numbers[i];
        indices[kept++] = indices[i];
      }
      count = kept;
    }
    body(numbers, indices, count, pairs.ahead(done + kBatchesAhead * kBatch));
  }
}

// Whether one of `count` indices is not below `groups`.
template <class Index>
bool any_outside(const std::byte* from, std::int64_t stride, std::uint64_t count, std::uint64_t groups) {
  if (groups == 0) return true;
  // Without its sign a negative index is greater than all others.
  using Bits = std::make_unsigned_t<Index>;
  const auto last = static_cast<Bits>(std::min<std::uint64_t>(groups - 1, std::numeric_limits<Index>::max()));
  unsigned beyond = 0;
  Bits index = 0;
  if (stride == sizeof index) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(&index, from + i * sizeof index, sizeof index);
      beyond |= static_cast<unsigned>(index > last);
    }
  } else {
    for (std::uint64_t i = 0; i < count; ++i, from += stride) {
      std::memcpy(&index, from, sizeof index);
      beyond |= static_cast<unsigned>(index > last);
    }
  }
  return beyond != 0;
}

// The place of the first element of no group; kNone where there is none.
std::uint64_t first_outside(const Pairs& pairs, std::uint64_t groups, std::uint32_t threads) {
  std::vector<std::uint64_t> found(threads, kNone);  // by each task
  const View& indices = pairs.indices;
  core::for_chunks(pairs.size(), threads, std::uint64_t{1} << 16, [&](std::uint32_t task, std::uint64_t begin, std::uint64_t size) {
    const auto* const from = static_cast<const std::byte*>(indices.data()) + static_cast<std::int64_t>(begin) * indices.stride();
    const bool outside = core::visit(indices.type(), [&](auto element) {
      using Index = decltype(element);
      if constexpr (std::is_integral_v<Index>) return any_outside<Index>(from, indices.stride(), size, groups);
      return false;
    });
    if (!outside) return;
    std::uint64_t place = begin, group = 0;
    for (; place < begin + size; ++place) {
      pairs.load_groups(place, 1, &group);
      if (group >= groups) break;
    }
    found[task] = std::min(found[task], place);
  });
  return *std::ranges::min_element(found);
}

// Gives the elements of two arrays of one shape side by side, in parts.
template <class Body>
void for_pairs(const Array& values, const Array& indices, const Body& body) {
  core::ArrayBlocks value_blocks(values, core::Order::index), index_blocks(indices, core::Order::index);
  View a(nullptr, 0, values.type()), b(nullptr, 0, indices.type());
  for (std::uint64_t left = values.size(); left != 0;) {
    if (a.size() == 0) a = *value_blocks.next();
    if (b.size() == 0) b = *index_blocks.next();
    const std::uint64_t count = std::min(a.size(), b.size());
    body(Pairs{a.part(0, count), b.part(0, count)});
    a = a.part(count, a.size() - count);
    b = b.part(count, b.size() - count);
    left -= count;
  }
}

// Adds batches to groups [first, first + count) of a table: as integers, where there are many elements and this is a way to what is wanted.
// `narrow`: elements have 24 bits, or 32.
template <class Number>
class Adder {
 public:
  Adder(Table& to, bool narrow, std::uint64_t elements, std::uint64_t first, std::uint64_t count) : to_(to) {
    if (!std::is_same_v<Number, double> || to.has_extrema() || elements < 4 * count) return;
    if (!narrow && !to.has_squares()) sums_.template emplace<FixedSums<true, false>>(to, first, count);
    if (!narrow && to.has_squares()) sums_.template emplace<FixedSums<true, true>>(to, first, count);
    if (narrow && !to.has_squares()) sums_.template emplace<FixedSums<false, false>>(to, first, count);
    if (narrow && to.has_squares()) sums_.template emplace<FixedSums<false, true>>(to, first, count);
  }
  void add(const Number* numbers, const std::uint64_t* groups, std::size_t count, const Ahead& ahead) {
    if constexpr (std::is_same_v<Number, double>) {
      std::visit(
          [&](auto& sums) {
            if constexpr (std::is_same_v<std::decay_t<decltype(sums)>, std::monostate>) {
              to_.add(numbers, groups, count);
            } else {
              sums.add(numbers, groups, count, ahead);
            }
          },
          sums_);
    } else {
      to_.add(numbers, groups, count);
    }
  }
  void finish() {
    std::visit(
        [](auto& sums) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(sums)>, std::monostate>) sums.flush();
        },
        sums_);
  }

 private:
  Table& to_;
  std::variant<std::monostate, FixedSums<true, false>, FixedSums<true, true>, FixedSums<false, false>, FixedSums<false, true>> sums_;
};

bool is_narrow(const Pairs& pairs) { return size_of(pairs.values.type()) <= 4; }

// Whether a table for each thread is worthwhile, with so many elements for each group.
bool takes_tables(const Table& to, const Pairs& pairs, std::uint64_t elements) {
  return to.groups() <= kPrivateGroups && pairs.size() >= elements * to.groups();
}

// Each thread adds to a table of its own; these are merged into `to`, by all threads. If `whole` is set and some elements have no group,
// nothing is added, and the result is false.
template <class Number>
bool add_with_tables(Table& to, const Pairs& pairs, std::uint32_t threads, std::uint64_t& outside, bool whole) {
  struct Own {
    Own(const Table& like, bool narrow, std::uint64_t elements)
        : table(like.groups(), like.has_squares(), like.has_extrema()), adder(table, narrow, elements, 0, like.groups()) {}
    Table table;
    Adder<Number> adder;
  };
  std::vector<std::unique_ptr<Own>> tables(threads);
  std::vector<std::uint64_t> left_out(threads, 0);
  const std::uint64_t each = pairs.bytes(), chunk = core::chunk_size(pairs.size() * each, each, threads);
  core::for_chunks(pairs.size(), threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
    std::unique_ptr<Own>& own = tables[task];
    if (!own) own = std::make_unique<Own>(to, is_narrow(pairs), pairs.size() / threads);
    std::uint64_t unused = kNone;
    for_batches<Number>(pairs.part(first, count), to.groups(), left_out[task], unused,
                        [&](const Number* numbers, const std::uint64_t* groups, std::size_t size, const Ahead& ahead) {
                          own->adder.add(numbers, groups, size, ahead);
                        });
  });
  core::for_chunks(threads, threads, 1, [&](std::uint32_t, std::uint64_t i, std::uint64_t) {
    if (tables[i]) tables[i]->adder.finish();
  });
  const std::uint64_t beyond = std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0});
  if (whole && beyond != 0) return false;
  outside += beyond;
  const std::uint64_t range = std::uint64_t{1} << to.range_bits();
  constexpr std::uint64_t kMany = 1024;  // to merge
  core::for_chunks(to.groups(), to.groups() > kMany ? threads : 1, range, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    for (const std::unique_ptr<Own>& own : tables) {
      if (!own) continue;
      for (std::uint64_t group = first; group < first + count; ++group) to.merge(group, own->table, group);
    }
  });
  return true;
}

// Elements are sorted by ranges of groups, and each range is added up by one thread.
template <class Number>
class Sorter {
 public:
  Sorter(Table& to, std::uint32_t threads) : to_(to), threads_(threads) {}

  void add(const Pairs& pairs, std::uint64_t& outside) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
    const std::uint64_t pieces = (pairs.size() + kPiece - 1) / kPiece, ranges = to_.ranges();
    const std::uint32_t bits = to_.range_bits();
    std::vector<std::uint64_t> places(pieces * ranges, 0), left_out(pieces, 0);
    const auto walk = [&](std::uint64_t piece, std::uint64_t& beyond, const auto& body) {
      const std::uint64_t first = piece * kPiece;
      std::uint64_t unused = kNone;
      for_batches<Number>(pairs.part(first, std::min(kPiece, pairs.size() - first)), to_.groups(), beyond, unused, body);
    };
    core::for_chunks(pieces, threads_, 1, [&](std::uint32_t, std::uint64_t piece, std::uint64_t) {
      std::uint64_t* const counts = places.data() + piece * ranges;
      walk(piece, left_out[piece], [&](const Number*, const std::uint64_t* groups, std::size_t size, const Ahead&) {
        for (std::size_t i = 0; i < size; ++i) ++counts[groups[i] >> bits];
      });
    });
    std::vector<std::uint64_t> begins(ranges + 1);
    std::uint64_t total = 0;
    for (std::uint64_t range = 0; range < ranges; ++range) {
      begins[range] = total;
      for (std::uint64_t piece = 0; piece < pieces; ++piece) total += std::exchange(places[piece * ranges + range], total);
    }
    begins[ranges] = total;
    numbers_.resize(std::max<std::size_t>(numbers_.size(), total));
    groups_.resize(numbers_.size());
    core::for_chunks(pieces, threads_, 1, [&](std::uint32_t, std::uint64_t piece, std::uint64_t) {
      std::uint64_t* const next = places.data() + piece * ranges;
      std::uint64_t unused = 0;
      walk(piece, unused, [&](const Number* numbers, const std::uint64_t* groups, std::size_t size, const Ahead&) {
        for (std::size_t i = 0; i < size; ++i) {
          const std::uint64_t place = next[groups[i] >> bits]++;
          numbers_[place] = numbers[i];
          groups_[place] = groups[i];
        }
      });
    });
    core::for_chunks(ranges, threads_, 1, [&](std::uint32_t, std::uint64_t range, std::uint64_t) {
      const std::uint64_t elements = begins[range + 1] - begins[range], first = range << bits;
      Adder<Number> adder(to_, is_narrow(pairs), elements, first, std::min(std::uint64_t{1} << bits, to_.groups() - first));
      adder.add(numbers_.data() + begins[range], groups_.data() + begins[range], elements, Ahead());
      adder.finish();
    });
    outside += std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0});
  }

 private:
  Table& to_;
  std::uint32_t threads_;
  std::vector<Number> numbers_;
  std::vector<std::uint64_t> groups_;
};

template <class Number>
void add_pairs(Table& to, const Pairs& pairs, std::uint32_t threads, std::uint64_t& outside) {
  if (threads > 1 && takes_tables(to, pairs, 4)) {
    add_with_tables<Number>(to, pairs, threads, outside, false);
    return;
  }
  if (threads > 1 && to.ranges() > 1 && pairs.size() >= 16 * to.ranges()) {
    Sorter<Number> sorter(to, threads);
    for (std::uint64_t first = 0; first < pairs.size(); first += kSortedElements) {
      sorter.add(pairs.part(first, std::min(kSortedElements, pairs.size() - first)), outside);
    }
    return;
  }
  std::uint64_t unused = kNone;
  Adder<Number> adder(to, is_narrow(pairs), pairs.size(), 0, to.groups());
  for_batches<Number>(pairs, to.groups(), outside, unused,
                      [&](const Number* numbers, const std::uint64_t* groups, std::size_t size, const Ahead& ahead) {
                        adder.add(numbers, groups, size, ahead);
                      });
  adder.finish();
}

// Groups of neighbouring elements: each by one thread, but for long ones, which all threads add up one after the other.
template <class Number>
void add_parts(Table& to, View values, std::span<const std::uint64_t> offsets, std::uint32_t threads) {
  constexpr std::uint64_t kLong = std::uint64_t{1} << 16;
  const Fields fields{to.has_extrema(), true, to.has_squares(), false};
  Options options;
  options.device = Device::open("cpu");
  options.tuning.threads = threads;
  for (std::uint64_t group = 0; group < to.groups(); ++group) {
    const std::uint64_t size = offsets[group + 1] - offsets[group];
    if (size >= kLong) to.merge(group, collect(values.part(offsets[group], size), fields, options));
  }
  const std::uint64_t range = std::uint64_t{1} << to.range_bits();
  core::for_chunks(to.groups(), threads, range, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    alignas(64) Number numbers[kBatch];
    std::uint64_t at = 0, loaded = 0;  // the elements that `numbers` has
    for (std::uint64_t group = first; group < first + count; ++group) {
      const std::uint64_t end = offsets[group + 1];
      if (end - offsets[group] >= kLong) continue;
      for (std::uint64_t i = offsets[group]; i < end;) {
        if (i < at || i >= at + loaded) {
          at = i;
          loaded = std::min<std::uint64_t>(kBatch, offsets[first + count] - i);
          Pairs{values, values}.load_values(at, static_cast<std::size_t>(loaded), numbers);
        }
        const std::uint64_t stop = std::min(end, at + loaded);
        to.add_run(numbers + (i - at), static_cast<std::size_t>(stop - i), group);
        i = stop;
      }
    }
  });
}

// An integer of an index's type, loaded as one of 64 bits.
std::string shown(std::uint64_t bits, DType type) {
  return is_signed(type) ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
}

}  // namespace

void require_pairs(const Array& values, const Array& indices) {
  if (!std::ranges::equal(values.shape(), indices.shape())) {
    throw Error(ErrorKind::usage, fmt::format("values of shape ({}) and indices of shape ({}): each value needs one index",
                                              fmt::join(values.shape(), ", "), fmt::join(indices.shape(), ", ")));
  }
  if (!is_integer(indices.type())) {
    throw Error(ErrorKind::usage, fmt::format("groups are numbered by integers, and these indices are {}", name_of(indices.type())));
  }
}

bool on_one_device(const Array& values, const Array& indices) {
  return values.on_device() && indices.on_device() &&
         &values.buffer().device().implementation() == &indices.buffer().device().implementation();
}

void refuse_index(std::uint64_t place, std::uint64_t index, DType type, std::uint64_t groups) {
  const std::string there = groups == 1 ? "is one group, 0" : fmt::format("are {} groups, numbered from 0", groups);
  throw Error(ErrorKind::usage, fmt::format("element {} has the index {}, and there {}", place, shown(index, type), there));
}

void scatter(Table& to, const Array& values, const Array& indices, const GroupOptions& options, std::uint64_t& outside) {
  if (values.on_device()) return scatter(to, copied_to_host(values).array(), indices, options, outside);
  if (indices.on_device()) return scatter(to, values, copied_to_host(indices).array(), options, outside);

  const std::uint32_t threads = core::thread_count(values.bytes() + indices.bytes(), options.threads);
  const auto require_inside = [&](const Pairs& pairs, std::uint64_t before) {
    const std::uint64_t place = first_outside(pairs, to.groups(), threads);
    if (place == kNone) return;
    std::uint64_t group = 0;
    pairs.load_groups(place, 1, &group);
    refuse_index(before + place, group, indices.type(), to.groups());
  };
  if (!options.ignore_outside && values.contiguous() && indices.contiguous()) {
    // In one pass: where an element has no group, tables beside this one are dropped.
    const Pairs pairs{View(values.data(), values.size(), values.type()), View(indices.data(), indices.size(), indices.type())};
    if (takes_tables(to, pairs, 16)) {
      const bool added = core::visit(
          values.type(), [&](auto element) { return add_with_tables<NumberOf<decltype(element)>>(to, pairs, threads, outside, true); });
      return added ? void() : require_inside(pairs, 0);
    }
  }
  if (!options.ignore_outside) {  // before anything is added
    std::uint64_t before = 0;
    for_pairs(values, indices, [&](const Pairs& pairs) {
      require_inside(pairs, before);
      before += pairs.size();
    });
  }
  for_pairs(values, indices, [&](const Pairs& pairs) {
    core::visit(values.type(), [&](auto element) { add_pairs<NumberOf<decltype(element)>>(to, pairs, threads, outside); });
  });
}

void scatter(Table& to, const Array& values, const FoundGroups& found, std::uint32_t threads) {
  std::uint64_t number = 0, outside = 0;
  core::for_blocks(values, core::Order::index, [&](View block) {
    const Pairs pairs{block, View(nullptr, 0, DType::uint32), &found, number};
    const std::uint32_t used = core::thread_count(values.size() * pairs.bytes(), threads);
    core::visit(values.type(), [&](auto element) { add_pairs<NumberOf<decltype(element)>>(to, pairs, used, outside); });
    number += block.size();
  });
}

std::vector<std::uint64_t> checked_offsets(const Array& values, const Array& offsets, std::uint64_t groups) {
  if (values.rank() != 1 || offsets.rank() != 1) throw Error(ErrorKind::usage, "segments are parts of one axis, and so are their offsets");
  if (offsets.size() != groups + 1) {
    throw Error(ErrorKind::usage, fmt::format("{} offsets for {} groups: there is one more than groups", offsets.size(), groups));
  }
  if (!is_integer(offsets.type())) {
    throw Error(ErrorKind::usage, fmt::format("offsets are integers, and these are {}", name_of(offsets.type())));
  }
  if (offsets.on_device()) return checked_offsets(values, copied_to_host(offsets).array(), groups);
  std::vector<std::uint64_t> places(offsets.size());
  Pairs{offsets, offsets}.load_groups(0, places.size(), places.data());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string offset = places[i] > values.size() || (i > 0 && places[i] < places[i - 1]) ? shown(places[i], offsets.type()) : "";
    if (places[i] > values.size()) {
      throw Error(ErrorKind::usage, fmt::format("offset {} is {}, and there are {} elements", i, offset, values.size()));
    }
    if (!offset.empty()) throw Error(ErrorKind::usage, fmt::format("offset {} is {}, less than the one before it", i, offset));
  }
  return places;
}

void add_segments(Table& to, const Array& values, std::span<const std::uint64_t> offsets, std::uint32_t threads) {
  if (values.on_device()) return add_segments(to, copied_to_host(values).array(), offsets, threads);
  const std::uint32_t used = core::thread_count(values.bytes(), threads);
  core::visit(values.type(), [&](auto element) { add_parts<NumberOf<decltype(element)>>(to, values, offsets, used); });
}

}  // namespace samesum::groups
