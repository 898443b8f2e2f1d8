#include "io/compressed/zip.hpp"

#include "io/compressed/decompress.hpp"
#include "io/text/text.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace samesum::io {
namespace {

// Sizes of the fixed part of each record, and offsets in it.
constexpr std::size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr std::size_t kMaxComment = 65535;
constexpr std::uint64_t kMaxDirectory = std::uint64_t{1} << 26;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the value is in the zip64 record

struct Entry {
  std::string name;
  std::uint32_t flags = 0, method = 0, checksum = 0;
  std::uint64_t packed_size = 0, size = 0, offset = 0;
};

// Reads little-endian numbers at offsets; reading beyond the end is reported as damage.
class Record {
 public:
  Record(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  std::uint64_t number(std::size_t at, std::size_t count) const {
    std::uint64_t value = 0;
    const auto part = bytes(at, count);
    for (std::size_t i = count; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(part[i]);
    return value;
  }
  std::uint32_t u16(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  std::span<const std::byte> bytes(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) damaged();
    return bytes_.subspan(at, count);
  }
  bool begins(std::size_t at, std::string_view signature) const {
    return std::memcmp(bytes(at, signature.size()).data(), signature.data(), signature.size()) == 0;
  }
  [[noreturn]] void damaged() const {
    throw Error(ErrorKind::usage, fmt::format("{}: a damaged zip archive: its directory cannot be read", file_));
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
};

std::vector<std::byte> part_of(const FileStream& file, std::uint64_t offset, std::uint64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  bytes.resize(file.read_at(offset, bytes));
  return bytes;
}

// The offset and the size of the central directory.
std::pair<std::uint64_t, std::uint64_t> find_directory(const FileStream& file) {
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(file.size(), kMaxComment + kEndBytes + kLocatorBytes);
  const std::uint64_t tail_at = file.size() - tail_bytes;
  const std::vector<std::byte> bytes = part_of(file, tail_at, tail_bytes);
  const Record tail(bytes, file.name());
  if (bytes.size() < kEndBytes) tail.damaged();
  std::size_t end = bytes.size() - kEndBytes;
  while (!(tail.begins(end, "PK\x05\x06") && end + kEndBytes + tail.u16(end + 20) == bytes.size())) {
    if (end-- == 0) {
      throw Error(ErrorKind::usage, fmt::format("{}: a zip archive that is cut off: the directory at its end is missing", file.name()));
    }
  }
  if (end >= kLocatorBytes && tail.begins(end - kLocatorBytes, "PK\x06\x07")) {
    const std::vector<std::byte> record = part_of(file, tail.u64(end - kLocatorBytes + 8), kEnd64Bytes);
    const Record end64(record, file.name());
    if (!end64.begins(0, "PK\x06\x06")) tail.damaged();
    return {end64.u64(48), end64.u64(40)};
  }
  return {tail.u32(end + 16), tail.u32(end + 12)};
}

Entry read_entry(const Record& directory, std::size_t at) {
  if (!directory.begins(at, "PK\x01\x02")) directory.damaged();
  Entry entry;
  entry.flags = directory.u16(at + 8);
  entry.method = directory.u16(at + 10);
  entry.checksum = directory.u32(at + 16);
  entry.packed_size = directory.u32(at + 20);
  entry.size = directory.u32(at + 24);
  entry.offset = directory.u32(at + 42);
  const auto name = directory.bytes(at + kEntryBytes, directory.u16(at + 28));
  entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  // Extra fields: a kind, a size, and contents each. The one of zip64 holds those of the three numbers that do not fit 32 bits.
  std::size_t extra = at + kEntryBytes + name.size();
  const std::size_t extra_end = extra + directory.u16(at + 30);
  while (extra + 4 <= extra_end) {
    const std::size_t size = directory.u16(extra + 2);
    if (directory.u16(extra) == 1) {
      std::size_t place = extra + 4;
      for (std::uint64_t* number : {&entry.size, &entry.packed_size, &entry.offset}) {
        if (*number != kIn64) continue;
        if (place + 8 > extra + 4 + size) directory.damaged();
        *number = directory.u64(place);
        place += 8;
      }
    }
    extra += 4 + size;
  }
  return entry;
}

std::vector<Entry> read_directory(const FileStream& file) {
  const auto [offset, size] = find_directory(file);
  if (size > std::min(kMaxDirectory, file.size())) {
    throw Error(ErrorKind::usage, fmt::format("{}: a damaged zip archive: a directory of {} bytes", file.name(), size));
  }
  const std::vector<std::byte> bytes = part_of(file, offset, size);
  const Record directory(bytes, file.name());
  if (bytes.size() != size) directory.damaged();
  std::vector<Entry> entries;
  for (std::size_t at = 0; at < bytes.size();) {
    Entry entry = read_entry(directory, at);
    at += kEntryBytes + directory.u16(at + 28) + directory.u16(at + 30) + directory.u16(at + 32);
    if (!entry.name.ends_with('/')) entries.push_back(std::move(entry));  // names of folders end in '/'
  }
  return entries;
}

std::string short_name(std::string_view name) {
  if (name.ends_with(".npy")) name.remove_suffix(4);
  return printable(name);
}

std::string list(const std::vector<Entry>& entries) {
  constexpr std::size_t kMax = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(entries.size(), kMax); ++i) text += (i == 0 ? "" : ", ") + short_name(entries[i].name);
  return entries.size() > kMax ? text + ", ..." : text;
}

const Entry& choose(const std::vector<Entry>& entries, const std::string& path, std::string_view name) {
  if (entries.empty()) throw Error(ErrorKind::usage, fmt::format("{}: an archive with nothing in it", path));
  if (name.empty()) {
    if (entries.size() == 1) return entries.front();
    throw Error(ErrorKind::usage,
                fmt::format("{0}: an archive of several: {1}; take one as {0}:{2}", path, list(entries), short_name(entries.front().name)));
  }
  for (const std::string& wanted : {std::string(name), std::string(name) + ".npy"}) {
    const auto found = std::ranges::find(entries, wanted, &Entry::name);
    if (found != entries.end()) return *found;
  }
  throw Error(ErrorKind::usage, fmt::format("{}: there is no '{}' in it, but {}", path, printable(name), list(entries)));
}

}  // namespace

bool is_zip(std::span<const std::byte> start) noexcept {
  return start.size() >= 4 && (std::memcmp(start.data(), "PK\x03\x04", 4) == 0 || std::memcmp(start.data(), "PK\x05\x06", 4) == 0);
}

std::unique_ptr<ByteStream> open_in_zip(const std::string& path, std::string_view name) {
  auto file = std::make_unique<FileStream>(path);
  if (!is_zip(part_of(*file, 0, 4))) {
    throw Error(ErrorKind::usage, fmt::format("{}: not a zip archive (.npz), so that there is no '{}' in it", path, printable(name)));
  }
  const std::vector<Entry> entries = read_directory(*file);
  const Entry& entry = choose(entries, path, name);
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorKind::usage, fmt::format("{}: '{}' in it is {}", path, short_name(entry.name), what));
  };
  constexpr std::uint32_t kStored = 0, kDeflated = 8;
  if ((entry.flags & 1) != 0) refuse("encrypted: 'unzip' decrypts it");
  if (entry.method != kStored && entry.method != kDeflated) {
    refuse(fmt::format("compressed by method {}, not deflated; 'unzip' or '7z x' may take it out", entry.method));
  }
  const std::vector<std::byte> bytes = part_of(*file, entry.offset, kLocalBytes);
  const Record local(bytes, path);
  if (!local.begins(0, "PK\x03\x04")) local.damaged();
  file->select(entry.offset + kLocalBytes + local.u16(26) + local.u16(28), entry.packed_size);
  return unzipped(std::move(file), entry.method == kDeflated, entry.size, entry.checksum);
}

}  // namespace samesum::io
