// Files in a zip archive, as an .npz is one: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include "io/byte_stream.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace samesum::io {

/// Whether a file begins as a zip archive does.
bool is_zip(std::span<const std::byte> start) noexcept;

/// The file `name` of the archive at `path`, stored or deflated; "x" is "x.npy" too. Empty: the only file that there is.
/// @throws Error (usage) that lists what there is, where there is no such file, or no name and several files.
std::unique_ptr<ByteStream> open_in_zip(const std::string& path, std::string_view name);

}  // namespace samesum::io
