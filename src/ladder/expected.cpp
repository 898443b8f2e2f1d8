#include "ladder/expected.hpp"

#include <samesum/error.hpp>
#include <samesum/formula.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace samesum::bench {

std::string why_not_expected(const ExpectedResult& expected, const Array& found) {
  const std::uint64_t size = found.size();
  const Array wanted = expected.values->reshaped({expected.values->size()});
  if (wanted.size() != size) return fmt::format("the kernel leaves {} numbers, and {} are expected", size, wanted.size());
  static const Formula kEqual("a == b || isnan(a) && isnan(b)");
  const Formula& accepts = expected.accepts ? *expected.accepts : kEqual;
  const std::vector<FormulaInput> both = {{"a", found.reshaped({size})}, {"b", wanted}};
  const FormulaDescription gives = accepts.describe(both);
  if (gives.results.size() != 1 || gives.results[0] != DType::uint8) {
    throw Error(ErrorKind::usage, fmt::format("{}: what accepts a result is a condition, such as abs(a - b) <= 1e-3*abs(b)",
                                              accepts.to_string().substr(0, 200)));
  }
  const auto accepted = evaluate<double>(accepts, both);
  const auto bad = std::find(accepted.begin(), accepted.end(), 0.0);
  if (bad == accepted.end()) return {};
  const auto at = static_cast<std::uint64_t>(bad - accepted.begin());
  const auto text = [&](const Array& of) { return fmt::format("{}", evaluate<double>(Formula("x"), {{"x", of.reshaped({size}).part(at, 1)}})[0]); };
  return fmt::format("number {} is {}, and {} is expected", at, text(found), text(wanted));
}

}  // namespace samesum::bench
