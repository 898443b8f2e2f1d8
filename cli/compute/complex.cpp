#include "compute/complex.hpp"

#include "command.hpp"
#include "input/elements.hpp"

#include <samesum/complex.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>

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

  // As Python writes and reads complex numbers: "1.5-2j".
  std::string text(const ResultOptions& options) const {
    if (!imag) return options.text(real);
    const std::string second = options.text(*imag);
    return fmt::format("{}{}{}j", options.text(real), second.starts_with('-') ? "" : "+", second);
  }
};

std::unique_ptr<Source> open_complex(const Input& input, const std::string& file) {
  InputOptions how = input.options();
  how.complex = how.mapped = true;
  return open_table(file, how);
}

ComplexResult complex_result(std::string_view command, const Elements& elements, DType type, ComplexSum* total, const Options& options) {
  std::vector<std::uint64_t> shape = elements.shape();
  shape.pop_back();
  const std::uint64_t count = elements.view().size() / 2;
  const ComplexArray numbers(Array(elements.view().data(), {count, 2}, type));
  const auto found = [&](std::complex<double> value, DType rounded) {
    return ComplexResult{elements.name(), type, shape, count, Number(value.real(), rounded), Number(value.imag(), rounded)};
  };
  if (command == "mean") return found(mean(numbers, options), DType::float64);
  if (command == "prod") return found(product(numbers, options), type);
  if (command == "norm") return {elements.name(), type, shape, count, Number(norm(numbers, options), DType::float64), std::nullopt};
  const ComplexSum sum = accumulate(numbers, options);
  if (total != nullptr) *total += sum;
  return found(sum.round(options.nan), DType::float64);
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
  if (!input.map.empty() || is_stream(input.files.front()) || !open_complex(input, input.files.front())->complex()) return std::nullopt;
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
    std::unique_ptr<Source> source = open_complex(input, file);
    if (!source->complex()) {
      throw Error(ErrorKind::usage, fmt::format("{}: its elements are not complex, and those of {} are: name files of one kind",
                                                shown_name(file), shown_name(input.files.front())));
    }
    const DType type = source->type().value();
    const Elements elements(file, std::move(source));
    all.push_back(complex_result(command, elements, type, total.get(), options));
    elements.check_unchanged();
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
