// Progress of long work, for a person.
#pragma once

#include <samesum/source.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace samesum::cli {

/// A line on standard error, if that is a terminal, once the work has taken a second. It is wiped before anything else is printed.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether standard error is a terminal.
  bool wanted() const noexcept { return wanted_; }
  /// Shows how much of `name` is done, in bytes; `total` is 0 if unknown.
  void tell(const std::string& name, std::uint64_t done, std::uint64_t total);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

/// A line on standard error, if that is a terminal, that says what is being done; wiped by the destructor.
class StatusLine {
 public:
  static void show(std::string_view what);
  static void clear();
  ~StatusLine();
};

}  // namespace samesum::cli
