#include "kernels/shipped.hpp"

#include "plan/record.hpp"
#include "product/product.hpp"
#include "reduce/device/collect_device.hpp"
#include "reduce/extremes/extremes_device.hpp"
#include "reduce/small/small_sum_device.hpp"
#include "support/listing_device.hpp"

#include <samesum/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <sstream>
#include <stdexcept>

namespace samesum::test {
namespace {

// The long cases, which take seconds, run on one kernel of each kind.
const std::set<std::string> kThorough{
    "sums_float32_loads4_stream",
    "sums_float32_loads2",
    "sums_float64_loads2",
    "products_float32_loads2_stream",
    "products_float32_loads1",
    "products_float64_loads2",
    "squares_bfloat16_loads2",
    "squares_float64_loads4_stream",
    "extremes_float32_both_indices_loads1_small",
    "extremes_float64_both_indices_loads1_small",
    "extremes_float64_max_loads2_small",
    "extremes_float32_min_loads1_small",
    "statistics_float32_moments_cached_loads1_steps1_columns3",
    "statistics_float64_moments_cached_loads1_steps1_columns3",
    "statistics_float32_sum_loads4_steps1_columns5_strided",
    "statistics_float64_sum_cached_loads4_steps1_columns5",
    "statistics_bfloat16_sum_cached_loads1_steps1_columns3",
    "statistics_int16_sum_cached_loads4_steps1_columns5",
    "statistics_float16_moments_extremes_nonzeros_loads4_steps4_columns5",
    "statistics_bfloat16_moments_extremes_nonzeros_loads4_steps4_columns5",
    "statistics_float64_moments_extremes_nonzeros_loads4_steps4_columns4",
};

// Array sizes between all rows of the tables: every power of two, and one and a half times it.
std::vector<std::uint64_t> sizes() {
  std::vector<std::uint64_t> sizes;
  for (int bits = 10; bits <= 29; ++bits) {
    sizes.push_back(std::uint64_t{1} << bits);
    sizes.push_back(std::uint64_t{3} << (bits - 1));
  }
  return sizes;
}

// Parses a kernel's text, which begins with its defines, and has a line before each file.
ShippedKernel parse(const std::string& text) {
  ShippedKernel kernel;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string directive, name, value;
    words >> directive >> name >> value;
    if (directive == "#define" && kernel.files.empty()) kernel.defines.emplace_back(name, value);
    if (directive == "#line" && value != "\"defines\"") kernel.files.push_back(value.substr(1, value.size() - 2));
    if (directive == "#ifndef" && kernel.files.empty()) std::getline(lines, line), std::getline(lines, line);  // CUDA always has it
  }
  kernel.files.erase(kernel.files.begin(), kernel.files.begin() + 2);  // the prelude: cuda.h, ptx.h
  return kernel;
}

void set(ShippedKernel& kernel, const std::string& name, const std::string& value) {
  for (auto& [define, was] : kernel.defines) {
    if (define == name) was = value;
  }
}

// Reduces its groups to a small size.
void shrink(ShippedKernel& kernel) {
  for (const char* const name : {"GROUP_SIZE", "GROUP_ROUNDED"}) set(kernel, name, "64");
}

/// Kernels of a family, each once except for the group size.
class Collection {
 public:
  void add(ShippedKernel kernel) {
    const int shipped = std::stoi(kernel.define("GROUP_SIZE"));
    set(kernel, "RESIDENT", "1");
    ShippedKernel& largest = largest_[kernel.about];
    if (largest.name.empty() || std::stoi(largest.define("GROUP_SIZE")) < shipped) largest = kernel;
    shrink(kernel);
    kernel.thorough = kThorough.contains(kernel.name);
    const std::string name = kernel.name;
    kernels_.emplace(name, std::move(kernel));
  }

  /// All of them; of those that differ only in the group size, the largest one with its original size.
  std::vector<ShippedKernel> all() const {
    std::vector<ShippedKernel> all;
    for (const auto& [name, kernel] : kernels_) all.push_back(kernel);
    append_largest(all);
    return all;
  }

  /// A subset that covers all pairs of settings that ship in one kernel; and the thorough ones.
  std::vector<ShippedKernel> pairs() const {
    std::vector<const ShippedKernel*> left;
    std::vector<ShippedKernel> chosen;
    std::set<std::string> seen;
    const auto choose = [&](const ShippedKernel& kernel) {
      for (std::string& pair : pairs_of(kernel)) seen.insert(std::move(pair));
      chosen.push_back(kernel);
    };
    for (const auto& [name, kernel] : kernels_) kernel.thorough ? choose(kernel) : left.push_back(&kernel);
    for (;;) {
      // Greedy: takes the kernel with the most new pairs; drops kernels without any.
      const ShippedKernel* best = nullptr;
      std::size_t most = 0;
      std::erase_if(left, [&](const ShippedKernel* kernel) {
        const auto pairs = pairs_of(*kernel);
        const auto fresh = static_cast<std::size_t>(std::ranges::count_if(pairs, [&](const auto& pair) { return !seen.contains(pair); }));
        if (fresh > most) most = fresh, best = kernel;
        return fresh == 0;
      });
      if (best == nullptr) break;
      choose(*best);
    }
    append_largest(chosen);
    return chosen;
  }

 private:
  // And of kernels that take any group size, one with a group that is no whole number of sub-groups.
  void append_largest(std::vector<ShippedKernel>& kernels) const {
    for (const ShippedKernel& large : std::views::values(largest_)) {
      kernels.push_back(large);
      kernels.back().name += "_by" + large.define("GROUP_SIZE");
      if (large.files.back() != "reduce/device/statistics.cl" && large.files.back() != "reduce/extremes/extremes.cl") continue;
      kernels.push_back(large);
      kernels.back().name += "_by33";
      set(kernels.back(), "GROUP_SIZE", "33");
      set(kernels.back(), "GROUP_ROUNDED", "64");
    }
  }

  std::map<std::string, ShippedKernel> kernels_, largest_;
};

// Names a kernel by its settings, leaving out empty ones.
void name(ShippedKernel& kernel, std::string_view family, std::initializer_list<std::string> settings) {
  kernel.name = family;
  for (const std::string& setting : settings) {
    if (!setting.empty()) kernel.name += "_" + setting;
    kernel.settings += (setting.empty() ? "-" : setting) + " ";
  }
}
std::string flag(const ShippedKernel& kernel, const std::string& define, const char* word) {
  return kernel.define(define) == "1" ? word : "";
}

void add_small_sums(Collection& kernels, std::span<const std::uint64_t> sizes) {
  for (const DType type : kDTypes) {
    for (const reduction::Terms terms : {reduction::Terms::elements, reduction::Terms::squares, reduction::Terms::products}) {
      ListingDevice device;
      for (const std::uint64_t bytes : sizes) {
        if (auto window = reduction::DeviceSmallSum::prepare(device, type, terms, bytes / size_of(type))) window->prepare_strided();
      }
      for (const std::string& text : device.texts) {
        ShippedKernel kernel = parse(text);
        kernel.family = "small_sum";
        kernel.type = name_of(type);
        const char* const what = terms == reduction::Terms::elements ? "sums" : terms == reduction::Terms::squares ? "squares" : "products";
        name(kernel, what,
             {kernel.type, "loads" + kernel.define("LOADS"), flag(kernel, "STREAM", "stream"), flag(kernel, "STRIDED", "strided")});
        kernel.about = fmt::format("{} {}", what, is_integer(type) ? "integers" : type == DType::float64 ? "float64" : "floats");
        kernels.add(std::move(kernel));
      }
    }
  }
}

void add_extremes(Collection& kernels, std::span<const std::uint64_t> sizes) {
  for (const DType type : kDTypes) {
    ListingDevice device;
    for (const bool places : {false, true}) {
      for (const ops::Extrema ends :
           {ops::Extrema{true, true, places}, ops::Extrema{true, false, places}, ops::Extrema{false, true, places}}) {
        for (const std::uint64_t bytes : sizes) {
          statistics::DeviceExtremes(device, type, {}, bytes / size_of(type), ends).prepare_all(true);
        }
      }
    }
    for (const std::string& text : device.texts) {
      ShippedKernel kernel = parse(text);
      kernel.family = "extremes";
      kernel.type = name_of(type);
      kernel.about = size_of(type) == 8 ? "wide" : "narrow";
      name(kernel, "extremes",
           {kernel.type,
            kernel.define("FIND_MIN") == "0"   ? "max"
            : kernel.define("FIND_MAX") == "0" ? "min"
                                               : "both",
            flag(kernel, "INDICES", "indices"), "loads" + kernel.define("LOADS"), flag(kernel, "DRAWN", "drawn"),
            kernel.define("POLLED") == "0" ? "ticket" : "",
            kernel.files.back() == "reduce/extremes/extremes_small.cl" ? "small" : flag(kernel, "STRIDED", "strided")});
      kernels.add(std::move(kernel));
    }
  }
}

void add_products(Collection& kernels) {
  for (const DType type : kDTypes) {
    ListingDevice device;
    if (is_integer(type)) {
      product_tree::IntegerProduct product;
      Report report;
      const std::uint64_t element = 0;
      product_tree::multiply_on_device(Array(&element, 1, type), device, {}, product, report);
    } else {
      for (const bool skip : {false, true}) product_tree::DeviceProduct(device, type, skip, {});
    }
    for (const std::string& text : device.texts) {
      ShippedKernel kernel = parse(text);
      if (kernel.define("BITS") != std::to_string(8 * size_of(type))) continue;  // a kernel for another type's products
      kernel.family = "product";
      kernel.type = name_of(type);
      kernel.about = is_integer(type) ? "integers" : "floats";
      name(kernel, "product", {kernel.type, "loads" + kernel.define("LOADS"), flag(kernel, "SKIP", "skip")});
      kernels.add(std::move(kernel));
    }
  }
}

void add_statistics(Collection& kernels, std::span<const std::uint64_t> sizes) {
  for (const DType type : kDTypes) {
    for (const bool extremes : {false, true}) {
      for (const bool nonzeros : {false, true}) {
        for (const auto& [sum, squares, dot] :
             {std::array{true, true, false}, {true, false, false}, {false, true, false}, {false, true, true}}) {
          if (dot && (extremes || nonzeros)) continue;
          const bool sum_alone = sum && !squares && !extremes && !nonzeros;
          if (is_integer(type) && !sum_alone) continue;  // which take no sub-groups
          ListingDevice device;
          for (const std::uint64_t bytes : sizes) {
            statistics::CollectOptions options;
            options.fields = {extremes, sum, squares, nonzeros};
            statistics::DevicePass(device, type, options, dot, bytes / size_of(type)).prepare_all();
            options.group_size = 256;  // else small data of one sum are not for this kernel
            if (sum_alone) statistics::DevicePass(device, type, options, dot, bytes / size_of(type)).prepare_all();
          }
          for (const std::string& text : device.texts) {
            ShippedKernel kernel = parse(text);
            if (kernel.files.back() != "reduce/device/statistics.cl") continue;
            kernel.family = "statistics";
            kernel.type = name_of(type);
            kernel.about = dot ? "dot" : "moments";
            name(kernel, "statistics",
                 {kernel.type,
                  dot              ? "dot"
                  : sum && squares ? "moments"
                  : sum            ? "sum"
                                   : "squares",
                  flag(kernel, "EXTREMES", "extremes"), flag(kernel, "NONZEROS", "nonzeros"), flag(kernel, "CACHED", "cached"),
                  "loads" + kernel.define("LOADS"), "steps" + kernel.define("STEPS"), "columns" + kernel.define("COLUMN_BITS"),
                  flag(kernel, "STRIDED", "strided")});
            kernels.add(std::move(kernel));
          }
        }
      }
    }
  }
}

void add_records(Collection& kernels) {
  for (const DType type : kDTypes) {
    for (const Fields& fields : {Fields{true, true, true, true}, Fields{false, true, true, false}, Fields{false, false, true, true},
                                 Fields{true, true, false, false}, Fields{true, false, false, true}}) {
      ListingDevice device;
      planning::Recorder(device, type, fields);
      ShippedKernel kernel = parse(device.texts.at(0));
      kernel.family = "record";
      kernel.about = fields.sum && fields.squares && fields.extrema ? "all" : "some";
      kernel.type = name_of(type);
      name(kernel, "record",
           {kernel.type, flag(kernel, "EXTREMES", "extremes"), flag(kernel, "SUM", "sum"), flag(kernel, "PRODUCTS", "squares"),
            flag(kernel, "NONZEROS", "nonzeros")});
      kernels.add(std::move(kernel));
    }
  }
}

}  // namespace

const std::string& ShippedKernel::define(const std::string& what) const {
  static const std::string none;
  const auto found = std::ranges::find(defines, what, [](const auto& define) { return define.first; });
  return found == defines.end() ? none : found->second;
}

std::vector<std::string> pairs_of(const ShippedKernel& kernel) {
  std::vector<std::string> settings, pairs;
  std::istringstream words(kernel.settings);
  for (std::string word; words >> word;) settings.push_back(word);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) pairs.push_back(fmt::format("{} {}:{} {}:{}", kernel.family, k, settings[k], i, settings[i]));
  }
  return pairs;
}

std::vector<ShippedKernel> shipped_kernels(std::span<const std::uint64_t> sizes, bool only_pairs) {
  Collection small_sums, extremes, statistics, products, records;
  add_small_sums(small_sums, sizes);
  add_extremes(extremes, sizes);
  add_statistics(statistics, sizes);
  add_products(products);
  add_records(records);
  std::vector<ShippedKernel> all = small_sums.all();
  for (const Collection& some : {products, records}) std::ranges::move(some.all(), std::back_inserter(all));
  for (const Collection& some : {extremes, statistics}) {
    std::ranges::move(only_pairs ? some.pairs() : some.all(), std::back_inserter(all));
  }
  return all;
}

std::vector<ShippedKernel> kernels_of_rows() {
  std::vector<ShippedKernel> rows = shipped_kernels(sizes(), true);
  std::set<std::string> kinds;
  for (ShippedKernel& row : rows) {
    // One of each way in which groups meet: the sum as a fixed-point number or by digits, moments, extrema, integers.
    row.concurrent = row.name == "sums_int32_loads2" || (row.thorough && row.type == "float32" && !row.name.starts_with("products"));
    const bool first = kinds.insert(row.family + row.type + row.about).second;  // one shape of each type and each kind of sums
    row.few = first || row.thorough || row.concurrent;
  }
  for (const std::string& name : kThorough) {
    if (!std::ranges::any_of(rows, [&](const ShippedKernel& row) { return row.name == name; })) {
      throw std::logic_error("no table of shapes has the kernel " + name + ", on which the long cases are to run");
    }
  }
  return rows;
}

}  // namespace samesum::test
