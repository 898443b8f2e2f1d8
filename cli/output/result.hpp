// The parts common to `sum` and `merge`: named sums, and their output.
#pragma once

#include "output/number.hpp"
#include "output/output.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/sum.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

/// How results are printed. Each command has those of the options that apply to it.
struct ResultOptions {
  std::string nan = "propagate";
  bool float32 = false;
  bool json = false;
  bool csv = false;
  bool plain = false;
  bool hex = false;
  bool verbose = false;
  std::string partial;  ///< file to write the accumulator to; empty: none

  /// @throws Error (usage) where options are invalid or contradict each other.
  void check() const;
  NanPolicy nan_policy() const;
  /// @throws Error (no_answer) where a sum of integers does not fit into 64 bits.
  Number round(const Accumulator& sum) const;
  std::string text(const Number& number) const { return hex ? number.hex() : number.decimal(); }
  /// Of a complex number, as Python writes and reads it: "1.5-2j".
  std::string text(const Number& real, const Number& imag) const;
};

/// Options of ResultOptions, to be combined.
enum ResultOption : unsigned { kNan = 1, kFloat32 = 2, kJson = 4, kCsv = 8, kPlain = 16, kHex = 32, kVerbose = 64, kPartial = 128 };

void add_options(CLI::App& command, ResultOptions& options, unsigned wanted);

/// A field in RFC 4180's format: in quotes where necessary.
std::string csv_field(const std::string& text);

/// One input and its sum.
struct NamedSum {
  std::string name;
  Accumulator sum;
  std::optional<DType> type;         ///< of the elements, where the input is an array
  std::vector<std::uint64_t> shape;  ///< where the input is an array
  std::optional<Report> report{};    ///< how it was summed; unset, as all that follows, where it was not
  std::string format{};              ///< "npy", "raw", "text"
  std::string part{};                ///< the part that was read: "column 2 ('price')"; empty: all
  std::uint64_t missing = 0;         ///< missing numbers
  double read_seconds = 0;           ///< spent waiting for reading and conversion
};

/// "cpu exact_blocks threads=2, 36.1 ms, 29.7 GB/s".
std::string describe(const NamedSum& sum);

Accumulator total_of(const std::vector<NamedSum>& sums);

/// One input: its value, and a note on the input. Several: a line each, and the total, which is the exact sum of all. Formatted as the
/// options specify, except for JSON.
void print_sums(Output& out, const ResultOptions& options, const std::vector<NamedSum>& sums);

/// Adds the JSON members of one accumulator.
void add_accumulator(Json& object, const ResultOptions& options, const Accumulator& sum);
Json json_of(const ResultOptions& options, const NamedSum& sum);

}  // namespace samesum::cli
