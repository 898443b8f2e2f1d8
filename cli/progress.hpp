// How far a long work is, for a person who waits.
#pragma once

#include <samesum/source.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace samesum::cli {

/// A line on standard error, where that is a terminal, once the work has taken a second. It is gone before anything else is printed.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether anybody looks on.
  bool wanted() const noexcept { return wanted_; }
  /// Says how much of `name` is done: so many bytes of `total`, which is 0 where it is not known.
  void tell(const std::string& name, std::uint64_t done, std::uint64_t total);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

/// A line on standard error, where that is a terminal, that says at once what is being done; its end wipes that away.
class StatusLine {
 public:
  static void show(std::string_view what);
  static void clear();
  ~StatusLine();
};

}  // namespace samesum::cli
