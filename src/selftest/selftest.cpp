#include <samesum/error.hpp>
#include <samesum/selftest.hpp>
#include <samesum/sum.hpp>
#include <samesum/version.hpp>

#include "core/float_environment.hpp"
#include "core/view.hpp"
#include "device/device.hpp"
#include "reduce/sum_device.hpp"
#include "selftest/cases.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>

namespace samesum {
namespace {

constexpr std::uint64_t kLengths[] = {0, 1, 2, 3, 31, 33, 257, 1025, 4097, 65537, (1u << 20) + 7};
constexpr std::size_t kMaxFailures = 12;
constexpr NanPolicy kPolicies[] = {NanPolicy::propagate, NanPolicy::skip};

// The bits of both roundings under one policy.
struct Rounded {
  std::uint64_t float64;
  std::uint32_t float32;

  Rounded(double to_double, float to_float)
      : float64(std::bit_cast<std::uint64_t>(to_double)), float32(std::bit_cast<std::uint32_t>(to_float)) {}
  Rounded(const Accumulator& sum, NanPolicy nan) : Rounded(sum.round(nan), sum.round_to_float(nan)) {}
  friend bool operator==(const Rounded&, const Rounded&) = default;
  std::string text() const { return fmt::format("{:016x} (float32 {:08x})", float64, float32); }
};

class Selftest {
 public:
  explicit Selftest(const Device& device) : device_(device), host_(Device::open("cpu")) {
    one_by_one_.variant = "exact_digits";
    XXH3_64bits_reset(&state_);
  }

  SelftestResult run() {
    const auto start = std::chrono::steady_clock::now();
    result_.device = device_.info();
    for (const DType type : {DType::float32, DType::float64}) {
      for (const auto& hard_case : hard::cases()) {
        for (const std::uint64_t length : kLengths) {
          if (result_.failures.size() >= kMaxFailures) break;
          name_ = fmt::format("{}, {} elements of {}", hard_case.name, length, name_of(type));
          const auto data = hard::make(hard_case, type, length, length % 3 * size_of(type) + length % 2);
          try {
            check(data.view());
          } catch (const Error& error) {
            fail(error.what());
          }
        }
      }
    }
    result_.hash = XXH3_64bits_digest(&state_);
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void check(View data) {
    const Accumulator expected = accumulate(data, {.device = host_, .tuning = one_by_one_});
    bool hashed = false;
    for (const SumVariant& variant : sum_variants(device_)) {
      Options options{.device = device_};
      options.tuning.variant = variant.name;
      const Accumulator sum = accumulate(data, options);
      ++result_.sums;
      if (!hashed) add_to_hash(sum);  // the first variant is the default; the others must equal it
      hashed = true;
      if (!(sum == expected)) {
        fail(fmt::format("variant {} gives {}, right is {}", variant.name, Rounded(sum, NanPolicy::propagate).text(),
                         Rounded(expected, NanPolicy::propagate).text()));
      }
    }
    if (device_.info().has(Capability::kernels)) check_rounding_on_device(data, expected);
  }

  // Results may stay on the device, so it must round as the host does.
  void check_rounding_on_device(View data, const Accumulator& expected) {
    device::Device& device = device_.implementation();
    const std::lock_guard lock(device.mutex());
    auto& sum = sums_[static_cast<std::size_t>(data.type())];
    if (!sum) sum.emplace(device, data.type(), Tuning{}, std::uint64_t{1} << 20);
    if (memory_.bytes < data.bytes() || memory_.bytes == 0) memory_ = device.allocate(std::max<std::uint64_t>(data.bytes(), 1024));
    if (data.size() != 0) device.write(memory_, 0, data.data(), data.bytes());
    for (const NanPolicy nan : kPolicies) {
      sum->launch(memory_, data.size(), nan);
      const auto result = sum->result();
      ++result_.sums;
      const Rounded rounded(result.record.value, result.record.value32);
      const Rounded right(expected, nan);
      if (!(rounded == right)) fail(fmt::format("the device rounds to {}, right is {}", rounded.text(), right.text()));
    }
  }

  void add_to_hash(const Accumulator& sum) {
    const auto bytes = sum.serialize();
    XXH3_64bits_update(&state_, bytes.data(), bytes.size());
    for (const NanPolicy nan : kPolicies) {
      const Rounded rounded(sum, nan);
      XXH3_64bits_update(&state_, &rounded.float64, sizeof rounded.float64);
      XXH3_64bits_update(&state_, &rounded.float32, sizeof rounded.float32);
    }
  }

  void fail(const std::string& what) {
    if (result_.failures.size() < kMaxFailures) result_.failures.push_back(name_ + ": " + what);
  }

  Device device_;
  Device host_;
  Tuning one_by_one_;
  SelftestResult result_;
  XXH3_state_t state_;
  std::string name_;
  std::optional<reduction::DeviceSum> sums_[kDTypes.size()];
  device::Memory memory_;
};

}  // namespace

SelftestResult selftest(const Device& device) {
  const core::DefaultFloatEnvironment environment;
  return Selftest(device).run();
}

std::string SelftestResult::json() const {
  const core::DefaultFloatEnvironment environment;
  nlohmann::ordered_json missing = nlohmann::ordered_json::object();
  for (const Missing& m : device.missing) missing[std::string(name_of(m.capability))] = m.reason;
  const nlohmann::ordered_json line = {
      {"samesum", version()},
      {"passed", passed()},
      {"hash", fmt::format("{:016x}", hash)},
      {"sums", sums},
      {"seconds", seconds},
      {"failures", failures},
      {"device",
       {{"selector", device.selector},
        {"name", device.name},
        {"platform", device.platform},
        {"driver", device.driver},
        {"is_cpu", device.is_cpu},
        {"compute_units", device.compute_units},
        {"max_group_size", device.max_group_size},
        {"local_bytes", device.local_bytes},
        {"memory_bytes", device.memory_bytes},
        {"max_allocation_bytes", device.max_allocation_bytes},
        {"missing", missing}}},
  };
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);  // drivers' names may be invalid UTF-8
}

}  // namespace samesum
