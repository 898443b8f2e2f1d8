// Parsing of the command line, and messages about mistakes in it.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// The arguments for CLI11: `help sum` becomes `sum --help`, and arguments after `--` are not options.
std::vector<std::string> arguments_of(int count, const char* const* arguments);

/// Must be called once all of `command` is described: an option takes exactly as many values as its help says, and positional arguments
/// keep the user's order. Empty values, as from an unset shell variable, are refused.
void finish(CLI::App& command);

/// Adds an option of other commands that this one refuses, with the reason; not shown by --help.
void refuse_option(CLI::App& command, const std::string& name, const std::string& reason);

/// The mistake as a sentence that names the option, with a guess at what was meant; then where to read more.
std::string describe_mistake(const CLI::App& program, const CLI::ParseError& error);

/// Parses a count: "1000000", "1e6", "2^28", "64M" (K, M and G are powers of 1024). False for anything else, and beyond 2^63.
bool parse_count(const std::string& text, std::uint64_t& count);

/// Throws an Error of kind usage.
[[noreturn]] void refuse(const std::string& message);
/// The same unless `condition` holds.
inline void require(bool condition, const std::string& message) {
  if (!condition) refuse(message);
}

/// For Option::transform: an integer, written as in parse_count.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// For Option::check: a decimal number.
CLI::Validator number_from(double least, double most);

}  // namespace samesum::cli
