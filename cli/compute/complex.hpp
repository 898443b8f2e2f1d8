// Complex numbers in .npy files: their sums, means, norms and products.
#pragma once

#include "input/input.hpp"
#include "output/output.hpp"
#include "output/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace samesum::cli {

/// Prints the result of `command` (sum, mean, norm or prod) for files of complex numbers, and returns the exit code; no value, and nothing
/// is done, where the first file has other elements or can be read only once. `further`: options are given that complex numbers do not
/// have.
/// @throws Error (usage) for these, and where other files are not complex.
std::optional<int> run_complex(Output& out, std::string_view command, const Input& input, const std::string& device,
                               const ResultOptions& result, const Tuning& tuning, bool further);

}  // namespace samesum::cli
