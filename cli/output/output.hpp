// Standard output, buffered until a command has succeeded, so that a failure leaves no partial output.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::cli {

/// Thrown where the reader of standard output has closed it: the program ends without a message.
struct BrokenPipe {};

/// The style of a text on a terminal.
enum class Style { plain, bold, dim, good, bad };

class Output {
 public:
  Output();

  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    print_all(format, fmt::make_format_args(arguments...));
  }

  /// A line that accompanies the answer: on a terminal it follows the output so far, otherwise it goes to standard error, so that a pipe
  /// contains only the answer.
  void note(std::string_view line);

  /// Writes the output so far, with control characters escaped. @throws Error (usage) where that fails, BrokenPipe where the reader is
  /// gone.
  void flush();

  /// In pipes and files the output is written as it is, without escapes: keys and names keep their bytes for programs. On a terminal
  /// nothing changes.
  void keep_bytes() noexcept { escaped_ = terminal_; }

  /// The output so far, instead of writing it.
  std::string take() { return std::exchange(text_, {}); }

  /// Writes a file's bytes unchanged to standard output. All other output, before or after, goes to standard error.
  void write_bytes(std::initializer_list<std::span<const std::byte>> parts);

  bool terminal() const noexcept { return terminal_; }  ///< whether standard output is a terminal

  /// Coloured on a terminal; plain in pipes and files, and where NO_COLOR is set.
  std::string paint(Style style, std::string_view text) const;
  std::string bold(std::string_view text) const { return paint(Style::bold, text); }
  std::string dim(std::string_view text) const { return paint(Style::dim, text); }
  std::string good(std::string_view text) const { return paint(Style::good, text); }
  std::string bad(std::string_view text) const { return paint(Style::bad, text); }

 private:
  void print_all(fmt::string_view format, fmt::format_args arguments);  // one for all types, which compiles {fmt}'s engine once

  std::string text_, notes_;
  bool terminal_, colour_;
  bool taken_ = false;   // whether standard output has a file's bytes
  bool escaped_ = true;  // whether control characters are
};

/// Rows of text, in columns as wide as necessary.
class Table {
 public:
  struct Cell {
    Cell(std::string text_, Style style_ = Style::plain) : text(std::move(text_)), style(style_) {}
    Cell(const char* text_) : text(text_) {}
    std::string text;
    Style style = Style::plain;
  };

  /// `alignment` has a character for each column, '<' or '>'.
  /// Columns are at least as wide as in `widths`: so rows that are printed at different times are aligned.
  explicit Table(std::string alignment, std::size_t indent = 0, std::vector<std::size_t> widths = {})
      : alignment_(std::move(alignment)), indent_(indent), widths_(std::move(widths)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  /// A row of the columns' names.
  void add_head(const std::vector<std::string>& names) {
    std::vector<Cell>& row = rows_.emplace_back();
    for (const std::string& name : names) row.emplace_back(name, Style::bold);
  }
  /// A separate line after the latest row.
  void note(std::string text) { rows_.push_back({Cell(std::move(text), Style::dim)}); }
  void print(Output& out) const;

 private:
  static std::size_t width(std::string_view text);
  std::string alignment_;
  std::size_t indent_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace samesum::cli
