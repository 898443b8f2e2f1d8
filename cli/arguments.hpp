// What CLI11 lets pass in arguments.
#pragma once

#include <CLI/CLI.hpp>

namespace samesum::cli {

/// For options that take a whole number from 0 on: CLI11 takes -1 for 2^64 - 1.
CLI::Validator whole_number();

/// @throws Error (usage) where an option of the command that was parsed is an empty text: an unset variable of the shell, as
/// a rule, which must not be taken for an option that was not given.
void refuse_empty(const CLI::App& program);

}  // namespace samesum::cli
