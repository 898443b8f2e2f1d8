// samesum bench barrier
#include "bench/bench.hpp"
#include "bench/output.hpp"
#include "kernel/kernel_process.hpp"
#include "kernel/user_kernel.hpp"
#include "output/number.hpp"
#include "output/output.hpp"
#include "usage.hpp"

#include <samesum/bench_barrier.hpp>
#include <samesum/error.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace samesum::cli {
namespace {

struct BarrierBench {
  std::string device = "auto";
  std::vector<std::uint32_t> group_sizes;
  UserKernelOptions kernel;
  bench::BarrierLadderOptions ladder;
  bool json = false;
};

std::string verdict(const bench::BarrierRow& row) {
  std::string text = verdict_name(row.verdict, bench::is_faulty_barrier(row.method));
  return row.reason.empty() ? text : text + ": " + row.reason;
}

// Whether a row is as expected: some methods are expected to be wrong.
bool sound(const bench::BarrierRow& row) {
  if (row.verdict == bench::Verdict::failed) return false;
  return row.verdict != bench::Verdict::wrong || bench::is_faulty_barrier(row.method);
}

Table::Cell verdict_cell(const bench::BarrierRow& row) {
  return {verdict(row), verdict_style(row.verdict, bench::is_faulty_barrier(row.method))};
}

std::string rate(const bench::BarrierRow& row) { return row.seconds.median > 0 ? fmt::format("{:.3f}", 1e-6 / row.seconds.median) : ""; }

// Prints rows as they are measured.
class BarrierPrinter {
 public:
  explicit BarrierPrinter(Output& out) : out_(out) {}

  void print(const bench::BarrierLadder& ladder) {
    if (sums_ == 0) {
      out_.print("{}\n\n", out_.dim(fmt::format("device {}, {}", ladder.device.selector, ladder.device.name)));
      out_.print("Sums of neighbours: {} elements, {} rounds, two barriers each\n", ladder.items, ladder.rounds);
    }
    print_rows(ladder.sums, sums_, true);
    if (shapes_ == 0 && !ladder.shapes.empty()) out_.print("\nBarriers, and nothing between them\n");
    print_rows(ladder.shapes, shapes_, false);
    if (discovery_ == 0 && !ladder.discovery.empty()) {
      out_.print("\nFinding out how many groups are resident, a launch\n");
      Table head = discovery_table();
      head.add_head({"launched", "found", "known", "the first time", "then", "not at all"});
      head.print(out_);
    }
    Table table = discovery_table();
    for (; discovery_ < ladder.discovery.size(); ++discovery_) {
      const bench::Discovery& row = ladder.discovery[discovery_];
      table.add({std::to_string(row.launched), std::to_string(row.found), row.known != 0 ? std::to_string(row.known) : "?",
                 duration(row.first.median), duration(row.next.median), duration(row.plain.median)});
    }
    table.print(out_);
    show_now(out_);
  }

 private:
  static Table discovery_table() { return Table(">>>>>>", 2, {8, 5, 5, 14, 8, 10}); }

  void print_rows(const std::vector<bench::BarrierRow>& rows, std::size_t& printed, bool checked) {
    Table table("<>>>>>><", 2, {18, 6, 4, 9, 11, 8, out_.terminal() ? 21u : 8u, 0});
    if (printed == 0 && !rows.empty()) {
      table.add_head({"method", "groups", "of", "a barrier", "barriers/us", "a run", "without", checked ? "check" : ""});
    }
    for (; printed < rows.size(); ++printed) {
      const bench::BarrierRow& row = rows[printed];
      const bool timed = row.seconds.runs != 0;
      const Table::Cell last = checked || row.verdict != bench::Verdict::right ? verdict_cell(row) : Table::Cell("");
      table.add(
          {{row.method, row.method == "best" ? Style::bold : Style::plain},
           std::to_string(row.groups),
           std::to_string(row.group_size),
           timed ? duration(row.seconds.median) : "",
           timed ? rate(row) : "",
           timed && row.total_seconds > 0 ? duration(row.total_seconds) : "",
           timed && row.without_seconds > 0 ? with_bar(out_, duration(row.without_seconds), row.without_seconds / row.total_seconds) : "",
           last});
    }
    table.print(out_);
  }

  Output& out_;
  std::size_t sums_ = 0, shapes_ = 0, discovery_ = 0;
};

Json json_of_barrier(const std::vector<bench::BarrierRow>& rows) {
  Json list = Json::array();
  for (const bench::BarrierRow& row : rows) {
    Json object = {{"method", row.method},
                   {"groups", row.groups},
                   {"group_size", row.group_size},
                   {"barriers", row.barriers},
                   {"verdict", bench::name_of(row.verdict)},
                   {"reason", row.reason}};
    if (row.seconds.runs != 0) object["seconds_per_barrier"] = figure_json(row.seconds);
    if (row.total_seconds > 0) object["seconds_of_run"] = row.total_seconds;
    if (row.without_seconds > 0) object["seconds_without_barriers"] = row.without_seconds;
    list.push_back(std::move(object));
  }
  return list;
}

Json json_of_barrier(const bench::BarrierLadder& ladder) {
  Json object;
  object["device"] = {{"selector", ladder.device.selector}, {"name", ladder.device.name}, {"driver", ladder.device.driver}};
  object["elements"] = ladder.items;
  object["rounds"] = ladder.rounds;
  object["neighbour_sums"] = json_of_barrier(ladder.sums);
  object["barriers_alone"] = json_of_barrier(ladder.shapes);
  object["discovery"] = Json::array();
  for (const bench::Discovery& row : ladder.discovery) {
    object["discovery"].push_back({{"launched", row.launched},
                                   {"found", row.found},
                                   {"known", row.known != 0 ? Json(row.known) : Json(nullptr)},
                                   {"first_seconds", figure_json(row.first)},
                                   {"next_seconds", figure_json(row.next)},
                                   {"plain_seconds", figure_json(row.plain)}});
  }
  return object;
}

int run(Output& out, BarrierBench options) {
  if (!options.group_sizes.empty()) options.ladder.group_sizes = options.group_sizes;
  if (!options.kernel.path.empty()) {
    UserKernel kernel = load_user_kernel(options.kernel.path);
    if (const auto code = run_in_child(options.kernel)) return *code;
    options.ladder.kernel_name = std::move(kernel.name);
    options.ladder.kernel_source = std::move(kernel.source);
  }
  const Device device = choose_for_bench(options.device);
  if (!device.info().has(Capability::kernels)) {
    throw Error(ErrorKind::usage, fmt::format("{} runs no kernels, which is what the barrier is for: name a device that does ('samesum "
                                              "devices' lists them; Debian's pocl-opencl-icd makes one of a CPU)",
                                              device.info().selector));
  }
  const KernelWatch watch(options.ladder.kernel_name);
  options.ladder.progress = [&](std::string_view what) {
    watch.tell(what);
    StatusLine::show(what);
  };
  BarrierPrinter printer(out);
  if (!options.json) options.ladder.measured = [&](const bench::BarrierLadder& so_far) { printer.print(so_far); };
  bench::BarrierLadder ladder;
  {
    const StatusLine progress;
    ladder = bench::barrier_ladder(device, options.ladder);
  }
  if (options.json) {
    out.print("{}\n", to_text(json_of_barrier(ladder)));
  } else if (device.info().is_cpu && options.group_sizes.empty()) {
    out.note("Few sizes and rounds, as this is a CPU. --group 1024 --group 256 --group 64 --group 32 --rounds 2000 measures longer.");
  }
  return std::ranges::all_of(ladder.sums, sound) && std::ranges::all_of(ladder.shapes, sound) ? kExitOk : kExitNoAnswer;
}

}  // namespace

void add_bench_barrier(CLI::App& parent, Action& action) {
  const auto options = std::make_shared<BarrierBench>();
  CLI::App* command = parent.add_subcommand("barrier", "Ways to wait for all work-groups, side by side: checked, then timed");
  const CLI::Validator number = whole_number(1, 1u << 30);
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--variant", options->ladder.methods, "only this method; may be given again")->take_all()->option_text("NAME");
  command->add_option("--group", options->group_sizes, "items of a group; repeatable (default 1024, 256, 64, 32; on CPUs 256, 32)")
      ->transform(number)
      ->take_all()
      ->option_text("N");
  add_options(*command, options->kernel);
  command->add_option("--items", options->ladder.items, "elements of the neighbour sums (default 2048)")
      ->transform(whole_number(1, 1u << 24))
      ->option_text("N");
  command->add_option("--rounds", options->ladder.rounds, "of neighbour sums (default 500000; on CPUs 100)")
      ->transform(number)
      ->option_text("N");
  command->add_option("--runs", options->ladder.runs, "measurements of each (default 3)")->transform(number)->option_text("N");
  command->add_flag_callback(
      "--no-shapes", [options] { options->ladder.shapes = false; }, "only the neighbour sums");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(R"(Examples:
  samesum bench barrier                            # every method, every group size
  samesum bench barrier --device opencl:nvidia --group 32 --rounds 10000
  samesum bench barrier --kernel my.cl             # your own, beside the others

Without a barrier ('none') the sums are wrong: that is the point of its row. So are,
or may be, the faulty methods of textbooks: 'reset_every_item' and
'reset_group_leader' set their counter back before all have seen it full,
'plain_flag' waits by plain loads. They give up after a number of polls. 'a run' is
the time of all rounds, 'without' that of 'none'; on a terminal a bar is their
ratio. 'std_barrier' is threads of this machine's processor. A method of your own is
a file with the function
FN bool synchronize(GridBarrier* grid, GLOBAL uint* words); its waits should be
grid_wait(grid, word, value), which the watchdog ends (docs/barrier.md). What
'samesum bench sum --help' says of kernels holds here. Exit code 1 if any other
method is wrong.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
