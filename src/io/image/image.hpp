// Decoders of images, one per format.
//
// A decoder takes a whole file, and throws Error (usage) with what is wrong, without the file's name.
#pragma once

#include <samesum/image.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace samesum::io {

/// The arguments of a decoder.
struct ImageRequest {
  std::uint64_t place = 0;  ///< offset of the page, from tiff_pages()
  std::uint64_t max_pixels = ImageFile::kMaxPixels;
  const RowsReady& rows_ready;
};

/// Checks width and height before memory is allocated. `most` is the maximum of pixels that the file can hold, whatever its contents.
/// @throws Error (usage) for no pixels, and for more than that or than `max_pixels`.
void judge_size(std::uint64_t width, std::uint64_t height, double most, std::uint64_t file_bytes, std::uint64_t max_pixels);

/// Memory for the pixels of an image whose other members are set and whose size was checked. @throws Error (usage) where it cannot be
/// allocated.
std::shared_ptr<void> make_pixels(const Image& image);

/// The number of rows that are decoded between calls of `rows_ready`, for an image with 8-bit samples: what fits the second-level cache.
std::uint64_t rows_of_band(const Image& image) noexcept;

Image decode_png(std::span<const std::byte> file, const ImageRequest& request);
Image decode_jpeg(std::span<const std::byte> file, const ImageRequest& request);
Image decode_tiff(std::span<const std::byte> file, const ImageRequest& request);

/// The offsets of the descriptions of a TIFF's pages. O(pages).
std::vector<std::uint64_t> tiff_pages(std::span<const std::byte> file);

}  // namespace samesum::io
