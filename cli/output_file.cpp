#include "output_file.hpp"

#include <samesum/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace samesum::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, std::string_view what) { throw Error(ErrorKind::usage, fmt::format("{}: {}", path, what)); }

[[noreturn]] void fail(const std::string& path, std::string_view what, int code) {
  fail(path, fmt::format("{}: {}", what, std::generic_category().message(code)));
}

// A file that is being written, to be removed should a signal end the program meanwhile.
std::atomic<const char*> unfinished = nullptr;

void remove_unfinished(int signal) {
  if (const char* const path = unfinished) unlink(path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class RemovedBySignals {
 public:
  explicit RemovedBySignals(const char* path) noexcept {
    unfinished = path;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      before_[i] = std::signal(kSignals[i], remove_unfinished);
      if (before_[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);  // as under nohup
    }
  }
  ~RemovedBySignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
    unfinished = nullptr;
  }
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), kSignals.size()> before_{};
};

// 0, or what went wrong.
int write_all(int descriptor, std::initializer_list<std::span<const std::byte>> parts) {
  for (std::span<const std::byte> left : parts) {
    while (!left.empty()) {
      const ssize_t written = ::write(descriptor, left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      if (written == 0) return ENOSPC;
      left = left.subspan(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const std::vector<std::string>& inputs) : path_(path) {
  if (path.empty()) return;
  std::error_code error;
  // The end of a chain of links is what gets replaced, not the first link.
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    const fs::path end = fs::weakly_canonical(path, error);
    if (!error) path_ = end.string();
  }
  const fs::file_status status = fs::status(path_, error);
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status)) fail(path, "cannot be written: there is something of this name that is no regular file");
    for (const std::string& input : inputs) {
      if (fs::equivalent(path_, input, error) && !error) fail(path, "would be overwritten, and it is one of the inputs");
    }
  }
  const fs::path folder = fs::path(path_).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail(path, "cannot be written: its folder", errno);
}

void OutputFile::write(std::initializer_list<std::span<const std::byte>> parts) const {
  if (path_.empty()) return;
  std::string temporary = path_ + ".XXXXXX";
  const RemovedBySignals guard(temporary.c_str());
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) fail(path_, "cannot be written", errno);
  int code = write_all(descriptor, parts);
  const mode_t mask = umask(0);
  umask(mask);
  if (code == 0 && (fchmod(descriptor, 0666 & ~mask) != 0 || fsync(descriptor) != 0)) code = errno;
  close(descriptor);
  if (code == 0 && std::rename(temporary.c_str(), path_.c_str()) != 0) code = errno;
  if (code == 0) return;
  unlink(temporary.c_str());
  fail(path_, "cannot be written", code);
}

}  // namespace samesum::cli
