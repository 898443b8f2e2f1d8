#include "pairs/tree/host_elements.hpp"

#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"
#include "device/memory/run.hpp"
#include "formula/operator/operator_tree.hpp"

#include <cstdint>
#include <optional>

namespace samesum::all_pairs {

HostElements::HostElements(const Array& array, DType computed) {
  const bool converted = array.type() != computed;
  if (const auto view = array.on_device() || converted ? std::nullopt : core::single_view(array, core::Order::index)) {
    data_ = view->data();
    if (view->contiguous() && reinterpret_cast<std::uintptr_t>(data_) % size_of(computed) == 0) return;
  }
  copy_.resize(array.size() * size_of(computed) / sizeof(double) + 1);
  data_ = copy_.data();
  auto* to = reinterpret_cast<std::byte*>(copy_.data());
  device::for_host_blocks(array, core::Order::index, [&](View block) {
    if (!converted) {
      core::pack(block, to);
    } else if (block.size() != 0) {
      map(formula::conversion_to(formula::scalar_of(computed)), {{"x", block}}, {}, {Array(to, block.size(), computed)});
    }
    to += block.size() * size_of(computed);
  });
}

}  // namespace samesum::all_pairs
