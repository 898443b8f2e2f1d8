// Finding the installed libnvrtc libraries, and one that suits a device.
#include "core/setting.hpp"
#include "device/cuda/nvrtc.hpp"

#include "device/kernels/hash.hpp"
#include "device/kernels/kernel_cache.hpp"
#include "device/kernels/shipped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>

namespace samesum::device::cuda {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// "libnvrtc.so.13": a release's file name, since 11.2.
std::string soname(int major) { return major == 11 ? "libnvrtc.so.11.2" : fmt::format("libnvrtc.so.{}", major); }

/// Every libnvrtc of release `major` in the folders of toolkits and pip, the highest path first.
std::vector<std::string> installed(int major) {
  std::vector<std::string> folders{"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64"};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable(name); !root.empty()) folders.insert(folders.begin(), root + "/lib64");
  }
  std::vector<std::string> pythons{"/usr/lib", "/usr/local/lib", "/opt/*/lib", "/opt/*/.venv/lib"};
  if (const std::string home = variable("HOME"); !home.empty()) pythons.insert(pythons.begin(), home + "/.local/lib");
  for (const char* name : {"CONDA_PREFIX", "VIRTUAL_ENV"}) {
    if (const std::string root = variable(name); !root.empty()) pythons.insert(pythons.begin(), root + "/lib");
  }
  for (const std::string& python : pythons) {
    folders.push_back(python);  // conda
    folders.push_back(python + "/python3*/*-packages/nvidia/cu*/lib");
    folders.push_back(python + "/python3*/*-packages/nvidia/cuda_nvrtc/lib");
  }
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    glob_t matches{};
    if (glob((folder + "/" + soname(major)).c_str(), 0, nullptr, &matches) == 0) {
      found.insert(found.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
      std::reverse(found.end() - static_cast<std::ptrdiff_t>(matches.gl_pathc), found.end());
    }
    globfree(&matches);
  }
  return found;
}

/// Loads each library once; failures are not cached, since they cost little.
const Nvrtc& load(const std::string& library) {
  static std::mutex mutex;
  static auto* const loaded = new std::map<std::string, std::unique_ptr<Nvrtc>>;  // devices keep pointers into it until the process ends
  const std::lock_guard lock(mutex);
  std::unique_ptr<Nvrtc>& entry = (*loaded)[library];
  if (entry == nullptr) entry = std::make_unique<Nvrtc>(library);
  return *entry;
}

/// Tries libraries until one suits the device.
struct Search {
  int capability;
  int driver_major;
  CompilerChoice best{};  // a compiler of native code ends the search; one of PTX is a fallback
  bool native = false;
  std::string unsuited{};

  /// Tries `library`; true ends the search. The failure to load a library that is `expected` to exist is reported.
  bool done(const std::string& library, bool expected) try {
    const Nvrtc& nvrtc = load(library);
    const std::vector<int>& known = nvrtc.capabilities();
    const auto above = std::upper_bound(known.begin(), known.end(), capability);
    if (nvrtc.major() > driver_major) {
      unsuited = fmt::format("{} is newer than the driver, which is for CUDA {}", nvrtc.identity(), driver_major);
      return false;
    }
    if (above == known.begin()) {
      unsuited = fmt::format("{} knows no GPU as old as compute capability {}.{}", nvrtc.identity(), capability / 10, capability % 10);
      return false;
    }
    const int nearest = *(above - 1);
    native = nearest == capability;
    if (native || best.library.empty()) {
      const std::string arch = fmt::format("{}_{}", native ? "sm" : "compute", nearest);
      best = {nvrtc.path(), arch, fmt::format("{}; {}", nvrtc.identity(), fmt::join(nvrtc.options(arch), " ")), {}};
    }
    return native;
  } catch (const Error& error) {
    if (expected) unsuited = error.what();
    return false;
  }

  void run() {
    if (const std::string library = core::setting("SAMESUM_NVRTC_LIBRARY"); !library.empty()) {
      if (!done(library, true)) unsuited.insert(0, "SAMESUM_NVRTC_LIBRARY: ");
      return;
    }
    for (int major = driver_major; major >= 11; --major) {
      if (done(soname(major), false)) return;
    }
    if (done("libnvrtc.so", false)) return;
    for (int major = driver_major; major >= 11; --major) {
      for (const std::string& library : installed(major)) {
        if (done(library, true)) return;
      }
    }
  }
};

// The identity of a library's file: changes when another file takes its path.
std::string file_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {} {}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string record_key(int capability, int driver_major) {
  std::string places;
  for (const char* name : {"SAMESUM_NVRTC_LIBRARY", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "HOME", "CONDA_PREFIX", "VIRTUAL_ENV"}) {
    places += variable(name) + '\n';
  }
  return hash_of({"samesum compiler 1", std::to_string(capability), std::to_string(driver_major), places});
}

// A recorded choice: library, its file, architecture, identity, one line each.
std::optional<CompilerChoice> recorded(const std::string& key) {
  const auto found = find_cached(key);
  if (!found) return std::nullopt;
  std::istringstream lines(found->bytes);
  CompilerChoice choice;
  std::string file;
  std::getline(lines, choice.library);
  std::getline(lines, file);
  std::getline(lines, choice.arch);
  std::getline(lines, choice.identity);
  return !file.empty() && file == file_of(choice.library) ? std::optional(choice) : std::nullopt;
}

}  // namespace

const Nvrtc& CompilerChoice::nvrtc() const { return load(library); }

CompilerChoice choose_compiler(int capability, int driver_major) {
  const std::string key = record_key(capability, driver_major);
  if (auto known = recorded(key)) return *known;
  Search search{capability, driver_major};
  search.run();
  CompilerChoice& best = search.best;
  if (best.library.empty()) {
    const int advised = capability < 75 ? std::min(driver_major, 12) : driver_major;
    best.reason =
        fmt::format("{}: run 'pip install nvidia-cuda-nvrtc{}' or install the CUDA toolkit {}, or set SAMESUM_NVRTC_LIBRARY to a libnvrtc",
                    search.unsuited.empty() ? "NVRTC, the run-time compiler of CUDA, is not there" : search.unsuited,
                    advised >= 13 ? "" : fmt::format("-cu{}", advised), advised);
  } else if (search.native) {  // a fallback to PTX is not recorded: a better compiler may be installed later
    keep_cached(key, {fmt::format("{}\n{}\n{}\n{}\n", best.library, file_of(best.library), best.arch, best.identity), {}});
  }
  return best;
}

ShippedChoice choose_shipped(int capability, int driver_version) {
  ShippedChoice choice;
  int best_code = 0, best_ptx = 0;
  for (const ShippedTarget& target : shipped_targets()) {
    const bool is_code = target.arch.starts_with("sm_");
    const int made_for = std::atoi(target.arch.c_str() + target.arch.find('_') + 1);
    if (made_for > capability) continue;
    if (is_code && made_for / 10 == capability / 10 && target.version / 1000 <= driver_version / 1000 && made_for > best_code) {
      best_code = made_for;
      choice.code = target.arch;
    }
    if (!is_code && target.version <= driver_version && made_for > best_ptx) {
      best_ptx = made_for;
      choice.ptx = target.arch;
    }
  }
  return choice;
}

}  // namespace samesum::device::cuda
