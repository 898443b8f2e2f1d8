// Completion of commands, options and values in shells: scripts for bash, zsh and fish, written of the described commands themselves.
#include "command.hpp"
#include "usage.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <string_view>

namespace samesum::cli {
namespace {

using Names = std::vector<std::string>;

// Values by the option that takes them: of these, what the option's description names.
const std::map<std::string, Names> kChoices = {
    {"device", {"auto", "all", "cpu", "opencl:0", "cuda:0"}},
    {"dtype", {"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}},
    {"nan", {"propagate", "skip"}},
    {"f", {"product", "difference", "absdiff", "sqdist", "gaussian", "invdist"}},
    {"reduce", {"sum", "min", "max", "argmin", "argmax"}},
    {"accuracy", {"fast", "compensated", "exact"}},
    {"data", {"uniform", "normal", "lognormal", "bits", "zeros"}},
    {"only", {"ceiling", "sum", "reduce", "histogram", "pairs", "barrier"}},
    {"operation", {"sum", "dot", "extrema"}},
    {"pattern", {"sum", "reduce", "histogram", "pairs", "barrier"}},
};

bool mentions(const std::string& text, const std::string& word) {
  const auto inside = [&](std::size_t at) { return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (!inside(at - 1) && !inside(at + word.size())) return true;
  }
  return false;
}

struct Entry {
  Names names;  // with their dashes
  std::string description, operand;
  Names values;        // choices
  bool takes = false;  // a value
  bool files = false;  // whose value is a file
  bool again = false;  // may be there again
};

struct Described {
  std::string path;  // "bench sum"; empty: the program
  std::vector<Entry> options;
  std::vector<std::pair<std::string, std::string>> commands;  // names and descriptions
  Names values;                                               // of the first argument
};

Names choices_of(const std::string& name, const std::string& description) {
  const auto known = kChoices.find(name);
  if (known == kChoices.end()) return {};
  if (name == "dtype" && (mentions(description, "any other") || description.ends_with("..."))) return known->second;
  Names values;
  std::ranges::copy_if(known->second, std::back_inserter(values), [&](const std::string& value) { return mentions(description, value); });
  if (name == "device" && values.size() < 2 && values != Names{"all"}) values = {"cpu", "opencl:0", "cuda:0"};
  return values;
}

Entry described(const CLI::Option& option) {
  Entry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.description = option.get_description();
  entry.takes = option.get_items_expected_min() > 0;
  entry.again = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (!entry.takes) return entry;
  entry.operand = CLI::Formatter().make_option_opts(&option);  // as --help has it: " FILE ..."
  entry.operand.erase(0, std::min(entry.operand.size(), entry.operand.find_first_not_of(' ')));
  entry.operand = entry.operand.substr(0, entry.operand.find(' '));
  if (!option.get_lnames().empty()) entry.values = choices_of(option.get_lnames().front(), entry.description);
  const std::array<std::string_view, 4> kinds = {"FILE", "OUT", "IMAGE", "DATA"};
  entry.files = std::ranges::any_of(kinds, [&](std::string_view kind) { return entry.operand.find(kind) != std::string::npos; });
  return entry;
}

void describe_into(std::vector<Described>& all, const CLI::App& command, const std::string& path) {
  Described one{path, {}, {}, {}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional() && !option->get_group().empty()) one.options.push_back(described(*option));
  }
  const auto below = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) one.commands.emplace_back(sub->get_name(), sub->get_description());
  if (path == "completion") one.values = {"bash", "zsh", "fish"};
  all.push_back(std::move(one));
  for (const CLI::App* sub : below) describe_into(all, *sub, path.empty() ? sub->get_name() : path + " " + sub->get_name());
}

std::string escaped(const std::string& text, std::string_view which) {
  std::string result;
  for (const char c : text) {
    if (which.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Between single quotes of bash and zsh.
std::string single_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

Names names_of(const Described& one) {
  Names names;
  for (const auto& command : one.commands) names.push_back(command.first);
  return names;
}

void write_bash(Output& out, const std::vector<Described>& all) {
  // ':' and '=' part bash's words: they are put together again, and --device=cpu is read as --device cpu.
  out.print(R"(# samesum: completion for bash; written by 'samesum completion bash'
_samesum() {{
  local words=() word last='' i
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    if [[ $word == = ]]; then
      ((i == COMP_CWORD)) && words+=('')
    elif ((i > 1)) && [[ $word == : || $last == : ]]; then
      words[${{#words[@]}}-1]+=$word
    else
      words+=("$word")
    fi
    last=$word
  done
  local count=${{#words[@]}}
  local current=${{words[count-1]}} before=${{words[count-2]}} command='' values='' options='' arguments='' files=1
  ((count > 2)) && command=${{words[1]}}
  ((count > 3)) && case "$command ${{words[2]}}" in
)");
  for (const Described& one : all) {
    if (one.path.find(' ') != std::string::npos) out.print("    '{}') command='{}' ;;\n", one.path, one.path);
  }
  out.print("  esac\n  case $command in\n");
  for (const Described& one : all) {
    Names options, arguments = names_of(one);
    for (const Entry& entry : one.options) options.insert(options.end(), entry.names.begin(), entry.names.end());
    arguments.insert(arguments.end(), one.values.begin(), one.values.end());
    out.print("    {}) options='{}' arguments='{}'{} ;;\n", one.path.empty() ? "''|help" : single_quoted(one.path), fmt::join(options, " "),
              fmt::join(arguments, " "), arguments.empty() ? "" : " files=");
  }
  out.print("    *) return ;;\n  esac\n  case \"$command $before\" in\n");
  for (const Described& one : all) {
    for (const Entry& entry : one.options) {
      if (!entry.takes) continue;
      Names patterns;
      for (const std::string& name : entry.names) patterns.push_back(single_quoted(one.path + " " + name));
      out.print("    {}) values='{}' files={} options= arguments= ;;\n", fmt::join(patterns, "|"), fmt::join(entry.values, " "),
                entry.files ? "1" : "");
    }
  }
  out.print(R"(    *) [[ $current == -* ]] && values=$options files= || values=$arguments ;;
  esac
  COMPREPLY=($(compgen -W "$values" -- "$current"))
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local said=${{current%:*}}:
    COMPREPLY=("${{COMPREPLY[@]#"$said"}}")
  fi
}}
complete -F _samesum samesum
)");
}

void write_zsh(Output& out, const std::vector<Described>& all) {
  out.print(
      "#compdef samesum\n# samesum: completion for zsh; written by 'samesum completion zsh'\n_samesum() {{\n"
      "  local command=$words[2] context state line\n  typeset -A opt_args\n  (( CURRENT > 2 )) || command=\n"
      "  (( CURRENT > 3 )) && case \"$command $words[3]\" in\n");
  for (const Described& one : all) {
    if (one.path.find(' ') != std::string::npos) out.print("    '{}') command='{}' ;;\n", one.path, one.path);
  }
  out.print("  esac\n  case $command in\n");
  for (const Described& one : all) {
    out.print("    {})\n      _arguments -S", one.path.empty() ? "''|help" : single_quoted(one.path));
    for (const Entry& entry : one.options) {
      for (const std::string& name : entry.names) {
        std::string spec = (entry.again ? "*" : "") + name + (entry.takes && name.starts_with("--") ? "=" : "");
        spec += "[" + escaped(entry.description, "[]:\\") + "]";
        if (entry.takes) {
          Names values;
          for (const std::string& value : entry.values) values.push_back(escaped(value, ":"));
          spec += ":" + escaped(entry.operand.empty() ? "VALUE" : entry.operand, ":\\") + ":";
          spec += entry.values.empty() ? (entry.files ? "_files" : " ") : fmt::format("({})", fmt::join(values, " "));
        }
        out.print(" \\\n        {}", single_quoted(spec));
      }
    }
    if (!one.values.empty()) {
      out.print(" \\\n        {}", single_quoted(fmt::format("*:argument:({})", fmt::join(one.values, " "))));
    } else if (!one.commands.empty()) {
      out.print(" \\\n        {}", single_quoted(fmt::format("*:command:({})", fmt::join(names_of(one), " "))));
    } else {
      out.print(" \\\n        '*:file:_files'");
    }
    out.print("\n      ;;\n");
  }
  out.print("  esac\n}}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _samesum \"$@\"; else compdef _samesum samesum; fi\n");
}

void write_fish(Output& out, const std::vector<Described>& all) {
  const auto text = [](const std::string& words) { return "'" + escaped(words, "\\'") + "'"; };
  out.print(R"(# samesum: completion for fish; written by 'samesum completion fish'
function __samesum_command
  set -l words (commandline -opc)
  switch "$words[2] $words[3]"
)");
  for (const Described& one : all) {
    if (one.path.find(' ') != std::string::npos) out.print("    case '{}'\n      echo '{}'\n", one.path, one.path);
  }
  out.print("    case '*'\n      echo \"$words[2]\"\n  end\nend\n");
  for (const Described& one : all) {
    const std::string when = one.path.empty() ? "'contains -- \"$(__samesum_command)\" \"\" help'"
                                              : fmt::format("'test \"$(__samesum_command)\" = \"{}\"'", one.path);
    for (const auto& [name, does] : one.commands) out.print("complete -c samesum -n {} -f -a {} -d {}\n", when, name, text(does));
    if (!one.values.empty()) out.print("complete -c samesum -n {} -f -a '{}'\n", when, fmt::join(one.values, " "));
    for (const Entry& entry : one.options) {
      out.print("complete -c samesum -n {}", when);
      for (const std::string& name : entry.names) {
        const bool long_one = name.starts_with("--");
        out.print(" {} {}", long_one ? "-l" : "-s", name.substr(long_one ? 2 : 1));
      }
      if (entry.takes) out.print(" -r{}", entry.files ? " -F" : " -f");
      if (!entry.values.empty()) out.print(" -a '{}'", fmt::join(entry.values, " "));
      out.print(" -d {}\n", text(entry.description));
    }
  }
}

}  // namespace

void add_completion(CLI::App& program, Action& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand("completion", "A script with which a shell completes commands, options, values");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->footer(R"(Examples:
  samesum completion bash > samesum    # to ~/.local/share/bash-completion/completions
  samesum completion zsh > _samesum    # to a folder of $fpath
  samesum completion fish > samesum.fish # to ~/.config/fish/completions

'make install' puts all three where the shells look for them.)");
  command->callback([shell, &program, &action] {
    action = [shell, &program](Output& out) {
      std::vector<Described> all;
      describe_into(all, program, "");
      if (*shell == "bash") {
        write_bash(out, all);
      } else if (*shell == "zsh") {
        write_zsh(out, all);
      } else if (*shell == "fish") {
        write_fish(out, all);
      } else {
        refuse("completion: there are bash, zsh and fish, not '" + *shell + "'");
      }
      return kExitOk;
    };
  });
}

}  // namespace samesum::cli
