#include <samesum/collect_plan.hpp>

#include "core/float_environment.hpp"
#include "device/memory/run.hpp"
#include "statistics/collect.hpp"
#include "statistics/collect_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <utility>

namespace samesum {
namespace {

static_assert(CollectPlan::kMostElements == statistics::DevicePass::kMostElements);

using statistics::CollectOptions;

constexpr Fields kSquares{.extremes = false, .sum = false, .squares = true, .nonzeros = false};

}  // namespace

struct CollectPlan::State {
  State(const Device& on, DType elements, std::uint64_t size, const CollectOptions& wanted, bool is_dot)
      : device(on), type(elements), options(is_dot ? wanted : statistics::with_nans(wanted)), dot(is_dot) {
    const core::DefaultFloatEnvironment environment;
    if (!device.info().has(Capability::kernels)) return;
    const device::Lock lock(device.implementation().mutex());
    pass.emplace(device.implementation(), type, options, dot, size);
    pass->prepare_all();
  }

  void launch(const Array& a, const Array& b) {
    const core::DefaultFloatEnvironment environment;
    const core::Order order = dot || options.fields.extremes ? core::Order::index : core::Order::memory;
    const device::Run one = device::planned_run(a, order, device, type, Layout::strided);
    const device::Run other = device::planned_run(b, order, device, type, Layout::strided);
    if (dot) statistics::require_alike(a, b);
    if (a.size() > kMostElements) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} elements are too many for one launch of a plan, which takes {}: launch it for parts, and merge "
                              "what it finds",
                              a.size(), kMostElements));
    }
    if (pass) {
      const device::Lock lock(device.implementation().mutex());
      pass->launch(one, other);
      launched = true;
      return;
    }
    Statistics::Contents found;
    if (dot) {
      found.squares = samesum::dot(device::on_host(a), device::on_host(b), {.device = device, .tuning = {.threads = options.threads}});
    } else {
      found = collect(device::on_host(a), options.fields, {.device = device, .tuning = {.threads = options.threads}}).contents();
    }
    const std::lock_guard lock(host_mutex);
    on_host = std::move(found);
  }

  Statistics::Contents result() {
    const core::DefaultFloatEnvironment environment;
    if (pass) {
      const device::Lock lock(device.implementation().mutex());
      if (!launched) device::refuse_result();
      return pass->result();
    }
    const std::lock_guard lock(host_mutex);
    if (!on_host) device::refuse_result();
    return *on_host;
  }

  std::string configuration() const { return pass ? pass->configuration() : fmt::format("threads={}", options.threads); }

  Device device;
  DType type;
  CollectOptions options;
  bool dot;
  std::optional<statistics::DevicePass> pass;
  bool launched = false;                        // guarded, as the pass is, by the device's mutex
  std::optional<Statistics::Contents> on_host;  // on a device without kernels, where a launch is done on return, and others run meanwhile
  std::mutex host_mutex;
};

CollectPlan::CollectPlan(const Device& device, DType type, std::uint64_t size, const Fields& fields, const Tuning& tuning)
    : state_(std::make_shared<State>(device, type, size, statistics::collect_options(fields, tuning), false)) {}
void CollectPlan::launch(const Array& data) { state_->launch(data, data); }
Statistics CollectPlan::result() const { return Statistics(state_->result()); }
std::string CollectPlan::configuration() const { return state_->configuration(); }

DotPlan::DotPlan(const Device& device, DType type, std::uint64_t size, const Tuning& tuning)
    : state_(std::make_shared<CollectPlan::State>(device, type, size, statistics::collect_options(kSquares, tuning), true)) {}
void DotPlan::launch(const Array& a, const Array& b) { state_->launch(a, b); }
ProductAccumulator DotPlan::result() const { return state_->result().squares; }
std::string DotPlan::configuration() const { return state_->configuration(); }

}  // namespace samesum
