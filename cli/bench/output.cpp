#include "bench/output.hpp"

#include "bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace samesum::cli {
namespace {

constexpr std::size_t kName = 12, kWhere = 14;  // characters: of a variant, of "cpu, 2 threads"
constexpr std::size_t kBar = 12;

std::string gigabytes(double bytes_per_second) { return fmt::format("{:.{}f}", bytes_per_second / 1e9, bytes_per_second < 1e11 ? 1 : 0); }

// "61.9 .. 62.4 ms" would repeat the unit; the spread is a percentage of the median.
std::string spread(const bench::Statistics& figure) {
  return figure.median > 0 ? fmt::format("{:.1f}%", (figure.high - figure.low) / figure.median * 100) : "";
}

std::string verdict_text(const bench::LadderRow& row) {
  const bool faulty = row.name == kMissingBarrier;
  std::string text = verdict_name(row.verdict, faulty);
  if (row.verdict == bench::Verdict::right && !faulty)
    text = row.exact ? "exact" : fmt::format("within bound: {:.1e} <= {:.1e}", row.error, row.bound);
  if (row.verdict == bench::Verdict::wrong && !row.exact && !(row.error <= row.bound))
    text += fmt::format(": {:.1e} > {:.1e}", row.error, row.bound);
  // A build log has many lines: --json has them all.
  return row.reason.empty() ? text : text + ": " + row.reason.substr(0, row.reason.find('\n'));
}

// "1000 x 3000 -> 63 x 188"; a round without input only clears the result.
std::string sizes(const bench::Round& round) {
  if (round.rows == 0 || round.columns == 0) return "clearing the result";
  return fmt::format("{} x {} -> {} x {}", round.rows, round.columns, round.result_rows, round.result_columns);
}

Json json_of(const bench::ReadRate& read) {
  return {{"where", read.where},
          {"bytes", read.bytes},
          {"seconds", figure_json(read.seconds)},
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
  object["seconds"] = figure_json(row.seconds);
  object["bytes_per_second"] = row.bytes_per_second;
  object["ceiling_fraction"] = figure_json(row.ceiling_fraction);
  object["speedup"] = row.speedup;
  for (const bench::Round& round : row.rounds) {
    object["rounds"].push_back({{"rows", round.rows},
                                {"columns", round.columns},
                                {"result_rows", round.result_rows},
                                {"result_columns", round.result_columns},
                                {"seconds", figure_json(round.seconds)}});
  }
  return object;
}

Json identity(const DeviceInfo& device) { return {{"selector", device.selector}, {"name", device.name}, {"driver", device.driver}}; }

// A bar of eighths of a character.
std::string bar(double fraction, std::size_t characters) {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double eighths = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(8 * characters);
  const auto length = std::max<std::size_t>(1, static_cast<std::size_t>(eighths + 0.5));
  std::string text;
  for (std::size_t i = 0; i < length / 8; ++i) text += "█";
  return text + kEighths[length % 8];
}

}  // namespace

std::string with_bar(const Output& out, const std::string& text, double fraction) {
  return out.terminal() ? fmt::format("{} {:<{}}", text, bar(fraction, kBar), kBar) : text;
}

std::size_t fraction_width(const Output& out) { return out.terminal() ? 8 + kBar : 10; }

std::string fraction_text(const Output& out, double fraction) {
  return fraction > 0 ? with_bar(out, fmt::format("{:.1f}%", fraction * 100), fraction) : "";
}

void print_rounds(Output& out, const std::vector<bench::Round>& rounds) {
  if (rounds.size() < 2) return;  // the row says it all
  Table table("<<>>", 2);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    table.add({{fmt::format("round {}", i + 1), Style::dim},
               {sizes(rounds[i]), Style::dim},
               {duration(rounds[i].seconds.median), Style::dim},
               {spread(rounds[i].seconds), Style::dim}});
  }
  table.print(out);
}

std::string verdict_name(bench::Verdict verdict, bool faulty) {
  return std::string(bench::name_of(verdict)) + (faulty && verdict == bench::Verdict::right ? " by chance" : "");
}

Style verdict_style(bench::Verdict verdict, bool faulty) {
  if (verdict == bench::Verdict::right && !faulty) return Style::good;
  return verdict == bench::Verdict::failed || (verdict == bench::Verdict::wrong && !faulty) ? Style::bad : Style::dim;
}

Json figure_json(const bench::Statistics& figure) {
  return {{"median", figure.median}, {"low", figure.low}, {"high", figure.high}, {"runs", figure.runs}};
}

LadderPrinter::LadderPrinter(Output& out, std::string data, const std::vector<std::string>& rungs)
    : out_(out), data_(std::move(data)), widths_{std::max(widest(rungs), kName), kWhere, 8, 6, 6, fraction_width(out), 7, 20, 0} {}

void LadderPrinter::print(const bench::Ladder& ladder) {
  if (printed_ == 0) {
    const std::uint64_t bytes = ladder.rows * ladder.columns * size_of(ladder.type);
    const std::string pitch = ladder.pitch != ladder.columns ? fmt::format(", rows {} apart", ladder.pitch) : "";
    out_.print("{} x {} {} ({}{}), {}; exact sum {}\n", ladder.rows, ladder.columns, name_of(ladder.type), byte_size(bytes), pitch, data_,
               Number(ladder.exact_sum, DType::float64).decimal());
    out_.print("{}\n\n", out_.dim(fmt::format("device {}, {}", ladder.device.selector, ladder.device.name)));
    Table head("<<>>>>><<", 0, widths_);
    head.add_head({"variant", "where", "time", "spread", "GB/s", "of ceiling", "speedup", "check", "configuration"});
    head.print(out_);
  }
  for (; printed_ < ladder.rungs.size(); ++printed_) {
    Table table("<<>>>>><<", 0, widths_);
    const bench::LadderRow& row = ladder.rungs[printed_];
    const bool timed = row.seconds.runs != 0;
    table.add({{row.name, row.exact ? Style::bold : Style::plain},
               row.where,
               timed ? duration(row.seconds.median) : "",
               timed ? spread(row.seconds) : "",
               timed ? gigabytes(row.bytes_per_second) : "",
               timed ? fraction_text(out_, row.ceiling_fraction.median) : "",
               timed && row.speedup > 0 ? fmt::format("{:.1f}", row.speedup) : "",
               {verdict_text(row), verdict_style(row.verdict, row.name == kMissingBarrier)},
               {row.configuration, Style::dim}});
    table.print(out_);
    print_rounds(out_, row.rounds);
  }
  show_now(out_);
}

void LadderPrinter::finish(const bench::Ladder& ladder) {
  out_.print("\n");
  for (const bench::ReadRate& ceiling : ladder.ceilings) {
    out_.print("{}\n", out_.dim(fmt::format("ceiling of {}: {} GB/s ({})", ceiling.where, gigabytes(ceiling.bytes_per_second),
                                            ceiling.configuration)));
  }
  if (ladder.upload_seconds > 0) out_.print("{}\n", out_.dim(fmt::format("upload {}, in no row's time", duration(ladder.upload_seconds))));
}

void CeilingPrinter::print(const bench::Ceiling& ceiling) {
  if (std::exchange(begun_, true) == false) out_.print("{}  {}\n", out_.bold(ceiling.device.selector), ceiling.device.name);
  Table reads("<>>>><", 2, {kWhere, 7, 8, 6, 11, 0});
  if (reads_ == 0 && !ceiling.reads.empty()) out_.print("\nReading memory\n");
  for (; reads_ < ceiling.reads.size(); ++reads_) {
    const bench::ReadRate& read = ceiling.reads[reads_];
    reads.add({read.where,
               byte_size(read.bytes),
               duration(read.seconds.median),
               spread(read.seconds),
               {gigabytes(read.bytes_per_second) + " GB/s", Style::bold},
               {read.configuration, Style::dim}});
  }
  reads.print(out_);
  Table arithmetic("<<>><", 2, {kWhere, 7, 6, 15, 0});
  if (arithmetic_ == 0 && !ceiling.arithmetic.empty()) out_.print("\nMultiply-adds (two operations each)\n");
  for (; arithmetic_ < ceiling.arithmetic.size(); ++arithmetic_) {
    const bench::ArithmeticRate& rate = ceiling.arithmetic[arithmetic_];
    arithmetic.add({rate.where,
                    std::string(name_of(rate.type)),
                    spread(rate.seconds),
                    {fmt::format("{:.1f} GFLOP/s", rate.operations_per_second / 1e9), Style::bold},
                    {rate.configuration, Style::dim}});
  }
  arithmetic.print(out_);
  Table latencies("<>>", 2);
  if (latencies_ == 0 && !ceiling.latencies.empty()) out_.print("\nStarting what does nothing\n");
  for (; latencies_ < ceiling.latencies.size(); ++latencies_) {
    const bench::Latency& latency = ceiling.latencies[latencies_];
    latencies.add({latency.what, {duration(latency.seconds.median), Style::bold}, spread(latency.seconds)});
  }
  latencies.print(out_);
  Table atomics("<<>>><", 2, {6, 30, 10, 6, 16, 0});
  if (atomics_ == 0 && !ceiling.atomics.empty()) out_.print("\nAtomic additions: one that waits for its result, and all at once\n");
  for (; atomics_ < ceiling.atomics.size(); ++atomics_) {
    const bench::AtomicRate& rate = ceiling.atomics[atomics_];
    atomics.add({rate.memory,
                 rate.addresses,
                 {duration(rate.latency.median), Style::bold},
                 spread(rate.latency),
                 {fmt::format("{:.3g} x 10^9/s", rate.operations_per_second / 1e9), Style::bold},
                 {rate.configuration, Style::dim}});
  }
  atomics.print(out_);
  show_now(out_);
}

Json json_of(const bench::Ladder& ladder, const std::string& data) {
  Json object;
  object["device"] = identity(ladder.device);
  object["data"] = data;
  object["dtype"] = name_of(ladder.type);
  object["rows"] = ladder.rows;
  object["pitch"] = ladder.pitch;
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
                                    {"seconds", figure_json(rate.seconds)},
                                    {"operations_per_second", rate.operations_per_second},
                                    {"configuration", rate.configuration}});
  }
  object["latencies"] = Json::array();
  for (const bench::Latency& latency : ceiling.latencies)
    object["latencies"].push_back({{"what", latency.what}, {"seconds", figure_json(latency.seconds)}});
  object["atomics"] = Json::array();
  for (const bench::AtomicRate& rate : ceiling.atomics) {
    object["atomics"].push_back({{"memory", rate.memory},
                                 {"addresses", rate.addresses},
                                 {"latency_seconds", figure_json(rate.latency)},
                                 {"operations_per_second", rate.operations_per_second},
                                 {"configuration", rate.configuration}});
  }
  return object;
}

}  // namespace samesum::cli
