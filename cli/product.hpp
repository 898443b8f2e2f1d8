// Products of inputs, piece by piece.
#pragma once

#include "nodata.hpp"
#include "number.hpp"

#include <samesum/reduce.hpp>

namespace samesum::cli {

Number number_of(const Value& value);

/// Appends a chunk of an input, with 1 for what the filter leaves out: a part at a time where it leaves something out.
void append_in_parts(Array chunk, NodataFilter& filter, Product& product);

}  // namespace samesum::cli
