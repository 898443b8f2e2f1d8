#include "support/every_kernel.hpp"

#include "barrier/grid.hpp"
#include "device/kernels/conformance.hpp"
#include "device/kernels/program.hpp"
#include "device/memory/run.hpp"
#include "element_words/element_words.hpp"
#include "formula/bound.hpp"
#include "formula/map/map_device.hpp"
#include "formula/map/term.hpp"
#include "formula/operator/operator_device.hpp"
#include "formula/operator/operator_plan.hpp"
#include "groups/by/device/sort_device.hpp"
#include "groups/by/device/tree_lists_device.hpp"
#include "groups/device/axes_device.hpp"
#include "groups/device/trees_device.hpp"
#include "groups/dots/device/dots_device.hpp"
#include "groups/index/device/group_device.hpp"
#include "histogram/histogram_device.hpp"
#include "histogram/nd/cells_device.hpp"
#include "histogram/nd/tiles.hpp"
#include "ladder/ceiling/atomics.hpp"
#include "ladder/ceiling/reader.hpp"
#include "ladder/pairs/textbook.hpp"
#include "ladder/reduce/textbook.hpp"
#include "nccl/words.hpp"
#include "pairs/pairs_device.hpp"
#include "pairs/pairs_formula.hpp"
#include "plan/record.hpp"
#include "product/product.hpp"
#include "product/product_plan.hpp"
#include "quantile/lists_device.hpp"
#include "quantile/select.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/sum_device.hpp"
#include "scan/device/scan_device.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {
namespace {

// Types that stand for the others, whose kernels differ in a conversion alone.
bool stands_for_others(DType type) { return type == DType::float32 || type == DType::float64 || type == DType::int32; }

bool is_of(Kernels which, DType type) { return which == Kernels::all || type == DType::float64 || type == DType::int32; }

// Every method of the barrier's ladder.
void build_barriers(device::Device& device) {
  using Defines = std::vector<std::pair<std::string, std::string>>;
  const auto make = [&](Defines defines, const char* method, const char* one_each) {
    defines.emplace_back("METHOD", method);
    defines.emplace_back("ONE_EACH", one_each);
    defines.emplace_back("GROUP_SIZE", "1024");
    defines.emplace_back("RESIDENT", "2");
    const device::Source source = barrier::source_with_barrier({"ladder/barrier/methods.cl"}, std::move(defines));
    for (const char* entry : {"neighbour_sums", "barriers", "neighbour_step"}) device::build(device, source, entry);
  };
  for (const char* method : {"0", "1", "2", "3", "4", "5", "6", "7", "8"}) make({}, method, "1");
  make({}, "5", "0");
}

// Every kind of element, guess and counters at least once; or bytes and floats.
void build_histograms(device::Device& device, Kernels which) {
  const binning::Plan floats(Bins::even(0, 1, 256), DType::float32);
  binning::DeviceHistogram(device, {&floats}, 1 << 28);
  binning::DeviceHistogram(device, {nullptr, 3}, 1 << 28);
  device.compile(device::assemble(device.language(), {{"ladder/histogram/ladder.cl"}, {{"GROUP", "256"}, {"BINS", "256"}}}));
  if (which == Kernels::few) return;
  for (const DType type : {DType::uint8, DType::uint16, DType::int32, DType::uint64, DType::float32, DType::float64}) {
    for (const std::uint64_t count : {256, 20000, 1 << 20}) {
      const binning::Plan even(Bins::even(0, 1 << 30, count), type);
      binning::DeviceHistogram(device, {&even}, 1 << 28);
      if (even.by_value()) break;
    }
    if (size_of(type) <= 2) continue;
    for (const std::uint64_t count : {100, 20000}) {
      std::vector<double> edges(count + 1);
      for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = static_cast<double>(i * i);
      const binning::Plan uneven(Bins::between(edges), type);
      binning::DeviceHistogram(device, {&uneven}, 1 << 28);
    }
  }
  for (const std::uint32_t channels : {1, 2, 3, 4}) binning::DeviceHistogram(device, {nullptr, channels}, 1 << 28);
}

// Cells of several axes, and tiles: every kind of element and guess; or doubles.
void build_cells(device::Device& device, Kernels which) {
  for (const DType type : {DType::uint8, DType::float16, DType::int32, DType::uint64, DType::float32, DType::float64}) {
    if (which == Kernels::few && type != DType::float64) continue;
    for (const Bins& bins : {Bins::even(0, 1 << 20, 256), Bins::between({0, 1e-3, 1, 1e9})}) {
      const binning::Plan plan(bins, type);
      const binning::DevicePlan on_device(device, plan);
      device::build(device, binning::DeviceCells::source(on_device), "histogram_cells");
      device::build(device, binning::tiles_source(on_device, type != DType::int32), "histogram_tiles");
      const groups::Indexing indexing = binning::index_of_samples(on_device);
      if (device.info().has(Capability::int64_atomics)) {
        for (const bool fields : {false, true}) {
          device::build(device, groups::index_sums_source({.type = DType::float32, .index = type, .fields = fields}, &indexing),
                        "sums_by_index");
        }
      }
      if (plan.by_value()) break;
    }
  }
}

void build_gathers(device::Device& device) {
  for (const DType type : {DType::uint8, DType::float16, DType::float32, DType::float64}) {
    for (const bool narrow : {true, false}) device::build(device, device::gather_source(type, narrow), "gather");
  }
}

constexpr std::uint64_t kComponents[] = {1, 3, 7, 2, 16, 4, 64};  // of vectors, for pairs

// Every function, reduction and accuracy of pairs, and a formula, with numbers of components chosen cyclically; and the textbook's. Or one
// function of them.
void build_pairs(device::Device& device, Kernels which) {
  const std::vector<double> values(64 * 64, 1.0);
  unsigned turn = 0;
  all_pairs::Problem problem;
  problem.a = problem.b = values.data();
  problem.factor = -1;
  problem.x_count = problem.y_count = 64;
  constexpr int kFormula = 6, kReductions = 5;
  for (int f = which == Kernels::all ? 0 : kFormula; f <= kFormula; ++f) {
    for (int what = 0; what < kReductions + 2; ++what, ++turn) {
      problem.type = turn % 2 == 0 ? DType::float32 : DType::float64;
      problem.f = f == kFormula ? PairFunction::product : static_cast<PairFunction>(f);
      problem.reduction = static_cast<PairReduction>(std::max(what - 2, 0));
      problem.accuracy = static_cast<PairAccuracy>(std::min(what, 2));
      problem.components = kComponents[turn % std::size(kComponents)];
      problem.extras = turn % 3 == 1 ? 1 : 0;
      problem.of_y = values.data();
      if (f == kFormula) {
        PairsProblem own{.components = problem.components, .formula = Formula("exp(-sqdist(a, b)/h)*tanh(a[0])", FormulaMath::fixed)};
        if (problem.extras != 0) own = {.components = problem.components, .weights = Array(values), .formula = Formula("w*dot(a, b) < h")};
        own.parameters = {{"h", 0.5}};
        problem.formula = std::make_shared<const all_pairs::PairFormula>(all_pairs::bind(own, problem.type, problem.type));
      }
      all_pairs::DevicePairs(device, problem, {});
    }
    ++turn;
  }
  problem = {DType::float32};
  problem.a = problem.b = values.data();
  problem.x_count = problem.y_count = 64;
  for (const std::string_view name : all_pairs::textbook_variants()) {
    if (which == Kernels::few && name != all_pairs::textbook_variants().front()) break;
    for (const int f : {0, static_cast<int>(1 + ++turn % 5)}) {  // sums of products, and another function, reduction and size in turn
      problem.f = static_cast<PairFunction>(f);
      problem.reduction = f == 0 ? PairReduction::sum : static_cast<PairReduction>(turn % 5);
      problem.components = f == 0 ? 1 : 1 + turn % 3;
      all_pairs::TextbookPairs(name, device, problem, {});
    }
    problem.components = 1 + turn % 2;
    problem.f = static_cast<PairFunction>(turn % 4);
    problem.type = turn % 3 == 0 ? DType::uint64 : DType::int64;  // values are as many bytes as doubles
    all_pairs::TextbookPairs(name, device, problem, {});
    problem.type = DType::float32;
  }
}

// Which are the ones that are measured.
void build_fast_sums_of_pairs(device::Device& device) {
  const std::vector<double> values(64 * 64, 1.0);
  all_pairs::Problem problem = {DType::float32};
  problem.a = problem.b = values.data();
  problem.x_count = problem.y_count = 64;
  for (const std::uint64_t components : kComponents) {
    problem.components = components;
    for (const PairFunction f : {PairFunction::product, PairFunction::gaussian, PairFunction::sqdist}) {
      problem.f = f;
      all_pairs::DevicePairs(device, problem, {});
    }
  }
}

// Pairs reduced by the tree and the k smallest, of every type, or of doubles; with A and B in host memory, and as plans have them.
void build_pairs_of_nodes(device::Device& device, Kernels which) {
  const std::vector<double> values(64 * 8, 1.0);
  const auto build = [&](const PairsProblem& wanted, DType type) {
    const Array vectors(values.data(), 64 * wanted.components, type);
    all_pairs::Problem problem = all_pairs::checked(vectors, vectors, wanted);
    problem.a = problem.b = nullptr;
    all_pairs::on_device(device, problem, {});
  };
  const Formula vector("let d = a - b; d/(sqdist(a, b) + s)");
  Operator op(Formula("(b[0] > a[0] ? b[0] : a[0], a[1] + b[1]*h)"), {}, {{"h", 0.5}});
  op.finish = Formula("a[1]/h + a[0]");
  for (const DType type : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    if (!is_of(which, type)) continue;
    build({.f = PairFunction::gaussian, .reduction = PairReduction::product, .components = 3}, type);
    build({.f = PairFunction::sqdist, .reduction = PairReduction::logsumexp}, type);
    build({.accuracy = PairAccuracy::compensated, .components = 3, .formula = vector, .parameters = {{"s", 0.5}}}, type);
    build({.components = 3, .formula = vector, .parameters = {{"s", 0.5}}}, type);
    build({.reduction = PairReduction::argmax, .components = 8, .formula = Formula("a*b")}, type);
    build({.formula = Formula("(a[0]*b[0], float64(1))"), .combine = op}, type);
    build({.f = PairFunction::sqdist, .reduction = PairReduction::smallest, .components = 3, .k = 5}, type);
    build({.reduction = PairReduction::argsmallest, .formula = Formula("abs(a - b)"), .k = 50}, type);
    if (size_of(type) != 2) continue;
    build({.f = PairFunction::sqdist, .components = 3}, type);
    build({.accuracy = PairAccuracy::exact}, type);
    build({.reduction = PairReduction::argmin, .components = 2, .formula = Formula("sqdist(a, b)")}, type);
  }
  for (const DType type : {DType::int8, DType::uint16, DType::uint32, DType::int64, DType::uint64}) {
    if (which == Kernels::few) break;
    for (const PairReduction reduction : {PairReduction::sum, PairReduction::product, PairReduction::argmin, PairReduction::smallest}) {
      build({.f = PairFunction::sqdist, .reduction = reduction, .components = 2, .k = 16}, type);
    }
    build({.combine = Operator(Formula("gcd(a, b)"))}, type);
  }
}

// A source is compiled whole, whichever of its kernels is asked for.
void build_scans(device::Device& device, Kernels which) {
  const auto build = [&](prefix::DeviceScan scan) {
    if (scan.wide) {
      scan.items = 8;
      scan.segments = !scan.columns;
    }
    device::build(device, prefix::scan_source(scan), scan.columns ? "column_prefixes" : "scan_prefixes");
    const auto once = prefix::scan_once(scan, device.info());
    if (once) device::build(device, prefix::scan_source(*once), "scan_once");
  };
  for (const DType type : kDTypes) {
    if (!prefix::device_scans(ScanOperation::sum, type, 1, device.info()) || !is_of(which, type)) continue;
    for (const bool segments : {false, true}) build({.type = type, .segments = segments});
    build({.operation = ScanOperation::min, .type = type});
    build({.operation = ScanOperation::count_nonzero, .type = type, .skip = true, .segments = true});
    if (is_integer(type)) continue;
    for (const bool wide : {false, true}) {
      build({.type = type, .float32 = true, .wide = wide});
      build({.type = type, .skip = true, .wide = wide});
      build({.type = type, .wide = wide, .columns = true});
    }
  }
}

void build_axes(device::Device& device, Kernels which) {
  if (!device.info().has(Capability::fp64)) return;
  for (const DType type : kDTypes) {
    if (!is_of(which, type)) continue;
    if (!is_integer(type) || size_of(type) < 8) device::build(device, groups::dots_source(type, device.info()), "dots_tiles");
    for (const bool skip : {false, true}) {
      if (skip && (is_integer(type) || which == Kernels::few)) continue;
      device::build(device, groups::axes_source(type, {.skip = skip}), "axes");
      for (const AxisReduction what :
           {AxisReduction::norm, AxisReduction::variance, AxisReduction::max, AxisReduction::argmin, AxisReduction::count_nonzero}) {
        if ((!stands_for_others(type) || skip) && what != AxisReduction::variance && what != AxisReduction::argmin) continue;
        if (!groups::reduces_on_device(what, type, 2, device.info())) continue;
        device::build(device, groups::axes_source(type, {.what = what, .skip = skip}), "axes");
      }
      device::build(device, groups::axes_exact_source(type, {.skip = skip}), "axes_exact");
      device::build(device, groups::segments_source(type, {.skip = skip}), "segments");
    }
  }
}

void build_sums_by_index(device::Device& device, Kernels which) {
  if (!device.info().has(Capability::int64_atomics)) return;
  device::build(device, groups::samples_source({}), "index_changes");
  for (const DType type : kDTypes) {
    if (!is_of(which, type)) continue;
    const bool squares = stands_for_others(type);
    for (const bool counts : {false, true}) device::build(device, groups::digits_source({.type = type, .counts = counts}), "round_sums");
    device::build(device, groups::index_sums_source({.type = type, .index = DType::int64, .squares = squares}), "sums_by_index");
    if (!squares) continue;
    if (which == Kernels::few) {
      device::build(device, groups::index_sums_source({.type = type, .index = DType::int32, .runs = true, .group_size = 256}),
                    "sums_by_runs");
      continue;
    }
    device::build(device, groups::index_sums_source({.type = type, .index = DType::uint16, .counts = false}), "sums_by_index");
    device::build(device, groups::index_sums_source({.type = type, .segments = true, .runs = true, .counts = false, .group_size = 256}),
                  "sums_by_runs");
    for (const bool segments : {false, true}) {
      device::build(device,
                    groups::index_sums_source(
                        {.type = type, .segments = segments, .runs = segments, .extrema = true, .group_size = segments ? 256u : 512u}),
                    segments ? "sums_by_runs" : "sums_by_index");
    }
    device::build(device, groups::index_sums_source({.type = type, .index = DType::int32, .runs = true, .group_size = 256}),
                  "sums_by_runs");
    if (size_of(type) == 8) continue;
    for (const bool more : {false, true}) {
      const groups::IndexSums what{.type = type, .index = DType::int32, .fields = true, .counts = more, .squares = more, .extrema = more};
      device::build(device, groups::index_sums_source(what), "sums_by_index");
    }
  }
}

// A map with every operation.
void build_formulas(device::Device& device) {
  const Formula formula(
      "(x + 1, x - y, x/3, x % 0.7, -x, abs(x), floor(x), ceil(x), trunc(x), round(x), rsqrt(x), min(x, 2), max(x, y), fma(x, x, 1), x^5, "
      "x^0.5, exp(x), log(y), log1p(x),"
      " expm1(y), sin(x), cos(y), tan(x), tanh(y), atan2(x, y), hypot(x, x), isnan(x) || x < y && x <= 1, xor(n, ~n) | n & i, clz(u), "
      "popcount(n), gcd(n, m), gcd(u, u),"
      " mulmod(m, m, n), mulmod(u, u, u), m % n, u % u, m/n, u/u, m << n, u << u, m >> n, u >> u, m*m - m + -n, u*u - u + -u, abs(m), "
      "uint64(m), int64(u), int64(x), uint64(x),"
      " int64(y), uint64(y), float32(y), select(m > 0 && m/n == 3, m + 1, n*n), min(m, n), max(u, u), h*x, float64(h)*y, k*m)");
  const std::vector<double> place(1);
  const auto of = [&](DType type) { return Array(place.data(), 1, type); };
  const std::vector<FormulaInput> inputs{
      {"x", of(DType::float32)}, {"y", of(DType::float64)}, {"n", of(DType::int8)}, {"m", of(DType::int64)}, {"u", of(DType::uint64)}};
  const formula::Program program = formula::resolve(formula.tree(), inputs, {{"h", 0.5}, {"k", 2}});
  std::vector<DType> types;
  for (const formula::InputComponent& input : program.inputs) types.push_back(inputs[input.input].array.type());
  device::build(device, formula::map_source(program, types), "map");
  const Formula functions("(exp2(x), log2(y), log10(x), cbrt(y), sinh(x), cosh(y), asin(x), acos(y), atan(x), erf(y), erfc(x), sign(x))");
  const DType wide[] = {DType::float32, DType::float64};
  device::build(device, formula::map_source(formula::resolve(functions.tree(), inputs, {}), wide), "map");
  const formula::Program halves = formula::resolve(Formula("x*n").tree(), {{"x", of(DType::float16)}, {"n", of(DType::bfloat16)}}, {});
  const DType narrow[] = {DType::float16, DType::bfloat16};
  device::build(device, formula::map_source(halves, narrow), "map");
  // As terms of reductions, with all ways to read an array, and as leaves of operators.
  using formula::Reading;
  const auto term = [&](const char* text, const std::vector<FormulaInput>& of_term, std::vector<Reading> readings, const Fields& fields) {
    const formula::Program one = formula::resolve(Formula(text).tree(), of_term, {{"h", 0.5}});
    std::vector<DType> read;
    for (const formula::InputComponent& input : one.inputs) read.push_back(of_term[input.input].array.type());
    const statistics::TermCode code = formula::term_code(one, read, readings);
    for (const int power : {12, 28})
      statistics::DevicePass(device, code, statistics::collect_options(fields, {}), std::uint64_t{1} << power);
  };
  const FormulaInput x{"x", of(DType::float32)}, z{"z", of(DType::float64)}, n{"n", of(DType::int8)}, m{"m", of(DType::int64)};
  term("(x - h)*(x - h)", {x}, {Reading::loads}, statistics::kSumAlone);
  term("exp(-z*z)*x", {x, z}, {Reading::loads, Reading::strided}, statistics::kSumAlone);
  term("x*z + i", {x, z}, {Reading::loads, Reading::rows}, {true, true, true, true});
  term("12/n + m", {n, m}, {Reading::loads, Reading::strided}, {false, true, true, false});
  term("x > h", {x}, {Reading::loads}, {true, true, false, false});
  // As samples of histograms and factors of products.
  const auto counted = [&](const char* text, const FormulaInput& input, Reading reading) {
    const formula::Program one = formula::resolve(Formula(text).tree(), {input, z}, {{"h", 0.5}});
    std::vector<DType> read;
    for (const formula::InputComponent& use : one.inputs) read.push_back((use.input == 0 ? input : z).array.type());
    const statistics::TermCode code = formula::term_code(one, read, std::vector<Reading>(read.size(), reading));
    for (const std::uint64_t bins : {256, 20000, 1 << 20}) {
      const binning::Plan plan(Bins::even(0, 1 << 30, bins), code.type);
      binning::DeviceHistogram(device, {&plan}, 1 << 28, 0, &code);
      if (plan.by_value()) break;
    }
    device::build(device, selection::select_source(code.type, 256, 2, false, &code), "select_keys");
    if (is_integer(code.type)) {
      product_tree::IntegerProducts(device, code, {});
    } else {
      product_tree::DeviceProduct(device, code.type, false, {}, &code);
    }
  };
  counted("x*h", x, Reading::loads);
  counted("x*z", x, Reading::rows);
  counted("12/n", n, Reading::strided);
  counted("x > h", x, Reading::loads);
  const formula::Program leaf = formula::resolve(Formula("(x, x*z)").tree(), {x, z}, {});
  const Operator op{Formula("(a[0] + b[0], max(a[1], b[1]))")};
  const DType states[] = {DType::float32, DType::float64}, leaves[] = {DType::float32, DType::float32, DType::float64};
  const formula::Bound bound(op, states);
  const auto some = std::span(leaves).last(leaf.inputs.size());
  device::build(device, formula::tree_source(leaf, some, std::vector<bool>(some.size(), true), bound.program(), bound.types(), {256, 2, 4}),
                "tree");
  // Along axes, of elements and of states.
  const DType apart[] = {DType::float16, DType::float64};
  device::build(device, groups::level_source(bound, apart), "tree_level");
  device::build(device, groups::level_source(bound, {}), "tree_level");
  // By key and by segment.
  for (const bool sorted : {false, true}) device::build(device, groups::lists_source(bound, {apart, sorted, false}), "tree_of_lists");
  device::build(device, groups::lists_source(bound, {}), "tree_of_lists");
  const Operator pick{Formula("(a[0] >= b[0] ? a[0] : b[0], a[0] >= b[0] ? a[1] : b[1])")};
  const DType keyed[] = {DType::uint64, DType::int64};
  const formula::Bound positions(pick, keyed);
  device::build(device, groups::lists_source(positions, {std::span(keyed).first(1), true, true}), "tree_of_lists");
  for (const DType key : {DType::uint32, DType::uint64}) device::build(device, groups::sort_source(device.info(), key), "run_numbers");
  // Of plans.
  Operator finished = op;
  finished.finish = Formula("(a[0]/2, a[1], a[0] > a[1])");
  formula::PlannedOperator(
      samesum::Device(std::shared_ptr<device::Device>(&device, [](device::Device*) {})),
      std::make_shared<const formula::BoundMap>(Formula("(x, x*z)"), std::vector{x, z}, std::vector<FormulaParameter>(), finished, 1000),
      1000, 1000);
  // In any order.
  const formula::Program integers = formula::resolve(Formula("(n, n, x)").tree(), {n, x}, {});
  const Operator in_any_order{Formula("(gcd(a[0], b[0]), a[1]*b[1] % 1000003, min(a[2], b[2]))")};
  const DType three[] = {DType::int8, DType::int8, DType::float32}, two[] = {DType::int8, DType::float32};
  const formula::Bound fold(in_any_order, three);
  device::build(
      device,
      formula::tree_source(integers, two, {false, true}, fold.any_order()->program, fold.types(), {256, 2, 4}, fold.any_order()->unit),
      "fold");
}

}  // namespace

void build_every_kernel(device::Device& device, Kernels which) {
  device::check_conformance(device);
  build_gathers(device);
  build_axes(device, which);
  build_sums_by_index(device, which);
  build_scans(device, which);
  build_formulas(device);
  device::build(device, bench::ceiling_source(256), "read_nothing");
  device::build(device, bench::atomics_source(256), "add_global");
  for (const DType type : kDTypes) {
    if (!is_of(which, type)) continue;
    for (const std::uint64_t elements : {1u << 10, 1u << 28}) {
      reduction::DeviceSum sum(device, type, {}, elements);
      if (which == Kernels::all) sum.launch({device.allocate(64), 4, 16, 0});  // builds the kernel for strides
    }
  }
  for (const DType type : {DType::float32, DType::float64, DType::int8, DType::uint32, DType::int64}) {
    for (const std::string_view variant : reduction::textbook_variants()) {
      if (!reduction::why_no_textbook(variant, device.info(), type).empty()) continue;
      reduction::TextbookSum(variant, device, type, device.allocate(64 * 64 * 8), 64, 64, {});
    }
  }
  for (const DType type : kDTypes) {
    if (!is_of(which, type)) continue;
    statistics::CollectOptions all;
    all.fields.nonzeros = true;
    statistics::DevicePass(device, type, all, false, 1 << 28);
    planning::Recorder(device, type, all.fields);
    for (const std::uint64_t elements : {1u << 10, 1u << 14, 1u << 16, 1u << 20, 1u << 28}) {
      if (elements != 1u << 28 && size_of(type) != 4) continue;
      statistics::DevicePass(device, type, {{true, false, false, false}}, false, elements);
    }
    if (is_integer(type)) {
      product_tree::PlannedIntegers(device, type, {});
    } else {
      product_tree::PlannedFloats(device, type, false, {}, 1);
    }
    device::build(device, selection::lists_source(type, 256, false), "select_lists");
    device::build(device, groups::sort_keys_source(type), "element_keys");
    if (which == Kernels::few) continue;
    for (const std::uint64_t elements : {1u << 12, 1u << 28}) {
      statistics::DevicePass products(device, type, {{false, false, true, false}}, true, elements);
      if (elements < 1 << 28) products.launch({device.allocate(64), 4, 16, 0}, {device.allocate(64), 4, 16, 0});  // for strides
    }
    statistics::DevicePass(device, type, {{false, false, true, false}}, false, 1 << 12);
    device::build(device, product_tree::product_source(type, false, 256, 8), "product");
    for (const bool strided : {false, true}) device::build(device, selection::select_source(type, 256, 4, strided, nullptr), "select_keys");
  }
  if (which == Kernels::few) {
    for (const DType type : {DType::float32, DType::float64})
      statistics::DevicePass(device, type, {{false, false, true, false}}, true, 1 << 12);
  }
  for (const DType type : {DType::float32, DType::float64}) {
    for (const bool products : {false, true}) device::build(device, nccl::words_source(type, products), "words_add");
  }
  for (const DType type : {DType::float16, DType::float32, DType::float64})
    device::build(device, element_words_source(type, 2, 256), "words_of_elements");
  build_barriers(device);
  build_histograms(device, which);
  build_fast_sums_of_pairs(device);
  build_cells(device, which);
  build_pairs(device, which);
  build_pairs_of_nodes(device, which);
}

}  // namespace samesum::test
