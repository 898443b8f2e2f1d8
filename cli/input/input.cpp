#include "input/input.hpp"
#include "usage.hpp"

#include "input/broadcast.hpp"
#include "input/chain.hpp"
#include "input/nodata.hpp"
#include "input/parameters.hpp"
#include "output/printable.hpp"

#include <samesum/error.hpp>
#include <samesum/map_source.hpp>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>
#include <string_view>
#include <system_error>

namespace samesum::cli {
namespace {

// One character, or the name of one that is hard to type; 0 where nothing is given.
char character(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "blank" || text == "blanks" || text == "space") return ' ';
  require(text.size() == 1, fmt::format("{} takes one character of ASCII, or 'tab' or 'blank', not '{}'", option, text));
  return text[0];
}

}  // namespace

std::string file_of(const std::string& input) {
  std::error_code error;
  if (input == "-" || std::filesystem::exists(input, error)) return input;
  for (std::size_t colon = input.find(':'); colon != std::string::npos; colon = input.find(':', colon + 1)) {
    std::string archive = input.substr(0, colon);
    if (std::filesystem::is_regular_file(archive, error)) return archive;
  }
  return input;
}

bool is_stream(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(file, error).type();
  using enum std::filesystem::file_type;
  return file == "-" || type == fifo || type == character || type == socket;
}

bool is_npy(const std::string& file) {
  if (is_stream(file)) return false;
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<char, kMagic.size()> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kMagic;
}

namespace {

// The names in an option's values, which have commas between them; a name in quotes may have commas too.
std::vector<std::string> names_in(const std::vector<std::string>& values, std::string_view option) {
  std::vector<std::string> names;
  for (const std::string& given : values) {
    std::string name;
    bool quoted = false;
    for (const char c : given) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) {
        names.push_back(std::move(name));
        name.clear();
      } else {
        name += c;
      }
    }
    names.push_back(std::move(name));
  }
  require(std::ranges::none_of(names, &std::string::empty),
          fmt::format("{}: a name is empty; columns without a name are taken by their numbers", option));
  return names;
}

}  // namespace

std::vector<std::string> Input::named_columns() const { return names_in(columns, "--column"); }
std::vector<std::string> Input::named_keys() const { return names_in(keys, "--by"); }

void Input::complete() {
  if (!files.empty()) return;
  if (isatty(STDIN_FILENO) != 0) {
    throw Error(ErrorKind::usage,
                "FILE is missing: name a file, or pipe numbers in, as in 'seq 100 | samesum sum'; '-' reads what you type");
  }
  files = {"-"};
}

bool Input::of_text() const {
  const auto given = [](const std::string& text) { return !text.empty(); };
  return !columns.empty() || all_columns || header || no_header || !missing.empty() || given(separator) || given(decimal) ||
         given(thousands) || skip_lines != 0;
}

InputOptions Input::options() const {
  require(std::ranges::count(files, "-") <= 1, "standard input ('-') is named twice, but can be read only once");
  require(!header || !no_header, "--header and --no-header cannot be used together");
  require(columns.empty() || !all_columns, "--column and --all-columns cannot be used together");
  InputOptions options;
  options.text.columns = named_columns();
  require(tables != Tables::one_column || options.text.columns.size() <= 1,
          "--column takes one name or number here: this command reads one column");
  const bool table = !columns.empty() || !keys.empty() || !map.empty() || all_columns || rows || tables == Tables::described_whole;
  require((!header && !no_header) || table, "--header and --no-header are for tables: say which columns to read (--column)");
  if (tables != Tables::described_whole || all_columns) options.text.table = all_columns;
  if (header || no_header) options.text.header = header;
  options.text.missing = missing;
  options.text.separator = character("--sep", separator);
  if (!decimal.empty()) options.text.decimal = character("--decimal", decimal);
  options.text.thousands = character("--thousands", thousands);
  options.text.skip_lines = skip_lines;
  options.offset = offset;
  options.count = count;
  if (!dtype.empty()) {
    TextOptions nothing;
    nothing.table = options.text.table;
    require(options.text == nothing && !all_columns,
            "--dtype is for raw numbers, and --column, --missing, --sep and their like are for text: use one or the other");
    options.raw = parse_raw_type(dtype);
  }
  require(options.raw || (offset == 0 && !count), "--offset and --count are for raw numbers: give their type (--dtype float32, say)");
  options.text.keys = named_keys();
  options.text.in_order = in_order || !keys.empty();
  options.threads = threads;
  options.allow_empty = allow_empty;
  options.mapped = mapped;
  return options;
}

std::unique_ptr<Source> Input::open(const std::string& file, const InputOptions& how) const {
  return prepared(tables == Tables::one_column ? open_source(file, how) : open_table(file, how));
}

std::unique_ptr<Source> Input::prepared(std::unique_ptr<Source> source) const {
  if (any_order) source->allow_any_order();
  if (nodata.empty()) return source;
  return std::make_unique<WithoutNodata>(std::move(source), nodata);
}

FormulaMath Input::math() const { return native ? FormulaMath::native : FormulaMath::fixed; }

Formula Input::formula() const { return Formula(map, math()); }

std::vector<FormulaParameter> Input::formula_parameters() const { return parse_parameters(parameters); }

void Input::check() const {
  require(!map.empty() || (parameters.empty() && !native), "--param and --native are for the formula of --map, and there is none: add it");
  if (!map.empty()) check_used(parameters, {map});
  for (const std::string& file : files) {
    if (!selection.wanted() || is_image(file)) continue;
    require(map.empty(), "--region and --mask are for images, and --map for arrays and tables: leave one out");
    require(!is_stream(file), "--region and --mask are for images, which are read from files: name one");
    if (!std::filesystem::exists(file)) static_cast<void>(open(file));  // which says so
    refuse(fmt::format("{} is no image (PNG, JPEG, TIFF), and --region and --mask are for images: leave them out", shown_name(file)));
  }
}

namespace {

// Whether a table has a column of this name.
bool has_column(const std::string& file, InputOptions how, const std::string& name) {
  how.text.columns = {name};
  try {
    open_table(file, how)->next();
    return true;
  } catch (const Error& error) {
    return std::string_view(error.what()).find("is no number") != std::string_view::npos;
  }
}

}  // namespace

std::vector<Input::Operand> Input::operands(const Formula& formula) const {
  require(nodata.empty(), "--nodata leaves elements out, and a formula takes those at the same index: leave out one of --nodata and --map");
  require(!total, "--map takes all files as one input already: leave out --total");
  InputOptions how = options();
  how.text.in_order = true;
  how.complex = true;
  std::vector<std::string> wanted, known;  // `known` names mean something by themselves, unless an input has them
  for (const std::string& name : formula.names()) {
    const auto is_parameter = [&](const std::string& parameter) { return parameter.starts_with(name + "="); };
    constexpr std::array<std::string_view, 7> kKnown = {"i", "pi", "e", "inf", "nan", "true", "false"};
    if (std::ranges::any_of(parameters, is_parameter)) continue;
    (std::ranges::find(kKnown, name) == kKnown.end() ? wanted : known).push_back(name);
  }
  std::vector<Operand> found;
  const auto identifier = [](std::string_view name) {
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  };
  std::size_t position = 0;
  // A file of that name is a table, whose columns x and y may be.
  const auto is_table = [](const std::string& file) {
    return std::ranges::any_of(std::array{".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst"},
                               [&](const char* end) { return file.ends_with(end); });
  };
  const bool one_text =
      files.size() == 1 && columns.empty() && !all_columns && files.front().find('=') == std::string::npos && !is_npy(files.front());
  if (one_text && !is_stream(files.front())) {
    std::ranges::copy_if(known, std::back_inserter(wanted), [&](const std::string& name) { return has_column(files.front(), how, name); });
  }
  const bool uses_x = std::ranges::find(wanted, "x") != wanted.end();
  const auto x_is_column = [&] {
    if (wanted.size() > 1) return is_table(files.front());
    return (is_table(files.front()) || !keys.empty()) && !is_stream(files.front()) && has_column(files.front(), how, "x");
  };
  const bool columns_of_one = one_text && !wanted.empty() && (!uses_x || x_is_column());
  if (columns_of_one) {
    require(!is_stream(files.front()) || wanted.size() == 1,
            "a formula of several columns reads its file once for each of them: standard input and pipes can be read only once: "
            "save it to a file");
    for (const std::string& name : wanted) {
      found.push_back({name, files.front(), how});
      found.back().how.text.columns = {name};
    }
    return found;
  }
  for (const std::string& file : files) {
    const std::size_t equals = file.find('=');
    if (equals != std::string::npos && identifier(std::string_view(file).substr(0, equals))) {
      found.push_back({file.substr(0, equals), file.substr(equals + 1), how});
    } else {
      require(position < 3, "a formula's files are x, y and z in their order: name more of them, as in w=weights.npy");
      found.push_back({std::string(1, static_cast<char>('x' + position++)), file, how});
    }
    const std::string& name = found.back().name;
    if (std::ranges::find(known, name) != known.end()) wanted.push_back(name);
    require(std::ranges::find(wanted, name) != wanted.end(),
            fmt::format("the formula does not use '{}', which {} is{}", name, shown_name(found.back().file),
                        wanted.empty() ? "" : fmt::format(": it has {}", fmt::join(wanted, ", "))));
  }
  for (const std::string& name : wanted) {
    require(std::ranges::find(found, name, &Operand::name) != found.end(),
            fmt::format("'{0}' in the formula is none of its inputs ({1}): give a number (--param {0}=0.5) or a file ({0}=FILE)",
                        printable_name(name), fmt::join(found | std::views::transform(&Operand::name), ", ")));
  }
  return found;
}

std::vector<NamedSource> Input::sources() const {
  options();  // checks the options before anything is read
  if (!map.empty()) {
    const Formula text = formula();
    formula_parameters();
    operands(text);
    const auto open_all = [*this, text] {
      const std::vector<Operand> names = operands(text);
      if (std::unique_ptr<Source> values = broadcast_map(text, names, formula_parameters())) return values;
      std::vector<SourceInput> inputs;
      for (const Operand& operand : names) {
        const Tables whole = operand.how.text.columns.empty() ? Tables::one_column : tables;
        inputs.push_back(
            {operand.name, whole == Tables::one_column ? open_source(operand.file, operand.how) : open_table(operand.file, operand.how)});
      }
      return samesum::map(text, std::move(inputs), formula_parameters());
    };
    return {{text.to_string(), open_all}};
  }
  std::vector<NamedSource> sources;
  for (const std::string& file : files) {
    if (!is_image(file)) {
      sources.push_back({file, [*this, file, how = options()] { return open(file, how); }});
      continue;
    }
    require(!of_text(), fmt::format("{} is an image, and --column is for texts, as are --header, --missing and their like: leave them out",
                                    shown_name(file)));
    for (NamedSource& channel : channels_of(file, selection)) {
      sources.push_back({channel.name, [*this, open_channel = channel.open] { return prepared(open_channel()); }});
    }
  }
  if (!total) return sources;
  return {as_one(std::move(sources))};
}

bool Input::is_image(const std::string& file) const { return images && dtype.empty() && map.empty() && samesum::is_image(file); }

bool Input::has_stream() const {
  if (map.empty()) return std::ranges::any_of(files, is_stream);
  return std::ranges::any_of(operands(formula()), [](const Operand& operand) { return is_stream(operand.file); });
}

std::uint64_t Input::resident_bytes() const {
  if (!map.empty()) return 0;  // values come chunk by chunk
  InputOptions how = options();
  how.mapped = true;  // which takes no memory
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    if (!is_stream(file) && !is_image(file)) bytes += open(file, how)->resident_bytes();
  }
  return bytes;
}

bool Input::all_resident() const {
  if (!map.empty()) return false;
  InputOptions how = options();
  how.mapped = true;
  return std::ranges::all_of(files, [&](const std::string& file) { return !is_stream(file) && open(file, how)->resident_bytes() != 0; });
}

CLI::Option* add_files(CLI::App& command, Input& input, const std::string& description) {
  return command.add_option("FILE", input.files, description)->option_text("...");
}

void add_options(CLI::App& command, Input& input) {
  command.add_option("--dtype", input.dtype, "type of raw numbers: float32, '>i4' (big-endian) ...")->type_name("TYPE");
  command.add_option("--offset", input.offset, "of raw numbers: bytes before the first")
      ->transform(whole_number(0, UINT64_MAX))
      ->option_text("BYTES");
  command.add_option("--count", input.count, "of raw numbers: how many to read")->transform(whole_number(0, UINT64_MAX))->option_text("N");
  add_text_options(command, input);
  command.add_flag("--allow-empty", input.allow_empty, "an input without numbers is no mistake");
}

void add_text_options(CLI::App& command, Input& input) {
  const bool several = input.tables != Tables::one_column;
  command
      .add_option("--column", input.columns,
                  several ? "of a text: the columns to read, by numbers or names: 2,price" : "of a text: the one column to read")
      ->type_name(several ? "COLUMNS" : "N|NAME")
      ->allow_extra_args(false);
  if (several) command.add_flag("--all-columns", input.all_columns, "of a text: every column of numbers");
  command.add_flag("--header", input.header, "of a table: the first line has the names");
  command.add_flag("--no-header", input.no_header, "of a table: it has not");
  command.add_option("--missing", input.missing, "of a text: a word for a missing number")->type_name("WORD")->allow_extra_args(false);
  command.add_option("--sep", input.separator, "of a text: what separates columns or numbers: ';', tab, blank")->type_name("CHAR");
  command.add_option("--decimal", input.decimal, "of a text: ',' for decimal commas")->type_name("CHAR");
  command.add_option("--thousands", input.thousands, "of a text: what stands between thousands: , . ' _ blank")->type_name("CHAR");
  command.add_option("--skip-lines", input.skip_lines, "of a text: lines before the first")
      ->transform(whole_number(0, UINT64_MAX))
      ->option_text("N");
}

void add_images(CLI::App& command, Input& input) {
  input.images = true;
  add_selection(command, input.selection, "of an image");
}

void add_map(CLI::App& command, Input& input) {
  command.add_option("--map", input.map, "a formula of the numbers, read instead of them: 'x*y' x.npy y.npy")->type_name("FORMULA");
  command.add_option("--param", input.parameters, "a number in a formula, NAME=VALUE; may be given again")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  add_native(command, input);
}

void add_native(CLI::App& command, Input& input) {
  command.add_flag("--native", input.native, "the device's own exp, sin, ...: faster, but other bits on each device");
}

void add_total(CLI::App& command, Input& input) {
  command.add_flag("--total", input.total, "one result for all files, as if they were one");
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : printable_name(file); }

}  // namespace samesum::cli
