// A device that forwards all calls to another one and records what was compiled: so the kernels shown are those that the patterns build.
#include <samesum/inspect.hpp>

#include <samesum/bench.hpp>
#include <samesum/bench_barrier.hpp>
#include <samesum/bench_pairs.hpp>
#include <samesum/bench_reduce.hpp>
#include <samesum/error.hpp>

#include "core/float_environment.hpp"
#include "core/view.hpp"
#include "device/device.hpp"
#include "device/forwarding.hpp"
#include "device/kernels/program.hpp"
#include "histogram/histogram_device.hpp"
#include "ladder/histogram/bins.hpp"
#include "ladder/pairs/textbook.hpp"
#include "ladder/reduce/operations.hpp"
#include "ladder/reduce/textbook.hpp"
#include "pairs/pairs_device.hpp"
#include "product/product.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/sum_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace samesum {
namespace {

class NotingDevice final : public device::Forwarding {
 public:
  NotingDevice(Device& real, bool binaries) : Forwarding(real) {
    if (binaries) want_binaries();
  }

  device::Binary compile(const std::string& source) override {
    device::Binary binary = Forwarding::compile(source);
    const std::string format = format_of(binary.bytes);
    listings.push_back({source, binary.log, binary.bytes, format, format == "PTX" ? binary.bytes : binary.ptx, {}});
    return binary;
  }
  void launch(const device::Kernel& kernel, device::Grid grid, std::span<const device::Argument> arguments) override {
    launched = fmt::format("groups={} group_size={}", grid.groups, grid.group_size);
    Forwarding::launch(kernel, grid, arguments);
  }

  std::string launched;  // the last one
  std::vector<KernelListing> listings;

 private:
  std::string format_of(const std::string& bytes) const {
    const bool elf = bytes.starts_with(
        "\x7f"
        "ELF");
    if (elf && language() == device::Language::cuda) return "cubin";
    return !elf && bytes.find(".version") < 4096 ? "PTX" : "the driver's own";
  }
};

// The number of elements where the user does not give one: variants choose their kernels by it.
constexpr std::uint64_t kElements = std::uint64_t{1} << 28;
constexpr std::uint64_t kPairsElements = 1 << 16;
constexpr std::uint64_t kMaxPairsElements = 1 << 24;  // which are generated here

std::uint64_t size_of_array(const InspectOptions& options) { return options.size != 0 ? options.size : kElements; }

bool own(const InspectOptions& options) { return !options.kernel_source.empty(); }

// How a variant is launched, in the words of its row in the ladder.
struct Launch {
  std::string text;
  std::uint32_t local_bytes = 0;  // that the launch gives each group
};

std::string group_text(const Device& device, const InspectOptions& options) {
  constexpr std::uint32_t kGroup = 256;
  return fmt::format("group_size={}", options.group_size != 0 ? options.group_size : std::min(kGroup, device.info().max_group_size));
}

Launch build_sum(std::string_view variant, const Device&, NotingDevice& device, const InspectOptions& options) {
  if (own(options)) {
    const reduction::TextbookOptions how{options.group_size, 0, 8, options.kernel_source};
    return {reduction::TextbookSum(variant, device, options.type, device.allocate(16), 1, 1, how).plan().configuration};
  }
  const auto names = reduction::textbook_variants();
  if (std::find(names.begin(), names.end(), variant) != names.end()) {
    const std::string lacking = reduction::why_no_textbook(variant, device.info(), options.type);
    if (!lacking.empty()) throw Error(ErrorKind::usage, lacking);
    const device::Memory data = device.allocate(64 * 64 * size_of(options.type));
    return {reduction::TextbookSum(variant, device, options.type, data, 64, 64, {options.group_size, 0, 8}).plan().configuration};
  }
  Tuning sum;
  sum.group_size = options.group_size;
  return {reduction::DeviceSum(device, options.type, sum, size_of_array(options)).configuration()};
}

// The methods' kernels are built when they are measured: this runs a short measurement.
Launch build_barrier(std::string_view variant, const Device& device, NotingDevice& noting, const InspectOptions& options) {
  bench::BarrierLadderOptions ladder;
  ladder.methods = {std::string(variant)};
  ladder.group_sizes = {options.group_size != 0 ? options.group_size : 256};
  ladder.rounds = ladder.runs = 1;
  ladder.shapes = false;
  ladder.kernel_name = options.kernel_name;
  ladder.kernel_source = options.kernel_source;
  bench::barrier_ladder(device, ladder);
  return {noting.launched};
}

Launch build_pairs(std::string_view variant, const Device&, NotingDevice& device, const InspectOptions& options) {
  const std::uint64_t elements = options.size != 0 ? options.size : kPairsElements;
  if (elements > kMaxPairsElements || elements < options.components) {
    throw Error(ErrorKind::usage, fmt::format("kernels of pairs are shown for {} (a vector) to {} elements, not {}", options.components,
                                              kMaxPairsElements, elements));
  }
  const std::vector<double> values(elements, 1.0);
  const View view(values.data(), elements / options.components * options.components, options.type);
  PairsProblem pairs;
  pairs.f = parse_pair_function(options.f);
  pairs.reduction = parse_pair_reduction(options.reduction);
  pairs.components = options.components;
  if (variant == name_of(PairAccuracy::compensated)) pairs.accuracy = PairAccuracy::compensated;
  if (variant == name_of(PairAccuracy::exact)) pairs.accuracy = PairAccuracy::exact;
  all_pairs::Problem problem = all_pairs::checked(view, view, pairs);
  const auto names = all_pairs::textbook_variants();
  if (own(options)) {
    return {all_pairs::TextbookPairs(variant, device, problem, {options.group_size, options.kernel_source, 1}).configuration()};
  }
  if (variant == "vec4_best") variant = "vec4";
  if (std::find(names.begin(), names.end(), variant) != names.end()) {
    if (variant == "local_all") problem.y_count = std::min<std::uint64_t>(problem.y_count, 4096);
    return {all_pairs::TextbookPairs(variant, device, problem, {options.group_size}).configuration()};
  }
  all_pairs::Configuration configuration;
  configuration.group_size = options.group_size;
  return {all_pairs::DevicePairs(device, problem, configuration).configuration().text()};
}

Launch build_histogram(std::string_view variant, const Device& noting, NotingDevice& device, const InspectOptions& options) {
  if (own(options)) {
    device::build(device, bench::own_histogram_source(options.kernel_source, device.info(), options.group_size, options.bins), "histogram");
    return {group_text(noting, options)};
  }
  if (variant == "best") {
    const binning::DeviceHistogram best(device, binning::Problem{}, size_of_array(options), options.group_size);
    return {best.configuration().text(), best.configuration().local_bytes};
  }
  device::build(device, bench::histogram_source(device.info(), options.group_size, nullptr), variant);
  return {group_text(noting, options)};
}

Launch build_reduce(std::string_view variant, const Device&, NotingDevice& device, const InspectOptions& options) {
  if (own(options)) {
    reduction::TextbookOptions how{options.group_size, 0, 8, options.kernel_source};
    how.operation = reduction::TextbookOperation::max;
    how.entry = "reduce";
    return {reduction::TextbookSum(variant, device, options.type, device.allocate(16), 1, 1, how).plan().configuration};
  }
  const auto* operation = std::ranges::find(bench::kReduceOperations, variant, &bench::ReduceOperation::name);
  if (operation->kind == bench::ReduceOperation::multiplies_all) {
    Tuning product;
    product.group_size = options.group_size;
    return {product_tree::DeviceProduct(device, options.type, false, product).text()};
  }
  statistics::CollectOptions collect;
  collect.fields = operation->fields;
  collect.group_size = options.group_size;
  const bool dot = operation->kind == bench::ReduceOperation::multiplies_pairs;
  return {statistics::DevicePass(device, options.type, collect, dot, size_of_array(options)).configuration()};
}

// A pattern is added by a row here: its variants, and how one is built on a device.
struct Pattern {
  std::string_view name;
  std::vector<std::string> (*variants)();
  Launch (*build)(std::string_view variant, const Device& noting, NotingDevice& device, const InspectOptions& options);
};

constexpr Pattern kPatterns[] = {
    {"sum",
     [] {
       std::vector<std::string> names(reduction::textbook_variants().begin(), reduction::textbook_variants().end());
       names.emplace_back("exact_bins");
       return names;
     },
     build_sum},
    {"histogram", [] { return std::vector<std::string>{"racy", "block_partition", "interleaved", "privatized", "aggregated", "best"}; },
     build_histogram},
    {"reduce",
     [] {
       const auto names = bench::reduce_operations();
       return std::vector<std::string>(names.begin(), names.end());
     },
     build_reduce},
    {"barrier",
     [] {
       std::vector<std::string> names = bench::barrier_methods();
       std::erase(names, "std_barrier");  // of the host
       return names;
     },
     build_barrier},
    {"pairs",
     [] {
       std::vector<std::string> names;
       for (const std::string_view name : all_pairs::textbook_variants()) {
         names.emplace_back(name);
         if (name == "vec4") names.emplace_back("vec4_best");
       }
       for (const char* name : {"register_blocks", "compensated", "exact"}) names.emplace_back(name);
       return names;
     },
     build_pairs},
};

const Pattern& find_pattern(std::string_view name) {
  for (const Pattern& pattern : kPatterns) {
    if (pattern.name == name) return pattern;
  }
  throw Error(ErrorKind::usage, fmt::format("'{}' is no pattern with kernels: there are {}", name, fmt::join(kernel_patterns(), ", ")));
}

}  // namespace

std::vector<std::string> kernel_patterns() {
  std::vector<std::string> names;
  for (const Pattern& pattern : kPatterns) names.emplace_back(pattern.name);
  return names;
}

std::string kernel_pattern_of(std::string_view source) {
  constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {{"sum", "void sum"},
                                                                          {"reduce", "void reduce"},
                                                                          {"histogram", "void histogram"},
                                                                          {"pairs", "void pairs"},
                                                                          {"barrier", "bool synchronize"}};
  for (const auto& [pattern, function] : kFunctions) {
    for (std::size_t at = source.find(function); at != std::string_view::npos; at = source.find(function, at + 1)) {
      const std::size_t next = source.find_first_not_of(" \t\n", at + function.size());
      if (next != std::string_view::npos && source[next] == '(') return std::string(pattern);
    }
  }
  throw Error(ErrorKind::usage,
              "it has no function that a pattern calls: void sum, void reduce, void histogram, void pairs, or bool "
              "synchronize for barriers");
}

std::vector<std::string> kernel_variants(std::string_view pattern) { return find_pattern(pattern).variants(); }

std::vector<KernelListing> inspect_kernels(const Device& device, std::string_view pattern, std::string_view variant,
                                           const InspectOptions& options) {
  const core::DefaultFloatEnvironment environment;
  const Pattern& found = find_pattern(pattern);
  const std::vector<std::string> known = found.variants();
  if (own(options)) {
    variant = options.kernel_name;
  } else if (std::find(known.begin(), known.end(), variant) == known.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is no variant of {} that has kernels: there are {}", variant, pattern, fmt::join(known, ", ")));
  }
  if (!device.info().has(Capability::kernels)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} has no kernels to show: {}", device.info().selector, device.info().why_not(Capability::kernels)));
  }
  const std::lock_guard lock(device.implementation().mutex());
  const auto noting = std::make_shared<NotingDevice>(device.implementation(), options.binaries);
  try {
    const Launch launch = found.build(variant, Device(noting), *noting, options);
    for (KernelListing& listing : noting->listings) {
      listing.launch = fmt::format("{}; {} bytes of local memory from the launch", launch.text, launch.local_bytes);
    }
  } catch (const Error& error) {
    const std::string_view what = error.what();
    if (!own(options) || error.kind() == ErrorKind::usage) throw;
    throw Error(ErrorKind::usage, fmt::format("{}: {}", options.kernel_name, what.substr(0, what.find('\n'))), error.context());
  }
  return std::move(noting->listings);
}

}  // namespace samesum
