#include "output/output_file.hpp"

#include "input/input.hpp"
#include "output/write.hpp"

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

void fail(const std::string& path, std::string_view what) { throw Error(ErrorKind::usage, fmt::format("{}: {}", path, what)); }

void fail(const std::string& path, std::string_view what, int code) {
  fail(path, fmt::format("{}: {}", what, std::generic_category().message(code)));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNull = "/dev/null";

// The temporary file being written, which a signal handler removes.
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
      if (before_[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);  // stays ignored, as under nohup
    }
  }
  ~RemovedBySignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
    unfinished = nullptr;
  }
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  // The signals that end a program by default, except those for errors of the program itself.
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};
  std::array<void (*)(int), kSignals.size()> before_{};
};

// The status of the file at `path`; "-" is standard input.
bool examine(const std::string& path, struct stat& status) {
  return path == "-" ? fstat(STDIN_FILENO, &status) == 0 : stat(path.c_str(), &status) == 0;
}

// Copies the old file's permissions to the new one, as far as this user may.
int take_permissions(int descriptor, const std::string& path) {
  struct stat old {};
  if (stat(path.c_str(), &old) == 0) {
    [[maybe_unused]] const int owner = fchown(descriptor, old.st_uid, old.st_gid);
    return fchmod(descriptor, old.st_mode & 07777) == 0 ? 0 : errno;
  }
  const mode_t mask = umask(0);
  umask(mask);
  return fchmod(descriptor, 0666 & ~mask) == 0 ? 0 : errno;
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const std::vector<std::string>& inputs) : path_(path) {
  if (path.empty() || path == "-" || path == kNull) return;
  std::error_code error;
  // Replaces the target at the end of a chain of links, not the first link.
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    const fs::path end = fs::weakly_canonical(path, error);
    if (!error) path_ = end.string();
  }
  struct stat old {};
  if (stat(path_.c_str(), &old) == 0) {
    for (const std::string& input : inputs) {
      struct stat given {};
      if (examine(file_of(input), given) && given.st_dev == old.st_dev && given.st_ino == old.st_ino) {
        fail(path, "would be overwritten, and it is one of the inputs: name another file");
      }
    }
    if (!S_ISREG(old.st_mode)) {
      fail(path, "cannot be written: there is something of this name that is no regular file (- is standard output)");
    }
  }
  const fs::path folder = fs::path(path_).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail(path, "cannot be written: its folder", errno);
}

void OutputFile::write(Output& out, std::initializer_list<std::span<const std::byte>> parts) const {
  write(out, [parts](const Sink& sink) {
    for (const std::span<const std::byte> part : parts) sink(part);
  });
}

void OutputFile::write(Output& out, const std::function<void(const Sink&)>& produce) const {
  if (path_.empty()) return;
  if (path_ == "-") return produce([&out](std::span<const std::byte> part) { out.write_bytes({part}); });
  if (path_ == kNull) return produce([](std::span<const std::byte>) {});
  // In the same folder, so that it can be renamed; its name is short for any length of the file's name.
  std::string temporary = (fs::path(path_).parent_path() / ".samesum-XXXXXX").string();
  const RemovedBySignals guard(temporary.c_str());
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) fail(path_, "cannot be written", errno);
  int code = 0;
  try {
    produce([&](std::span<const std::byte> part) {
      code = write_all(descriptor, part);
      if (code != 0) fail(path_, "cannot be written, and is as it was", code);
    });
  } catch (...) {
    close(descriptor);
    unlink(temporary.c_str());
    throw;
  }
  code = take_permissions(descriptor, path_);
  if (code == 0 && fsync(descriptor) != 0) code = errno;
  if (close(descriptor) != 0 && code == 0) code = errno;
  if (code == 0 && std::rename(temporary.c_str(), path_.c_str()) != 0) code = errno;
  if (code == 0) return;
  unlink(temporary.c_str());
  fail(path_, "cannot be written, and is as it was", code);
}

}  // namespace samesum::cli
