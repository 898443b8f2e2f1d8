// Sums that stay in a GPU's memory: enqueued on the caller's stream, without waiting.
#include "objects.hpp"

#include <nanobind/stl/string.h>
#include <samesum/plan.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace samesum::python {
namespace {

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
  };
  constexpr std::size_t kMax = 64;
  static auto* const mutex = new std::mutex;        // never destroyed: at the end of the process CUDA may be gone before
  static auto* const kept = new std::vector<Kept>;  // the last used one last
  const Stream on{stream, ordinal};
  const DType elements = parse_dtype(type);
  const int magnitude = std::bit_width(size);
  const std::lock_guard lock(*mutex);
  const auto found = std::ranges::find_if(
      *kept, [&](const Kept& each) { return each.stream == on && each.type == elements && each.magnitude == magnitude; });
  if (found != kept->end()) {
    std::rotate(found, found + 1, kept->end());
  } else {
    const Device device = device_on(on, owner);
    Plan plan(device, ops::sum, elements, size);
    if (kept->size() == kMax) kept->erase(kept->begin());
    kept->push_back({on, elements, magnitude, nb::borrow(owner), device, std::move(plan)});
  }
  Kept& last = kept->back();
  void* const first = reinterpret_cast<void*>(data);    // NOLINT: an address of the GPU
  void* const place = reinterpret_cast<void*>(record);  // NOLINT
  last.plan.enqueue(Array(Buffer::wrap(last.device, first, size * size_of(elements)), size, elements),
                    Buffer::wrap(last.device, place, sizeof(SumRecord)));
}

}  // namespace

void bind_lazy(nb::module_& m) { m.def("enqueue_sum", &enqueue_sum); }

}  // namespace samesum::python
