// Tuning: which shapes of kernels are the fastest on a device. It affects speed, never the bits of an answer: docs/tuning.md.
#pragma once

#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace samesum SAMESUM_EXPORT {

/// How well records match a device, from the best.
enum class TuneMatch {
  device,        ///< measured on this very device, by tune()
  kind,          ///< on a device of the same kind
  vendor,        ///< on another device of the same vendor
  device_class,  ///< on another GPU, or on another CPU
  generic,       ///< on something else
  none,          ///< no record
};
/// "device", "kind", "vendor", "class", "generic", "none".
std::string_view name_of(TuneMatch match) noexcept;

/// Seconds of one launch: the median, and the 10th and 90th percentile.
struct TuneTiming {
  double median = 0;
  double low = 0;
  double high = 0;
  double shipped = 0;  ///< median of the shape that the library has without the user's records

  friend bool operator==(const TuneTiming&, const TuneTiming&) = default;
};

/// Why a candidate was not ranked.
enum class TuneFailure {
  none,
  not_run,       ///< the device cannot run such a shape, or the time was over before it was tried
  not_compiled,  ///< its kernel does not compile
  no_memory,     ///< it needs more memory than the device has
  wrong_answer,  ///< its result has other bits than that of the CPU
  failed,        ///< the driver refused it
  too_slow,      ///< it took more than ten times as long as the shipped shape, and was not measured further
};
/// "not_run", "not_compiled", "no_memory", "wrong_answer", "failed", "too_slow"; "none".
std::string_view name_of(TuneFailure failure) noexcept;

struct TuneOptions {
  std::vector<std::string> operations;  ///< of tune_operations(); empty: all
  std::vector<DType> types;             ///< empty: float32 and float64
  std::vector<std::uint64_t> bytes;     ///< sizes of arrays; empty: powers of 4 from 4 KiB to 64 MiB
  double seconds = 60;                  ///< at most, for all of it; a candidate that has begun is completed
  std::string path;                     ///< the file to write; empty: the user's own
  bool write = true;
  /// Empty: the records are for this very device. Else they are for all devices whose names, or platforms' names, contain this word, or with
  /// "generic" for all GPUs or CPUs of which nothing better is known, and `path` is a file for src/tuning/ of the library's sources.
  std::string kind;
  /// Called before each candidate with what is measured; returning false ends the search and keeps what was found.
  std::function<bool(std::string_view)> progress = {};
};

/// One operation, type and size.
struct TuneRow {
  std::string operation;
  DType type = DType::float32;
  std::uint64_t bytes = 0;
  std::string shape;             ///< the fastest: "group_size=256 loads=4"
  std::string shipped_shape;     ///< as Plan::configuration() describes the one before
  bool better = false;           ///< it is faster than the shipped one by more than the spread, and so is recorded
  TuneTiming timing;             ///< of the fastest
  std::uint32_t candidates = 0;  ///< that were tried
  std::vector<std::pair<TuneFailure, std::uint32_t>> failures;  ///< how many failed for each reason
  std::string wrong;                                            ///< the first shape with a wrong answer: report it
};

struct TuneResult {
  DeviceInfo device;
  std::string path;      ///< of the file that was written; empty: none
  bool complete = true;  ///< false if time ran out or the search was ended
  double seconds = 0;
  std::vector<TuneRow> rows;
};

/// "sum", "dot", "extrema".
std::vector<std::string_view> tune_operations();

/// Measures candidates on `device`, compares each one's result with the CPU's bit for bit before it is ranked, and writes those shapes that
/// are faster than the shipped ones to the user's file, beside the records of other devices and of what was not measured now. Takes up to
/// `seconds` (and one candidate).
/// @throws Error (usage) for an unknown operation, a device without kernels or not of that kind, or a file that cannot be written.
TuneResult tune(const Device& device, const TuneOptions& options = {});

/// Where a device's shapes come from.
struct TuneRecord {
  std::string operation, types;
  std::uint64_t above_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< the largest number: no limit
  std::string shape;
  TuneTiming timing;  ///< zeros if it was not measured here
};
struct TuneTable {
  TuneMatch match = TuneMatch::none;
  std::string kind;    ///< "own", "nvidia-hopper", "pocl"
  std::string driver;  ///< with which an own table was measured
  std::vector<TuneRecord> records;
};
struct TuneTables {
  std::string path;               ///< of the user's file; empty if there is no place for one
  std::string problem;            ///< why the user's file is not used; empty if nothing is wrong
  std::vector<TuneTable> tables;  ///< in the order in which they are searched
};
TuneTables tune_tables(const DeviceInfo& device);

/// Removes the device's own records from the file (empty: the user's). @throws Error (usage) if it cannot be written.
void tune_reset(const DeviceInfo& device, const std::string& path = {});

}  // namespace samesum
