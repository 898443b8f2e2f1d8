// Quantiles for each group of rows of a table.
#include "group/by.hpp"
#include "group/group_table.hpp"
#include "group/keyed.hpp"
#include "output/number.hpp"

#include <samesum/by.hpp>
#include <samesum/device.hpp>

#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace samesum::cli {

int run_quantiles_by(Output& out, const Input& input, const std::vector<double>& q, const std::vector<std::string>& names,
                     const QuantileRule& rule, const ResultOptions& result) {
  check_by(input, "auto", result.plain);
  const auto start = std::chrono::steady_clock::now();
  const Keyed all(input);
  const Options options = {.nan = result.nan_policy(), .device = Device::open("cpu"), .tuning = {.threads = input.threads}};
  const Values found = quantiles(all.numbers(), q, all.by(), rule, options);
  const Values counts = count(all.numbers(), all.by(), options);
  const auto count_of = [&](std::size_t group) {
    const std::optional<std::uint64_t> number = all.number_of(group);
    return number ? counts.as<std::uint64_t>()[*number] : 0;
  };
  // Nothing of a group without a number.
  const auto at = [&](std::size_t group, std::size_t, std::size_t i) {
    return count_of(group) == 0 ? std::nullopt : std::optional(number_at(found, i * all.by().groups() + *all.number_of(group)));
  };
  const GroupTable table{all.rows().keys, all.rows().key_names, {all.column()}, names, all.sorted(), all.missing(), at};
  if (result.json) {
    Json object = {{"by", all.rows().key_names}, {"method", name_of(rule.method)}, {"groups", Json::array()}};
    for (const std::size_t group : table.order()) {
      Json& one = object["groups"].emplace_back();
      one["key"] = all.rows().keys[group];
      one["count"] = count_of(group);
      one["quantiles"] = Json::array();
      for (std::size_t i = 0; i < q.size(); ++i) {
        Json& entry = one["quantiles"].emplace_back(Json{{"q", q[i]}});
        if (const std::optional<Number> number = at(group, 0, i)) {
          number->add_to(entry);
        } else {
          entry["value"] = nullptr;
        }
      }
    }
    object["missing"] = all.missing();
    out.print("{}\n", to_text(object));
  } else {
    table.print_rows(out, result);
  }
  if (result.verbose) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string numbers = counted(all.numbers().size(), "number"), groups = counted(all.rows().keys.size(), "group");
    out.note(fmt::format("{} in {}, cpu, {}", numbers, groups, duration(seconds)));
  }
  return kExitOk;
}

}  // namespace samesum::cli
