// Sources of numbers in chunks: files, pipes and text, in bounded memory.
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

/// The representation of numbers in memory or in a raw file.
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
/// Without columns, a text is numbers separated by blanks, line ends, commas or semicolons. As a table, every line is a record of fields,
/// separated by tabs, semicolons, commas or runs of blanks: the first of these that occurs in the first line. Fields may be quoted as in
/// RFC 4180. In both cases, empty lines and lines that begin with '#' are skipped.
///
/// A number is decimal ("12", "-0.5", "6e23"), hexadecimal ("0x1.8p1"), or inf, infinity or nan in any case. An integer of up to 64 bits is
/// read exactly, anything else as the nearest double, ties to even; "-0" is the double. Nothing else is skipped or guessed: a field that is
/// neither a number nor missing is an error. Unless these options say so, commas are never decimal points or separators of thousands;
/// commas and semicolons in one text are an error.
struct TextOptions {
  /// The columns of a table to read: each a number, counted from 1, or a name in the first line; a name that could be a number stands in
  /// quotes ("\"2024\""). open_source() reads at most one. Empty: all numbers.
  std::vector<std::string> columns = {};
  /// Columns, named likewise, whose fields together are the key of each row, as words: Source::groups() says which elements have equal
  /// keys. They go with `in_order`. Without `columns` there is one, "rows", with a number 1 for each row.
  std::vector<std::string> keys = {};
  /// For open_table(), if no columns are named: whether the text is a table. Unset: it is a table if `header` is set; if the
  /// file's name ends in .csv, .tsv or .tab; and if the first line has names and no number, separated by tabs, semicolons or commas (or
  /// `separator`).
  std::optional<bool> table = {};
  /// Whether the first line has the names of the columns. Unset: yes if a column is given by name; otherwise yes if none of its
  /// fields is a number, and no if all are numbers or missing; a mixture is an error whose message asks for this option.
  std::optional<bool> header = {};
  /// Words that stand for a missing number, beside "NA" and an empty field. Missing numbers are counted, and not summed.
  std::vector<std::string> missing = {};
  /// The character between fields, or between numbers if there are no columns; ' ' stands for runs of blanks, 0 for the default above.
  char separator = 0;
  /// '.' or ','. A decimal comma does not separate numbers, nor fields unless it is `separator` and the number is quoted.
  char decimal = '.';
  /// Separates the groups of three digits of a number's integer part: ',', '.', '\'', '_' or ' ' (in tables; no-break spaces too). 0: none.
  char thousands = 0;
  /// The number of lines to skip at the beginning.
  std::uint64_t skip_lines = 0;
  /// true: integers are read exactly; false: all numbers are read as the nearest doubles.
  bool integers = true;
  /// true: chunks have the numbers in the text's order, for operations that depend on it. false: each chunk has the numbers of one kind
  /// (integers, doubles) of a piece of the text, which is faster if kinds alternate. In both cases every value is exact.
  bool in_order = false;

  friend bool operator==(const TextOptions&, const TextOptions&) = default;
};

/// How to read an input whose format is not evident from its contents.
struct InputOptions {
  std::optional<RawType> raw = {};          ///< the input is raw numbers of this type
  std::uint64_t offset = 0;                 ///< of raw numbers: bytes to skip before the first one
  std::optional<std::uint64_t> count = {};  ///< of raw numbers: how many are read; unset: all up to the end
  TextOptions text = {};                    ///< the input is text, if any of these but `integers`, `in_order` and `table` is set
  std::uint32_t threads = 0;                ///< to read and convert; 0: one for each core, 16 at most
  bool complex = false;                     ///< complex numbers of .npy files are taken, as parts: see Source::complex()
  bool mapped = false;                      ///< a file that can be mapped into memory is, however large: see open_source()
  bool allow_empty = false;                 ///< an empty input, or a text without numbers, has no elements, and is not an error
};

/// A column of a table, as read so far.
struct Column {
  std::size_t number = 0;        ///< counted from 1
  std::string name = {};         ///< from the first line; empty if that has no names
  std::string label = {};        ///< the name, with '?' for unprintable characters; the number if there is no name
  std::uint64_t missing = 0;     ///< missing numbers
  std::uint64_t words = 0;       ///< fields that are neither numbers nor missing, if all columns are read; an error in those asked for
  std::string first_word = {};   ///< the first of these, made printable,
  std::uint64_t first_line = 0;  ///< and its line, counted from 1

  friend bool operator==(const Column&, const Column&) = default;
};

/// A source of numbers in chunks. Derive from it to provide data from elsewhere.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// Called before the first next() if the order of the elements does not matter, as by accumulate() and histogram(): the source may
  /// then give them in memory order, if that is faster. Otherwise they come in C order.
  virtual void allow_any_order() noexcept {}

  /// Called before the first next(), and behind allow_any_order(): next() then gives only the `count` elements from element `first` on, in
  /// the order in which it would give all. Returns false, and changes nothing, if the source cannot do that, or has fewer elements. A file
  /// whose bytes are the elements can, and reads no others.
  virtual bool select(std::uint64_t first, std::uint64_t count) noexcept { return static_cast<void>(first), static_cast<void>(count), false; }

  /// The next chunk, valid until the next call; no value at the end.
  /// @throws Error (usage) if the input cannot be read or is malformed: the message names the file and the position.
  virtual std::optional<Array> next() = 0;

  /// "npy", "raw", "text".
  virtual std::string_view format() const noexcept = 0;
  /// The type of all elements; no value for text, whose numbers may be of several types.
  virtual std::optional<DType> type() const noexcept { return std::nullopt; }
  /// Whether the elements are the parts of complex numbers: real and imaginary in turns, along a last axis of two. Such a source goes with
  /// operations on ComplexArray; others would take the parts for numbers of their own.
  virtual bool complex() const noexcept { return false; }
  virtual std::vector<std::uint64_t> shape() const { return {}; }  ///< of an array, known once all of it was read

  virtual std::string part() const { return {}; }  ///< the part of the input that is read: "column 2 ('price')"; empty: all of it

  /// The columns that are read, known after the first next(); empty if the input is not a table.
  virtual std::span<const Column> columns() const { return {}; }
  /// The index in columns() of the latest chunk's column.
  virtual std::size_t column() const noexcept { return 0; }

  /// Of a table with keys (TextOptions::keys): the group of each element of the latest chunk. Rows with equal keys are a group; groups are
  /// numbered in the order in which their keys are first seen.
  virtual std::span<const std::uint64_t> groups() const { return {}; }
  virtual std::uint64_t group_count() const noexcept { return 0; }  ///< groups so far, those of rows without a number included
  /// The key of a group: a word for each of key_columns(), without its quotes.
  virtual std::vector<std::string> key(std::uint64_t group) const { return static_cast<void>(group), std::vector<std::string>(); }
  virtual std::span<const Column> key_columns() const { return {}; }  ///< known after the first next()

  virtual std::uint64_t missing() const noexcept { return 0; }  ///< missing numbers so far, in all columns
  /// How many numbers of its column are missing before element `index` of the latest chunk. In a table, the element's row, counted from 0,
  /// is this plus the number of elements before it. For a text, requires TextOptions::in_order.
  virtual std::uint64_t missing_before(std::uint64_t index) const { return static_cast<void>(index), 0; }
  virtual std::uint64_t bytes() const noexcept { return 0; }       ///< of the whole input; 0: unknown
  virtual std::uint64_t bytes_read() const noexcept { return 0; }  ///< so far

  /// The device in whose memory the chunks lie; nothing: host memory.
  virtual std::optional<Device> device() const { return std::nullopt; }

  /// Bytes of elements that are in memory completely, ready for any device; 0 if they are read or converted chunk by chunk.
  virtual std::uint64_t resident_bytes() const noexcept { return 0; }
};

/// Opens `path`; "-" is standard input. Pipes and devices are read to their end.
///
/// An input that begins as a .npy file is one. Anything else is raw numbers if `options.raw` says so, and otherwise text, unless it is
/// binary. A .npy or raw file in this machine's byte order is mapped into memory: one chunk, no copy. Anything else takes bounded memory
/// (under 64 MiB, more if lines of tables are longer than 256 KiB), whatever its size, and is read and converted in other threads while
/// the caller processes a chunk.
///
/// A file that is larger than the memory is not mapped, unless `options.mapped` is set: its chunks are read ahead past the page cache, in
/// about 25 MB, at the speed of the storage. The memory is what the system and control groups allow; the environment variable SAMESUM_MEMORY
/// sets another limit, in bytes. An array in Fortran order that is read by index is mapped in any case.
///
/// Data compressed by gzip or zstd are decompressed while reading (zstd's window takes up to 128 MiB more). They are recognized by their
/// first bytes; raw numbers also by a name that ends in .gz or .zst. "z.npz:name" is the array `name` of an .npz file, or any file in a zip
/// archive; the name may be omitted if the archive has one file.
///
/// An empty input, file or pipe, is an error, and so is (at its end) a text without a single number, present or missing: the output of a
/// program that failed must not be taken for a sum of 0. See InputOptions::allow_empty.
///
/// An array in Fortran order is brought into C order block by block, unless allow_any_order() was called. From a pipe, or compressed, it
/// goes through an anonymous temporary file (in TMPDIR) for that.
/// @throws Error (usage) that names the file and what is wrong with it, or for options that are invalid or contradict each other.
std::unique_ptr<Source> open_source(const std::string& path, const InputOptions& options = {});

/// The same for several columns at once, read in one pass: those of `options.text.columns` in their order, or, if none are named and the
/// text is a table (TextOptions::table), all of them. Other inputs are opened as by open_source(). If all columns are read,
/// Column::words counts the fields of a column that are words; the numbers of such a column are of little use. At most 16,384 columns.
/// Bounded memory, whatever the number of lines: for each thread about one line of 2 MiB, the longest allowed.
std::unique_ptr<Source> open_table(const std::string& path, const InputOptions& options = {});

/// For operations on one sequence of numbers. @throws Error (usage) if `source` has several columns, as known after the first next().
void require_one_column(const Source& source);

/// The exact sum over all chunks of `source`. Time and memory: those of the source, and of accumulate() for each chunk. Options::report
/// covers all chunks together. @throws Error (usage) if it has several columns.
Accumulator accumulate(Source& source, const Options& options = {});
/// The exact sum of each column of `source`; of an input that is not a table, one. O(columns) memory beside the source's.
std::vector<Accumulator> accumulate_columns(Source& source, const Options& options = {});

}  // namespace samesum
