#include "ladder/ceiling/arithmetic.hpp"

#include "core/threads/parallel.hpp"
#include "ladder/ceiling/host_kernels.hpp"
#include "ladder/ceiling/reader.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <vector>

namespace samesum::bench {
namespace {

// The iteration converges to 1 so slowly that the chains stay different for thousands of steps, and never overflows.
template <class Real>
constexpr Real kTerm = Real{1} / (1 << 16);
template <class Real>
constexpr Real kFactor = 1 - kTerm<Real>;

template <class Real>
Real expected_chains(std::uint64_t start, int chains, std::uint32_t rounds) {
  Real sum = 0;
  for (int c = 0; c < chains; ++c) {
    auto x = static_cast<Real>(start + c);
    for (std::uint32_t i = 0; i < 16 * rounds; ++i) x = std::fma(x, kFactor<Real>, kTerm<Real>);
    sum += x;
  }
  return sum;
}

void check(double value, double expected, const std::string& where) {
  if (!(std::abs(value - expected) <= 1e-4 * std::abs(expected))) {
    throw Error(ErrorKind::device, fmt::format("multiply-adds on {} yielded {} instead of {}", where, value, expected));
  }
}

template <class Real>
Arithmetic on_host(DType type, std::uint32_t threads) {
  constexpr std::uint32_t kRounds = 4096;
  std::uint64_t operations = 0;
  const Real expected = expected_chains<Real>(0, kChains, kRounds);
  check(multiply_add(kFactor<Real>, kTerm<Real>, kRounds, &operations), expected, "the host");
  const auto work = [] {
    std::uint64_t ignored;
    [[maybe_unused]] volatile Real sink = multiply_add(kFactor<Real>, kTerm<Real>, kRounds, &ignored);
  };
  const Timer timer = host_timer([=] {
    if (threads == 1) return work();
    core::parallel_tasks(threads, [&](std::uint32_t) { work(); });
  });
  return {host_label(threads), type, static_cast<double>(operations) * threads, timer, fmt::format("chains={}", kChains)};
}

template <class Real>
Arithmetic on_device(device::Device& device, DType type) {
  const DeviceInfo& info = device.info();
  const std::uint32_t group_size = info.is_cpu ? 1 : std::min(256u, info.max_group_size);
  const device::Source source = info.is_cpu ? device::Source{{"ladder/ceiling/ceiling_cpu.cl"}, {}} : ceiling_source(group_size);
  const device::Kernel kernel = device::build(device, source, type == DType::float32 ? "multiply_add_f32" : "multiply_add_f64");
  const int chains = info.is_cpu ? kChains : 8;
  const std::uint64_t lanes = info.is_cpu ? 32 / sizeof(Real) : 1;
  device::Grid grid{4 * info.compute_units, group_size};
  if (!info.is_cpu) grid.groups = device.resident_groups(kernel, group_size).value_or(info.compute_units * 2048 / group_size);
  const std::uint64_t items = std::uint64_t{grid.groups} * grid.group_size;
  const device::Memory out = device.allocate(items * sizeof(Real));
  const auto timer = [&device, kernel, grid, out](std::uint32_t rounds) {
    return device_timer(device, [&device, kernel, grid, out, rounds] {
      const device::Argument arguments[] = {kFactor<Real>, kTerm<Real>, rounds, out};
      device.launch(kernel, grid, arguments);
    });
  };

  std::uint32_t rounds = 32;
  while (timer(rounds)(1) < 1e-3 && rounds < 8192) rounds *= 2;
  timer(rounds)(1);
  std::vector<Real> results(items);
  device.read(out, 0, results.data(), items * sizeof(Real));
  std::vector<Real> expected;
  for (std::uint64_t start = 0; start < 32; ++start) expected.push_back(expected_chains<Real>(start, chains, rounds));
  for (std::uint64_t i = 0; i < items; ++i) check(results[i], expected[i % 32], info.selector);

  return {info.selector, type, 2.0 * 16 * rounds * chains * static_cast<double>(items * lanes), timer(rounds),
          fmt::format("groups={} group_size={} chains={} lanes={}", grid.groups, grid.group_size, chains, lanes)};
}

}  // namespace

Arithmetic host_arithmetic(DType type, std::uint32_t threads) {
  return type == DType::float32 ? on_host<float>(type, threads) : on_host<double>(type, threads);
}

Arithmetic device_arithmetic(device::Device& device, DType type) {
  return type == DType::float32 ? on_device<float>(device, type) : on_device<double>(device, type);
}

ArithmeticRate rate_of(const Arithmetic& arithmetic, const Effort& effort) {
  const Statistics seconds = measure(arithmetic.timer, effort);
  return {arithmetic.where, arithmetic.type, seconds, arithmetic.operations / seconds.median, arithmetic.configuration};
}

}  // namespace samesum::bench
