#include "partial.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace samesum::cli {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) { throw Error(ErrorKind::usage, fmt::format("{}: {}", path, what)); }

[[noreturn]] void fail(const std::string& path, std::string_view what, int code) {
  fail(path, fmt::format("{}: {}", what, std::generic_category().message(code)));
}

struct Closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

}  // namespace

void PartialTarget::save(Output& out, const Accumulator& sum) const { write(out, {sum.serialize()}); }

Accumulator load_partial(const std::string& path) {
  const File file(std::fopen(path == "-" ? "/dev/stdin" : path.c_str(), "rbe"));
  if (!file) fail(path, "cannot be opened", errno);
  std::vector<std::byte> bytes(4096);  // far more than any partial sum needs
  errno = 0;
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (std::ferror(file.get()) != 0) fail(path, "cannot be read", errno);
  bytes.resize(size);
  try {
    return Accumulator::deserialize(bytes);
  } catch (const Error& error) {
    fail(path, error.what());
  }
}

}  // namespace samesum::cli
