// The check of a kernel of the user's own by results that the user expects.
#pragma once

#include <samesum/bench.hpp>

#include <string>

namespace samesum::bench {

/// Why `found` is not what is expected, which has values: its first number that is not accepted. Empty where all are.
/// @throws Error (usage) for a formula that does not take these types, or gives no condition.
std::string why_not_expected(const ExpectedResult& expected, const Array& found);

}  // namespace samesum::bench
