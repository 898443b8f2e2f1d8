#include "tuning/tables.hpp"

#include "core/setting.hpp"
#include "device/kernels/program.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <utility>

namespace samesum::tuning {
namespace {

constexpr std::uintmax_t kMaxFile = 1 << 24;

thread_local Override* overriding = nullptr;

const char* variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

[[noreturn]] void refuse(const std::string& path, int number) {
  throw Error(ErrorKind::usage, fmt::format("{}: records of shapes cannot be written here: {}", path, std::strerror(number)));
}

void create_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0755);
  }
}

// Readers see the old file or the new one, complete.
void replace(const std::string& path, const std::string& text) {
  create_folders(path);
  const std::string temporary = fmt::format("{}.{:08x}", path, std::random_device{}());
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) refuse(path, errno);
  int failure = 0;
  for (std::size_t done = 0; done < text.size() && failure == 0;) {
    const ssize_t moved = write(descriptor, text.data() + done, text.size() - done);
    if (moved < 0 && errno != EINTR) failure = errno;
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
  if (close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure == 0 && rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure == 0) return;
  unlink(temporary.c_str());
  refuse(path, failure);
}

// The tables of other devices than that of `own`, and of other kinds of devices where it is of a kind.
std::vector<Table> others(const std::string& path, const Table& own) {
  check_writable(path);
  std::vector<Table> tables = read_tables(path).tables;
  std::erase_if(tables, [&](const Table& table) { return is_of_same(table, own); });
  return tables;
}

struct Users {
  std::mutex mutex;
  std::shared_ptr<const UserTables> tables;
};
Users& users() {
  static Users users;
  return users;
}

}  // namespace

const std::vector<Table>& shipped_tables() {
  static const std::vector<Table> tables = [] {
    std::vector<Table> all;
    for (const std::string_view file : device::kernel_files()) {
      if (!file.starts_with("tuning/") || !file.ends_with(".json")) continue;
      std::ranges::move(parse_tables(device::kernel_file(file)), std::back_inserter(all));
    }
    std::ranges::stable_sort(all, {}, [](const Table& table) { return table.names.size(); });
    return all;
  }();
  return tables;
}

std::string user_path() {
  if (std::string own = core::setting("SAMESUM_TUNING"); !own.empty()) return own == "0" ? std::string() : own;
  if (const char* xdg = variable("XDG_CONFIG_HOME"); xdg != nullptr && *xdg == '/') return std::string(xdg) + "/samesum/tuning.json";
  if (const char* home = variable("HOME")) return std::string(home) + "/.config/samesum/tuning.json";
  return {};
}

UserTables read_tables(const std::string& path) {
  UserTables read{path, {}, {}};
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return read;
  if (!S_ISREG(status.st_mode) || static_cast<std::uintmax_t>(status.st_size) > kMaxFile) {
    read.problem = "it is no file of records";
    return read;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) {
    read.problem = "it cannot be read";
    return read;
  }
  try {
    read.tables = parse_tables(text);
  } catch (const std::exception& error) {
    read.problem = error.what();
  }
  return read;
}

std::shared_ptr<const UserTables> user_tables() {
  const std::lock_guard lock(users().mutex);
  if (!users().tables) {
    UserTables read = read_tables(user_path());
    std::erase_if(read.tables, [](const Table& table) { return table.device.empty(); });  // those for a kind of devices
    users().tables = std::make_shared<const UserTables>(std::move(read));
  }
  return users().tables;
}

void reload_user_tables() {
  const std::lock_guard lock(users().mutex);
  users().tables.reset();
}

void check_writable(const std::string& path) {
  if (path.empty()) throw Error(ErrorKind::usage, "there is no place for the records of shapes: set SAMESUM_TUNING to a file, or HOME");
  if (const std::string problem = read_tables(path).problem; !problem.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{} is not replaced, as it holds no records of shapes ({}): remove it, or name another file", path, problem));
  }
}

std::vector<Found> find_shapes(const DeviceInfo& info, Operation operation, DType type, std::uint64_t bytes, bool indices) {
  std::vector<Found> found;
  const auto add = [&](const std::vector<Record>& records, TuneMatch match, const std::string& kind) {
    for (const Record& record : records) {
      if (record.fits(operation, type, bytes, indices)) found.push_back({record.shape, match, kind, record.max_bytes});
    }
  };
  if (overriding != nullptr && !overriding->shipped_) {
    add(overriding->records_, TuneMatch::device, "candidate");
    return found;
  }
  if (overriding == nullptr) {
    const std::shared_ptr<const UserTables> own = user_tables();
    for (const Table& table : own->tables) {
      if (match_of(table, info) == TuneMatch::device) add(table.records, TuneMatch::device, table.kind);
    }
  }
  for (const TuneMatch match : {TuneMatch::kind, TuneMatch::vendor, TuneMatch::device_class, TuneMatch::generic}) {
    for (const Table& table : shipped_tables()) {
      if (match_of(table, info) == match) add(table.records, match, table.kind);
    }
  }
  return found;
}

void write_table(const std::string& path, const Table& table) {
  std::vector<Table> tables = others(path, table);
  tables.push_back(table);
  replace(path, text_of(tables));
  reload_user_tables();
}

void remove_table(const std::string& path, const DeviceInfo& info) {
  if (path.empty() || access(path.c_str(), F_OK) != 0) return;
  Table own;
  own.device = info.name;
  own.platform = info.platform;
  replace(path, text_of(others(path, own)));
  reload_user_tables();
}

Override::Override(bool shipped, std::vector<Record> records)
    : shipped_(shipped), records_(std::move(records)), outer_(std::exchange(overriding, this)) {}
Override::~Override() { overriding = outer_; }

}  // namespace samesum::tuning

namespace samesum {

std::string_view name_of(TuneMatch match) noexcept {
  constexpr std::string_view kNames[] = {"device", "kind", "vendor", "class", "generic", "none"};
  return kNames[static_cast<std::size_t>(match)];
}

TuneTables tune_tables(const DeviceInfo& device) {
  const std::shared_ptr<const tuning::UserTables> own = tuning::user_tables();
  TuneTables all{own->path, own->problem, {}};
  const auto add = [&](const tuning::Table& table) {
    TuneTable& to = all.tables.emplace_back(TuneTable{tuning::match_of(table, device), table.kind, table.driver, {}});
    for (const tuning::Record& record : table.records) {
      to.records.push_back({std::string(tuning::name_of(record.operation)), tuning::text_of_types(record.types), record.above_bytes,
                            record.max_bytes, record.shape.text(), record.timing.value_or(TuneTiming{})});
    }
  };
  for (const tuning::Table& table : own->tables) {
    if (tuning::match_of(table, device) == TuneMatch::device) add(table);
  }
  for (const tuning::Table& table : tuning::shipped_tables()) add(table);
  std::ranges::stable_sort(all.tables, {}, &TuneTable::match);
  return all;
}

void tune_reset(const DeviceInfo& device, const std::string& path) {
  tuning::remove_table(path.empty() ? tuning::user_path() : path, device);
}

}  // namespace samesum
