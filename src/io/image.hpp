// Decoders of images, each for one format.
#pragma once

#include <samesum/image.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace samesum::io {

/// Pixels to be filled, of an image whose other members are set. @throws Error (usage) where they would be more than 2^40 bytes, or more
/// than this machine gives.
std::shared_ptr<void> make_pixels(const Image& image);

/// So many rows of an image with bytes for samples are decoded before `rows_ready` is told: what fits the second-level cache.
std::uint64_t rows_of_band(const Image& image) noexcept;

// Each takes a whole file, and throws Error (usage) with what is wrong, without the file's name.
Image decode_png(std::span<const std::byte> file, const RowsReady& rows_ready);
Image decode_jpeg(std::span<const std::byte> file, const RowsReady& rows_ready);
Image decode_tiff(std::span<const std::byte> file, const RowsReady& rows_ready);

}  // namespace samesum::io
