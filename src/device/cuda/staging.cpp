#include "device/cuda/staging.hpp"

#include "device/memory/parallel_copy.hpp"

#include <algorithm>
#include <cstring>

namespace samesum::device::cuda {
Staging::~Staging() {
  quietly(*context_, [this](const Driver& driver) {
    if (small_ != nullptr) driver.cuMemFreeHost(small_);
    for (const Slot& slot : slots_) {
      if (slot.travelled != nullptr) driver.cuEventDestroy(slot.travelled);
      if (slot.memory != nullptr) driver.cuMemFreeHost(slot.memory);
    }
  });
}

bool Staging::ready() {
  const Driver& driver = context_->driver();
  for (Slot& slot : slots_) {
    if (slot.travelled == nullptr) context_->check(driver.cuEventCreate(&slot.travelled, kEventDefault), "cuEventCreate");
    if (slot.memory == nullptr && driver.cuMemHostAlloc(&slot.memory, kSlotBytes, 0) != CUDA_SUCCESS) return false;
  }
  return true;
}

void Staging::write(CUdeviceptr to, const void* from, std::uint64_t bytes) {
  const Driver& driver = context_->driver();
  if (bytes < kWorthwhileBytes || !ready()) {
    context_->check(driver.cuMemcpyHtoDAsync(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
    context_->check(driver.cuStreamSynchronize(stream_), "cuStreamSynchronize after cuMemcpyHtoDAsync");
    return;
  }
  const auto* source = static_cast<const char*>(from);
  for (std::uint64_t done = 0, turn = 0; done < bytes; done += kSlotBytes, ++turn) {
    const std::uint64_t size = std::min(kSlotBytes, bytes - done);
    const Slot& slot = slots_[turn % 2];
    context_->check(driver.cuEventSynchronize(slot.travelled), "cuEventSynchronize");
    parallel_copy(slot.memory, source + done, size);
    context_->check(driver.cuMemcpyHtoDAsync(to + done, slot.memory, size, stream_), "cuMemcpyHtoDAsync");
    context_->check(driver.cuEventRecord(slot.travelled, stream_), "cuEventRecord");
  }
}

void Staging::read(CUdeviceptr from, void* to, std::uint64_t bytes) {
  const Driver& driver = context_->driver();
  if (bytes <= kSmallBytes && (small_ != nullptr || driver.cuMemHostAlloc(&small_, kSmallBytes, 0) == CUDA_SUCCESS)) {
    context_->check(driver.cuMemcpyDtoHAsync(small_, from, bytes, stream_), "cuMemcpyDtoHAsync");
    context_->check(driver.cuStreamSynchronize(stream_), "cuStreamSynchronize after cuMemcpyDtoHAsync");
    std::memcpy(to, small_, bytes);
    return;
  }
  if (bytes < kWorthwhileBytes || !ready()) {
    context_->check(driver.cuMemcpyDtoHAsync(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
    context_->check(driver.cuStreamSynchronize(stream_), "cuStreamSynchronize after cuMemcpyDtoHAsync");
    return;
  }
  auto* target = static_cast<char*>(to);
  const std::uint64_t turns = (bytes + kSlotBytes - 1) / kSlotBytes;
  const auto size = [=](std::uint64_t turn) { return std::min(kSlotBytes, bytes - turn * kSlotBytes); };
  const auto send = [&](std::uint64_t turn) {
    const Slot& slot = slots_[turn % 2];
    context_->check(driver.cuMemcpyDtoHAsync(slot.memory, from + turn * kSlotBytes, size(turn), stream_), "cuMemcpyDtoHAsync");
    context_->check(driver.cuEventRecord(slot.travelled, stream_), "cuEventRecord");
  };
  // In stream order, the first arrival finds the slots free of earlier writes.
  send(0);
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    if (turn + 1 < turns) send(turn + 1);
    const Slot& slot = slots_[turn % 2];
    context_->check(driver.cuEventSynchronize(slot.travelled), "cuEventSynchronize");
    parallel_copy(target + turn * kSlotBytes, slot.memory, size(turn));
  }
}

}  // namespace samesum::device::cuda
