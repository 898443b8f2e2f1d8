#include "output/output.hpp"

#include "output/printable.hpp"
#include "output/write.hpp"

#include <samesum/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace samesum::cli {
namespace {

bool set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool wants_colour() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && !set("NO_COLOR") && terminal != nullptr && std::string_view(terminal) != "dumb";
}

// Until text is written, its styles are noncharacters of Unicode, reserved for a program's internal use: text from files or their names is
// escaped first, then these are replaced by the terminal's sequences.
constexpr std::array<std::string_view, 5> kMarks = {"\uFDD0", "\uFDD1", "\uFDD2", "\uFDD3", "\uFDD4"};
constexpr std::array<std::string_view, 5> kSequences = {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m"};

std::string styled(std::string_view text) {
  std::string result = printable(text);
  for (std::size_t i = 0; i < kMarks.size(); ++i) {
    for (std::size_t at = 0; (at = result.find(kMarks[i], at)) != std::string::npos; at += kSequences[i].size()) {
      result.replace(at, kMarks[i].size(), kSequences[i]);
    }
  }
  return result;
}

[[noreturn]] void no_output(int code) {
  if (code == EPIPE) throw BrokenPipe();
  throw Error(ErrorKind::usage, "standard output: cannot be written: " + std::generic_category().message(code));
}

}  // namespace

Output::Output() : terminal_(isatty(STDOUT_FILENO) != 0), colour_(wants_colour()) {}

void Output::print_all(fmt::string_view format, fmt::format_args arguments) {
  (taken_ ? notes_ : text_) += fmt::vformat(format, arguments);
}

void Output::note(std::string_view line) {
  if (terminal_ && !taken_) {
    print("  {}\n", dim(line));
  } else {
    fmt::format_to(std::back_inserter(notes_), "{}\n", line);
  }
}

void Output::flush() {
  const std::string text = colour_ ? styled(text_) : escaped_ ? printable(text_) : text_;
  text_.clear();
  if (const int code = write_all(STDOUT_FILENO, text); code != 0) no_output(code);
  const std::string notes = printable(notes_);
  notes_.clear();
  write_all(STDERR_FILENO, notes);
}

void Output::write_bytes(std::initializer_list<std::span<const std::byte>> parts) {
  notes_ = std::exchange(text_, {}) + notes_;
  taken_ = true;
  colour_ = false;
  for (const std::span<const std::byte> part : parts) {
    if (const int code = write_all(STDOUT_FILENO, part); code != 0) no_output(code);
  }
}

std::string Output::paint(Style style, std::string_view text) const {
  if (!colour_ || style == Style::plain) return std::string(text);
  return fmt::format("{}{}{}", kMarks[static_cast<std::size_t>(style)], text, kMarks[0]);
}

// The characters of UTF-8, as a terminal shows them: all but the bytes that continue one.
std::size_t Table::width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void Table::print(Output& out) const {
  std::vector<std::size_t> widths = widths_;
  widths.resize(alignment_.size(), 0);
  for (const auto& row : rows_) {
    if (row.size() == 1) continue;
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i].text));
  }
  for (const auto& row : rows_) {
    std::string line(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = row[i];
      const bool last = i + 1 == row.size();
      if (alignment_[i] == '>') {
        line += out.paint(cell.style, fmt::format("{:>{}}", cell.text, widths[i]));
      } else {
        line += out.paint(cell.style, last ? cell.text : fmt::format("{:<{}}", cell.text, widths[i]));
      }
      if (!last) line += "  ";
    }
    out.print("{}\n", line);
  }
}

}  // namespace samesum::cli
