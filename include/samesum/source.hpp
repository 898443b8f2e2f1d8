// Numbers that come in chunks: from files, pipes and text, in bounded memory.
#pragma once

#include <samesum/array.hpp>
#include <samesum/export.hpp>
#include <samesum/sum.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
/// Without columns, a text is numbers with blanks, line ends, commas or semicolons between them. As a table, every line is a record of
/// fields, divided by tabs, semicolons, commas or runs of blanks: the first of these that the first line has. Fields may be quoted as in
/// RFC 4180. Either way, empty lines and lines that begin with '#' are skipped.
///
/// A number is decimal ("12", "-0.5", "6e23"), hexadecimal ("0x1.8p1"), or inf, infinity or nan in any case. An integer of up to 64 bits is
/// taken exactly, anything else as the nearest double, ties to even; "-0" is the double. Nothing else is skipped or guessed: what is
/// neither a number nor missing is an error. Unless asked for, commas are never taken for decimal points or separators of thousands: commas
/// and semicolons in one text are an error.
struct TextOptions {
  /// The columns of a table to read: each a number from 1 on, or a name in the first line; a name that could be a number stands in quotes
  /// ("\"2024\""). open_source() reads one at most. Empty: all numbers.
  std::vector<std::string> columns = {};
  /// For open_table(), where no columns are named: whether the text is a table. Unset: it is one where `header` is set; where the file's
  /// name ends in .csv, .tsv or .tab; and where the first line has names and no number, with tabs, semicolons or commas (or `separator`)
  /// between them.
  std::optional<bool> table = {};
  /// Whether the first line has the names of the columns. Unset: it does where a column is asked for by name; else it does where none of
  /// its fields is a number, and does not where all are, or are missing; anything between is an error that asks for this.
  std::optional<bool> header = {};
  /// Words that stand for a missing number, beside "NA" and a field with nothing in it. Missing numbers are counted, and not summed.
  std::vector<std::string> missing = {};
  /// The character between fields, or between numbers where there are no columns; ' ' stands for runs of blanks, 0 for what is said above.
  char separator = 0;
  /// '.' or ','. A decimal comma divides neither numbers nor, unless it is `separator` and the number is quoted, fields.
  char decimal = '.';
  /// Between the groups of three digits of a number's whole part: ',', '.', '\'', '_' or ' ' (in tables; no-break spaces too). 0: nothing.
  char thousands = 0;
  /// Lines at the beginning that are not looked at.
  std::uint64_t skip_lines = 0;
  /// Integers are taken exactly; otherwise all numbers as the nearest doubles.
  bool integers = true;
  /// Chunks have the numbers in the order in which they come, for what depends on that. Otherwise each chunk has those of one kind
  /// (integers, doubles) in a piece of the text, which is faster where they alternate. Either way every value is exact.
  bool in_order = false;

  friend bool operator==(const TextOptions&, const TextOptions&) = default;
};

/// How to take an input that does not say itself what it is.
struct InputOptions {
  std::optional<RawType> raw = {};          ///< it is raw numbers
  std::uint64_t offset = 0;                 ///< of raw numbers: bytes before the first one, a header
  std::optional<std::uint64_t> count = {};  ///< of raw numbers: so many are read; unset: all up to the end
  TextOptions text = {};                    ///< it is text, if any of these but `integers`, `in_order` and `table` is set
  std::uint32_t threads = 0;                ///< that read and convert; 0: one for each core, 16 at most
  bool allow_empty = false;  ///< an input of no bytes, or a text in which there is no number, is one of no elements, not an error
};

/// A column of a table, as far as it has been read.
struct Column {
  std::size_t number = 0;        ///< from 1 on
  std::string name = {};         ///< in the first line; empty where that has no names
  std::string label = {};        ///< the name, with '?' for what cannot be printed; the number where there is none
  std::uint64_t missing = 0;     ///< numbers that are not there
  std::uint64_t words = 0;       ///< fields that are neither numbers nor missing, where all columns are read; an error in those asked for
  std::string first_word = {};   ///< the first of these, fit to be printed,
  std::uint64_t first_line = 0;  ///< and its line, from 1 on

  friend bool operator==(const Column&, const Column&) = default;
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
  virtual std::optional<Array> next() = 0;

  /// "npy", "raw", "text".
  virtual std::string_view format() const noexcept = 0;
  /// The type of all elements; nothing for text, whose numbers may be of several.
  virtual std::optional<DType> type() const noexcept { return std::nullopt; }
  virtual std::vector<std::uint64_t> shape() const { return {}; }  ///< of an array, known once it has been read to its end

  virtual std::string part() const { return {}; }  ///< of the input that is read: "column 2 ('price')"; empty: all of it

  /// The columns that are read, known once next() was called; none where the input is no table.
  virtual std::span<const Column> columns() const { return {}; }
  /// Which of these the latest chunk belongs to: its index.
  virtual std::size_t column() const noexcept { return 0; }

  virtual std::uint64_t missing() const noexcept { return 0; }  ///< numbers that are not there, so far, in all columns
  /// How many numbers of its column are missing before element `index` of the latest chunk, which thus stands at the number of elements
  /// before it and these: in a table that is its row, from 0 on. For a text, with TextOptions::in_order.
  virtual std::uint64_t missing_before(std::uint64_t index) const { return static_cast<void>(index), 0; }
  virtual std::uint64_t bytes() const noexcept { return 0; }       ///< of the whole input; 0: not known
  virtual std::uint64_t bytes_read() const noexcept { return 0; }  ///< so far

  /// Bytes of elements that lie in memory, whole and ready for any device; 0 where they are read or converted on the way.
  virtual std::uint64_t resident_bytes() const noexcept { return 0; }
};

/// Opens `path`; "-" is standard input. Pipes and devices are read to their end.
///
/// What begins as a .npy file is one. Anything else is raw numbers if `options.raw` says so, and otherwise text, unless it is binary.
/// A .npy or raw file whose byte order is this machine's is mapped into memory: one chunk, no copy. Anything else takes bounded
/// memory (under 64 MiB, more where lines of tables are longer than 256 KiB), whatever its size, and is read and converted in other threads
/// while the caller works on a chunk.
///
/// What gzip or zstd has compressed is decompressed on the way (zstd's own window, up to 128 MiB, comes on top): known by its first bytes,
/// raw numbers by a name that ends in .gz or .zst, too. "z.npz:name" is the array `name` of an .npz file, or any file in a zip archive; of
/// one with a single file the name may be left out.
///
/// An input of no bytes is an error, be it a file or a pipe, and so is (at its end) a text without a single number, present or missing: a
/// program that failed to write into a pipe must not look like a sum of 0. See InputOptions::allow_empty.
///
/// An array in Fortran order gives its elements by index, in blocks that are brought into this order, unless allow_any_order() was called.
/// From a pipe, or compressed, it goes through a temporary file without a name (in TMPDIR) for that.
/// @throws Error (usage) that names the file and what is wrong with it, or for options that make no sense, or not together.
std::unique_ptr<Source> open_source(const std::string& path, const InputOptions& options = {});

/// The same for several columns at once, which are read in one pass: those of `options.text.columns` in their order, or, if none are named
/// and the text is a table (TextOptions::table), all of them. Anything else is as open_source() has it. Of all columns, those that have
/// words among their fields are told by Column::words, and what came of their numbers means little. At most 16,384 columns.
/// Bounded memory, whatever the number of lines: about a line of 2 MiB, the longest there may be, for each thread.
std::unique_ptr<Source> open_table(const std::string& path, const InputOptions& options = {});

/// For what takes one sequence of numbers. @throws Error (usage) where `source` is known to have several columns: once next() was called.
void require_one_column(const Source& source);

/// The exact sum of all that comes from `source`. Time and memory: those of the source, and of accumulate() for each chunk.
/// Options::report tells of all chunks together. @throws Error (usage) where it has several columns.
Accumulator accumulate(Source& source, const Options& options = {});
/// The exact sum of each of its columns; of what is no table, one. O(columns) memory beside the source's.
std::vector<Accumulator> accumulate_columns(Source& source, const Options& options = {});

}  // namespace samesum
