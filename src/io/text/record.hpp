// Records of text: fields divided by a delimiter, quoted or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {

/// A field, without the blanks around it.
struct Field {
  std::string_view text;  ///< between the quotes, where it is quoted; doubled quotes in it are still doubled
  bool quoted = false;
  bool closed = true;  ///< false: the closing quote is missing, or something follows it
};

/// Reads the field that begins at `at`, and returns where it ends: at its delimiter, at the line's end, or at `end`, where a '\n' has to
/// stand. `delimiter` 0: fields are divided by runs of blanks. A quoted field may have delimiters and line ends in it (RFC 4180); one whose
/// quote is not closed ends at `end`.
const char* read_field(const char* at, const char* end, char delimiter, Field& field);

/// The beginning of the next field after the end of one; null where the record is over.
const char* next_field(const char* field_end, const char* end, char delimiter) noexcept;

/// What the line at `at` is: empty where it has blanks alone that are no delimiters.
enum class LineKind { record, empty, comment };
LineKind line_kind(const char* at, const char* end, char delimiter) noexcept;

/// The end of the record (or the empty line, or the comment) at `at`, behind its '\n'; null where that does not lie before `end`.
const char* record_end(const char* at, const char* end, char delimiter);

/// All fields of the record that begins at `at`, as text: quotes are gone.
std::vector<std::string> split_record(const char* at, const char* end, char delimiter);

/// The first of tab, semicolon and comma outside quotes in the record at `at`; 0 where there is none. A quote opens where a field could
/// begin, by whatever delimiter. Nothing where the record goes on behind `end`, unless the text is `whole`. With `decimal_commas` a comma
/// is none.
std::optional<char> find_delimiter(const char* at, const char* end, bool whole, bool decimal_commas = false);

}  // namespace samesum::io
