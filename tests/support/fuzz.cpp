#include "support/fuzz.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

// Of the fuzzers that take bytes.
extern "C" [[gnu::weak]] int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace samesum::test {
namespace {

// The files of the corpus, in the same order everywhere.
std::vector<std::filesystem::path> files_of(const std::vector<std::filesystem::path>& named) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : named) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || LLVMFuzzerTestOneInput == nullptr) throw Mismatch("cannot be read, or the fuzzer takes no bytes");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int fuzz(const char* name, int argc, char** argv, const std::function<void(hard::Random&)>& check) {
  double seconds = 5;
  std::optional<std::uint64_t> only;
  std::vector<std::filesystem::path> corpus;
  for (int i = 1; i < argc; ++i) {
    if (i + 1 < argc && std::strcmp(argv[i], "--seconds") == 0) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (i + 1 < argc && std::strcmp(argv[i], "--seed") == 0) {
      only = std::strtoull(argv[++i], nullptr, 0);
    } else if (argv[i][0] != '-') {
      corpus.emplace_back(argv[i]);
    } else {
      std::fprintf(stderr, "usage: %s [--seconds N] [--seed S] [FILE or FOLDER...]\n", name);
      return 2;
    }
  }
  const auto files = files_of(corpus);
  for (const std::filesystem::path& path : files) {
    try {
      run_file(path);
    } catch (const std::exception& error) {
      std::printf("%s: %s\nto reproduce: %s --seconds 0 %s\n", name, error.what(), argv[0], path.c_str());
      return 1;
    }
  }
  if (!files.empty()) std::printf("%s: %zu files of the corpus, no failure\n", name, files.size());
  const std::uint64_t first = only.value_or(std::uint64_t{std::random_device{}()} << 16);
  std::printf("%s: seeds from %llu\n", name, static_cast<unsigned long long>(first));
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t seed = first;
  do {
    try {
      hard::Random random(seed);
      check(random);
    } catch (const std::exception& error) {
      std::printf("%s: %s\nto reproduce: %s --seed %llu\n", name, error.what(), argv[0], static_cast<unsigned long long>(seed));
      return 1;
    }
    ++seed;
  } while (!only && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds);
  std::printf("%s: %llu inputs, no failure\n", name, static_cast<unsigned long long>(seed - first));
  return 0;
}

}  // namespace samesum::test
