// The frame of a fuzzer: time, seeds, and the line that reproduces a failure.
#pragma once

#include "selftest/cases.hpp"

#include <functional>
#include <stdexcept>

namespace samesum::test {

/// What a fuzzer's check throws where something is wrong.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `check` with one seed after the other, starting from a random one, for a few seconds; `--seconds N` says how long, `--seed S`
/// runs that one alone. Anything that `check` throws is a failure: it is printed with the line that reproduces it. Returns the exit code.
int fuzz(const char* name, int argc, char** argv, const std::function<void(hard::Random&)>& check);

}  // namespace samesum::test
