// Formulas of arrays on a device that runs kernels: a kernel that is written for the formula.
#include "formula/map/map_device.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "formula/bound.hpp"
#include "formula/print.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace samesum::formula {
namespace {

constexpr std::uint64_t kLaunchPositions = std::uint64_t{1} << 24;
constexpr std::uint32_t kGroupSize = 256, kCpuGroupSize = 16;
constexpr std::uint32_t kGroupsToUnit = 16;

// An array of the positions' shape as runs: as it lies, or gathered part by part.
class Runs {
 public:
  explicit Runs(const Array& array) : run_(device::single_run(array, core::Order::index)) {
    if (!run_) gather_.emplace(array, core::Order::index);
  }
  device::Run part(std::uint64_t first, std::uint64_t count, const device::Lock& lock) {
    return run_ ? run_->part(first, count) : gather_->part(first, count, lock);
  }

 private:
  std::optional<device::Run> run_;
  std::optional<device::Gather> gather_;
};

std::int64_t in_elements(std::int64_t bytes, DType type) { return bytes / static_cast<std::int64_t>(size_of(type)); }

}  // namespace

void require_types(const Program& program, const DeviceInfo& info) {
  const bool wide = std::any_of(program.nodes.begin(), program.nodes.end(), [](const Node& node) { return node.type == Scalar::float64; });
  if (!wide || info.has(Capability::fp64)) return;
  throw Error(ErrorKind::device, fmt::format("{} cannot compute this formula, which is in float64: it lacks fp64 ({})", info.selector,
                                             info.why_not(Capability::fp64)));
}

device::Source map_source(const Program& program, std::span<const DType> inputs) {
  std::string parameters, operands, results;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    parameters += fmt::format("GLOBAL const {}* a{}, ulong o{}, long s{}, ", stored_name(inputs[k]), k, k, k);
    operands += loaded(inputs[k], fmt::format("a{0}[(long)o{0} + (long)k * s{0}]", k)) + ", ";
  }
  if (program.uses_index) operands += "(long)(first + k), ";
  for (std::size_t k = 0; k < program.parameters.size(); ++k) {
    // The device's interface has no bool or char as arguments; no parameter is one.
    parameters += fmt::format("{} p{}, ", dialect_name(program.parameters[k].type), k);
    operands += fmt::format("p{}, ", k);
  }
  for (std::size_t k = 0; k < program.results.size(); ++k) {
    const Scalar type = program.nodes[program.results[k]].type;
    parameters += fmt::format("GLOBAL {}* r{}, ulong ro{}, long rs{}, ", dialect_name(type), k, k, k);
    const std::string value = program.results.size() == 1 ? "value" : fmt::format("value.r{}", k);
    const std::string canonical = type == Scalar::float32   ? fmt::format("canonical_f32({})", value)
                                  : type == Scalar::float64 ? fmt::format("canonical_f64({})", value)
                                                            : value;
    results += fmt::format("    r{0}[(long)ro{0} + (long)k * rs{0}] = {1};\n", k, canonical);
  }
  return {files_of({&program}),
          {},
          fmt::format("{}KERNEL void map({}ulong first, ulong count, GLOBAL uint* failed) {{\n"
                      "  for (ulong k = global_id(); k < count; k += global_size()) {{\n"
                      "    uint error = 0;\n"
                      "    const formula_result value = formula({}&error);\n{}"
                      "    if (error != 0) atomic_max_global32(failed, 0xffffffffu - (uint)k);\n"
                      "  }}\n}}\n",
                      print(program, "formula"), parameters, operands, results)};
}

void add_parameters(const Program& program, std::span<const Value> parameters, std::vector<device::Argument>& arguments) {
  for (const ParameterUse& use : program.parameters) {
    const std::uint64_t bits = bits_of(parameters[use.parameter], use.type);
    switch (use.type) {
      case Scalar::int64:
        arguments.emplace_back(static_cast<std::int64_t>(bits));
        break;
      case Scalar::uint64:
        arguments.emplace_back(bits);
        break;
      case Scalar::float32:
        arguments.emplace_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        break;
      default:
        arguments.emplace_back(std::bit_cast<double>(bits));
    }
  }
}

Error failed_on_device(device::Device& device, const Formula& formula, const Program& program, std::span<const Value> parameters,
                       std::span<const device::Run> runs, std::span<const DType> types, std::span<const std::uint64_t> shape,
                       std::uint64_t k, std::uint64_t index) {
  Evaluator evaluator(program, parameters);
  std::vector<Column> columns;
  std::vector<std::uint64_t> words(runs.size(), 0);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const device::Run& run = runs[i];
    // part() divides only by whole rows.
    const std::uint64_t row = k / run.length(), column = k - row * run.length();
    const std::uint64_t at =
        run.offset + row * static_cast<std::uint64_t>(run.row_stride) + column * static_cast<std::uint64_t>(run.stride);
    device.read(run.memory, at, &words[i], size_of(types[i]));
    columns.push_back({reinterpret_cast<const std::byte*>(&words[i]), types[i], 0});
  }
  const std::optional<Failure> failure = evaluator.run(columns, index + k, 1);
  return failed(formula, index + k, shape, failure ? failure->faults : 0);
}

void map_on_device(const Formula& formula, const Program& program, std::span<const Value> parameters, std::span<const Array> inputs,
                   std::span<const Array> results, std::span<const std::uint64_t> shape, std::uint64_t begin, std::uint64_t index) {
  const Device handle = results[0].buffer().device();
  device::Device& device = handle.implementation();
  require_types(program, device.info());
  std::vector<DType> types;
  std::vector<Runs> from, to;
  for (const Array& array : inputs) {
    types.push_back(array.type());
    from.emplace_back(array);
  }
  for (const Array& array : results) {
    if (!device::single_run(array, core::Order::index)) {
      throw Error(ErrorKind::usage,
                  "the results of a formula on a device must lie at one constant distance in bytes: those of this array do not");
    }
    to.emplace_back(array);
  }
  const device::Lock lock(device.mutex());
  const device::Kernel kernel = device::build(device, map_source(program, types), "map");
  const device::Memory failed_at = device.allocate(sizeof(std::uint32_t));
  const std::uint32_t none = 0;
  device.write(failed_at, 0, &none, sizeof none);

  const DeviceInfo& info = device.info();
  const std::uint32_t group_size = std::min(info.max_group_size, info.is_cpu ? kCpuGroupSize : kGroupSize);
  const std::uint64_t size = results[0].size();
  for (std::uint64_t first = 0; first < size; first += kLaunchPositions) {
    const std::uint64_t count = std::min(kLaunchPositions, size - first);
    std::vector<device::Argument> arguments;
    const auto add = [&](const device::Run& run, DType type) {
      arguments.emplace_back(run.memory);
      arguments.emplace_back(run.offset / size_of(type));
      arguments.emplace_back(in_elements(run.stride, type));
    };
    std::vector<device::Run> runs;
    for (std::size_t k = 0; k < from.size(); ++k) {
      runs.push_back(from[k].part(begin + first, count, lock));
      add(runs.back(), types[k]);
    }
    add_parameters(program, parameters, arguments);
    for (std::size_t k = 0; k < to.size(); ++k) add(to[k].part(first, count, lock), results[k].type());
    arguments.emplace_back(index + first);
    arguments.emplace_back(count);
    arguments.emplace_back(failed_at);
    const std::uint64_t groups =
        std::min<std::uint64_t>((count + group_size - 1) / group_size, std::uint64_t{info.compute_units} * kGroupsToUnit);
    device.launch(kernel, {static_cast<std::uint32_t>(std::max<std::uint64_t>(groups, 1)), group_size}, arguments);
    if (!program.may_fail) continue;
    std::uint32_t found = 0;
    device.read(failed_at, 0, &found, sizeof found);
    if (found == 0) continue;
    throw failed_on_device(device, formula, program, parameters, runs, types, shape, 0xffffffffu - found, index + first);
  }
  device.finish();
}

}  // namespace samesum::formula
