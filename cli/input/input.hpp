// The inputs of the commands that read numbers: files and their formats.
#pragma once

#include "input/image_input.hpp"

#include <samesum/formula.hpp>
#include <samesum/source.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// A named input, opened when it is reached.
struct NamedSource {
  std::string name;
  std::function<std::unique_ptr<Source>()> open;
};

/// How a command treats tables.
enum class Tables : std::uint8_t {
  one_column,       ///< one column only
  columns,          ///< several columns, if named
  described_whole,  ///< a text that looks like a table is one: all of its columns
};

/// The files, and their format where the contents do not tell it. "-" is standard input.
struct Input {
  std::vector<std::string> files;
  std::string dtype;         ///< of raw numbers; empty: not raw
  std::uint64_t offset = 0;  ///< of raw numbers: see InputOptions
  std::optional<std::uint64_t> count;
  std::vector<std::string> columns;  ///< this and the following are for text: see TextOptions. Each may name several, separated by commas
  bool all_columns = false;
  std::vector<std::string> keys = {};  ///< columns whose fields are the key of a row, named likewise: see TextOptions::keys
  bool sorted = false;                 ///< groups are printed in the order of their keys
  bool header = false, no_header = false;
  std::vector<std::string> missing;
  std::string separator, decimal, thousands;
  std::uint64_t skip_lines = 0;
  bool total = false;  ///< all files are one input
  std::uint32_t threads = 0;
  bool allow_empty = false;                  ///< an input without numbers is not an error
  std::string nodata = {};                   ///< elements that equal this are missing; empty: none
  std::string map = {};                      ///< a formula of the files' numbers, which the command reads instead of them; empty: none
  std::vector<std::string> parameters = {};  ///< of the formula: "h=0.5"
  bool native = false;                       ///< of the formula: FormulaMath::native
  bool images = false;                       ///< images are read, too: each channel is an input
  ImageSelection selection = {};             ///< of images the pixels that are taken
  bool any_order = false;                    ///< the order of an array's elements does not matter
  bool mapped = false;                       ///< a file that can be mapped is, though it be larger than the memory: InputOptions::mapped
  Tables tables = Tables::one_column;
  bool rows = false;      ///< the lines of a text are the rows of a matrix
  bool in_order = false;  ///< numbers of a text in order: for results that depend on indices

  /// Adds standard input where no file is named, unless it is a terminal: that is an error (usage).
  void complete();
  /// @throws Error (usage) where options are invalid or contradict each other.
  InputOptions options() const;
  /// Opens a file.
  std::unique_ptr<Source> open(const std::string& file) const { return open(file, options()); }
  /// The inputs: files, and each channel of an image; with `total` a single one, the concatenation of all files.
  std::vector<NamedSource> sources() const;
  /// Whether a file is read as an image.
  bool is_image(const std::string& file) const;
  /// Bytes of all elements that can be summed in place. Opens every file, so that a bad one is found before a long sum begins; pipes and
  /// standard input are not read.
  std::uint64_t resident_bytes() const;
  /// Whether an option is given that is for texts alone.
  bool of_text() const;
  /// Whether any input can be read only once.
  bool has_stream() const;
  /// Whether all inputs can be summed in place, and so read again.
  bool all_resident() const;
  /// The named columns, one by one.
  std::vector<std::string> named_columns() const;
  /// The columns of the key, one by one.
  std::vector<std::string> named_keys() const;
  /// Whether the results are those of several named columns.
  bool takes_several() const { return map.empty() && (all_columns || named_columns().size() > 1); }

  /// A name of the formula, and what it stands for.
  struct Operand {
    std::string name, file;
    InputOptions how;
  };
  /// Where the formula's names come from: files named `name=FILE`; or x, y, z for the first three files; or, where there is one file and
  /// the formula does not use x, or uses more and the file is called a table (.csv, .tsv), or it has a column x, the columns of these
  /// names. @throws Error (usage) where a file or a name is left over.
  std::vector<Operand> operands(const Formula& formula) const;
  Formula formula() const;
  FormulaMath math() const;
  std::vector<FormulaParameter> formula_parameters() const;
  /// @throws Error (usage) for --param or --native without --map, in commands that have no other formula; for --region or --mask of what is
  /// no image.
  void check() const;

 private:
  std::unique_ptr<Source> open(const std::string& file, const InputOptions& how) const;
  // In the order, and without the elements, that these options ask for.
  std::unique_ptr<Source> prepared(std::unique_ptr<Source> source) const;
};

/// Adds the argument FILE ..., and the options for reading files.
CLI::Option* add_files(CLI::App& command, Input& input, const std::string& description);
void add_options(CLI::App& command, Input& input);
/// Of those the options for texts alone.
void add_text_options(CLI::App& command, Input& input);
/// Images are read, too: adds --region and --mask.
void add_images(CLI::App& command, Input& input);
/// Adds --map, --param and --native.
void add_map(CLI::App& command, Input& input);
/// Of those --native alone.
void add_native(CLI::App& command, Input& input);
/// Adds --total, for commands that take several files.
void add_total(CLI::App& command, Input& input);

/// Whether it can be read only once: standard input, a pipe.
bool is_stream(const std::string& file);

/// Whether it is a file that begins as a .npy file does.
bool is_npy(const std::string& file);

/// The file that contains an input: for "z.npz:x" it is z.npz.
std::string file_of(const std::string& input);

/// "standard input" for "-"; else the file's name, printable.
std::string shown_name(const std::string& file);

}  // namespace samesum::cli
