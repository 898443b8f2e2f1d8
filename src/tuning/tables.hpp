// The records for a device: the user's own first, then those that are part of the library, in the order of how well they match.
#pragma once

#include "tuning/record.hpp"

#include <samesum/error.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace samesum::tuning {

/// A shape, and where it is from.
struct Found {
  Shape shape;
  TuneMatch match = TuneMatch::none;
  std::string kind;             ///< of its table
  std::uint64_t max_bytes = 0;  ///< of the record

  /// From the user's file: it was valid text, but nothing else is known of it.
  bool own() const noexcept { return match == TuneMatch::device; }
};

/// The shapes for an array of this many bytes, the best first. A caller uses the first one that it can run; where there is none, a default
/// of its own. `indices`: of extrema, whether these are wanted too. O(records).
std::vector<Found> find_shapes(const DeviceInfo& info, Operation operation, DType type, std::uint64_t bytes, bool indices = true);

/// The tables that are part of the library: all of src/tuning/*.json, those for fewer kinds of devices first, as these are found first where
/// several match a device equally well. Parsed once.
const std::vector<Table>& shipped_tables();

/// The user's file: $SAMESUM_TUNING ("0": none), else $XDG_CONFIG_HOME/samesum/tuning.json, else ~/.config/samesum/tuning.json; empty where
/// there is no such place.
std::string user_path();

/// What was read of a file of records.
struct UserTables {
  std::string path;
  std::vector<Table> tables;
  std::string problem;  ///< why the file is not used; empty also where there is none
};
UserTables read_tables(const std::string& path);
/// The user's file, read once in a process, unless reload_user_tables() is called. Never throws for a damaged file.
std::shared_ptr<const UserTables> user_tables();
void reload_user_tables();

/// @throws Error (usage) where `path` is empty, or a file of something else, which is not to be replaced.
void check_writable(const std::string& path);
/// Replaces the tables of the same device, or of the same kind, in the file at `path`, complete or not at all. @throws Error (usage) where it cannot be written.
void write_table(const std::string& path, const Table& table);
/// Removes a device's table from the file. @throws Error (usage) where it cannot be written.
void remove_table(const std::string& path, const DeviceInfo& info);

/// While it lives, this thread finds only the shapes of `records`, with TuneMatch::device: for measuring candidates, and for tests.
class Override {
 public:
  explicit Override(std::vector<Record> records) : Override(false, std::move(records)) {}
  ~Override();
  Override(const Override&) = delete;
  Override& operator=(const Override&) = delete;

 protected:
  Override(bool shipped, std::vector<Record> records);

 private:
  friend std::vector<Found> find_shapes(const DeviceInfo&, Operation, DType, std::uint64_t, bool);
  bool shipped_;
  std::vector<Record> records_;
  Override* outer_;
};

/// While it lives, this thread finds no record of the user's.
class ShippedOnly : Override {
 public:
  ShippedOnly() : Override(true, {}) {}
};

/// Calls `build`, which chooses shapes by find_shapes() and compiles their kernels. A record of the user's is valid text, but may name a
/// shape that this driver cannot compile or run: should `build` fail and there be such records, it is called once more without them.
template <class Build>
auto without_own_on_failure(const Build& build) {
  try {
    return build();
  } catch (const Error&) {
    if (user_tables()->tables.empty()) throw;
  }
  const ShippedOnly only;
  return build();
}

}  // namespace samesum::tuning
