// Reading memory at a device's maximum rate: the ceiling of all operations that read their data once.
#pragma once

#include <samesum/bench.hpp>

#include "ladder/timing.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <cstdint>
#include <string>

namespace samesum::bench {

/// The fastest known way to read one buffer. Valid as long as the buffer and the device are.
struct Reader {
  std::string where;
  std::uint64_t bytes = 0;  ///< read by one call: the whole buffer, except up to 31 bytes at its end on a device
  Timer timer;              ///< empty where the buffer is smaller than a unit
  std::string configuration;
};

/// On `threads` threads of the CPU.
Reader fastest_reader(const void* data, std::uint64_t bytes, std::uint32_t threads);

/// By kernels on `device`. Requires that its mutex is held.
Reader fastest_reader(device::Device& device, const device::Memory& memory, std::uint64_t bytes);

ReadRate read_rate(const Reader& reader, const Effort& effort);
/// The rate of a reader that was measured elsewhere.
ReadRate read_rate(const Reader& reader, const Statistics& seconds);

/// ceiling.cl for groups of `group_size` work-items.
device::Source ceiling_source(std::uint32_t group_size);

/// "cpu, 2 threads"
std::string host_label(std::uint32_t threads);

}  // namespace samesum::bench
