// samesum beside other ways to sum an array, on the same data, in one run.
#include "peer.hpp"
#include "places.hpp"
#include "report.hpp"

#include "ladder/timing.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

namespace peers {
namespace {

struct Options {
  std::vector<int> powers = {10, 16, 20, 24};
  std::string type = "float32";
  std::string data = "uniform";
  std::string only;
  std::string json;
  bool gpu = true;
  samesum::bench::Effort effort;
};

Row measure(const HostPeer& peer, const Problem& problem, const samesum::bench::Effort& effort) {
  const auto bits = [&](samesum::Array data) { return std::bit_cast<std::uint64_t>(peer.sum(data)); };
  Row row{.name = peer.name, .where = peer.where, .in_element_type = peer.in_element_type, .seconds = {}, .not_measured = {}};
  row.value = peer.sum(problem.data);
  for (int i = 0; i < 5; ++i) row.repeats = row.repeats && bits(problem.data) == std::bit_cast<std::uint64_t>(row.value);
  row.order_free = bits(problem.permuted) == std::bit_cast<std::uint64_t>(row.value);
  volatile double sink = 0;
  row.seconds = samesum::bench::measure(samesum::bench::host_timer([&] { sink = peer.sum(problem.data); }), effort);
  return row;
}

std::vector<Row> measure_all(const Problem& problem, const Options& options) {
  std::vector<Row> rows;
  for (const auto list : {samesum_host_peers, plain_peers, compensated_peers, xsum_like_peers, exblas_like_peers}) {
    for (const HostPeer& peer : list()) {
      if (peer.name != "samesum" && peer.name.find(options.only) == std::string::npos) continue;
      rows.push_back(measure(peer, problem, options.effort));
    }
  }
  const auto add = [&](std::vector<Row> more) { std::move(more.begin(), more.end(), std::back_inserter(rows)); };
  if (std::string("numpy sum math.fsum").find(options.only) != std::string::npos) add(measure_numpy(problem, options.effort));
  if (options.gpu) {
    add(measure_samesum_on_gpu(problem, options.effort));
    add(measure_cub(problem, options.effort));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.where < b.where; });
  return rows;
}

// The elements backwards, the second half first: every element has other neighbours in time.
std::vector<std::byte> permute(samesum::Array data) {
  std::vector<std::byte> result(data.bytes());
  const std::size_t width = samesum::size_of(data.type());
  const auto* from = static_cast<const std::byte*>(data.data());
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    const std::uint64_t source = (data.size() + data.size() / 2 - 1 - i) % data.size();
    std::memcpy(result.data() + i * width, from + source * width, width);
  }
  return result;
}

void run(const Options& options) {
  nlohmann::json rounds = nlohmann::json::array();
  for (const int power : options.powers) {
    const samesum::bench::Data data(samesum::bench::parse_data_kind(options.data), samesum::parse_dtype(options.type),
                                    std::uint64_t{1} << power);
    const std::vector<std::byte> permuted = permute(data.view());
    samesum::Options element_by_element{.device = samesum::Device::open("cpu")};
    element_by_element.tuning.variant = "exact_digits";
    const Problem problem{data.view(),
                          {permuted.data(), data.view().size(), data.view().type()},
                          samesum::accumulate(data.view(), element_by_element)};
    const std::vector<Row> rows = measure_all(problem, options);
    print_table(rows, problem, options.data);
    rounds.push_back(to_json(rows, problem, options.data));
  }
  if (!options.json.empty()) std::ofstream(options.json) << rounds.dump(2) << '\n';
}

}  // namespace
}  // namespace peers

int main(int argument_count, char** arguments) {
  peers::Options options;
  options.effort.runs = 21;
  CLI::App program("samesum beside other ways to sum an array, on the same data, in one run");
  program.add_option("--size", options.powers, "numbers of elements, as powers of two")->check(CLI::Range(0, 30));
  program.add_option("--dtype", options.type, "float32 or float64")->check(CLI::IsMember({"float32", "float64"}));
  program.add_option("--data", options.data, "uniform, normal, lognormal, bits or zeros");
  program.add_option("--only", options.only, "beside samesum only those on the CPU whose name contains this");
  program.add_option("--runs", options.effort.runs, "measurements of one sum, at most");
  program.add_option("--seconds", options.effort.seconds, "time for one sum");
  program.add_option("--json", options.json, "a file for all figures");
  program.add_flag("--gpu,!--no-gpu", options.gpu, "measure on the first CUDA device too");
  CLI11_PARSE(program, argument_count, arguments);
  try {
    peers::run(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
