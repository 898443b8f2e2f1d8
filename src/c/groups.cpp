// Sums by key, by index and by segment, and scans, of the C interface.
#include "c/formulas.hpp"
#include "c/handles.hpp"

#include <samesum/by_formula.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/scan.hpp>

#include <type_traits>
#include <vector>

using namespace samesum;
using namespace samesum::c;

struct samesum_groups {
  By value;
};
struct samesum_group_sums {
  GroupSums value;
};

namespace {

GroupOptions keeping(uint32_t keep, const samesum_options* options) {
  constexpr uint32_t kKnown = SAMESUM_KEEP_SQUARES | SAMESUM_KEEP_EXTREMA | SAMESUM_IGNORE_OUTSIDE | SAMESUM_NO_COUNTS;
  if ((keep & ~kKnown) != 0) refuse("'keep' is " + std::to_string(keep) + ": it has bits that mean nothing");
  return {.squares = (keep & SAMESUM_KEEP_SQUARES) != 0,
          .extrema = (keep & SAMESUM_KEEP_EXTREMA) != 0,
          .counts = (keep & SAMESUM_NO_COUNTS) == 0,
          .ignore_outside = (keep & SAMESUM_IGNORE_OUTSIDE) != 0,
          .threads = options_of(options).tuning.threads};
}

Values results_of(const GroupSums& sums, samesum_group_result which, std::uint64_t ddof, NanPolicy nan) {
  switch (which) {
    case SAMESUM_GROUP_SUM:
      return sums.sums(nan);
    case SAMESUM_GROUP_SQUARED_NORM:
      return sums.squares(nan);
    case SAMESUM_GROUP_MEAN:
      return sums.means(nan);
    case SAMESUM_GROUP_VARIANCE:
      return sums.variances(ddof, nan);
    case SAMESUM_GROUP_MIN:
      return sums.minima(nan);
    case SAMESUM_GROUP_MAX:
      return sums.maxima(nan);
    case SAMESUM_GROUP_COUNT:
      return sums.counts();
    case SAMESUM_GROUP_STANDARD_DEVIATION:
      return sums.standard_deviations(ddof, nan);
    case SAMESUM_GROUP_NORM:
      return sums.norms(nan);
  }
  refuse("there is no result " + std::to_string(static_cast<int>(which)) + " of groups");
}

void copy_components(const std::vector<Values>& results, const samesum_array* to, std::size_t count) {
  need(to, count, "to");
  if (count != results.size()) {
    refuse("the operator gives " + std::to_string(results.size()) + " numbers, and there are " + std::to_string(count) + " arrays for them");
  }
  for (std::size_t k = 0; k < count; ++k) copy(results[k].array(), to + k);
}

}  // namespace

static_assert(std::has_unique_object_representations_v<samesum_scan_options>);  // copy_of() compares them
static_assert(static_cast<int>(SAMESUM_SCAN_COUNT_NONZERO) == static_cast<int>(ScanOperation::count_nonzero));

extern "C" {

samesum_status samesum_groups_by_key(const samesum_array* keys, int first_seen, samesum_groups** groups) {
  return give(groups, [&] { return by(array_of(keys), first_seen != 0 ? KeyOrder::first_seen : KeyOrder::sorted); });
}
samesum_status samesum_groups_by_index(const samesum_array* indices, uint64_t count, samesum_groups** groups) {
  return give(groups, [&] { return by(array_of(indices), count); });
}
samesum_status samesum_groups_by_offsets(const samesum_array* offsets, samesum_groups** groups) {
  return give(groups, [&] { return by_offsets(array_of(offsets)); });
}
samesum_status samesum_groups_by_lengths(const samesum_array* lengths, samesum_groups** groups) {
  return give(groups, [&] { return by_lengths(array_of(lengths)); });
}
uint64_t samesum_groups_count(const samesum_groups* groups) { return groups == nullptr ? 0 : groups->value.groups(); }
samesum_status samesum_groups_keys(const samesum_groups* groups, const samesum_array* to) {
  return guard([&] { copy(need(groups, "groups").value.keys().array(), to); });
}
samesum_status samesum_groups_sums(const samesum_groups* groups, const samesum_array* array, uint32_t keep, const samesum_options* options,
                                   samesum_group_sums** result) {
  return give(result, [&] { return need(groups, "groups").value.sums(array_of(array), keeping(keep, options)); });
}
samesum_status samesum_groups_quantiles(const samesum_groups* groups, const samesum_array* array, const double* p, size_t p_count,
                                        const char* method, const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    const By& by = need(groups, "groups").value;
    copy(quantiles(array_of(array), need(p, p_count, "p"), by, rule_of(method), options_of(options)).array(), to);
  });
}
samesum_status samesum_groups_reduce(const samesum_groups* groups, const samesum_array* array, samesum_reduction reduction, uint64_t ddof,
                                     const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    const By& by = need(groups, "groups").value;
    copy(group_reduction(array_of(array), reduction_of(reduction), by, ddof, options_of(options)).array(), to);
  });
}
samesum_status samesum_groups_reduce_map(const samesum_groups* groups, const char* formula, const samesum_input* inputs, size_t input_count,
                                         samesum_reduction reduction, uint64_t ddof, const samesum_options* options,
                                         const samesum_array* to) {
  return guard([&] {
    const By& by = need(groups, "groups").value;
    const Inputs given = inputs_of(inputs, input_count);
    const Formula mapped(&need(formula, "formula"));
    const AxisReduction what = reduction_of(reduction);
    copy(group_reduction(mapped, given.arrays, given.parameters, what, by, ddof, options_of(options)).array(), to);
  });
}
samesum_status samesum_groups_operate(const samesum_groups* groups, const samesum_array* array, const samesum_operator* op,
                                      const samesum_options* options, const samesum_array* to, size_t to_count) {
  return guard([&] {
    const By& by = need(groups, "groups").value;
    copy_components(reduce(array_of(array), operator_of(op), by, options_of(options)), to, to_count);
  });
}
samesum_status samesum_groups_operate_map(const samesum_groups* groups, const char* formula, const samesum_input* inputs,
                                          size_t input_count, const samesum_operator* op, const samesum_options* options,
                                          const samesum_array* to, size_t to_count) {
  return guard([&] {
    const By& by = need(groups, "groups").value;
    const Inputs given = inputs_of(inputs, input_count);
    const Formula mapped(&need(formula, "formula"));
    copy_components(reduce(mapped, given.arrays, given.parameters, operator_of(op), by, options_of(options)), to, to_count);
  });
}
void samesum_groups_free(samesum_groups* groups) { delete groups; }

samesum_status samesum_group_sums_new(uint64_t groups, uint32_t keep, const samesum_options* options, samesum_group_sums** result) {
  return give(result, [&] { return GroupSums(groups, keeping(keep, options)); });
}
samesum_status samesum_group_sums_add(samesum_group_sums* sums, const samesum_array* values, const samesum_array* indices) {
  return guard([&] { need(sums, "sums").value.add(array_of(values), array_of(indices)); });
}
samesum_status samesum_group_sums_add_segments(samesum_group_sums* sums, const samesum_array* values, const samesum_array* offsets) {
  return guard([&] { need(sums, "sums").value.add_segments(array_of(values), array_of(offsets)); });
}
samesum_status samesum_group_sums_add_number(samesum_group_sums* sums, double number, uint64_t group) {
  return guard([&] { need(sums, "sums").value.add(number, group); });
}
samesum_status samesum_group_sums_grow(samesum_group_sums* sums, uint64_t groups) {
  return guard([&] { need(sums, "sums").value.grow(groups); });
}
samesum_status samesum_group_sums_merge(samesum_group_sums* sums, const samesum_group_sums* other) { return c::merge(sums, other); }
samesum_status samesum_group_sums_merge_to(samesum_group_sums* sums, const samesum_group_sums* other, const uint64_t* to, size_t count) {
  return guard([&] { need(sums, "sums").value.merge(need(other, "other").value, need(to, count, "to")); });
}
uint64_t samesum_group_sums_groups(const samesum_group_sums* sums) { return sums == nullptr ? 0 : sums->value.groups(); }
uint64_t samesum_group_sums_outside(const samesum_group_sums* sums) { return sums == nullptr ? 0 : sums->value.outside(); }
samesum_status samesum_group_sums_type(const samesum_group_sums* sums, samesum_type* result) {
  return get(sums, result, [](const GroupSums& all) { return c::type_of(all.type()); });
}
samesum_status samesum_group_sums_results(const samesum_group_sums* sums, samesum_group_result which, uint64_t ddof, int skip_nan,
                                          const samesum_array* to) {
  return guard([&] {
    const GroupSums& all = need(sums, "sums").value;
    // Sums on a device stay there.
    if (which == SAMESUM_GROUP_SUM && need(to, "to").device != nullptr) return all.sums(array_of(to), nan_of(skip_nan));
    copy(results_of(all, which, ddof, nan_of(skip_nan)).array(), to);
  });
}
samesum_status samesum_group_sums_sum(const samesum_group_sums* sums, uint64_t group, samesum_accumulator** result) {
  return give(result, [&] { return need(sums, "sums").value.sum(group); });
}
samesum_status samesum_group_sums_statistics(const samesum_group_sums* sums, uint64_t group, samesum_statistics** result) {
  return give(result, [&] { return need(sums, "sums").value.statistics(group); });
}
samesum_status samesum_group_sums_words(const samesum_group_sums* sums, int64_t* words, size_t* count) {
  return write_words(sums, words, count);
}
samesum_status samesum_group_sums_from_words(uint64_t groups, uint32_t keep, const int64_t* words, size_t count,
                                             samesum_group_sums** sums) {
  return give(sums, [&] { return GroupSums::from_words(groups, keeping(keep, nullptr), need(words, count, "words")); });
}
samesum_status samesum_group_sums_serialize(const samesum_group_sums* sums, void* bytes, size_t* size) {
  return serialize(sums, bytes, size);
}
samesum_status samesum_group_sums_deserialize(const void* bytes, size_t size, samesum_group_sums** sums) {
  return deserialize(bytes, size, sums);
}
void samesum_group_sums_free(samesum_group_sums* sums) { delete sums; }

samesum_status samesum_scan(const samesum_array* array, const samesum_scan_options* what, const samesum_options* options,
                            const samesum_array* to) {
  return guard([&] {
    const samesum_scan_options given = copy_of(what, "samesum_scan_options");
    if (static_cast<unsigned>(given.operation) > static_cast<unsigned>(SAMESUM_SCAN_COUNT_NONZERO)) {
      refuse("there is no scan " + std::to_string(static_cast<int>(given.operation)));
    }
    Scan wanted{.operation = static_cast<ScanOperation>(given.operation), .exclusive = given.exclusive != 0, .float32 = given.float32 != 0};
    if (given.along_axis != 0) wanted.axis = given.axis;
    const std::span offsets = need(given.offsets, given.offset_count, "offsets");
    wanted.offsets.assign(offsets.begin(), offsets.end());
    if (given.by == nullptr) return scan(array_of(array), wanted, array_of(to, "to"), options_of(options));
    copy(scan(array_of(array), operator_of(given.by), wanted, options_of(options)).array(), to);
  });
}

}  // extern "C"
