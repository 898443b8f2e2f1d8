// Files that are larger than the memory.
#pragma once

#include "io/byte_stream.hpp"

#include <samesum/array_file.hpp>
#include <samesum/source.hpp>

#include <memory>
#include <string_view>

namespace samesum::io {

/// The elements of `file`, which `stream` has open, as they lie there, in chunks that several threads read ahead. They pass by the page
/// cache (O_DIRECT) where the file system can do that: a mapped file that does not fit in memory is slower than its disk, as pages that
/// were read ahead are dropped before they are used. Some 25 MB of memory, whatever the file's size.
std::unique_ptr<Source> direct_source(std::unique_ptr<FileStream> stream, ArrayFile file, std::string_view format);

}  // namespace samesum::io
