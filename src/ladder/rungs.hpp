// The parts common to all ladders.
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

/// Whether `name` is among the requested rungs: none means all. A user's kernel always is.
inline bool wanted(const std::vector<std::string>& rungs, std::string_view name, std::string_view own_kernel = {}) {
  return rungs.empty() || (!name.empty() && name == own_kernel) || std::find(rungs.begin(), rungs.end(), name) != rungs.end();
}

/// @throws Error (usage) for a rung that is neither `known` nor the user's kernel, and for such a kernel where the device runs none.
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

/// Builds a user's kernel before anything is measured: `prepare` makes its rung, for any small amount of data. What the options or the
/// device do not allow is reported in its row. @throws Error (usage) with its name and the compiler's message where it cannot be built.
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

/// Runs `work`, which fills in the row, and records in it what prevents the measurement.
template <class Row, class Work>
void attempt(Row& row, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    row.verdict = error.kind() == ErrorKind::usage ? Verdict::skipped : Verdict::failed;
    row.reason = error.what();
  }
}

/// Times a rung, alternately with the reader of its device if there is one.
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

/// The reader on the host's threads; its rate is added to the ladder's ceilings.
template <class Ladder>
Reader host_reader(Ladder& ladder, View data, std::uint32_t threads, const Effort& effort) {
  effort.tell(fmt::format("the ceiling, {}", host_label(threads)));
  Reader reader = fastest_reader(data.data(), data.bytes(), threads);
  ladder.ceilings.push_back(read_rate(reader, effort));
  return reader;
}

/// The same for a device. Requires that its mutex is held.
template <class Ladder>
Reader device_reader(Ladder& ladder, device::Device& device, const device::Memory& memory, std::uint64_t bytes, const Effort& effort) {
  effort.tell(fmt::format("the ceiling, {}", device.info().selector));
  Reader reader = fastest_reader(device, memory, bytes);
  ladder.ceilings.push_back(read_rate(reader, effort));
  return reader;
}

/// The speed of each relative to the first rung.
template <class Ladder>
void rank(Ladder& ladder) {
  for (auto& row : ladder.rungs) {
    if (row.seconds.median > 0) row.speedup = ladder.rungs.front().seconds.median / row.seconds.median;
  }
}

}  // namespace samesum::bench
