// numpy and math.fsum, in a process of their own that reads the same data from files in memory.
#include "peer.hpp"
#include "places.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace peers {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(samesum::Array data) : descriptor_(memfd_create("peers", 0)) {
    const auto* bytes = static_cast<const char*>(data.data());
    for (std::uint64_t done = 0; done < data.bytes();) {
      const ssize_t written = write(descriptor_, bytes + done, data.bytes() - done);
      if (written <= 0) throw samesum::Error(samesum::ErrorKind::usage, "no memory for numpy's copy of the data");
      done += static_cast<std::uint64_t>(written);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_); }

 private:
  int descriptor_;
};

Row row_of(const nlohmann::json& line) {
  Row row{.name = line.at("name"), .where = kOneThread, .seconds = {}, .not_measured = line.value("not_measured", "")};
  if (!row.not_measured.empty()) return row;
  row.in_element_type = line.at("in_element_type");
  row.seconds = {line.at("median"), line.at("low"), line.at("high"), line.at("runs")};
  row.value = std::strtod(line.at("value").get<std::string>().c_str(), nullptr);
  row.repeats = line.at("repeats");
  row.order_free = line.at("order_free");
  return row;
}

}  // namespace

std::vector<Row> measure_numpy(const Problem& problem, const samesum::bench::Effort& effort) {
  const MemoryFile data(problem.data), permuted(problem.permuted);
  const std::string command = fmt::format("{} {}/numpy_sums.py {} {} {} {} {}", PEERS_PYTHON, PEERS_SOURCE, name_of(problem.data.type()),
                                          effort.runs, effort.seconds, data.path(), permuted.path());
  std::vector<Row> rows;
  FILE* const output = popen(command.c_str(), "r");
  std::array<char, 4096> line;
  while (output != nullptr && std::fgets(line.data(), line.size(), output) != nullptr) {
    rows.push_back(row_of(nlohmann::json::parse(line.data())));
  }
  const bool failed = output == nullptr || pclose(output) != 0;
  if (failed) rows.push_back({.name = "numpy", .where = kOneThread, .seconds = {}, .not_measured = "python3 with numpy did not run"});
  return rows;
}

}  // namespace peers
