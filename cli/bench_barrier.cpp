// samesum bench barrier
#include "bench.hpp"
#include "number.hpp"
#include "output.hpp"

#include <samesum/bench_barrier.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <memory>

namespace samesum::cli {
namespace {

struct BarrierBench {
  std::string device = "auto";
  std::vector<std::uint32_t> group_sizes;
  bench::BarrierLadderOptions ladder;
  bool json = false;
};

std::string verdict(const bench::BarrierRow& row) {
  std::string text(bench::name_of(row.verdict));
  return row.reason.empty() ? text : text + ": " + row.reason;
}

// That no barrier at all gives a wrong result is what its row is there to show.
bool sound(const bench::BarrierRow& row) {
  if (row.verdict == bench::Verdict::failed) return false;
  return row.verdict != bench::Verdict::wrong || row.method == "none";
}

Table::Cell verdict_cell(const bench::BarrierRow& row) {
  return {verdict(row), row.verdict == bench::Verdict::right ? Style::good : sound(row) ? Style::dim : Style::bad};
}

std::string rate(const bench::BarrierRow& row) { return row.seconds.median > 0 ? fmt::format("{:.3f}", 1e-6 / row.seconds.median) : ""; }

void print_rows(Output& out, const std::vector<bench::BarrierRow>& rows, bool checked) {
  Table table(checked ? "<>>>><" : "<>>>><", 2);
  table.add({{"method", Style::bold},
             {"groups", Style::bold},
             {"of", Style::bold},
             {"a barrier", Style::bold},
             {"barriers/us", Style::bold},
             {checked ? "check" : "", Style::bold}});
  for (const bench::BarrierRow& row : rows) {
    const bool timed = row.seconds.runs != 0;
    Table::Cell last = checked || row.verdict != bench::Verdict::right ? verdict_cell(row) : Table::Cell("");
    table.add({{row.method, row.method == "best" ? Style::bold : Style::plain},
               std::to_string(row.groups),
               std::to_string(row.group_size),
               timed ? duration(row.seconds.median) : "",
               timed ? rate(row) : "",
               last});
  }
  table.print(out);
}

void print(Output& out, const bench::BarrierLadder& ladder) {
  out.print("{}\n\n", out.dim(fmt::format("device {}, {}", ladder.device.selector, ladder.device.name)));
  out.print("Sums of neighbours: {} elements, {} rounds, two barriers each\n", ladder.items, ladder.rounds);
  print_rows(out, ladder.sums, true);
  if (ladder.shapes.empty()) return;
  out.print("\nBarriers, and nothing between them\n");
  print_rows(out, ladder.shapes, false);
  out.print("\nFinding out how many groups are resident, a launch\n");
  Table table(">>>>>>", 2);
  table.add({{"launched", Style::bold},
             {"found", Style::bold},
             {"known", Style::bold},
             {"the first time", Style::bold},
             {"then", Style::bold},
             {"not at all", Style::bold}});
  for (const bench::Discovery& row : ladder.discovery) {
    table.add({std::to_string(row.launched), std::to_string(row.found), row.known != 0 ? std::to_string(row.known) : "?",
               duration(row.first.median), duration(row.next.median), duration(row.plain.median)});
  }
  table.print(out);
}

Json json_of(const bench::Statistics& figure) {
  return {{"median", figure.median}, {"low", figure.low}, {"high", figure.high}, {"runs", figure.runs}};
}

Json json_of(const std::vector<bench::BarrierRow>& rows) {
  Json list = Json::array();
  for (const bench::BarrierRow& row : rows) {
    Json object = {{"method", row.method},
                   {"groups", row.groups},
                   {"group_size", row.group_size},
                   {"barriers", row.barriers},
                   {"verdict", bench::name_of(row.verdict)},
                   {"reason", row.reason}};
    if (row.seconds.runs != 0) object["seconds_per_barrier"] = json_of(row.seconds);
    list.push_back(std::move(object));
  }
  return list;
}

Json json_of(const bench::BarrierLadder& ladder) {
  Json object;
  object["device"] = {{"selector", ladder.device.selector}, {"name", ladder.device.name}, {"driver", ladder.device.driver}};
  object["elements"] = ladder.items;
  object["rounds"] = ladder.rounds;
  object["neighbour_sums"] = json_of(ladder.sums);
  object["barriers_alone"] = json_of(ladder.shapes);
  object["discovery"] = Json::array();
  for (const bench::Discovery& row : ladder.discovery) {
    object["discovery"].push_back({{"launched", row.launched},
                                   {"found", row.found},
                                   {"known", row.known != 0 ? Json(row.known) : Json(nullptr)},
                                   {"first_seconds", json_of(row.first)},
                                   {"next_seconds", json_of(row.next)},
                                   {"plain_seconds", json_of(row.plain)}});
  }
  return object;
}

int run(Output& out, BarrierBench options) {
  if (!options.group_sizes.empty()) options.ladder.group_sizes = options.group_sizes;
  const Device device = choose_for_bench(options.device);
  options.ladder.progress = StatusLine::show;
  bench::BarrierLadder ladder;
  {
    const StatusLine progress;
    ladder = bench::barrier_ladder(device, options.ladder);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of(ladder)));
  } else {
    print(out, ladder);
  }
  return std::ranges::all_of(ladder.sums, sound) && std::ranges::all_of(ladder.shapes, sound) ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_barrier(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<BarrierBench>();
  CLI::App* command = parent.add_subcommand("barrier", "Ways to wait for all work-groups, side by side: checked, then timed");
  const CLI::Range number(1u, 1u << 30, "number");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--variant", options->ladder.methods, "only this method; may be given again")->take_all()->option_text("NAME");
  command->add_option("--group", options->group_sizes, "work-items of a group; may be given again (default 1024, 256, 64, 32)")
      ->check(number)
      ->take_all()
      ->option_text("N");
  command->add_option("--rounds", options->ladder.rounds, "of neighbour sums (default 500000; on CPUs 200)")
      ->check(number)
      ->option_text("N");
  command->add_option("--runs", options->ladder.runs, "measurements of each (default 3)")->check(number)->option_text("N");
  command->add_flag_callback(
      "--no-shapes", [options] { options->ladder.shapes = false; }, "only the neighbour sums");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum bench barrier                            # every method, every group size
  samesum bench barrier --device opencl:nvidia --group 32 --rounds 10000

Without a barrier ('none') the sums are wrong: that is the point of its row. Exit
code 1 should any other method be wrong.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
