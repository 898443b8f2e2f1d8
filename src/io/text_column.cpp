// One column of a text.
#include "io/record.hpp"
#include "io/text.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace samesum::io {
namespace {

// The number of a column, from 1 on; nothing where `text` is a name.
std::optional<std::size_t> column_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "'" : ", '") + printable(names[i]) + "'";
  return names.size() > kMost ? text + ", ..." : text;
}

std::string counted_fields(std::size_t count) { return count == 1 ? "1 field" : fmt::format("{} fields", count); }

}  // namespace

// Whether the line has to be read on where it ends in `block`, in which case there is room for more of it.
bool TextReader::wants_more(TextBlock& block) {
  if (ended_) return false;
  if (block.capacity >= max_record_bytes_) {
    refuse(block, block.begin,
           fmt::format("a line, or a quoted field, of over {} bytes: is there a quote that is not closed?", block.capacity));
    return false;
  }
  reserve(block, std::min(2 * block.capacity, max_record_bytes_));
  read_more(block);
  return true;
}

void TextReader::cut_after_record(TextBlock& block) {
  while (!column_found_ && !find_column(block)) {
    if (!wants_more(block)) return;
  }
  if (block.error || !column_found_) return;
  for (;;) {
    block.quotes = block.view().find('"') != std::string_view::npos;
    if (ended_) return;
    if (const std::size_t end = records_end(block); end > block.begin) return cut_at(block, end);
    if (!wants_more(block) && block.error) return;
  }
}

// Behind the last record that is whole; block.begin where there is none.
std::size_t TextReader::records_end(TextBlock& block) const {
  const char* const text = block.text.get();
  if (!block.quotes) {
    const std::size_t last = block.view().rfind('\n');
    return last == std::string_view::npos ? block.begin : block.begin + last + 1;
  }
  const char* at = text + block.begin;
  const char* const end = text + block.end;
  while (const char* next = at < end ? record_end(at, end, delimiter_) : nullptr) at = next;
  return static_cast<std::size_t>(at - text);
}

// Looks for the first record. False where the text has to be read on for that.
bool TextReader::find_column(TextBlock& block) {
  const char* const text = block.text.get();
  const char* at = text + block.begin;
  const char* const end = text + block.end;
  while (at < end) {
    const bool record = line_kind(at, end, 0) == LineKind::record;
    const std::optional<char> delimiter = record ? find_delimiter(at, end, ended_) : delimiter_;
    if (!delimiter) return false;
    delimiter_ = *delimiter;
    const char* next = record_end(at, end, delimiter_);
    if (next == nullptr && !ended_) return false;
    if (next == nullptr) next = end;
    if (record) {
      take_column(block, static_cast<std::size_t>(at - text), static_cast<std::size_t>(next - text));
      return true;
    }
    at = next;
  }
  if (!ended_) return false;
  if (!column_number(options_.column)) refuse(block, block.end, "there is no line with the names of the columns");
  return true;
}

// Takes the record that is the first one, which may have the names of the columns.
void TextReader::take_column(TextBlock& block, std::size_t begin, std::size_t end) {
  column_found_ = true;
  const std::vector<std::string> fields = split_record(block.text.get() + begin, block.text.get() + end, delimiter_);
  const std::optional<std::size_t> number = column_number(options_.column);
  bool header = true;
  if (number) {
    if (*number == 0) return refuse(block, begin, "columns are numbered from 1 on: there is none of the number 0");
    if (*number > fields.size()) {
      return refuse(block, begin, fmt::format("there is no column {}: the line has {}", *number, counted_fields(fields.size())));
    }
    Numbers numbers;
    std::size_t words = 0, values = 0;
    for (const std::string& field : fields) {
      numbers.reset(1);
      if (field.empty() || rules_.is_missing(field)) continue;
      ++(parse_number(field, rules_, numbers) ? values : words);
    }
    if (!options_.header && words != 0 && values != 0) {
      return refuse(block, begin,
                    "the first line has both words and numbers: say whether it names the columns (--header) or not (--no-header)");
    }
    header = options_.header.value_or(words != 0);
    column_ = *number - 1;
  } else {
    if (options_.header == false)
      return refuse(block, begin, fmt::format("a column named '{}', but no header to find it in", printable(options_.column)));
    const auto same = std::ranges::find(fields, options_.column);
    if (same == fields.end()) {
      return refuse(block, begin, fmt::format("there is no column '{}'; there are {}", printable(options_.column), list(fields)));
    }
    if (std::find(same + 1, fields.end(), options_.column) != fields.end()) {
      return refuse(block, begin, fmt::format("there are several columns '{}'; take one by its number", printable(options_.column)));
    }
    column_ = static_cast<std::size_t>(same - fields.begin());
  }
  column_text_ = fmt::format("column {}", column_ + 1);
  if (header) {
    column_text_ += fmt::format(" ('{}')", printable(fields[column_]));
    block.begin = end;
  }
}

void TextReader::parse_column(TextBlock& block, const NumberRules& rules) const {
  if (!column_found_) return;
  const char* const text = block.text.get();
  const char* at = text + block.begin;
  const char* const end = text + block.end;
  const auto fail = [&](const char* where, std::string message) {
    block.error = {static_cast<std::size_t>(where - text), std::move(message)};
  };
  while (at < end) {
    if (line_kind(at, end, delimiter_) != LineKind::record) {
      at = record_end(at, end, delimiter_);
      if (at == nullptr) return;
      continue;
    }
    const char* next = at;
    std::size_t index = 0;
    Field field, wanted;
    bool found = false;
    for (; next != nullptr; next = next_field(at, end, delimiter_), ++index) {
      at = read_field(next, end, delimiter_, field);
      if (!field.closed) {
        return fail(field.text.data() - 1, fmt::format("the quoted field '{}' {}", printable(field.text),
                                                       at == end ? "is not closed" : "goes on after its closing quote"));
      }
      if (index != column_) continue;
      found = true;
      wanted = field;
      if (!block.quotes) break;
    }
    if (!found) return fail(at, fmt::format("a line of {}, which has no {}", counted_fields(index), column_text_));
    const std::string_view word = wanted.text;
    if (word.empty()) {
      ++block.missing;
    } else if (wanted.quoted || rules.missing_first ||
               parse_common_number(word.data(), rules, block.numbers) != word.data() + word.size()) {
      if (!parse_word(block, word, rules)) return;
    }
    const auto* const line_end = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    at = line_end != nullptr ? line_end + 1 : end;
  }
}

}  // namespace samesum::io
