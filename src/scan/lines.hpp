// Scans on the CPU: lines of elements, each a scan of its own, shared out over threads.
//
// A Scanner has a Result type and a State, which is what it knows of the elements so far:
//   State start() const;                                      // of none
//   void add(State&, const Element* x, std::size_t) const;    // of more, without results
//   void merge(State&, const State& later) const;             // `later` is of elements behind those of the other
//   void scan(State&, const Element* x, std::size_t, Result* to) const;  // throws NoResult where there is none
//   Result empty() const;                                     // the result of no elements
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace samesum::prefix {

/// Contiguous elements in host memory, as `outer` times `extent` times `inner`; scans go along `extent`. Results have the same places.
struct Layout {
  std::uint64_t outer = 1, extent = 0, inner = 1;
  std::span<const std::uint64_t> offsets = {};  ///< of segments along `extent`, where `outer` and `inner` are 1; empty: one segment
  bool exclusive = false;
};

/// Thrown where the elements up to this one have no result, and why.
struct NoResult {
  std::size_t element;
  std::string why;
};

/// The error of the lowest index among those of several threads.
class FirstError {
 public:
  template <class Body>
  void guard(std::uint64_t index, const Body& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ && index >= index_) return;
      index_ = index;
      error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::uint64_t index_ = 0;
  std::exception_ptr error_;
};

/// The states of lines, by number, and memory of elements and results, whatever their types.
class States {
 public:
  States() = default;
  States(const States&) = delete;
  States& operator=(const States&) = delete;
  virtual ~States() = default;

  virtual void start(std::size_t line) = 0;
  virtual void copy(std::size_t from, std::size_t to) = 0;
  virtual void add(std::size_t line, const void* x, std::size_t count) = 0;
  /// The elements of `before` lie before those of `line`, whose state becomes that of both.
  virtual void precede(std::size_t before, std::size_t line) = 0;
  virtual void scan(std::size_t line, const void* x, std::size_t count, void* to) = 0;
  virtual void store_empty(void* to) const = 0;
};

template <class Element, class Scanner>
class StatesOf final : public States {
 public:
  using Result = typename Scanner::Result;

  StatesOf(const Scanner& scanner, std::size_t lines) : scanner_(scanner), states_(lines, scanner.start()) {}

  void start(std::size_t line) override { states_[line] = scanner_.start(); }
  void copy(std::size_t from, std::size_t to) override { states_[to] = states_[from]; }
  void add(std::size_t line, const void* x, std::size_t count) override {
    scanner_.add(states_[line], static_cast<const Element*>(x), count);
  }
  void precede(std::size_t before, std::size_t line) override {
    typename Scanner::State both = states_[before];
    scanner_.merge(both, states_[line]);
    states_[line] = both;
  }
  void scan(std::size_t line, const void* x, std::size_t count, void* to) override {
    scanner_.scan(states_[line], static_cast<const Element*>(x), count, static_cast<Result*>(to));
  }
  void store_empty(void* to) const override { *static_cast<Result*>(to) = scanner_.empty(); }

 private:
  const Scanner& scanner_;
  std::vector<typename Scanner::State> states_;
};

/// A Scanner, whatever its types.
struct AnyScanner {
  std::size_t element_bytes, result_bytes;
  std::function<std::unique_ptr<States>(std::size_t lines)> make_states;  ///< started
};

void scan_lines(const AnyScanner& scanner, const Layout& layout, std::uint32_t threads, const void* x, void* to);

/// The walk over lines is compiled once (lines.cpp), and calls the Scanner's loops over contiguous elements.
template <class Element, class Scanner>
void scan_lines(const Scanner& scanner, const Layout& layout, std::uint32_t threads, const void* x, void* to) {
  const auto make = [&scanner](std::size_t lines) { return std::make_unique<StatesOf<Element, Scanner>>(scanner, lines); };
  scan_lines(AnyScanner{sizeof(Element), sizeof(typename Scanner::Result), make}, layout, threads, x, to);
}

}  // namespace samesum::prefix
