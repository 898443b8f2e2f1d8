// What the commands that read numbers are given: files, and what is in them.
#pragma once

#include <samesum/source.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace samesum::cli {

/// An input by its name, to be opened when its turn comes.
struct NamedSource {
  std::string name;
  std::function<std::unique_ptr<Source>()> open;
};

/// Which files, and what they are where they do not say it themselves. "-" is standard input.
struct Input {
  std::vector<std::string> files;
  std::string dtype;   ///< of raw numbers; empty: there are none
  std::string column;  ///< the rest is of text: see TextOptions
  bool header = false, no_header = false;
  std::vector<std::string> missing;
  std::uint32_t threads = 0;
  bool any_order = false;  ///< the order of an array's elements does not matter
  bool in_order = false;  ///< numbers of a text in their order: for what depends on places
  bool reals = false;     ///< numbers of a text as doubles, in their order: for what depends on places

  /// @throws Error (usage) where they make no sense, or not together.
  InputOptions options() const;
  std::vector<NamedSource> sources() const;
  /// Bytes of all elements that can be summed where they lie. Opens every file, so that a bad one is found before a long sum is begun;
  /// pipes and standard input are left alone.
  std::uint64_t resident_bytes() const;

 private:
  std::unique_ptr<Source> open(const std::string& file, const InputOptions& how) const;
};

void add_options(CLI::App& command, Input& input);

}  // namespace samesum::cli
