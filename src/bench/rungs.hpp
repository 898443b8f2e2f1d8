// What all ladders do alike.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::bench {

/// Whether `name` is among the rungs asked for: none means all.
inline bool wanted(const std::vector<std::string>& rungs, std::string_view name) {
  return rungs.empty() || std::find(rungs.begin(), rungs.end(), name) != rungs.end();
}

/// @throws Error (usage) for a rung that is neither `known` nor the reader's own kernel.
inline void check_rungs(const std::vector<std::string>& rungs, const std::vector<std::string>& known, const std::string& own_kernel,
                        const DeviceInfo& info) {
  for (const std::string& name : rungs) {
    if (std::find(known.begin(), known.end(), name) != known.end() || (!name.empty() && name == own_kernel)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is no rung of the ladder on {}: there are {}", name, info.selector, fmt::join(known, ", ")));
  }
}

/// Runs `work`, which fills in the row, and notes in it what keeps it from being measured.
template <class Row, class Work>
void attempt(Row& row, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    row.verdict = error.kind() == ErrorKind::usage ? Verdict::skipped : Verdict::failed;
    row.reason = error.what();
  }
}

}  // namespace samesum::bench
