// A text as a matrix: its lines are the rows.
#pragma once

#include <samesum/axes.hpp>
#include <samesum/source.hpp>

namespace samesum::cli {

/// Reads a table to its end, of which all columns are read (TextOptions::table). Of one column the result has one axis. All numbers are
/// brought to one type, as Spool::all() does. O(elements) of memory.
/// @throws Error (usage) for a missing number, and for a field that is no number: with its place; and for names in the first line that look
/// like numbers, unless `names_columns`: the user has said that it has names.
Values text_matrix(Source& table, bool integers, bool names_columns);

}  // namespace samesum::cli
