#include "device/kernels/kernel_cache.hpp"

#include "core/setting.hpp"
#include "device/kernels/hash.hpp"

#define XXH_INLINE_ALL
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string_view>
#include <utility>

namespace samesum::device {
namespace {

// The layout of an entry: this header, the binary, the log. `checksum` covers all of it, itself taken as zero.
struct Header {
  char magic[8];
  char key[32];
  std::uint64_t binary_bytes;
  std::uint64_t log_bytes;
  std::uint64_t checksum;
};
static_assert(sizeof(Header) == 64);

constexpr char kMagic[8] = {'S', 'S', 'U', 'M', 'K', 'C', '0', '1'};
constexpr std::uint64_t kMaxEntry = std::uint64_t{1} << 30;

class File {
 public:
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  ~File() { close(); }
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  bool close() noexcept { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }

  bool read(char* to, std::size_t bytes) noexcept {
    return transfer(bytes, [&](std::size_t done) { return ::read(descriptor_, to + done, bytes - done); });
  }
  bool write(const char* from, std::size_t bytes) noexcept {
    return transfer(bytes, [&](std::size_t done) { return ::write(descriptor_, from + done, bytes - done); });
  }

 private:
  template <typename Step>
  static bool transfer(std::size_t bytes, Step step) noexcept {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t moved = step(done);
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) return false;
      done += static_cast<std::size_t>(moved);
    }
    return true;
  }

  int descriptor_;
};

const char* variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// The folder's path; empty where caching is disabled.
std::string folder() {
  if (core::setting("SAMESUM_CACHE") == "0") return {};
  if (std::string own = core::setting("SAMESUM_CACHE_DIR"); !own.empty()) return own;
  if (const char* xdg = variable("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') return std::string(xdg) + "/samesum/kernels";
  if (const char* home = variable("HOME")) return std::string(home) + "/.cache/samesum/kernels";
  return {};
}

// An open descriptor of the folder, so that it cannot be replaced between a check and a use. Not open where another user owns it or may
// write to it.
File open_private(const std::string& path) noexcept {
  File in(path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  const bool ours = in.is_open() && fstat(in.descriptor(), &status) == 0 && status.st_uid == geteuid();
  return ours && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? std::move(in) : File(-1);
}

// Creates `path` and its parents with access for the user alone; existing folders are unchanged.
void create_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

std::string entry_name(const std::string& key) { return key + ".kernel"; }

constexpr std::string_view kTemporary = "new.";

// A new file with a unique name among threads, processes and machines; not open where the folder is not writable.
File create_temporary(const File& in, std::string& name) {
  std::random_device random;
  name = fmt::format("{}{:08x}{:08x}", kTemporary, random(), random());
  return File(openat(in.descriptor(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

// Removes the temporaries of processes that were killed while writing: files older than an hour, longer than any write takes.
void remove_old_temporaries(const File& in) {
  constexpr std::time_t kOld = 3600;
  DIR* const listing = fdopendir(openat(in.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (listing == nullptr) return;
  while (const dirent* found = readdir(listing)) {
    struct stat status {};
    const bool temporary = std::string_view(found->d_name).starts_with(kTemporary);
    if (temporary && fstatat(in.descriptor(), found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_mtime < std::time(nullptr) - kOld) {
      unlinkat(in.descriptor(), found->d_name, 0);
    }
  }
  closedir(listing);
}

std::uint64_t checksum_of(Header header, const char* payload, std::size_t bytes) {
  header.checksum = 0;
  return XXH3_64bits_withSeed(payload, bytes, XXH3_64bits(&header, sizeof header));
}

}  // namespace

std::string hash_of(std::initializer_list<std::string_view> fields) {
  std::string joined;
  for (const std::string_view field : fields) {
    const std::uint64_t length = field.size();
    joined.append(reinterpret_cast<const char*>(&length), sizeof length).append(field);
  }
  const XXH128_hash_t hash = XXH3_128bits(joined.data(), joined.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

bool may_cache() { return !folder().empty(); }

std::optional<Binary> find_cached(const std::string& key) {
  const File in = open_private(folder());
  if (!in.is_open()) return std::nullopt;
  // O_NOFOLLOW: no link to a file elsewhere. O_NONBLOCK: a pipe in its place must not block.
  File file(openat(in.descriptor(), entry_name(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  Header header{};
  if (size < sizeof header || size > kMaxEntry || !file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  const std::uint64_t payload_bytes = size - sizeof header;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || key.size() != sizeof header.key ||
      std::memcmp(header.key, key.data(), sizeof header.key) != 0 || header.binary_bytes > payload_bytes ||
      header.log_bytes != payload_bytes - header.binary_bytes) {
    return std::nullopt;
  }
  std::string payload(payload_bytes, '\0');
  if (!file.read(payload.data(), payload.size()) || checksum_of(header, payload.data(), payload.size()) != header.checksum) {
    return std::nullopt;
  }
  std::string log = payload.substr(header.binary_bytes);
  payload.resize(header.binary_bytes);
  return Binary{std::move(payload), std::move(log)};
}

void keep_cached(const std::string& key, const Binary& binary) noexcept try {
  const std::string path = folder();
  if (path.empty() || key.size() != sizeof Header::key) return;
  create_folders(path);
  const File in = open_private(path);
  if (!in.is_open()) return;

  const std::string payload = binary.bytes + binary.log;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::memcpy(header.key, key.data(), sizeof header.key);
  header.binary_bytes = binary.bytes.size();
  header.log_bytes = binary.log.size();
  header.checksum = checksum_of(header, payload.data(), payload.size());

  remove_old_temporaries(in);
  std::string temporary;
  File file = create_temporary(in, temporary);
  if (!file.is_open()) return;
  const bool whole = file.write(reinterpret_cast<const char*>(&header), sizeof header) && file.write(payload.data(), payload.size());
  const bool kept = file.close() && whole && renameat(in.descriptor(), temporary.c_str(), in.descriptor(), entry_name(key).c_str()) == 0;
  if (!kept) unlinkat(in.descriptor(), temporary.c_str(), 0);
} catch (const std::exception&) {  // out of memory or random numbers: not cached
}

}  // namespace samesum::device
