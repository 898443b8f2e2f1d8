#include "bench_output.hpp"

#include <fmt/format.h>

namespace samesum::cli {
namespace {

std::string gigabytes(double bytes_per_second) { return fmt::format("{:.{}f}", bytes_per_second / 1e9, bytes_per_second < 1e11 ? 1 : 0); }

// "61.9 .. 62.4 ms" would repeat the unit; the spread is a percentage of the median.
std::string spread(const bench::Statistics& figure) {
  return figure.median > 0 ? fmt::format("{:.1f}%", (figure.high - figure.low) / figure.median * 100) : "";
}

std::string percent(double fraction) { return fraction > 0 ? fmt::format("{:.1f}%", fraction * 100) : ""; }

std::string verdict_text(const bench::LadderRow& row) {
  std::string text(bench::name_of(row.verdict));
  if (row.verdict == bench::Verdict::right)
    text = row.exact ? "exact" : fmt::format("within bound: {:.1e} <= {:.1e}", row.error, row.bound);
  if (row.verdict == bench::Verdict::wrong && !row.exact) text += fmt::format(": {:.1e} > {:.1e}", row.error, row.bound);
  // A build log has many lines: --json has them all.
  return row.reason.empty() ? text : text + ": " + row.reason.substr(0, row.reason.find('\n'));
}

Style verdict_style(bench::Verdict verdict) {
  if (verdict == bench::Verdict::right) return Style::good;
  return verdict == bench::Verdict::wrong || verdict == bench::Verdict::failed ? Style::bad : Style::dim;
}

// "1000 x 3000 -> 63 x 188"; a round without input only clears the result.
std::string sizes(const bench::Round& round) {
  if (round.rows == 0 || round.columns == 0) return "clearing the result";
  return fmt::format("{} x {} -> {} x {}", round.rows, round.columns, round.result_rows, round.result_columns);
}

void add_rounds(Table& table, const bench::LadderRow& row) {
  if (row.rounds.size() == 1) return;  // the row says it all
  for (std::size_t i = 0; i < row.rounds.size(); ++i) {
    const bench::Round& round = row.rounds[i];
    table.add({{fmt::format("  round {}", i + 1), Style::dim},
               {sizes(round), Style::dim},
               {duration(round.seconds.median), Style::dim},
               {spread(round.seconds), Style::dim}});
  }
}

Json json_of(const bench::Statistics& figure) {
  return {{"median", figure.median}, {"low", figure.low}, {"high", figure.high}, {"runs", figure.runs}};
}

Json json_of(const bench::ReadRate& read) {
  return {{"where", read.where},
          {"bytes", read.bytes},
          {"seconds", json_of(read.seconds)},
          {"bytes_per_second", read.bytes_per_second},
          {"configuration", read.configuration}};
}

Json json_of(const bench::LadderRow& row) {
  Json object;
  object["name"] = row.name;
  object["where"] = row.where;
  object["exact"] = row.exact;
  object["verdict"] = bench::name_of(row.verdict);
  object["reason"] = row.reason;
  object["configuration"] = row.configuration;
  if (row.seconds.runs == 0) return object;
  Number(row.value, DType::float64).add_to(object["result"]);
  object["error"] = row.error;  // nlohmann writes null where it is not finite
  object["bound"] = row.bound;
  object["seconds"] = json_of(row.seconds);
  object["bytes_per_second"] = row.bytes_per_second;
  object["ceiling_fraction"] = json_of(row.ceiling_fraction);
  object["speedup"] = row.speedup;
  for (const bench::Round& round : row.rounds) {
    object["rounds"].push_back({{"rows", round.rows},
                                {"columns", round.columns},
                                {"result_rows", round.result_rows},
                                {"result_columns", round.result_columns},
                                {"seconds", json_of(round.seconds)}});
  }
  return object;
}

Json identity(const DeviceInfo& device) { return {{"selector", device.selector}, {"name", device.name}, {"driver", device.driver}}; }

}  // namespace

void print(Output& out, const bench::Ladder& ladder, const std::string& data) {
  const std::uint64_t bytes = ladder.rows * ladder.columns * size_of(ladder.type);
  out.print("{} x {} {} ({}), {}; exact sum {}\n", ladder.rows, ladder.columns, name_of(ladder.type), byte_size(bytes), data,
            Number(ladder.exact_sum, DType::float64).decimal());
  out.print("{}\n", out.dim(fmt::format("device {}, {}", ladder.device.selector, ladder.device.name)));
  if (ladder.upload_seconds > 0) out.print("{}\n", out.dim(fmt::format("upload {}, in no row's time", duration(ladder.upload_seconds))));
  for (const bench::ReadRate& ceiling : ladder.ceilings) {
    out.print("{}\n", out.dim(fmt::format("ceiling of {}: {} GB/s ({})", ceiling.where, gigabytes(ceiling.bytes_per_second),
                                          ceiling.configuration)));
  }
  out.print("\n");

  Table table("<<>>>>><<");
  table.add({{"variant", Style::bold},
             {"where", Style::bold},
             {"time", Style::bold},
             {"spread", Style::bold},
             {"GB/s", Style::bold},
             {"of ceiling", Style::bold},
             {"speedup", Style::bold},
             {"check", Style::bold},
             {"configuration", Style::bold}});
  for (const bench::LadderRow& row : ladder.rungs) {
    const bool timed = row.seconds.runs != 0;
    table.add({{row.name, row.exact ? Style::bold : Style::plain},
               row.where,
               timed ? duration(row.seconds.median) : "",
               timed ? spread(row.seconds) : "",
               timed ? gigabytes(row.bytes_per_second) : "",
               timed ? percent(row.ceiling_fraction.median) : "",
               timed && row.speedup > 0 ? fmt::format("{:.1f}", row.speedup) : "",
               {verdict_text(row), verdict_style(row.verdict)},
               {row.configuration, Style::dim}});
    add_rounds(table, row);
  }
  table.print(out);
}

void print(Output& out, const bench::Ceiling& ceiling) {
  out.print("{}  {}\n", out.bold(ceiling.device.selector), ceiling.device.name);
  if (!ceiling.reads.empty()) {
    out.print("\nReading memory\n");
    Table table("<>>>><", 2);
    for (const bench::ReadRate& read : ceiling.reads) {
      table.add({read.where,
                 byte_size(read.bytes),
                 duration(read.seconds.median),
                 spread(read.seconds),
                 {gigabytes(read.bytes_per_second) + " GB/s", Style::bold},
                 {read.configuration, Style::dim}});
    }
    table.print(out);
  }
  if (!ceiling.arithmetic.empty()) {
    out.print("\nMultiply-adds (two operations each)\n");
    Table table("<<>><", 2);
    for (const bench::ArithmeticRate& rate : ceiling.arithmetic) {
      table.add({rate.where,
                 std::string(name_of(rate.type)),
                 spread(rate.seconds),
                 {fmt::format("{:.1f} GFLOP/s", rate.operations_per_second / 1e9), Style::bold},
                 {rate.configuration, Style::dim}});
    }
    table.print(out);
  }
  if (!ceiling.latencies.empty()) {
    out.print("\nStarting what does nothing\n");
    Table table("<>>", 2);
    for (const bench::Latency& latency : ceiling.latencies) {
      table.add({latency.what, {duration(latency.seconds.median), Style::bold}, spread(latency.seconds)});
    }
    table.print(out);
  }
}

Json json_of(const bench::Ladder& ladder, const std::string& data) {
  Json object;
  object["device"] = identity(ladder.device);
  object["data"] = data;
  object["dtype"] = name_of(ladder.type);
  object["rows"] = ladder.rows;
  object["columns"] = ladder.columns;
  Number(ladder.exact_sum, DType::float64).add_to(object["exact_sum"]);
  object["magnitude_sum"] = ladder.magnitude_sum;
  object["upload_seconds"] = ladder.upload_seconds;
  object["ceilings"] = Json::array();
  for (const bench::ReadRate& ceiling : ladder.ceilings) object["ceilings"].push_back(json_of(ceiling));
  object["variants"] = Json::array();
  for (const bench::LadderRow& row : ladder.rungs) object["variants"].push_back(json_of(row));
  return object;
}

Json json_of(const bench::Ceiling& ceiling) {
  Json object;
  object["device"] = identity(ceiling.device);
  object["reads"] = Json::array();
  for (const bench::ReadRate& read : ceiling.reads) object["reads"].push_back(json_of(read));
  object["arithmetic"] = Json::array();
  for (const bench::ArithmeticRate& rate : ceiling.arithmetic) {
    object["arithmetic"].push_back({{"where", rate.where},
                                    {"dtype", name_of(rate.type)},
                                    {"seconds", json_of(rate.seconds)},
                                    {"operations_per_second", rate.operations_per_second},
                                    {"configuration", rate.configuration}});
  }
  object["latencies"] = Json::array();
  for (const bench::Latency& latency : ceiling.latencies)
    object["latencies"].push_back({{"what", latency.what}, {"seconds", json_of(latency.seconds)}});
  return object;
}

}  // namespace samesum::cli
