// Parts of the work on big files: --part, which leaves the rest to other processes, and --checkpoint, which goes on after the process was
// killed. `samesum merge` makes one answer of the parts.
#pragma once

#include "input/input.hpp"
#include "output/result.hpp"
#include "part/partial.hpp"

#include <samesum/array.hpp>
#include <samesum/device.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace samesum::cli {

struct PartOptions {
  std::string part;             ///< "3/8"; empty: all
  std::string checkpoint;       ///< a file that keeps what is done; empty: none
  std::optional<double> every;  ///< seconds between two writes of it, if given

  /// Whether the work is to be done by run_part().
  bool wanted() const { return !part.empty() || !checkpoint.empty(); }
  /// @throws Error (usage) for --every without --checkpoint.
  void check() const;
};

/// Adds --part, --checkpoint and --every.
void add_part(CLI::App& command, PartOptions& options);

/// Reductions of files, as far as they can be divided: what a command gives to run_part().
struct PartWork {
  std::string command;          ///< "sum", "stats", "hist", "dot"
  Json how = Json::object();    ///< what decides the result beside the files: bins, fields
  Json print = Json::object();  ///< how the answer is printed, beside ResultOptions
  bool side_by_side = false;    ///< the files' elements belong together index by index; else they follow one another
  bool by_index = false;        ///< the result depends on the elements' order
  /// Of a piece of all elements: one source, or one of each file.
  std::function<PartialResult(std::span<const std::unique_ptr<Source>>, const Device&)> reduce;
};

/// The part that `options` name of `count` things: which part it is, how the answer is printed, and where the part begins and ends.
struct PartRange {
  PartOf of;
  std::uint64_t first, last;
};
/// @throws Error (usage) where --part is malformed, or there is no --partial.
PartRange part_range(const PartOptions& options, const ResultOptions& result, std::uint64_t count);

/// What a file is known by on any machine: its name without folders, its type and size, and a hash of samples of its elements.
Json identity(const std::string& file, const Array& elements);

/// @throws Error (usage) for several files that --total does not make one.
void require_one_input(const Input& input);

/// Computes the part, and writes it, or prints the answer where it is all.
int run_part(Output& out, const Input& input, const std::string& device, const PartOptions& options, const ResultOptions& result,
             const PartWork& work);

/// Computes those files of a list that are in the part, and writes the result. `of` has the work but its files.
int run_part_of_files(Output& out, const Input& input, const PartOptions& options, const ResultOptions& result, PartOf of,
                      const std::function<PartialResult(std::span<const std::string>)>& compute);

/// Merges `more`, the result in the file `its_name`. @throws Error (usage) that names the files, where they are of different kinds.
void merge(PartialResult& into, const PartialResult& more, const std::string& name, const std::string& its_name);

/// Merges the parts of one input: all of them, each once, in any order. @throws Error (usage) that names the file, where one is missing,
/// there twice, or a part of other work.
Partial joined(std::vector<Partial> parts, const std::vector<std::string>& names);

/// Prints the answer as `of` says, and as `result` says beside.
/// An `array` is written instead of being printed, for results that are one; it has no name where none is wanted.
int print_partial(Output& out, const Partial& whole, ResultOptions result, const OutputFile* array = nullptr);

}  // namespace samesum::cli
