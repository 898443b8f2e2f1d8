// samesum on the first CUDA device, over data that lie there.
#include "peer.hpp"
#include "rotation.hpp"

#include "bench/timing.hpp"
#include "device/device.hpp"
#include "reduce/sum_device.hpp"

#include <bit>
#include <mutex>

namespace peers {
namespace {

using samesum::device::Memory;

// One sum of memory on the device, enqueued; its rounded value stays there.
//
// The one place to change for another way to launch: a plan on a stream of the caller's, captured in a graph as CUB's calls are (cub.cu),
// would go here.
class Launcher {
 public:
  Launcher(samesum::device::Device& device, samesum::DType type) : sum_(device, type, {}) {}
  void enqueue(const Memory& data, std::uint64_t count) { sum_.launch(data, count); }
  double value() { return sum_.result().rounded; }

 private:
  samesum::reduce::DeviceSum sum_;
};

}  // namespace

std::vector<Row> measure_samesum_on_gpu(const Problem& problem, const samesum::bench::Effort& effort) {
  std::vector<Row> rows;
  try {
    const samesum::Device device = samesum::Device::open("cuda:0");
    samesum::device::Device& queue = device.implementation();
    const std::lock_guard lock(queue.mutex());
    Launcher launcher(queue, problem.data.type());
    const auto value_of = [&](const Memory& memory) {
      launcher.enqueue(memory, problem.data.size());
      return launcher.value();
    };
    // All copies in one allocation, as an allocation for each takes its time.
    const std::uint64_t bytes = problem.data.bytes(), stride = aligned(bytes);
    const Memory all = queue.allocate(cold_buffers(bytes) * stride);
    std::vector<Memory> buffers;
    for (std::size_t i = 0; i < cold_buffers(bytes); ++i) {
      queue.write(all, i * stride, problem.data.data(), bytes);
      buffers.push_back({std::shared_ptr<void>(all.handle, static_cast<char*>(all.handle.get()) + i * stride), bytes});
    }
    Row row{.name = "samesum", .where = {}, .seconds = {}, .not_measured = {}};
    row.value = value_of(buffers[0]);
    row.repeats = std::bit_cast<std::uint64_t>(value_of(buffers[0])) == std::bit_cast<std::uint64_t>(row.value);
    const Memory permuted = queue.allocate(bytes);
    queue.write(permuted, 0, problem.permuted.data(), bytes);
    row.order_free = std::bit_cast<std::uint64_t>(value_of(permuted)) == std::bit_cast<std::uint64_t>(row.value);
    for (const bool cold : {false, true}) {
      std::size_t turn = 0;
      row.where = cold ? kGpuCold : kGpuHot;
      row.seconds = measure(
          samesum::bench::device_timer(queue, [&] { launcher.enqueue(buffers[cold ? turn++ % buffers.size() : 0], problem.data.size()); }),
          effort);
      rows.push_back(row);
    }
  } catch (const samesum::Error& error) {
    const std::string what = error.what();
    rows.push_back({.name = "samesum", .where = kGpuHot, .seconds = {}, .not_measured = what.substr(0, what.find(';'))});
  }
  return rows;
}

}  // namespace peers
