// The bytes that an input's name stands for.
#pragma once

#include "io/byte_stream.hpp"

#include <memory>
#include <string>

namespace samesum::io {

/// The file `path`, or standard input ("-"); "archive.zip:name" is a file in a zip archive, unless there is a file of this whole name. What
/// gzip or zstd has compressed is decompressed, by its first bytes; `raw` bytes, which could begin like that by accident, where the name
/// ends in .gz or .zst (or, of an archive, .npz or .zip), too.
std::unique_ptr<ByteStream> open_stream(const std::string& path, bool raw);

}  // namespace samesum::io
