// What the command line gives to formulas by names.
#pragma once

#include <samesum/formula.hpp>

#include <string>
#include <utility>
#include <vector>

namespace samesum::cli {

/// "NAME=VALUE" of the option `option`. @throws Error (usage) for anything else.
std::pair<std::string, std::string> split_named(const std::string& text, const std::string& option);

/// Of each "NAME=VALUE" of --param a number: a whole one where it is written as such. @throws Error (usage) for what is no number.
std::vector<FormulaParameter> parse_parameters(const std::vector<std::string>& texts);

/// @throws Error (usage) for a parameter of --param that none of these formulas uses; an empty text is none.
void check_used(const std::vector<std::string>& parameters, const std::vector<std::string>& formulas);

/// A number of --identity: a whole one where it is written as such. @throws Error (usage) for what is no number.
Value identity_value(const std::string& text);

}  // namespace samesum::cli
