// samesum reduce --combine FORMULA FILE...
#include "command.hpp"
#include "group/axes.hpp"
#include "group/by.hpp"
#include "input/broadcast.hpp"
#include "input/elements.hpp"
#include "input/input.hpp"
#include "input/parameters.hpp"
#include "output/number.hpp"
#include "output/printable.hpp"
#include "output/result.hpp"
#include "usage.hpp"

#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/operator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

namespace samesum::cli {
namespace {

struct ReduceOptions {
  Input input;
  std::string device = "auto", combine, finish;
  std::vector<std::string> identity;
  bool check = false;
  ResultOptions result;
  AxesOptions axes;
};

// An input in memory, or in a device's.
Array on_device(const Array& data, const Device& device) {
  if (!device.info().has(Capability::kernels)) return data;
  const Buffer buffer(device, std::max<std::uint64_t>(data.bytes(), 16));
  if (data.bytes() != 0) buffer.write(data.data(), data.bytes());
  return {buffer, data.size(), data.type()};
}

int run(Output& out, const ReduceOptions& options) {
  options.result.check();
  const FormulaMath math = options.input.math();
  Operator op{Formula(options.combine, math), {}, options.input.formula_parameters()};
  for (const std::string& number : options.identity) op.identity.push_back(parse_value(number, "--identity"));
  if (!options.finish.empty()) op.finish = Formula(options.finish, math);
  check_used(options.input.parameters, {options.combine, options.finish, options.input.map});
  options.axes.check();
  if (options.axes.wanted()) {
    if (options.check) throw Error(ErrorKind::usage, "--check takes all elements of a file: leave out one of --check and --axis");
    return run_operator_along_axes(out, options.input, options.device, op, options.axes, options.result);
  }
  if (options.input.sorted && options.input.keys.empty()) throw Error(ErrorKind::usage, "--sorted goes with --by");
  if (!options.input.keys.empty()) {
    if (options.check) throw Error(ErrorKind::usage, "--check takes all elements of a file: leave out one of --check and --by");
    return run_operator_by(out, options.input, options.device, op, options.result);
  }
  const auto start = std::chrono::steady_clock::now();

  std::deque<Elements> elements;
  std::vector<Value> values;
  std::uint64_t count = 0;
  Device device = Device::open("cpu");
  if (options.input.map.empty()) {
    if (options.input.files.size() != 1) throw Error(ErrorKind::usage, "an operator takes one file; with --map several, side by side");
    InputOptions how = options.input.options();
    how.complex = true;
    elements.emplace_back(options.input.files.front(), how);
    const Array data = elements.front().view();
    device = choose_device(options.device, data.bytes());
    count = data.size();
    if (elements.front().complex()) {
      if (options.check) throw Error(ErrorKind::usage, "--check takes real numbers: leave it out for complex ones");
      count /= 2;
      const ComplexArray numbers(on_device(data, device).reshaped({count, 2}));
      values = reduce(Formula("x"), {{"x", numbers}}, {}, op);
    } else {
      if (options.check) {
        if (const std::optional<std::string> found = find_not_associative(data, op)) throw Error(ErrorKind::no_answer, *found);
      }
      try {
        values = reduce(on_device(data, device), op);
      } catch (const Error& error) {
        const bool of_integers = std::string_view(error.what()).find("takes integers, not float64") != std::string_view::npos;
        if (!of_integers || elements.front().format() != "text") throw;
        throw Error(error.kind(),
                    fmt::format("{}\nhere numbers of a text are float64: --map 'int64(x)' makes integers of them", error.what()));
      }
    }
  } else {
    if (options.check) throw Error(ErrorKind::usage, "--check takes the elements of a file: leave out one of --check and --map");
    const Formula map = options.input.formula();
    std::uint64_t bytes = 0;
    std::vector<FormulaInput> inputs;
    for (const Input::Operand& operand : options.input.operands(map)) {
      elements.emplace_back(operand.file, operand.how);
      bytes += elements.back().view().bytes();
    }
    device = choose_device(options.device, bytes);
    std::size_t number = 0;
    for (const Input::Operand& operand : options.input.operands(map)) {
      const Elements& file = elements[number++];
      inputs.push_back(input_of(operand.name, file, on_device(file.view(), device)));
    }
    count = 1;
    for (const std::uint64_t extent : shape_of(inputs)) count *= extent;
    values = reduce(map, inputs, options.input.formula_parameters(), op);
  }
  for (const Elements& one : elements) one.check_unchanged();

  if (options.result.json) {
    Json object;
    if (values.size() == 1) Number(values[0]).add_to(object);
    object["values"] = Json::array();
    for (const Value& value : values) Number(value).add_to(object["values"].emplace_back());
    object["count"] = count;
    object["device"] = device.info().selector;
    out.print("{}\n", to_text(object));
  } else {
    if (options.result.csv) out.print("component,value\n");
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::string text = options.result.text(Number(values[k]));
      options.result.csv ? out.print("{},{}\n", k, text) : out.print("{}\n", text);
    }
  }
  if (options.result.verbose) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.note(fmt::format("{} of {}, {}, {}", op.combine.to_string(), counted(count, "element"), device.info().selector, duration(seconds)));
  }
  return kExitOk;
}

}  // namespace

void add_reduce(CLI::App& program, Action& action) {
  const auto options = std::make_shared<ReduceOptions>();
  CLI::App* command = program.add_subcommand("reduce", "A reduction by an operator of your own, as a formula of a and b");
  add_files(*command, options->input, ".npy files, text, raw numbers; none, or -: standard input");
  command->add_option("--combine", options->combine, "the operator: 'gcd(a, b)', 'a*b % 1000003', '(a[0] + b[0], ...)'")
      ->required()
      ->type_name("FORMULA");
  command->add_option("--identity", options->identity, "the result for no elements; of tuples one number for each component")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NUMBERS");
  command->add_option("--finish", options->finish, "behind it, of the result a: 'log(a[1]) + a[0]'")->type_name("FORMULA");
  add_map(*command, options->input);
  add_by(*command, options->input);
  command->add_flag("--check", options->check, "look for elements for which the operator is not associative");
  add_options(*command, options->input);
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default)")->type_name("DEVICE");
  add_options(*command, options->result, kPlain | kJson | kCsv | kHex | kVerbose);
  add_axes(*command, options->axes);
  command->footer(R"(Examples:
  samesum reduce --combine 'gcd(a, b)' --identity 0 n.npy
  samesum reduce --combine 'a*b % 1000003' --check n.npy
  samesum reduce --combine 'a*b' z.npy                        # of complex numbers, too
  samesum reduce --map '(abs(x), i)' --combine 'b[0] > a[0] ? b : a' x.npy # and where
  samesum reduce --map '(x, i)' --combine 'b[0] < a[0] ? b : a' --finish 'a[1]' x.npy
  samesum reduce --combine 'gcd(a, b)' --axis 0 n.npy -o g.npy # of each column
  samesum reduce --combine 'gcd(a, b)' --column b --by city t.csv # of groups of rows

Elements are combined in a balanced binary tree over their indices, in order: the
operator need not commute, and the result is the same on every device if its
formula is reproducible. docs/formulas.md has the language.)");
  command->callback([options, &action] {
    options->input.in_order = true;
    action = [options](Output& out) {
      options->input.complete();
      return run(out, *options);
    };
  });
}

}  // namespace samesum::cli
