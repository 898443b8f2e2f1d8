#include "device/kernel_cache.hpp"

#include "device/hash.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace samesum::device {
namespace {

// The layout of an entry: this header, the binary, the log. `checksum` covers all of it, with itself taken as zero.
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
  File(const File&) = delete;
  File& operator=(const File&) = delete;

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

// The folder's path; empty where there is to be no cache.
std::string folder() {
  const char* on = variable("SAMESUM_CACHE");
  if (on != nullptr && std::strcmp(on, "0") == 0) return {};
  if (const char* own = variable("SAMESUM_CACHE_DIR")) return own;
  if (const char* xdg = variable("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') return std::string(xdg) + "/samesum/kernels";
  if (const char* home = variable("HOME")) return std::string(home) + "/.cache/samesum/kernels";
  return {};
}

bool private_folder(const std::string& path) noexcept {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & S_IWOTH) == 0;
}

// Creates `path` and its parents, for the user alone; what is there stays as it is.
void create_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

std::string entry_path(const std::string& in, const std::string& key) { return in + '/' + key + ".kernel"; }

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

std::optional<Binary> find_cached(const std::string& key) {
  const std::string in = folder();
  if (in.empty() || !private_folder(in)) return std::nullopt;
  File file(::open(entry_path(in, key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe put there must not block
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
  const std::string in = folder();
  if (in.empty() || key.size() != sizeof Header::key) return;
  create_folders(in);
  if (!private_folder(in)) return;

  const std::string payload = binary.bytes + binary.log;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::memcpy(header.key, key.data(), sizeof header.key);
  header.binary_bytes = binary.bytes.size();
  header.log_bytes = binary.log.size();
  header.checksum = checksum_of(header, payload.data(), payload.size());

  std::string temporary = in + "/new.XXXXXX";
  File file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return;
  const bool whole = file.write(reinterpret_cast<const char*>(&header), sizeof header) && file.write(payload.data(), payload.size());
  if (!file.close() || !whole || rename(temporary.c_str(), entry_path(in, key).c_str()) != 0) unlink(temporary.c_str());
} catch (const std::exception&) {  // out of memory: then it is not kept
}

}  // namespace samesum::device
