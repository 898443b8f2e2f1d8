// samesum on the first CUDA device, over data that lie there.
#include "peer.hpp"
#include "rotation.hpp"

#include "device/device.hpp"
#include "ladder/timing.hpp"
#include "reduce/sum_device.hpp"

#include <bit>
#include <mutex>

namespace peers {
namespace {

using samesum::device::Memory;

// One sum of memory on the device, enqueued; its rounded value stays there.
class Launcher {
 public:
  Launcher(samesum::device::Device& device, samesum::DType type, std::uint64_t count) : sum_(device, type, {}, count) {}
  void enqueue(const Memory& data, std::uint64_t count) { sum_.launch(data, count); }
  double value() { return sum_.result().record.value; }

 private:
  samesum::reduction::DeviceSum sum_;
};

}  // namespace

std::vector<Row> measure_samesum_on_gpu(const Problem& problem, const samesum::bench::Effort& effort) {
  std::vector<Row> rows;
  try {
    const samesum::Device device = samesum::Device::open("cuda:0");
    samesum::device::Device& queue = device.implementation();
    const std::lock_guard lock(queue.mutex());
    Launcher launcher(queue, problem.data.type(), problem.data.size());
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
      // As CUB is measured: a graph of so many sums that its own start does not count, over all of the buffers.
      const std::size_t turns = cold ? buffers.size() : 1;
      const std::size_t sums = std::max<std::size_t>(bytes > (std::size_t{64} << 20) ? 2 : 100, turns);
      queue.begin_recording();
      for (std::size_t i = 0; i < sums; ++i) launcher.enqueue(buffers[i % turns], problem.data.size());
      const samesum::device::Recording graph = queue.end_recording();
      row.where = cold ? kGpuCold : kGpuHot;
      row.seconds = measure(samesum::bench::device_timer(queue, [&] { queue.replay(graph); }), effort);
      for (double* const seconds : {&row.seconds.median, &row.seconds.low, &row.seconds.high}) *seconds /= static_cast<double>(sums);
      rows.push_back(row);
    }
  } catch (const samesum::Error& error) {
    const std::string what = error.what();
    rows.push_back({.name = "samesum", .where = kGpuHot, .seconds = {}, .not_measured = what.substr(0, what.find(';'))});
  }
  return rows;
}

}  // namespace peers
