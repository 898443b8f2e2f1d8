// What `sum` and `merge` share: sums with names, and the ways to print them.
#pragma once

#include "number.hpp"
#include "output.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/sum.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// How results are to be printed. Each command has those of the options that mean something there.
struct ResultOptions {
  std::string nan = "propagate";
  bool float32 = false;
  bool json = false;
  bool csv = false;
  bool plain = false;
  bool hex = false;
  bool verbose = false;
  std::string partial;  ///< file to write the accumulator to; empty: none

  /// @throws Error (usage) where the options make no sense, or not together.
  void check() const;
  NanPolicy nan_policy() const;
  /// @throws Error (no_answer) where a sum of integers does not fit into 64 bits.
  Number round(const Accumulator& sum) const;
  std::string text(const Number& number) const { return hex ? number.hex() : number.decimal(); }
};

/// Options of ResultOptions, to be combined.
enum ResultOption : unsigned { kNan = 1, kFloat32 = 2, kJson = 4, kCsv = 8, kPlain = 16, kHex = 32, kVerbose = 64, kPartial = 128 };

void add_options(CLI::App& command, ResultOptions& options, unsigned wanted);

/// A field as RFC 4180 has it: in quotes where it needs them.
std::string csv_field(const std::string& text);

/// One input and its sum.
struct NamedSum {
  std::string name;
  Accumulator sum;
  std::optional<DType> type;         ///< of the elements, where the input is an array
  std::vector<std::uint64_t> shape;  ///< likewise
  std::optional<Report> report{};    ///< how it was summed, where it was; so for all that follows
  std::string format{};              ///< "npy", "raw", "text"
  std::string part{};                ///< what of it was read: "column 2 ('price')"; empty: all
  std::uint64_t missing = 0;         ///< numbers that were not there
  double read_seconds = 0;           ///< spent waiting for it to be read and converted
};

/// "cpu exact_blocks threads=2, 36.1 ms, 29.7 GB/s".
std::string describe(const NamedSum& sum);

Accumulator total_of(const std::vector<NamedSum>& sums);

/// One input: its value, and a note on what it is. Several: a line each, and the total, which is the exact sum of all. In the way that the
/// options ask for, but for JSON.
void print_sums(Output& out, const ResultOptions& options, const std::vector<NamedSum>& sums);

/// The members of a JSON object that tell of one accumulator.
void add_accumulator(Json& object, const ResultOptions& options, const Accumulator& sum);
Json json_of(const ResultOptions& options, const NamedSum& sum);

}  // namespace samesum::cli
