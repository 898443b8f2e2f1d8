// The product of an array, whose elements may come in several pieces.
#pragma once

#include "device/device.hpp"
#include "device/program.hpp"
#include "product/tree.hpp"

#include <samesum/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace samesum::product_tree {

/// The product of integers: the number of zeros decides, then the sign; the magnitude stops at what no 64 bits hold. Integers with a
/// magnitude of one or more never make it smaller, so the order does not matter: [2^40, 2^40, 0] is 0.
struct IntegerProduct {
  bool zero = false;
  bool negative = false;
  bool too_large = false;
  std::uint64_t magnitude = 1;

  void multiply(std::uint64_t factor, bool factor_negative) noexcept {
    zero |= factor == 0;
    negative ^= factor_negative;
    if (factor != 0 && !too_large) too_large = __builtin_mul_overflow(magnitude, factor, &magnitude);
  }
  void merge(const IntegerProduct& other) noexcept {
    multiply(other.magnitude, other.negative);
    zero |= other.zero;
    too_large |= other.too_large;
  }
  /// @throws Error (no_answer) where it does not fit into int64, or uint64.
  Value value(bool is_signed) const;
};

/// Leaves of a subtree that is worked out in one go: 2^kBlockLevel.
inline constexpr int kBlockLevel = 10;
inline constexpr std::size_t kBlock = std::size_t{1} << kBlockLevel;

/// The products of `blocks` blocks of kBlock leaves each, at any byte alignment; `skip`: NaNs count as 1.
void block_products(const std::byte* elements, DType type, bool skip, std::size_t blocks, float* products);
void block_products(const std::byte* elements, DType type, bool skip, std::size_t blocks, double* products);

/// The product of floats on a device: whole tiles of 2^level leaves each.
class DeviceProduct {
 public:
  DeviceProduct(device::Device& device, DType type, bool skip, const ReduceOptions& options);
  int level() const noexcept;  ///< of a tile
  /// Appends whole tiles of data in host memory. Requires tree.size() and the data's size to be multiples of a tile.
  template <class T>
  void append(View data, Tree<T>& tree, SumReport& report);

 private:
  template <class T>
  void append_products(const device::Memory& products, std::uint64_t count, int level, Tree<T>& tree);
  void launch(const device::Kernel& kernel, const device::Memory& from, std::uint64_t tiles, const device::Memory& to);

  device::Device& device_;
  DType type_;
  std::uint32_t group_size_;
  std::uint32_t groups_;
  device::Kernel kernel_;        // elements to products
  device::Kernel again_kernel_;  // products to products
};

/// Integers in host memory on a device.
IntegerProduct integer_product_on_device(View data, device::Device& device, const ReduceOptions& options, SumReport& report);

/// What the kernels are made from; for integers and floats (entry `product`).
device::Source product_source(DType type, bool skip, std::uint32_t group_size);

}  // namespace samesum::product_tree
