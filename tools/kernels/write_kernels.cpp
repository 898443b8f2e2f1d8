// samesum_write_kernels FILE [NVRTC ARCH]…: compiles the kernels of plain calls (warm/calls.hpp) for each architecture with that libnvrtc,
// and writes them to FILE, where a machine without a compiler finds them (device/kernels/shipped.hpp). Needs no GPU. What FILE has already
// of the same compiler is taken over.
#include "device/cuda/nvrtc.hpp"
#include "device/kernels/shipped.hpp"
#include "warm/noting_device.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace samesum {
namespace {

struct Generation {
  int capability;
  std::uint64_t local_bytes;         // that a launch may ask for, in CUDA's documentation "maximum shared memory per thread block"
  std::vector<std::uint32_t> units;  // multiprocessors, of what is sold: how far data go round decides some texts
};
const Generation kGenerations[] = {
    {75, 64 << 10, {14, 24, 40, 72}}, {80, 163 << 10, {56, 108}}, {86, 99 << 10, {20, 38, 84}},       {89, 99 << 10, {20, 58, 128, 142}},
    {90, 227 << 10, {114, 132}},      {100, 227 << 10, {148}},    {120, 99 << 10, {20, 36, 70, 188}},
};

// work(i) for i from 0 to count - 1, by as many threads as there are cores.
template <class Work>
void in_threads(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count && !failed; i = next++) work(i);
    } catch (const std::exception&) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < std::max(1u, std::thread::hardware_concurrency()); ++thread) threads.emplace_back(run);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What plain calls compile on devices that take code for `arch`.
std::set<std::string> texts_for(const std::string& arch) {
  const bool is_code = arch.starts_with("sm_");
  const int made_for = std::stoi(arch.substr(arch.find('_') + 1));
  std::set<std::pair<std::uint64_t, std::uint32_t>> kinds;
  for (const Generation& generation : kGenerations) {
    const bool same = generation.capability / 10 == made_for / 10 || !is_code;
    if (!same || generation.capability < made_for) continue;
    for (const std::uint32_t units : generation.units) kinds.emplace(generation.local_bytes, units);
  }
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> each(kinds.begin(), kinds.end());
  std::vector<std::set<std::string>> found(each.size());
  in_threads(each.size(), [&](std::size_t i) { found[i] = warming::texts_of_calls(each[i].first, each[i].second); });
  std::set<std::string> texts;
  for (std::set<std::string>& one : found) texts.merge(one);
  return texts;
}

int version_of(const device::cuda::Nvrtc& nvrtc) {
  return std::atoi(nvrtc.identity().c_str() + std::strlen("NVRTC ")) * 1000 +
         10 * std::atoi(std::strchr(nvrtc.identity().c_str(), '.') + 1);
}

int write(int count, char** arguments) {
  const std::string path = arguments[1];
  setenv("SAMESUM_TUNING", "0", 1);  // the shapes that ship
  setenv("SAMESUM_CACHE", "0", 1);   // the outcome of a conformance run that is kept there would leave out its kernel
  setenv("SAMESUM_KERNELS", path.c_str(), 1);
  const std::vector<device::ShippedTarget> before = device::shipped_targets();
  std::vector<device::ShippedTarget> targets;
  std::vector<device::ShippedEntry> entries;
  for (int i = 2; i + 1 < count; i += 2) {
    const device::cuda::Nvrtc nvrtc(arguments[i]);
    const device::ShippedTarget target{arguments[i + 1], version_of(nvrtc)};
    const bool known = std::ranges::find(before, target) != before.end();
    const auto start = std::chrono::steady_clock::now();
    const std::set<std::string> texts = texts_for(target.arch);
    const double searched = seconds_since(start);
    std::vector<device::ShippedEntry> made;
    for (const std::string& text : texts) made.push_back({text, target.arch, {}});
    std::atomic<std::size_t> compiled = 0;
    in_threads(made.size(), [&](std::size_t n) {
      if (auto old = known ? device::find_shipped(made[n].source, target.arch) : std::nullopt) {
        made[n].bytes = std::move(old->bytes);
      } else {
        made[n].bytes = nvrtc.compile(made[n].source, target.arch).bytes;
        ++compiled;
      }
    });
    std::uint64_t bytes = 0;
    for (const device::ShippedEntry& entry : made) bytes += entry.bytes.size();
    fmt::print("== {}: {} programs, found in {:.0f} s, {} compiled in {:.0f} s, {} KiB\n", target.arch, made.size(), searched,
               compiled.load(), seconds_since(start) - searched, bytes >> 10);
    std::ranges::move(made, std::back_inserter(entries));
    targets.push_back(target);
  }
  const std::string fresh = path + ".new";
  device::write_shipped(fresh, targets, entries);
  std::filesystem::rename(fresh, path);
  fmt::print("== {}: {} KiB\n", path, std::filesystem::file_size(path) >> 10);
  return 0;
}

}  // namespace
}  // namespace samesum

int main(int count, char** arguments) try {
  if (count < 4 || count % 2 != 0) {
    fmt::print(stderr, "samesum_write_kernels FILE [NVRTC ARCH]…: libnvrtc and sm_90, compute_75 …\n");
    return 2;
  }
  return samesum::write(count, arguments);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
