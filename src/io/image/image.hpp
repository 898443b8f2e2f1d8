// Decoders of images, each for one format.
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

/// What a decoder is asked for.
struct ImageRequest {
  std::uint64_t place = 0;  ///< of the page: one of those that tiff_pages() gives
  std::uint64_t max_pixels = ImageFile::kMaxPixels;
  const RowsReady& rows_ready;
};

/// Judges width and height before memory is taken for them. `most` is how many pixels the file can hold, whatever is in it.
/// @throws Error (usage) for no pixels, and for more than that or than `max_pixels`.
void judge_size(std::uint64_t width, std::uint64_t height, double most, std::uint64_t file_bytes, std::uint64_t max_pixels);

/// Pixels to be filled, of an image whose other members are set and which was judged. @throws Error (usage) where they are more than this
/// machine gives.
std::shared_ptr<void> make_pixels(const Image& image);

/// So many rows of an image with bytes for samples are decoded before `rows_ready` is told: what fits the second-level cache.
std::uint64_t rows_of_band(const Image& image) noexcept;

Image decode_png(std::span<const std::byte> file, const ImageRequest& request);
Image decode_jpeg(std::span<const std::byte> file, const ImageRequest& request);
Image decode_tiff(std::span<const std::byte> file, const ImageRequest& request);

/// Where the pages of a TIFF are described. O(pages).
std::vector<std::uint64_t> tiff_pages(std::span<const std::byte> file);

}  // namespace samesum::io
