// The parts common to the serialized forms of all results (docs/accumulator-format.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace samesum::exact {

/// A kind of result, recognized by the first bytes of its form in every version. They include a byte over 127, a CR LF and a control-Z,
/// which transfers in text mode damage, so that those are detected.
struct Form {
  std::string_view magic;
  std::string_view name;
};
inline constexpr Form kSumForm{"\x89SSUM\r\n\x1a", "partial sum"};
inline constexpr Form kProductsForm{"\x89SSPR\r\n\x1a", "partial sum of products"};
inline constexpr Form kStatisticsForm{"\x89SSST\r\n\x1a", "set of statistics"};
inline constexpr Form kHistogramForm{"\x89SSHI\r\n\x1a", "histogram"};
inline constexpr Form kGroupsForm{"\x89SSGS\r\n\x1a", "set of group sums"};
inline constexpr Form kHistogramNdForm{"\x89SSHN\r\n\x1a", "histogram over several axes"};
inline constexpr Form kWeightedForm{"\x89SSWH\r\n\x1a", "weighted histogram"};
inline constexpr std::array kForms = {kSumForm,    kProductsForm,    kStatisticsForm, kHistogramForm,
                                      kGroupsForm, kHistogramNdForm, kWeightedForm};

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kChecksumBytes = 8;

/// Assembles a form: little-endian numbers between the magic and the checksum.
class Writer {
 public:
  /// For a form of `size` bytes in total.
  Writer(const Form& form, std::uint16_t version, std::size_t size);
  void put(std::uint64_t value, int bytes);
  void put(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// Appends the checksum.
  std::vector<std::byte> finish();

 private:
  std::vector<std::byte> bytes_;
};

/// Parses a form from front to back; throws Error (usage).
class Reader {
 public:
  /// Refuses bytes of another kind or version, and those too short for `header_bytes` and a checksum.
  Reader(const Form& form, std::uint16_t version, std::span<const std::byte> bytes, std::size_t header_bytes);

  /// Refuses a form of any other size, or with a wrong checksum.
  void expect(std::uint64_t size) const;
  /// A number of up to 8 bytes. Requires that they are present.
  std::uint64_t take(std::size_t bytes) noexcept;
  std::span<const std::byte> take_bytes(std::size_t count) noexcept;
  [[noreturn]] void contradiction() const;

 private:
  const Form& form_;
  std::span<const std::byte> bytes_, left_;
};

}  // namespace samesum::exact
