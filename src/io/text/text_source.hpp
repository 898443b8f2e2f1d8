// A text as a source.
#pragma once

#include "io/byte_stream.hpp"
#include "io/text/text.hpp"

#include <samesum/source.hpp>

#include <memory>

namespace samesum::io {

/// `allow_empty`: a text without numbers is not an error.
std::unique_ptr<Source> text_source(std::unique_ptr<ByteStream> stream, const TextOptions& options, Layout layout, std::uint32_t threads,
                                    bool allow_empty);

}  // namespace samesum::io
