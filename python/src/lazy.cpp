// Sums that stay in a GPU's memory: enqueued on the caller's stream, without waiting.
#include "objects.hpp"

#include <nanobind/stl/string.h>
#include <samesum/plan.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace samesum::python {
namespace {

/// Memory of a GPU wrapped as buffers. What was wrapped lately is kept, as asking the driver what an address is takes a microsecond.
class Wrapped {
 public:
  const Buffer& at(const Device& device, std::uintptr_t address, std::uint64_t bytes) {
    const auto found = std::ranges::find_if(kept_, [&](const Each& each) { return each.address == address && each.bytes == bytes; });
    if (found != kept_.end()) return found->buffer;
    Each one{address, bytes, Buffer::wrap(device, reinterpret_cast<void*>(address), bytes)};  // NOLINT: an address of the GPU
    constexpr std::size_t kMax = 4;
    if (kept_.size() < kMax) return kept_.emplace_back(std::move(one)).buffer;
    next_ = (next_ + 1) % kMax;
    return (kept_[next_] = std::move(one)).buffer;
  }

 private:
  struct Each {
    std::uintptr_t address;
    std::uint64_t bytes;
    Buffer buffer;
  };
  std::vector<Each> kept_;
  std::size_t next_ = 0;
};

/// Enqueues the sum of `size` adjacent elements from the address `data` on. Its SumRecord goes to the address `record`, both of the GPU's
/// memory. `owner` keeps the stream alive. The plans of the last kinds of sums are kept: what compiles and allocates is the first one.
void enqueue_sum(std::uintptr_t data, std::uint64_t size, const std::string& type, std::uint32_t ordinal, std::uintptr_t stream,
                 nb::handle owner, std::uintptr_t record) {
  struct Kept {
    Stream stream;
    DType type;
    int magnitude;
    nb::object owner;
    Device device;
    Plan plan;
    Wrapped arrays, records;
  };
  constexpr std::size_t kMax = 64;
  static auto* const mutex = new std::mutex;        // never destroyed: at the end of the process CUDA may be gone before
  static auto* const kept = new std::vector<Kept>;  // the last used one last
  const Stream on{stream, ordinal};
  const DType elements = parse_dtype(type);
  const int magnitude = std::bit_width(size);
  std::optional<Kept> dropped;  // after the mutex is free: the end of an owner may run Python, and wait for other threads
  const std::lock_guard lock(*mutex);
  const auto same = [&](const Kept& each) { return each.stream == on && each.type == elements && each.magnitude == magnitude; };
  if (kept->empty() || !same(kept->back())) {
    const auto found = std::ranges::find_if(*kept, same);
    if (found != kept->end()) {
      std::rotate(found, found + 1, kept->end());
    } else {
      const Device device = device_on(on, owner);
      Plan plan(device, ops::sum, elements, size);
      if (kept->size() == kMax) {
        dropped = std::move(kept->front());
        kept->erase(kept->begin());
      }
      kept->push_back({on, elements, magnitude, nb::borrow(owner), device, std::move(plan), {}, {}});
    }
  }
  Kept& last = kept->back();
  last.plan.enqueue(Array(last.arrays.at(last.device, data, size * size_of(elements)), size, elements),
                    last.records.at(last.device, record, sizeof(SumRecord)));
}

}  // namespace

void bind_lazy(nb::module_& m) { m.def("enqueue_sum", &enqueue_sum); }

}  // namespace samesum::python
