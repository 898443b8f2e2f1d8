#include "group/division.hpp"

#include "input/elements.hpp"
#include "output/number.hpp"
#include "output/printable.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace samesum::cli {
namespace {

// Numbers of a text are doubles; a double holds no whole number beyond 2^53 for certain.
std::vector<std::int64_t> whole_numbers(std::span<const double> numbers) {
  std::vector<std::int64_t> whole;
  for (const double number : numbers) {
    if (!(std::abs(number) <= 0x1p53) || std::trunc(number) != number) {
      throw Error(ErrorKind::usage, fmt::format("number {} is {}, not a whole number of up to 2^53", whole.size(), number));
    }
    whole.push_back(static_cast<std::int64_t>(number));
  }
  return whole;
}

}  // namespace

void DivisionOptions::check() const {
  if (!offsets.empty() + !lengths.empty() + !keys.empty() > 1) {
    throw Error(ErrorKind::usage, "--offsets, --lengths and --keys say the same, which elements are a group: leave all out but one");
  }
}

void add_segments(CLI::App& command, DivisionOptions& options) {
  command.add_option("--offsets", options.offsets, "of segments: file of their first indices, and of the end")->type_name("FILE");
  command.add_option("--lengths", options.lengths, "of segments: file of how many elements each has")->type_name("FILE");
}

void add_division(CLI::App& command, DivisionOptions& options) {
  add_segments(command, options);
  command.add_option("--keys", options.keys, "of elements with equal keys: file of an integer for each")->type_name("FILE");
}

By division_by(const DivisionOptions& division, std::uint64_t size) {
  const Elements elements(division.file(), {}, TextAs::numbers);
  const auto divide = [&](const Array& whole) {
    return !division.offsets.empty() ? by_offsets(whole) : !division.lengths.empty() ? by_lengths(whole) : by(whole);
  };
  const Array given = elements.view();
  const auto divide_all = [&] {
    if (given.type() != DType::float64 || elements.format() != "text") return divide(given);
    const std::vector<std::int64_t> whole = whole_numbers({static_cast<const double*>(given.data()), given.size()});
    return divide(Array(std::span<const std::int64_t>(whole)));
  };
  try {
    By by = divide_all();
    if (!division.lengths.empty() && by.elements() != size) {
      throw Error(ErrorKind::usage, fmt::format("they add up to {}, and there are {}", grouped(by.elements()), counted(size, "element")));
    }
    return by;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} {}: {}", division.option(), shown_name(division.file()), error.what()));
  }
}

}  // namespace samesum::cli
