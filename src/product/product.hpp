// The product of an array whose elements may arrive in several pieces.
#pragma once

#include "core/tree.hpp"
#include "core/view.hpp"
#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "product/integer_product.hpp"
#include "reduce/term.hpp"

#include <samesum/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace samesum::product_tree {

using core::Tree;

/// Leaves of a subtree that is computed at once: 2^kBlockLevel.
inline constexpr int kBlockLevel = 10;
inline constexpr std::size_t kBlock = std::size_t{1} << kBlockLevel;

/// The products of `blocks` blocks of kBlock leaves each, at any byte alignment; `skip`: NaNs count as 1.
void block_products(const std::byte* elements, DType type, bool skip, std::size_t blocks, float* products);
void block_products(const std::byte* elements, DType type, bool skip, std::size_t blocks, double* products);

/// The work-items of a group, and the 16-byte loads of each in a tile. @throws Error (usage) for a group size that the device cannot run.
struct TileShape {
  std::uint32_t group_size, loads;
};
TileShape tile_shape(const DeviceInfo& info, const Tuning& tuning);
inline std::uint32_t elements_per_load(DType type) { return static_cast<std::uint32_t>(16 / size_of(type)); }

/// The first arguments of the kernels of a formula's values.
std::vector<device::Argument> arguments_of(const statistics::Term& term);

/// The product of floats in device memory: whole tiles of 2^level leaves each, prepared once and launched any number of times.
class DeviceProduct {
 public:
  /// `term`: of the values of a formula instead. @throws Error (usage) for a group size that the device cannot run; Error (device) where it
  /// lacks a capability that determines bits.
  DeviceProduct(device::Device& device, DType type, bool skip, const Tuning& options, const statistics::TermCode* term = nullptr);

  int level() const noexcept;  ///< of a tile
  /// Enqueues the products of `tiles` whole tiles of `data` from byte `offset` on, a multiple of 16 by its address; they begin at leaf
  /// `position`, a multiple of a tile. Where there are many and the position allows it, their products are reduced on the device too.
  void launch(const device::Memory& data, std::uint64_t tiles, std::uint64_t position, std::uint64_t offset = 0);
  /// The same of a formula's values, behind the term's head. use() has its code before.
  void launch(const statistics::Term& term, std::uint64_t tiles, std::uint64_t position);
  void use(const statistics::TermCode& term);
  /// Appends less than a tile of a formula's values, from position `first` of the term on.
  template <class T>
  void append_leaves(const statistics::Term& term, std::uint64_t first, std::uint64_t count, Tree<T>& tree);
  /// How many leaves are missing to whole tiles.
  std::uint64_t leaves_before_tile(std::uint64_t leaves) const noexcept { return (0 - leaves) & ((std::uint64_t{1} << level()) - 1); }
  /// Enqueues the products of whole tiles from byte `offset` on, a multiple of 16 by its address, to the beginning of `to`.
  void launch_tiles(const device::Memory& data, std::uint64_t offset, std::uint64_t tiles, const device::Memory& to);
  /// Waits for the last launch, and appends its products.
  template <class T>
  void collect(Tree<T>& tree);

  std::string text() const;

 private:
  // The products of a launch, of 2^level leaves each. The first `reduced` of them were reduced by the next stage.
  struct Stage {
    device::Memory products;
    std::uint64_t count = 0, reduced = 0;
    int level = 0;
  };
  Stage& stage(std::size_t index, std::uint64_t count, int level);
  void launch_any(std::vector<device::Argument> data, std::uint64_t tiles, std::uint64_t position);

  device::Device& device_;
  DType type_;
  bool skip_;
  std::uint32_t group_size_;
  std::uint32_t loads_;  // 16-byte loads of a work-item in a tile
  std::uint32_t groups_;
  device::Kernel kernel_;         // elements to products
  device::Kernel again_kernel_;   // products to products
  device::Kernel leaves_kernel_;  // of a formula
  std::string term_;              // its code
  device::Memory leaves_;
  std::vector<Stage> stages_;
  std::size_t used_stages_ = 0;
};

/// The device's DeviceProduct of that kind for one call, which gives it back under this name (Device::plans()). Both require that the
/// device's mutex is held.
std::string product_name(DType type, bool skip, const Tuning& options);
std::shared_ptr<DeviceProduct> take_product(device::Device& device, DType type, bool skip, const Tuning& options);

/// Appends whole tiles of data in host memory, in chunks that fit into the device. Requires tree.size() to be a multiple of a tile, and
/// that the device's mutex is held.
template <class T>
void append_on_device(View data, device::Device& device, bool skip, const Tuning& tuning, Tree<T>& tree, Report& report);

/// Appends whole tiles of an array on the device, which follow one another from a multiple of 16 bytes on.
template <class T>
void append_on_device(const device::Run& data, device::Device& device, DeviceProduct& product, Tree<T>& tree, Report& report);

/// Appends the values of a formula of floats, which kernels compute; done(positions) after each launch, of `most` or fewer.
template <class T>
void append_terms(statistics::Terms& terms, bool skip, const Tuning& options, std::uint64_t most, Tree<T>& tree, Report& report,
                  const std::function<void(std::uint64_t)>& done);

/// Products of integers on a device: a record for each group, which computes 64 bits.
class IntegerProducts {
 public:
  /// `source` has the entry `product` for groups of tile_shape().
  IntegerProducts(device::Device& device, DType type, const Tuning& tuning, const device::Source& source);
  /// Of a formula's values.
  IntegerProducts(device::Device& device, const statistics::TermCode& term, const Tuning& tuning);

  std::uint64_t tile() const noexcept { return tile_; }  ///< in elements
  std::uint32_t group_size() const noexcept { return group_size_; }
  const device::Memory& records() const noexcept { return records_; }
  /// "groups=528 group_size=256": the most groups.
  std::string text() const;

  /// Enqueues the product of elements from byte `offset` on, a multiple of 16 by its address; returns the number of groups.
  std::uint32_t launch(const device::Memory& memory, std::uint64_t offset, std::uint64_t count);
  /// The same of a formula's values. use() has its code before.
  std::uint32_t launch(const statistics::Term& term);
  void use(const statistics::TermCode& term);
  /// Multiplies `product` by a formula's values on `threads` threads of the host, with all digits.
  void multiply_on_host(const statistics::Term& term, std::uint32_t threads, IntegerProduct& product);
  /// Waits, and multiplies `product` by the records of this many groups. False, and nothing is done, if all digits are needed for that.
  bool collect(std::uint32_t groups, IntegerProduct& product);

 private:
  std::uint32_t launch(std::vector<device::Argument> elements, std::uint64_t count);

  device::Device& device_;
  DType type_;
  std::uint32_t group_size_, most_groups_ = 0;
  std::uint64_t tile_ = 0;
  device::Kernel kernel_;
  device::Kernel leaves_kernel_;  // of a formula
  std::string term_;              // its code
  device::Memory records_, leaves_;
};

/// Multiplies `product` by integers in host memory, on `threads` threads.
void multiply(View data, std::uint32_t threads, IntegerProduct& product);
/// The same on a device, which computes 64 bits: larger products are computed here.
void multiply_on_device(View data, device::Device& device, const Tuning& options, IntegerProduct& product, Report& report);
/// Of an array on the device, whose elements follow one another from a multiple of 16 bytes on.
void multiply_on_device(const device::Run& data, DType type, const samesum::Device& device, const Tuning& options, IntegerProduct& product,
                        Report& report);
/// Of a formula of integers; done(positions) after each launch, of `most` or fewer.
void multiply_terms(statistics::Terms& terms, const Tuning& options, std::uint64_t most, IntegerProduct& product, Report& report,
                    const std::function<void(std::uint64_t)>& done);

/// The sources of the kernels, for integers and floats (entry `product`).
device::Source product_source(DType type, bool skip, std::uint32_t group_size, std::uint32_t loads,
                              const statistics::TermCode* term = nullptr);

}  // namespace samesum::product_tree
