#include "io/text/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace samesum::io {
namespace {

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

const char* skip_blanks(const char* at, const char* end, char delimiter) noexcept {
  while (at < end && is_blank(*at) && *at != delimiter) ++at;
  return at;
}

// The closing quote of the field whose text begins at `at`; null where there is none.
const char* closing_quote(const char* at, const char* end) noexcept {
  for (;;) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return nullptr;
    if (at + 1 == end || at[1] != '"') return at;
    at += 2;
  }
}

bool ends_field(char c, char delimiter) noexcept { return c == '\n' || (delimiter != 0 ? c == delimiter : is_blank(c)); }

}  // namespace

const char* read_field(const char* at, const char* end, char delimiter, Field& field) {
  field = {};
  at = skip_blanks(at, end, delimiter);
  if (at < end && *at == '"') {
    field.quoted = true;
    const char* const close = closing_quote(at + 1, end);
    if (close == nullptr) {
      field.closed = false;
      field.text = {at + 1, end};
      return end;
    }
    field.text = {at + 1, close};
    at = skip_blanks(close + 1, end, delimiter);
    if (delimiter == 0 && at > close + 1) return close + 1;
    while (at < end && !ends_field(*at, delimiter)) {
      field.closed = false;
      ++at;
    }
    return at;
  }
  const char* const begin = at;
  while (at < end && !ends_field(*at, delimiter)) ++at;
  const char* last = at;
  while (last > begin && is_blank(last[-1])) --last;
  field.text = {begin, last};
  return at;
}

const char* next_field(const char* field_end, const char* end, char delimiter) noexcept {
  if (delimiter == 0) {
    field_end = skip_blanks(field_end, end, 0);
    return field_end < end && *field_end != '\n' ? field_end : nullptr;
  }
  return field_end < end && *field_end != '\n' ? field_end + 1 : nullptr;
}

std::size_t count_fields(const char* at, const char* line_end, char delimiter) noexcept {
  std::size_t count = 0;
  if (delimiter != 0) {
    while (at < line_end) {  // counts of bytes fit a byte: more of them in a vector
      std::uint8_t some = 0;
      for (const char* const stop = at + std::min<std::ptrdiff_t>(255, line_end - at); at < stop; ++at)
        some = static_cast<std::uint8_t>(some + (*at == delimiter ? 1 : 0));
      count += some;
    }
    return count + 1;
  }
  for (bool blank = true; at < line_end; ++at) {
    const bool before = std::exchange(blank, is_blank(*at));
    count += static_cast<std::size_t>(before && !blank);
  }
  return count;
}

LineKind line_kind(const char* at, const char* end, char delimiter) noexcept {
  at = skip_blanks(at, end, delimiter);
  return at == end || *at == '\n' ? LineKind::empty : *at == '#' ? LineKind::comment : LineKind::record;
}

const char* record_end(const char* at, const char* end, char delimiter) {
  if (line_kind(at, end, delimiter) == LineKind::record) {
    Field field;
    for (const char* next = at; next != nullptr; next = next_field(at, end, delimiter)) at = read_field(next, end, delimiter, field);
    if (delimiter == 0) at = skip_blanks(at, end, 0);
    return at < end ? at + 1 : nullptr;
  }
  const auto* const line_end = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
  return line_end != nullptr ? line_end + 1 : nullptr;
}

std::vector<std::string> split_record(const char* at, const char* end, char delimiter) {
  std::vector<std::string> fields;
  Field field;
  if (delimiter == 0) at = skip_blanks(at, end, 0);
  while (at != nullptr) {
    const char* const field_end = read_field(at, end, delimiter, field);
    std::string text(field.text);
    if (field.quoted) {
      for (std::size_t i = 0; (i = text.find("\"\"", i)) != std::string::npos; ++i) text.erase(i, 1);
    }
    fields.push_back(std::move(text));
    at = next_field(field_end, end, delimiter);
  }
  return fields;
}

std::optional<char> find_delimiter(const char* at, const char* end, bool whole, bool decimal_commas) {
  bool found[3] = {};
  char before = ' ';
  while (at < end && *at != '\n') {
    found[0] |= *at == '\t';
    found[1] |= *at == ';';
    found[2] |= *at == ',' && !decimal_commas;
    if (*at == '"' && (is_blank(before) || before == ';' || before == ',')) {
      const char* const close = closing_quote(at + 1, end);
      at = close != nullptr ? close : end - 1;
    }
    before = *at++;
  }
  if (at == end && !whole) return std::nullopt;
  return found[0] ? '\t' : found[1] ? ';' : found[2] ? ',' : '\0';
}

}  // namespace samesum::io
