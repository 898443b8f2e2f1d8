// The main loop of a fuzzer: time, seeds, and the line that reproduces a failure.
#pragma once

#include "selftest/cases.hpp"

#include <functional>
#include <stdexcept>

namespace samesum::test {

/// Thrown by a fuzzer's check that fails.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `check` with successive seeds from a random one, for a few seconds; `--seconds N` sets the time, `--seed S` runs only that seed.
/// Other arguments are files, or folders of files, that LLVMFuzzerTestOneInput() takes first: the corpus (tests/fuzz/corpus).
/// Any exception is a failure: it is printed with the line that reproduces it. Returns the exit code.
int fuzz(const char* name, int argc, char** argv, const std::function<void(hard::Random&)>& check);

}  // namespace samesum::test
