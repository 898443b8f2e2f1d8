// The forms of results that only the program has: a magic, members, XXH3-64 of all before. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

class FormWriter {
 public:
  explicit FormWriter(std::string_view magic);

  void put(std::uint64_t number, std::size_t bytes = 8);
  void put(std::span<const std::byte> more);  ///< behind their count
  void put(const std::vector<std::string>& words);
  /// Everything, and the hash.
  std::vector<std::byte> finished() &&;

 private:
  std::vector<std::byte> bytes_;
};

class FormReader {
 public:
  /// Of `what`, such as "sums of groups". @throws Error (usage) for another magic or hash.
  FormReader(std::span<const std::byte> bytes, std::string_view magic, std::string what);

  // Each throws Error (usage) where fewer bytes are left.
  std::uint64_t take(std::size_t bytes = 8);
  std::span<const std::byte> take_bytes();
  std::uint64_t take_count();  ///< of things of which each has a byte at least
  std::vector<std::string> take_words();

  std::size_t left() const noexcept { return left_.size(); }
  [[noreturn]] void refuse_contradiction() const;

 private:
  std::span<const std::byte> first(std::uint64_t size);

  std::span<const std::byte> left_;
  std::string what_;
};

}  // namespace samesum::cli
