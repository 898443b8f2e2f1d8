// Quantiles of groups: by key, and by segment.
#include "core/float_environment.hpp"
#include "core/visit.hpp"
#include "groups/by/segments.hpp"
#include "quantile/lists.hpp"
#include "quantile/lists_device.hpp"
#include "quantile/select.hpp"

#include <samesum/by.hpp>
#include <samesum/error.hpp>
#include <samesum/quantile.hpp>

#include <fmt/format.h>

#include <optional>
#include <span>
#include <vector>

namespace samesum {
namespace {

using namespace selection;

void refuse_no_elements(std::uint64_t group, std::uint64_t nans) {
  throw Error(ErrorKind::no_answer, fmt::format("there is no quantile of group {}, which is an integer: it has no elements{}", group,
                                                nans != 0 ? " but NaNs" : ""));
}

// Lists whose keys a device has found.
class FoundLists {
 public:
  explicit FoundLists(std::span<const std::uint64_t> offsets) : offsets_(offsets) {}
  std::uint64_t count() const { return offsets_.size() - 1; }
  std::uint64_t size(std::uint64_t list) const { return offsets_[list + 1] - offsets_[list]; }
  void none(std::uint64_t list, std::uint64_t nans, DType type) const {
    if (is_integer(type)) refuse_no_elements(list, nans);
  }

 private:
  std::span<const std::uint64_t> offsets_;
};

// Groups that are longer than what is gathered have no elements here.
class GroupLists {
 public:
  explicit GroupLists(const groups::Segments& segments) : segments_(segments) {}
  std::uint64_t count() const { return segments_.offsets.size() - 1; }
  std::uint64_t all_of(std::uint64_t list) const { return segments_.offsets[list + 1] - segments_.offsets[list]; }
  std::uint64_t size(std::uint64_t list) const { return all_of(list) <= kMaxGathered ? all_of(list) : 0; }
  std::uint64_t elements() const { return segments_.offsets.back() - segments_.offsets.front(); }
  void none(std::uint64_t list, std::uint64_t nans, DType type) const {
    if (is_integer(type) && size(list) == all_of(list)) refuse_no_elements(list, nans);
  }

  template <class Element, class Key>
  void gather(std::uint64_t first, std::size_t count, Spacing spacing, Key* keys, std::uint64_t* nans) const {
    const auto* const elements = static_cast<const std::byte*>(segments_.elements.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const from = elements + segments_.offsets[first + i] * sizeof(Element);
      const std::uint64_t size_of_list = size(first + i);
      nans[i] = 0;
      if (spacing.next == 1) {
        nans[i] = put_keys<Element>(from, size_of_list, keys + i * spacing.list);
        continue;
      }
      for (std::uint64_t j = 0; j < size_of_list; ++j) {
        nans[i] += put_key<Element>(from + j * sizeof(Element), keys[i * spacing.list + j * spacing.next]);
      }
    }
  }

 private:
  const groups::Segments& segments_;
};

}  // namespace

Values quantiles(const Array& data, std::span<const double> q, const By& by, const QuantileRule& rule, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const std::vector<Fraction> fractions = fractions_of(q);
  const DType type = result_type(data.type(), rule);
  const std::uint64_t count = by.groups();
  Values results(type, {q.size(), count});
  auto* const to = static_cast<std::byte*>(results.data());
  const Wish wish{fractions, rule, options.nan, options.tuning.threads, data.type(), to};
  if (const std::optional<FoundGroups> found = keys_on_device(data, by, fractions, rule.method, options.nan)) {
    const FoundLists lists(found->offsets);
    core::visit(data.type(), [&](auto element) { OfLists<decltype(element), FoundLists>(lists, wish).take(found->keys); });
    return results;
  }
  const groups::Segments segments = groups::segments_of(data, by, options.tuning.threads);
  if (results.size() == 0) return results;
  const GroupLists lists(segments);
  core::visit(data.type(), [&](auto element) { OfLists<decltype(element), GroupLists>(lists, wish).find(); });
  Options of_one = options;
  of_one.report = nullptr;
  of_one.device.reset();
  for (std::uint64_t group = 0; group < count; ++group) {
    if (lists.size(group) == lists.all_of(group)) continue;
    try {
      store_alone(segments.of(group), q, rule, of_one, count, to + group * size_of(type));
    } catch (const Error& error) {  // NaNs alone, whose results are there: of no list that is left out
      if (error.kind() != ErrorKind::no_answer) throw;
    }
  }
  return results;
}

Values quantile(const Array& data, double q, const By& by, const QuantileRule& rule, const Options& options) {
  const Values found = quantiles(data, std::span<const double>(&q, 1), by, rule, options);
  Values one(found.type(), {by.groups()});
  std::memcpy(one.data(), found.data(), found.array().bytes());
  return one;
}

Values median(const Array& data, const By& by, const Options& options) { return quantile(data, 0.5, by, {}, options); }

}  // namespace samesum
