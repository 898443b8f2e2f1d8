// Text in blocks: cutting a stream of characters where no number and no record is divided, and reading the numbers of a block.
#pragma once

#include "io/text/number.hpp"

#include <samesum/source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::io {

/// What the characters so far leave behind for the next ones, where a text is read without columns.
enum class LineState : std::uint8_t {
  start,            ///< of a line: nothing yet, or blanks
  after_number,     ///< or after a missing one
  after_separator,  ///< a number, or a missing one, comes next
  comment,          ///< up to the end of the line
};

/// Where a text is wrong, and what is wrong.
struct TextError {
  std::size_t offset;  ///< in the block
  std::string message;
};

/// What a text is read as.
enum class Layout : std::uint8_t {
  sequence,      ///< numbers with anything between
  table,         ///< records of fields
  by_first_line  ///< a table where the first line has names with a separator between them
};

/// What a block has of a column; without columns, all there is.
struct TextColumn {
  Numbers numbers;
  std::uint64_t words = 0;                         ///< fields that are neither numbers nor missing, where such are counted
  std::size_t first_word = 0, first_word_end = 0;  ///< offsets in the block
};

/// A piece of a text, and the numbers in it.
struct TextBlock {
  // Of the piece: what TextReader::fill() makes.
  std::unique_ptr<char[]> text;
  std::size_t capacity = 0;
  std::size_t begin = 0, end = 0;      ///< of what is to be read; a line end and kTextPadding bytes follow
  LineState state = LineState::start;  ///< at its beginning
  bool last = false;                   ///< nothing follows
  bool quotes = false;                 ///< there are some
  bool skipped = false;                ///< there is nothing to be read in it
  // Of the numbers: what TextReader::parse() makes.
  std::vector<TextColumn> columns;
  std::uint64_t line_ends = 0;
  std::optional<std::size_t> comma, semicolon;  ///< offset of the first that divides numbers, without columns
  std::optional<TextError> error;               ///< `columns` have what is before it

  std::string_view view() const noexcept { return {text.get() + begin, end - begin}; }
};

inline constexpr std::size_t kTextBlockBytes = std::size_t{1} << 18;  ///< of text: with its numbers it fits a second-level cache
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 21;  ///< of a record with columns

/// Columns of a table are numbered by 14 bits, as in spreadsheets.
inline constexpr std::size_t kMaxColumns = 16384;

/// Reads text. Independent of the way in which the characters arrive, and of the size of the blocks.
class TextReader {
 public:
  /// Fills its argument with characters; fewer only at the end.
  using Read = std::function<std::size_t(std::span<char>)>;

  /// Numbers of over `block_bytes` characters are refused, as are records of over `max_record_bytes`.
  /// @throws Error (usage) for options that make no sense, or not together.
  TextReader(Read read, const TextOptions& options, Layout layout, std::size_t block_bytes = kTextBlockBytes,
             std::size_t max_record_bytes = kMaxRecordBytes);
  /// Reads the next piece into `block`. True where it is the last one, which may be empty. Blocks are filled one after the other.
  bool fill(TextBlock& block);

  /// Reads the numbers of a piece. Several blocks at a time may be parsed, in any order.
  void parse(TextBlock& block) const;

  /// The columns of a table, once the first block that is not skipped is filled; empty where there are none.
  const std::vector<Column>& columns() const noexcept { return columns_; }

 private:
  static void reserve(TextBlock& block, std::size_t capacity);
  void read_more(TextBlock& block);
  void cut_at(TextBlock& block, std::size_t position);
  void cut_anywhere(TextBlock& block);
  void cut_after_record(TextBlock& block);
  bool skip_lines(TextBlock& block);
  void look_at_first_line(TextBlock& block);
  std::optional<bool> is_table(const TextBlock& block) const;
  std::size_t records_end(TextBlock& block) const;
  bool wants_more(TextBlock& block);
  std::optional<char> delimiter_of(const char* at, const char* end) const;
  bool has_names(const std::vector<std::string>& fields, bool& numbers) const;
  bool find_columns(TextBlock& block);
  void take_columns(TextBlock& block, std::size_t begin, std::size_t end);
  bool take_column(TextBlock& block, std::size_t begin, const std::string& wanted, const std::vector<std::string>& fields);
  void take_delimiter(char delimiter);
  void refuse(TextBlock& block, std::size_t offset, std::string message);
  void parse_all(TextBlock& block) const;
  void parse_records(TextBlock& block) const;
  bool parse_field(TextBlock& block, TextColumn& column, std::string_view word, bool quoted) const;
  bool parse_word(TextBlock& block, TextColumn& column, std::string_view word) const;

  const Read read_;
  const TextOptions options_;
  const std::size_t block_bytes_;
  const std::size_t max_record_bytes_;
  NumberRules rules_;

  Layout layout_;
  std::vector<char> rest_;  // of the last piece: where the next one begins
  LineState state_ = LineState::start;
  bool started_ = false;
  bool ended_ = false;
  std::uint64_t lines_to_skip_;

  bool columns_found_ = false;
  char delimiter_ = 0;  // 0: runs of blanks
  std::vector<Column> columns_;
  std::vector<std::uint32_t> places_;  // of each field in columns_, or kNoPlace
};

/// "column 3 ('price')".
std::string text_of(const Column& column);

/// `text` in UTF-8, cut off after `most` characters; those that cannot be printed, and bytes that are no UTF-8, as '?'.
std::string printable(std::string_view text, std::size_t most = 40);

}  // namespace samesum::io
