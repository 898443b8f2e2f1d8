#include "kernels/shipped.hpp"

#include "reduce/window_device.hpp"
#include "support/listing_device.hpp"

#include <samesum/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <sstream>

namespace samesum::test {
namespace {

// The long cases, which take seconds, run on one of each kind.
const std::set<std::string> kThorough{
    "sums_float32_loads4_stream",     "sums_float32_loads2_alone",       "sums_float64_loads2",           "sums_float64_loads2_alone",
    "products_float32_loads2_stream", "products_float32_loads1_cluster", "products_float64_loads2",       "products_float64_loads2_cluster",
    "squares_bfloat16_loads2",        "squares_bfloat16_loads2_cluster", "squares_float64_loads4_stream",
};

// Sizes of arrays between which no table has a row: every power of two, and half as much again.
std::vector<std::uint64_t> sizes() {
  std::vector<std::uint64_t> sizes;
  for (int bits = 10; bits <= 28; ++bits) {
    sizes.push_back(std::uint64_t{1} << bits);
    sizes.push_back(std::uint64_t{3} << (bits - 1));
  }
  return sizes;
}

// A kernel's text begins with its defines, and has a line before each file.
ShippedKernel parse(const std::string& text) {
  ShippedKernel kernel;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string directive, name, value;
    words >> directive >> name >> value;
    if (directive == "#define" && kernel.files.empty()) kernel.defines.emplace_back(name, value);
    if (directive == "#line" && value != "\"defines\"") kernel.files.push_back(value.substr(1, value.size() - 2));
    if (directive == "#ifndef" && kernel.files.empty()) std::getline(lines, line), std::getline(lines, line);  // what CUDA always has
  }
  kernel.files.erase(kernel.files.begin());  // the prelude
  return kernel;
}

void set(ShippedKernel& kernel, const std::string& name, const std::string& value) {
  for (auto& [define, was] : kernel.defines) {
    if (define == name) was = value;
  }
}

/// Kernels as they come, each once but for the size of groups.
class Collection {
 public:
  // `group_size`: the small one.
  void add(ShippedKernel kernel, const std::string& group_size) {
    const int shipped = std::stoi(kernel.define("GROUP_SIZE"));
    set(kernel, "RESIDENT", "1");
    ShippedKernel& largest = largest_[kernel.about];
    if (largest.name.empty() || std::stoi(largest.define("GROUP_SIZE")) < shipped) largest = kernel;
    set(kernel, "GROUP_SIZE", group_size);
    kernel.thorough = kThorough.contains(kernel.name);
    const std::string name = kernel.name;
    kernels_.emplace(name, std::move(kernel));
  }
  std::vector<ShippedKernel> all() const {
    std::vector<ShippedKernel> all;
    for (const auto& [name, kernel] : kernels_) all.push_back(kernel);
    for (ShippedKernel large : std::views::values(largest_)) {
      large.name += "_by" + large.define("GROUP_SIZE");
      all.push_back(std::move(large));
    }
    return all;
  }

 private:
  std::map<std::string, ShippedKernel> kernels_, largest_;
};

void add_windows(Collection& kernels) {
  for (const DType type : kDTypes) {
    for (const reduce::Terms terms : {reduce::Terms::elements, reduce::Terms::squares, reduce::Terms::products}) {
      ListingDevice device, without_clusters;
      without_clusters.clusters = false;
      for (ListingDevice* const one : {&device, &without_clusters}) {
        for (const std::uint64_t bytes : sizes()) {
          if (auto window = reduce::DeviceWindow::prepare(*one, type, terms, bytes / size_of(type))) window->prepare_strided();
        }
        for (const std::string& text : one->texts) {
          ShippedKernel kernel = parse(text);
          kernel.family = "window";
          kernel.type = name_of(type);
          const char* const what = terms == reduce::Terms::elements ? "sums" : terms == reduce::Terms::squares ? "squares" : "products";
          kernel.name = fmt::format("{}_{}_loads{}{}{}", what, kernel.type, kernel.define("LOADS"),
                                    kernel.define("ALONE") == "1"    ? (kernel.define("STREAM") == "1" ? "_cluster" : "_alone")
                                    : kernel.define("STREAM") == "1" ? "_stream"
                                                                     : "",
                                    kernel.define("STRIDED") == "1" ? "_strided" : "");
          kernel.about = fmt::format("{} {}", what, is_integer(type) ? "integers" : type == DType::float64 ? "float64" : "floats");
          kernels.add(std::move(kernel), "64");
        }
      }
    }
  }
}

}  // namespace

const std::string& ShippedKernel::define(const std::string& what) const {
  static const std::string none;
  const auto found = std::ranges::find(defines, what, [](const auto& define) { return define.first; });
  return found == defines.end() ? none : found->second;
}

std::vector<ShippedKernel> shipped_kernels() {
  Collection kernels;
  add_windows(kernels);
  return kernels.all();
}

}  // namespace samesum::test
