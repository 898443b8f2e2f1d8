// Reading memory as fast as a device can: the ceiling of whatever reads its data once.
#pragma once

#include <samesum/bench.hpp>

#include "ladder/timing.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"

#include <cstdint>
#include <string>

namespace samesum::bench {

/// The fastest way found to read one buffer. Valid as long as the buffer and the device are.
struct Reader {
  std::string where;
  std::uint64_t bytes = 0;  ///< read by one call: all of the buffer, but for less than 32 bytes at the end of a device's
  Timer timer;              ///< empty where the buffer is too small to be read by units
  std::string configuration;
};

/// By `threads` threads of the host's processor.
Reader fastest_reader(const void* data, std::uint64_t bytes, std::uint32_t threads);

/// By kernels on `device`, whose mutex the caller holds.
Reader fastest_reader(device::Device& device, const device::Memory& memory, std::uint64_t bytes);

ReadRate read_rate(const Reader& reader, const Effort& effort);
/// The rate of a reader that was measured elsewhere.
ReadRate read_rate(const Reader& reader, const Statistics& seconds);

/// ceiling.cl for groups of so many work-items.
device::Source ceiling_source(std::uint32_t group_size);

/// "cpu, 2 threads"
std::string host_label(std::uint32_t threads);

}  // namespace samesum::bench
