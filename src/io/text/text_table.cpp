// Columns of a text.
#include "io/text/record.hpp"
#include "io/text/text.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace samesum::io {
namespace {

// The number of a column, counted from 1; no value where `text` is a name.
std::optional<std::size_t> column_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kMax = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMax); ++i) text += (i == 0 ? "'" : ", '") + printable(names[i]) + "'";
  return names.size() > kMax ? text + ", ..." : text;
}

constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};

bool is_quoted(std::string_view name) noexcept { return name.size() > 2 && name.front() == '"' && name.back() == '"'; }

Column numbered(std::size_t number) {
  Column column;
  column.number = number;
  column.label = std::to_string(number);
  return column;
}

std::string counted_fields(std::size_t count) { return count == 1 ? "1 field" : fmt::format("{} fields", count); }

}  // namespace

// Whether the line that `block` ends in must be read further; enlarges the block in that case.
bool TextReader::needs_more(TextBlock& block) {
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
  while (!columns_found_ && !find_columns(block)) {
    if (!needs_more(block)) return;
  }
  if (block.error || !columns_found_) return;
  for (;;) {
    block.quotes = block.view().find('"') != std::string_view::npos;
    if (ended_) return;
    if (const std::size_t end = records_end(block); end > block.begin) return cut_at(block, end);
    if (!needs_more(block) && block.error) return;
  }
}

// The end of the last complete record; block.begin where there is none.
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

// The delimiter of the first record, at `at`; no value where more text is needed to decide.
std::optional<char> TextReader::delimiter_of(const char* at, const char* end) const {
  if (options_.separator != 0) return options_.separator == ' ' ? '\0' : options_.separator;
  return find_delimiter(at, end, ended_, options_.decimal == ',');
}

// Whether the first record has words among its fields; sets `numbers` if it has numbers.
bool TextReader::has_names(const std::vector<std::string>& fields, bool& numbers) const {
  Numbers unused;
  bool words = false;
  for (const std::string& field : fields) {
    if (field.empty() || rules_.is_missing(field)) continue;
    unused.reset(1);
    (parse_number(field, rules_, unused) ? numbers : words) = true;
  }
  return words;
}

// Whether the first line has names, with a separator between them; no value where more text is needed to decide.
std::optional<bool> TextReader::is_table(const TextBlock& block) const {
  const char* at = block.text.get() + block.begin;
  const char* const end = block.text.get() + block.end;
  const std::optional<bool> no_line = ended_ ? std::optional(false) : std::nullopt;
  while (at < end && line_kind(at, end, 0) != LineKind::record) {
    at = record_end(at, end, 0);
    if (at == nullptr) return no_line;
  }
  if (at == end) return no_line;
  const std::optional<char> delimiter = delimiter_of(at, end);
  if (!delimiter || (record_end(at, end, *delimiter) == nullptr && !ended_)) return std::nullopt;
  if (*delimiter == 0) return false;
  const std::vector<std::string> fields = split_record(at, end, *delimiter);
  bool numbers = false;
  return fields.size() > 1 && has_names(fields, numbers) && !numbers;
}

void TextReader::look_at_first_line(TextBlock& block) {
  std::optional<bool> table = is_table(block);
  while (!table && !ended_ && block.capacity < max_record_bytes_) {
    reserve(block, std::min(2 * block.capacity, max_record_bytes_));
    read_more(block);
    table = is_table(block);
  }
  layout_ = table.value_or(false) ? Layout::table : Layout::sequence;
}

void TextReader::take_delimiter(char delimiter) {
  delimiter_ = delimiter;
  if (delimiter == 0) {
    rules_.classes = char_classes("");
  } else {
    rules_.classes = char_classes({&delimiter, 1});
  }
}

// Finds the first record. False where more text is needed.
bool TextReader::find_columns(TextBlock& block) {
  const char* const text = block.text.get();
  const char* at = text + block.begin;
  const char* const end = text + block.end;
  while (at < end) {
    const bool record = line_kind(at, end, 0) == LineKind::record;
    const std::optional<char> delimiter = record ? delimiter_of(at, end) : '\0';
    if (!delimiter) return false;
    const char* next = record_end(at, end, *delimiter);
    if (next == nullptr && !ended_) return false;
    if (next == nullptr) next = end;
    if (record) {
      take_delimiter(*delimiter);
      take_columns(block, static_cast<std::size_t>(at - text), static_cast<std::size_t>(next - text));
      return true;
    }
    at = next;
  }
  if (!ended_) return false;
  for (const std::string& wanted : options_.columns) {  // without a record, column numbers cannot be checked
    const std::optional<std::size_t> number = column_number(wanted);
    if (!number) refuse(block, block.end, "there is no line with the names of the columns");
    columns_.push_back(numbered(number.value_or(0)));
  }
  return true;
}

// Reads the first record, which may have the names of the columns.
void TextReader::take_columns(TextBlock& block, std::size_t begin, std::size_t end) {
  columns_found_ = true;
  if (delimiter_ == 0 && options_.thousands == ' ') {
    return refuse(block, begin, "blanks cannot separate both columns and thousands: say what separates the columns (--sep)");
  }
  const std::vector<std::string> fields = split_record(block.text.get() + begin, block.text.get() + end, delimiter_);
  if (options_.columns.empty() && !options_.keys.empty()) {
    columns_.emplace_back().label = "rows";  // a number 1 for each
  } else if (options_.columns.empty()) {
    if (fields.size() > kMaxColumns) {
      return refuse(block, begin,
                    fmt::format("a table of {} columns, more than {}: name those to be read (--column)", fields.size(), kMaxColumns));
    }
    for (std::size_t i = 1; i <= fields.size(); ++i) columns_.push_back(numbered(i));
  }
  bool named = false;
  for (const std::string& wanted : options_.columns) {
    named |= !column_number(wanted);
    if (!take_column(block, begin, wanted, fields, columns_)) return;
  }
  for (const std::string& wanted : options_.keys) {
    named |= !column_number(wanted);
    if (!take_column(block, begin, wanted, fields, key_columns_)) return;
  }
  bool header = true;
  const auto place = [&](Column& column, std::size_t i, std::vector<std::uint32_t>& index_of) {
    const std::size_t field = column.number - 1;
    if (header && !fields[field].empty()) {
      column.name = fields[field];
      column.label = printable(fields[field], fields[field].size());
    }
    index_of.resize(std::max(index_of.size(), field + 1), kNoColumn);
    if (index_of[field] != kNoColumn) {
      refuse(block, begin, fmt::format("column {} is asked for twice", field + 1));
      return false;
    }
    index_of[field] = static_cast<std::uint32_t>(i);
    return true;
  };
  if (!named) {
    bool numbers = false;
    const bool words = has_names(fields, numbers);
    if (!options_.header && words && numbers) {
      return refuse(block, begin,
                    "the first line has both words and numbers: say whether it names the columns (--header) or not (--no-header)");
    }
    header = options_.header.value_or(words);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].number != 0 && !place(columns_[i], i, column_of_)) return;
  }
  for (std::size_t i = 0; i < key_columns_.size(); ++i) {
    if (!place(key_columns_[i], i, key_of_)) return;
  }
  wanted_fields_ = std::max(column_of_.size(), key_of_.size());
  column_of_.resize(fields.size(), kNoColumn);
  key_of_.resize(fields.size(), kNoColumn);
  if (header) block.begin = end;
}

// Adds one column by its number or name; false where there is none.
bool TextReader::take_column(TextBlock& block, std::size_t begin, const std::string& wanted, const std::vector<std::string>& fields,
                             std::vector<Column>& columns) {
  const auto fail = [&](std::string message) {
    refuse(block, begin, std::move(message));
    return false;
  };
  if (const std::optional<std::size_t> number = column_number(wanted)) {
    if (*number == 0) return fail("columns are numbered from 1 on: there is none of the number 0");
    if (*number > fields.size()) {
      return fail(fmt::format("there is no column {}: the line has {}", *number, counted_fields(fields.size())));
    }
    columns.push_back(numbered(*number));
    return true;
  }
  const std::string name = is_quoted(wanted) ? wanted.substr(1, wanted.size() - 2) : wanted;
  if (options_.header == false) return fail(fmt::format("a column named '{}', but no header to find it in", printable(name)));
  const auto same = std::ranges::find(fields, name);
  if (same == fields.end()) {
    const bool json = !fields.empty() && fields[0].starts_with('{');
    return fail(fmt::format("there is no column '{}'; there are {}{}", printable(name), list(fields), json ? kNoJson : ""));
  }
  if (std::find(same + 1, fields.end(), name) != fields.end()) {
    return fail(fmt::format("there are several columns '{}'; take one by its number", printable(name)));
  }
  columns.push_back(numbered(static_cast<std::size_t>(same - fields.begin()) + 1));
  return true;
}

bool TextReader::parse_field(TextBlock& block, TextColumn& column, std::string_view word, bool quoted) const {
  if (word.empty()) {
    column.numbers.add_missing();
    return true;
  }
  column.numbers.reserve_one();
  if (!quoted && !rules_.missing_first) {
    const char* const stop = parse_common_number(word.data(), rules_, column.numbers);
    if (stop == word.data() + word.size()) return true;
    if (stop != nullptr) column.numbers.remove_last();  // the field only begins with a number, or the number continues after it
  }
  return parse_word(block, column, word);
}

void TextReader::parse_records(TextBlock& block) const {
  const char* const text = block.text.get();
  const char* at = text + block.begin;
  const char* const end = text + block.end;
  const bool keyed = !key_columns_.empty();
  const std::size_t all_fields = column_of_.size(), wanted_fields = wanted_fields_;
  // Where blanks separate fields, the last one may have blanks in it, as the command that `ps` prints, if it is not read.
  const bool blanks_at_end = delimiter_ == 0 && wanted_fields < all_fields;
  std::vector<Field> key_fields(key_columns_.size());
  std::string key;
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
    Field field;
    for (; next != nullptr; next = next_field(at, end, delimiter_), ++index) {
      if (index == wanted_fields && !block.quotes) {  // the fields behind those that are read are only counted
        const auto* const line_end = static_cast<const char*>(std::memchr(next, '\n', static_cast<std::size_t>(end - next)));
        const char* const stop = line_end != nullptr ? line_end : end;
        const std::size_t found = index + count_fields(next, stop, delimiter_);
        if (found == all_fields || (blanks_at_end && found > all_fields)) {
          at = stop;
          index = all_fields;
          break;
        }
      }
      at = read_field(next, end, delimiter_, field);
      if (!field.closed) {
        const bool no_quote = field.text.data() + field.text.size() == end;
        if (blanks_at_end && index >= wanted_fields && !no_quote) continue;
        return fail(field.text.data() - 1, fmt::format("the quoted field '{}' {}", printable(field.text),
                                                       no_quote ? "is not closed" : "goes on after its closing quote"));
      }
      if (index >= all_fields) {
        if (blanks_at_end) continue;
        return fail(next,
                    fmt::format("a line of over {}, the number of columns: put a field that has the separator in it in quotes, or say what "
                                "separates columns (--sep)",
                                counted_fields(all_fields)));
      }
      if (const std::uint32_t column = column_of_[index]; column != kNoColumn) {
        if (!parse_field(block, block.columns[column], field.text, field.quoted)) return;
      }
      if (keyed && key_of_[index] != kNoColumn) key_fields[key_of_[index]] = field;
    }
    if (index < all_fields) {
      std::vector<Column> wanted = columns_;
      wanted.insert(wanted.end(), key_columns_.begin(), key_columns_.end());
      Column column = *std::ranges::max_element(wanted, {}, &Column::number);
      if (column.number <= index) column = numbered(all_fields);  // none that is read is missing
      return fail(at, fmt::format("a line of {}, which has no {}: write NA for a missing number", counted_fields(index), text_of(column)));
    }
    if (keyed) {
      key.clear();
      for (const Field& part : key_fields) append_field(key, part.text, part.quoted);
      block.key_of_row.push_back(static_cast<std::uint32_t>(block.keys.number_of(key)));
      if (options_.columns.empty()) {
        block.columns[0].numbers.reserve_one();
        parse_number("1", rules_, block.columns[0].numbers);
      }
    }
    const auto* const line_end = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    at = line_end != nullptr ? line_end + 1 : end;
  }
}

std::string text_of(const Column& column) {
  return fmt::format("column {}", column.number) + (column.name.empty() ? "" : fmt::format(" ('{}')", printable(column.name)));
}

}  // namespace samesum::io
