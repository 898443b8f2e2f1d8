// Scans of sums on the host, by type.
#include "core/visit.hpp"
#include "scan/others.hpp"
#include "scan/scan.hpp"
#include "scan/sums.hpp"

namespace samesum::prefix {
namespace {

template <class U>
void scan_floats(const Layout& layout, DType type, NanPolicy nan, std::uint32_t threads, const void* x, void* to) {
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_floating_point_v<Element>) {
      scan_lines<Element>(FloatSums<Element, U>(nan), layout, threads, x, to);
    } else if constexpr (!std::is_integral_v<Element>) {
      scan_lines<Element>(Widened<Element, FloatSums<float, U>>(FloatSums<float, U>(nan)), layout, threads, x, to);
    }
  });
}

}  // namespace

void scan_sums(const Layout& layout, DType type, bool float32, NanPolicy nan, std::uint32_t threads, const void* x, void* to) {
  if (!is_integer(type))
    return float32 ? scan_floats<float>(layout, type, nan, threads, x, to) : scan_floats<double>(layout, type, nan, threads, x, to);
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<Element>) scan_lines<Element>(IntegerSums<Element>(), layout, threads, x, to);
  });
}

}  // namespace samesum::prefix
