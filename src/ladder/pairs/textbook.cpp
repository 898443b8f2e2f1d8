#include "ladder/pairs/textbook.hpp"

#include "device/kernels/program.hpp"
#include "formula/bound.hpp"
#include "formula/print.hpp"
#include "ladder/resident.hpp"
#include "pairs/pairs_formula.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace samesum::all_pairs {
namespace {

constexpr std::uint32_t kGroupSize = 256;
constexpr std::uint32_t kTile = 1024;
constexpr std::uint64_t kTileBytes = 16 << 10;    // at most; a multiple of 8 vectors
constexpr std::uint64_t kMaxLocalAll = 48 << 10;  // the portable limit for static local memory
constexpr std::uint64_t kMaxComponents = 16;      // all of them are in registers, of every x of a work-item

struct Rung {
  std::string_view name;
  const char* entry;
  std::uint32_t width;
};
constexpr Rung kRungs[] = {
    {"naive", "from_global", 1}, {"local_all", "local_all", 1},    {"local_tiled", "local_tiled", 1}, {"vec4", "from_global", 4},
    {"vec8", "from_global", 8},  {"vec8_local", "local_tiled", 8}, {"vec8_both", "both", 8},          {"vec8_tile", "both_tiled", 8},
};
constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kRungs)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kRungs[i].name;
  return names;
}();

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

// A constant of the source; its bits say all.
std::string literal(double value, DType type) {
  if (is_integer(type)) return "0";
  return type == DType::float32 ? fmt::format("as_float({:#x}u)", std::bit_cast<std::uint32_t>(static_cast<float>(value)))
                                : fmt::format("as_double((ulong){:#x})", std::bit_cast<std::uint64_t>(value));
}

// What a reduction begins with, before any y.
std::string nothing(const Problem& problem) {
  const bool sum = problem.reduction == PairReduction::sum;
  if (!is_integer(problem.type)) return literal(sum ? 0 : problem.greatest() ? -INFINITY : INFINITY, problem.type);
  if (problem.type == DType::uint64) return sum || problem.greatest() ? "0" : "0xffffffffffffffff";
  return sum ? "0" : problem.greatest() ? "((long)0x8000000000000000)" : "0x7fffffffffffffff";
}

const char* name_in_kernels(DType type) {
  return type == DType::float32 ? "float" : type == DType::float64 ? "double" : type == DType::uint64 ? "ulong" : "long";
}

constexpr int kFormula = 6;  // F_FORMULA

// The parameters of a formula, with a comma behind each.
std::string numbers_of(const PairFormula& formula) {
  std::string text;
  for (const formula::ParameterUse& use : formula.program.parameters) {
    const std::uint64_t bits = formula::bits_of(formula.parameters[use.parameter], use.type);
    switch (use.type) {
      case formula::Scalar::float32:
        text += fmt::format("as_float({:#x}u), ", bits);
        break;
      case formula::Scalar::float64:
        text += fmt::format("as_double((ulong){:#x}), ", bits);
        break;
      default:
        text += fmt::format("({})(ulong){:#x}, ", formula::dialect_name(use.type), bits);
    }
  }
  return text;
}

std::uint32_t tile_of(const Rung& rung, const Problem& problem, const DeviceInfo& info) {
  const std::uint64_t bytes_of_y = problem.components * size_of(problem.type);
  if (rung.name != "local_all") return static_cast<std::uint32_t>(std::min<std::uint64_t>(kTile, kTileBytes / bytes_of_y / 8 * 8));
  const std::uint64_t room = std::min(kMaxLocalAll, info.local_bytes);
  const std::uint64_t bytes = problem.y_count * bytes_of_y;
  if (bytes > room) {
    refuse(fmt::format("local_all takes all of B in local memory, which is {} bytes; {} have room, {}: {} y", bytes, room,
                       room < info.local_bytes ? "the most that every device has" : "all that a group has", room / bytes_of_y));
  }
  return static_cast<std::uint32_t>(problem.y_count);
}

}  // namespace

TextbookPairs::TextbookPairs(std::string_view name, device::Device& device, const Problem& problem, const TextbookOptions& options)
    : device_(device), problem_(problem) {
  const bool own = !options.source.empty();
  const auto found = std::find_if(std::begin(kRungs), std::end(kRungs), [&](const Rung& rung) { return rung.name == name; });
  if (!own && found == std::end(kRungs)) refuse(fmt::format("'{}' is no textbook variant of pairs", name));
  const bool integers = is_integer(problem.type);
  // Functions of integers with names are formulas elsewhere.
  const PairFormula* const formula = integers && !options.formula ? nullptr : problem.formula.get();
  if (formula != nullptr && value_type(problem) != problem.type) {
    refuse(fmt::format("the textbook adds and compares numbers of the vectors' type, {}, and this formula gives {}", name_of(problem.type),
                       name_of(value_type(problem))));
  }
  if (problem.reduction > PairReduction::argmax || problem.extras != 0 || problem.results != 1 || problem.components > kMaxComponents) {
    refuse(fmt::format("the textbook has sums, minima, maxima and their indices over vectors of up to {} components, without weights",
                       kMaxComponents));
  }
  const DeviceInfo& info = device.info();
  if (problem.type == DType::float64 && !info.has(Capability::fp64)) refuse(std::string(info.why_not(Capability::fp64)));
  device::check_group_size(info, options.group_size, info.max_group_size);
  const Rung rung = own ? Rung{name, "pairs", options.items} : *found;
  width_ = rung.width;
  group_size_ = options.group_size != 0 ? options.group_size : std::min(kGroupSize, info.max_group_size);
  device::Source source;
  source.defines = {{"REAL", name_in_kernels(problem.type)},
                    {"REAL_BYTES", std::to_string(size_of(problem.type))},
                    {"INTEGERS", integers ? "1" : "0"},
                    {"D", std::to_string(problem.components)},
                    {"GROUP", std::to_string(group_size_)},
                    {"WIDTH", std::to_string(width_)},
                    {"RESIDENT", std::to_string(bench::resident_for(options.registers, group_size_))},
                    {"TILE", std::to_string(tile_of(rung, problem, info))},
                    {"F", std::to_string(formula != nullptr ? kFormula : static_cast<int>(problem.f))},
                    {"REDUCTION", std::to_string(static_cast<int>(problem.reduction))},
                    {"FACTOR", literal(problem.factor, problem.type)},
                    {"SOFTENING", literal(problem.softening, problem.type)},
                    {"NOTHING", nothing(problem)}};
  if (own) {
    source.text = options.source;
  } else if (formula != nullptr) {
    add_to(source, *formula, {"pairs/function.h", "ladder/pairs/textbook.cl"});
    for (auto& [defined, value] : source.defines) {  // its parameters are numbers in the text: the rungs take arrays alone
      if (defined == "F_TAKES" || defined == "F_GIVES") value.clear();
      if (defined == "F_PARAMETERS") value = numbers_of(*formula);
    }
    source.defines.insert(source.defines.end(), {{"EXTRAS", "0"}, {"WEIGHTED", "0"}});
  } else {
    source.defines.insert(source.defines.end(), {{"EXTRAS", "0"}, {"WEIGHTED", "0"}});
    source.files = {integers ? "ladder/pairs/integer_function.h" : "pairs/function.h", "ladder/pairs/textbook.cl"};
  }
  kernel_ = device::build(device, source, rung.entry);

  const std::uint64_t bytes = problem.components * size_of(problem.type);
  const std::uint64_t block = std::uint64_t{group_size_} * width_;
  groups_ = static_cast<std::uint32_t>((problem.x_count + block - 1) / block);
  std::vector<char> padded(groups_ * block * bytes);
  std::copy_n(static_cast<const char*>(problem.a), problem.x_count * bytes, padded.data());
  a_ = device.allocate(padded.size());
  c_ = device.allocate(groups_ * block * size_of(result_type()));
  b_ = device.allocate(problem.y_count * bytes);
  device.write(a_, 0, padded.data(), padded.size());
  device.write(b_, 0, problem.b, problem.y_count * bytes);
}

void TextbookPairs::launch() {
  const device::Argument arguments[] = {a_, b_, c_, problem_.x_count, problem_.y_count};
  device_.launch(kernel_, {groups_, group_size_}, arguments);
}

DType TextbookPairs::result_type() const { return problem_.indices() ? DType::int64 : problem_.type; }

void TextbookPairs::read(Target c) const { device_.read(c_, 0, c.data, problem_.x_count * size_of(result_type())); }

std::string TextbookPairs::configuration() const {
  return fmt::format("groups={} group_size={} x_per_item={}", groups_, group_size_, width_);
}

std::span<const std::string_view> textbook_variants() { return kNames; }

}  // namespace samesum::all_pairs
