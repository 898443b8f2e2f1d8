// Where elements are collected from: the CPU's loops, and devices that run kernels.
#pragma once

#include "device/device.hpp"
#include "reduce/sum_device.hpp"

#include <samesum/buffer.hpp>
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>

namespace samesum::statistics {

/// An array in a device's memory, as the host sees it where that is the host's; and as kernels do.
View host_view(const BufferView& data);
reduce::DeviceArray device_array(const BufferView& data);

/// The number that a key stands for (extremes.hpp).
Value value_of(std::int64_t key, DType type);

Statistics collect_cpu(View data, const CollectOptions& options, std::uint32_t* threads_used = nullptr);
ProductAccumulator dot_cpu(View a, View b, std::uint32_t threads, std::uint32_t* threads_used = nullptr);

/// Data in host memory, in chunks that fit into the device. `report`, where given, is completed.
Statistics collect_on_device(View data, device::Device& device, const CollectOptions& options, SumReport* report);
ProductAccumulator dot_on_device(View a, View b, device::Device& device, const CollectOptions& options, SumReport* report);

/// The same of arrays in the device's memory.
Statistics collect_on_device(const reduce::DeviceArray& data, DType type, device::Device& device, const CollectOptions& options,
                             SumReport* report);
ProductAccumulator dot_on_device(const reduce::DeviceArray& a, const reduce::DeviceArray& b, DType type, device::Device& device,
                                 const CollectOptions& options, SumReport* report);

}  // namespace samesum::statistics
