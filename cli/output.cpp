#include "output.hpp"

#include <samesum/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

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

}  // namespace

Output::Output() : colour_(wants_colour()) {}

void Output::flush() {
  std::string_view left = text_;
  while (!left.empty()) {
    const ssize_t written = write(STDOUT_FILENO, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw BrokenPipe();
    } else if (errno != EINTR) {
      throw Error(ErrorKind::usage, "standard output: cannot be written: " + std::generic_category().message(errno));
    }
  }
  text_.clear();
}

std::string Output::paint(Style style, std::string_view text) const {
  constexpr std::array<std::string_view, 5> kCodes = {"", "1", "2", "32", "31"};
  if (!colour_ || style == Style::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(style)], text);
}

void Table::print(Output& out) const {
  std::vector<std::size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    if (row.size() == 1) continue;
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], fmt::formatted_size("{}", row[i].text));
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
