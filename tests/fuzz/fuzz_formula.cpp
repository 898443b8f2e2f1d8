// Formulas from texts of any kind: nothing but Error may come out of them, the canonical form is the same formula, values do not depend on
// how blocks are cut nor on what is known of the ranges of integers, and what is printed for kernels has no word of the text.
#include "formula/bound.hpp"
#include "formula/cpu/evaluate.hpp"
#include "formula/print.hpp"
#include "formula/syntax.hpp"
#include "support/fuzz.hpp"
#include "support/random_formula.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace samesum {
namespace {

using hard::Random;

// clang-format off
constexpr std::string_view kWords[] = {
    "x", "y", "n", "m", "u", "h", "k", "i", "pi", "e", "nan", "inf", "true", "false", "+", "-", "*", "/", "%", "^", "(", ")", "(", ")",
    "[", "]", ",", ";", "?", ":", "<", ">", "<=", "==", "!=", "&&", "||", "&", "|", "~", "!", "<<", ">>", "=", "let", "min", "sqrt",
    "exp", "gcd", "select", "fma", "mulmod", "int64", "uint64", "float32", "dot", "1", "2", "0", "64", "1.5", "1e400", "0x", "0xff",
    "9223372036854775808", "18446744073709551616", "1e", ".", "\"", "'", "\\", "#", "$", "\n", "\t", " ", "\xc3\xa9", "\xff", "//", "/*",
    "let a = x; ", "a", "z", "complex", "real", "imag", "conj", "abs2", "arg", "% 1000003", "/7", "% 4294967296"};
// clang-format on

std::string some_text(Random& random) {
  test::RandomFormula make(random);
  std::string text;
  switch (random.below(4)) {
    case 0:
      for (std::uint64_t k = random.below(40); k-- > 0;) text += kWords[random.below(std::size(kWords))];
      return text;
    case 1:
      for (std::uint64_t k = random.below(60); k-- > 0;) text += static_cast<char>(random.bits(8));
      return text;
    default:
      text = random.below(2) == 0   ? make.floating(random.between(0, 4))
             : random.below(2) == 0 ? make.integer(random.between(0, 3))
                                    : make.condition(random.between(0, 3));
      if (random.below(4) == 0)
        text = "let a = " + text + "; (a, a*h" + (random.below(2) == 0 ? "" : ", x)[2") + (text.empty() || text.back() == ')' ? ")" : "]");
      if (random.below(2) == 0) return text;
      for (std::uint64_t k = 1 + random.below(4); k-- > 0 && !text.empty();) {
        const std::size_t at = random.below(text.size());
        if (random.below(3) == 0) {
          text.erase(at, 1 + random.below(5));
        } else {
          text.insert(at, kWords[random.below(std::size(kWords))]);
        }
      }
      return text;
  }
}

void check_message(const Error& error, std::string_view text) {
  const std::string_view message = error.what();
  if (message.empty() || message.size() > 2000) throw test::Mismatch(fmt::format("a message of {} bytes for '{}'", message.size(), text));
  for (const char c : message) {
    if (c != '\n' && (c < ' ' || c > '~')) {
      throw test::Mismatch(fmt::format("byte {} in the message for '{}'", static_cast<int>(c), text));
    }
  }
}

// Integers that need no check, or have a narrow form, have the values of those that are checked.
void check_ranges(const formula::Program& program, const std::vector<FormulaInput>& inputs, const std::vector<Value>& parameters,
                  const std::string& text) {
  formula::Program general = program;
  for (formula::Node& node : general.nodes) {
    node.narrow = false;
    node.checked = node.operands != 0 && formula::is_integer(node.type);
    node.may_fail = node.checked;
    for (std::size_t k = 0; k < node.operands; ++k) node.may_fail |= general.nodes[node.from[k]].may_fail;
  }
  general.may_fail = true;
  const std::vector<std::uint64_t> shape = shape_of(inputs);
  std::vector<formula::Column> columns;
  for (const formula::InputComponent& use : program.inputs) {
    const Array array = formula::component_of(inputs[use.input], use.component, shape);
    columns.push_back({static_cast<const std::byte*>(array.data()), array.type(), array.stride()});
  }
  const std::size_t count = shape.empty() ? 1 : shape[0];
  formula::Evaluator one(program, parameters), other(general, parameters);
  const auto failed = one.run(columns, 0, count), also = other.run(columns, 0, count);
  // Where all is checked, a number that came of a failure may fail again, in an operation that no other number can reach.
  if (failed.has_value() != also.has_value() || (failed && (failed->position != also->position || (failed->faults & ~also->faults) != 0)))
    throw test::Mismatch(fmt::format("'{}' fails with its ranges or without, but not both", text));
  if (failed) return;
  for (std::size_t r = 0; r < program.results.size(); ++r) {
    const formula::Scalar type = program.nodes[program.results[r]].type;
    std::vector<std::uint64_t> a(count), b(count);
    std::memcpy(a.data(), one.results()[r], count * formula::bytes_of(type));
    std::memcpy(b.data(), other.results()[r], count * formula::bytes_of(type));
    formula::canonical(type, a.data(), count);
    formula::canonical(type, b.data(), count);
    if (a != b) throw test::Mismatch(fmt::format("'{}' has other values with its ranges", text));
  }
}

void check(Random& random, const std::string& text) try {
  const Formula formula(text);
  const std::string canonical = formula.to_string();
  if (canonical.size() <= formula::kMaxCharacters && Formula(canonical).to_string() != canonical)
    throw test::Mismatch(fmt::format("'{}' is printed as '{}'", text, canonical));

  float x[3];
  double y[3];
  std::int32_t n[3];
  std::int64_t m[3];
  std::uint64_t u[3];
  float z[6];
  for (int k = 0; k < 3; ++k) {
    x[k] = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    y[k] = std::bit_cast<double>(random.bits());
    n[k] = static_cast<std::int32_t>(random.bits(random.between(1, 32)));
    m[k] = static_cast<std::int64_t>(random.bits(random.between(1, 64)));
    u[k] = random.bits(random.between(1, 64));
    z[2 * k] = x[k];
    z[2 * k + 1] = static_cast<float>(n[k]);
  }
  const auto inputs = [&](std::size_t first, std::size_t count) -> std::vector<FormulaInput> {
    return {{"x", Array(x + first, count, DType::float32)}, {"y", Array(y + first, count, DType::float64)},
            {"n", Array(n + first, count, DType::int32)},   {"m", Array(m + first, count, DType::int64)},
            {"u", Array(u + first, count, DType::uint64)},  {"z", ComplexArray(Array(z + 2 * first, {count, 2}, DType::float32))}};
  };
  const std::vector<FormulaParameter> parameters{{"h", 0.75}, {"k", 5}};
  const formula::Program program = formula::resolve(formula.tree(), inputs(0, 3), parameters);
  if (program.nodes.size() > formula::kMaxOperations) throw test::Mismatch("too many operations");
  const std::string printed = formula::print(program, "f");
  for (const char c : printed) {
    if (c != '\n' && (c < ' ' || c > '~' || std::string_view("\"'\\#`$@").find(c) != std::string_view::npos))
      throw test::Mismatch(fmt::format("printed: {}", printed));
  }
  check_ranges(program, inputs(0, 3), formula::values_of(parameters), text);
  const auto values = [&](std::size_t first, std::size_t count) {
    std::vector<std::vector<std::uint64_t>> memory;
    std::vector<Array> results;
    for (const std::uint32_t result : program.results) {
      memory.emplace_back(count);
      results.emplace_back(memory.back().data(), count, formula::dtype_of(program.nodes[result].type));
    }
    map(formula, inputs(first, count), parameters, results);
    return memory;
  };
  const auto all = values(0, 3);
  if (program.uses_index) return;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto one = values(k, 1);
    for (std::size_t r = 0; r < one.size(); ++r) {
      const std::size_t bytes = size_of(formula::dtype_of(program.nodes[program.results[r]].type));
      if (std::memcmp(one[r].data(), reinterpret_cast<const char*>(all[r].data()) + k * bytes, bytes) != 0)
        throw test::Mismatch(fmt::format("'{}' at {}", text, k));
    }
  }
} catch (const Error& error) {
  check_message(error, text);
}

}  // namespace
}  // namespace samesum

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samesum::hard::Random random(size);
  samesum::check(random, std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef SAMESUM_LIBFUZZER
int main(int argc, char** argv) {
  return samesum::test::fuzz("fuzz_formula", argc, argv, [](samesum::hard::Random& random) {
    const std::string text = samesum::some_text(random);
    samesum::check(random, text);
  });
}
#endif
