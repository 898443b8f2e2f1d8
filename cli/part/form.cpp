#include "part/form.hpp"

#include "part/partial.hpp"
#include "usage.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace samesum::cli {
namespace {

constexpr std::size_t kHashBytes = 8;

}  // namespace

FormWriter::FormWriter(std::string_view magic) {
  const auto start = std::as_bytes(std::span(magic));
  bytes_.assign(start.begin(), start.end());
}

void FormWriter::put(std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(number >> (8 * i)));
}

void FormWriter::put(std::span<const std::byte> more) {
  put(more.size());
  bytes_.insert(bytes_.end(), more.begin(), more.end());
}

void FormWriter::put(const std::vector<std::string>& words) {
  put(words.size());
  for (const std::string& word : words) put(std::as_bytes(std::span(word)));
}

std::vector<std::byte> FormWriter::finished() && {
  put(hash_of(bytes_));
  return std::move(bytes_);
}

FormReader::FormReader(std::span<const std::byte> bytes, std::string_view magic, std::string what) : what_(std::move(what)) {
  if (bytes.size() < magic.size() + kHashBytes || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    refuse(fmt::format("no {}", what_));
  const auto body = bytes.first(bytes.size() - kHashBytes);
  left_ = bytes.last(kHashBytes);
  if (take() != hash_of(body)) refuse(fmt::format("truncated or damaged {}: the checksum does not match", what_));
  left_ = body.subspan(magic.size());
}

void FormReader::refuse_contradiction() const { refuse(fmt::format("damaged {}: they contradict themselves", what_)); }

std::span<const std::byte> FormReader::first(std::uint64_t size) {
  if (size > left_.size()) refuse_contradiction();
  const auto taken = left_.first(size);
  left_ = left_.subspan(size);
  return taken;
}

std::uint64_t FormReader::take(std::size_t bytes) {
  std::uint64_t number = 0;
  const auto taken = first(bytes);
  for (std::size_t i = bytes; i-- > 0;) number = number << 8 | std::to_integer<std::uint64_t>(taken[i]);
  return number;
}

std::span<const std::byte> FormReader::take_bytes() { return first(take()); }

std::uint64_t FormReader::take_count() {
  const std::uint64_t count = take();
  if (count > left_.size()) refuse_contradiction();
  return count;
}

std::vector<std::string> FormReader::take_words() {
  std::vector<std::string> words;
  for (std::uint64_t left = take_count(); left > 0; --left) {
    const auto word = take_bytes();
    words.emplace_back(reinterpret_cast<const char*>(word.data()), word.size());
  }
  return words;
}

}  // namespace samesum::cli
