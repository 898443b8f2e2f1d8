#include "exact/serialized.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace samesum::exact {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

// A prefix of the magic suffices, so that the rest of a truncated form is reported as truncated.
bool begins_as(std::span<const std::byte> bytes, const Form& form) noexcept {
  const std::size_t size = std::min(bytes.size(), kMagicBytes);
  return size != 0 && std::memcmp(bytes.data(), form.magic.data(), size) == 0;
}

std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace

Writer::Writer(const Form& form, std::uint16_t version, std::size_t size) {
  bytes_.reserve(size);
  put(std::as_bytes(std::span(form.magic)));
  put(version, 2);
}

void Writer::put(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::vector<std::byte> Writer::finish() {
  put(XXH3_64bits(bytes_.data(), bytes_.size()), static_cast<int>(kChecksumBytes));
  return std::move(bytes_);
}

Reader::Reader(const Form& form, std::uint16_t version, std::span<const std::byte> bytes, std::size_t header_bytes)
    : form_(form), bytes_(bytes), left_(bytes) {
  if (!begins_as(bytes, form)) {
    const auto other = std::ranges::find_if(kForms, [&](const Form& one) { return begins_as(bytes, one); });
    refuse(fmt::format("{}not a {} written by samesum", other != kForms.end() ? fmt::format("a {}, ", other->name) : "", form.name));
  }
  const std::size_t least = header_bytes + kChecksumBytes;
  if (bytes.size() < least) {
    refuse(fmt::format("truncated {}: at least {} bytes expected, {} are there", form.name, least, bytes.size()));
  }
  left_ = bytes.subspan(kMagicBytes);
  const std::uint64_t found = take(2);
  if (found != version) refuse(fmt::format("{} of format version {}; this samesum knows version {}", form.name, found, version));
}

void Reader::expect(std::uint64_t size) const {
  if (bytes_.size() != size) {
    refuse(fmt::format("{} {}: {} bytes expected, {} are there", bytes_.size() < size ? "truncated" : "damaged", form_.name, size,
                       bytes_.size()));
  }
  const auto payload = bytes_.first(bytes_.size() - kChecksumBytes);
  if (little_endian(bytes_.last(kChecksumBytes)) != XXH3_64bits(payload.data(), payload.size())) {
    refuse(fmt::format("damaged {}: its checksum does not match", form_.name));
  }
}

std::uint64_t Reader::take(std::size_t bytes) noexcept { return little_endian(take_bytes(bytes)); }

std::span<const std::byte> Reader::take_bytes(std::size_t count) noexcept {
  const auto taken = left_.first(count);
  left_ = left_.subspan(count);
  return taken;
}

void Reader::contradiction() const { refuse(fmt::format("damaged {}: it contradicts itself", form_.name)); }

}  // namespace samesum::exact
