// The textbook's rungs of the ladder of pairs (textbook.cl), and a user's kernel in their place.
#pragma once

#include "device/device.hpp"
#include "pairs/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace samesum::all_pairs {

struct TextbookOptions {
  std::uint32_t group_size = 0;  ///< 0: 256, or the device's maximum if that is less
  std::string source = {};       ///< of a user's kernel `pairs`, which replaces the rung
  std::uint32_t items = 1;       ///< x of a work-item there
  std::uint32_t registers = 0;   ///< of a work-item, at most, where the compiler has such an option; 0: no limit
  bool formula = false;          ///< Problem::formula is the user's own f, not a function of integers with a name
};

/// One rung, prepared for one problem: vectors of up to 16 components of float32, float64, int64 or uint64; a sum, a minimum, a maximum or
/// the index of one, of any f. Sums of integers wrap. Requires that the device's mutex is held.
class TextbookPairs {
 public:
  /// `name`: one of textbook_variants(), or any name where a source is given.
  /// @throws Error (usage) where the device or the problem does not allow it, saying why.
  TextbookPairs(std::string_view name, device::Device& device, const Problem& problem, const TextbookOptions& options);

  void launch();
  void read(Target c) const;
  std::string configuration() const;

 private:
  DType result_type() const;

  device::Device& device_;
  Problem problem_;
  std::uint32_t group_size_, width_;
  device::Kernel kernel_;
  device::Memory a_, b_, c_;
  std::uint32_t groups_;
};

/// `naive`, `local_all`, `local_tiled`, `vec4`, `vec8`, `vec8_local`, `vec8_both`, `vec8_tile`.
std::span<const std::string_view> textbook_variants();

}  // namespace samesum::all_pairs
