// Records of text: fields separated by a delimiter, quoted or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {

/// A field, without surrounding blanks.
struct Field {
  std::string_view text;  ///< without the outer quotes; doubled quotes in it are not unescaped
  bool quoted = false;
  bool closed = true;  ///< false: the closing quote is missing, or something follows it
};

/// Reads the field that begins at `at`, and returns its end: its delimiter, the line's end, or `end`, where there must be a '\n'.
/// `delimiter` 0: fields are separated by runs of blanks. A quoted field may contain delimiters and line ends (RFC 4180); one without a
/// closing quote ends at `end`.
const char* read_field(const char* at, const char* end, char delimiter, Field& field);

/// The beginning of the next field after the end of one; null at the record's end.
const char* next_field(const char* field_end, const char* end, char delimiter) noexcept;

/// The number of fields from the beginning of one, at `at`, to the end of its line, where there are no quotes.
std::size_t count_fields(const char* at, const char* line_end, char delimiter) noexcept;

/// The kind of the line at `at`: empty where it has only blanks that are not delimiters.
enum class LineKind { record, empty, comment };
LineKind line_kind(const char* at, const char* end, char delimiter) noexcept;

/// The end of the record (or empty line, or comment) at `at`, after its '\n'; null where that is not before `end`.
const char* record_end(const char* at, const char* end, char delimiter);

/// All fields of the record that begins at `at`, unquoted.
std::vector<std::string> split_record(const char* at, const char* end, char delimiter);

/// The first of tab, semicolon and comma outside quotes in the record at `at`; 0 where there is none. A quote opens where a field could
/// begin, for any delimiter. No value where the record continues after `end`, unless the text is `whole`. With `decimal_commas` commas are
/// not delimiters.
std::optional<char> find_delimiter(const char* at, const char* end, bool whole, bool decimal_commas = false);

}  // namespace samesum::io
