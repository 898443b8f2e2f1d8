// All pairs of the C interface.
#include <samesum/pairs.hpp>

#include "c/formulas.hpp"
#include "c/handles.hpp"

using namespace samesum;
using namespace samesum::c;

namespace samesum::c {
namespace {

// What a name stands for, or the default where there is none.
template <class Named>
Named named(const char* name, Named (*parse)(std::string_view), Named otherwise) {
  return name == nullptr ? otherwise : parse(name);
}

}  // namespace

PairsProblem problem_of(const samesum_pairs_problem& given) {
  PairsProblem problem;
  problem.f = named(given.f, parse_pair_function, problem.f);
  problem.reduction = named(given.reduction, parse_pair_reduction, problem.reduction);
  problem.accuracy = named(given.accuracy, parse_pair_accuracy, problem.accuracy);
  if (given.components != 0) problem.components = given.components;
  problem.complex = given.complex_numbers != 0;
  if (given.h != 0) problem.h = given.h;
  problem.softening = given.softening;
  if (given.weights != nullptr) problem.weights = array_of(given.weights);
  if (given.k != 0) problem.k = given.k;
  if (given.by != nullptr) problem.combine = operator_of(given.by);
  if (given.formula == nullptr) {
    if (given.input_count != 0) refuse("only a formula has inputs");
    return problem;
  }
  if (given.f != nullptr) refuse("there is a formula: 'f' is to be NULL");
  problem.formula.emplace(given.formula);
  Inputs inputs = inputs_of(given.inputs, given.input_count);
  problem.parameters = std::move(inputs.parameters);
  problem.of_y = std::move(inputs.arrays);
  return problem;
}

}  // namespace samesum::c

extern "C" {

samesum_status samesum_pairs(const samesum_array* a, const samesum_array* b, const samesum_pairs_problem* problem,
                             const samesum_options* options, const samesum_array* to) {
  return guard([&] {
    const PairsProblem wanted = problem_of(copy_of(problem, "samesum_pairs_problem"));
    copy(samesum::array_of(pairs(c::array_of(a), c::array_of(b), wanted, options_of(options))), to);
  });
}

}  // extern "C"
