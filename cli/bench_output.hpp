// What was measured, as tables and as JSON.
#pragma once

#include "number.hpp"
#include "output.hpp"

#include <samesum/bench.hpp>

#include <string>

namespace samesum::cli {

void print(Output& out, const bench::Ladder& ladder, const std::string& data);
void print(Output& out, const bench::Ceiling& ceiling);

Json json_of(const bench::Ladder& ladder, const std::string& data);
Json json_of(const bench::Ceiling& ceiling);

}  // namespace samesum::cli
