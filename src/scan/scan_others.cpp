// Scans of extremes, counts and products on the host, by type.
#include "core/visit.hpp"
#include "scan/others.hpp"
#include "scan/scan.hpp"
#include "scan/tree.hpp"

namespace samesum::prefix {
namespace {

template <class T>
struct Multiply {
  void combine(const T* a, const T* b, T* to, std::size_t count, std::uint64_t, std::uint64_t) const {
    for (std::size_t i = 0; i < count; ++i) to[i] = a[i] * b[i];
  }
};

// Products of floats, each line as numbers of type T, in which they are rounded.
template <class Element, class T>
void multiply_floats(const Layout& layout, bool skip, std::uint32_t threads, const Element* x, T* to) {
  const T nan = static_cast<T>(std::bit_cast<double>(std::uint64_t{0x7ff8} << 48));
  std::vector<T> line;
  for_lines(layout, [&](std::uint64_t first, std::uint64_t count, std::uint64_t apart) {
    if (count == 0) return;
    const std::uint64_t leaves = layout.exclusive ? count - 1 : count;
    line.resize(leaves);
    for (std::uint64_t i = 0; i < leaves; ++i) {
      const T leaf = static_cast<T>(x[first + i * apart]);
      line[i] = skip && std::isnan(leaf) ? T{1} : leaf;
    }
    std::vector<Multiply<T>> combiners(core::thread_count(leaves * sizeof(T) * 4, threads));
    scan_tree(line.data(), leaves, first, combiners);
    if (layout.exclusive) to[first] = 1;
    T* const results = to + first + (layout.exclusive ? apart : 0);
    for (std::uint64_t i = 0; i < leaves; ++i) results[i * apart] = std::isnan(line[i]) ? nan : line[i];
  });
}

}  // namespace

void scan_extremes(const Layout& layout, DType type, bool greatest, NanPolicy nan, std::uint32_t threads, const void* x, void* to) {
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    if (greatest) {
      scan_lines<Element>(Extremes<Element, true>(nan), layout, threads, x, to);
    } else {
      scan_lines<Element>(Extremes<Element, false>(nan), layout, threads, x, to);
    }
  });
}

void scan_counts(const Layout& layout, DType type, NanPolicy nan, std::uint32_t threads, const void* x, void* to) {
  core::visit(type, [&](auto element) { scan_lines<decltype(element)>(Counts<decltype(element)>(nan), layout, threads, x, to); });
}

void scan_products(const Layout& layout, DType type, NanPolicy nan, std::uint32_t threads, const void* x, void* to) {
  core::visit(type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (std::is_integral_v<Element>) {
      scan_lines<Element>(IntegerProducts<Element>(), layout, threads, x, to);
    } else {
      using T = std::conditional_t<std::is_same_v<Element, double>, double, float>;
      multiply_floats(layout, nan == NanPolicy::skip, threads, static_cast<const Element*>(x), static_cast<T*>(to));
    }
  });
}

}  // namespace samesum::prefix
