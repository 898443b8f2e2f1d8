// Terms: what a reduction's kernel computes for each position where it would load an element. So sums, statistics and extremes of a formula
// read its arrays once and write no values.
#pragma once

#include "core/progress.hpp"
#include "device/device.hpp"

#include <samesum/options.hpp>
#include <samesum/source.hpp>
#include <samesum/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::statistics {

/// A term as source of the kernel dialect: `text`, behind `files` and walk.h, defines in place of that what an ARRAY is, TERM_PARAMETERS
/// and TERM_VALUE (the kernel's first parameters, and an ARRAY of these), element_at() and load_at(), which give bits of elements of
/// `type`.
struct TermCode {
  DType type = DType::float32;
  std::vector<std::string_view> files;
  std::string text;
  std::uint32_t arrays = 1;  ///< that it reads
  bool long_code = false;    ///< many operations: the kernel needs many registers
  bool rows = false;         ///< it reads arrays along rows: Term::row_length
};

/// A term over some positions.
struct Term {
  TermCode code;
  std::vector<device::Argument> arguments;  ///< those of TERM_PARAMETERS
  std::uint64_t count = 0;
  std::uint32_t head = 0;        ///< positions before the first at which all arrays that are read by 16 bytes are aligned
  std::uint64_t row_length = 1;  ///< of arrays by rows
};

/// The terms of one call.
class Terms {
 public:
  Terms() = default;
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;
  virtual ~Terms() = default;

  virtual DType type() const = 0;
  virtual std::uint64_t size() const = 0;
  virtual device::Device& device() const = 0;
  /// Positions of the largest part of `most` or fewer; of whole rows, one at least.
  virtual std::uint64_t part_size(std::uint64_t most) const = 0;
  /// Those from number `first` on. Valid until the next call. `head`: that many positions before the first load; without it, as the
  /// arrays are aligned.
  virtual Term part(std::uint64_t first, std::uint64_t count, std::optional<std::uint32_t> head, const device::Lock&) = 0;
  /// After the launches of the last part: waits for them. @throws Error (no_answer) where a position has no value.
  virtual void check(const device::Lock&) = 0;
};

/// Terms that the CPU computes: block by block, in the loops that take elements.
class HostTerms {
 public:
  HostTerms() = default;
  HostTerms(const HostTerms&) = delete;
  HostTerms& operator=(const HostTerms&) = delete;
  virtual ~HostTerms() = default;

  virtual DType type() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Bytes that are read and computed for all of them, by which threads are shared out.
  virtual std::uint64_t bytes() const = 0;
  /// Before the first evaluate(): how many tasks will call it at the same time, each with a number less than this.
  virtual void prepare(std::uint32_t tasks) = 0;
  /// Writes the values at `count` positions, from number `first` on, to `to`. False where one has no value there or at an earlier position.
  virtual bool evaluate(std::uint32_t task, std::uint64_t first, std::uint64_t count, void* to) = 0;
  /// After the last. @throws Error (no_answer) where a position has no value.
  virtual void check() const = 0;

  core::ProgressParts* progress = nullptr;  ///< hears of each pass over all of them, in bytes of values; may be null
};
/// Values that are evaluated at once: so few that memory is read nearly all the time. Measured: with 16 KiB of values, which a first-level
/// cache holds as well, sum(x*x) of 64 MiB of float32 takes 1.6 times as long, sum(x*y) 1.7 times.
inline constexpr std::uint64_t kTermBlock = 1024;

/// A source whose numbers may be terms.
class TermSource : public Source {
 public:
  /// The terms of arrays in host memory; likewise.
  virtual std::unique_ptr<HostTerms> take_host_terms() = 0;
  /// Its terms, if its numbers have not been asked for yet and a kernel can compute them; else null. After that next() gives nothing.
  virtual std::unique_ptr<Terms> take_terms() = 0;
};

/// The terms of a source, where work on it is done on the device where they lie; else null.
std::unique_ptr<Terms> terms_of(Source& source, const Device& device);
/// The same of host memory, for the CPU's loops. `progress` must outlive them.
std::unique_ptr<HostTerms> host_terms_of(Source& source, const Device& device, core::ProgressParts& progress);

}  // namespace samesum::statistics
