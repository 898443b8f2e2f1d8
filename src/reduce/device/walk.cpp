#include "reduce/device/walk.hpp"

#include <algorithm>

namespace samesum::statistics {

Walk walk_of(const device::Device& device, const device::Run& a, const device::Run& b, DType type, bool ordered) {
  const std::uint64_t element = size_of(type), in_load = 16 / element;
  const auto beyond = [&](const device::Run& run) { return (device.misalignment(run.memory) + run.offset) % 16; };
  const auto is_contiguous = [&](const device::Run& run) { return run.stride == static_cast<std::int64_t>(element) || run.length() <= 1; };
  const auto has_like_rows = [](const device::Run& run) { return run.rows() == 1 || run.row_stride % 16 == 0; };
  const bool in_loads = is_contiguous(a) && is_contiguous(b) && beyond(a) == beyond(b) && has_like_rows(a) && has_like_rows(b);
  const auto head = in_loads ? std::min<std::uint64_t>((16 - beyond(a)) % 16 / element, a.length()) : 0;
  const std::uint64_t row_loads = in_loads ? (a.length() - head) / in_load : 0, singles = a.length() - row_loads * in_load;
  if (in_loads && a.rows() == 1) return {a.count, row_loads, row_loads, static_cast<std::uint32_t>(head), false};
  // By loads, if these leave few elements of a row; if `ordered`, none.
  constexpr std::uint64_t kFew = 8;
  const bool by_loads = row_loads != 0 && (ordered ? singles == 0 : singles * kFew <= a.length());
  if (by_loads) return {a.length(), row_loads, a.rows() * row_loads, static_cast<std::uint32_t>(head), true};
  return {std::max<std::uint64_t>(a.length(), 1), 0, a.count / in_load, 0, true};
}

}  // namespace samesum::statistics
