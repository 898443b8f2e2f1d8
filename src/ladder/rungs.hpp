// What all ladders do alike.
#pragma once

#include <samesum/bench.hpp>
#include <samesum/error.hpp>

#include "ladder/ceiling/reader.hpp"
#include "ladder/timing.hpp"
#include "core/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::bench {

/// Whether `name` is among the rungs asked for: none means all. A reader's own kernel always is, whatever else is.
inline bool wanted(const std::vector<std::string>& rungs, std::string_view name, std::string_view own_kernel = {}) {
  return rungs.empty() || (!name.empty() && name == own_kernel) || std::find(rungs.begin(), rungs.end(), name) != rungs.end();
}

/// @throws Error (usage) for a rung that is neither `known` nor the reader's own kernel, and for such a kernel where the device runs none.
inline void check_rungs(const std::vector<std::string>& rungs, const std::vector<std::string>& known, const std::string& own_kernel,
                        const DeviceInfo& info) {
  for (const std::string& name : rungs) {
    if (std::find(known.begin(), known.end(), name) != known.end() || (!name.empty() && name == own_kernel)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is no rung of the ladder on {}: there are {}", name, info.selector, fmt::join(known, ", ")));
  }
  if (!own_kernel.empty() && !info.has(Capability::kernels)) {
    throw Error(ErrorKind::usage, fmt::format("{}: {} runs no kernels ({}); 'samesum devices' lists the devices", own_kernel, info.selector,
                                              info.why_not(Capability::kernels)));
  }
}

/// Builds a reader's own kernel before anything is measured: `prepare` makes its rung, for however little data. What the options or the
/// device do not allow is left to its row. @throws Error (usage) with its name and the compiler's words where it cannot be built.
template <class Prepare>
void check_own_kernel(const std::string& name, const Prepare& prepare) {
  try {
    prepare();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) return;
    const std::string_view what = error.what();
    throw Error(ErrorKind::usage, fmt::format("{}: {}", name, what.substr(0, what.find('\n'))), error.context());
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

/// Times a rung, in turns with the reader of where it runs if there is one.
template <class Row>
void time_rung(Row& row, const Timer& rung, const Reader& reader, const Effort& effort) {
  if (!reader.timer) {
    row.seconds = measure(rung, effort);
    return;
  }
  const Paired paired = measure_in_turns(rung, reader.timer, effort);
  row.seconds = paired.work;
  row.ceiling_fraction = paired.ratio;
}

/// The reader of the host's threads, its rate among the ladder's ceilings.
template <class Ladder>
Reader host_reader(Ladder& ladder, View data, std::uint32_t threads, const Effort& effort) {
  effort.tell(fmt::format("the ceiling, {}", host_label(threads)));
  Reader reader = fastest_reader(data.data(), data.bytes(), threads);
  ladder.ceilings.push_back(read_rate(reader, effort));
  return reader;
}

/// Likewise of a device, whose mutex the caller holds.
template <class Ladder>
Reader device_reader(Ladder& ladder, device::Device& device, const device::Memory& memory, std::uint64_t bytes, const Effort& effort) {
  effort.tell(fmt::format("the ceiling, {}", device.info().selector));
  Reader reader = fastest_reader(device, memory, bytes);
  ladder.ceilings.push_back(read_rate(reader, effort));
  return reader;
}

/// How many times as fast as the first rung each is.
template <class Ladder>
void rank(Ladder& ladder) {
  for (auto& row : ladder.rungs) {
    if (row.seconds.median > 0) row.speedup = ladder.rungs.front().seconds.median / row.seconds.median;
  }
}

}  // namespace samesum::bench
