// Numbers that come in chunks: from files, pipes and text, in bounded memory.
#pragma once

#include <samesum/export.hpp>
#include <samesum/sum.hpp>
#include <samesum/types.hpp>
#include <samesum/view.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// How numbers lie in memory or in a raw file.
struct RawType {
  DType type = DType::float64;
  bool big_endian = false;

  friend bool operator==(const RawType&, const RawType&) = default;
};

/// The type that `name` names: as parse_dtype has it, after '<' (little-endian, as without) or '>' (big-endian).
/// @throws Error (usage) for any other name.
RawType parse_raw_type(std::string_view name);

/// How text is read.
///
/// Without `column`, a text is numbers with blanks, line ends, commas or semicolons between them. With it, every line is a record of
/// fields, divided by tabs, semicolons, commas or runs of blanks: the first of these that the first line has. Fields may be quoted as in
/// RFC 4180. Either way, empty lines and lines that begin with '#' are skipped.
///
/// A number is decimal ("12", "-0.5", "6e23"), hexadecimal ("0x1.8p1"), or inf, infinity or nan in any case. An integer of up to 64 bits is
/// taken exactly, anything else as the nearest double, ties to even; "-0" is the double. Nothing else is skipped or guessed: what is
/// neither a number nor missing is an error. Commas are never taken for decimal points: commas and semicolons in one text are an error.
struct TextOptions {
  /// The one column to read: its number from 1 on, or its name in the first line. Empty: all numbers.
  std::string column = {};
  /// Whether the first line has the names of the columns. Unset: it does where `column` is a name; with a number, it does where none of its
  /// fields is a number, and does not where all are, or are missing; anything between is an error that asks for this.
  std::optional<bool> header = {};
  /// Words that stand for a missing number, beside "NA" and a field with nothing in it. Missing numbers are counted, and not summed.
  std::vector<std::string> missing = {};
  /// Integers are taken exactly; otherwise all numbers as the nearest doubles, in the order in which they come.
  bool integers = true;

  friend bool operator==(const TextOptions&, const TextOptions&) = default;
};

/// How to take an input that does not say itself what it is.
struct InputOptions {
  std::optional<RawType> raw = {};  ///< it is raw numbers
  TextOptions text = {};            ///< it is text, if any of these is set
  std::uint32_t threads = 0;        ///< that read and convert; 0: one for each core, 16 at most
};

/// A source of numbers, which come in chunks. Derive from it to sum what comes from elsewhere.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// Says, before the first chunk, that the order of the elements does not matter: a source may then give them as they lie in memory, where
  /// that is sooner done. Otherwise they come in the order of their indices, the last one fastest. accumulate() and histogram() say it.
  virtual void allow_any_order() noexcept {}

  /// The next chunk, which is valid until the next call; nothing at the end.
  /// @throws Error (usage) where the input cannot be read, or is malformed: the message names the file and the place.
  virtual std::optional<View> next() = 0;

  /// "npy", "raw", "text".
  virtual std::string_view format() const noexcept = 0;
  /// The type of all elements; nothing for text, whose numbers may be of several.
  virtual std::optional<DType> type() const noexcept { return std::nullopt; }
  virtual std::vector<std::uint64_t> shape() const { return {}; }  ///< of an array, known once it has been read to its end

  virtual std::string part() const { return {}; }  ///< of the input that is read: "column 2 ('price')"; empty: all of it

  virtual std::uint64_t missing() const noexcept { return 0; }     ///< numbers that are not there, so far
  virtual std::uint64_t bytes() const noexcept { return 0; }       ///< of the whole input; 0: not known
  virtual std::uint64_t bytes_read() const noexcept { return 0; }  ///< so far

  /// Bytes of elements that lie in memory, whole and ready for any device; 0 where they are read or converted on the way.
  virtual std::uint64_t resident_bytes() const noexcept { return 0; }
};

/// Opens `path`; "-" is standard input. Pipes and devices are read to their end.
///
/// What begins as a .npy file is one. Anything else is raw numbers if `options.raw` says so, and otherwise text, unless it is binary.
/// A .npy or raw file whose byte order is this machine's is mapped into memory: one chunk, no copy. Anything else takes bounded
/// memory (under 64 MiB), whatever its size, and is read and converted in other threads while the caller works on a chunk.
///
/// What gzip or zstd has compressed is decompressed on the way (zstd's own window, up to 128 MiB, comes on top): known by its first bytes,
/// raw numbers by a name that ends in .gz or .zst, too. "z.npz:name" is the array `name` of an .npz file, or any file in a zip archive; of
/// one with a single file the name may be left out.
///
/// An array in Fortran order gives its elements by index, in blocks that are brought into this order, unless allow_any_order() was called.
/// From a pipe, or compressed, it goes through a temporary file without a name (in TMPDIR) for that.
/// @throws Error (usage) that names the file and what is wrong with it.
std::unique_ptr<Source> open_source(const std::string& path, const InputOptions& options = {});

/// The exact sum of all that comes from `source`. Time and memory: those of the source, and of accumulate() for each chunk.
/// `report` tells of all chunks together.
Accumulator accumulate(Source& source, const Device& device, const AccumulateOptions& options = {}, SumReport* report = nullptr);
/// The same on the device that `choose_device("auto", source.resident_bytes())` names.
inline Accumulator accumulate(Source& source, const AccumulateOptions& options = {}, SumReport* report = nullptr) {
  return accumulate(source, choose_device("auto", source.resident_bytes()), options, report);
}

}  // namespace samesum
