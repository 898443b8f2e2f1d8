// samesum bench --report FILE: the ladders, run as the reader would run them, as one page
#include "bench/bench.hpp"
#include "bench/output.hpp"
#include "bench/page/page.hpp"
#include "bench/page/peers.hpp"
#include "input/user_file.hpp"
#include "output/output_file.hpp"
#include "output/progress.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/version.hpp>

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <optional>

namespace samesum::cli {
namespace report {
namespace {

struct ReportOptions {
  std::string path, device = "auto", peers;
  std::vector<std::string> only;
  bool quick = false;
};

// A command of `samesum bench`: its arguments, and its JSON, or why there is none.
struct Measured {
  std::string command;
  Json json;
  std::string failure;
};

Measured run_command(std::vector<std::string> arguments, const std::string& device) {
  arguments.insert(arguments.end(), {"--device", device});
  Measured result{fmt::format("samesum bench {}", fmt::join(arguments, " ")), {}, {}};
  arguments.insert(arguments.begin(), "bench");
  arguments.emplace_back("--json");
  CLI::App program;
  Action action;
  add_bench(program, action);
  finish(program);
  std::ranges::reverse(arguments);
  program.parse(std::move(arguments));
  try {
    Output out;
    action(out);  // a wrong rung is in its row
    result.json = Json::parse(out.take());
  } catch (const Error& error) {
    result.failure = error.what();
  }
  return result;
}

double number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// A row of any ladder's JSON; `rate` is the name of its speed, in units of `unit` a second.
Row row_of(const Json& variant, const char* rate, double unit) {
  Row row{text_at(variant, "name"), text_at(variant, "where"), text_at(variant, "verdict"), text_at(variant, "reason"),
          text_at(variant, "configuration")};
  if (!variant.contains("seconds")) return row;
  const Json& seconds = variant["seconds"];
  row.seconds = number_of(seconds, "median");
  row.low = number_of(seconds, "low");
  row.high = number_of(seconds, "high");
  row.value = number_of(variant, rate) / unit;
  const Json& fraction = variant.value("ceiling_fraction", Json());
  row.fraction = fraction.is_object() ? number_of(fraction, "median") : fraction.is_number() ? fraction.get<double>() : 0;
  if (row.fraction > 0) row.ceiling = row.value / row.fraction;
  return row;
}

Chart chart_of(const Json& variants, std::string ladder, std::string title, const char* rate, std::string unit) {
  Chart chart{std::move(title), std::move(unit), std::move(ladder), {}};
  for (const Json& variant : variants) chart.rows.push_back(row_of(variant, rate, 1e9));
  return chart;
}

Chart reduce_chart(const Json& json, const std::string& title) {
  Chart chart{title, "GB/s", "reduce", {}};
  for (const Json& operation : json["operations"]) {
    Row row = row_of(operation, "bytes_per_second", 1e9);
    row.name = text_at(operation, "operation");
    row.name.erase(0, row.name.rfind(' ') + 1);  // "max tree_passes"
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

Chart barrier_chart(const Json& json) {
  Chart chart{"Neighbour sums with two barriers a round", "barriers/ms", "barrier", {}};
  for (const Json& method : json["neighbour_sums"]) {
    const Json& seconds = method.value("seconds_per_barrier", Json::object());
    Row row{text_at(method, "method"),
            fmt::format("{} groups of {}", method["groups"].get<std::uint64_t>(), method["group_size"].get<std::uint64_t>()),
            text_at(method, "verdict"), text_at(method, "reason"), ""};
    row.seconds = number_of(seconds, "median");
    row.low = number_of(seconds, "low");
    row.high = number_of(seconds, "high");
    if (row.seconds > 0) row.value = 1e-3 / row.seconds;
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

void add_point(std::vector<Line>& lines, const std::string& name, bool dashed, Line::Point point) {
  auto line = std::ranges::find(lines, name, &Line::name);
  if (line == lines.end()) line = lines.insert(line, Line{name, dashed, true, {}});
  line->points.push_back(std::move(point));
}

std::string summary_of(const Plot& plot) {
  std::string text = fmt::format("{}, {} over {}.", plot.title, plot.y_name, plot.x_name);
  for (const Line& line : plot.lines) {
    if (!line.joined) continue;
    const auto most = std::ranges::max_element(line.points, {}, &Line::Point::y);
    text += fmt::format(" {}: at most {}.", line.name, figure(most->y));
  }
  return text + " All points are in the table below.";
}

std::string plotted(Plot plot) {
  if (plot.lines.empty()) return "";
  plot.summary = summary_of(plot);
  return html_of(plot);
}

// Reading over the size, the arithmetic and the latencies.
std::string ceiling_html(const Json& json) {
  Plot plot{"Reading memory", "size", "GB/s", "", true, {}};
  for (const Json& read : json["reads"])
    add_point(plot.lines, text_at(read, "where"), false,
              {number_of(read, "bytes"), number_of(read, "bytes_per_second") / 1e9, text_at(read, "configuration")});
  std::string html = plotted(std::move(plot));
  html +=
      "<table><caption>Multiply-adds, two operations each</caption><thead><tr><th scope=\"col\">Where</th><th scope=\"col\">Type</th>"
      "<th scope=\"col\" class=\"n\">GFLOP/s</th></tr></thead><tbody>\n";
  for (const Json& rate : json["arithmetic"])
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td></tr>\n", escaped(text_at(rate, "where")),
                        text_at(rate, "dtype"), figure(number_of(rate, "operations_per_second") / 1e9));
  html +=
      "</tbody></table>\n<table><caption>Starting what does nothing</caption><thead><tr><th scope=\"col\">What</th><th scope=\"col\" "
      "class=\"n\">Time</th></tr>"
      "</thead><tbody>\n";
  for (const Json& latency : json["latencies"])
    html += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td></tr>\n", escaped(text_at(latency, "what")),
                        duration(number_of(latency["seconds"], "median")));
  return html + "</tbody></table>\n";
}

// The best plain and the exact sums over the size, with the ceiling of each.
Plot sizes_plot(const std::vector<Measured>& runs) {
  Plot plot{"Sums", "size", "GB/s", "", true, {}};
  for (const Measured& run : runs) {
    if (!run.failure.empty()) continue;
    const double bytes = number_of(run.json, "rows") * number_of(run.json, "columns") * 4;
    for (const Json& variant : run.json["variants"]) {
      const Row row = row_of(variant, "bytes_per_second", 1e9);
      if (row.value > 0) add_point(plot.lines, fmt::format("{}, {}", row.name, row.where), false, {bytes, row.value, row.configuration});
    }
    for (const Json& read : run.json["ceilings"]) {
      if (text_at(read, "where") != "cpu, 1 thread")
        add_point(plot.lines, "reading, " + text_at(read, "where"), true, {bytes, number_of(read, "bytes_per_second") / 1e9, ""});
    }
  }
  return plot;
}

// What a kernel can reach by its operations for each byte that it has to read, and where the variants are.
Plot roofline(const Json& ceiling, const Json* sum, const Json* pairs) {
  Plot plot{"Roofline, float32", "operations per byte read", "GFLOP/s", "", false, {}};
  constexpr double kFirst = 0.1, kLast = 1e5;
  for (const Json& rate : ceiling["arithmetic"]) {
    const std::string where = text_at(rate, "where");
    double bandwidth = 0;
    for (const Json& read : ceiling["reads"]) {
      if (text_at(read, "where") == where) bandwidth = number_of(read, "bytes_per_second") / 1e9;  // the last: the largest size
    }
    if (text_at(rate, "dtype") != "float32" || bandwidth <= 0) continue;
    double peak = number_of(rate, "operations_per_second") / 1e9;
    // What was measured in turns with the variants counts, as it is of the same minute and the same size of data.
    if (sum != nullptr) {
      for (const Json& read : (*sum)["ceilings"]) {
        if (text_at(read, "where") == where) bandwidth = number_of(read, "bytes_per_second") / 1e9;
      }
    }
    if (pairs != nullptr) {
      for (const Json& variant : (*pairs)["variants"]) {
        const Row row = row_of(variant, "operations_per_second", 1e9);
        if (row.where == where) peak = std::max(peak, row.ceiling);
      }
    }
    const double ridge = peak / bandwidth;
    plot.lines.push_back({where, true, true, {{kFirst, kFirst * bandwidth, "memory"}, {ridge, peak, "both"}, {kLast, peak, "arithmetic"}}});
  }
  if (plot.lines.empty()) return plot;
  const auto under_a_roof = [roofs = plot.lines](const Row& row) {
    return row.value > 0 && row.verdict == "right" && std::ranges::find(roofs, row.where, &Line::name) != roofs.end();
  };
  Line sums{"variants of the sum", false, false, {}}, products{"variants of all pairs", false, false, {}};
  if (sum != nullptr) {
    for (const Json& variant : (*sum)["variants"]) {
      const Row row = row_of(variant, "bytes_per_second", 1e9);
      if (under_a_roof(row)) sums.points.push_back({0.25, row.value / 4, row.name + ", " + row.where});
    }
  }
  if (pairs != nullptr) {
    const double x = number_of(*pairs, "x"), y = number_of(*pairs, "y"), intensity = 2 * x * y / (4 * (x + y));
    for (const Json& variant : (*pairs)["variants"]) {
      const Row row = row_of(variant, "operations_per_second", 1e9);
      if (under_a_roof(row)) products.points.push_back({std::min(intensity, kLast), row.value, row.name + ", " + row.where});
    }
  }
  for (Line& line : {std::ref(sums), std::ref(products)}) {
    if (!line.points.empty()) plot.lines.push_back(std::move(line));
  }
  return plot;
}

std::string device_html(const DeviceInfo& info) {
  std::string html = fmt::format("<table><caption>{}</caption><tbody>\n", escaped(info.selector));
  const auto fact = [&](const char* name, const std::string& value) {
    if (!value.empty()) html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name, escaped(value));
  };
  fact("Name", info.name);
  fact("Platform", info.platform);
  fact("Driver", info.driver);
  fact("Compute units", grouped(info.compute_units));
  fact("Memory", byte_size(info.memory_bytes));
  if (info.has(Capability::kernels)) fact("Work-items of a group, at most", grouped(info.max_group_size));
  if (info.has(Capability::kernels)) fact("Local memory of a group", byte_size(info.local_bytes));
  for (const Missing& missing : info.missing) fact("Lacks", fmt::format("{}: {}", name_of(missing.capability), missing.reason));
  return html + "</tbody></table>\n";
}

Json device_json(const DeviceInfo& info) {
  return {{"selector", info.selector},
          {"name", info.name},
          {"platform", info.platform},
          {"driver", info.driver},
          {"compute_units", info.compute_units},
          {"memory_bytes", info.memory_bytes},
          {"max_group_size", info.max_group_size},
          {"local_bytes", info.local_bytes}};
}

// All that is on the page, as text for other programs too.
class Report {
 public:
  Report(const ReportOptions& options, Device device) : options_(options), device_(std::move(device)) {
    json_ = {{"version", version()}, {"quick", options.quick}, {"devices", Json::array()}, {"measurements", Json::object()}};
    csv_ = "ladder,variant,where,verdict,value,unit,ceiling,of_ceiling,seconds,seconds_10th,seconds_90th,configuration\n";
  }

  bool wanted(const std::string& ladder) const {
    return options_.only.empty() || std::ranges::find(options_.only, ladder) != options_.only.end();
  }

  Measured run(const std::string& name, std::vector<std::string> arguments, std::vector<std::string> quick) {
    if (options_.quick) arguments.insert(arguments.end(), quick.begin(), quick.end());
    StatusLine::show(fmt::format("{} ...", name));
    Measured measured = run_command(std::move(arguments), device_.info().selector);
    json_["measurements"][name] = {{"command", measured.command}};
    json_["measurements"][name][measured.failure.empty() ? "result" : "failure"] =
        measured.failure.empty() ? measured.json : Json(measured.failure);
    return measured;
  }

  void add(const std::string& id, const std::string& title, const std::string& text, const Measured& measured, const std::string& html) {
    const std::string shown =
        measured.failure.empty() ? html : fmt::format("<p class=\"bad\">Not measured: {}</p>\n", escaped(measured.failure));
    sections_.push_back({id, title,
                         fmt::format("<p>{}</p>\n<pre tabindex=\"0\" aria-label=\"the command\"><code>{}</code></pre>\n{}", text,
                                     escaped(measured.command), shown)});
  }

  // What another program has measured, of which only the file is known.
  void add_peers(const std::string& path, const std::vector<Peer>& peers) {
    json_["peers"] = Json::parse(read_file(path));
    sections_.push_back(
        {"peers", "Beside others",
         fmt::format("<p>Sums of other programs and libraries, measured by samesum_peers (bench/peers), not in this run; read from "
                     "{}. A solid line is samesum's.</p>\n",
                     escaped(path)) +
             html_of(peers)});
  }

  std::string chart(const Chart& shown) {
    for (const Row& row : shown.rows) {
      csv_ += fmt::format("\"{}\",{},\"{}\",{},{},{},{},{},{},{},{},\"{}\"\n", shown.title, row.name, row.where, row.verdict, row.value,
                          shown.unit, row.ceiling, row.fraction, row.seconds, row.low, row.high, row.configuration);
    }
    return html_of(shown);
  }

  void devices() {
    std::string html;
    const Device cpu = Device::open("cpu");
    for (const Device* device : std::array<const Device*, 2>{&device_, &cpu}) {
      if (device == &cpu && device_.info().selector == "cpu") continue;
      html += device_html(device->info());
      json_["devices"].push_back(device_json(device->info()));
    }
    sections_.push_back({"devices", "Devices", html});
  }

  std::string page() const {
    const std::string when = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
    const std::string introduction = fmt::format(
        "<p>Every variant of each ladder on <b>{}</b> ({}), checked against the exact result before it was timed. samesum {}, {}.{}</p>\n"
        "<p>A bar is a variant's speed; <span class=\"key\">the mark is the ceiling</span>, the speed at which the same place reads the "
        "same data, or "
        "multiplies and adds, measured in turns with the variant. Variants whose results are wrong are marked so and rank "
        "nowhere. Names with two underscores are counters of NVIDIA's Nsight Compute, ncu --metrics.</p>\n<p>All "
        "numbers: {} · {}</p>\n",
        escaped(device_.info().name), escaped(device_.info().selector), version(), when,
        options_.quick ? " Measured quickly, with few data: the order of the variants holds, the last digit does not." : "",
        download("samesum-report.json", "application/json", to_text(json_), "JSON"),
        download("samesum-report.csv", "text/csv", csv_, "CSV"));
    return html_of("samesum: the ladders", introduction, sections_);
  }

 private:
  const ReportOptions& options_;
  Device device_;
  Json json_;
  std::string csv_;
  std::vector<Section> sections_;
};

void add_sizes(Report& page, const Device& device, bool quick) {
  const bool cpu = device.info().selector == "cpu";
  std::vector<Measured> runs;
  for (int bits = 12; bits <= (quick ? 24 : device.info().is_cpu ? 26 : 30); bits += quick ? 4 : 2) {
    std::vector<std::string> arguments = {"sum", "--size", fmt::format("2^{}", bits), "--variant", "exact_blocks"};
    if (!cpu) arguments.insert(arguments.end(), {"--variant", "single_pass", "--variant", "exact_bins"});
    runs.push_back(page.run(fmt::format("sum of 2^{}", bits), std::move(arguments), {"--seconds", "0.01", "--runs", "5"}));
  }
  page.add("sizes", "Sums over the size",
           "A small sum is the time of a launch; then come the caches, one after the other, and then memory.", runs.front(),
           plotted(sizes_plot(runs)));
}

void measure_all(Report& page, const Device& device, bool quick) {
  const std::vector<std::string> few = {"--seconds", "0.01", "--runs", "5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), few.begin(), few.end());
    return more;
  };
  std::optional<Measured> ceiling, sum, pairs;
  if (page.wanted("ceiling")) {
    ceiling = page.run("ceiling", {"ceiling"}, few);
    page.add("ceiling", "Ceilings", "What the device can do at best. No variant below can be faster than these.", *ceiling,
             ceiling->failure.empty() ? ceiling_html(ceiling->json) : "");
  }
  if (page.wanted("sum")) {
    sum = page.run("sum", {"sum"}, with({"--size", "2^20"}));
    page.add(
        "sum", "Sums", "From one loop to the exact sum at the speed of reading.", *sum,
        sum->failure.empty() ? page.chart(chart_of(sum->json["variants"], "reduce", "Sums of float32", "bytes_per_second", "GB/s")) : "");
    add_sizes(page, device, quick);
  }
  if (page.wanted("reduce")) {
    const Measured maximum = page.run("maximum", {"reduce", "--ladder", "max"}, with({"--size", "2^20"}));
    page.add("maximum", "Maximum", "The same ladder for another operation: the textbook's kernels take it as a macro.", maximum,
             maximum.failure.empty() ? page.chart(reduce_chart(maximum.json, "Maximum of float32")) : "");
    const Measured all = page.run("reduce", {"reduce"}, with({"--size", "2^20"}));
    page.add("reduce", "Reductions", "Each operation in its best variant, on the processor and on the device.", all,
             all.failure.empty() ? page.chart(reduce_chart(all.json, "Reductions of float32")) : "");
  }
  if (page.wanted("histogram")) {
    const Measured all =
        page.run("histogram", {"histogram"}, with({"--size", "2^21", "--data", "uniform", "--data", "equal", "--data", "sky"}));
    std::string html;
    if (all.failure.empty()) {
      for (const Json& data : all.json["data"])
        html +=
            page.chart(chart_of(data["variants"], "histogram", "Histogram, data: " + text_at(data, "data"), "samples_per_second", "GB/s"));
    }
    page.add("histogram", "Histograms", "Counting is reading and one addition for each byte; which counter it is depends on the data.", all,
             html);
  }
  if (page.wanted("pairs")) {
    pairs = page.run("pairs", {"pairs"}, with({"--size", "2^12"}));
    page.add("pairs", "All pairs", "Much arithmetic on few data: the ceiling is the rate of multiply-adds, not memory.", *pairs,
             pairs->failure.empty() ? page.chart(chart_of(pairs->json["variants"], "pairs", "Sums of products over all pairs",
                                                          "operations_per_second", "GFLOP/s"))
                                    : "");
  }
  if (page.wanted("barrier") && device.info().has(Capability::kernels)) {
    const Measured all = page.run("barrier", {"barrier"}, {"--runs", "1", "--group", "256", "--no-shapes"});
    page.add("barrier", "Grid barrier", "Ways to wait for all work-groups of a running kernel.", all,
             all.failure.empty() ? page.chart(barrier_chart(all.json)) : "");
  }
  if (ceiling && ceiling->failure.empty()) {
    const auto good = [](const std::optional<Measured>& one) { return one && one->failure.empty() ? &one->json : nullptr; };
    page.add("roofline", "Roofline",
             "Memory limits a variant under the slope, arithmetic one under the flat roof. The slope is the speed at which the data of the "
             "sums are read. A sum has one operation for four bytes.",
             *ceiling, plotted(roofline(ceiling->json, good(sum), good(pairs))));
  }
}

int run(Output& out, const ReportOptions& options) {
  const OutputFile target(options.path, {});
  std::vector<Peer> peers;
  if (!options.peers.empty()) peers = read_peers(options.peers);
  const Device device = choose_for_bench(options.device);
  Report page(options, device);
  {
    const StatusLine progress;
    measure_all(page, device, options.quick);
  }
  if (!peers.empty()) page.add_peers(options.peers, peers);
  page.devices();
  const std::string html = page.page();
  target.write(out, {bytes_of(html)});
  out.print("{}: {}, opens in any browser\n", options.path, byte_size(html.size()));
  return kExitOk;
}

}  // namespace
}  // namespace report

void add_bench_report(CLI::App& bench, Action& action) {
  const auto options = std::make_shared<report::ReportOptions>();
  bench.add_option("--report", options->path, "all ladders as one HTML page")->type_name("FILE");
  bench.add_flag("--quick", options->quick, "with few data: within a minute");
  bench.add_option("--only", options->only, "only ceiling, sum, reduce, histogram, pairs, barrier; may be given again")
      ->check(CLI::IsMember({"ceiling", "sum", "reduce", "histogram", "pairs", "barrier"}).description(""))
      ->take_all()
      ->option_text("LADDER");
  bench.add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  bench.add_option("--peers", options->peers, "figures of other libraries, as bench/peers writes them")->type_name("FILE");
  bench.callback([options, &bench, &action] {
    const std::vector<CLI::App*> commands = bench.get_subcommands();
    if (commands.empty() && options->path.empty()) refuse("which command? As in 'samesum bench sum', or --report FILE for all of them");
    if (commands.empty()) {
      action = [options](Output& out) { return report::run(out, *options); };
    } else if (!options->path.empty() || options->quick || !options->only.empty() || !options->peers.empty() || options->device != "auto") {
      refuse(fmt::format("options before '{0}' are those of --report, which measures by itself: --report FILE --only {0}",
                         commands.front()->get_name()));
    }
  });
}

}  // namespace samesum::cli
