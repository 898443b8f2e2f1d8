#include "input.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace samesum::cli {

InputOptions Input::options() const {
  if (std::ranges::count(files, "-") > 1) throw Error(ErrorKind::usage, "standard input ('-') can be read once only");
  if (header && no_header) throw Error(ErrorKind::usage, "--header and --no-header cannot both be had");
  if ((header || no_header) && column.empty()) throw Error(ErrorKind::usage, "--header and --no-header are for --column");
  if (!dtype.empty() && (!column.empty() || !missing.empty())) {
    throw Error(ErrorKind::usage, "--dtype is for raw numbers, --column and --missing are for text: they cannot be had together");
  }
  InputOptions options;
  if (!dtype.empty()) options.raw = parse_raw_type(dtype);
  options.text.column = column;
  if (header || no_header) options.text.header = header;
  options.text.missing = missing;
  options.text.integers = !reals;
  options.text.in_order = in_order;
  options.threads = threads;
  return options;
}

std::unique_ptr<Source> Input::open(const std::string& file, const InputOptions& how) const {
  std::unique_ptr<Source> source = open_source(file, how);
  if (any_order) source->allow_any_order();
  return source;
}

std::vector<NamedSource> Input::sources() const {
  std::vector<NamedSource> sources;
  for (const std::string& file : files) sources.push_back({file, [*this, file, how = options()] { return open(file, how); }});
  return sources;
}

std::uint64_t Input::resident_bytes() const {
  const InputOptions how = options();
  std::uint64_t total = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::file_type type = std::filesystem::status(file, error).type();
    if (file == "-" || type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character) continue;
    total += open(file, how)->resident_bytes();
  }
  return total;
}

void add_options(CLI::App& command, Input& input) {
  command.add_option("--dtype", input.dtype, "type of raw numbers: float32, '>i4' (big-endian) ...")->type_name("TYPE");
  command.add_option("--column", input.column, "of a text: the one column to read")->type_name("N|NAME");
  command.add_flag("--header", input.header, "with --column: the first line has the names");
  command.add_flag("--no-header", input.no_header, "with --column: it has not");
  command.add_option("--missing", input.missing, "of a text: a word for a missing number")->type_name("WORD")->allow_extra_args(false);
}

}  // namespace samesum::cli
