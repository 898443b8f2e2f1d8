// Text in blocks: cutting a stream of characters without dividing numbers or records, and reading the numbers of a block.
#pragma once

#include "io/text/keys.hpp"
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

/// The state of a text without columns between two characters.
enum class LineState : std::uint8_t {
  start,            ///< at the start of a line, or after blanks there
  after_number,     ///< or a missing one
  after_separator,  ///< a number, or a missing one, must follow
  comment,          ///< up to the end of the line
};

/// The position and the description of an error in a text.
struct TextError {
  std::size_t offset;  ///< in the block
  std::string message;
};

/// The interpretation of a text.
enum class Layout : std::uint8_t {
  sequence,      ///< numbers with separators between
  table,         ///< records of fields
  by_first_line  ///< a table where the first line has names with a separator between them
};

/// The numbers of one column in a block; without columns, all numbers.
struct TextColumn {
  Numbers numbers;
  std::uint64_t words = 0;                         ///< fields that are neither numbers nor missing, where they are counted
  std::size_t first_word = 0, first_word_end = 0;  ///< offsets in the block
};

/// A piece of a text, and its numbers.
struct TextBlock {
  // Set by TextReader::fill():
  std::unique_ptr<char[]> text;
  std::size_t capacity = 0;
  std::size_t begin = 0, end = 0;      ///< of the text to read; a line end and kTextPadding bytes follow
  LineState state = LineState::start;  ///< at its beginning
  bool last = false;                   ///< no block follows
  bool quotes = false;                 ///< it contains quotes
  bool skipped = false;                ///< it contains nothing to read
  // Set by TextReader::parse():
  std::vector<TextColumn> columns;
  KeyTable keys;                          ///< of the block alone
  std::vector<std::uint32_t> key_of_row;  ///< its number in `keys`
  std::uint64_t line_ends = 0;
  std::optional<std::size_t> comma, semicolon;  ///< offset of the first one between numbers, without columns
  std::optional<TextError> error;               ///< `columns` have the numbers before it

  std::string_view view() const noexcept { return {text.get() + begin, end - begin}; }
};

inline constexpr std::size_t kTextBlockBytes = std::size_t{1} << 18;  ///< of text: with its numbers it fits a second-level cache
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 21;  ///< limit for a record with columns

/// All are read only from tables of up to so many columns, each of which takes memory.
inline constexpr std::size_t kMaxColumns = std::size_t{1} << 16;

inline constexpr std::string_view kNoJson = " (JSON is no table: jq -r '[.x, .y] | @csv' makes one of it)";

/// Reads text. The result does not depend on how the characters arrive, nor on the size of the blocks.
class TextReader {
 public:
  /// Fills its argument with characters; fewer only at the end.
  using Read = std::function<std::size_t(std::span<char>)>;

  /// Numbers of more than `block_bytes` characters are refused, as are records of more than `max_record_bytes`.
  /// @throws Error (usage) for options that are invalid or contradict each other.
  TextReader(Read read, const TextOptions& options, Layout layout, std::size_t block_bytes = kTextBlockBytes,
             std::size_t max_record_bytes = kMaxRecordBytes);
  /// Reads the next piece into `block`; true if it is the last one, which may be empty. Blocks must be filled one after the other.
  bool fill(TextBlock& block);

  /// Reads the numbers of a piece. Several blocks may be parsed concurrently, in any order.
  void parse(TextBlock& block) const;

  /// The columns of a table, once the first block that is not skipped is filled; empty where there are none.
  const std::vector<Column>& columns() const noexcept { return columns_; }
  const std::vector<Column>& key_columns() const noexcept { return key_columns_; }

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
  bool needs_more(TextBlock& block);
  std::optional<char> delimiter_of(const char* at, const char* end) const;
  bool has_names(const std::vector<std::string>& fields, bool& numbers) const;
  bool find_columns(TextBlock& block);
  void take_columns(TextBlock& block, std::size_t begin, std::size_t end);
  bool take_column(TextBlock& block, std::size_t begin, const std::string& wanted, const std::vector<std::string>& fields,
                   std::vector<Column>& columns);
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
  std::vector<char> rest_;  // the end of the last piece, which the next one begins with
  LineState state_ = LineState::start;
  bool started_ = false;
  bool ended_ = false;
  std::uint64_t lines_to_skip_;

  bool columns_found_ = false;
  char delimiter_ = 0;  // 0: runs of blanks
  std::vector<Column> columns_;
  std::vector<std::uint32_t> column_of_;  // the index in columns_ of each field, or kNoColumn
  std::vector<Column> key_columns_;
  std::vector<std::uint32_t> key_of_;  // likewise, in key_columns_
  std::size_t wanted_fields_ = 0;      // of a record: up to the last one that is read
};

/// "column 3 ('price')".
std::string text_of(const Column& column);

/// `text` in UTF-8, truncated to `most` characters; unprintable characters and invalid bytes become '?'.
std::string printable(std::string_view text, std::size_t most = 40);

}  // namespace samesum::io
