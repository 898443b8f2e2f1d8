#include "spool.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace samesum::cli {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;

[[noreturn]] void fail(const std::string& folder) {
  const int code = errno;
  throw Error(ErrorKind::usage, fmt::format("a temporary file in {} cannot be written: {} (TMPDIR names another folder; with --range or "
                                            "--edges none is needed)",
                                            folder, std::generic_category().message(code)));
}

}  // namespace

Spool::Spool(Source& source) : format_(source.format()) {
  const char* given = std::getenv("TMPDIR");
  const std::string folder = given != nullptr && *given != '\0' ? given : "/tmp";
  std::string path = folder + "/samesum-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) fail(folder);
  unlink(path.c_str());
  file_.reset(fdopen(descriptor, "w+b"));
  if (file_ == nullptr) fail(folder);
  while (const std::optional<View> view = source.next()) {
    if (std::fwrite(view->data(), 1, view->bytes(), file_.get()) != view->bytes()) fail(folder);
    if (runs_.empty() || runs_.back().type != view->type()) runs_.push_back({view->type(), 0});
    runs_.back().bytes += view->bytes();
  }
  if (std::fflush(file_.get()) != 0) fail(folder);
  rewind();
}

void Spool::rewind() {
  std::rewind(file_.get());
  run_ = 0;
  done_ = 0;
}

std::optional<View> Spool::next() {
  if (run_ == runs_.size()) return std::nullopt;
  const Run& run = runs_[run_];
  chunk_.resize(std::min(kChunkBytes, run.bytes - done_));
  if (std::fread(chunk_.data(), 1, chunk_.size(), file_.get()) != chunk_.size()) {
    throw Error(ErrorKind::usage, "a temporary file cannot be read again");
  }
  done_ += chunk_.size();
  if (done_ == run.bytes) {
    ++run_;
    done_ = 0;
  }
  return View(chunk_.data(), chunk_.size() / size_of(run.type), run.type);
}

}  // namespace samesum::cli
