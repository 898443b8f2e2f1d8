#include "usage.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace samesum::cli {
namespace {

// Marks an argument that begins with a dash and is not an option; file names cannot contain it.
constexpr char kNoOption = '\0';

std::string without_mark(std::string text) {
  if (text.starts_with(kNoOption)) text.erase(0, 1);
  return text;
}

// The edit distance: letters deleted, inserted, replaced, or swapped with a neighbour (Damerau and Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

// " Did you mean 'sum'?" for the closest known name; lists all at equal distance.
std::string guess(const std::string& given, const std::vector<std::string>& known) {
  std::vector<std::string> near;
  if (given.size() < (given.starts_with('-') ? 3 : 2)) return "";  // close to everything
  const std::size_t most = std::max<std::size_t>(1, given.size() / 3);
  std::size_t least = most;
  for (const std::string& name : known) {
    // A prefix of a name counts as one wrong letter.
    const bool begins = given.size() > 2 && name.starts_with(given);
    const std::size_t far = begins ? 1 : distance(given, name);
    if (far > least) continue;
    if (far < least) near.clear();
    least = far;
    near.push_back("'" + name + "'");
  }
  if (near.empty() || near.size() > 4) return "";
  return fmt::format(" Did you mean {}?", fmt::join(near, " or "));
}

// The command that other programs have under another name; else the name as it is, in the case of commands.
std::string usual_name(std::string given) {
  std::ranges::transform(given, given.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"average", "mean"},        {"avg", "mean"},     {"cumsum", "scan"}, {"histogram", "hist"}, {"maximum", "max"}, {"minimum", "min"},
      {"percentile", "quantile"}, {"product", "prod"}, {"stddev", "std"},  {"variance", "var"}};
  for (const auto& [other, name] : kOthers) {
    if (given == other) return std::string(name);
  }
  return given;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // a refused option
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// The option whose name `text` begins with, as in CLI11's messages.
const CLI::Option* named_first(const CLI::App& command, std::string_view text) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (text.starts_with(name + ":") || text.starts_with(name + " ")) return option;
  }
  return nullptr;
}

std::string words_of(const CLI::App& command, const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view kConversion = "Could not convert: ";
  if (text.starts_with(kConversion)) text.erase(0, kConversion.size());
  if (const std::size_t at = text.find(" excludes "); at != std::string::npos) {
    return fmt::format("{} and {} cannot be used together", text.substr(0, at), text.substr(at + 10));
  }
  if (const std::size_t at = text.find(" requires "); at != std::string::npos) {
    return fmt::format("{0} is for {1}: add {1}, or leave it out", text.substr(0, at), text.substr(at + 10));
  }
  const CLI::Option* const option = named_first(command, text);
  if (option == nullptr) return text;
  const std::string name = option->get_name();
  const int wanted = option->get_items_expected_min(), given = static_cast<int>(option->count());
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return name + text.substr(name.size() + 1);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return name + " is missing";
  if (wanted == 0) return name + " takes no value";
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return fmt::format("{} takes {}, not '{}'", name, wanted > 1 ? fmt::format("{} numbers", wanted) : "a number",
                       fmt::join(option->results(), " "));
  }
  if (option->get_positional()) {
    return fmt::format(
        "{} takes {} files, not {}{}", command.get_name(), wanted, given,
        command.get_name() == "dot" && given == 1 ? "; for two columns of a table: samesum sum --map 'price*qty' sales.csv" : "");
  }
  if (given > wanted) return fmt::format("{} is there {} times: once is enough", name, given / wanted);
  return fmt::format("{} takes {}: {} there", name, wanted > 1 ? fmt::format("{} values", wanted) : "a value",
                     given == 0 ? "none is" : fmt::format("only {} is", given));
}

}  // namespace

std::vector<std::string> arguments_of(int count, const char* const* arguments) {
  std::vector<std::string> result(arguments + std::min(count, 1), arguments + count);
  if (!result.empty() && result.front() == "help") {
    result.erase(result.begin());
    result.emplace_back("--help");
  }
  for (std::string& argument : result) {  // "-.5" is a number: rewritten as "-0.5"
    if (argument.size() > 2 && argument.starts_with("-.") && argument[2] >= '0' && argument[2] <= '9') argument.insert(1, 1, '0');
  }
  if (const auto mark = std::ranges::find(result, "--"); mark != result.end()) {
    for (auto it = mark + 1; it != result.end(); ++it) {
      if (it->size() > 1 && it->front() == '-') it->insert(0, 1, kNoOption);
    }
    result.erase(mark);
  }
  return result;
}

void finish(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      option->transform(without_mark);
    } else if (option->get_items_expected_min() > 0) {
      option->check(
          CLI::Validator([](const std::string& value) { return std::string(value.empty() ? "takes a value, and '' is none" : ""); }, ""));
    }
    const bool unlimited = option->get_positional() && option->get_items_expected_max() >= CLI::detail::expected_max_vector_size;
    option->allow_extra_args(unlimited);
  }
  for (CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) finish(*sub);
}

void refuse_option(CLI::App& command, const std::string& name, const std::string& reason) {
  const auto refuse = [&command, name, reason](std::int64_t) {
    throw Error(ErrorKind::usage, fmt::format("{} has no {}: {}", command.get_name(), name, reason));
  };
  command.add_flag_function(name, refuse)->group("");
}

std::string describe_mistake(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  std::string name = "samesum";
  while (command->remaining().empty() && !command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  const std::vector<std::string> commands = commands_of(*command), rest = command->remaining();
  // An unknown option, or its supposed value, may cause any of the other errors.
  const auto is_option = [](const std::string& one) { return one.size() > 1 && one.front() == '-'; };
  const auto unknown = commands.empty() ? std::ranges::find_if(rest, is_option) : rest.begin();
  const std::string known = fmt::format("There are {}", fmt::join(commands, ", "));
  std::string message;
  if (unknown != rest.end() && is_option(*unknown)) {
    const std::string option = unknown->substr(0, unknown->find('='));
    const std::string meant = guess(option, options_of(*command));
    message = fmt::format("no option '{}'{}{}", option, meant.empty() ? "" : ".", meant);
  } else if (command->get_require_subcommand_min() > 0 && rest.empty()) {
    message = "which command? " + known;
  } else if (!commands.empty() && !rest.empty()) {
    std::string meant = guess(rest.front(), commands);
    const std::string usual = usual_name(rest.front());
    if (meant.empty() && std::ranges::find(commands, usual) != commands.end()) meant = fmt::format(" Did you mean '{}'?", usual);
    message = fmt::format("no command '{}'.{}", rest.front(), meant.empty() ? " " + known : meant);
  } else if (!rest.empty()) {
    message = fmt::format("'{}' is one argument too many", without_mark(rest.front()));
  } else {
    message = words_of(*command, error);
  }
  return fmt::format("{}\nTry '{} --help'.", message, name);
}

bool parse_count(const std::string& text, std::uint64_t& count) {
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return false;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  int shift = 0;
  if (suffix.starts_with('^')) {
    const auto power = std::from_chars(rest + 1, end, shift);
    if (number != 2 || power.ec != std::errc() || power.ptr != end || shift < 0 || shift > 62) return false;
    count = std::uint64_t{1} << shift;
    return true;
  }
  if (suffix.size() == 1 && std::string_view("KMG").find(suffix[0]) != std::string_view::npos) {
    shift = 10 * static_cast<int>(std::string_view("KMG").find(suffix[0]) + 1);
  } else if (!suffix.empty()) {
    double value = 0;  // 1e6, 2.5e6
    const auto whole = std::from_chars(text.data(), end, value);
    if (whole.ec != std::errc() || whole.ptr != end || value != std::floor(value) || !(value <= 0x1p53)) return false;
    number = static_cast<std::uint64_t>(value);
  }
  if (number > std::uint64_t{1} << (63 - shift)) return false;
  count = number << shift;
  return true;
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [=](std::string& text) -> std::string {
    std::uint64_t number = 0;
    if (!parse_count(text, number) || number < least || number > most) {
      return fmt::format("takes a whole number from {} {}, not '{}'", least, most == UINT64_MAX ? "on" : fmt::format("to {}", most), text);
    }
    text = std::to_string(number);
    return {};
  };
  return CLI::Validator(check, "");
}

CLI::Validator number_from(double least, double most) {
  const auto check = [=](const std::string& text) -> std::string {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end && number >= least && number <= most) return {};
    return fmt::format("takes a number from {} to {}, not '{}'", least, most, text);
  };
  return CLI::Validator(check, "");
}

void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

}  // namespace samesum::cli
