// The reductions by name, for `bench reduce` and `kernel reduce`.
#pragma once

#include <samesum/statistics.hpp>

#include <string_view>

namespace samesum::bench {

struct ReduceOperation {
  std::string_view name;
  Fields fields;
  enum { collects, multiplies_pairs, multiplies_all } kind = collects;
};

inline constexpr ReduceOperation kReduceOperations[] = {
    {"extremes", {true, false, false, false}},
    {"nonzeros", {true, false, false, true}},
    {"mean", {false, true, false, false}},
    {"norm", {false, false, true, false}},
    {"variance", {false, true, true, false}},
    {"stats", {true, true, true, false}},
    {"dot", {false, false, true, false}, ReduceOperation::multiplies_pairs},
    {"product", {}, ReduceOperation::multiplies_all},
};

}  // namespace samesum::bench
