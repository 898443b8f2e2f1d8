#include "pairs/pairs_device.hpp"

#include "formula/print.hpp"
#include "pairs/pairs_formula.hpp"
#include "pairs/tree/tree_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

namespace samesum::all_pairs {
namespace {

// For GPUs, by measurement (docs/pairs.md).
constexpr std::uint32_t kGroupSize = 256;
constexpr std::uint32_t kResident = 2;
constexpr std::uint32_t kSpaceGroupSize = 128, kSpaceTogether = 5, kSpaceUnroll = 14;  // is_gaussian_in_space(): the best of 310 shapes
constexpr std::uint32_t kUnitSize = kGroupSize * kResident;                            // with 128 registers each
constexpr std::uint32_t kTileBytes = 16 << 10;
constexpr std::uint32_t kPolynomials = 0x0101;  // for scalars: vectors have enough other arithmetic
constexpr std::uint64_t kManyX = 1 << 16;
// A kernel for GPUs need only be correct on a CPU: small ones compile faster.
constexpr std::uint32_t kCpuGroupSize = 16, kCpuItems = 2;
constexpr std::uint32_t kCpuVectors = 3, kCpuChains = 4, kCpuLanesBytes = 32;  // twelve sums hide the latency of a multiply-add
constexpr std::uint32_t kExactGroupSize = 128;

constexpr std::uint32_t kChunk = 32;  // the y of which the index of a minimum is found at the end
constexpr std::uint32_t kMaxParts = 1024;
constexpr std::uint64_t kMinShare = 256;  // of y
constexpr std::uint64_t kMaxPartialBytes = std::uint64_t{256} << 20;

// For formulas: the most operations in the pairs of one x of a work-item, and in an unrolled loop body.
constexpr std::uint32_t kMaxOperations = 256, kFewOperations = 32;

// The greatest magnitude; infinity also where there is a NaN.
template <class Real>
double magnitude_of(const void* data, std::uint64_t count) {
  const Real* const values = static_cast<const Real*>(data);
  Real most = 0;
  Real nans = 0;  // 0, or NaN where there is a NaN or an infinity
  for (std::uint64_t i = 0; i < count; ++i) {
    most = std::max(most, std::abs(values[i]));
    nans += values[i] * Real{0};
  }
  return nans == Real{0} ? static_cast<double>(most) : std::numeric_limits<double>::infinity();
}

template <class Real>
bool all_positive(const void* data, std::uint64_t count) {
  const Real* const values = static_cast<const Real*>(data);
  return std::all_of(values, values + count, [](Real value) { return value > 0; });
}

// Whether no f of the problem can be NaN, nor -0.0 where the function never is.
template <class Real>
bool is_clean(const Problem& p) {
  if (p.formula != nullptr) return false;
  const double a = magnitude_of<Real>(p.a, p.x_count * p.components);
  const double b = magnitude_of<Real>(p.b, p.y_count * p.components);
  const auto components = static_cast<double>(p.components);
  const double most = p.f == PairFunction::product ? components * a * b : components * (a + b) * std::max(a + b, 1.0);
  if (p.weighted() && (!std::isfinite(magnitude_of<Real>(p.of_y, p.y_count)) || !all_positive<Real>(p.of_y, p.y_count))) return false;
  return most < 0.25 * static_cast<double>(std::numeric_limits<Real>::max());
}

// Sums of Gaussians in space: instructions and special functions take equal time, so their interleaving matters most.
bool is_gaussian_in_space(const Problem& p) {
  return p.f == PairFunction::gaussian && p.formula == nullptr && p.reduction == PairReduction::sum && p.accuracy == PairAccuracy::fast &&
         (p.components == 3 || p.components == 4) && p.type == DType::float32;
}

std::uint32_t own_items(const Problem& p, bool keyed) {
  const std::uint64_t d = p.components + (p.formula != nullptr ? p.extras : 0);
  if (is_gaussian_in_space(p)) return d == 3 ? 15 : 10;
  std::uint32_t items = d <= 3 ? 16 : d == 4 ? 8 : d <= 16 ? 4 : d <= 32 ? 2 : 1;
  const bool simple = p.reduction == PairReduction::sum ? p.accuracy == PairAccuracy::fast : !keyed;
  if (p.type == DType::float64) items = std::max(items / 2, 1u);
  if (p.formula != nullptr)
    items = std::clamp<std::uint32_t>(kMaxOperations / static_cast<std::uint32_t>(p.formula->program.nodes.size()), 1, items);
  while ((items & (items - 1)) != 0) items &= items - 1;  // a power of two
  if (!simple) return std::max(items / 2, 1u);
  // Twice as many where there is enough parallelism: a product is one instruction, so the loop overhead matters.
  const bool product = p.f == PairFunction::product && p.formula == nullptr && p.reduction == PairReduction::sum && d == 1 && !p.weighted();
  return product && p.x_count >= kManyX ? 2 * items : items;
}

// Unrolled steps of the loop over y: more steps interleave special functions better with other work, as far as registers allow.
std::uint32_t own_unroll(const Problem& p) {
  if (p.formula != nullptr) return p.formula->program.nodes.size() > kFewOperations ? 1 : p.components == 1 ? 2 : 4;
  if (p.reduction != PairReduction::sum) return 4;
  if (is_gaussian_in_space(p)) return kSpaceUnroll;
  if (p.components == 1) return p.f == PairFunction::product ? 8 : p.f == PairFunction::gaussian ? 1 : 2;  // steps of four y
  return p.accuracy == PairAccuracy::fast && p.type == DType::float32 && p.components <= 16 ? 8 : 2;
}

}  // namespace

std::string Configuration::text() const {
  return fmt::format("group_size={} items={} tile={} parts={} resident={} unroll={}", group_size, items, tile, parts, resident, unroll);
}

DevicePairs::DevicePairs(device::Device& device, const Problem& problem, Configuration wanted)
    : device_(device), problem_(problem), wanted_(wanted) {
  const bool sum = problem.reduction == PairReduction::sum;
  const bool from_host = problem.a != nullptr || problem.b != nullptr;
  clean_ = from_host && (problem.type == DType::float32 ? is_clean<float>(problem) : is_clean<double>(problem));
  shape_ = sum && problem.accuracy == PairAccuracy::exact ? Shape::exact
           : from_host && sum && problem.accuracy == PairAccuracy::fast && device.info().is_cpu && problem.formula == nullptr &&
                   problem.components <= 8 && wanted.group_size == 0 && wanted.items == 0
               ? Shape::vectors
               : Shape::blocks;
  configure(wanted);
  const device::Source text = source();
  const char* const entries[] = {"pairs_blocks", "pairs_vectors", "pairs_exact"};
  kernel_ = device::build(device, text, entries[static_cast<int>(shape_)]);
  combine_ = device::build(device, text, shape_ == Shape::exact ? "pairs_exact_round" : "pairs_combine");
  if (problem.b != nullptr) b_ = upload(problem.b, problem.y_count * problem.components * size_of(problem.type));
  if (problem.extras != 0) of_y_ = upload(problem.of_y, problem.y_count * problem.extras * size_of(problem.type));
}

void DevicePairs::configure(Configuration wanted) {
  const DeviceInfo& info = device_.info();
  device::check_group_size(info, wanted.group_size, info.max_group_size);
  const bool keyed = !clean_ || problem_.f == PairFunction::product || problem_.f == PairFunction::difference;
  const bool space = is_gaussian_in_space(problem_);
  const std::uint32_t own_size = info.is_cpu              ? kCpuGroupSize
                                 : shape_ == Shape::exact ? kExactGroupSize
                                 : space                  ? kSpaceGroupSize
                                                          : kGroupSize;
  const auto bytes = static_cast<std::uint32_t>(size_of(problem_.type));
  Configuration& c = configuration_;
  c = wanted;
  if (c.group_size == 0) c.group_size = std::min(own_size, info.max_group_size);
  if (c.resident == 0) c.resident = problem_.components > 8 ? 1 : space ? std::max(kUnitSize / c.group_size, 1u) : kResident;
  if (c.polynomials == UINT32_MAX) c.polynomials = info.is_cpu ? 0 : problem_.components == 1 ? kPolynomials : 0;
  if (!clean_) c.polynomials = 0;
  if (c.unroll == 0) c.unroll = info.is_cpu ? 1 : own_unroll(problem_);
  if (shape_ == Shape::vectors) {
    c.group_size = 1;
    c.items = kCpuVectors * kCpuLanesBytes / bytes;
    if (c.tile == 0) c.tile = std::max<std::uint32_t>(4096 / static_cast<std::uint32_t>(problem_.components), 1);
    return;
  }
  if (shape_ == Shape::exact) {
    c.items = 1;
    c.tile = 0;
    return;
  }
  if (c.items == 0) {
    c.items = info.is_cpu ? std::min(own_items(problem_, keyed), kCpuItems) : own_items(problem_, keyed);
    // With few x, fewer per work-item.
    while (c.items > 1 && std::uint64_t{c.group_size} * c.items / 2 >= problem_.x_count) c.items /= 2;
  }
  if (c.together == 0) c.together = space && c.items % kSpaceTogether == 0 ? kSpaceTogether : 1;
  // As in pairs_blocks.cl.
  const std::uint64_t used = problem_.components + problem_.extras;
  const std::uint64_t lanes = 16 / bytes;
  const std::uint64_t width = used >= lanes ? ceil_div(used, lanes) * lanes : used == 3 ? 4 : used;
  const std::uint64_t room = std::min<std::uint64_t>(kTileBytes, info.local_bytes / 2);
  if (c.tile == 0) c.tile = static_cast<std::uint32_t>(std::max<std::uint64_t>(room / (width * bytes), 1));
  // Whole chunks; of small vectors more than one per load.
  c.tile = c.tile > kChunk || used < lanes ? std::max(c.tile / kChunk, 1u) * kChunk : std::max(c.tile / 2, 1u) * 2;
  if (c.tile * width * bytes > info.local_bytes) {
    throw Error(ErrorKind::usage, fmt::format("a tile of {} y with {} components takes {} bytes of local memory; {} has {}", c.tile,
                                              problem_.components, c.tile * width * bytes, info.selector, info.local_bytes));
  }
}

device::Source DevicePairs::source() const {
  const bool single = problem_.type == DType::float32;
  const bool sum = problem_.reduction == PairReduction::sum;
  const bool keyed = !clean_ || problem_.f == PairFunction::product || problem_.f == PairFunction::difference;
  const auto number = [](auto value) { return std::to_string(value); };
  device::Source source;
  const auto with_files = [&](std::initializer_list<std::string_view> before, std::vector<std::string_view> files) {
    source.files = before;
    if (problem_.formula != nullptr) return add_to(source, *problem_.formula, std::move(files));
    source.files.insert(source.files.end(), files.begin(), files.end());
  };
  source.defines = {
      {"F", number(problem_.formula != nullptr ? 6 : static_cast<int>(problem_.f))},
      {"REDUCTION", number(static_cast<int>(problem_.reduction))},
      {"COMPENSATED", sum && problem_.accuracy == PairAccuracy::compensated ? "1" : "0"},
      {"KEYED", !sum && keyed ? "1" : "0"},
      {"D", number(problem_.components)},
      {"EXTRAS", number(problem_.extras)},
      {"WEIGHTED", problem_.weighted() ? "1" : "0"},
      {"REAL", single ? "float" : "double"},
      {"REAL_BYTES", single ? "4" : "8"},
      {"GROUP", number(combine_size())},
      {"RESIDENT", number(configuration_.resident)},
      {"UNROLL_COMPONENTS", fmt::format("_Pragma(\"unroll {}\")", problem_.components > 64 || device_.info().is_cpu ? "1" : "")}};
  if (problem_.stored() != problem_.type) {
    source.defines.insert(source.defines.end(), {{"STORED", std::string(formula::stored_name(problem_.stored()))},
                                                 {"LOADED(word)", formula::loaded(problem_.stored(), "word")}});
  }
  if (shape_ == Shape::exact) {
    with_files({"pairs/private_digits.h", "exact/exact.h", "ladder/pairs/local_again.h"},
               {"pairs/function.h", "pairs/reduction.h", "pairs/pairs_exact.cl"});
    return source;
  }
  source.defines.emplace_back("TILE", number(configuration_.tile));
  if (shape_ == Shape::vectors) {
    const std::uint32_t lanes = kCpuLanesBytes / (single ? 4 : 8);
    source.defines.insert(source.defines.end(), {{"LANES", number(lanes)},
                                                 {"VALUE", fmt::format("{}{}", single ? "float" : "double", lanes)},
                                                 {"AS_BITS(x)", fmt::format("as_{}{}(x)", single ? "uint" : "ulong", lanes)},
                                                 {"AS_VALUE(x)", fmt::format("as_{}{}(x)", single ? "float" : "double", lanes)},
                                                 {"SELECT(condition, yes, no)", "select(no, yes, condition)"},
                                                 {"VECTORS", number(kCpuVectors)},
                                                 {"CHAINS", number(kCpuChains)}});
    source.files = {"pairs/function.h", "pairs/reduction.h", "pairs/pairs_cpu.cl", "pairs/pairs_combine.cl"};
    return source;
  }
  source.defines.insert(source.defines.end(), {{"ITEMS", number(configuration_.items)},
                                               {"TOGETHER", number(configuration_.together)},
                                               {"CHUNK", number(std::min(configuration_.tile, kChunk))},
                                               {"UNROLL_STEPS", fmt::format("_Pragma(\"unroll {}\")", configuration_.unroll)},
                                               {"POLYNOMIALS", number(configuration_.polynomials)},
                                               {"EXP2_C1", "0x1.62e42ap-1f"},
                                               {"EXP2_C2", "0x1.ebf9bcp-3f"},
                                               {"EXP2_C3", "0x1.c6b752p-5f"},
                                               {"EXP2_C4", "0x1.3cea88p-7f"},
                                               {"EXP2_C5", "0x1.5bba14p-10f"}});
  with_files({}, {"pairs/function.h", "pairs/reduction.h", "pairs/pairs_blocks.cl", "pairs/pairs_combine.cl"});
  return source;
}

device::Memory DevicePairs::upload(const void* data, std::uint64_t bytes) {
  const device::Memory memory = device_.allocate(bytes);
  device_.write(memory, 0, data, bytes);
  return memory;
}

device::Argument DevicePairs::real(double value) const {
  return problem_.type == DType::float32 ? device::Argument(static_cast<float>(value)) : device::Argument(value);
}

std::uint64_t DevicePairs::bytes_of_x() const noexcept {
  const std::uint64_t bytes = size_of(problem_.type);
  if (shape_ == Shape::exact) return 8 * (problem_.type == DType::float32 ? 14 + 1 : 70 + 1);  // DIGITS of pairs_exact.cl, and flags
  return problem_.accuracy == PairAccuracy::compensated ? 2 * bytes : bytes;
}

// The number of parts of the y: balances the compute units, in units of the time that a group takes for one y.
void DevicePairs::choose_parts(std::uint64_t x_count, std::uint64_t most_bytes) {
  constexpr double kGroupCost = 128;       // of starting and ending a group
  constexpr double kPartialCost = 2.5e-4;  // of passing a partial result to the combining kernel
  const std::uint64_t blocks = ceil_div(x_count, step());
  const std::uint64_t units = std::uint64_t{device_.info().compute_units} * (shape_ == Shape::exact ? 8 : 1);
  const std::uint64_t room = std::max<std::uint64_t>(most_bytes / (bytes_of_x() * x_count), 1);
  const std::uint64_t most = std::clamp<std::uint64_t>(problem_.y_count / kMinShare, 1, std::min<std::uint64_t>(kMaxParts, room));
  std::uint64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t parts = 1; parts <= most; ++parts) {
    // At least as many groups per unit as can be resident, and at least two, as a group stalls at times.
    const std::uint64_t rounds = std::max<std::uint64_t>(ceil_div(blocks * parts, units), std::max(configuration_.resident, 2u));
    const double cost = static_cast<double>(rounds) * (static_cast<double>(ceil_div(problem_.y_count, parts)) + kGroupCost) +
                        kPartialCost * static_cast<double>(parts * x_count) * 4096 / static_cast<double>(step());
    if (cost < least * 0.999) {
      least = cost;
      best = parts;
    }
  }
  if (wanted_.parts != 0) best = std::min<std::uint64_t>(wanted_.parts, room);
  share_ = ceil_div(problem_.y_count, best);
  configuration_.parts = static_cast<std::uint32_t>(ceil_div(problem_.y_count, share_));
}

// Work-items of a group that combines parts.
std::uint32_t DevicePairs::combine_size() const noexcept { return shape_ == Shape::vectors ? 64 : configuration_.group_size; }

void DevicePairs::load(std::uint64_t first, std::uint64_t count) {
  const std::uint64_t bytes = size_of(problem_.type);
  const std::uint64_t components = problem_.components;
  const char* from = static_cast<const char*>(problem_.a) + first * components * bytes;
  std::vector<char> turned;
  std::uint64_t padded = count;
  if (shape_ == Shape::vectors) {  // by components, the last block padded
    padded = ceil_div(count, step()) * step();
    turned.resize(padded * components * bytes);
    for (std::uint64_t d = 0; d < components; ++d) {
      for (std::uint64_t i = 0; i < padded; ++i) {
        std::memcpy(turned.data() + (d * padded + i) * bytes, from + (std::min(i, count - 1) * components + d) * bytes, bytes);
      }
    }
    from = turned.data();
  }
  const std::uint64_t a_bytes = padded * components * bytes;
  if (a_.bytes < a_bytes) a_ = device_.allocate(a_bytes);
  device_.write(a_, 0, from, a_bytes);
  if (x_count_ == padded) return;
  x_count_ = padded;
  choose_parts(padded, kMaxPartialBytes);
  allocate_partials();
  c_ = device_.allocate(padded * 8);
}

// For x_count_ and the parts chosen for it.
void DevicePairs::allocate_partials() {
  const std::uint64_t count = x_count_ * configuration_.parts;
  partials_ = device_.allocate(count * bytes_of_x());
  indices_ = problem_.indices() ? device_.allocate(count * 8) : partials_;
}

void DevicePairs::prepare() {
  constexpr std::uint64_t kFewX = 1 << 14;  // so that a plan for less does not launch for each of a few x
  x_count_ = std::clamp<std::uint64_t>(problem_.x_count, 1, std::max<std::uint64_t>(kMaxPartialBytes / bytes_of_x(), 1));
  problem_.y_count = std::max<std::uint64_t>(problem_.y_count, 1);
  choose_parts(x_count_, kMaxPartialBytes);
  if (x_count_ * configuration_.parts < kFewX) x_count_ = ceil_div(kFewX, configuration_.parts);
  allocate_partials();
  x_count_ = 0;
}

void DevicePairs::enqueue(const device::Place& a, std::uint64_t x_count, const device::Place& b, std::uint64_t y_count,
                          const device::Place& c) {
  const std::uint64_t room = partials_.bytes / bytes_of_x();  // x with one part
  const std::uint64_t most = room < step() ? room : room / step() * step();
  for (std::uint64_t first = 0; first < x_count; first += most) {
    const std::uint64_t count = std::min(most, x_count - first);
    if (x_count_ != count || problem_.y_count != y_count) {
      x_count_ = count;
      problem_.y_count = y_count;
      choose_parts(count, partials_.bytes);
    }
    launch({a.memory, a.offset + first * problem_.components * size_of(problem_.stored())}, b,
           {c.memory, c.offset + first * result_bytes(problem_)});
  }
}

void DevicePairs::launch() { launch({a_}, {b_}, {c_}); }

void DevicePairs::launch(const device::Place& a, const device::Place& b, const device::Place& c) {
  const bool log2 = shape_ == Shape::blocks && problem_.reduction == PairReduction::sum && problem_.accuracy == PairAccuracy::fast &&
                    problem_.type == DType::float32;  // its gaussian is a power of 2
  const std::vector<device::Argument> parameters =
      problem_.formula != nullptr
          ? arguments_of(*problem_.formula)
          : std::vector{real(log2 ? problem_.factor * std::numbers::log2e : problem_.factor), real(problem_.softening)};
  const device::Memory& of_y = problem_.extras != 0 ? of_y_ : b.memory;
  const std::vector<device::Argument> operands = {a.memory, a.offset, b.memory, b.offset, of_y, x_count_, problem_.y_count};
  std::vector<device::Argument> arguments = operands;
  arguments.insert(arguments.end(), {share_, configuration_.parts});
  arguments.insert(arguments.end(), parameters.begin(), parameters.end());
  arguments.emplace_back(partials_);
  const std::uint64_t blocks = ceil_div(shape_ == Shape::exact ? x_count_ * configuration_.parts : x_count_, step());
  const std::uint64_t groups = shape_ == Shape::exact ? blocks : blocks * configuration_.parts;
  if (shape_ == Shape::blocks) arguments.emplace_back(indices_);
  const std::uint32_t size = configuration_.group_size;
  device_.launch(kernel_, {static_cast<std::uint32_t>(groups), size}, arguments);

  if (shape_ == Shape::exact) {
    const device::Argument rounding[] = {partials_, x_count_, configuration_.parts, c.memory, c.offset};
    device_.launch(combine_, {static_cast<std::uint32_t>(ceil_div(x_count_, size)), size}, rounding);
    return;
  }
  const std::uint32_t columns = combine_size() >= 64 && combine_size() % 32 == 0 ? 32 : combine_size();  // as in pairs_combine.cl
  std::vector<device::Argument> combining = operands;
  combining.emplace_back(configuration_.parts);
  combining.insert(combining.end(), parameters.begin(), parameters.end());
  combining.insert(combining.end(), {partials_, indices_, c.memory, c.offset});
  device_.launch(combine_, {static_cast<std::uint32_t>(ceil_div(x_count_, columns)), combine_size()}, combining);
}

void DevicePairs::read(std::uint64_t count, Target c) const { device_.read(c_, 0, c.data, count * result_bytes(problem_)); }

void DevicePairs::run(std::uint64_t first, std::uint64_t count, Target c) {
  const std::uint64_t most = std::max<std::uint64_t>(kMaxPartialBytes / bytes_of_x() / step(), 1) * step();
  for (std::uint64_t done = 0; done < count; done += most) {
    const std::uint64_t part = std::min(most, count - done);
    load(first + done, part);
    launch();
    read(part, c.part(done, result_bytes(problem_)));
  }
}

std::unique_ptr<OnDevice> on_device(device::Device& device, const Problem& problem, Configuration wanted) {
  if (problem.nodes != nullptr || problem.smallest()) return std::make_unique<DeviceTree>(device, problem, wanted);
  return std::make_unique<DevicePairs>(device, problem, wanted);
}

}  // namespace samesum::all_pairs
