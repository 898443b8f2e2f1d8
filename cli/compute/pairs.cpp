// samesum pairs A.npy B.npy
#include "command.hpp"
#include "compute/pair_values.hpp"
#include "input/elements.hpp"
#include "input/input.hpp"
#include "input/parameters.hpp"
#include "output/number.hpp"
#include "output/output_file.hpp"
#include "output/printable.hpp"
#include "output/progress.hpp"
#include "output/result.hpp"
#include "part/part.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/pairs.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace samesum::cli {
namespace {

struct PairsOptions {
  std::string a, b, weights, formula, combine, finish, out;
  std::vector<std::string> parameters, of_y, identity;
  std::string f = "product", reduction = "sum", accuracy = "fast";
  std::string device = "auto";
  Input texts;  ///< how A and B are read if they are texts, and formulas
  std::optional<double> h, softening;
  PairsProblem pairs;
  Tuning tuning;
  PartOptions part;
  ResultOptions result;
};

// What decides the values beside the files.
Json how_of(const PairsOptions& options) {
  return {{"f", options.f},
          {"h", options.pairs.h},
          {"softening", options.pairs.softening},
          {"formula", options.formula},
          {"reduce", options.reduction},
          {"k", options.pairs.k},
          {"combine", options.combine},
          {"identity", options.identity},
          {"finish", options.finish},
          {"parameters", options.parameters},
          {"native", options.texts.native},
          {"accuracy", options.accuracy},
          {"of_y", options.of_y.size()},
          {"weights", !options.weights.empty()}};
}

// D, for an array of shape (X,) or (X, D); 2 for complex numbers.
std::uint64_t components_of(const Elements& file) {
  if (file.shape().size() == 1) return 1;
  if (file.shape().size() == 2 && file.shape()[1] != 0) return file.shape()[1];
  if (file.complex())
    throw Error(ErrorKind::usage, fmt::format("{}: pairs take complex numbers of shape (N,), not vectors of them", file.name()));
  throw Error(ErrorKind::usage, fmt::format("{}: pairs take arrays of shape (N,) or (N, D), and this one is of shape ({})", file.name(),
                                            fmt::join(file.shape(), ", ")));
}

// "42% of 1.1e+12 pairs, 12.3 s left", for work that takes long enough.
void tell(double fraction, double pairs, std::chrono::steady_clock::time_point start) {
  constexpr double kLong = 1;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double left = seconds * (1 - fraction) / fraction;
  if (seconds + left > kLong)
    StatusLine::show(fmt::format("{:.0f}% of {:.2g} pairs, about {} left", 100 * fraction, pairs, duration(left)));
}

std::uint64_t count_of(const Elements& file, std::uint64_t components) { return file.view().size() / components; }

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;  // of x

// Calls take(first, values) with the results for one block of x at a time, to bound memory; of `begin` to `end`.
template <class Take>
void in_blocks(const Elements& a, const Elements& b, const Device& device, const PairsOptions& options, std::uint64_t begin,
               std::uint64_t end, const Take& take) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t components = options.pairs.components;
  bool complex = false;
  const double x = static_cast<double>(end - begin), pairs_in_all = x * static_cast<double>(count_of(b, components));
  const StatusLine progress;
  for (std::uint64_t first = begin; first == begin || first < end; first += kBlock) {
    const std::uint64_t count = std::min(kBlock, end - first);
    const auto told = [&](const samesum::Progress& part) {
      tell((static_cast<double>(first - begin) + part.fraction() * static_cast<double>(count)) / x, pairs_in_all, start);
    };
    PairValues result{count, {}};
    try {
      if (first == begin) complex = pairs_give_complex(a.view(), b.view(), options.pairs);
      result.complex = complex;
      result.values = pairs(a.view().part(first * components, count * components), b.view(), options.pairs,
                            {.device = device, .progress = told, .tuning = options.tuning});
    } catch (const Error& error) {  // the library's message names arrays; adds their files
      const std::string counted = first == 0 ? "" : fmt::format(" (x counted from number {} on)", first);
      throw Error(error.kind(), fmt::format("{}, {}{}{}: {}{}", options.a, options.b, options.weights.empty() ? "" : ", ", options.weights,
                                            error.what(), counted));
    }
    take(first, result);
  }
}

// What --combine, --identity and --finish say.
std::optional<Operator> operator_of(const PairsOptions& options, FormulaMath math) {
  if (options.combine.empty()) {
    if (!options.identity.empty() || !options.finish.empty())
      throw Error(ErrorKind::usage, "--identity and --finish belong to an operator: --combine");
    return std::nullopt;
  }
  Operator op{Formula(options.combine, math), {}, parse_parameters(options.parameters)};
  for (const std::string& number : options.identity) op.identity.push_back(parse_value(number, "--identity"));
  if (!options.finish.empty()) op.finish = Formula(options.finish, math);
  return op;
}

int run(Output& out, PairsOptions options) {
  options.result.check();
  if (options.formula.empty()) {
    options.pairs.f = parse_pair_function(options.f);
  } else {
    options.pairs.formula = Formula(options.formula, options.texts.math());
  }
  const auto take = [&](const std::optional<double>& given, std::string_view option, PairFunction f, double& to) {
    if (!given) return;
    if (!options.formula.empty() || options.pairs.f != f) {
      throw Error(ErrorKind::usage,
                  fmt::format("--{0} is for '--f {1}': leave it out; a formula takes '--param {0}=0.5'", option, name_of(f)));
    }
    to = *given;
  };
  take(options.h, "h", PairFunction::gaussian, options.pairs.h);
  take(options.softening, "softening", PairFunction::invdist, options.pairs.softening);
  // Without a formula they are those of the operator alone.
  if (options.combine.empty() || !options.formula.empty()) options.pairs.parameters = parse_parameters(options.parameters);
  options.pairs.reduction = parse_pair_reduction(options.reduction);
  if (options.pairs.k != 1 && options.pairs.reduction != PairReduction::smallest && options.pairs.reduction != PairReduction::argsmallest) {
    throw Error(ErrorKind::usage, "--k is how many of the smallest: --reduce smallest or argsmallest");
  }
  if (!options.formula.empty() || !options.combine.empty()) {
    check_used(options.parameters, {options.formula, options.combine, options.finish});
  } else if (options.texts.native) {
    refuse("--native is for the functions of a formula, and there is none: --formula");
  }
  options.pairs.combine = operator_of(options, options.texts.math());
  options.pairs.accuracy = parse_pair_accuracy(options.accuracy);
  if (options.pairs.accuracy != PairAccuracy::fast && (options.pairs.combine || options.pairs.reduction != PairReduction::sum))
    refuse("--accuracy is that of sums: leave it out with another --reduce, and with --combine");
  std::vector<std::pair<std::string, std::string>> named_files;
  std::vector<std::string> files = {options.a, options.b, options.weights};
  for (const std::string& text : options.of_y) files.push_back(named_files.emplace_back(split_named(text, "--of-y")).second);
  const OutputFile target(options.out, files);
  if (!options.result.partial.empty() && !options.part.wanted()) refuse("--partial keeps the values of a part: --part K/N");
  if (options.part.wanted() && target.wanted())
    refuse("--part writes its values with --partial: 'merge' writes those of all parts with --out");
  if (target.wanted() && (options.result.plain || options.result.csv)) {
    throw Error(ErrorKind::usage, "--plain and --csv say how values are printed, and with --out they are not: leave one of them out");
  }
  if (std::ranges::count(files, "-") > 1) {
    throw Error(ErrorKind::usage, "standard input ('-') is named twice, but can be read only once");
  }
  InputOptions of_complex;
  of_complex.complex = true;
  InputOptions of_vectors = options.texts.options();
  of_vectors.complex = true;
  const bool one_text = is_npy(options.a) != is_npy(options.b);  // of two .npy files options for texts are refused
  const auto vectors_of = [&](const std::string& file) {
    return Elements::aligned(file, one_text && is_npy(file) ? of_complex : of_vectors, TextLines::rows);
  };
  const Elements a = vectors_of(options.a), b = vectors_of(options.b);
  options.pairs.components = components_of(a);
  options.pairs.complex = a.complex();
  if (b.complex() != a.complex()) {
    throw Error(ErrorKind::usage, fmt::format("{} has complex numbers, {} has not: A and B are of one type",
                                              a.complex() ? a.name() : b.name(), a.complex() ? b.name() : a.name()));
  }
  if (components_of(b) != options.pairs.components) {
    throw Error(ErrorKind::usage, fmt::format("{} has vectors of {}, {} of {}", a.name(), counted(options.pairs.components, "component"),
                                              b.name(), components_of(b)));
  }
  std::optional<Elements> weights;
  if (!options.weights.empty()) options.pairs.weights = weights.emplace(Elements::aligned(options.weights)).view();
  std::vector<Elements> of_y;
  for (const auto& [name, file] : named_files) {
    const Elements& elements = of_y.emplace_back(Elements::aligned(file, of_complex, TextLines::rows));
    const Array view = elements.view();
    const std::vector<std::uint64_t> shape = elements.shape();
    const Array shaped(view.data(), Shape(shape), view.type());
    options.pairs.of_y.push_back(elements.complex() ? FormulaInput(name, ComplexArray(shaped))
                                                    : FormulaInput(name, shaped, shape.size() > 1));
  }
  const auto check_unchanged = [&] {
    a.check_unchanged();
    b.check_unchanged();
    for (const Elements& elements : of_y) elements.check_unchanged();
    if (weights) weights->check_unchanged();
  };

  const std::uint64_t x = count_of(a, options.pairs.components), y = count_of(b, options.pairs.components);
  const std::optional<PartRange> part = options.part.wanted() ? std::optional(part_range(options.part, options.result, x)) : std::nullopt;
  const std::uint64_t begin = part ? part->first : 0, end = part ? part->last : x;
  const double pairs_in_all = static_cast<double>(end - begin) * static_cast<double>(y);
  // The device is chosen by work instead of bytes: a GPU computes a pair in at most the time in which the CPU reads a byte.
  const Device device = choose_device(options.device, static_cast<std::uint64_t>(std::min(pairs_in_all, 1e18)));
  if (part) {
    const PartialTarget to(options.result.partial, files);
    PairValues all;
    in_blocks(a, b, device, options, begin, end, [&](std::uint64_t, const PairValues& values) { all.merge(values); });
    check_unchanged();
    PartOf of = part->of;
    of.work = {{"command", "pairs"}, {"files", Json::array()}, {"how", how_of(options)}};
    const auto add = [&](const Elements& file) { of.work["files"].push_back(identity(file.name(), file.view())); };
    add(a);
    add(b);
    if (weights) add(*weights);
    for (const Elements& elements : of_y) add(elements);
    to.save(out, {std::move(all), std::move(of)});
    return kExitOk;
  }
  DType type = a.type();  // of C: known when there is some of it
  bool complex = false;
  std::uint64_t each = 1;  // values of an x
  const auto look_at = [&](const PairValues& result) {
    type = array_of(result.values).type();
    complex = result.complex;
    each = complex ? 1 : result.each();
  };
  const auto start = std::chrono::steady_clock::now();
  const std::string f = options.formula.empty() ? options.f : options.pairs.formula->to_string();
  const std::string reduction = options.pairs.combine ? options.pairs.combine->combine.to_string() : options.reduction;
  Json values = Json::array();
  if (target.wanted()) {
    target.write(out, [&](const OutputFile::Sink& sink) {
      in_blocks(a, b, device, options, 0, x, [&](std::uint64_t first, const PairValues& result) {
        if (first == 0) {
          look_at(result);
          sink(npy_header_of(result, x));
        }
        const Array view = array_of(result.values);
        sink({static_cast<const std::byte*>(view.data()), view.bytes()});
      });
      check_unchanged();
    });
  } else {
    in_blocks(a, b, device, options, 0, x, [&](std::uint64_t first, const PairValues& result) {
      if (first == 0) look_at(result);
      print_pair_values(out, result, first, options.result, values);
    });
    check_unchanged();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string dtype(complex ? type == DType::float32 ? "complex64" : "complex128" : name_of(type));
  if (options.result.json) {
    Json object = {{"f", f},
                   {"reduction", reduction},
                   {"accuracy", options.accuracy},
                   {"x", x},
                   {"y", y},
                   {"components", options.pairs.components},
                   {"dtype", dtype},
                   {"device", device.info().selector},
                   {"seconds", rounded_seconds(seconds)}};
    if (target.wanted()) {
      object["out"] = options.out;
    } else {
      object["values"] = std::move(values);
    }
    out.print("{}\n", to_text(object));
    return kExitOk;
  }
  if (options.result.verbose || (target.wanted() && out.terminal())) {
    if (target.wanted()) out.note(fmt::format("{}: {} {}", shown_name(options.out), grouped(x * each), dtype));
    out.note(fmt::format("{} of {} over {} x {} pairs, {}, {}, {:.3g} pairs/s", printable(reduction), printable(f), grouped(x), grouped(y),
                         device.info().selector, duration(seconds), pairs_in_all / seconds));
  }
  return kExitOk;
}

}  // namespace

void add_pairs(CLI::App& program, Action& action) {
  const auto options = std::make_shared<PairsOptions>();
  CLI::App* command = program.add_subcommand("pairs", "For each vector of A a sum, or the nearest, over all of B");
  command->add_option("A", options->a, ".npy: floats or integers (X,) or (X, D), or complex (X,)")->required();
  command->add_option("B", options->b, "of the same type, (Y,) or (Y, D)")->required();
  CLI::Option* const f = command->add_option("--f", options->f, "product (default), difference, absdiff, sqdist, gaussian, invdist");
  f->type_name("NAME");
  CLI::Option* const reduce =
      command->add_option("--reduce", options->reduction, "sum (default), product, logsumexp, or [arg]min, [arg]max, [arg]smallest");
  reduce->type_name("NAME");
  command->add_option("--k", options->pairs.k, "how many, of smallest and argsmallest: 1 (default) to 128")
      ->transform(whole_number(1, 128))
      ->option_text("N");
  command->add_option("--combine", options->combine, "an operator instead, as a formula of a and b: '(a[0] + b[0], ...)'")
      ->type_name("FORMULA")
      ->excludes(reduce);
  command->add_option("--identity", options->identity, "of that: C if B is empty; of tuples a number for each component")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NUMBERS");
  command->add_option("--finish", options->finish, "behind it, of the result a: 'a[1]/a[0]'")->type_name("FORMULA");
  command->add_option("--formula", options->formula, "f by a formula of the vectors a and b, instead of --f")
      ->type_name("FORMULA")
      ->excludes(f);
  command->add_option("--param", options->parameters, "a number in the formula, NAME=VALUE; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--of-y", options->of_y, "numbers or vectors of each y in the formula, NAME=FILE.npy")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  add_native(*command, options->texts);
  command->add_option("--accuracy", options->accuracy, "of sums: fast (default), compensated, exact")->type_name("NAME");
  options->texts.rows = true;
  options->texts.tables = Tables::described_whole;
  add_text_options(*command, options->texts);
  command->add_option("--weights", options->weights, ".npy: a factor for each y; in a formula it is w")->type_name("FILE");
  command->add_option("-o,--out", options->out, ".npy to write; else the values are printed")->type_name("FILE");
  command->add_option("--part", options->part.part, "one of N equal parts of A: with --partial, for 'merge'")->option_text("K/N");
  command->add_option("--h", options->h, "of gaussian: exp(-|a-b|^2/h) (default 1)")->type_name("H");
  command->add_option("--softening", options->softening, "of invdist: 1/sqrt(|a-b|^2 + S^2) (default 0)")->type_name("S");
  command->add_option("--device", options->device, "cpu, opencl:0, cuda:0, auto (default)")->type_name("DEVICE");
  const CLI::Validator range = whole_number(1, 1u << 16);
  command->add_option("--group", options->tuning.group_size, "work-items of a group (OpenCL, CUDA)")->transform(range)->option_text("N");
  command->add_option("--threads", options->tuning.threads, "threads (CPU)")->transform(range)->option_text("N");
  add_options(*command, options->result, kPlain | kJson | kCsv | kHex | kVerbose | kPartial);
  refuse_option(*command, "--nodata", "each element belongs to a vector: a weight of 0 (--weights) leaves a vector of B out of sums");
  refuse_option(*command, "--float32",
                "the values have the type of A and B, of a formula of integers or of an operator its own, or are indices");
  command->footer(R"(Examples:
  samesum pairs A.npy B.npy -o C.npy                      # sums of products
  samesum pairs A.npy B.npy --f sqdist --reduce argmin    # nearest neighbours
  samesum pairs a.txt b.txt --f sqdist --reduce argmin    # each line a vector
  samesum pairs shops.txt homes.txt --column x,y --f sqdist --reduce argmin
  samesum pairs A.npy B.npy --f sqdist --reduce argsmallest --k 8
  samesum pairs grid.npy data.npy --f gaussian --h 0.02   # a density
  samesum pairs A.npy B.npy --accuracy exact              # same bits everywhere
  samesum pairs A.npy B.npy --formula 'exp(-sqdist(a,b)/h)' --param h=0.5
  samesum pairs A.npy B.npy --formula 'm/sqrt(sqdist(a,b))' --of-y m=masses.npy
  samesum pairs A.npy B.npy --formula '-sqdist(a,b)/h' --param h=2 --reduce logsumexp
  samesum pairs A.npy B.npy --f gaussian --combine 'a + b - a*b'
  samesum pairs z.npy u.npy --formula 'a*conj(b)'           # complex numbers
  samesum pairs A.npy B.npy --part 1/2 --partial 1.part   # see merge --help

Of a text each line is a vector.
C[x] = the reduction, over all y, of w[y] f(A[x], B[y]). The file C.npy is there
whole or not at all, and written block by block: a result may be larger than the
memory. What is printed is kept until the end. Indices count from 0.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
