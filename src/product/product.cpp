// The plan of a product: leaves up to the next aligned block one by one, whole blocks on all cores or the device, then the remaining
// leaves.
#include "product/product.hpp"

#include "core/array/pieces.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/threads/chunks.hpp"
#include "core/visit.hpp"
#include "device/memory/run.hpp"
#include "reduce/cpu/term_blocks.hpp"

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

// The products of whole blocks, on `threads` threads.
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

// The same of a formula's values, from leaf 0 on: blocks of them are whole blocks of the tree, but the last.
template <class T>
void append_terms_of_host(statistics::HostTerms& terms, bool skip, std::uint32_t threads, Tree<T>& tree) {
  static_assert(statistics::kTermBlock % kBlock == 0);
  const std::uint64_t blocks = terms.size() / kBlock;
  std::vector<T> products(blocks), rest(terms.size() % kBlock);
  const DType type = terms.type();
  terms.prepare(threads);
  statistics::for_term_blocks(terms, threads, [&](std::uint32_t, const std::byte* values, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t whole = count / kBlock;
    if (whole != 0) block_products(values, type, skip, whole, &products[first / kBlock]);
    if (count % kBlock != 0) std::memcpy(rest.data(), values + whole * kBlock * sizeof(T), count % kBlock * sizeof(T));
  });
  for (const T block : products) tree.append(block, kBlockLevel);
  append_leaves(View(rest.data(), rest.size(), type), skip, tree);
}

// Appends the leaves before the next multiple of 2^level one by one; then whole blocks by `append_whole`; then the rest.
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
void multiply(View data, std::uint64_t first, std::uint64_t count, IntegerProduct& all) {
  IntegerProduct product = all.another();
  for (std::uint64_t i = first; i < first + count; ++i) {
    Integer element;
    std::memcpy(&element, at(data, i), sizeof element);
    const bool negative = element < 0;
    const auto magnitude = static_cast<std::uint64_t>(element);
    product.multiply(negative ? 0 - magnitude : magnitude, negative);
  }
  all.merge(product);
}

void multiply_terms_of_host(statistics::HostTerms& terms, std::uint32_t threads, IntegerProduct& product) {
  std::vector<IntegerProduct> products(threads, product.another());
  terms.prepare(threads);
  core::visit(terms.type(), [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      statistics::for_term_blocks(terms, threads, [&](std::uint32_t task, const std::byte* values, std::uint64_t, std::uint64_t count) {
        multiply<decltype(element)>(View(values, count, terms.type()), 0, count, products[task]);
      });
    }
  });
  for (const IntegerProduct& part : products) product.merge(part);
}

Report begin_report(const Device& device) {
  Report report;
  report.device = device.info().selector;
  report.variant = "tree";
  return report;
}

}  // namespace

void multiply(View data, std::uint32_t threads, IntegerProduct& product) {
  std::vector<IntegerProduct> products(threads, product.another());
  const std::uint64_t chunk = core::chunk_size(data.bytes(), size_of(data.type()), threads);
  core::visit(data.type(), [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      core::for_chunks(data.size(), threads, chunk, [&](std::uint32_t task, std::uint64_t first, std::uint64_t count) {
        multiply<decltype(element)>(data, first, count, products[task]);
      });
    }
  });
  for (const IntegerProduct& part : products) product.merge(part);
}

}  // namespace product_tree

struct Product::State {
  static constexpr const char* kIntegers = "integers";  // order does not matter, as they are exact

  State(const Options& wanted, std::optional<DType> elements)
      : device(wanted.device ? *wanted.device : Device::open("cpu")),
        options(wanted),
        type(elements),
        mixed(!elements),
        report(product_tree::begin_report(device)) {
    if (type && is_integer(*type)) report.variant = kIntegers;
  }

  void append(const Array& data) {
    core::ProgressParts progress(options, data.bytes(), on_kernels());
    append(data, progress);
  }

  void append(const Array& data, core::ProgressParts& progress) {
    const core::DefaultFloatEnvironment environment;
    settle(data.type());
    if (is_integer(data.type()) && !reals) report.variant = kIntegers;
    if (!is_integer(data.type())) report.variant = "tree";
    report.bytes += data.bytes();
    if (data.on_device() && on_kernels() && !mixed) {
      note(data.type());
      device::for_runs(data, core::Order::index, [&](const device::Run& run) {
        append_run(run, data.type());
        progress.add(run.count * size_of(data.type()));
      });
      return;
    }
    device::for_host_blocks(data, core::Order::index, [&](View block) {
      progress.for_parts(block, [&](View part) { core::for_contiguous_pieces(part, [&](View piece) { append_piece(piece); }); });
    });
  }

  void append(Source& source) {
    core::ProgressParts progress(options, core::known_bytes(source), on_kernels());
    if (const std::optional<DType> given = source.type(); given && !mixed) {
      settle(*given);
      append_terms(source, *given, progress);
    }
    while (const std::optional<Array> view = source.next()) append(*view, progress);
    require_one_column(source);
  }

  Value value() const {
    const core::DefaultFloatEnvironment environment;
    if (mixed && !reals && (signed_integers || unsigned_integers)) {
      return integer.value(signed_integers ? std::nullopt : std::optional(false));
    }
    const DType of = type.value_or(DType::float64);
    if (is_integer(of)) return integer.value(is_signed(of));
    const double result = of == DType::float64 ? doubles.root() : double{floats.root()};
    return {std::isnan(result) ? std::bit_cast<double>(std::uint64_t{0x7ff8000000000000}) : result,
            of == DType::float64 ? DType::float64 : DType::float32};
  }

  std::string digits() const {
    if (reals || (type && !is_integer(*type))) {
      throw Error(ErrorKind::usage, "a product has all digits where all elements are integers: here some are not");
    }
    return integer.digits();
  }

  Device device;
  Options options;
  std::optional<DType> type;  // of all elements, unless they are mixed
  bool mixed;
  bool signed_integers = false, unsigned_integers = false, reals = false;  // which kinds were appended
  core::Tree<float> floats;
  core::Tree<double> doubles;
  product_tree::IntegerProduct integer;
  Report report;

 private:
  bool on_kernels() const { return device.info().has(Capability::kernels); }
  bool skip() const { return options.nan == NanPolicy::skip; }

  void settle(DType given) {
    const bool first = !signed_integers && !unsigned_integers && !reals;
    if (mixed && first && size_of(given) != 8) {
      type = given;
      mixed = false;
    }
    if (mixed ? size_of(given) == 8 : given == *type) return;
    throw Error(ErrorKind::usage,
                fmt::format("a product of {} and {} mixed has no type", name_of(type.value_or(DType::float64)), name_of(given)));
  }

  void note(DType given) { (!is_integer(given) ? reals : is_signed(given) ? signed_integers : unsigned_integers) = true; }

  // Elements on the device: those that are no whole tiles come to the host. What lies apart, or begins at no multiple of 16 bytes, too.
  void append_run(const device::Run& run, DType given) {
    if (run.count == 0) return;
    if (is_integer(given)) return append_integers_there(run, given);
    given == DType::float64 ? append_floats_there(run, given, doubles) : append_floats_there(run, given, floats);
  }

  bool lies_in_loads(const device::Run& run, DType given) const {
    const bool together = run.count <= 1 || run.stride == static_cast<std::int64_t>(size_of(given));
    return together && (device.implementation().misalignment(run.memory) + run.offset) % 16 == 0;
  }

  // Reads elements to the host, a bounded number at once: body(View), contiguous.
  template <class Body>
  void for_host_parts(const device::Run& run, DType given, const Body& body) {
    constexpr std::uint64_t kPart = std::uint64_t{1} << 20;
    std::vector<std::byte> bytes;
    for (std::uint64_t first = 0; first < run.count; first += kPart) {
      const View part = device::read_run(device, run.part(first, std::min(kPart, run.count - first)), given, bytes);
      core::for_contiguous_pieces(part, body);
    }
  }

  void append_integers_there(const device::Run& run, DType given) {
    if (lies_in_loads(run, given)) return product_tree::multiply_on_device(run, given, device, options.tuning, integer, report);
    for_host_parts(run, given, [&](View piece) { append_integers(piece); });
  }

  template <class T>
  void append_floats_there(const device::Run& run, DType given, core::Tree<T>& tree) {
    const auto on_host = [&](std::uint64_t first, std::uint64_t count) {
      for_host_parts(run.part(first, count), given, [&](View piece) { append_floats(piece, tree, false); });
    };
    device::Device& queue = device.implementation();
    std::shared_ptr<product_tree::DeviceProduct> tiles;
    {
      const device::Lock lock(queue.mutex());
      tiles = product_tree::take_product(queue, given, skip(), options.tuning);
    }
    const std::uint64_t unit = std::uint64_t{1} << tiles->level();
    const std::uint64_t head = std::min((unit - tree.size() % unit) % unit, run.count);
    const std::uint64_t whole = lies_in_loads(run.part(head, run.count - head), given) ? (run.count - head) / unit * unit : 0;
    on_host(0, head);
    if (whole != 0) {
      const device::Lock lock(queue.mutex());
      product_tree::append_on_device(run.part(head, whole), queue, *tiles, tree, report);
    }
    on_host(head + whole, run.count - head - whole);
    const device::Lock lock(queue.mutex());
    queue.plans().give_back(product_tree::product_name(given, skip(), options.tuning), std::move(tiles));
  }

  // The values of a formula, where the source has one.
  void append_terms(Source& source, DType given, core::ProgressParts& progress) {
    const core::DefaultFloatEnvironment environment;
    const auto begin = [&](std::uint64_t size) {
      note(given);
      report.variant = is_integer(given) ? kIntegers : "tree";
      report.bytes += size * size_of(given);
    };
    if (const auto terms = statistics::terms_of(source, device)) {
      begin(terms->size());
      const std::uint64_t each = size_of(given),
                          most = progress.wanted() ? core::ProgressParts::kKernelPartBytes / each : ~std::uint64_t{0};
      const auto done = [&](std::uint64_t count) { progress.add(count * each); };
      if (is_integer(given)) {
        product_tree::multiply_terms(*terms, options.tuning, most, integer, report, done);
      } else if (given == DType::float64) {
        product_tree::append_terms(*terms, skip(), options.tuning, most, doubles, report, done);
      } else {
        product_tree::append_terms(*terms, skip(), options.tuning, most, floats, report, done);
      }
    } else if (is_integer(given) || (given == DType::float64 ? doubles.size() : floats.size()) == 0) {
      const auto host = statistics::host_terms_of(source, device, progress);
      if (!host) return;
      begin(host->size());
      on_cpu(host->bytes(), [&](std::uint32_t threads) {
        if (is_integer(given)) {
          product_tree::multiply_terms_of_host(*host, threads, integer);
        } else if (given == DType::float64) {
          product_tree::append_terms_of_host(*host, skip(), threads, doubles);
        } else {
          product_tree::append_terms_of_host(*host, skip(), threads, floats);
        }
      });
    }
  }

  void append_piece(View data) {
    if (data.size() == 0) return;
    note(data.type());
    if (is_integer(data.type())) {
      if (!reals) append_integers(data);
      if (mixed) append_as_doubles(data);
    } else if (data.type() == DType::float64) {
      append_floats(data, doubles, on_kernels());
    } else {
      append_floats(data, floats, on_kernels());
    }
  }

  template <class Work>
  void on_cpu(std::uint64_t bytes, const Work& work) {
    const std::uint32_t threads = core::thread_count(bytes, options.tuning.threads);
    const auto start = std::chrono::steady_clock::now();
    work(threads);
    report.seconds += product_tree::seconds_since(start);
    report.configuration = fmt::format("threads={}", threads);
  }

  void append_integers(View data) {
    if (on_kernels()) return product_tree::multiply_on_device(data, device.implementation(), options.tuning, integer, report);
    on_cpu(data.bytes(), [&](std::uint32_t threads) { product_tree::multiply(data, threads, integer); });
  }

  // Once a number is not an integer, the product is one of doubles.
  void append_as_doubles(View data) {
    constexpr std::uint64_t kPart = std::uint64_t{1} << 16;
    std::vector<double> converted(std::min(kPart, data.size()));
    for (std::uint64_t first = 0; first < data.size(); first += kPart) {
      const std::uint64_t count = std::min(kPart, data.size() - first);
      core::visit(data.type(), [&](auto element) {
        for (std::uint64_t i = 0; i < count; ++i) {
          std::memcpy(&element, product_tree::at(data, first + i), sizeof element);
          converted[i] = static_cast<double>(element);
        }
      });
      append_floats(std::span<const double>(converted.data(), count), doubles, false);
    }
  }

  template <class T>
  void append_floats(View data, core::Tree<T>& tree, bool on_device) {
    using namespace product_tree;
    if (on_device) {
      device::Device& queue = device.implementation();
      const std::lock_guard lock(queue.mutex());
      std::shared_ptr<DeviceProduct> product = take_product(queue, data.type(), skip(), options.tuning);
      const int level = product->level();
      queue.plans().give_back(product_name(data.type(), skip(), options.tuning), std::move(product));
      product_tree::append(data, skip(), level, tree,
                           [&](View whole) { append_on_device(whole, queue, skip(), options.tuning, tree, report); });
    } else {
      on_cpu(data.bytes(), [&](std::uint32_t threads) {
        product_tree::append(data, skip(), kBlockLevel, tree, [&](View whole) { append_blocks(whole, skip(), threads, tree); });
      });
    }
  }
};

Product::Product(const Options& options, std::optional<DType> type) : state_(std::make_unique<State>(options, type)) {}
Product::Product(Product&&) noexcept = default;
Product& Product::operator=(Product&&) noexcept = default;
Product::~Product() = default;

void Product::append(const Array& data) { state_->append(data); }
void Product::append(Source& source) { state_->append(source); }
Value Product::value() const { return state_->value(); }
std::string Product::digits() const { return state_->digits(); }
const Report& Product::report() const noexcept { return state_->report; }

Value product(const Array& data, const Options& options) {
  const Device device = device::device_for(data, data.bytes(), options);
  device::require_on(data, device);
  Product product(device::on(device, options), data.type());
  product.append(data);
  if (options.report != nullptr) *options.report = product.report();
  return product.value();
}

Value product(Source& source, const Options& options) {
  Product product(device::on(device::device_for(source, options), options), source.type());
  product.append(source);
  if (options.report != nullptr) *options.report = product.report();
  return product.value();
}

}  // namespace samesum
