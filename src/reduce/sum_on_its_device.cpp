// The sum of an array that lies on a device that runs kernels.
#include "core/reports.hpp"
#include "device/memory/run.hpp"
#include "reduce/sum.hpp"
#include "reduce/sum_device.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

namespace samesum {

Accumulator sum_on_its_device(const Array& data, const Options& options) {
  const Tuning& tuning = options.tuning;
  Report* const report = options.report;
  const Device& device = data.buffer().device();
  find_sum_variant(device, tuning.variant);
  device::Device& queue = device.implementation();
  Accumulator total;
  core::Reports reports(report);
  device::for_runs(
      data, core::Order::memory,
      [&](const device::Run& run) {
        const device::Lock lock(queue.mutex());
        const std::uint64_t size = device::Plans::size_for(run.count);
        const std::string name = fmt::format("sum {} {} {} {}", name_of(data.type()), size, tuning.group_size, tuning.groups);
        auto sum = queue.plans().take<reduce::DeviceSum>(name);
        if (!sum) sum = std::make_shared<reduce::DeviceSum>(queue, data.type(), tuning, size);
        const device::Mark before = report != nullptr ? queue.mark() : device::Mark{};
        sum->launch(run);
        const device::Mark after = report != nullptr ? queue.mark() : device::Mark{};
        total.merge(sum->result().accumulator);
        if (Report* const part = reports.next()) {
          *part = {device.info().selector,
                   std::string(sum->variant()),
                   sum->configuration(),
                   run.count * size_of(data.type()),
                   0,
                   queue.seconds_between(before, after)};
        }
        reports.add();
        queue.plans().give_back(name, std::move(sum));
      },
      true);
  return total;
}

}  // namespace samesum
