// The table and the JSON of a round.
#pragma once

#include "peer.hpp"

#include <nlohmann/json_fwd.hpp>

namespace peers {

/// |row.value - exact sum| in units of the last place of the exact sum, rounded to the result's type: at most 0.5 where rounded correctly.
double error_in_ulps(const Row& row, const Problem& problem);

void print_table(const std::vector<Row>& rows, const Problem& problem, const std::string& data);
nlohmann::json to_json(const std::vector<Row>& rows, const Problem& problem, const std::string& data);

}  // namespace peers
