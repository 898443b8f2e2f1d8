#include "part/partial.hpp"

#include "output/output_file.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <type_traits>

namespace samesum::cli {
namespace {

struct Closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

constexpr std::size_t kMagicBytes = 8, kHeaderAt = kMagicBytes + 2 + 4, kChecksumBytes = 8;
constexpr std::string_view kMagic = "\x89SSPA\r\n\x1a";
constexpr std::uint64_t kVersion = 1;

// The beginnings of the library's forms, in the order of PartialResult.
constexpr std::array<std::string_view, 6> kForms = {"\x89SSUM\r\n\x1a", "\x89SSPR\r\n\x1a", "\x89SSST\r\n\x1a",
                                                    "\x89SSHI\r\n\x1a", Grouped::kMagic,    PairValues::kMagic};
constexpr std::array<std::string_view, 6> kKinds = {"partial sum", "partial sum of products", "set of statistics",
                                                    "histogram",   "set of sums by key",      "set of values of pairs"};

bool begins(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

void put(std::vector<std::byte>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}
std::uint64_t take(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

PartialResult result_of(std::span<const std::byte> bytes) {
  if (begins(bytes, kForms[1])) return ProductAccumulator::deserialize(bytes);
  if (begins(bytes, kForms[2])) return Statistics::deserialize(bytes);
  if (begins(bytes, kForms[3])) return Histogram::deserialize(bytes);
  if (begins(bytes, kForms[4])) return Grouped::deserialize(bytes);
  if (begins(bytes, kForms[5])) return PairValues::deserialize(bytes);
  return Accumulator::deserialize(bytes);
}

// The header's members, each of its type.
PartOf header_of(std::span<const std::byte> text) try {
  const Json json = Json::parse(reinterpret_cast<const char*>(text.data()), reinterpret_cast<const char*>(text.data()) + text.size());
  PartOf of{json.at("work"), json.at("print"), json.at("part").get<std::uint64_t>(), json.at("parts").get<std::uint64_t>(), {}};
  if (json.contains("done")) of.done = json.at("done").get<std::uint64_t>();
  if (of.part == 0 || of.part > of.parts || of.parts > kMaxParts || !of.work.is_object() || !of.print.is_object())
    refuse("damaged part: it contradicts itself");
  return of;
} catch (const Json::exception&) {
  refuse("damaged part: its header cannot be read");
}

Partial parse(std::span<const std::byte> bytes) {
  if (!begins(bytes, kMagic)) return {result_of(bytes), std::nullopt};
  if (bytes.size() < kHeaderAt + kChecksumBytes) refuse("truncated part of a result");
  const std::uint64_t version = take(bytes.subspan(kMagicBytes, 2));
  if (version != kVersion) refuse(fmt::format("part of format version {}; this samesum knows version {}", version, kVersion));
  const auto body = bytes.first(bytes.size() - kChecksumBytes);
  if (take(bytes.last(kChecksumBytes)) != hash_of(body)) {
    refuse("truncated or damaged part of a result: its checksum does not match");
  }
  const std::uint64_t length = take(bytes.subspan(kMagicBytes + 2, 4));
  if (length > body.size() - kHeaderAt) refuse("damaged part: it contradicts itself");
  return {result_of(body.subspan(kHeaderAt + length)), header_of(body.subspan(kHeaderAt, length))};
}

}  // namespace

std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string_view kind_of(const PartialResult& result) { return kKinds[result.index()]; }

std::vector<std::byte> bytes_of(const Partial& partial) {
  std::vector<std::byte> form = std::visit([](const auto& result) { return result.serialize(); }, partial.result);
  if (!partial.of) return form;
  const PartOf& of = *partial.of;
  Json json{{"work", of.work}, {"print", of.print}, {"part", of.part}, {"parts", of.parts}};
  if (of.done) json["done"] = *of.done;
  const std::string header = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::byte> bytes;
  bytes.reserve(kHeaderAt + header.size() + form.size() + kChecksumBytes);
  const auto append = [&](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  append(bytes_of(kMagic));
  put(bytes, kVersion, 2);
  put(bytes, header.size(), 4);
  append(bytes_of(header));
  append(form);
  put(bytes, hash_of(bytes), static_cast<int>(kChecksumBytes));
  return bytes;
}

Partial load_partial(const std::string& path) {
  const File file(std::fopen(path == "-" ? "/dev/stdin" : path.c_str(), "rbe"));
  if (!file) fail(path, "cannot be opened", errno);
  std::vector<std::byte> bytes;
  for (std::size_t wanted = 4096;; wanted = std::size_t{1} << 20) {
    const std::size_t before = bytes.size();
    bytes.resize(before + wanted);
    errno = 0;
    const std::size_t size = std::fread(bytes.data() + before, 1, wanted, file.get());
    if (std::ferror(file.get()) != 0) fail(path, "cannot be read", errno);
    bytes.resize(before + size);
    // Of what is no such file, whatever its size, no more is read.
    const bool known = begins(bytes, kMagic) || std::ranges::any_of(kForms, [&](std::string_view form) { return begins(bytes, form); });
    if (size < wanted || !known) break;
  }
  try {
    return parse(bytes);
  } catch (const Error& error) {
    fail(path, error.what());
  }
}

}  // namespace samesum::cli
