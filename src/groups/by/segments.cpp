// The order of elements by their groups.
#include "groups/by/segments.hpp"

#include "core/threads/chunks.hpp"
#include "groups/axes.hpp"
#include "groups/by/integers.hpp"
#include "groups/index/scatter.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace samesum::groups {

void require_keys(const Array& data, const By& by) {
  if (data.size() == by.elements()) return;
  throw Error(ErrorKind::usage, fmt::format("{} elements, and keys of {}: each element needs one key", data.size(), by.elements()));
}

Array Segments::of(std::uint64_t group) const {
  return {static_cast<const std::byte*>(elements.data()) + offsets[group] * size_of(elements.type()), size(group), elements.type()};
}

std::uint64_t Segments::longest() const noexcept {
  std::uint64_t longest = 0;
  for (std::uint64_t group = 0; group < count(); ++group) longest = std::max(longest, size(group));
  return longest;
}

namespace {

// Counting sort, stable: each thread counts the elements of its part for each group, then moves them.
class Sorting {
 public:
  Sorting(const By& by, std::uint32_t threads)
      : indices_(by.indices()),
        size_(by.elements()),
        groups_(by.groups()),
        parts_(std::min<std::uint64_t>(core::thread_count(size_ * 16, threads), std::max<std::uint64_t>(1, 2 * size_ / (groups_ + 1)))),
        next_(groups_ * parts_) {}

  /// Where each group begins, and where the last one ends.
  std::vector<std::uint64_t> count() {
    struct Outside {
      std::uint64_t place = 0, index = 0;
    };
    std::vector<std::optional<Outside>> outside(parts_);
    for_parts([&](std::uint64_t part, std::uint64_t first, std::span<const std::uint64_t> groups) {
      std::uint64_t* const counts = next_.data() + part * groups_;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] < groups_) {
          ++counts[groups[i]];
        } else if (!outside[part]) {
          outside[part] = {first + i, groups[i]};
        }
      }
    });
    for (const std::optional<Outside>& found : outside) {
      if (found) refuse_index(found->place, found->index, indices_.type(), groups_);
    }
    std::vector<std::uint64_t> offsets(groups_ + 1);
    std::uint64_t at = 0;
    for (std::uint64_t group = 0; group < groups_; ++group) {
      offsets[group] = at;
      for (std::uint64_t part = 0; part < parts_; ++part) at += std::exchange(next_[part * groups_ + group], at);
    }
    offsets[groups_] = at;
    return offsets;
  }

  /// Calls put(to, from) for each element. Behind count(), once.
  template <class Put>
  void move(const Put& put) {
    for_parts([&](std::uint64_t part, std::uint64_t first, std::span<const std::uint64_t> groups) {
      std::uint64_t* const next = next_.data() + part * groups_;
      for (std::size_t i = 0; i < groups.size(); ++i) put(next[groups[i]]++, first + i);
    });
  }

 private:
  template <class Body>
  void for_parts(const Body& body) const {
    core::for_chunks(parts_, static_cast<std::uint32_t>(parts_), 1, [&](std::uint32_t, std::uint64_t part, std::uint64_t) {
      indices_.for_blocks(size_ * part / parts_, size_ * (part + 1) / parts_,
                          [&](std::uint64_t first, std::span<const std::uint64_t> groups) { body(part, first, groups); });
    });
  }

  Integers indices_;
  std::uint64_t size_, groups_, parts_;
  std::vector<std::uint64_t> next_;  // of each part and group: how many elements, then where the next one goes
};

template <std::size_t kBytes>
void move_elements(Sorting& sorting, const void* from, void* to, std::uint64_t* places) {
  sorting.move([&](std::uint64_t at, std::uint64_t index) {
    std::memcpy(static_cast<std::byte*>(to) + at * kBytes, static_cast<const std::byte*>(from) + index * kBytes, kBytes);
    if (places != nullptr) places[at] = index;
  });
}

}  // namespace

Segments segments_of(const Array& data, const By& by, std::uint32_t threads, bool with_places) {
  Segments segments{data, {}, {}, {}};
  if (data.on_device() || !data.contiguous()) {
    segments.copy.emplace(copied_to_host(data));
    segments.elements = segments.copy->array();
  }
  if (const std::span<const std::uint64_t> offsets = by.offsets(); !offsets.empty()) {
    segments.elements = segments.elements.reshaped({data.size()});
    segments.offsets = checked_offsets(segments.elements, Array(offsets), by.groups());
    return segments;
  }
  require_keys(data, by);
  Sorting sorting(by, threads);
  segments.offsets = sorting.count();
  Values sorted(data.type(), {data.size()});
  if (with_places) segments.places.emplace(DType::uint64, std::vector{data.size()});
  auto* const places = with_places ? static_cast<std::uint64_t*>(segments.places->data()) : nullptr;
  const auto move = [&](const auto& elements_of_size) { elements_of_size(sorting, segments.elements.data(), sorted.data(), places); };
  switch (size_of(data.type())) {
    case 1:
      move(move_elements<1>);
      break;
    case 2:
      move(move_elements<2>);
      break;
    case 4:
      move(move_elements<4>);
      break;
    default:
      move(move_elements<8>);
  }
  segments.copy = std::move(sorted);
  segments.elements = segments.copy->array();
  return segments;
}

}  // namespace samesum::groups
