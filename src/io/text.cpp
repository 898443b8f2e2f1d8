// A text as a stream: where it is cut into blocks, and its numbers where all of them are read. Columns are text_column.cpp's.
#include "io/text.hpp"

#include "core/float_environment.hpp"

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

// The state behind a piece of a line.
LineState state_behind(std::string_view piece, LineState state) noexcept {
  const auto is_blank = [](char c) { return class_of(c) == CharClass::blank; };
  const auto first = std::ranges::find_if_not(piece, is_blank);
  if (state == LineState::comment || first == piece.end()) return state;
  if (state == LineState::start && *first == '#') return LineState::comment;
  while (is_blank(piece.back())) piece.remove_suffix(1);
  return class_of(piece.back()) == CharClass::separator ? LineState::after_separator : LineState::after_number;
}

bool begins_as_number(const std::string& word) noexcept {
  return !word.empty() && std::string_view("-.0123456789").find(word[0]) != std::string_view::npos;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 40 ? result + "..." : result;
}

TextReader::TextReader(Read read, const TextOptions& options, std::size_t block_bytes, std::size_t max_record_bytes)
    : read_(std::move(read)),
      options_(options),
      block_bytes_(std::max(block_bytes, kByteOrderMark.size())),
      max_record_bytes_(max_record_bytes),
      rules_{options.missing, options.integers, std::ranges::any_of(options.missing, begins_as_number)} {
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
  options_.column.empty() ? cut_anywhere(block) : cut_after_record(block);
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

void TextReader::refuse(TextBlock& block, std::size_t offset, std::string message) {
  block.error = {offset, std::move(message)};
  ended_ = true;
}

// Behind the last line end; in a longer line, behind the last character that is not part of a number.
void TextReader::cut_anywhere(TextBlock& block) {
  if (ended_) return;
  const std::string_view text = block.view();
  std::size_t cut = text.rfind('\n');
  if (cut == std::string_view::npos) cut = text.rfind('\r');
  if (cut != std::string_view::npos) {
    state_ = LineState::start;
    return cut_at(block, cut + 1);
  }
  state_ = state_behind(text, state_);
  if (state_ == LineState::comment) return;
  std::size_t size = text.size();
  while (size > 0 && class_of(text[size - 1]) == CharClass::other) --size;
  if (size == 0) return refuse(block, 0, fmt::format("a number of over {} characters ('{}')", text.size(), printable(text)));
  state_ = state_behind(text.substr(0, size), block.state);
  cut_at(block, size);
}

void TextReader::parse(TextBlock& block) const {
  if (block.error) return parse(block, rules_);
  parse(block, rules_);
  const bool integers = !block.numbers.integers().empty() || !block.numbers.large().empty();
  if (!options_.in_order || !integers || block.numbers.reals().empty()) return;
  NumberRules reals = rules_;
  reals.integers = false;
  block.error.reset();
  parse(block, reals);
}

void TextReader::parse(TextBlock& block, const NumberRules& rules) const {
  block.missing = 0;
  block.comma.reset();
  block.semicolon.reset();
  block.numbers.reset(block.end / 2 + 1);
  if (block.error) return;
  const core::DefaultFloatEnvironment environment;
  options_.column.empty() ? parse_all(block, rules) : parse_column(block, rules);
  block.line_ends = static_cast<std::uint64_t>(std::count(block.text.get(), block.text.get() + block.end, '\n'));
}

bool TextReader::parse_word(TextBlock& block, std::string_view word, const NumberRules& rules) const {
  if (rules.is_missing(word)) {
    ++block.missing;
  } else if (!parse_number(word, rules, block.numbers)) {
    std::string message = fmt::format("'{}' is no number", printable(word));
    const char first = word.empty() ? '"' : word[0];
    if (options_.column.empty() && (first == '"' || ((first | 0x20) >= 'a' && (first | 0x20) <= 'z'))) {
      message += " (of a table, --column reads one column; --missing names words for missing numbers)";
    }
    block.error = {static_cast<std::size_t>(word.data() - block.text.get()), std::move(message)};
    return false;
  }
  return true;
}

void TextReader::parse_all(TextBlock& block, const NumberRules& rules) const {
  const char* at = block.text.get() + block.begin;
  const char* const end = block.text.get() + block.end;
  LineState state = block.state;
  if (state == LineState::comment) at = skip_line(at, end);
  for (;;) {
    switch (class_of(*at)) {
      case CharClass::other: {
        if (*at == '#' && state == LineState::start) {
          at = skip_line(at, end);
          continue;
        }
        const char* next = rules.missing_first ? nullptr : parse_common_number(at, rules, block.numbers);
        if (next == nullptr) {
          next = at;
          while (class_of(*next) == CharClass::other) ++next;
          if (!parse_word(block, {at, next}, rules)) return;
        }
        at = next;
        state = LineState::after_number;
        break;
      }
      case CharClass::blank:
        ++at;
        break;
      case CharClass::separator: {
        if (state != LineState::after_number) ++block.missing;
        state = LineState::after_separator;
        auto& first = *at == ',' ? block.comma : block.semicolon;
        if (!first) first = static_cast<std::size_t>(at - block.text.get());
        ++at;
        break;
      }
      case CharClass::line_end:
        if (at == end && !block.last) return;
        if (state == LineState::after_separator) ++block.missing;
        if (at == end) return;
        state = LineState::start;
        ++at;
        break;
    }
  }
}

}  // namespace samesum::io
