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
  bool allow_empty = false;  ///< an input with no number in it is no mistake
  std::string nodata = {};   ///< elements that equal this are not there; empty: all are
  bool reals = false;        ///< numbers of a text as doubles, in their order: for what depends on places

  /// Standard input where no file is named, unless a person would have to type it: that is an error (usage).
  void complete();
  /// @throws Error (usage) where they make no sense, or not together.
  InputOptions options() const;
  /// Opens one of the files.
  std::unique_ptr<Source> open(const std::string& file) const;
  std::vector<NamedSource> sources() const;
  /// Bytes of all elements that can be summed where they lie. Opens every file, so that a bad one is found before a long sum is begun;
  /// pipes and standard input are left alone.
  std::uint64_t resident_bytes() const;
};

/// The argument FILE ..., and what says how files are read.
CLI::Option* add_files(CLI::App& command, Input& input, const std::string& description);
void add_options(CLI::App& command, Input& input);

/// "standard input" for "-"; else the file's name, printable.
std::string shown_name(const std::string& file);

}  // namespace samesum::cli
