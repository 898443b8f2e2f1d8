// What stands behind a Plan: an operation with all that it takes, on a device.
#pragma once

#include "device/memory/run.hpp"

#include <samesum/plan.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace samesum::planning {

/// A plan's parameters.
struct Request {
  Device device;
  DType type;
  std::uint64_t size;
  NanPolicy nan;
  Tuning tuning;
  Layout layout;
};

/// The work of one operation. Its functions are called with the device's mutex held where that runs kernels; those on the CPU may be called
/// at the same time.
class Planned {
 public:
  virtual ~Planned() = default;
  /// `b` is null but for operations on two arrays; `to` is null where no record is wanted.
  virtual void enqueue(const Array& a, const Array* b, const device::Place* to) = 0;
  virtual Result result() = 0;
  virtual std::string configuration() const = 0;
};

/// Runs the operation when it is enqueued, on the CPU.
std::unique_ptr<Planned> on_host(const Request& request, const Operation& operation);

/// On a device that runs kernels.
std::unique_ptr<Planned> make(const Request& request, ops::Sum);
std::unique_ptr<Planned> make(const Request& request, ops::Dot);
std::unique_ptr<Planned> make(const Request& request, const ops::Extrema& extrema);
std::unique_ptr<Planned> make(const Request& request, const Fields& fields);
std::unique_ptr<Planned> make(const Request& request, const Bins& bins);

/// The record that an operation leaves: its name, and bytes; none: 0.
struct RecordKind {
  std::string_view name;
  std::size_t bytes = 0;
};
RecordKind record_of(const Operation& operation);

/// @throws Error (usage) where `data` has more elements than one launch takes.
void check_count(const Array& data, std::uint64_t most);

}  // namespace samesum::planning
