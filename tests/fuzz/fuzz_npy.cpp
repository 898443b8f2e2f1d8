// Fuzzer of the .npy parser: for any bytes it throws an error with a message, or returns a header that matches the file.
//   fuzz_npy [--seconds N] [--seed S]      made-up headers, mutated
// With clang: -DSAMESUM_LIBFUZZER -fsanitize=fuzzer,address for coverage-guided inputs.
#include "io/npy.hpp"
#include "support/fuzz.hpp"

#include <samesum/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace samesum {
namespace {

// Throws what is wrong with the parser's result for `text`, which is copied to memory of exactly its size, so that sanitizers detect
// overruns.
void check(std::string_view text) {
  const auto copy = std::make_unique<std::byte[]>(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), copy.get());
  io::Npy npy;
  try {
    npy = io::parse_npy({copy.get(), text.size()});
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (error.kind() != ErrorKind::usage || message.empty() || message.size() > 2000) throw test::Mismatch("an odd refusal");
    if (std::ranges::any_of(message, [](char c) { return c < ' ' || c > '~'; })) throw test::Mismatch("a message that cannot be printed");
    return;
  }
  std::uint64_t product = 1;
  for (const std::uint64_t dimension : npy.shape) product *= dimension;
  if (std::ranges::find(npy.shape, 0u) != npy.shape.end()) product = 0;
  if (npy.count != product) throw test::Mismatch("the count is not the product of the shape");
  if (npy.offset + npy.count * size_of(npy.type) != text.size()) throw test::Mismatch("the elements do not fill the file");
}

// Pieces of headers, valid and invalid ones.
constexpr std::array<std::string_view, 40> kPieces = {
    "{",         "}",     "'descr'", "'fortran_order'",
    "'shape'",   ":",     ",",       "'<f4'",
    "'<f8'",     "'>f8'", "'|O'",    "[",
    "]",         "(",     ")",       "True",
    "False",     "0",     "1",       "2",
    "3L",        "-1",    "1e3",     "\"",
    "'",         "\\'",   " ",       "\n",
    "(2,)",      "()",    "(2, 3)",  "4294967296",
    "\"shape\"", "'x'",   "None",    "#",
    "((((((",    "\t",    "\0",      "18446744073709551615",
};

std::string made_up(hard::Random& random) {
  const bool is_double = random.bits(1) != 0;
  std::string shape = "(";
  std::uint64_t count = 1;
  for (std::uint64_t i = random.below(4); i-- > 0;) {
    const std::uint64_t dimension = random.below(5);
    count *= dimension;
    shape += std::to_string(dimension) + ", ";
  }
  std::string header =
      std::string("{'descr': ") + (is_double ? "'<f8'" : "'<f4'") + ", 'fortran_order': False, 'shape': " + shape + "), }\n";
  for (std::uint64_t i = random.below(4); i-- > 0;) {
    const std::string_view piece = kPieces[random.below(kPieces.size())];
    header.replace(random.below(header.size()), random.below(12), piece);
  }
  const int version = random.between(1, 3);
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i));
  file += header;
  file.append(count * (is_double ? 8 : 4), '\x3f');
  for (std::uint64_t i = random.below(3); i-- > 0;) file[random.below(file.size())] = static_cast<char>(random.bits(8));
  if (random.below(4) == 0) file.resize(random.below(file.size() + 9));
  return file;
}

}  // namespace
}  // namespace samesum

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samesum::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef SAMESUM_LIBFUZZER
int main(int argc, char** argv) {
  return samesum::test::fuzz("fuzz_npy", argc, argv, [](samesum::hard::Random& random) { samesum::check(samesum::made_up(random)); });
}
#endif
