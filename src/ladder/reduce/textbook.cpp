#include "ladder/reduce/textbook.hpp"
#include "ladder/resident.hpp"

#include "device/kernels/program.hpp"
#include "formula/operator/operator_tree.hpp"
#include "formula/print.hpp"
#include "ladder/resident.hpp"
#include "ladder/timing.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <variant>

namespace samesum::reduction {
namespace {

constexpr std::uint32_t kGroupSize = 256;
constexpr std::uint32_t kUnroll = 4;
constexpr std::uint64_t kMaxGroups = 0x7fffffff;  // of one launch
constexpr std::string_view kTextbook = "ladder/reduce/textbook.cl";
constexpr std::string_view kOwnSum = "sum";

// The bits of an integer of 64 bits.
std::uint64_t whole_bits(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.number)) return static_cast<std::uint64_t>(*whole);
  if (const auto* natural = std::get_if<std::uint64_t>(&value.number)) return *natural;
  throw Error(ErrorKind::usage, "the identity of an operator on integers is a whole number");
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// The height of a balanced tree over `count` values.
std::uint64_t height(std::uint64_t count) { return count <= 1 ? 0 : static_cast<std::uint64_t>(std::bit_width(count - 1)); }

// The columns of the tile that a group of `size` work-items sums: its divisor closest above the square root, so that tiles are nearly
// square.
std::uint32_t tile_columns(std::uint32_t size) {
  auto columns = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(size)));
  while (columns < 1 || columns * columns < size || size % columns != 0) ++columns;
  return columns;
}

// Plans one variant for one matrix.
struct Planner {
  device::Device& device;
  DType type;
  const device::Memory& data;
  std::uint64_t rows;
  std::uint64_t columns;
  const TextbookOptions& options;
  std::uint32_t group_size;
  std::uint64_t pitch = options.pitch != 0 ? options.pitch : columns;  // of the next round's input
  TextbookPlan plan = {};

  std::uint64_t size() const { return rows * columns; }
  device::Memory allocate(std::uint64_t elements) const { return device.allocate(elements * size_of(type)); }

  std::string identity() const {
    const bool single = type == DType::float32;
    const std::uint32_t bits = 8 * static_cast<std::uint32_t>(size_of(type));
    const auto literal = [&](double value) {
      return single ? fmt::format("as_float({:#x}u)", std::bit_cast<std::uint32_t>(static_cast<float>(value)))
                    : fmt::format("as_double((ulong){:#x})", std::bit_cast<std::uint64_t>(value));
    };
    const bool floating = !is_integer(type);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (options.operation) {
      case TextbookOperation::sum:
        return "((REAL)0)";
      case TextbookOperation::product:
        return "((REAL)1)";
      case TextbookOperation::max:
        if (floating) return literal(-kInfinity);
        return is_signed(type) ? fmt::format("((REAL)((long)(~(ulong)0 << {})))", bits - 1) : "((REAL)0)";
      case TextbookOperation::min:
        if (floating) return literal(kInfinity);
        return fmt::format("((REAL)(~(ulong)0 >> {}))", 64 - bits + (is_signed(type) ? 1 : 0));
      case TextbookOperation::formula:
        return floating ? literal(options.formula.identity.as_double())
                        : fmt::format("((REAL)(ulong){:#x})", whole_bits(options.formula.identity));
    }
    return {};
  }

  device::Kernel kernel(std::string_view entry) const {
    const bool floating = !is_integer(type);
    device::Source source{{},
                          {{"OPERATION", std::to_string(static_cast<int>(options.operation))},
                           {"REAL", std::string(formula::stored_name(type))},
                           {"WIDE", size_of(type) == 8 ? "ulong" : "uint"},
                           {"REAL_BYTES", std::to_string(size_of(type))},
                           {"FLOATING", floating ? "1" : "0"},
                           {"IDENTITY", identity()},
                           {"GROUP", std::to_string(group_size)},
                           {"RESIDENT", std::to_string(bench::resident_for(options.registers, group_size))},
                           {"UNROLL", std::to_string(kUnroll)}},
                          {}};
    constexpr std::string_view kOperation = "ladder/reduce/operation.h";
    const bool own = !options.source.empty();
    if (options.operation == TextbookOperation::formula) {
      source.defines.emplace_back("FORMULA_CALL", options.formula.call);
      source.files = options.formula.files;
      source.text = options.formula.function;
      if (own) source.text += fmt::format("{}\n#line 1 \"kernel\"\n{}", device::kernel_file(kOperation), options.source);
      source.after = own ? std::vector<std::string_view>{} : std::vector{kOperation, kTextbook};
    } else {
      if (options.entry != kOwnSum || !own) source.files = {kOperation};  // a sum of the user's own has all names for itself
      if (!own) source.files.push_back(kTextbook);
      source.text = options.source;
    }
    return device::build(device, source, entry);
  }

  // As many groups as can be resident, but no more than there is work for. Where the device cannot tell: `unit_items` work-items on a
  // compute unit, as far as the kernel's registers allow.
  std::uint32_t resident_groups(const device::Kernel& kernel, std::uint64_t work_items, std::uint32_t unit_items) const {
    const std::uint32_t guess = device.info().compute_units * std::max(1u, unit_items / group_size);
    const std::uint32_t resident = options.groups != 0 ? options.groups : device.resident_groups(kernel, group_size).value_or(guess);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ceil_div(work_items, group_size), 1, std::max(1u, resident)));
  }

  void add(const device::Kernel& kernel, std::uint32_t groups, std::vector<device::Argument> arguments, const device::Memory& result,
           std::uint64_t result_columns) {
    plan.rounds.push_back({kernel, {groups, group_size}, std::move(arguments), rows, columns, 1, result_columns, result, result_columns});
  }

  // What a round of passes() leaves.
  struct Pass {
    std::uint32_t tile_rows, tile_columns;
    std::uint64_t rows, columns, pitch;
    device::Memory to;
  };
  void add(const device::Kernel& kernel, std::uint32_t groups, std::vector<device::Argument> arguments, const Pass& pass) {
    plan.rounds.push_back(
        {kernel, {groups, group_size}, std::move(arguments), rows, columns, pass.rows, pass.columns, pass.to, pass.pitch});
  }
  std::string pitches() const {
    std::string text = options.pitch != 0 ? fmt::format(" pitch={}", options.pitch) : "";
    return options.result_align > 1 ? text + fmt::format(" result_align={}", options.result_align) : text;
  }

  // Repeated passes between two buffers, each of which reduces a tile to one element, until one is left.
  template <class Shape, class Add>
  void passes(const Shape& shape, const Add& add_round) {
    plan.result = data;
    std::array<device::Memory, 2> buffers;
    for (std::size_t round = 0; size() > 1; ++round) {
      const auto [tile_rows, tile_columns] = shape();
      Pass pass{tile_rows, tile_columns, ceil_div(rows, tile_rows), ceil_div(columns, tile_columns), 0, {}};
      pass.pitch = ceil_div(pass.columns, options.result_align) * options.result_align;
      if (round < 2) buffers[round] = allocate(pass.rows * pass.pitch);
      pass.to = buffers[round % 2];
      add_round(pass);
      plan.result = pass.to;
      rows = pass.rows;
      columns = pass.columns;
      pitch = pass.pitch;
    }
  }

  void tree_passes() {
    if (group_size < 2) throw Error(ErrorKind::usage, "tree_passes needs groups of 2 work-items or more: one alone has nothing to add");
    const device::Kernel tree = kernel("tree_round");
    if (options.block_columns != 0 && group_size % options.block_columns != 0) {
      throw Error(ErrorKind::usage, fmt::format("a group of {} work-items has no rows of {}", group_size, options.block_columns));
    }
    const std::uint32_t width = options.block_columns != 0 ? options.block_columns : tile_columns(group_size);
    // A single row or column is summed by tiles of the same shape.
    const auto shape = [&] {
      const std::uint32_t fitting = columns == 1 ? 1 : rows == 1 ? group_size : width;
      return std::pair(group_size / fitting, fitting);
    };
    passes(shape, [&](const Pass& pass) {
      const auto groups = static_cast<std::uint32_t>(std::min(pass.rows * pass.columns, kMaxGroups));
      add(tree, groups,
          {plan.result, rows, columns, pitch, pass.to, pass.pitch, pass.tile_columns, groups / pass.columns, groups % pass.columns}, pass);
      plan.depth += height(pass.tile_columns) + height(pass.tile_rows);
    });
    plan.configuration = fmt::format("group_size={} tile={}x{}{}", group_size, group_size / width, width, pitches());
  }

  void tile_passes() {
    const std::uint32_t tile_columns = options.tile, tile_rows = options.tile_rows != 0 ? options.tile_rows : options.tile;
    if (std::uint64_t{tile_rows} * tile_columns < 2) throw Error(ErrorKind::usage, "tile_passes needs tiles of 2 elements or more");
    const device::Kernel serial = kernel("tile_round");
    // Once all is in one row or column, a tile has all its elements there.
    const std::uint32_t area = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{tile_rows} * tile_columns, 1u << 30));
    const auto shape = [&] {
      if (tile_rows == tile_columns) return std::pair(tile_rows, tile_columns);
      return rows == 1 ? std::pair(1u, area) : columns == 1 ? std::pair(area, 1u) : std::pair(tile_rows, tile_columns);
    };
    passes(shape, [&](const Pass& pass) {
      const std::uint64_t groups = std::min(ceil_div(pass.rows * pass.columns, group_size), kMaxGroups);
      add(serial, static_cast<std::uint32_t>(groups),
          {plan.result, rows, columns, pitch, pass.to, pass.pitch, pass.tile_rows, pass.tile_columns}, pass);
      plan.depth += std::min<std::uint64_t>(rows, pass.tile_rows) * std::min<std::uint64_t>(columns, pass.tile_columns);
    });
    plan.configuration = fmt::format("group_size={} tile={}x{}{}", group_size, tile_rows, tile_columns, pitches());
  }

  // The additions per value in a group that strides through `count` values, its tree included.
  std::uint64_t strided_depth(std::uint64_t count, std::uint64_t groups) const {
    return ceil_div(count, groups * group_size) + height(group_size);
  }

  void grid_stride_two_pass() { two_passes("grid_stride", 0); }
  void unrolled() { two_passes("unrolled", 4); }
  void templated() { two_passes("templated", 4); }
  void missing_barrier() { two_passes("missing_barrier", 0); }

  void two_passes(std::string_view entry, std::uint64_t more) {
    const device::Kernel stride = kernel(entry);
    const std::uint32_t groups = resident_groups(stride, size(), 2048);
    const device::Memory partials = allocate(groups);
    plan.result = allocate(1);
    add(stride, groups, {data, size(), partials}, partials, groups);
    plan.depth = strided_depth(size(), groups) + strided_depth(groups, 1) + more;
    rows = 1;
    columns = groups;
    add(stride, 1, {partials, columns, plan.result}, plan.result, 1);
    plan.configuration = fmt::format("groups={} group_size={}", groups, group_size);
  }

  // A user's kernel: the only assumption is that it adds up all elements, in any order.
  void own_kernel() {
    const device::Kernel own = kernel(options.entry);
    const std::uint32_t groups = resident_groups(own, size(), 2048);
    const device::Memory partials = allocate(groups);
    plan.result = allocate(1);
    add(own, groups, {data, size(), partials}, partials, groups);
    plan.depth = size();
    rows = 1;
    columns = groups;
    add(own, 1, {partials, columns, plan.result}, plan.result, 1);
    plan.configuration = fmt::format("groups={} group_size={}", groups, group_size);
  }

  // By compare-and-swap one work-item succeeds at a time, and all others try again: the more there are, the longer it takes.
  void one_scalar() {
    constexpr std::uint64_t kMaxExchanges = std::uint64_t{1} << 20;
    const DeviceInfo& info = device.info();
    const bool adds = options.operation == TextbookOperation::sum && (is_integer(type) || info.platform == "CUDA");
    const bool exchanges = !adds && !info.is_cpu;
    if (exchanges && size() > kMaxExchanges) {
      throw Error(ErrorKind::usage, fmt::format("each element takes its turn by compare-and-swap, about a microsecond: at most {} elements "
                                                "(--size 2^20)",
                                                kMaxExchanges));
    }
    const device::Kernel each = kernel("one_scalar");
    const std::uint32_t groups = exchanges ? 1 : resident_groups(each, size(), 2048);
    plan.result = allocate(1);
    plan.rounds.push_back({kernel("set_identity"), {1, 1}, {plan.result}, 0, 0, 1, 1, plan.result, 1});
    add(each, groups, {data, size(), plan.result}, plan.result, 1);
    plan.depth = size();
    plan.configuration = fmt::format("groups={} group_size={}", groups, group_size);
  }

  void grid_stride_atomic() {
    const device::Kernel stride = kernel("grid_stride_atomic");
    const std::uint32_t groups = resident_groups(stride, size(), 2048);
    plan.result = allocate(1);
    plan.rounds.push_back({kernel("set_identity"), {1, 1}, {plan.result}, 0, 0, 1, 1, plan.result, 1});
    add(stride, groups, {data, size(), plan.result}, plan.result, 1);
    plan.depth = strided_depth(size(), groups) + groups;
    plan.configuration = fmt::format("groups={} group_size={}", groups, group_size);
  }

  void single_pass() {
    const device::Kernel single = kernel("single_pass");
    const std::uint64_t lanes = 16 / size_of(type);
    const std::uint32_t groups = resident_groups(single, ceil_div(size(), lanes * kUnroll), 1024);
    const device::Memory partials = allocate(groups);
    const device::Memory ticket = device.allocate(sizeof(std::uint32_t));
    const std::uint32_t zero = 0;
    device.write(ticket, 0, &zero, sizeof zero);
    plan.result = allocate(1);
    add(single, groups, {data, size(), partials, ticket, plan.result}, plan.result, 1);
    // Loads of whole tiles, then of the rest of the loads, then of single elements; the lanes; the trees.
    const std::uint64_t tile = std::uint64_t{group_size} * kUnroll * lanes;
    const std::uint64_t loads = ceil_div(ceil_div(size(), tile), groups) * kUnroll + kUnroll + lanes;
    plan.depth = loads + height(lanes) + height(group_size) + strided_depth(groups, 1);
    plan.configuration = fmt::format("groups={} group_size={} loads={}x16 bytes", groups, group_size, kUnroll);
  }
};

struct Variant {
  std::string_view name;
  void (Planner::*plan)();
};

constexpr Variant kVariants[] = {
    {"one_scalar", &Planner::one_scalar},
    {kMissingBarrier, &Planner::missing_barrier},
    {"tree_passes", &Planner::tree_passes},
    {"tile_passes", &Planner::tile_passes},
    {"grid_stride_two_pass", &Planner::grid_stride_two_pass},
    {"unrolled", &Planner::unrolled},
    {"templated", &Planner::templated},
    {"grid_stride_atomic", &Planner::grid_stride_atomic},
    {"single_pass", &Planner::single_pass},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kVariants)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kVariants[i].name;
  return names;
}();

TextbookPlan make_plan(std::string_view name, device::Device& device, DType type, const device::Memory& data, std::uint64_t rows,
                       std::uint64_t columns, const TextbookOptions& options) {
  const auto variant = std::find_if(std::begin(kVariants), std::end(kVariants), [&](const Variant& v) { return v.name == name; });
  const bool own = !options.source.empty();
  if (!own && variant == std::end(kVariants)) throw Error(ErrorKind::usage, fmt::format("'{}' is no textbook variant of the sum", name));
  const std::uint32_t most = device.info().max_group_size;
  device::check_group_size(device.info(), options.group_size, most);
  const std::uint32_t group_size = options.group_size != 0 ? options.group_size : std::min(kGroupSize, most);
  const bool knows_rows = !own && (name == "tree_passes" || name == "tile_passes");
  if (!knows_rows && options.pitch != 0 && options.pitch != columns && rows > 1) {
    throw Error(ErrorKind::usage, fmt::format("{} reads elements that lie one behind the other: only tree_passes and tile_passes take rows "
                                              "at a distance",
                                              name));
  }
  Planner planner{device, type, data, rows, columns, options, group_size};
  if (rows != 0 && columns != 0) (planner.*(own ? &Planner::own_kernel : variant->plan))();
  return std::move(planner.plan);
}

}  // namespace

TextbookSum::TextbookSum(std::string_view name, device::Device& device, DType type, const device::Memory& data, std::uint64_t rows,
                         std::uint64_t columns, const TextbookOptions& options)
    : device_(device), type_(type), plan_(make_plan(name, device, type, data, rows, columns, options)) {}

std::uint64_t TextbookSum::bits() {
  std::uint64_t word = 0;
  if (plan_.result.handle != nullptr) device_.read(plan_.result, 0, &word, size_of(type_));
  return word;
}

double TextbookSum::result() {
  const std::uint64_t word = bits();
  return type_ == DType::float64 ? std::bit_cast<double>(word) : std::bit_cast<float>(static_cast<std::uint32_t>(word));
}

std::vector<bench::Round> time_rounds(TextbookSum& sum, device::Device& device, const bench::Effort& effort) {
  const auto& plan = sum.plan();
  std::vector<std::vector<double>> samples(plan.rounds.size());
  for (std::uint32_t run = 0; run < std::min(effort.runs, 7u); ++run) {
    std::vector<device::Mark> marks = {device.mark()};
    for (const TextbookRound& round : plan.rounds) {
      sum.launch(round);
      marks.push_back(device.mark());
    }
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].push_back(device.seconds_between(marks[i], marks[i + 1]));
  }
  std::vector<bench::Round> rounds;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const TextbookRound& round = plan.rounds[i];
    rounds.push_back({round.rows, round.columns, round.result_rows, round.result_columns, bench::summarize(std::move(samples[i]))});
  }
  return rounds;
}

FormulaSource formula_source(const Operator& op, DType type, const DeviceInfo& device) {
  const formula::Bound bound(op, std::span(&type, 1));
  if (bound.types().size() != 1 || op.identity.size() != 1) {
    throw Error(ErrorKind::usage, "a ladder's operator combines single numbers and has an identity: --identity gives it");
  }
  if (bound.program().uses_index || !bound.parameters().empty()) {
    throw Error(ErrorKind::usage, "a ladder's operator is a formula of a and b alone, without an index or parameters");
  }
  formula::require_types(bound.program(), device);
  FormulaSource source;
  source.function = formula::print(bound.program(), "user_operator");
  source.files = formula::files_of({&bound.program()});
  std::string arguments;
  for (const formula::InputComponent& input : bound.program().inputs) {
    arguments += fmt::format("({}){}, ", formula::dialect_name(input.type), input.input == 0 ? "a" : "b");
  }
  source.call = fmt::format("user_operator({}&error)", arguments);
  source.identity = op.identity[0];
  return source;
}

std::span<const std::string_view> textbook_variants() { return kNames; }

std::string why_no_textbook(std::string_view name, const DeviceInfo& device, DType type, TextbookOperation operation) {
  std::vector<Capability> needed;
  if (type == DType::float64) needed.push_back(Capability::fp64);
  if (name == "single_pass") needed.push_back(Capability::device_fence);
  if ((name == "grid_stride_atomic" || name == "one_scalar") && size_of(type) != 4) {
    if (operation != TextbookOperation::sum || size_of(type) != 8) {
      return fmt::format("there is no atomic operation of this kind on {}", name_of(type));
    }
    needed.push_back(Capability::int64_atomics);
  }
  for (const Capability capability : needed) {
    if (!device.has(capability)) return fmt::format("the device lacks {}: {}", name_of(capability), device.why_not(capability));
  }
  return "";
}

}  // namespace samesum::reduction
