// What kernels that only ask for the numbers of f begin with.
#pragma once

#include "device/device.hpp"
#include "device/kernels/program.hpp"
#include "formula/program.hpp"
#include "pairs/problem.hpp"

#include <vector>

namespace samesum::all_pairs {

/// Defines of D, EXTRAS, REAL, STORED and LOADED(word), the type of A and B in memory and a word of it as REAL; and
///
///     FN F_RESULT f_values(const REAL* a, const REAL* b, uint* error F_TAKES)     // F_NUMBER(k): number k of the result `f`
///
/// `b` has D components followed by EXTRAS further elements. F_TAKES and F_GIVES are as in function.h.
///
/// `programs` are those that the caller adds by formula::print().
device::Source pair_source(const Problem& problem, std::vector<const formula::Program*> programs = {});

/// What a kernel takes in place of F_TAKES.
void add_pair_arguments(const Problem& problem, std::vector<device::Argument>& arguments);

}  // namespace samesum::all_pairs
