// Scans by an operator of the user's own, on the host.
#include "core/float_environment.hpp"
#include "formula/operator/operator_tree.hpp"
#include "scan/place.hpp"
#include "scan/scan.hpp"
#include "scan/tree.hpp"

#include <samesum/error.hpp>

#include <cstring>

namespace samesum {
namespace prefix {
namespace {

// Combines values of a scalar type that has the size of Bits.
template <class Bits>
class OperatorCombiner {
 public:
  explicit OperatorCombiner(const formula::Bound& bound) : bound_(&bound), evaluator_(bound.program(), bound.parameters()) {}

  void combine(const Bits* a, const Bits* b, Bits* to, std::size_t count, std::uint64_t index, std::uint64_t elements) {
    const formula::Scalar type = bound_->types()[0];
    std::vector<formula::Column> columns;
    for (const formula::InputComponent& input : bound_->program().inputs) {
      columns.push_back({reinterpret_cast<const std::byte*>(input.input == 0 ? a : b), formula::dtype_of(type), sizeof(Bits)});
    }
    if (const auto failure = evaluator_.run(columns, 0, count)) {
      throw bound_->failed(formula::name_of_fault(failure->faults), index, elements);
    }
    std::memcpy(to, evaluator_.results()[0], count * sizeof(Bits));
    formula::canonical(type, to, count);
  }

 private:
  const formula::Bound* bound_;
  formula::Evaluator evaluator_;
};

template <class Bits>
void scan_operator(const formula::Bound& bound, const Layout& layout, std::uint32_t threads, Bits* x) {
  const Bits identity = layout.exclusive ? static_cast<Bits>(bound.identity()[0]) : Bits{0};
  std::vector<Bits> line;
  std::vector<OperatorCombiner<Bits>> combiners;
  for_lines(layout, [&](std::uint64_t first, std::uint64_t count, std::uint64_t apart) {
    if (count == 0) return;
    const std::uint64_t leaves = layout.exclusive ? count - 1 : count;
    line.resize(leaves);
    for (std::uint64_t i = 0; i < leaves; ++i) line[i] = x[first + i * apart];
    const std::uint32_t wanted = core::thread_count(leaves * sizeof(Bits) * 16, threads);
    while (combiners.size() < wanted) combiners.emplace_back(bound);
    scan_tree(line.data(), leaves, first, combiners);
    if (layout.exclusive) x[first] = identity;
    Bits* const results = x + first + (layout.exclusive ? apart : 0);
    for (std::uint64_t i = 0; i < leaves; ++i) results[i * apart] = line[i];
  });
}

}  // namespace
}  // namespace prefix

Values scan(const Array& data, const Operator& op, const Scan& what, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  if (op.finish) throw Error(ErrorKind::usage, "an operator of a scan has no formula behind the reduction (Operator::finish)");
  const DType types[] = {data.type()};
  const formula::Bound bound(op, types);
  const prefix::Layout layout = prefix::layout_of(data, what);
  const formula::Scalar type = bound.types()[0];
  if (what.exclusive && op.identity.empty()) {
    throw Error(ErrorKind::usage, "an exclusive scan begins with the identity of its operator: give it one");
  }
  if (what.exclusive) bound.identity();  // checks it
  Values results(formula::dtype_of(type), {data.shape().begin(), data.shape().end()});
  if (results.size() == 0) return results;
  const prefix::HostElements elements(data);
  map(formula::conversion_to(type), {{"x", Array(elements.data(), data.size(), data.type())}}, {},
      {Array(results.data(), data.size(), formula::dtype_of(type))});
  switch (formula::bytes_of(type)) {
    case 1:
      prefix::scan_operator(bound, layout, options.tuning.threads, static_cast<std::uint8_t*>(results.data()));
      break;
    case 4:
      prefix::scan_operator(bound, layout, options.tuning.threads, static_cast<std::uint32_t*>(results.data()));
      break;
    default:
      prefix::scan_operator(bound, layout, options.tuning.threads, static_cast<std::uint64_t*>(results.data()));
  }
  return results;
}

}  // namespace samesum
