#include "pairs/tree/pair_source.hpp"

#include "formula/print.hpp"
#include "pairs/pairs_formula.hpp"

#include <string>

namespace samesum::all_pairs {

device::Source pair_source(const Problem& problem, std::vector<const formula::Program*> programs) {
  const formula::Scalar real = formula::scalar_of(problem.type);
  device::Source source;
  source.defines = {{"D", std::to_string(problem.components)},
                    {"EXTRAS", std::to_string(problem.extras)},
                    {"REAL", std::string(formula::dialect_name(real))},
                    {"REAL_BYTES", std::to_string(size_of(problem.type))},
                    {"STORED", std::string(formula::stored_name(problem.stored()))},
                    {"LOADED(word)", formula::loaded(problem.stored(), "word")}};
  if (problem.formula != nullptr) programs.push_back(&problem.formula->program);
  source.files = formula::files_of(programs);
  if (problem.formula != nullptr) {
    define(source, *problem.formula);
    source.text = formula::print(problem.formula->program, "formula") +
                  "#define F_RESULT formula_result\n"
                  "FN F_RESULT f_values(const REAL* a, const REAL* b, uint* error F_TAKES) {\n"
                  "  return formula(F_OPERANDS F_PARAMETERS error);\n}\n";
    source.text += problem.formula->program.results.size() == 1 ? "#define F_NUMBER(k) f\n" : "#define F_NUMBER(k) f.r##k\n";
    return source;
  }
  source.defines.insert(source.defines.end(), {{"F", std::to_string(static_cast<int>(problem.f))},
                                               {"WEIGHTED", problem.weighted() ? "1" : "0"},
                                               {"REDUCTION", "0"},
                                               {"KEYED", "0"},
                                               {"UNROLL_COMPONENTS", ""}});
  source.files.insert(source.files.end(), {"pairs/function.h", "pairs/reduction.h"});
  source.text =
      "#define F_RESULT REAL\n#define F_NUMBER(k) f\n"
      "FN REAL f_values(const REAL* a, const REAL* b, uint* error F_TAKES) { return pair_value(a, b F_GIVES); }\n";
  return source;
}

void add_pair_arguments(const Problem& problem, std::vector<device::Argument>& arguments) {
  if (problem.formula != nullptr) {
    const std::vector<device::Argument> own = arguments_of(*problem.formula);
    arguments.insert(arguments.end(), own.begin(), own.end());
    return;
  }
  for (const double value : {problem.factor, problem.softening}) {
    arguments.push_back(problem.type == DType::float32 ? device::Argument(static_cast<float>(value)) : device::Argument(value));
  }
}

}  // namespace samesum::all_pairs
