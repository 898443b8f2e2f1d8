#include "ladder/histogram/bins.hpp"

#include "formula/bound.hpp"
#include "formula/print.hpp"
#include "ladder/resident.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace samesum::bench {
namespace {

constexpr std::uint32_t kGroupSize = 256;

std::vector<std::pair<std::string, std::string>> defines_for(const DeviceInfo& info, std::uint32_t group_size, std::uint64_t bins,
                                                             std::uint32_t registers) {
  const std::uint32_t size = histogram_group_size(info, group_size);
  return {{"GROUP", std::to_string(size)}, {"BINS", std::to_string(bins)}, {"RESIDENT", std::to_string(resident_for(registers, size))}};
}

// bin_of(), and what it needs.
void add_bins(device::Source& source, const Bins& bins, const DeviceInfo& info) {
  const BinFormula& own = *bins.formula();
  if (!own.parameters.empty()) throw Error(ErrorKind::usage, "a ladder's bins are a formula of x alone, without parameters");
  const formula::Program program = formula::resolve(own.formula.tree(), {FormulaInput("x", Array(nullptr, 0, DType::uint8))}, {});
  if (program.results.size() != 1) throw Error(ErrorKind::usage, "a formula of a bin gives one number");
  formula::require_types(program, info);
  const std::vector<std::string_view> files = formula::files_of({&program});
  source.files.insert(source.files.end(), files.begin(), files.end());
  std::string arguments;
  for (const formula::InputComponent& input : program.inputs) arguments += fmt::format("({})x, ", formula::dialect_name(input.type));
  source.text += fmt::format(
      "{}FN uint bin_of(uint x) {{\n  uint error = 0;\n  const user_bin_result bin = user_bin({}&error);\n"
      "  return error == 0 && bin >= 0 && bin < {} ? (uint)bin : {};\n}}\n",
      formula::print(program, "user_bin"), arguments, bins.count(), bins.count());
  source.defines.emplace_back("OWN_BINS", "1");
}

}  // namespace

std::uint32_t histogram_group_size(const DeviceInfo& info, std::uint32_t wanted) {
  device::check_group_size(info, wanted, info.max_group_size);
  return wanted != 0 ? wanted : std::min(kGroupSize, info.max_group_size);
}

device::Source histogram_source(const DeviceInfo& info, std::uint32_t group_size, const Bins* bins, std::uint32_t registers) {
  device::Source source{{}, defines_for(info, group_size, bins != nullptr ? bins->count() : 256, registers)};
  if (bins != nullptr) add_bins(source, *bins, info);
  source.after = {"ladder/histogram/ladder.cl"};
  return source;
}

device::Source own_histogram_source(const std::string& text, const DeviceInfo& info, std::uint32_t group_size, std::uint32_t count,
                                    const Bins* bins, std::uint32_t registers) {
  device::Source source{{}, defines_for(info, group_size, count, registers)};
  if (bins != nullptr) {
    add_bins(source, *bins, info);
    source.text += "#line 1 \"kernel\"\n";
  }
  source.text += text;
  return source;
}

}  // namespace samesum::bench
