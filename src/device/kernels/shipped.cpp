#include "device/kernels/shipped.hpp"

#include "core/setting.hpp"
#include "device/kernels/hash.hpp"

#include <samesum/error.hpp>

#define XXH_INLINE_ALL
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

namespace samesum::device {
namespace {

// The layout of the file: header, targets, index (ascending by key), then the entries, each a frame of zstd. `checksum` covers targets and
// index, which have checksums of their entries.
struct ArchiveHeader {
  char magic[8];
  std::uint32_t targets;
  std::uint32_t entries;
  std::uint64_t checksum;
};
struct ArchiveTarget {
  char arch[24];
  std::uint32_t version;
  std::uint32_t padding;
};
struct ArchiveIndex {
  char key[32];
  std::uint64_t offset, packed, bytes;  // of the entry, and when it is unpacked
  std::uint64_t checksum;               // of the entry as it is packed
};
static_assert(sizeof(ArchiveHeader) == 24 && sizeof(ArchiveTarget) == 32 && sizeof(ArchiveIndex) == 64);

constexpr char kArchiveMagic[8] = {'S', 'S', 'U', 'M', 'S', 'K', '0', '1'};
constexpr std::uint32_t kMaxTargets = 64, kMaxEntries = 1 << 20;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;  // of an entry

std::string key_of(const std::string& source, const std::string& arch) { return hash_of({"samesum shipped kernel 1", source, arch}); }

std::string_view view_of(const char (&key)[32]) { return {key, sizeof key}; }

std::uint64_t checksum_of(std::span<const ArchiveTarget> targets, std::span<const ArchiveIndex> index) {
  return XXH3_64bits_withSeed(index.data(), index.size_bytes(), XXH3_64bits(targets.data(), targets.size_bytes()));
}

// The folder of the file that has this code: of the library, or else of the program.
std::filesystem::path own_folder() {
  Dl_info info;
  void* extra = nullptr;
  std::error_code ignored;
  static const int here = 0;
  if (dladdr1(&here, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return {};
  const char* const name = static_cast<const link_map*>(extra)->l_name;
  const bool is_program = name == nullptr || *name == '\0';
  return std::filesystem::canonical(is_program ? "/proc/self/exe" : name, ignored).parent_path();
}

std::string archive_path() {
  if (std::string named = core::setting("SAMESUM_KERNELS"); !named.empty()) return named == "0" ? std::string() : named;
  const std::filesystem::path folder = own_folder();
  if (folder.empty()) return {};
  for (const char* place : {"cuda-kernels", "../share/samesum/cuda-kernels", "../../share/samesum/cuda-kernels"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / place, ignored)) return folder / place;
  }
  return {};
}

/// An open file, of which targets and index are in memory. Replaced, not changed, by a newer version: an open one stays what it was.
class Archive {
 public:
  explicit Archive(const std::string& path) {
    if (path.empty()) return;
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0 || !S_ISREG(status.st_mode) || !load()) forget();
  }

  const std::vector<ShippedTarget>& targets() const noexcept { return targets_; }

  std::optional<Binary> find(const std::string& source, const std::string& arch) const {
    if (std::ranges::find(targets_, arch, &ShippedTarget::arch) == targets_.end()) return std::nullopt;
    const std::string key = key_of(source, arch);
    const auto found =
        std::ranges::lower_bound(index_, std::string_view(key), {}, [](const ArchiveIndex& entry) { return view_of(entry.key); });
    if (found == index_.end() || view_of(found->key) != key || found->packed > kMaxBytes || found->bytes > kMaxBytes) return std::nullopt;
    std::string packed(found->packed, '\0'), bytes(found->bytes, '\0');
    if (!read(packed.data(), packed.size(), found->offset) || XXH3_64bits(packed.data(), packed.size()) != found->checksum ||
        ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) != bytes.size()) {
      return std::nullopt;
    }
    Binary binary{std::move(bytes), {}};
    binary.arch = arch;
    return binary;
  }

 private:
  bool read(void* to, std::size_t bytes, std::uint64_t offset) const {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
      if (got <= 0) return false;
      done += static_cast<std::size_t>(got);
    }
    return true;
  }

  bool load() {
    ArchiveHeader header{};
    if (!read(&header, sizeof header, 0) || std::memcmp(header.magic, kArchiveMagic, sizeof kArchiveMagic) != 0 ||
        header.targets > kMaxTargets || header.entries > kMaxEntries) {
      return false;
    }
    std::vector<ArchiveTarget> targets(header.targets);
    index_.resize(header.entries);
    const std::uint64_t bytes = targets.size() * sizeof(ArchiveTarget);
    if (!read(targets.data(), bytes, sizeof header) || !read(index_.data(), index_.size() * sizeof(ArchiveIndex), sizeof header + bytes) ||
        checksum_of(targets, index_) != header.checksum) {
      return false;
    }
    for (const ArchiveTarget& target : targets) {
      targets_.push_back({std::string(target.arch, strnlen(target.arch, sizeof target.arch)), static_cast<int>(target.version)});
    }
    return true;
  }

  void forget() {
    targets_.clear();
    index_.clear();
  }

  int file_ = -1;  // as long as the process
  std::vector<ShippedTarget> targets_;
  std::vector<ArchiveIndex> index_;
};

const Archive& archive() {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, Archive>;  // by path, as tests change it
  const std::string path = archive_path();
  const std::lock_guard lock(mutex);
  return opened->try_emplace(path, path).first->second;
}

}  // namespace

std::vector<ShippedTarget> shipped_targets() { return archive().targets(); }

std::optional<Binary> find_shipped(const std::string& source, const std::string& arch) { return archive().find(source, arch); }

void write_shipped(const std::string& path, const std::vector<ShippedTarget>& targets, const std::vector<ShippedEntry>& entries) {
  constexpr int kLevel = 19;
  std::map<std::string, const ShippedEntry*> by_key;
  for (const ShippedEntry& entry : entries) by_key.emplace(key_of(entry.source, entry.arch), &entry);
  std::vector<ArchiveTarget> list(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].arch.copy(list[i].arch, sizeof list[i].arch - 1);
    list[i].version = static_cast<std::uint32_t>(targets[i].version);
  }
  std::vector<ArchiveIndex> index;
  std::string payload;
  std::uint64_t offset = sizeof(ArchiveHeader) + list.size() * sizeof(ArchiveTarget) + by_key.size() * sizeof(ArchiveIndex);
  for (const auto& [key, entry] : by_key) {
    std::string packed(ZSTD_compressBound(entry->bytes.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), entry->bytes.data(), entry->bytes.size(), kLevel));
    ArchiveIndex& at = index.emplace_back();
    key.copy(at.key, sizeof at.key);
    at.offset = offset + payload.size();
    at.packed = packed.size();
    at.bytes = entry->bytes.size();
    at.checksum = XXH3_64bits(packed.data(), packed.size());
    payload += packed;
  }
  ArchiveHeader header{};
  std::memcpy(header.magic, kArchiveMagic, sizeof kArchiveMagic);
  header.targets = static_cast<std::uint32_t>(list.size());
  header.entries = static_cast<std::uint32_t>(index.size());
  header.checksum = checksum_of(list, index);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const auto write = [&](const void* data, std::size_t bytes) {
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  };
  write(&header, sizeof header);
  write(list.data(), list.size() * sizeof(ArchiveTarget));
  write(index.data(), index.size() * sizeof(ArchiveIndex));
  write(payload.data(), payload.size());
  file.close();
  if (!file) throw Error(ErrorKind::usage, fmt::format("{} cannot be written", path));
}

}  // namespace samesum::device
