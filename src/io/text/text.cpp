// Text as a stream: cutting it into blocks, and reading the numbers without columns. Columns are in text_table.cpp.
#include "io/text/text.hpp"

#include "core/float_environment.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace samesum::io {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

const char* skip_line(const char* at, const char* end) noexcept {
  return std::find_if(at, end, [](char c) { return c == '\n' || c == '\r'; });
}

// The state after a piece of a line.
LineState state_behind(std::string_view piece, LineState state, const NumberRules& rules) noexcept {
  const auto is_blank = [&](char c) { return rules.class_of(c) == CharClass::blank; };
  const auto first = std::ranges::find_if_not(piece, is_blank);
  if (state == LineState::comment || first == piece.end()) return state;
  if (state == LineState::start && *first == '#') return LineState::comment;
  while (is_blank(piece.back())) piece.remove_suffix(1);
  return rules.class_of(piece.back()) == CharClass::separator ? LineState::after_separator : LineState::after_number;
}

bool begins_as_number(const std::string& word) noexcept {
  return !word.empty() && std::string_view("-.,0123456789").find(word[0]) != std::string_view::npos;
}

// The separators of numbers without columns, beside blanks.
std::string separators(const TextOptions& options) {
  if (options.separator == ' ') return "";
  std::string found = options.separator != 0 ? std::string(1, options.separator) : ",;";
  if (options.separator == 0) std::erase_if(found, [&](char c) { return c == options.decimal || c == options.thousands; });
  return found;
}

void require_sound(const TextOptions& options, Layout layout) {
  const auto require = [](bool condition, std::string message) {
    if (!condition) throw Error(ErrorKind::usage, std::move(message));
  };
  const auto is_one_of = [](char c, std::string_view these) { return these.find(c) != std::string_view::npos; };
  const char separator = options.separator;
  require(separator == 0 || separator == '\t' || separator == ' ' || (separator > ' ' && separator <= '~'),
          "columns are separated by one printable character of ASCII, a blank or a tab, and by nothing else");
  require(separator == 0 || !((separator >= '0' && separator <= '9') || ((separator | 0x20) >= 'a' && (separator | 0x20) <= 'z') ||
                              is_one_of(separator, "\"+-#")),
          fmt::format("'{}' cannot separate columns: letters, digits, quotes, signs and # have other meanings", separator));
  require(is_one_of(options.decimal, ".,"), fmt::format("decimals are separated by a point or a comma, not by '{}'", options.decimal));
  require(
      options.thousands == 0 || is_one_of(options.thousands, ",.'_ "),
      fmt::format("thousands are separated by a comma, a point, an apostrophe, an underscore or a blank, not by '{}'", options.thousands));
  require(options.thousands != options.decimal,
          fmt::format("'{}' cannot separate both decimals and thousands: give another separator of one of them", options.decimal));
  if (layout == Layout::table) {
    require(options.thousands != ' ' || separator != ' ', "blanks cannot separate both columns and thousands");
  } else {
    require(options.thousands != ' ', "blanks between thousands are read in columns alone: without columns they divide numbers");
    require(separator == 0 || (separator != options.decimal && separator != options.thousands),
            "one character cannot both separate numbers and stand in them, but in quoted fields of columns");
  }
}

// The size of the UTF-8 character at the start of `text`, if it is printable; else 0. Control characters and changes of the writing
// direction are not printable.
std::size_t printable_size(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  char32_t character = first & (0xff >> (size + 1));
  for (const char c : text.substr(1, size - 1)) {
    if ((c & 0xc0) != 0x80) return 0;
    character = character << 6 | (c & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto within = [character](char32_t low, char32_t high) { return character >= low && character <= high; };
  const bool valid = character >= kLeast[size] && character <= 0x10ffff && !within(0xd800, 0xdfff);
  const bool control = within(0x80, 0x9f) || within(0x200e, 0x200f) || within(0x2028, 0x202e) || within(0x2066, 0x2069);
  return valid && !control ? size : 0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) return result + "...";
    const std::size_t size = printable_size(text);
    result += size == 0 ? std::string_view("?") : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

TextReader::TextReader(Read read, const TextOptions& options, Layout layout, std::size_t block_bytes, std::size_t max_record_bytes)
    : read_(std::move(read)),
      options_(options),
      block_bytes_(std::max(block_bytes, kByteOrderMark.size())),
      max_record_bytes_(max_record_bytes),
      rules_{options.missing, options.integers,  std::ranges::any_of(options.missing, begins_as_number),
             options.decimal, options.thousands, char_classes(separators(options))},
      layout_(layout),
      lines_to_skip_(options.skip_lines) {
  require_sound(options, layout);
  rules_.missing.emplace_back("NA");
}

bool TextReader::fill(TextBlock& block) {
  block.begin = block.end = 0;
  block.error.reset();
  reserve(block, std::max(block_bytes_, rest_.size()));
  std::ranges::copy(rest_, block.text.get());
  block.end = rest_.size();
  rest_.clear();
  read_more(block);
  if (!std::exchange(started_, true) && block.view().starts_with(kByteOrderMark)) {
    block.end -= kByteOrderMark.size();
    std::memmove(block.text.get(), block.text.get() + kByteOrderMark.size(), block.end);
  }
  block.state = state_;
  block.skipped = !skip_lines(block);
  if (!block.skipped) {
    if (layout_ == Layout::by_first_line) look_at_first_line(block);
    layout_ == Layout::table ? cut_after_record(block) : cut_anywhere(block);
  }
  block.last = ended_;
  block.text[block.end] = '\n';
  std::memset(block.text.get() + block.end + 1, 0, kTextPadding);
  return ended_;
}

void TextReader::reserve(TextBlock& block, std::size_t capacity) {
  if (capacity <= block.capacity) return;
  auto text = std::make_unique_for_overwrite<char[]>(capacity + 1 + kTextPadding);
  std::copy_n(block.text.get(), block.end, text.get());
  block.text = std::move(text);
  block.capacity = capacity;
}

void TextReader::read_more(TextBlock& block) {
  const std::span<char> room(block.text.get() + block.end, block.capacity - block.end);
  const std::size_t count = read_(room);
  block.end += count;
  if (count < room.size()) ended_ = true;
}

void TextReader::cut_at(TextBlock& block, std::size_t position) {
  rest_.assign(block.text.get() + position, block.text.get() + block.end);
  block.end = position;
}

// Skips lines; returns whether all lines to be skipped have been.
bool TextReader::skip_lines(TextBlock& block) {
  while (lines_to_skip_ != 0) {
    const std::size_t line_end = block.view().find('\n');
    block.begin = line_end == std::string_view::npos ? block.end : block.begin + line_end + 1;
    if (line_end == std::string_view::npos) return ended_;
    --lines_to_skip_;
  }
  return true;
}

void TextReader::refuse(TextBlock& block, std::size_t offset, std::string message) {
  block.error = {offset, std::move(message)};
  ended_ = true;
}

// Cuts after the last line end; in a longer line, after the last character that is not part of a number.
void TextReader::cut_anywhere(TextBlock& block) {
  if (ended_) return;
  const std::string_view text = block.view();
  std::size_t cut = text.rfind('\n');
  if (cut == std::string_view::npos) cut = text.rfind('\r');
  if (cut != std::string_view::npos) {
    state_ = LineState::start;
    return cut_at(block, block.begin + cut + 1);
  }
  state_ = state_behind(text, state_, rules_);
  if (state_ == LineState::comment) return;
  std::size_t size = text.size();
  while (size > 0 && rules_.class_of(text[size - 1]) == CharClass::other) --size;
  if (size == 0 && block.begin != 0) {  // skipped lines have used up the block
    state_ = block.state;
    block.skipped = true;
    return cut_at(block, block.begin);
  }
  if (size == 0) return refuse(block, block.begin, fmt::format("a number of over {} characters ('{}')", text.size(), printable(text)));
  state_ = state_behind(text.substr(0, size), block.state, rules_);
  cut_at(block, block.begin + size);
}

void TextReader::parse(TextBlock& block) const {
  block.comma.reset();
  block.semicolon.reset();
  block.columns.resize(block.skipped ? 0 : layout_ == Layout::table ? columns_.size() : 1);
  for (TextColumn& column : block.columns) {
    column.numbers.reset(layout_ == Layout::table ? 0 : block.end / 2 + 1);
    column.words = 0;
  }
  block.keys.clear();
  block.key_of_row.clear();
  if (block.error) return;
  if (!block.skipped) {
    const core::DefaultFloatEnvironment environment;
    layout_ == Layout::table ? parse_records(block) : parse_all(block);
    for (TextColumn& column : block.columns) column.numbers.finish(options_.in_order);
  }
  block.line_ends = static_cast<std::uint64_t>(std::count(block.text.get(), block.text.get() + block.end, '\n'));
}

bool TextReader::parse_word(TextBlock& block, TextColumn& column, std::string_view word) const {
  if (rules_.is_missing(word)) {
    column.numbers.add_missing();
    return true;
  }
  if (parse_number(word, rules_, column.numbers)) return true;
  const auto offset = static_cast<std::size_t>(word.data() - block.text.get());
  if (layout_ == Layout::table && options_.columns.empty()) {
    if (column.words++ == 0) {
      column.first_word = offset;
      column.first_word_end = offset + word.size();
    }
    return true;
  }
  std::string message = fmt::format("'{}' is no number", printable(word));
  const auto first = static_cast<unsigned char>(word.empty() ? '"' : word[0]);  // char has a sign on some machines alone
  if (first == '{') {
    message += kNoJson;
  } else if (layout_ != Layout::table && (first == '"' || first >= 0x80 || ((first | 0x20) >= 'a' && (first | 0x20) <= 'z'))) {
    message += " (of a table, --column reads one column; --missing names words for missing numbers)";
  } else if (word.find_first_not_of("+-0123456789.,") == std::string_view::npos && word.find(',') != std::string_view::npos) {
    message += " (--decimal , reads decimal commas, --thousands , commas between thousands)";
  }
  block.error = {offset, std::move(message)};
  return false;
}

void TextReader::parse_all(TextBlock& block) const {
  const char* at = block.text.get() + block.begin;
  const char* const end = block.text.get() + block.end;
  TextColumn& column = block.columns.front();
  LineState state = block.state;
  if (state == LineState::comment) at = skip_line(at, end);
  for (;;) {
    switch (rules_.class_of(*at)) {
      case CharClass::other: {
        if (*at == '#' && state == LineState::start) {
          at = skip_line(at, end);
          continue;
        }
        const char* next = rules_.missing_first ? nullptr : parse_common_number(at, rules_, column.numbers);
        if (next == nullptr) {
          next = at;
          while (rules_.class_of(*next) == CharClass::other) ++next;
          if (!parse_word(block, column, {at, next})) return;
        }
        at = next;
        state = LineState::after_number;
        break;
      }
      case CharClass::blank:
        ++at;
        break;
      case CharClass::separator: {
        if (state != LineState::after_number) column.numbers.add_missing();
        state = LineState::after_separator;
        auto& first = *at == ',' ? block.comma : block.semicolon;
        if (!first) first = static_cast<std::size_t>(at - block.text.get());
        ++at;
        break;
      }
      case CharClass::line_end:
        if (at == end && !block.last) return;
        if (state == LineState::after_separator) column.numbers.add_missing();
        if (at == end) return;
        state = LineState::start;
        ++at;
        break;
    }
  }
}

}  // namespace samesum::io
