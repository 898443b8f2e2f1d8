// Extremes of arrays that lie on a device: a plan, launched as often as one likes.
#pragma once

#include <samesum/buffer.hpp>
#include <samesum/export.hpp>
#include <samesum/reduce.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace samesum SAMESUM_EXPORT {

/// What ExtremesPlan leaves in a device's memory for whoever comes next: 48 bytes, as a C struct. Extremes are those of the elements that
/// are no NaN, by the order in which -0.0 < +0.0; where there is none, their indices are kNowhere and they mean nothing.
struct ExtremesRecord {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::uint64_t least;     ///< the element itself, in the first bytes; the others are zero
  std::uint64_t at_least;  ///< the lowest index at which it stands
  std::uint64_t greatest;  ///< likewise
  std::uint64_t at_greatest;
  std::uint64_t first_nan;  ///< kNowhere where there is none
  std::uint64_t nans;       ///< how many there are

  friend bool operator==(const ExtremesRecord&, const ExtremesRecord&) = default;
};

/// What ExtremesPlan is to look for: the less, the faster where there is little data.
struct Ends {
  bool least = true;
  bool greatest = true;
  /// Where they are, and the first NaN. If not, an index in ExtremesRecord is 0 where there is such an element, and in Statistics kNowhere.
  bool places = true;
};

/// The least and the greatest element and where they are, prepared once and then launched as often as one likes, without compiling,
/// allocating or waiting: on a device over the caller's own stream or queue too, where a CUDA graph can capture it. One launch for any size
/// under 2^31 elements, one for each so many beyond (and another after each, where a device cannot order what its work-groups write).
///
///   samesum::ExtremesPlan plan(device, samesum::DType::float32, n);
///   plan.launch({samesum::Buffer::wrap(device, x, 4 * n), n, samesum::DType::float32}, samesum::Buffer::wrap(device, result, 48));
///
/// A plan's launches use the same scratch memory, and follow each other in its device's queue; for launches that run at the same time take
/// a plan for each queue. A plan may be used from several threads at once. Launches may start early, as SumPlan's do.
class ExtremesPlan {
 public:
  /// For arrays of `type` with `size` elements or about so many: of another size it does as well, only perhaps slower. Arrays whose
  /// elements lie apart need a kernel of their own, which is compiled for Layout::strided alone.
  /// @throws Error (usage) for a group size that the device cannot run; Error (device) where the kernels cannot be built.
  ExtremesPlan(const Device& device, DType type, std::uint64_t size, const Tuning& tuning = {}, Ends ends = {},
               Layout layout = Layout::contiguous);

  /// Enqueues the search through `data`, which must stay as it is until that is done. O(n).
  /// @throws Error (usage) where `data` is of another type, lies on another device, or is not of the plan's layout.
  void launch(const Array& data);
  /// The same, and leaves an ExtremesRecord at byte `offset` of `to`, a multiple of 8.
  void launch(const Array& data, const Buffer& to, std::uint64_t offset = 0);

  /// What the latest launch that had no place of its own found, which it waits for: min(), max(), nan_count().
  /// @throws Error (usage) where there was no such launch.
  Statistics result() const;

  /// "groups=264 group_size=512 loads=4"
  std::string configuration() const;

  struct SAMESUM_HIDDEN State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace samesum
