// Sums, dot products and statistics of whole arrays on a device that runs kernels: arrays in host memory chunk by chunk, arrays in its own memory
// part by part; and values of a formula.
#include "device/memory/upload.hpp"
#include "reduce/collect.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/sum_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace samesum::statistics {
namespace {

void tell(const DevicePass& pass, Report* report) {
  if (report == nullptr) return;
  report->variant = pass.entry();
  report->configuration = pass.configuration();
}

// The times of launches over parts of what lies on the device.
class Times {
 public:
  Times(device::Device& device, Report* report) : device_(device), report_(report) {}
  /// Before a launch and after it.
  void mark() {
    if (report_ != nullptr) marks_.push_back(device_.mark());
  }
  void tell(const DevicePass& pass) const {
    statistics::tell(pass, report_);
    for (std::size_t i = 0; i + 1 < marks_.size(); i += 2) report_->seconds += device_.seconds_between(marks_[i], marks_[i + 1]);
  }

 private:
  device::Device& device_;
  Report* report_;
  std::vector<device::Mark> marks_;
};

// Runs a pass over host data, and over `b` if that is not null, chunk by chunk; calls `take` with the results in order.
template <class Take>
void for_chunks(View a, const View* b, device::Device& device, const CollectOptions& options, Report* report, const Take& take) {
  const View both[] = {a, b != nullptr ? *b : a};
  const std::uint64_t chunk = device::chunk_size(device.info(), a.type(), a.size());
  const auto stride = static_cast<std::int64_t>(size_of(a.type()));
  std::vector<DevicePass> passes;
  for (std::size_t lane = 0; lane < device::upload_lanes(a.size(), chunk); ++lane) passes.emplace_back(device, a.type(), options, b != nullptr, chunk);
  device::for_uploaded(
      device, std::span(both, b != nullptr ? 2 : 1), chunk, report,
      [&](std::size_t lane, std::span<const device::Memory> memories, std::uint64_t, std::uint64_t count) {
        passes[lane].launch({memories.front(), count, stride, 0}, {memories.back(), count, stride, 0});
      },
      [&](std::size_t lane, std::uint64_t, std::uint64_t) { take(passes[lane].result()); });
  tell(passes.front(), report);
}

// The same for arrays in device memory; `b` is `a` if there is only one. The pass is kept for the next call of its kind.
template <class Take>
void for_parts(const device::Run& a, const device::Run& b, DType type, bool two, device::Device& device, const CollectOptions& options,
               Report* report, const Take& take) {
  const Fields& fields = options.fields;
  const std::uint64_t size = device::Plans::size_for(a.count);
  const std::string name = fmt::format("pass {} {} {} {} {} {} {} {} {}", name_of(type), size, fields.extrema, fields.sum, fields.squares,
                                       fields.nonzeros, two, options.group_size, options.groups);
  auto pass = device.plans().take<DevicePass>(name);
  if (!pass) pass = std::make_shared<DevicePass>(device, type, options, two, size);
  const std::uint64_t most = fields == kSumAlone ? std::max<std::uint64_t>(a.count, 1) : a.part_size(kMaxIndexed);
  Times times(device, report);
  for (std::uint64_t first = 0; first == 0 || first < a.count; first += most) {
    const std::uint64_t count = std::min(most, a.count - first);
    times.mark();
    pass->launch(a.part(first, count), b.part(first, count));
    times.mark();
    take(pass->result());
  }
  times.tell(*pass);
  device.plans().give_back(name, std::move(pass));
}

// The same for terms.
template <class Take>
void for_terms(Terms& terms, const CollectOptions& options, std::uint64_t most, Report* report, const Take& take) {
  device::Device& device = terms.device();
  const device::Lock lock(device.mutex());
  most = terms.part_size(most);
  const Fields& fields = options.fields;
  Times times(device, report);
  std::shared_ptr<DevicePass> pass;
  std::string name;
  for (std::uint64_t first = 0; first < terms.size(); first += most) {
    const Term term = terms.part(first, std::min(most, terms.size() - first), {}, lock);
    const std::uint64_t size = device::Plans::size_for(term.count);
    std::string wanted = fmt::format("terms {} {} {} {} {} {} {} {} {}", name_of(term.code.type), size, fields.extrema, fields.sum,
                                     fields.squares, fields.nonzeros, options.group_size, options.groups, term.code.text);
    if (wanted != name) {
      if (pass) device.plans().give_back(name, std::move(pass));
      name = std::move(wanted);
      pass = device.plans().take<DevicePass>(name);
      if (!pass) pass = std::make_shared<DevicePass>(device, term.code, options, size);
    }
    times.mark();
    pass->launch(term);
    times.mark();
    Statistics::Contents contents = pass->result();
    terms.check(lock);
    take(std::move(contents), term.count);
  }
  if (!pass) return;
  times.tell(*pass);
  device.plans().give_back(name, std::move(pass));
}

class Merged {
 public:
  void operator()(Statistics::Contents contents) {
    Statistics part(std::move(contents));
    first_ ? static_cast<void>(all = std::move(part)) : all.merge(part);
    first_ = false;
  }
  Statistics all;

 private:
  bool first_ = true;
};

}  // namespace

Statistics collect_on_device(View data, device::Device& device, const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  Merged merged;
  for_chunks(data, nullptr, device, options, report, [&](Statistics::Contents contents) { merged(std::move(contents)); });
  return std::move(merged.all);
}

Statistics collect_on_device(const device::Run& data, DType type, device::Device& device, const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  Merged merged;
  for_parts(data, data, type, false, device, options, report, [&](Statistics::Contents contents) { merged(std::move(contents)); });
  return std::move(merged.all);
}

Statistics collect_terms(Terms& terms, const CollectOptions& options, std::uint64_t most, Report* report,
                         const std::function<void(std::uint64_t)>& done) {
  Merged merged;
  for_terms(terms, options, most, report, [&](Statistics::Contents contents, std::uint64_t count) {
    merged(std::move(contents));
    const device::Unlocked unlocked(terms.device().mutex());
    done(count);
  });
  return std::move(merged.all);
}

ProductAccumulator dot_on_device(View a, View b, device::Device& device, const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  ProductAccumulator all;
  for_chunks(a, &b, device, options, report, [&](const Statistics::Contents& contents) { all.merge(contents.squares); });
  return all;
}

ProductAccumulator dot_on_device(const device::Run& a, const device::Run& b, DType type, device::Device& device,
                                 const CollectOptions& options, Report* report) {
  const std::lock_guard lock(device.mutex());
  ProductAccumulator all;
  for_parts(a, b, type, true, device, options, report, [&](const Statistics::Contents& contents) { all.merge(contents.squares); });
  return all;
}

}  // namespace samesum::statistics

namespace samesum::reduction {
namespace {

void name_variant(Report* report) {
  if (report != nullptr) report->variant = variant_of(report->variant);
}

}  // namespace

Accumulator sum_on_device(View data, device::Device& device, const Tuning& tuning, Report* report) {
  const std::lock_guard lock(device.mutex());
  Accumulator total;
  statistics::for_chunks(data, nullptr, device, statistics::collect_options(statistics::kSumAlone, tuning), report,
                         [&](const Statistics::Contents& contents) { total.merge(contents.sum); });
  name_variant(report);
  return total;
}

Accumulator sum_of_terms(statistics::Terms& terms, const Tuning& tuning, std::uint64_t most, Report* report,
                         const std::function<void(std::uint64_t)>& done) {
  Accumulator total;
  statistics::for_terms(terms, statistics::collect_options(statistics::kSumAlone, tuning), most, report,
                        [&](const Statistics::Contents& contents, std::uint64_t count) {
                          total.merge(contents.sum);
                          const device::Unlocked unlocked(terms.device().mutex());
                          done(count);
                        });
  name_variant(report);
  return total;
}

Accumulator sum_on_device(const device::Run& data, DType type, device::Device& device, const Tuning& tuning, Report* report) {
  const std::lock_guard lock(device.mutex());
  Accumulator total;
  statistics::for_parts(data, data, type, false, device, statistics::collect_options(statistics::kSumAlone, tuning), report,
                        [&](const Statistics::Contents& contents) { total.merge(contents.sum); });
  name_variant(report);
  return total;
}

}  // namespace samesum::reduction
