// Vectors as integers that add up over ranks: on the CPU by its threads, elsewhere by kernels, with one arithmetic (element_words.h).
#include "element_words/element_words.hpp"

#include "core/float_environment.hpp"
#include "core/float_format.hpp"
#include "core/threads/parallel.hpp"
#include "device/dialect/host.h"
#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"

#include <samesum/element_words.hpp>
#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

namespace samesum {
namespace dialect {
#include "element_words/element_words.h"
}  // namespace dialect

namespace {

using device::Lock;
using device::Run;

constexpr std::uint32_t kMaxGroup = 256;     // work-items, of 4 elements each
constexpr std::uint32_t kGroupsOfUnit = 8;   // groups to a compute unit: enough loads in flight
constexpr std::uint64_t kPiecesOfTask = 64;  // on the CPU
static_assert(ElementWords::kPiece == ELEMENTS_OF_PIECE);

dialect::ELEMENT_FORM form_of(DType type) {
  const core::FloatFormat format = core::float_format(type);
  return {static_cast<int>(8 * size_of(type)), format.fraction_bits, -format.lowest_bit()};
}

std::string_view bits_name(DType type) { return size_of(type) == 2 ? "ushort" : size_of(type) == 4 ? "uint" : "ulong"; }

// The first element of a run on the CPU.
template <class T>
T* start_of(const Run& run) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(run.memory.handle.get()) + run.offset);  // NOLINT: aligned, as arrays on devices are
}

// The loops of the CPU over elements that are read as integers of their size.
template <class Bits>
struct OnHost {
  dialect::ELEMENT_FORM form;
  int count_bits;

  // Calls body(piece, its first element, its end).
  template <class Body>
  void for_pieces(std::uint64_t count, const Body& body) const {
    core::parallel_parts(ElementWords::pieces(count), kPiecesOfTask, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t piece = begin; piece < end; ++piece) {
        const std::uint64_t first = piece * ElementWords::kPiece;
        body(piece, first, std::min(first + ElementWords::kPiece, count));
      }
    });
  }
  void exponents(const Bits* x, std::uint64_t count, std::int64_t* to) const {
    const Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
    for_pieces(count, [&](std::uint64_t piece, std::uint64_t first, std::uint64_t end) {
      Bits greatest = 0;
      for (std::uint64_t i = first; i < end; ++i) greatest = std::max(greatest, static_cast<Bits>(x[i] & magnitude));
      to[piece] = dialect::element_exponent(greatest, form);
    });
  }
  void words(const Bits* x, std::uint64_t count, const std::int64_t* exponents, std::int64_t* to) const {
    for_pieces(count, [&](std::uint64_t piece, std::uint64_t first, std::uint64_t end) {
      const int scale = dialect::scale_of(exponents[piece], count_bits);
      dialect::uint misfit = !dialect::exponent_is_usable(exponents[piece]);
      for (std::uint64_t i = first; i < end; ++i) to[i] = dialect::element_word(x[i], form, scale, count_bits, &misfit);
      to[count + piece] = misfit;
    });
  }
  void round(const std::int64_t* words, std::uint64_t count, const std::int64_t* exponents, Bits* x) const {
    for_pieces(count, [&](std::uint64_t piece, std::uint64_t first, std::uint64_t end) {
      if (words[count + piece] != 0) return;
      const int scale = dialect::scale_of(exponents[piece], count_bits);
      for (std::uint64_t i = first; i < end; ++i) x[i] = static_cast<Bits>(dialect::element_of_word(words[i], form, scale, count_bits));
    });
  }
};

}  // namespace

device::Source element_words_source(DType type, int count_bits, std::uint32_t group_size) {
  const dialect::ELEMENT_FORM form = form_of(type);
  return {{"element_words/element_words.h", "element_words/element_words.cl"},
          {{"ELEMENT", std::string(bits_name(type))},
           {"WIDTH", std::to_string(form.width)},
           {"FRACTION", std::to_string(form.fraction)},
           {"LOWEST", fmt::format("({})", form.lowest)},
           {"COUNT_BITS", std::to_string(count_bits)},
           {"GROUP_SIZE", std::to_string(group_size)}}};
}

struct ElementWords::State {
  Device device;
  DType type;
  int count_bits;
  std::uint32_t group_size;  // 0 on the host
  device::Kernel exponents = {}, words = {}, round = {};

  bool on_host() const noexcept { return group_size == 0; }

  // An array of so many elements.
  Run run_of(const Array& array, DType wanted, std::uint64_t count, std::string_view what) const {
    if (array.size() != count) throw Error(ErrorKind::usage, fmt::format("the vector has {} {}, not {}", count, what, array.size()));
    return device::planned_run(array, core::Order::index, device, wanted, Layout::contiguous);
  }
  Run exponents_of(const Array& array, std::uint64_t elements) const { return run_of(array, DType::int64, pieces(elements), "exponents"); }
  Run words_of(const Array& array, std::uint64_t elements) const { return run_of(array, DType::int64, size(elements), "words"); }
  Run vector_of(const Array& x) const { return run_of(x, type, x.size(), "elements"); }

  // Calls body(OnHost).
  template <class Body>
  void with_bits(const Body& body) const {
    const dialect::ELEMENT_FORM form = form_of(type);
    if (size_of(type) == 2) return body(OnHost<std::uint16_t>{form, count_bits});
    if (size_of(type) == 4) return body(OnHost<std::uint32_t>{form, count_bits});
    body(OnHost<std::uint64_t>{form, count_bits});
  }
  void launch(const device::Kernel& kernel, std::uint64_t elements, std::initializer_list<device::Argument> arguments) {
    if (elements == 0) return;
    device::Device& there = device.implementation();
    const std::uint64_t groups = std::min<std::uint64_t>(pieces(elements), std::uint64_t{kGroupsOfUnit} * there.info().compute_units);
    const Lock lock(there.mutex());
    there.launch(kernel, {static_cast<std::uint32_t>(groups), group_size}, std::span(arguments.begin(), arguments.size()));
  }
};

ElementWords::ElementWords(const Device& device, DType type, std::uint32_t ranks) {
  const core::DefaultFloatEnvironment environment;
  if (is_integer(type)) throw Error(ErrorKind::usage, fmt::format("elements become words if they are floats, not {}", name_of(type)));
  if (ranks == 0 || ranks > kMaxRanks) {
    throw Error(ErrorKind::usage, fmt::format("words of elements are for 1 to {} ranks, not {}", kMaxRanks, ranks));
  }
  const bool kernels = device.info().has(Capability::kernels);
  const std::uint32_t group_size = kernels ? std::min(std::bit_floor(device.info().max_group_size), kMaxGroup) : 0;
  state_ = std::make_shared<State>(State{device, type, static_cast<int>(std::bit_width(ranks)), group_size});
  if (state_->on_host()) return;
  device::Device& there = state_->device.implementation();
  const Lock lock(there.mutex());
  const device::Source source = element_words_source(type, state_->count_bits, group_size);
  state_->exponents = device::build(there, source, "exponents_of_elements");
  state_->words = device::build(there, source, "words_of_elements");
  state_->round = device::build(there, source, "elements_of_words");
}

void ElementWords::exponents(const Array& x, const Array& exponents) {
  const core::DefaultFloatEnvironment environment;
  const Run from = state_->vector_of(x), to = state_->exponents_of(exponents, x.size());
  if (state_->on_host()) {
    state_->with_bits([&]<class Bits>(const OnHost<Bits>& loops) {
      loops.exponents(start_of<const Bits>(from), from.count, start_of<std::int64_t>(to));
    });
  } else {
    state_->launch(state_->exponents, from.count, {from.memory, from.offset / size_of(x.type()), from.count, to.memory, to.offset / 8});
  }
}

void ElementWords::words(const Array& x, const Array& exponents, const Array& words) {
  const core::DefaultFloatEnvironment environment;
  const Run from = state_->vector_of(x), e = state_->exponents_of(exponents, x.size()), to = state_->words_of(words, x.size());
  if (state_->on_host()) {
    state_->with_bits([&]<class Bits>(const OnHost<Bits>& loops) {
      loops.words(start_of<const Bits>(from), from.count, start_of<const std::int64_t>(e), start_of<std::int64_t>(to));
    });
  } else {
    state_->launch(state_->words, from.count,
                   {from.memory, from.offset / size_of(x.type()), from.count, e.memory, e.offset / 8, to.memory, to.offset / 8});
  }
}

void ElementWords::round(const Array& words, const Array& exponents, const Array& x) {
  const core::DefaultFloatEnvironment environment;
  const Run from = state_->words_of(words, x.size()), e = state_->exponents_of(exponents, x.size()), to = state_->vector_of(x);
  if (state_->on_host()) {
    state_->with_bits([&]<class Bits>(const OnHost<Bits>& loops) {
      loops.round(start_of<const std::int64_t>(from), to.count, start_of<const std::int64_t>(e), start_of<Bits>(to));
    });
  } else {
    state_->launch(state_->round, to.count,
                   {from.memory, from.offset / 8, to.count, e.memory, e.offset / 8, to.memory, to.offset / size_of(x.type())});
  }
}

}  // namespace samesum
