// Text in blocks: cutting a stream of characters where no number and no record is divided, and reading the numbers of a block.
#pragma once

#include "io/number.hpp"

#include <samesum/source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// A piece of a text, and the numbers in it.
struct TextBlock {
  // Of the piece: what TextReader::fill() makes.
  std::unique_ptr<char[]> text;
  std::size_t capacity = 0;
  std::size_t begin = 0, end = 0;      ///< of what is to be read; a line end and kTextPadding bytes follow
  LineState state = LineState::start;  ///< at its beginning
  bool last = false;                   ///< nothing follows
  bool quotes = false;                 ///< there are some
  // Of the numbers: what TextReader::parse() makes.
  Numbers numbers;
  std::uint64_t missing = 0;
  std::uint64_t line_ends = 0;
  std::optional<std::size_t> comma, semicolon;  ///< offset of the first that divides numbers, without columns
  std::optional<TextError> error;               ///< `numbers` has those before it

  std::string_view view() const noexcept { return {text.get() + begin, end - begin}; }
};

inline constexpr std::size_t kTextBlockBytes = std::size_t{1} << 18;  ///< of text: with its numbers it fits a second-level cache
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 21;  ///< of a record with columns

/// Reads text. Independent of the way in which the characters arrive, and of the size of the blocks.
class TextReader {
 public:
  /// Fills its argument with characters; fewer only at the end.
  using Read = std::function<std::size_t(std::span<char>)>;

  /// Numbers of over `block_bytes` characters are refused, as are records of over `max_record_bytes`.
  TextReader(Read read, const TextOptions& options, std::size_t block_bytes = kTextBlockBytes,
             std::size_t max_record_bytes = kMaxRecordBytes);

  /// Reads the next piece into `block`. True where it is the last one, which may be empty. Blocks are filled one after the other.
  bool fill(TextBlock& block);

  /// Reads the numbers of a piece. Several blocks at a time may be parsed, in any order.
  void parse(TextBlock& block) const;

  /// "column 3 ('price')", once the first block is filled; empty where all numbers are read.
  const std::string& column_text() const noexcept { return column_text_; }

 private:
  static void reserve(TextBlock& block, std::size_t capacity);
  void read_more(TextBlock& block);
  void cut_at(TextBlock& block, std::size_t position);
  void cut_anywhere(TextBlock& block);
  void cut_after_record(TextBlock& block);
  std::size_t records_end(TextBlock& block) const;
  bool wants_more(TextBlock& block);
  bool find_column(TextBlock& block);
  void take_column(TextBlock& block, std::size_t begin, std::size_t end);
  void refuse(TextBlock& block, std::size_t offset, std::string message);
  void parse(TextBlock& block, const NumberRules& rules) const;
  void parse_all(TextBlock& block, const NumberRules& rules) const;
  void parse_column(TextBlock& block, const NumberRules& rules) const;
  bool parse_word(TextBlock& block, std::string_view word, const NumberRules& rules) const;

  const Read read_;
  const TextOptions options_;
  const std::size_t block_bytes_;
  const std::size_t max_record_bytes_;
  NumberRules rules_;

  std::vector<char> rest_;  // of the last piece: where the next one begins
  LineState state_ = LineState::start;
  bool started_ = false;
  bool ended_ = false;

  bool column_found_ = false;
  char delimiter_ = 0;      // 0: runs of blanks
  std::size_t column_ = 0;  // from 0 on
  std::string column_text_;
};

/// `text`, cut off after 40 characters; those that cannot be printed as '?'.
std::string printable(std::string_view text);

}  // namespace samesum::io
