// One array on several devices at once.
#include <samesum/error.hpp>
#include <samesum/sum.hpp>

#include "core/array/array_blocks.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace samesum {
namespace {

// Large enough for the speed of each device, small enough for all to end at about the same time.
constexpr std::uint64_t kPartBytes = std::uint64_t{128} << 20;
constexpr std::uint64_t kMinPartBytes = std::uint64_t{4} << 20;

// An array that is no single run: each block is shared out.
Accumulator share_blocks(const Array& array, std::span<const Device> devices, const Options& options, std::vector<Report>* reports) {
  Accumulator total;
  std::vector<Report> all, part;
  Options quiet = options;
  quiet.progress = {};
  core::ProgressParts progress(options, array.bytes());
  core::for_blocks(array, core::Order::memory, [&](View block) {
    total.merge(accumulate(block, devices, quiet, &part));
    progress.add(block.bytes());
    for (std::size_t i = 0; i < part.size() && !all.empty(); ++i) all[i] += part[i];
    if (all.empty()) all = part;
  });
  if (reports != nullptr) *reports = std::move(all);
  return total;
}

}  // namespace

Accumulator accumulate(const Array& array, std::span<const Device> devices, const Options& options, std::vector<Report>* reports) {
  const core::DefaultFloatEnvironment environment;
  if (devices.empty()) throw Error(ErrorKind::usage, "no device was given to share an array out to");
  if (array.on_device()) throw Error(ErrorKind::usage, "an array that lies on a device cannot be shared out over several");
  const std::optional<View> run = core::single_view(array, core::Order::memory);
  if (!run) return share_blocks(array, devices, options, reports);
  const View data = *run;
  const std::uint64_t bytes = std::clamp(data.bytes() / (8 * devices.size()), kMinPartBytes, kPartBytes);
  const std::uint64_t part = bytes / size_of(data.type());
  std::vector<Report> each(devices.size());
  std::atomic<std::uint64_t> next{0}, done{0};
  std::vector<Accumulator> sums(devices.size());
  std::vector<std::exception_ptr> failures(devices.size());

  // A device's own thread: it takes the next part until there is none, or another device has failed.
  const auto work = [&](std::size_t index) {
    try {
      Options of_part = options;
      of_part.device = devices[index];
      of_part.report = &each[index];
      of_part.progress = {};
      Accumulator sum = accumulate(data.part(0, 0), of_part);
      for (;;) {
        const std::uint64_t first = next.fetch_add(part);
        if (first >= data.size()) break;
        Report report;
        of_part.report = &report;
        sum.merge(accumulate(data.part(first, std::min(part, data.size() - first)), of_part));
        const Report before = std::exchange(each[index], report);
        each[index] += before;
        done += report.bytes;
        if (index == 0 && options.progress) options.progress({done, data.bytes()});  // the calling thread
      }
      sums[index] = std::move(sum);
    } catch (...) {
      next = data.size();
      failures[index] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < devices.size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  Accumulator total;
  for (const Accumulator& sum : sums) total.merge(sum);
  if (options.progress) options.progress({data.bytes(), data.bytes()});
  if (reports != nullptr) *reports = std::move(each);
  return total;
}

}  // namespace samesum
