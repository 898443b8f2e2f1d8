// Opening an input by its name.
#pragma once

#include "io/byte_stream.hpp"

#include <memory>
#include <string>

namespace samesum::io {

/// The file `path`, or standard input ("-"); "archive.zip:name" is a file in a zip archive, unless a file has this whole name. Data
/// compressed by gzip or zstd are decompressed: recognized by their first bytes, or, as `raw` bytes could begin like that by chance, only
/// by a name that ends in .gz or .zst (or, of an archive, .npz or .zip).
std::unique_ptr<ByteStream> open_stream(const std::string& path, bool raw);

}  // namespace samesum::io
