#include "output/progress.hpp"

#include "output/number.hpp"
#include "output/printable.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace samesum::cli {
namespace {

void write_error(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

bool is_terminal() noexcept {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

Progress::Progress() : wanted_(is_terminal()), next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::tell(const std::string& name, std::uint64_t done, std::uint64_t total) {
  if (!wanted_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(200);
  const std::string amount = total == 0 ? byte_size(done)
                                        : fmt::format("{} of {}, {:.0f}%", byte_size(done), byte_size(total),
                                                      100 * static_cast<double>(done) / static_cast<double>(total));
  winsize size{};
  const std::size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  std::string text = printable_name(name);
  text = (text.size() + amount.size() + 2 < width ? text + ": " : "") + amount;
  write_error("\r\x1b[K" + text.substr(0, width - 1));
  shown_ = true;
}

void Progress::clear() {
  if (shown_) write_error("\r\x1b[K");
  shown_ = false;
}

void StatusLine::show(std::string_view what) {
  if (is_terminal()) write_error(fmt::format("\r\x1b[K{} ...", what));
}

void StatusLine::clear() {
  if (is_terminal()) write_error("\r\x1b[K");
}

StatusLine::~StatusLine() { clear(); }

}  // namespace samesum::cli
