// Files in a zip archive, such as .npz: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include "io/byte_stream.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace samesum::io {

/// Whether `start` begins with the signature of a zip archive.
bool is_zip(std::span<const std::byte> start) noexcept;

/// The file `name` of the archive at `path`, stored or deflated; "x" also finds "x.npy". Empty: the only file of the archive.
/// @throws Error (usage) that lists the files, where there is no such file, or no name and several files.
std::unique_ptr<ByteStream> open_in_zip(const std::string& path, std::string_view name);

}  // namespace samesum::io
