// The plan of a product: leaves up to the next aligned block one by one, whole blocks by all cores or the device, then what is left.
#include "product/product.hpp"

#include "core/chunks.hpp"
#include "core/pieces.hpp"
#include "core/visit.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <variant>

namespace samesum {
namespace product_tree {
namespace {

const std::byte* at(View data, std::uint64_t index) { return static_cast<const std::byte*>(data.data()) + index * size_of(data.type()); }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
void append_leaves(View data, bool skip, Tree<T>& tree) {
  core::visit(data.type(), [&](auto element) {
    if constexpr (!std::is_integral_v<decltype(element)>) {
      for (std::uint64_t i = 0; i < data.size(); ++i) {
        std::memcpy(&element, at(data, i), sizeof element);
        const auto leaf = static_cast<T>(element);
        tree.append(skip && std::isnan(leaf) ? T{1} : leaf);
      }
    }
  });
}

// Whole blocks, by `threads` threads.
template <class T>
void append_blocks(View data, bool skip, std::uint32_t threads, Tree<T>& tree) {
  const std::uint64_t blocks = data.size() / kBlock;
  std::vector<T> products(blocks);
  const std::uint64_t chunk = std::max<std::uint64_t>(core::chunk_size(data.bytes(), size_of(data.type()), threads) / kBlock, 1);
  core::for_chunks(blocks, threads, chunk, [&](std::uint32_t, std::uint64_t first, std::uint64_t count) {
    block_products(at(data, first * kBlock), data.type(), skip, count, &products[first]);
  });
  for (const T block : products) tree.append(block, kBlockLevel);
}

// Appends what lies before the next multiple of 2^level leaves, one by one; then whole ones by `append_whole`; then the rest.
template <class T, class AppendWhole>
void append(View data, bool skip, int level, Tree<T>& tree, const AppendWhole& append_whole) {
  const std::uint64_t unit = std::uint64_t{1} << level;
  const std::uint64_t head = std::min((unit - tree.size() % unit) % unit, data.size());
  const std::uint64_t whole = (data.size() - head) / unit * unit;
  append_leaves(data.part(0, head), skip, tree);
  if (whole != 0) append_whole(data.part(head, whole));
  append_leaves(data.part(head + whole, data.size() - head - whole), skip, tree);
}

template <class Integer>
IntegerProduct product_of(View data, std::uint64_t first, std::uint64_t count) {
  IntegerProduct product;
  for (std::uint64_t i = first; i < first + count; ++i) {
    Integer element;
    std::memcpy(&element, at(data, i), sizeof element);
    const bool negative = element < 0;
    const auto magnitude = static_cast<std::uint64_t>(element);
    product.multiply(negative ? 0 - magnitude : magnitude, negative);
  }
  return product;
}

IntegerProduct integer_product(View data, std::uint32_t threads) {
  std::vector<IntegerProduct> products(threads);
  const std::uint64_t chunk = core::chunk_size(data.bytes(), size_of(data.type()), threads);
  core::visit(data.type(), [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      core::for_chunks(data.size(), threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
        products[task].merge(product_of<decltype(element)>(data, first, count));
      });
    }
  });
  IntegerProduct all;
  for (const IntegerProduct& product : products) all.merge(product);
  return all;
}

// A product that elements are appended to, all of one type.
class Running {
 public:
  Running(const Device& device, const ReduceOptions& options) : device_(device), options_(options) {}

  void append(View data, SumReport& report) {
    if (type_.value_or(data.type()) != data.type()) {
      throw Error(ErrorKind::usage, fmt::format("a product of {} and {} mixed has no type", name_of(*type_), name_of(data.type())));
    }
    type_ = data.type();
    if (is_integer(data.type())) report.variant = "integers";  // in any order, as they are exact
    if (data.size() == 0) return;
    if (is_integer(data.type())) {
      append_integers(data, report);
    } else if (data.type() == DType::float64) {
      append_floats(data, doubles_, report);
    } else {
      append_floats(data, floats_, report);
    }
  }

  Value value() const {
    const core::DefaultFloatEnvironment environment;
    const DType type = type_.value_or(DType::float64);
    if (is_integer(type)) return integers_.value(is_signed(type));
    const double result = type == DType::float64 ? doubles_.root() : double{floats_.root()};
    return {std::isnan(result) ? std::bit_cast<double>(std::uint64_t{0x7ff8000000000000}) : result,
            type == DType::float64 ? DType::float64 : DType::float32};
  }

 private:
  bool on_kernels() const { return device_.info().has(Capability::kernels); }
  bool skip() const { return options_.nan == NanPolicy::skip; }

  template <class Work>
  void on_cpu(View data, SumReport& report, const Work& work) {
    const std::uint32_t threads = core::thread_count(data.bytes(), options_.threads);
    const auto start = std::chrono::steady_clock::now();
    work(threads);
    report.seconds += seconds_since(start);
    report.configuration = fmt::format("threads={}", threads);
  }

  void append_integers(View data, SumReport& report) {
    if (on_kernels()) return integers_.merge(integer_product_on_device(data, device_.implementation(), options_, report));
    on_cpu(data, report, [&](std::uint32_t threads) { integers_.merge(integer_product(data, threads)); });
  }

  template <class T>
  void append_floats(View data, Tree<T>& tree, SumReport& report) {
    const core::DefaultFloatEnvironment environment;
    if (on_kernels()) {
      const std::lock_guard lock(device_.implementation().mutex());
      DeviceProduct on_device(device_.implementation(), data.type(), skip(), options_);
      product_tree::append(data, skip(), on_device.level(), tree,
                           [&](View whole) { append_on_device(whole, device_.implementation(), on_device, tree, report); });
    } else {
      on_cpu(data, report, [&](std::uint32_t threads) {
        product_tree::append(data, skip(), kBlockLevel, tree, [&](View whole) { append_blocks(whole, skip(), threads, tree); });
      });
    }
  }

  Device device_;
  ReduceOptions options_;
  std::optional<DType> type_;
  Tree<float> floats_;
  Tree<double> doubles_;
  IntegerProduct integers_;
};

SumReport begin_report(const Device& device) {
  SumReport report;
  report.device = device.info().selector;
  report.variant = "tree";
  return report;
}

}  // namespace

Value IntegerProduct::value(bool is_signed) const {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if (zero) return is_signed ? Value{std::int64_t{0}, DType::int64} : Value{std::uint64_t{0}, DType::uint64};
  const std::uint64_t most = is_signed ? kSign - (negative ? 0 : 1) : ~std::uint64_t{0};
  if (too_large || magnitude > most) {
    throw Error(ErrorKind::no_answer, fmt::format("the product does not fit into {}", is_signed ? "int64" : "uint64"));
  }
  if (!is_signed) return {magnitude, DType::uint64};
  return {static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude), DType::int64};
}

}  // namespace product_tree

Value product(View data, const Device& device, const ReduceOptions& options, SumReport* report) {
  SumReport how = product_tree::begin_report(device);
  how.bytes = data.bytes();
  product_tree::Running running(device, options);
  core::for_contiguous_pieces(data, [&](View piece) { running.append(piece, how); });
  if (report != nullptr) *report = how;
  return running.value();
}

Value product(Source& source, const Device& device, const ReduceOptions& options, SumReport* report) {
  SumReport how = product_tree::begin_report(device);
  product_tree::Running running(device, options);
  bool any = false;
  while (const std::optional<View> view = source.next()) {
    core::for_contiguous_pieces(*view, [&](View piece) { running.append(piece, how); });
    how.bytes += view->bytes();
    any = true;
  }
  require_one_column(source);
  if (!any) running.append(View(nullptr, 0, source.type().value_or(DType::float64)), how);
  if (report != nullptr) *report = how;
  return running.value();
}

}  // namespace samesum
