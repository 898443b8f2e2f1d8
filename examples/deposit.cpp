// Particles deposit their charges in cells, in whatever order atomics happen to take: the density has the same bits on every device, in
// each run, for any number of work-items. The kernels use samesum/device/exact_sum.h, whose text stands before their own.
#include <samesum/barrier.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

constexpr const char* kKernels = R"(
EXACT_SUM_KERNEL void deposit(EXACT_SUM_GLOBAL const float* charge, EXACT_SUM_GLOBAL const unsigned int* cell, unsigned int n,
                              EXACT_SUM_GLOBAL exact_ulong* cells) {
  for (ulong i = global_id(); i < n; i += global_size())
    exact_sum_deposit(charge[i], cells + cell[i] * EXACT_SUM_WORDS(EXACT_SUM_FLOAT32), EXACT_SUM_FLOAT32);
}
EXACT_SUM_KERNEL void density(EXACT_SUM_GLOBAL exact_ulong* cells, unsigned int n, EXACT_SUM_GLOBAL float* rho) {
  for (ulong i = global_id(); i < n; i += global_size())
    rho[i] = exact_sum_round_float32(cells + i * EXACT_SUM_WORDS(EXACT_SUM_FLOAT32), EXACT_SUM_FLOAT32);
})";
constexpr std::uint32_t kParticles = 20000, kCells = 64, kWords = 16;  // EXACT_SUM_WORDS(EXACT_SUM_FLOAT32)

int main() {
  std::stringstream header;  // its text stands before the kernels
  header << std::ifstream(EXACT_SUM_HEADER).rdbuf();
  std::mt19937 random(1);
  std::vector<float> charge(kParticles);
  std::vector<std::uint32_t> cell(kParticles);
  for (std::uint32_t i = 0; i < kParticles; ++i) {
    charge[i] = (static_cast<float>(random() % 1000) - 500) * (i % 7 == 0 ? 1e12F : 1e-6F);
    cell[i] = static_cast<std::uint32_t>(random() % kCells);
  }
  std::vector<double> expected(kCells);
  for (std::uint32_t i = 0; i < kParticles; ++i) expected[cell[i]] += charge[i];
  bool right = true;
  for (const samesum::DeviceInfo& info : samesum::list_devices().devices) {
    using enum samesum::Capability;
    if (!info.has(kernels) || !info.has(int64_atomics) || !info.has(fp64)) continue;
    const samesum::Device device = samesum::Device::open(info.selector);
    if (!device.info().has(device_fence)) continue;
    const samesum::Kernel deposit(device, header.str() + kKernels, "deposit"), density(device, header.str() + kKernels, "density");
    const samesum::Buffer charges(device, 4 * kParticles), cells_of(device, 4 * kParticles), words(device, 8 * kWords * kCells),
        rho(device, 4 * kCells);
    charges.write(charge.data(), charges.bytes()), cells_of.write(cell.data(), cells_of.bytes());
    std::vector<float> first, again(kCells);
    for (const std::uint32_t groups : {1U, 7U, 32U}) {
      words.write(std::vector<std::uint64_t>(kWords * kCells).data(), words.bytes());
      launch(device, deposit, {charges, cells_of, kParticles, words}, groups, 64);
      launch(device, density, {words, kCells, rho}, 1, 64);
      rho.read(again.data(), rho.bytes());
      right = right && (first.empty() || first == again);
      first = again;
    }
    for (std::uint32_t k = 0; k < kCells; ++k) right = right && std::abs(first[k] - expected[k]) <= 1e-6 * std::abs(expected[k]);
    std::printf("%-10s density[0] = %a\n", info.selector.c_str(), static_cast<double>(first[0]));
  }
  return right ? 0 : 1;
}
