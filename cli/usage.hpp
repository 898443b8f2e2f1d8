// What a user may say on the command line, and what is said of a mistake there.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace samesum::cli {

/// The arguments as CLI11 takes them: `help sum` is `sum --help`, and what stands behind `--` is no option.
std::vector<std::string> arguments_of(int count, const char* const* arguments);

/// To be called once all of `command` is described: an option takes as many values as its help says, whatever stands behind them, and
/// positional arguments are as the user wrote them. A value
/// of no characters, as of a variable of the shell that is not set, is refused.
void finish(CLI::App& command);

/// An option that other commands have, and this one refuses, with the reason; not shown by --help.
void refuse_option(CLI::App& command, const std::string& name, const std::string& reason);

/// What was wrong, as a sentence that names the option, with a guess at what was meant; then where to read on.
std::string describe_mistake(const CLI::App& program, const CLI::ParseError& error);

/// A number of things: "1000000", "1e6", "2^28", "64M" (K, M and G are powers of 1024). False for anything else, and beyond 2^63.
bool parse_count(const std::string& text, std::uint64_t& count);

/// For Option::transform: a value that is a whole number, written as parse_count has it.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

}  // namespace samesum::cli
