// The serialized forms of results, as docs/accumulator-format.md lays them down: what is common to all kinds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::exact {

/// A kind of result, by the first bytes of its form in every version. A byte over 127, a carriage return with a line feed and a control-Z
/// show at once that a file was sent as text.
struct Form {
  std::string_view magic;
  std::string_view name;
};
inline constexpr Form kSumForm{"\x89SSUM\r\n\x1a", "partial sum"};
inline constexpr Form kProductsForm{"\x89SSPR\r\n\x1a", "partial sum of products"};
inline constexpr Form kStatisticsForm{"\x89SSST\r\n\x1a", "set of statistics"};
inline constexpr Form kHistogramForm{"\x89SSHI\r\n\x1a", "histogram"};
inline constexpr std::array kForms = {kSumForm, kProductsForm, kStatisticsForm, kHistogramForm};

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kChecksumBytes = 8;

/// Puts a form together: little-endian numbers between the magic and the checksum.
class Writer {
 public:
  /// For a form of `size` bytes in all.
  Writer(const Form& form, std::uint16_t version, std::size_t size);
  void put(std::uint64_t value, int bytes);
  void put(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// With the checksum.
  std::vector<std::byte> finish();

 private:
  std::vector<std::byte> bytes_;
};

/// Takes a form apart from front to back. What it refuses: Error (usage).
class Reader {
 public:
  /// Refuses bytes of another kind or version, and those that are too short for a header of so many bytes and a checksum.
  Reader(const Form& form, std::uint16_t version, std::span<const std::byte> bytes, std::size_t header_bytes);

  /// Refuses a form of any other size, or with a wrong checksum: what is taken after that is as someone wrote it.
  void expect(std::uint64_t size) const;
  /// A number of 8 bytes or fewer. Requires that they are there.
  std::uint64_t take(std::size_t bytes) noexcept;
  std::span<const std::byte> take_bytes(std::size_t count) noexcept;
  [[noreturn]] void contradiction() const;

 private:
  const Form& form_;
  std::span<const std::byte> bytes_, left_;
};

}  // namespace samesum::exact
