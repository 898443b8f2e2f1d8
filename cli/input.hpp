// What the commands that read numbers are given: files, and what is in them.
#pragma once

#include <samesum/source.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// An input by its name, to be opened when its turn comes.
struct NamedSource {
  std::string name;
  std::function<std::unique_ptr<Source>()> open;
};

/// What a command makes of tables.
enum class Tables : std::uint8_t {
  one_column,       ///< it takes one column
  columns,          ///< several, where they are asked for
  described_whole,  ///< what looks like a table is one: all of its columns
};

/// Which files, and what they are where they do not say it themselves. "-" is standard input.
struct Input {
  std::vector<std::string> files;
  std::string dtype;         ///< of raw numbers; empty: there are none
  std::uint64_t offset = 0;  ///< of raw numbers: InputOptions
  std::optional<std::uint64_t> count;
  std::vector<std::string> columns;  ///< the rest is of text: see TextOptions. Each may name several, with commas between them
  bool all_columns = false;
  bool header = false, no_header = false;
  std::vector<std::string> missing;
  std::string separator, decimal, thousands;
  std::uint64_t skip_lines = 0;
  bool total = false;  ///< all files are one input
  std::uint32_t threads = 0;
  bool allow_empty = false;  ///< an input with no number in it is no mistake
  std::string nodata = {};   ///< elements that equal this are not there; empty: all are
  bool any_order = false;  ///< the order of an array's elements does not matter
  Tables tables = Tables::one_column;
  bool in_order = false;  ///< numbers of a text in their order: for what depends on places

  /// Standard input where no file is named, unless a person would have to type it: that is an error (usage).
  void complete();
  /// @throws Error (usage) where they make no sense, or not together.
  InputOptions options() const;
  /// Opens one of the files.
  std::unique_ptr<Source> open(const std::string& file) const { return open(file, options()); }
  /// The inputs; with `total` one, which has the numbers of all files, one after the other.
  std::vector<NamedSource> sources() const;
  /// Bytes of all elements that can be summed where they lie. Opens every file, so that a bad one is found before a long sum is begun;
  /// pipes and standard input are left alone.
  std::uint64_t resident_bytes() const;
  /// Whether all inputs are such, and can be read again.
  bool all_resident() const;
  /// The columns that are named, one by one.
  std::vector<std::string> named_columns() const;
  /// Whether results are those of several columns, each with its name.
  bool takes_several() const { return all_columns || named_columns().size() > 1; }

 private:
  std::unique_ptr<Source> open(const std::string& file, const InputOptions& how) const;
};

/// The argument FILE ..., and what says how files are read.
CLI::Option* add_files(CLI::App& command, Input& input, const std::string& description);
void add_options(CLI::App& command, Input& input);
/// --total: of commands that take several files.
void add_total(CLI::App& command, Input& input);

/// Whether it gives its bytes once only: standard input, a pipe.
bool is_stream(const std::string& file);

/// The file in which an input lies: of "z.npz:x" that is z.npz.
std::string file_of(const std::string& input);

/// "standard input" for "-"; else the file's name, printable.
std::string shown_name(const std::string& file);

}  // namespace samesum::cli
