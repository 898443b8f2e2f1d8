// Vectors as integers that add up over ranks: what samesum.distributed sends.
#include "objects.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <samesum/element_words.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace samesum::python {
namespace {

/// ElementWords of arrays that are named by the addresses of their first elements. Without an ordinal of a GPU they are in the host's
/// memory.
class Words {
 public:
  Words(const std::string& type, std::uint32_t ranks, std::optional<std::uint32_t> ordinal, std::uintptr_t stream, nb::handle owner)
      : type_(parse_dtype(type)),
        device_(ordinal ? device_on(Stream{stream, *ordinal}, owner) : Device::open("cpu")),
        words_(device_, type_, ranks) {}

  void exponents(std::uintptr_t x, std::uint64_t size, std::uintptr_t exponents) {
    const nb::gil_scoped_release release;
    words_.exponents(at(x, size, type_), exponents_at(exponents, size));
  }
  void words(std::uintptr_t x, std::uint64_t size, std::uintptr_t exponents, std::uintptr_t words) {
    const nb::gil_scoped_release release;
    words_.words(at(x, size, type_), exponents_at(exponents, size), words_at(words, size));
  }
  void round(std::uintptr_t words, std::uintptr_t exponents, std::uintptr_t x, std::uint64_t size) {
    const nb::gil_scoped_release release;
    words_.round(words_at(words, size), exponents_at(exponents, size), at(x, size, type_));
  }

 private:
  Array at(std::uintptr_t address, std::uint64_t size, DType type) const {
    return {Buffer::wrap(device_, reinterpret_cast<void*>(address), size * size_of(type)), size, type};  // NOLINT: torch gives numbers
  }
  Array exponents_at(std::uintptr_t address, std::uint64_t size) const { return at(address, ElementWords::pieces(size), DType::int64); }
  Array words_at(std::uintptr_t address, std::uint64_t size) const { return at(address, ElementWords::size(size), DType::int64); }

  DType type_;
  Device device_;
  ElementWords words_;
};

}  // namespace

void bind_element_words(nb::module_& m) {
  nb::class_<Words>(m, "ElementWords")
      .def(nb::init<const std::string&, std::uint32_t, std::optional<std::uint32_t>, std::uintptr_t, nb::handle>(), nb::arg("type"),
           nb::arg("ranks"), nb::arg("ordinal").none(), nb::arg("stream"), nb::arg("owner").none())
      .def("exponents", &Words::exponents)
      .def("words", &Words::words)
      .def("round", &Words::round)
      .def_ro_static("PIECE", &ElementWords::kPiece);
}

}  // namespace samesum::python
