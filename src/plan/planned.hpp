// The implementation of a Plan: an operation with all its resources, on a device.
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

/// The work of one operation. On devices that run kernels its functions are called with the device's mutex held; on the CPU they may be
/// called concurrently.
class Planned {
 public:
  virtual ~Planned() = default;
  /// `b` is null except for operations on two arrays; `to` is null where no record is requested.
  virtual void enqueue(const Array& a, const Array* b, const device::Place* to) = 0;
  virtual Result result() = 0;
  virtual std::string configuration() const = 0;
};

/// A plan that runs the operation on the CPU when it is enqueued.
std::unique_ptr<Planned> on_host(const Request& request, const Operation& operation);

/// A plan on a device that runs kernels.
std::unique_ptr<Planned> make(const Request& request, ops::Sum);
std::unique_ptr<Planned> make(const Request& request, ops::Dot);
std::unique_ptr<Planned> make(const Request& request, const ops::Extrema& extrema);
std::unique_ptr<Planned> make(const Request& request, const Fields& fields);
std::unique_ptr<Planned> make(const Request& request, const Bins& bins);

/// The record that an operation writes: its name and its size in bytes; 0: none.
struct RecordKind {
  std::string_view name;
  std::size_t bytes = 0;
};
RecordKind record_of(const Operation& operation);

/// @throws Error (usage) where `data` has more elements than one launch takes.
void check_count(const Array& data, std::uint64_t most);

}  // namespace samesum::planning
