// write_rows FOLDER FEW OTHERS: writes so many translation units few_0.cpp, few_1.cpp …, and others_0.cpp, others_1.cpp …, which compile
// the kernels of kernels_of_rows() for the host, each in its own namespace: the few for `make test`, and all others. And concurrent.cpp
// with some of the few, for ThreadSanitizer. Unchanged units are not rewritten.
#include "device/kernels/program.hpp"
#include "kernels/shipped.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace samesum::test {
namespace {

// The macros of kernel files, to be undefined after each kernel, so that they do not affect the next one.
std::set<std::string> macros_of(const ShippedKernel& kernel) {
  std::set<std::string> names{"ROW_NAME",   "ROW_TYPE", "ROW_THOROUGH",   "ROW_KERNEL",
                              "ROW_DIGITS", "ROW_BASE", "ROW_SLOT_WORDS", "ROW_SMALL"};
  for (const auto& [name, value] : kernel.defines) names.insert(name);
  for (const std::string& file : kernel.files) {
    std::istringstream text{std::string(device::kernel_file(file))};
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      std::string directive, name;
      words >> directive;
      if (directive == "#") words >> name, directive += name;
      if (directive != "#define") continue;
      words >> name;
      names.insert(name.substr(0, name.find('(')));
    }
  }
  return names;
}

std::string text_of(const ShippedKernel& kernel) {
  std::string text = "\n";
  const auto define = [&](std::string_view name, std::string_view value) { text += fmt::format("#define {} {}\n", name, value); };
  define("ROW_NAME", fmt::format("\"{}\"", kernel.name));
  define("ROW_TYPE", "samesum::DType::" + kernel.type);
  define("ROW_THOROUGH", kernel.thorough ? "true" : "false");
  if (kernel.files.back() == "reduce/extremes/extremes_small.cl") define("ROW_SMALL", "extremes_small");
  for (const auto& [name, value] : kernel.defines) define(name, value);
  text += fmt::format("namespace samesum::dialect::{} {{\nnamespace {{\n", kernel.name);
  for (const std::string& file : kernel.files) text += fmt::format("#include \"{}\"\n", file);
  text += fmt::format("#include \"kernels/{}.inc\"\n}}\n}}  // namespace samesum::dialect::{}\n", kernel.family, kernel.name);
  for (const std::string& name : macros_of(kernel)) text += fmt::format("#undef {}\n", name);
  return text;
}

bool write(const std::string& path, const std::string& text) {
  std::ifstream before(path);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == text) return true;
  std::ofstream file(path);
  return static_cast<bool>(file << text);
}

}  // namespace
}  // namespace samesum::test

int main(int, char** argv) {
  using namespace samesum::test;
  const std::string folder = argv[1];
  const std::string start =
      "// Written by tests/kernels/write_rows.cpp.\n#include \"support/emulation.hpp\"\n#include \"support/kernel_rows.hpp\"\n";
  std::vector<std::string> few(std::strtoul(argv[2], nullptr, 10), start), others(std::strtoul(argv[3], nullptr, 10), start);
  std::string concurrent = start;
  // Chosen by a hash of the name (FNV-1a): a new kernel changes only one unit.
  for (const ShippedKernel& kernel : kernels_of_rows()) {
    std::uint32_t hash = 2166136261u;
    for (const char letter : kernel.name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
    std::vector<std::string>& units = kernel.few ? few : others;
    units[hash / 65536 % units.size()] += text_of(kernel);
    if (kernel.concurrent) concurrent += text_of(kernel);
  }
  bool written = write(folder + "/concurrent.cpp", concurrent);
  for (std::size_t i = 0; i < few.size(); ++i) written = write(fmt::format("{}/few_{}.cpp", folder, i), few[i]) && written;
  for (std::size_t i = 0; i < others.size(); ++i) written = write(fmt::format("{}/others_{}.cpp", folder, i), others[i]) && written;
  return written ? 0 : 1;
}
