#include "arguments.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace samesum::cli {

CLI::Validator whole_number() {
  return {[](std::string& text) {
            const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
            const bool whole = !text.empty() && digits && (text.size() < 20 || (text.size() == 20 && text <= "18446744073709551615"));
            return whole ? std::string() : fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text);
          },
          "", "whole number"};
}

void refuse_empty(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  for (const CLI::Option* option : command->get_options()) {
    if (option->count() == 0 || option->get_expected_max() == 0 || !option->nonpositional()) continue;
    if (std::ranges::any_of(option->results(), [](const std::string& text) { return text.empty(); })) {
      throw Error(ErrorKind::usage, fmt::format("{} was given an empty text: leave it out, or give it a value", option->get_name()));
    }
  }
}

}  // namespace samesum::cli
