#include "io/open_stream.hpp"

#include "io/compressed/decompress.hpp"
#include "io/recognize.hpp"
#include "io/compressed/zip.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace samesum::io {
namespace {

namespace fs = std::filesystem;

struct InArchive {
  std::string archive, name;
};

// "archive:name", where no file has the whole name and the part before a colon is a file.
std::optional<InArchive> in_archive(const std::string& path) {
  std::error_code error;
  if (path == "-" || path.find(':') == std::string::npos || fs::exists(path, error)) return std::nullopt;
  for (std::size_t colon = path.find(':'); colon != std::string::npos; colon = path.find(':', colon + 1)) {
    std::string archive = path.substr(0, colon);
    if (fs::is_regular_file(archive, error)) return InArchive{std::move(archive), path.substr(colon + 1)};
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<ByteStream> open_stream(const std::string& path, bool raw) {
  std::unique_ptr<ByteStream> stream;
  std::string_view name = path;
  const std::optional<InArchive> inside = in_archive(path);
  if (inside) {
    stream = open_in_zip(inside->archive, inside->name);
    name = inside->name;
  } else {
    stream = std::make_unique<FileStream>(path);
    const bool named = name.ends_with(".npz") || name.ends_with(".zip");
    if ((!raw || named) && stream->regular() && path != "-" && is_zip(stream->peek(kRecognizedBytes))) stream = open_in_zip(path, "");
  }
  const std::span<const std::byte> start = stream->peek(kRecognizedBytes);
  if (is_gzip(start) && (!raw || name.ends_with(".gz"))) return decompressed(std::move(stream), Compression::gzip);
  if (is_zstd(start) && (!raw || name.ends_with(".zst"))) return decompressed(std::move(stream), Compression::zstd);
  return stream;
}

}  // namespace samesum::io
