#include "compute/complex.hpp"

#include "command.hpp"
#include "input/elements.hpp"

#include <samesum/complex.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/statistics.hpp>

#include <fmt/format.h>

#include <complex>
#include <memory>
#include <utility>
#include <vector>

namespace samesum::cli {
namespace {

// The real and the imaginary part, or one real number.
struct ComplexResult {
  std::string name;
  DType type;  // of the parts
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 0;
  Number real;
  std::optional<Number> imag;

  std::string text(const ResultOptions& options) const { return imag ? options.text(real, *imag) : options.text(real); }
};

std::unique_ptr<Source> open_complex(const Input& input, const std::string& file, bool mapped) {
  InputOptions how = input.options();
  how.complex = true;
  how.mapped = mapped;
  return open_table(file, how);
}

// Sums, means and norms go chunk by chunk. A product goes by the tree over all indices.
ComplexResult complex_result(std::string_view command, const std::string& name, std::unique_ptr<Source> source, ComplexSum* total,
                             const Options& options) {
  ComplexResult result{name, source->type().value(), source->shape(), 0, Number(0.0, DType::float64), std::nullopt};
  result.shape.pop_back();
  const auto set = [&](std::complex<double> value, DType type) {
    result.real = Number(value.real(), type);
    result.imag = Number(value.imag(), type);
  };
  const auto numbers_of = [&](const Array& chunk) {
    result.count += chunk.size() / 2;
    return ComplexArray(chunk.reshaped({chunk.size() / 2, 2}));
  };
  if (command == "prod") {
    const Elements elements(name, std::move(source));
    set(product(numbers_of(elements.view()), options), result.type);
    elements.check_unchanged();
    return result;
  }
  source->allow_any_order();
  ComplexSum sum;
  const Fields of_mean{.extrema = false, .squares = false}, of_norm{.extrema = false, .sum = false};
  Statistics real, imag, parts;
  while (const std::optional<Array> chunk = source->next()) {
    const ComplexArray numbers = numbers_of(*chunk);
    if (command == "mean") {
      real.merge(collect(numbers.real(), of_mean, options));
      imag.merge(collect(numbers.imag(), of_mean, options));
    } else if (command == "norm") {
      parts.merge(collect(numbers.parts(), of_norm, options));
    } else {
      sum += accumulate(numbers, options);
    }
  }
  if (command == "mean") {
    set({real.mean(options.nan), imag.mean(options.nan)}, DType::float64);
  } else if (command == "norm") {
    result.real = Number(parts.norm(options.nan), DType::float64);
  } else {
    if (total != nullptr) *total += sum;
    set(sum.round(options.nan), DType::float64);
  }
  return result;
}

void add_complex(Json& object, const ComplexResult& result) {
  if (!result.imag) return result.real.add_to(object);
  result.real.add_to(object["real"]);
  result.imag->add_to(object["imag"]);
}

void print_complex(Output& out, std::string_view command, const std::vector<ComplexResult>& all, const ResultOptions& options) {
  const bool several = all.size() > 1;
  if (options.csv) {
    out.print("file,{},bits,count\n", command);
    for (const ComplexResult& one : all) {
      const std::string bits = one.imag ? one.real.bits() + " " + one.imag->bits() : one.real.bits();
      out.print("{},{},{},{}\n", csv_field(one.name), one.text(options), bits, one.count);
    }
  } else if (options.plain && command == "sum") {
    out.print("{}\n", all.back().text(options));
  } else {
    for (const ComplexResult& one : all) {
      out.print("{}{}\n", one.text(options), several && !options.plain ? "\t" + shown_name(one.name) : "");
    }
  }
}

}  // namespace

std::optional<int> run_complex(Output& out, std::string_view command, const Input& input, const std::string& device,
                               const ResultOptions& result, const Tuning& tuning, bool further) {
  if (!input.map.empty() || is_stream(input.files.front()) || input.is_image(input.files.front()) ||
      !open_complex(input, input.files.front(), true)->complex())
    return std::nullopt;
  if (further || input.total || !input.nodata.empty() || result.float32 || !result.partial.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: its elements are complex numbers, of which '{}' takes only --device, --threads, --nan, --plain, --csv, "
                            "--json, --hex and --verbose: leave other options out",
                            shown_name(input.files.front()), command));
  }
  const Device opened = choose_device(device, 0);  // auto: the CPU, from whose memory the files are read
  const Options options{.nan = result.nan_policy(), .device = opened, .tuning = tuning};
  const auto total = input.files.size() > 1 && command == "sum" ? std::make_unique<ComplexSum>() : nullptr;
  std::vector<ComplexResult> all;
  for (const std::string& file : input.files) {
    std::unique_ptr<Source> source = open_complex(input, file, command == "prod");
    if (!source->complex()) {
      throw Error(ErrorKind::usage, fmt::format("{}: its elements are not complex, and those of {} are: name files of one kind",
                                                shown_name(file), shown_name(input.files.front())));
    }
    all.push_back(complex_result(command, file, std::move(source), total.get(), options));
  }
  Json object;
  if (total) {
    std::uint64_t count = 0;
    for (const ComplexResult& one : all) count += one.count;
    const std::complex<double> sum = total->round(options.nan);
    all.push_back({"total", all.front().type, {}, count, Number(sum.real(), DType::float64), Number(sum.imag(), DType::float64)});
    add_complex(object, all.back());
  }
  if (!result.json) {
    print_complex(out, command, all, result);
    if (result.verbose) out.note(opened.info().selector);
    return kExitOk;
  }
  if (total) all.pop_back();
  if (all.size() == 1) add_complex(object, all.front());
  object["device"] = opened.info().selector;
  object["nan_policy"] = result.nan;
  for (const ComplexResult& one : all) {
    Json file;
    file["file"] = one.name;
    file["dtype"] = one.type == DType::float32 ? "complex64" : "complex128";
    file["shape"] = one.shape;
    file["count"] = one.count;
    add_complex(file, one);
    object["files"].push_back(std::move(file));
  }
  out.print("{}\n", to_text(object));
  return kExitOk;
}

}  // namespace samesum::cli
